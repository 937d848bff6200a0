// Entries in this instance's memory, and purges.
import { part, read } from "./api.js";
import { openDialog } from "./ask.js";
import { body } from "./body.js";
import { badge, button, h, show, table } from "./dom.js";
import { none } from "./endpoints.js";
import { t } from "./language.js";
import { few, more, most } from "./more.js";
import { purge } from "./purge.js";
import { approximate, bytes, plural, time } from "./text.js";

let chosen = "", limit = few, filter = "";

export async function load() {
  const [all, history] = await Promise.all([read("endpoints"), read("history")]);
  const endpoints = all.endpoints.filter((e) => e.cached);
  if (!endpoints.some((e) => e.name === chosen)) chosen = busiest(endpoints, history, await read("upstreams"));
  const held = chosen ? await read(`endpoints/${part(chosen)}/entries?limit=${filter ? most : limit}`) : { entries: [], total: 0, bytes: 0 };
  return { endpoints, ...held };
}

// busiest is the one that was answered most in the last hour, of which most is to be seen; where there were no requests, the one
// that most was fetched of, as at a start.
function busiest(endpoints, history, { sources }) {
  const answered = ({ name }) => history.endpoints[name] ? history.endpoints[name].total.cached + history.endpoints[name].total.fetched : 0;
  const fetched = ({ name }) => sources.filter((s) => s.endpoint === name).reduce((sum, s) => sum + s.answers, 0);
  return [...endpoints].sort((a, b) => answered(b) - answered(a) || fetched(b) - fetched(a))[0]?.name ?? "";
}

export function view({ endpoints, entries, total, bytes: size, parts = [] }, { refresh }) {
  const choose = (event) => {
    chosen = event.target.value;
    limit = few;
    refresh();
  };
  const narrow = (event) => {
    filter = event.target.value;
    refresh();
  };
  if (endpoints.length === 0) return h("p", { class: "empty" }, none());
  const name = chosen, personal = endpoints.find((e) => e.name === name)?.personal;
  const rows = entries.filter((e) => e.key.includes(filter));
  return h("section", null,
    h("div", { class: "bar-row" },
      h("label", null, t("Endpoint"), " ", h("select", { id: "cache-endpoint", onchange: choose }, endpoints.map((e) => h("option", { key: e.name, value: e.name, selected: e.name === name }, e.name)))),
      h("label", null, t("Key contains"), " ", h("input", { id: "cache-filter", type: "search", value: filter, oninput: narrow, autocomplete: "off", spellcheck: "false" })),
      h("span", { class: "push row" },
        button(t("Purge endpoint…"), t("Make all entries of this endpoint stale, or remove them"), () => purge(name, "", refresh), { key: "one" }),
        button(t("Purge everything…"), t("Make all entries of all endpoints and APIs stale, or remove them"), () => purge("*", "", refresh), { key: "all", class: "danger" }))),
    h("p", { class: "soft" }, t("{entries} in this instance's memory, {size}.", { entries: plural(total, "entry", "entries"), size: bytes(size) }), beside(parts), personal && [" ", badge("plain", "◇", t("personal"), t("Bodies are not shown, and keys are hashed"))],
      filter && t(" {n} key of the {all} listed contains “{filter}”.| {n} keys of the {all} listed contain “{filter}”.", { n: rows.length, all: entries.length, filter })),
    table(t("Entries of {name}", { name }), [t("Key"), t("State"), t("Age"), t("Fresh for"), t("Source"), t("Size"), t("Actions")], rows.map((e) => ({ key: e.key, cells: cells(name, e, refresh) })), t("Nothing is cached here."), { name: "entries" }),
    more(total, entries.length, filter ? most : limit, () => {
      limit = most;
      refresh();
    }));
}

// beside says how many of the entries are parts, such as pictures, and not answers.
const beside = (parts) => parts.filter((p) => p.part && p.entries > 0).map((p) => t(" Of these {part}: {entries}, {size}.", { part: p.part, entries: plural(p.entries, "entry", "entries"), size: bytes(p.bytes) }));

