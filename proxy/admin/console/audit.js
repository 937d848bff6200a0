// Who changed what, and undoing it.
import { change, read } from "./api.js";
import { notify } from "./ask.js";
import { badge, button, h, table } from "./dom.js";
import { cacheSettings } from "./cache_settings.js";
import { t } from "./language.js";
import { ago, moment, pendingNote, shortDuration, time } from "./text.js";

export const load = async () => (await read("audit")).audit ?? [];

const verbs = { cache: t("cache settings"), breaker: t("breaker"), purge: t("purge"), drop: t("drop"), reset: t("breaker reset"), restore: t("settings restored") };

const losses = [
  [/^the store was emptied$/, t("the store was emptied")],
  [/^the stored settings were damaged$/, t("the stored settings were damaged")],
  [/^the stored settings were damaged, and no instance/, t("the stored settings were damaged, and no instance knew what they were: all that was cached before is purged")],
];

export function view(audit, { refresh }) {
  const undone = new Map(audit.filter((r) => r.undoes).map((r) => [r.undoes, r.seq]));
  return h("section", null,
    h("p", { class: "soft" }, t("Changes by operators, newest first. Undo restores what a change replaced. Other settings remain as later changes have left them.")),
    table(t("Changes"), [t("When"), t("Who"), t("What"), t("Before → after"), t("Undo")], audit.toReversed().map((r) => ({ key: r.seq, class: undone.has(r.seq) && "undone", cells: cells(r, undone.get(r.seq), refresh) })), t("No changes yet.")));
}

function cells(r, by, refresh) {
  const target = r.target === "*" ? t("everything") : r.target;
  return [
    time(r.at, h("span", { class: "soft number" }, `#${r.seq} `), moment(r.at), h("div", { class: "soft" }, ago(r.at))),
    h("span", { class: "words" }, who(r.by)),
    [h("span", { class: "soft" }, `${ofAPI(r) ? t("purge") : verbs[r.do] ?? r.do} `), h("strong", { class: "mono" }, target), r.undoes && h("div", null, badge("plain", "↶", t("undoes #{seq}", { seq: r.undoes }))), r.pending && h("div", null, badge("warn", "◌", t("pending"), t("In force on this instance only, until it can be stored")))],
    difference(r),
    undoCell(r, by, target, refresh),
  ];
}

// who made a change: a name as it was given, or what stands for none.
function who(by) {
  const [unnamed, , from] = /^unnamed(, from (.+))?$/.exec(by) ?? [];
  if (unnamed) return from ? t("unnamed, from {from}", { from }) : t("unnamed");
  return by === "autopilot" ? t("autopilot") : by;
}

const kinds = { url: "URL", prefix: t("URL prefix"), tag: t("tag"), group: t("cache group") };

// ofAPI says what was purged of an API, as [, whether softly, kind, value]; nothing where it was an entry of an endpoint.
const ofAPI = ({ do: what, note }) => what === "drop" && /^(soft )?(url|prefix|tag|group) (.+)$/.exec(note);

// noted is a note of the program in words; what people have written stays as it is.
function noted({ do: what, note = "" }) {
  if (what === "purge") return h("span", null, { soft: t("soft"), hard: t("hard") }[note] ?? note);
  const [, softly, kind, value] = ofAPI({ do: what, note }) || [];
  if (kind) return h("span", null, `${softly ? t("soft") : t("hard")}${t(": ")}${kinds[kind]} `, h("span", { class: "mono words" }, value));
  const [, from, to] = what === "restore" ? (/^the store was rolled back from change (\d+) to (\d+)$/.exec(note) ?? []) : [];
  if (from) return h("span", null, t("the store was rolled back from change #{from} to #{to}", { from, to }));
  const [, loss] = (what === "restore" && losses.find(([said]) => said.test(note))) || [];
  if (loss) return h("span", null, loss);
  return h("span", { class: "mono words" }, note);
}

function difference(r) {
  if (r.do === "purge" || r.do === "drop" || r.do === "restore") return noted(r);
  if (r.do === "reset") return h("span", { class: "soft" }, t("failure history cleared"));
  return [h("span", null, h("span", { class: "before" }, state(r.do, r.before)), " → ", h("span", { class: "after" }, state(r.do, r.after))), r.note && h("div", { class: "soft words" }, r.note)];
}

function state(what, value) {
  if (!value) return what === "cache" ? t("as in the file") : t("automatic");
  const until = value.until ? t(" until {at}", { at: moment(value.until) }) : "";
  if (what === "breaker") return (value.force === "open" ? t("held open") : t("held closed")) + until;
  return Object.entries(value.values ?? {}).map(([name, v]) => `${cacheSettings[name]?.[0] ?? name} ${shortDuration(v)}`).join(", ") + until;
}

function undoCell(r, by, target, refresh) {
  if (by) return badge("plain", "↶", t("undone by #{seq}", { seq: by }));
  if (r.do !== "cache" && r.do !== "breaker") return h("span", { class: "soft" }, "–");
  const undo = async () => {
    try {
      const record = await change("POST", `audit/${r.id ?? r.seq}/undo`);
      notify(t("{target}: change #{seq} is undone; now {state}", { target, seq: r.seq, state: state(record.do, record.after) }) + pendingNote(record));
    } catch (e) {
      notify(e.message, true);
    }
    refresh();
  };
  return button(t("Undo"), t("Back to: {state}", { state: state(r.do, r.before) }), undo, { about: `#${r.seq} ${target}` });
}
