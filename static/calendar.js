// Keys of a user's page. Without this script the calendar is a table to be read, and
// the button sends the search.
(() => {
  // One day of the calendar can be reached with Tab; arrow keys go on from there, from
  // day to day and from week to week, through all months and years. Where weeks are
  // columns, the next week lies to the right.
  const date = (day) => day.querySelector("time").dateTime;
  const days = [...document.querySelectorAll(":is(.year, .grid) td.day:not(.blank)")].sort((a, b) => (date(a) < date(b) ? -1 : 1));
  const [across, down] = document.querySelector("table.grid") ? [7, 1] : [1, 7];
  const inWeek = (day) => [...day.parentElement.cells].filter((cell) => !cell.matches(".blank"));
  const inMonth = (day) => days.filter((other) => other.closest("table") === day.closest("table"));
  const steps = {
    ArrowLeft: (day) => days[days.indexOf(day) - across],
    ArrowRight: (day) => days[days.indexOf(day) + across],
    ArrowUp: (day) => days[days.indexOf(day) - down],
    ArrowDown: (day) => days[days.indexOf(day) + down],
    Home: (day) => inWeek(day)[0],
    End: (day) => inWeek(day).at(-1),
    PageUp: (day) => days[days.indexOf(inMonth(day)[0]) - 1],
    PageDown: (day) => days[days.indexOf(inMonth(day).at(-1)) + 1],
  };

  let reached = days.find((day) => day.matches(".today")) ?? days.at(-1);
  const reach = (day) => {
    reached.tabIndex = -1;
    day.tabIndex = 0;
    reached = day;
  };
  for (const table of document.querySelectorAll(".year table, table.grid")) table.setAttribute("role", "grid");
  for (const day of days) {
    day.tabIndex = -1;
    day.addEventListener("focus", () => reach(day));
    day.addEventListener("keydown", (event) => {
      if (!steps[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      steps[event.key](day)?.focus();
    });
  }
  if (reached) reach(reached);
  // A year that is wider than its place shows its latest days.
  for (const table of document.querySelectorAll("table.grid")) {
    const latest = table.querySelector(".today");
    if (latest) table.parentElement.scrollLeft = latest.offsetLeft - table.parentElement.clientWidth / 2;
  }

  // Enter searches, as in a field of one line; Shift and Enter begins another ID.
  const field = document.querySelector("[role=search] textarea");
  field?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    field.form.requestSubmit();
  });
})();
