// The search on the home page: cards without all of the words are hidden; where none has them,
// those are left whose names differ by typing errors. The key / leads to it from everywhere on the
// page, Escape empties it, Enter opens the first card that is left.

// typos is how many letters must be put in, taken out, changed or swapped with the next to make
// one word of the other.
function typos(a, b) {
  let before = [], above = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    [before, above] = [above, row];
  }
  return above[b.length];
}

// near: the word is another with a typing error in it, or two if it is long, or its beginning.
function near(word, other) {
  const most = word.length < 3 ? 0 : word.length < 7 ? 1 : 2;
  return [word.length - 1, word.length, word.length + 1, other.length].some((n) => typos(word, other.slice(0, n)) <= most);
}

const search = $("#search");
if (search) {
  const input = $("input", search);
  const found = $("#found");
  const shown = () => $$(".card:not([hidden])");

  const show = (fits) => {
    for (const card of $$(".card")) {
      card.hidden = !fits(card.dataset);
    }
    return shown().length > 0;
  };

  const mostNames = 3;
  const firstNames = () => {
    const all = shown().map((card) => $("h3 a", card).textContent);
    const { comma, more } = found.dataset;
    return all.slice(0, mostNames).join(comma) + (all.length > mostNames ? more.replace("{n}", all.length - mostNames) : "");
  };

  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const { none, some, near: close } = found.dataset;
    let says = show(({ names, about }) => words.every((word) => `${names} ${about}`.includes(word))) ? some : none;
    if (says === none && show(({ names }) => words.every((word) => names.split(" ").some((other) => near(word, other))))) {
      says = close;
    }
    for (const group of $$(".group")) {
      group.hidden = !$(".card:not([hidden])", group);
    }
    $("#add").hidden = words.length === 0 || says !== none;
    found.textContent = words.length === 0 ? "" : says.replace("{names}", firstNames());
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
