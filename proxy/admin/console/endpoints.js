// Endpoints with their statistics and cache settings.
import { change, part, read } from "./api.js";
import { durationField, openDialog } from "./ask.js";
import { badge, button, h, svg, table } from "./dom.js";
import { count, moment, pendingNote, plural, share, shortDuration } from "./text.js";

const groups = { images: "Images and wallpapers", media: "Media", lookups: "Lookups", text: "Text and daily content" };

export const knobs = {
  ttl: ["ttl", "how long an answer is fresh"],
  grace: ["grace", "then served stale at once and refreshed in the background"],
  stale_if_error: ["stale if error", "then served only if a refresh fails"],
  negative: ["negative", "how long a negative answer is cached"],
  poll: ["poll", "how often a late edition is checked for"],
  soft_timeout: ["soft timeout", "how long a request waits for a refresh when there is a stale answer"],
};
const shown = ["ttl", "grace", "stale_if_error"];

export const load = async () => (await read("endpoints")).endpoints;

export function view(endpoints, { refresh }) {
  const order = [...new Set(endpoints.map((e) => e.group))];
  return order.map((group) => h("section", { key: group }, h("h2", null, groups[group] ?? group),
    table(groups[group] ?? group, ["Endpoint", "Requests", "From cache", "Errors", "Refreshes", "Cache settings", "Change"],
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
    e.cached ? button("Edit…", `Change the cache settings of ${e.name}`, () => edit(e, refresh), { "aria-label": `Edit the cache settings of ${e.name}` }) : h("span", { class: "soft" }, "–"),
  ];
}

const bar = (part) => svg("svg", { class: "bar", viewBox: "0 0 40 6", "aria-hidden": "true" },
  svg("rect", { width: 40, height: 6, rx: 3 }), svg("rect", { class: "part", width: 40 * part, height: 6, rx: 3 }));

// enough refreshes to judge the ttl by.
const enough = 8;

function refreshes(s) {
  const all = s.refreshes_changed + s.refreshes_same;
  if (all === 0) return h("span", { class: "soft" }, "–");
  return [h("span", { class: "number" }, `${count(s.refreshes_changed)} changed, ${count(s.refreshes_same)} same`),
    all >= enough && s.change_ratio < 0.1 && h("div", { class: "soft hint" }, "Rarely changes: a longer ttl would save upstream calls.")];
}

function rule(e) {
  if (!e.cached) return h("span", { class: "soft" }, "not cached");
  const live = e.live ?? {};
  const names = [...shown, ...Object.keys(live).filter((name) => !shown.includes(name))];
  return [
    h("ul", { class: "rule" }, names.map((name) => h("li", { key: name, class: name in live && "live", title: `${knobs[name]?.[1] ?? name}; file: ${shortDuration(e.base[name])}` },
      h("span", { class: "soft" }, `${knobs[name]?.[0] ?? name} `), shortDuration(e.policy[name]), name in live && h("span", { class: "was" }, ` ◆ file ${shortDuration(e.base[name])}`)))),
    h("div", { class: "soft" }, e.daily && "fresh until its next edition", e.daily && e.live && " · ",
      e.live && badge("live", "◆", e.live_until ? `live until ${moment(e.live_until)}` : "live", "Changed by an operator")),
  ];
}

function edit(e, refresh) {
  const live = e.live ?? {}, fields = {};
  const row = (name) => {
    const [label, what] = knobs[name] ?? [name, ""];
    fields[name] = h("input", { name, type: "text", value: name in live ? shortDuration(live[name]) : "", placeholder: shortDuration(e.base[name]), autocomplete: "off", spellcheck: "false", "aria-describedby": `about-${name}` });
    return h("div", { class: "knob" }, h("label", null, h("span", null, label), fields[name]),
      h("p", { id: `about-${name}`, class: "soft" }, `${what}. File: ${shortDuration(e.base[name])}. Current: ${shortDuration(e.policy[name])}`, name in live && h("span", { class: "was" }, " ◆ live"), "."));
  };
  const names = [...new Set([...Object.keys(knobs), ...Object.keys(e.policy)])].filter((name) => name in e.policy);
  const first = names.slice(0, 4), more = names.slice(4);
  const time = durationField("Duration");
  const url = `endpoints/${part(e.name)}/cache`;
  openDialog({
    title: `Cache settings of ${e.name}`,
    action: "Save",
    body: [
      h("p", { class: "soft" }, "Durations such as 90s, 6h or 30d. An empty field takes the file's value. Changes apply at once, also to cached entries.", e.daily && " This endpoint also has a timetable: an edition is fresh until the next one is due."),
      first.map(row),
      h("details", { open: more.some((name) => name in live) }, h("summary", null, "More"), more.map(row)),
      time.field,
      e.live_until && h("p", { class: "soft" }, `The current changes expire at ${moment(e.live_until)}; saving applies the new duration to all of them.`),
      e.live && h("p", null, button("Back to file", "Undo all changes and use the file's values", async () => back(e, url, refresh))),
    ],
    done: refresh,
    async go() {
      const set = {};
      for (const [name, field] of Object.entries(fields)) {
        if (field.value.trim() || name in live) set[name] = field.value.trim();
      }
      if (Object.keys(set).length === 0) throw new Error("enter a duration in at least one field");
      const record = await change("PUT", url, { set, for: time.value() });
      return `${e.name}: cache settings changed${pendingNote(record)}`;
    },
  });
}

function back(e, url, refresh) {
  openDialog({
    title: `${e.name}: back to the file?`,
    action: "Back to file",
    body: h("ul", null, Object.entries(e.live).map(([name, value]) => h("li", null, `${knobs[name]?.[0] ?? name}: ${shortDuration(value)} → ${shortDuration(e.base[name])}`))),
    done: refresh,
    async go() {
      const record = await change("DELETE", url);
      return `${e.name}: cache settings are the file's again${pendingNote(record)}`;
    },
  });
}
