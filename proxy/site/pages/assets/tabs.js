// Sections that become tabs: one is shown, and the arrow keys lead to the others.
function makeTabs(holder) {
  const panels = [...holder.querySelectorAll(":scope > section")];
  const list = made("div", { role: "tablist", "aria-label": holder.dataset.tabs });
  const tabs = panels.map(panel => {
    const title = panel.querySelector("h3");
    const tab = made("button", { type: "button", role: "tab", id: title.id }, title.textContent);
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    title.remove();
    return tab;
  });
  const show = (chosen, focus) => tabs.forEach((tab, i) => {
    tab.setAttribute("aria-selected", i === chosen);
    tab.tabIndex = i === chosen ? 0 : -1;
    panels[i].hidden = i !== chosen;
    if (focus && i === chosen) tab.focus();
  });
  tabs.forEach((tab, i) => tab.addEventListener("click", () => show(i)));
  list.addEventListener("keydown", event => {
    const now = tabs.indexOf(document.activeElement), last = tabs.length - 1;
    const to = { ArrowRight: now === last ? 0 : now + 1, ArrowLeft: now === 0 ? last : now - 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(to, true);
  });
  list.append(...tabs);
  holder.prepend(list);
  show(0);
}
