// Keeps the numbers of the Online page up to date from server-sent events. The
// page is whole without this script: a link loads it anew.
(() => {
  const live = document.querySelector("[data-live-url]");
  if (!live) return;
  const number = new Intl.NumberFormat(live.dataset.language);
  const state = live.querySelector("[data-live-state]");
  const say = (text) => {
    if (state.textContent !== text) state.textContent = text;
  };
  const source = new EventSource(live.dataset.liveUrl);
  source.addEventListener("presence", (event) => {
    const now = JSON.parse(event.data);
    for (const place of live.querySelectorAll("[data-live]")) place.textContent = number.format(now[place.dataset.live]);
    say(state.dataset.liveText);
  });
  // The browser connects again by itself, unless the server said no.
  source.addEventListener("error", () => {
    say(state.dataset.waitingText);
    if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 10_000);
  });
})();
