// Tables that are sorted by a column and filtered by a text.
import { h, table } from "./dom.js";
import { t } from "./language.js";

const states = new Map(); // by name of the list: {filter, column, down}

// list shows rows {key, class, cells, sort, words, trouble}: sort has a value for each column,
// words are what is filtered by. At first those with more trouble come first.
export function list(name, label, heads, rows, refresh, empty) {
  const state = states.get(name) ?? { filter: "", column: -1, down: false };
  states.set(name, state);
  const wanted = state.filter.trim().toLowerCase();
  const shown = rows.filter((row) => row.words.toLowerCase().includes(wanted)).sort((a, b) => compare(a, b, state));
  const sortBy = (column) => {
    state.down = state.column === column ? !state.down : typeof rows[0]?.sort[column] === "number";
    state.column = column;
    refresh();
  };
  const filter = h("input", { type: "search", id: `${name}-filter`, value: state.filter, "aria-label": `${t("Filter")}${t(": ")}${label}`, autocomplete: "off", spellcheck: "false", oninput: (event) => {
    state.filter = event.target.value;
    refresh();
  } });
  const order = h("select", { id: `${name}-order`, "aria-label": `${t("Order by")}${t(": ")}${label}`, onchange: (event) => {
    state.column = Number(event.target.value);
    state.down = typeof rows[0]?.sort[state.column] === "number";
    refresh();
  } }, [[-1, t("Trouble first")], ...heads.map((head, i) => [i, head])].filter(([i]) => i < 0 || rows[0]?.sort[i] !== undefined)
    .map(([i, text]) => h("option", { key: i, value: i, selected: i === state.column }, text)));
  return [
    h("div", { class: "bar-row", key: "bar" }, h("label", null, t("Filter"), " ", filter), h("label", null, t("Order by"), " ", order),
      h("span", { class: "soft", role: "status" }, t("{shown} of {all}", { shown: shown.length, all: rows.length }))),
    table(label, heads, shown, empty, { name, state, sortable: (i) => rows[0]?.sort[i] !== undefined, sortBy }),
  ];
}

function compare(a, b, { column, down }) {
  if (column < 0) return (b.trouble ?? 0) - (a.trouble ?? 0);
  const x = a.sort[column] ?? "", y = b.sort[column] ?? "";
  const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
  return down ? -order : order;
}
