// Buttons that copy the text of an element, also where the page did not come over TLS and the
// browser has no clipboard for it.
for (const button of document.querySelectorAll("[data-copy]")) {
  const title = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const from = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(from.textContent);
    } catch {
      getSelection().selectAllChildren(from);
      document.execCommand("copy");
    }
    button.textContent = button.dataset.copied;
    setTimeout(() => { button.textContent = title; }, 2000);
  });
}
