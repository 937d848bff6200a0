// The dots on the cards: whether an endpoint works, by status/now.json. Of an endpoint of which
// nothing is known, and if nobody answers, there is none. Trouble is told in words, too.

const groups = $("#groups[data-status]");
if (groups) {
  const mark = (name, state) => {
    const heading = document.getElementById("card-" + name)?.querySelector("h3");
    const words = groups.dataset[state];
    if (!heading || !words) {
      return;
    }
    const dot = document.createElement("span");
    dot.className = "dot " + state;
    heading.append(dot);
    if (state === "works") {
      dot.role = "img";
      dot.title = words;
      dot.setAttribute("aria-label", words);
      return;
    }
    const trouble = document.createElement("p");
    trouble.className = "trouble";
    trouble.textContent = words;
    heading.after(trouble);
  };
  fetch(groups.dataset.status)
    .then((answer) => answer.json())
    .then(({ endpoints }) => Object.entries(endpoints).forEach(([name, { state }]) => mark(name, state)))
    .catch(() => {});
}
