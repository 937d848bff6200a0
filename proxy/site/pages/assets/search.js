// The search on the home page: cards without all of the words are hidden. The key / leads to
// it from everywhere on the page, Escape empties it, Enter opens the first card that is left.

const search = $("#search");
if (search) {
  const input = $("input", search);
  const found = $("#found");
  const shown = () => $$(".card:not([hidden])");

  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const card of $$(".card")) {
      card.hidden = !words.every((word) => card.dataset.words.includes(word));
    }
    for (const group of $$(".group")) {
      group.hidden = !$(".card:not([hidden])", group);
    }
    const n = shown().length;
    found.textContent = words.length === 0 ? "" : n === 0 ? found.dataset.none : found.dataset.some + n;
  };

  input.addEventListener("input", filter);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      filter();
    } else if (event.key === "Enter" && !event.isComposing && input.value.trim() !== "") {
      shown().slice(0, 1).forEach((card) => $("h3 a", card).click());
    }
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
    }
  });
  filter(); // of what the browser restored
}
