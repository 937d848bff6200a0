// Elements, and how the page is refreshed. Text from the server becomes text nodes
// and attributes only: nothing here parses HTML.

const properties = ["onclick", "onchange", "oninput", "onsubmit"];

function make(node, attributes, kids) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node[name] = value;
    else if (name === "value" && node.tagName === "INPUT") node.value = value;
    else if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...kids.flat(3).filter((kid) => kid !== undefined && kid !== null && kid !== false && kid !== ""));
  return node;
}

// h makes an element; key identifies it among its siblings when the page is
// refreshed.
export function h(tag, attributes, ...kids) {
  const { key, ...rest } = attributes ?? {};
  const node = make(document.createElement(tag), rest, kids);
  if (key !== undefined) node.key = String(key);
  return node;
}

export const svg = (tag, attributes, ...kids) => make(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, kids);

const same = (a, b) => a.nodeName === b.nodeName && a.key === b.key;

// morph makes the children of old like those of fresh, and keeps each node that
// can stay, so that focus, selection, scrolling and input survive.
export function morph(old, fresh) {
  const wanted = [...fresh.childNodes];
  for (const node of [...old.childNodes]) {
    if (node.key !== undefined && !wanted.some((w) => same(w, node))) node.remove();
  }
  let at = old.firstChild;
  for (const want of wanted) {
    let found = at;
    while (found && !same(found, want)) found = found.nextSibling;
    if (!found) {
      old.insertBefore(want, at);
      continue;
    }
    if (found === at) at = at.nextSibling;
    else old.insertBefore(found, at);
    update(found, want);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function update(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const name of properties) old[name] = fresh[name];
  morph(old, fresh);
}

// show puts a fresh view into a place of the page.
export function show(place, ...view) {
  morph(place, h("div", null, view));
}

// button says what it is about in its name for screen readers, after its label.
export const button = (label, title, onclick, { about, ...attributes } = {}) => h("button", { type: "button", title, onclick, "aria-label": about && `${label} ${about}`, ...attributes }, label);

// badge shows a state by a word and a sign, and only then by a color.
export const badge = (kind, sign, word, title) => h("span", { class: `badge ${kind}`, title }, h("span", { "aria-hidden": "true" }, sign), word);

// table of rows, each {key, class, cells}. Its roles are spelled out because on
// a narrow screen its rows are cards. order has its name for the style sheet, and
// how it is sorted if it can be.
export function table(label, heads, rows, empty, order) {
  if (rows.length === 0) return h("p", { class: "empty" }, empty);
  const head = (text, i) => {
    if (!order?.sortable?.(i)) return h("th", { role: "columnheader", scope: "col" }, text);
    const by = order.state.column === i, sign = order.state.down ? "▾" : "▴";
    return h("th", { role: "columnheader", scope: "col", "aria-sort": by && (order.state.down ? "descending" : "ascending") },
      h("button", { type: "button", class: "sort", onclick: () => order.sortBy(i) }, text, h("span", { "aria-hidden": "true" }, by ? ` ${sign}` : "")));
  };
  const cell = (content, i) => h("td", { role: i === 0 ? "rowheader" : "cell", "data-label": heads[i] }, content);
  return h("div", { class: "sheet" }, h("table", { role: "table", "aria-label": label, "data-table": order?.name },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map(head))),
    h("tbody", { role: "rowgroup" }, rows.map((row) => h("tr", { role: "row", key: row.key, class: row.class }, row.cells.map(cell))))));
}
