// APIs that are served as they are, and what this instance keeps of them.
import { part, read } from "./api.js";
import { badge, button, h, table } from "./dom.js";
import { counted, named, unasked } from "./endpoints.js";
import { language, own, t } from "./language.js";
import { address } from "./links.js";
import { few, more, most } from "./more.js";
import { purge } from "./purge.js";
import { wholes } from "./shares.js";
import { approximate, bytes, count, milliseconds, plural } from "./text.js";
import { declaration } from "./try.js";

let chosen = "", by = "prefix", value = "", limit = few;

export async function load() {
  const [{ apis }, { endpoints }] = await Promise.all([read("apis"), read("history")]);
  for (const a of apis) Object.assign(a, endpoints[a.name] ?? unasked);
  if (!apis.some((a) => a.name === chosen)) chosen = apis[0]?.name ?? "";
  const asked = value && `&${by}=${part(value)}`;
  const held = chosen ? await read(`apis/${part(chosen)}/entries?limit=${limit}${asked}`).catch((e) => ({ entries: [], total: 0, bytes: 0, wrong: e.message })) : { entries: [], total: 0, bytes: 0 };
  return { apis, ...held };
}

export function view({ apis, entries, total, bytes: size, wrong }, { refresh }) {
  const heads = [t("API"), t("Requests"), t("From cache"), t("Errors"), t("95th percentile, latest minute"), t("Origin"), t("Kept"), t("Actions")];
  return h("section", null, apis.length > 0 && h("p", { class: "soft" }, t("Requests of the last hour, on this instance."), wholes),
    table(t("APIs"), heads, apis.map((a) => ({ key: a.name, cells: cells(a, refresh) })), t("No file of the catalog has an API with proxy:."), { name: "apis" }),
    chosen && kept(apis, entries, total, size, wrong, refresh));
}

function cells(a, refresh) {
  return [
    [...named(a), h("div", { class: "soft" }, a[language]), h("div", { class: "mono words" }, [a.path, ...a.hosts].join(" ")), a.unstored && h("p", { key: "unstored", class: "notice" }, own(a.unstored))],
    ...counted(a.total),
    h("span", { class: "number" }, milliseconds(a.hour?.p95_ms)),
    a.to.map((url) => h("div", { key: url, class: "mono words" }, url)),
    [h("span", { class: "number" }, `${count(a.kept)} · ${bytes(a.bytes)}`), h("ul", { class: "soft" }, a.rules.map((rule) => h("li", { key: rule.en }, own(rule))))],
    h("span", { class: "row" }, h("a", { href: address("explain", a.path ?? `http://${a.hosts[0]}/`), "aria-label": `${t("Explain")} ${a.name}` }, t("Explain")),
      a.declared && button(t("YAML"), t("Show the declaration"), () => declaration(a.name), { key: "yaml", about: a.name }),
      button(t("Purge…"), t("Make all that is kept of it stale, or remove it"), () => purge(a.name, "", refresh), { key: "purge", about: a.name })),
  ];
}

// kept lists responses, of which those with a prefix, a tag or a group are looked for and purged together.
function kept(apis, entries, total, size, wrong, refresh) {
  const choose = (set) => (event) => {
    set(event.target.value.trim());
    limit = few;
    refresh();
  };
  const name = chosen;
  return [
    h("div", { class: "bar-row apart", key: "bar" },
      h("label", null, t("API"), " ", h("select", { id: "apis-api", onchange: choose((v) => { chosen = v; }) }, apis.map((a) => h("option", { key: a.name, value: a.name, selected: a.name === name }, a.name)))),
      h("label", null, t("By"), " ", h("select", { id: "apis-by", onchange: choose((v) => { by = v; }) }, [["prefix", t("URL prefix")], ["tag", t("tag")], ["group", t("cache group")]].map(([v, text]) => h("option", { key: v, value: v, selected: v === by }, text)))),
      h("input", { id: "apis-value", type: "search", value, "aria-label": t("URL prefix, tag or group"), placeholder: { prefix: "/news/", tag: "front", group: "front" }[by], onchange: choose((v) => { value = v; }), autocomplete: "off", spellcheck: "false" }),
      value && !wrong && button(t("Purge these…"), t("Make all of them stale, or remove them"), () => purge(name, "", refresh, { [by]: value }), { about: value }),
      h("span", { class: "soft", role: "status" }, wrong || t("{entries} in this instance's memory, {size}.", { entries: plural(total, "entry", "entries"), size: bytes(size) }))),
    table(t("Entries of {name}", { name }), ["URL", t("Status"), t("State"), t("Age"), t("Fresh for"), t("Size"), t("Actions")],
      entries.map((e, i) => ({ key: `${e.url} ${i}`, cells: row(name, e, refresh) })), t("Nothing is cached here."), { name: "entries" }),
    more(total, entries.length, limit, () => {
      limit = most;
      refresh();
    }),
  ];
}

function row(name, e, refresh) {
  const [path, query] = e.url.split("?");
  const of = query?.includes("=***") ? { prefix: `${path}?` } : { url: e.url }; // what is hidden cannot be named
  return [
    [h("span", { class: "mono words" }, e.url), e.site && h("div", { class: "soft words" }, e.site), Object.entries(e.vary ?? {}).map(([field, v]) => h("div", { class: "soft words", key: field }, `${field}: ${v || "–"}`)),
      e.tags && h("div", { class: "soft words" }, `${t("tags")} ${e.tags.join(" ")}`), e.groups && h("div", { class: "soft words" }, `${t("cache groups")} ${e.groups.join(", ")}`)],
    [h("span", { class: "number" }, String(e.status)), h("div", { class: "soft words" }, e.part || e.type)],
    e.left_s > 0 ? badge("good", "●", t("fresh"), t("Served from the cache")) : badge("warn", "○", t("stale"), t("Asked for again before it is served, unless the response allows otherwise")),
    h("span", { class: "number" }, approximate(e.age_s)),
    h("span", { class: "number" }, e.left_s > 0 ? approximate(e.left_s) : t("expired {time} ago", { time: approximate(e.left_s) })),
    h("span", { class: "number" }, bytes(e.bytes)),
    button(t("Purge…"), t("Make all variants of this URL stale, or remove them"), () => purge(name, "", refresh, of), { about: e.url }),
  ];
}
