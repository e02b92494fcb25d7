// Keeps the progress of jobs up to date, and loads the page anew when one has ended.
// The page is whole without this script: it is loaded again by itself, or by a link.
(() => {
  const every = 500;
  const percent = new Intl.NumberFormat(document.documentElement.lang, { style: "percent" });
  const watch = async (place) => {
    let job;
    try {
      const answer = await fetch(place.dataset.job, { headers: { Accept: "application/json" } });
      if (answer.status === 404) return location.reload();
      job = (await answer.json()).job;
    } catch {
      // The server is away for a moment; it is asked again.
    }
    if (job && (job.state === "done" || job.state === "failed")) {
      if (job.state === "failed" && job.error.code === "cancelled" && place.dataset.jobs) return location.assign(place.dataset.jobs);
      return location.reload();
    }
    if (job && job.progress > 0) {
      place.querySelector("progress").value = Math.floor(100 * job.progress);
      const text = place.querySelector("[data-job-text]");
      if (job.state === "running") text.textContent = text.dataset.running.replace("{percent}", percent.format(job.progress));
    }
    setTimeout(() => watch(place), every);
  };
  for (const place of document.querySelectorAll("[data-job]")) setTimeout(() => watch(place), every);
})();
