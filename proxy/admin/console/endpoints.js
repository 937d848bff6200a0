// What each endpoint does, and the rule of its cache.
import { change, part, read } from "./api.js";
import { ask, lasting } from "./ask.js";
import { badge, button, h, svg, table } from "./dom.js";
import { count, moment, plural, share, span, waits } from "./text.js";

const groups = { images: "Images and wallpapers", media: "Media", lookups: "Lookups", text: "Text and daily content" };

export const knobs = {
  ttl: ["ttl", "how long an answer is fresh"],
  grace: ["grace", "then served stale at once, refreshed behind"],
  stale_if_error: ["stale if error", "then served only where a refresh fails"],
  negative: ["negative", "how long a definite no is kept"],
  poll: ["poll", "how often a late edition is asked for"],
  soft_timeout: ["soft timeout", "how long a caller waits for a refresh while there is a stale answer"],
};
const shown = ["ttl", "grace", "stale_if_error"];

export const load = async () => (await read("endpoints")).endpoints;

export function view(endpoints, { refresh }) {
  const order = [...new Set(endpoints.map((e) => e.group))];
  return order.map((group) => h("section", { key: group }, h("h2", null, groups[group] ?? group),
    table(groups[group] ?? group, ["Endpoint", "Requests", "From cache", "Errors", "Refreshes", "Cache rule", "Change"],
      endpoints.filter((e) => e.group === group).map((e) => ({ key: e.name, cells: cells(e, refresh) })))));
}

function cells(e, refresh) {
  const s = e.stats;
  return [
    [h("strong", { class: "mono" }, e.name), h("div", { class: "soft" }, e.en, " ", h("span", { lang: "zh-CN" }, e.zh))],
    h("span", { class: "number" }, count(s.requests)),
    s.hit_ratio === null ? h("span", { class: "soft" }, "–") : h("span", { class: "number", title: `${count(s.hits)} hits, ${count(s.stale)} stale, ${count(s.misses)} misses` }, bar(s.hit_ratio), share(s.hit_ratio)),
    s.errors > 0 ? h("span", { class: "number bad", title: plural(s.errors, "error") }, h("span", { "aria-hidden": "true" }, "▲ "), share(s.errors / s.requests)) : h("span", { class: "number soft" }, s.requests ? "0 %" : "–"),
    refreshes(s),
    rule(e),
    e.cached ? button("Edit…", `Change the cache rule of ${e.name} while it runs`, () => edit(e, refresh), { "aria-label": `Edit the cache rule of ${e.name}` }) : h("span", { class: "soft" }, "–"),
  ];
}

const bar = (part) => svg("svg", { class: "bar", viewBox: "0 0 40 6", "aria-hidden": "true" },
  svg("rect", { width: 40, height: 6, rx: 3 }), svg("rect", { class: "part", width: 40 * part, height: 6, rx: 3 }));

// enough refreshes to say something of the ttl.
const enough = 8;

function refreshes(s) {
  const all = s.refreshes_changed + s.refreshes_same;
  if (all === 0) return h("span", { class: "soft" }, "–");
  return [h("span", { class: "number" }, `${count(s.refreshes_changed)} changed, ${count(s.refreshes_same)} same`),
    all >= enough && s.change_ratio < 0.1 && h("div", { class: "soft hint" }, "Seldom news: a longer ttl would save calls.")];
}

function rule(e) {
  if (!e.cached) return h("span", { class: "soft" }, "not cached");
  const live = e.live ?? {};
  const names = [...shown, ...Object.keys(live).filter((name) => !shown.includes(name))];
  return [
    h("ul", { class: "rule" }, names.map((name) => h("li", { key: name, class: name in live && "live", title: `${knobs[name]?.[1] ?? name}; by its file ${span(e.base[name])}` },
      h("span", { class: "soft" }, `${knobs[name]?.[0] ?? name} `), span(e.policy[name]), name in live && h("span", { class: "was" }, ` ◆ file ${span(e.base[name])}`)))),
    h("div", { class: "soft" }, e.daily && "fresh until its next edition", e.daily && e.live && " · ",
      e.live && badge("live", "◆", e.live_until ? `live until ${moment(e.live_until)}` : "live", "Set by an operator while it runs")),
  ];
}

function edit(e, refresh) {
  const live = e.live ?? {}, fields = {};
  const row = (name) => {
    const [label, what] = knobs[name] ?? [name, ""];
    fields[name] = h("input", { name, type: "text", value: name in live ? span(live[name]) : "", placeholder: span(e.base[name]), autocomplete: "off", spellcheck: "false", "aria-describedby": `about-${name}` });
    return h("div", { class: "knob" }, h("label", null, h("span", null, label), fields[name]),
      h("p", { id: `about-${name}`, class: "soft" }, `${what}. File: ${span(e.base[name])}. In force: ${span(e.policy[name])}`, name in live && h("span", { class: "was" }, " ◆ live"), "."));
  };
  const names = [...new Set([...Object.keys(knobs), ...Object.keys(e.policy)])].filter((name) => name in e.policy);
  const first = names.slice(0, 4), more = names.slice(4);
  const time = lasting("Holds");
  const url = `endpoints/${part(e.name)}/cache`;
  ask({
    title: `Cache rule of ${e.name}`,
    action: "Save",
    body: [
      h("p", { class: "soft" }, "Spans such as 90s, 6h or 30d. An empty field is as in the file. It applies at once, also to what is cached.", e.daily && " This one has a calendar as well: an edition is fresh until the next is due."),
      first.map(row),
      h("details", { open: more.some((name) => name in live) }, h("summary", null, "More"), more.map(row)),
      time.field,
      e.live_until && h("p", { class: "soft" }, `What is live now ends at ${moment(e.live_until)}; saving sets the time of all of it anew.`),
      e.live && h("p", null, button("Back to file", "Take back everything that is set live here", async () => back(e, url, refresh))),
    ],
    done: refresh,
    async go() {
      const set = {};
      for (const [name, field] of Object.entries(fields)) {
        if (field.value.trim() || name in live) set[name] = field.value.trim();
      }
      if (Object.keys(set).length === 0) throw new Error("nothing is set yet: write a span into a field");
      const record = await change("PUT", url, { set, for: time.value() });
      return `${e.name}: the cache rule is changed${waits(record)}`;
    },
  });
}

function back(e, url, refresh) {
  ask({
    title: `${e.name}: back to the file?`,
    action: "Back to file",
    body: h("ul", null, Object.entries(e.live).map(([name, value]) => h("li", null, `${knobs[name]?.[0] ?? name}: ${span(value)} → ${span(e.base[name])}`))),
    done: refresh,
    async go() {
      const record = await change("DELETE", url);
      return `${e.name}: the cache rule is the file's again${waits(record)}`;
    },
  });
}
