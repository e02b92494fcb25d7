// Lets a button copy the text of an element. Without this script, or where the browser
// forbids it, the text can be selected by hand.
(() => {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("[data-copy]")) {
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = button.dataset.done;
      setTimeout(() => (button.textContent = label), 2000);
    });
  }
})();
