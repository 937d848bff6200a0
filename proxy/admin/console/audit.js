// Who changed what, and undoing it.
import { change, read } from "./api.js";
import { notify } from "./ask.js";
import { badge, button, h, table } from "./dom.js";
import { knobs } from "./endpoints.js";
import { ago, moment, pendingNote, shortDuration } from "./text.js";

export const load = async () => (await read("audit")).audit ?? [];

const verbs = { knobs: "cache settings", breaker: "breaker", purge: "purge", drop: "drop", reset: "breaker reset", restore: "settings restored", overtaken: "overtaken" };

export function view(audit, { refresh }) {
  const undone = new Map(audit.filter((r) => r.undoes).map((r) => [r.undoes, r.seq]));
  return h("section", null,
    h("p", { class: "soft" }, "Changes by operators, newest first. Undo restores what was set before a change."),
    table("Changes", ["When", "Who", "What", "Before → after", "Undo"], audit.toReversed().map((r) => ({ key: r.seq, class: undone.has(r.seq) && "undone", cells: cells(r, undone.get(r.seq), refresh) })), "No changes yet."));
}

function cells(r, by, refresh) {
  const target = r.target === "*" ? "everything" : r.target;
  return [
    h("time", { datetime: r.at, title: r.at }, h("span", { class: "soft number" }, `#${r.seq} `), moment(r.at), h("div", { class: "soft" }, ago(r.at))),
    h("span", { class: "words" }, r.by),
    [h("span", { class: "soft" }, `${verbs[r.do] ?? r.do} `), h("strong", { class: "mono" }, target), r.undoes && h("div", null, badge("plain", "↶", `undoes #${r.undoes}`)), r.pending && h("div", null, badge("warn", "◌", "pending", "In force on this instance only, until Redis is back"))],
    difference(r),
    undoCell(r, by, target, refresh),
  ];
}

function difference(r) {
  if (r.do === "purge" || r.do === "drop" || r.do === "restore" || r.do === "overtaken") return h("span", { class: "mono words" }, r.note ?? "");
  if (r.do === "reset") return h("span", { class: "soft" }, "failure history cleared");
  return h("span", null, h("span", { class: "before" }, state(r.do, r.before)), h("span", { "aria-label": "to" }, " → "), h("span", { class: "after" }, state(r.do, r.after)));
}

function state(what, value) {
  if (!value) return what === "knobs" ? "as in the file" : "automatic";
  const until = value.until ? ` until ${moment(value.until)}` : "";
  if (what === "breaker") return `held ${value.force}${until}`;
  return Object.entries(value.values ?? {}).map(([name, v]) => `${knobs[name]?.[0] ?? name} ${shortDuration(v)}`).join(", ") + until;
}

function undoCell(r, by, target, refresh) {
  if (by) return badge("plain", "↶", `undone by #${by}`);
  if (r.do !== "knobs" && r.do !== "breaker") return h("span", { class: "soft" }, "–");
  const undo = async () => {
    try {
      const record = await change("POST", `audit/${r.seq}/undo`);
      notify(`${target}: change #${r.seq} is undone; now ${state(record.do, record.after)}${pendingNote(record)}`);
    } catch (e) {
      notify(e.message, true);
    }
    refresh();
  };
  return button("Undo", `Back to: ${state(r.do, r.before)}`, undo, { "aria-label": `Undo change #${r.seq} of ${target}` });
}
