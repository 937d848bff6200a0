// Entries in this instance's memory, and purges.
import { change, part, read } from "./api.js";
import { openDialog } from "./ask.js";
import { badge, button, h, show, table } from "./dom.js";
import { approximate, bytes, moment, pendingNote, plural } from "./text.js";

let chosen = "", limit = 100, filter = "";

export async function load() {
  const endpoints = (await read("endpoints")).endpoints.filter((e) => e.cached);
  if (!endpoints.some((e) => e.name === chosen)) chosen = endpoints[0]?.name ?? "";
  const held = chosen ? await read(`endpoints/${part(chosen)}/entries?limit=${limit}`) : { entries: [], total: 0, bytes: 0 };
  return { endpoints, ...held };
}

export function view({ endpoints, entries, total, bytes: size, parts = [] }, { refresh }) {
  const choose = (event) => {
    chosen = event.target.value;
    limit = 100;
    refresh();
  };
  const narrow = (event) => {
    filter = event.target.value;
    refresh();
  };
  const name = chosen, personal = endpoints.find((e) => e.name === name)?.personal;
  const rows = entries.filter((e) => e.key.includes(filter));
  return h("section", null,
    h("div", { class: "bar-row" },
      h("label", null, "Endpoint ", h("select", { id: "cache-endpoint", onchange: choose }, endpoints.map((e) => h("option", { key: e.name, value: e.name, selected: e.name === name }, e.name)))),
      h("label", null, "Key contains ", h("input", { id: "cache-filter", type: "search", value: filter, oninput: narrow, autocomplete: "off", spellcheck: "false" })),
      h("span", { class: "push row" },
        button("Purge endpoint…", "Make all entries of this endpoint stale, or remove them", () => purge(name, "", refresh), { key: "one" }),
        button("Purge everything…", "Make all entries of all endpoints stale, or remove them", () => purge("*", "", refresh), { key: "all", class: "danger" }))),
    h("p", { class: "soft" }, `${plural(total, "entry", "entries")} in this instance's memory, ${bytes(size)}.`, beside(parts), personal && [" ", badge("plain", "◇", "personal", "Bodies are not shown, and keys are hashed")],
      filter && ` ${plural(rows.length, "key")} of the ${entries.length} listed ${rows.length === 1 ? "contains" : "contain"} “${filter}”.`),
    table(`Entries of ${name}`, ["Key", "State", "Age", "Fresh for", "Source", "Size", "Actions"], rows.map((e) => ({ key: e.key, cells: cells(name, e, refresh) })), "Nothing is cached here."),
    total > entries.length && limit < 1000 && h("p", null, button("Show up to 1000", "List more entries", () => {
      limit = 1000;
      refresh();
    }), h("span", { class: "soft" }, ` The newest ${entries.length} are listed.`)));
}

// beside says how many of the entries are parts, such as pictures, and not answers.
const beside = (parts) => parts.filter((p) => p.part && p.entries > 0).map((p) => ` Of these ${p.part}: ${plural(p.entries, "entry", "entries")}, ${bytes(p.bytes)}.`);

const states = { fresh: ["good", "●"], eager: ["good", "◕"], grace: ["warn", "◐"], stale: ["warn", "○"], gone: ["plain", "✕"] };
const meanings = {
  fresh: "Served from the cache", eager: "Fresh, and due for an early refresh", grace: "Served stale at once and refreshed in the background",
  stale: "Served only if a refresh fails", gone: "No longer served",
};
const state = (e) => [badge(...(states[e.state] ?? ["plain", "·"]), e.state, meanings[e.state]), e.negative && [" ", badge("plain", "∅", "negative", "The upstream says that it does not exist")], !e.complete && [" ", badge("warn", "◌", "incomplete", "Some of its bodies were evicted")]];

function cells(name, e, refresh) {
  return [
    [h("span", { class: "mono words" }, e.key), e.part && h("div", null, badge("plain", "◫", e.part, `Part of the answers of ${name}`))],
    h("span", null, state(e)),
    h("time", { class: "number", datetime: e.born, title: e.born }, approximate(e.age_s)),
    h("span", { class: "number" }, e.left_s > 0 ? approximate(e.left_s) : h("span", { class: "soft" }, `expired ${approximate(e.left_s)} ago`)),
    [h("span", { class: "mono" }, e.source), e.edition && h("div", { class: "soft" }, `edition ${e.edition}`)],
    [h("span", { class: "number" }, bytes(e.bytes)), h("div", { class: "soft" }, plural(e.bodies.length, "form"))],
    h("span", { class: "row" },
      button("Inspect", "Show headers and bodies", () => inspect(name, e.key, refresh), { "aria-label": `Inspect ${e.key}` }),
      button("Drop…", "Remove this entry", () => purge(name, e.key, refresh), { "aria-label": `Drop ${e.key}…` })),
  ];
}

