// Keys that do what a link or a field of the page does: the element says in
// data-key which is its own. Nothing needs them, and the help turns them off.
const help = document.getElementById("keys");
const on = document.getElementById("f-keys");
const stored = "bitboard.keys";

// A browser that stores nothing has the keys turned on with each page.
const remember = (value) => {
  try {
    localStorage.setItem(stored, value);
  } catch {
    // then it is not remembered
  }
};
const remembered = () => {
  try {
    return localStorage.getItem(stored);
  } catch {
    return null;
  }
};

on.checked = remembered() !== "off";
on.addEventListener("change", () => remember(on.checked ? "on" : "off"));
for (const button of document.querySelectorAll("[data-opens-keys]")) button.addEventListener("click", () => help.showModal());

const isTyped = (element) => element.isContentEditable || element.matches("input, select, textarea");

function find() {
  const field = document.querySelector("[role=search] textarea");
  if (!field) return location.assign(help.dataset.find);
  field.focus();
  field.select();
}

// A choice of a form is made and sent, as its button would.
function press(element) {
  element.click();
  if (element.matches("input")) element.form.requestSubmit();
}

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (!on.checked || event.defaultPrevented || event.isComposing || event.repeat) return;
  if (event.ctrlKey || event.metaKey || event.altKey || isTyped(target) || document.querySelector("dialog[open]")) return;
  const element = [...document.querySelectorAll("[data-key]")].find((candidate) => candidate.dataset.key === key);
  if (key === "?") help.showModal();
  else if (key === "/") find();
  else if (element) press(element);
  else return;
  event.preventDefault();
});

// A link to the search of another page leads into it.
if (location.hash === help.dataset.find.slice(help.dataset.find.indexOf("#"))) find();
