// Counts the conditions of the Cohorts page anew as they change. What the server
// would answer to the form is asked for and shown in place; without this script the
// form's button does the same.
(() => {
  const parts = ["builder", "expression", "result", "save"];
  if (!document.querySelector("[data-builder]")) return;
  const said = document.createElement("p");
  said.className = "vh";
  said.setAttribute("role", "status");
  document.querySelector("main").append(said);
  let asked;

  const show = (next) => {
    const focused = document.activeElement?.id;
    let last = null;
    for (const id of parts) {
      const old = document.getElementById(id);
      const now = next.getElementById(id);
      if (old && now) old.replaceWith(now);
      else if (old) old.remove();
      else if (now) (last.closest(".split") ?? last).after(now);
      last = now ?? last;
    }
    if (focused) document.getElementById(focused)?.focus();
    said.textContent = (next.querySelector("#builder .problem") ?? next.querySelector("#result .headline"))?.textContent.trim() ?? "";
  };

  const update = async (form) => {
    asked?.abort();
    asked = new AbortController();
    const rows = form.querySelector(".rows");
    rows.setAttribute("aria-busy", "true");
    const url = `${form.action}?${new URLSearchParams(new FormData(form))}`;
    try {
      const answer = await fetch(url, { signal: asked.signal, headers: { Accept: "text/html" } });
      if (!answer.ok) return location.assign(url); // that page says what is wrong
      show(new DOMParser().parseFromString(await answer.text(), "text/html"));
      if (answer.redirected) history.replaceState(null, "", answer.url);
    } catch {
      rows.removeAttribute("aria-busy"); // asked again, or left; the button is still there
    }
  };

  document.addEventListener("change", (event) => {
    const form = event.target.closest("[data-builder]");
    if (form) update(form);
  });
})();