const pairs = (list) => h("dl", null, list.filter(([, value]) => value).map(([name, value]) => [h("dt", null, name), h("dd", null, value)]));

async function inspect(name, key, refresh) {
  const box = h("div", { class: "stages" }, h("p", { class: "soft" }, "Loading…"));
  const dialog = openDialog({ title: key, body: box, wide: true });
  try {
    const { entry, message, bodies } = await read(`endpoints/${part(name)}/entry?key=${part(key)}`);
    if (!dialog.open()) return;
    show(box,
      pairs([
        ["Part", entry.part], ["State", h("span", null, state(entry))], ["Source", entry.source], ["Edition", entry.edition], ["Message", message], ["Created", moment(entry.born)],
        ["Modified", moment(entry.modified)], ["Fresh for", entry.left_s > 0 ? approximate(entry.left_s) : `expired ${approximate(entry.left_s)} ago`],
        ["Expires", entry.expires && moment(entry.expires)], ["Class", entry.class], ["Size", bytes(entry.bytes)],
      ]),
      bodies.map((body, i) => h("section", null, h("h3", null, `Form ${i + 1}`),
        pairs([["Status", String(body.status)], ["Type", body.type], ["ETag", body.etag], ["Location", body.location], ["Length", bytes(body.bytes)], ["Bodies", plural(entry.bodies[i] ?? 0, "body", "bodies")]]),
        body.bytes > 0 && h("pre", { tabindex: 0, "aria-label": `Beginning of form ${i + 1}` }, body.preview ?? "(not text)"))),
      h("p", null, button("Drop this entry…", "Remove it", () => purge(name, key, refresh))));
  } catch (e) {
    show(box, h("p", { class: "error", role: "alert" }, `✕ ${e.message}`));
  }
}

// purge shows what it would reach before it can be confirmed.
function purge(endpoint, key, refresh) {
  const preview = h("p", { class: "preview", role: "status" });
  const modes = [["soft", "Soft", "entries become stale: the next request refreshes them, and they are served if that fails"], ["hard", "Hard", "entries are removed: the next request waits for a new answer"]];
  let mode = key ? "hard" : "soft", dialog;
  const look = async () => {
    dialog.submit.disabled = true;
    preview.textContent = "Counting…";
    const asked = mode;
    try {
      const { entries, bytes: size } = await change("POST", "purge", { endpoint, key, mode, preview: true });
      if (asked !== mode) return;
      preview.textContent = `${plural(entries, "entry", "entries")}, ${bytes(size)} in this instance's memory would ${mode === "soft" ? "become stale" : "be removed"}.`;
      dialog.submit.disabled = false;
    } catch (e) {
      preview.textContent = `✕ ${e.message}`;
    }
  };
  const radio = ([value, label, what], i) => {
    const input = h("input", { type: "radio", name: "mode", value, onchange: () => {
      mode = value;
      look();
    } });
    input.checked = i === 0;
    return h("label", { class: "choice" }, input, h("span", null, h("strong", null, label), h("span", { class: "soft" }, ` – ${what}`)));
  };
  const what = key || (endpoint === "*" ? "all endpoints" : `all of ${endpoint}`);
  dialog = openDialog({
    title: key ? "Drop an entry" : endpoint === "*" ? "Purge everything" : `Purge ${endpoint}`,
    action: key ? "Drop" : "Purge", danger: true, done: refresh,
    body: [
      h("p", { class: "mono words" }, what),
      !key && h("fieldset", null, h("legend", null, "How"), modes.map(radio)),
      preview,
      h("p", { class: "soft" }, "This applies to every instance, and to Redis if it is configured. It cannot be undone."),
    ],
    async go() {
      const done = await change("POST", "purge", key ? { endpoint, key } : { endpoint, mode });
      return `${key ? "Dropped" : "Purged"} ${what}: ${plural(done.entries, "entry", "entries")}, ${bytes(done.bytes)} on this instance${pendingNote(done)}`;
    },
  });
  look();
}