const states = { fresh: ["good", "●"], eager: ["good", "◕"], grace: ["warn", "◐"], stale: ["warn", "○"], gone: ["plain", "✕"] };
const meanings = {
  fresh: t("Served from the cache"), eager: t("Fresh, and due for an early refresh"), grace: t("Served stale at once and refreshed in the background"),
  stale: t("Served only if a refresh fails"), gone: t("No longer served"),
};
const words = { fresh: t("fresh"), eager: t("eager"), grace: t("in grace"), stale: t("stale"), gone: t("gone") };
const state = (e) => [badge(...(states[e.state] ?? ["plain", "·"]), words[e.state] ?? e.state, meanings[e.state]), e.negative && [" ", badge("plain", "∅", t("negative"), t("The upstream says that it does not exist"))], !e.complete && [" ", badge("warn", "◌", t("incomplete"), t("Some of its bodies were evicted"))]];

function cells(name, e, refresh) {
  return [
    [h("span", { class: "mono words" }, e.key), e.part && h("div", null, badge("plain", "◫", e.part, t("Part of the answers of {name}", { name })))],
    h("span", null, state(e)),
    time(e.born, h("span", { class: "number" }, approximate(e.age_s))),
    h("span", { class: "number" }, e.left_s > 0 ? approximate(e.left_s) : h("span", { class: "soft" }, t("expired {time} ago", { time: approximate(e.left_s) }))),
    [h("span", { class: "mono" }, e.source), e.edition && h("div", { class: "soft" }, t("edition {edition}", { edition: e.edition }))],
    [h("span", { class: "number" }, bytes(e.bytes)), h("div", { class: "soft" }, plural(e.bodies.length, "form"))],
    h("span", { class: "row" },
      button(t("Inspect"), t("Show headers and bodies"), () => inspect(name, e.key, refresh), { about: e.key }),
      button(t("Drop…"), t("Remove this entry"), () => purge(name, e.key, refresh), { about: e.key })),
  ];
}

const pairs = (list) => h("dl", null, list.filter(([, value]) => value).map(([name, value]) => [h("dt", null, name), h("dd", null, value)]));

async function inspect(name, key, refresh) {
  const box = h("div", { class: "stages" }, h("p", { class: "soft" }, t("Loading…")));
  const dialog = openDialog({ title: key, body: box, wide: true });
  try {
    const { entry, message, bodies } = await read(`endpoints/${part(name)}/entry?key=${part(key)}`);
    if (!dialog.open()) return;
    show(box,
      pairs([
        [t("Part"), entry.part], [t("State"), h("span", null, state(entry))], [t("Source"), entry.source], [t("Edition"), entry.edition], [t("Message"), message], [t("Created"), time(entry.born)],
        [t("Modified"), time(entry.modified)], [t("Fresh for"), entry.left_s > 0 ? approximate(entry.left_s) : t("expired {time} ago", { time: approximate(entry.left_s) })],
        [t("Expires"), entry.expires && time(entry.expires)], [t("Class"), entry.class], [t("Size"), bytes(entry.bytes)],
      ]),
      bodies.map((b, i) => h("section", null, h("h3", null, b.form ?? t("Form {n}", { n: i + 1 })),
        pairs([[t("Status"), String(b.status)], [t("Type"), b.type], ["ETag", b.etag], ["Location", b.location], [t("Length"), bytes(b.bytes)], [t("Bodies"), plural(entry.bodies[i] ?? 0, "body", "bodies")]]),
        body(b, b.type, t("Form {n}", { n: i + 1 })))),
      h("p", null, button(t("Drop this entry…"), t("Remove it"), () => purge(name, key, refresh))));
  } catch (e) {
    show(box, h("p", { class: "error", role: "alert" }, `✕ ${e.message}`));
  }
}
