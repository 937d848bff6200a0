// Tables that are sorted by a column and filtered by a text.
import { button, h, table } from "./dom.js";
import { t } from "./language.js";

const states = new Map(); // by name of the list: {filter, column, down, all}

function stateOf(name) {
  if (!states.has(name)) states.set(name, { filter: "", column: -1, down: false, all: false });
  return states.get(name);
}

// find filters a list by a text, as a link to it does.
export const find = (name, text) => Object.assign(stateOf(name), { filter: text, column: -1 });

// list shows rows {key, class, cells, sort, words, trouble, quiet}: sort has a value for each column,
// words are what is filtered by. At first those with more trouble come first, and those that are quiet
// are folded away; calm is said where all are.
export function list(name, label, heads, rows, refresh, empty, calm = t("None is in trouble.")) {
  const state = stateOf(name);
  const wanted = state.filter.trim().toLowerCase();
  const found = rows.filter((row) => row.words.toLowerCase().includes(wanted)).sort((a, b) => compare(a, b, state));
  const folds = !wanted && found.some((row) => row.quiet);
  const shown = folds && !state.all ? found.filter((row) => !row.quiet) : found;
  const change = (set) => {
    Object.assign(state, set);
    refresh();
  };
  const falling = (column) => typeof rows[0]?.sort[column] === "number"; // at first
  const sortable = (i) => rows[0]?.sort[i] !== undefined;
  const sortBy = (column) => change({ column, down: state.column === column ? !state.down : falling(column) });
  const filter = h("input", { type: "search", id: `${name}-filter`, value: state.filter, "aria-label": `${t("Filter")}${t(": ")}${label}`, autocomplete: "off", spellcheck: "false", oninput: (event) => change({ filter: event.target.value }) });
  const order = h("select", { id: `${name}-order`, "aria-label": `${t("Order by")}${t(": ")}${label}`, onchange: (event) => change({ column: Number(event.target.value), down: falling(Number(event.target.value)) }) },
    [[-1, t("Trouble first")], ...heads.map((head, i) => [i, head])].filter(([i]) => i < 0 || sortable(i))
      .map(([i, text]) => h("option", { key: i, value: i, selected: i === state.column }, text)));
  return [
    h("div", { class: "bar-row", key: "bar" }, h("label", null, t("Filter"), " ", filter), h("label", null, t("Order by"), " ", order),
      h("span", { class: "soft", role: "status" }, t("{shown} of {all}", { shown: shown.length, all: rows.length }))),
    table(label, heads, shown, folds ? calm : empty, { name, state, sortable, sortBy }),
    folds && h("p", { key: "fold", class: "fold" }, button(state.all ? t("Only those in trouble") : t("Show all {n}", { n: rows.length }), label, () => change({ all: !state.all }), { "aria-expanded": String(state.all), about: label })),
  ];
}

function compare(a, b, { column, down }) {
  if (column < 0) return (b.trouble ?? 0) - (a.trouble ?? 0);
  const x = a.sort[column] ?? "", y = b.sort[column] ?? "";
  const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
  return down ? -order : order;
}
