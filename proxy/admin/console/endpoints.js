// Endpoints with their statistics and cache settings.
import { change, part, read } from "./api.js";
import { checked, durationField, openDialog, reasonField, Wrong } from "./ask.js";
import { badge, button, h, svg } from "./dom.js";
import { knobs, tuned } from "./knobs.js";
import { language, t } from "./language.js";
import { dashboards, grafana } from "./links.js";
import { list } from "./list.js";
import { count, moment, pendingNote, plural, share, shortDuration } from "./text.js";
import { lately } from "./trouble.js";
import { declaration, tryOut } from "./try.js";

const shown = ["ttl", "grace", "stale_if_error"];

export async function load() {
  const [{ endpoints }, history] = await Promise.all([read("endpoints"), read("history")]);
  return { endpoints, history };
}

export function view({ endpoints, history }, { overview, refresh }) {
  const heads = [t("Endpoint"), t("Requests"), t("From cache"), t("Errors"), t("Refreshes"), t("Cache settings"), t("Actions")];
  return h("section", null, list("endpoints", t("Endpoints"), heads, endpoints.map((e) => row(e, history.endpoints[e.name], overview.grafana, refresh)), refresh, t("No endpoint matches.")));
}

function row(e, line, address, refresh) {
  const s = e.stats, state = line ? lately(line) : "works";
  return {
    key: e.name, class: state === "failing" && "trouble", cells: cells(e, state, address, refresh), words: `${e.name} ${e.group} ${e[language]}`,
    sort: [e.name, s.requests, s.hit_ratio ?? -1, s.requests ? s.errors / s.requests : 0, s.refreshes_changed + s.refreshes_same],
    trouble: { failing: 2e9, stale: 1e9, works: 0 }[state] + (s.errors > 0 ? 1e8 : 0),
  };
}

const badges = { failing: ["bad", "✕"], stale: ["warn", "◐"] };
const stateWords = { failing: t("failing"), stale: t("stale") };

function cells(e, state, address, refresh) {
  const s = e.stats;
  return [
    [h("strong", { class: "mono" }, e.name), badges[state] && [" ", badge(...badges[state], stateWords[state])], h("div", { class: "soft" }, e[language])],
    h("span", { class: "number" }, count(s.requests)),
    s.hit_ratio === null ? h("span", { class: "soft" }, "–") : h("span", { class: "number", title: t("{hits} hits, {stale} stale, {misses} misses", { hits: count(s.hits), stale: count(s.stale), misses: count(s.misses) }) }, bar(s.hit_ratio), share(s.hit_ratio)),
    s.errors > 0 ? h("span", { class: "number bad", title: plural(s.errors, "error") }, h("span", { "aria-hidden": "true" }, "▲ "), share(s.errors / s.requests)) : h("span", { class: "number soft" }, s.requests ? "0 %" : "–"),
    refreshes(s),
    rule(e),
    h("span", { class: "row" }, button(t("Try…"), t("Make a request as a caller would"), () => tryOut(e.name), { key: "try", about: e.name }),
      button(t("YAML"), t("Show the declaration"), () => declaration(e.name), { key: "yaml", about: e.name }),
      e.cached && button(t("Edit…"), t("Change the cache settings"), () => edit(e, refresh), { key: "edit", about: e.name }), grafana(address, dashboards.service, e.name)),
  ];
}

const bar = (part) => svg("svg", { class: "bar", viewBox: "0 0 40 6", "aria-hidden": "true" },
  svg("rect", { width: 40, height: 6, rx: 3 }), svg("rect", { class: "part", width: 40 * part, height: 6, rx: 3 }));

function refreshes(s) {
  if (s.refreshes_changed + s.refreshes_same === 0) return h("span", { class: "soft" }, "–");
  return h("span", { class: "number" }, t("{changed} changed, {same} same", { changed: count(s.refreshes_changed), same: count(s.refreshes_same) }));
}

// filed is what the files say of a setting, as far as that is known here.
const filed = (e, name) => shortDuration(e.base[name]) || t("as in the file");

function rule(e) {
  if (!e.cached) return h("span", { class: "soft" }, t("not cached"));
  const live = e.live ?? {};
  const names = [...shown, ...Object.keys(live).filter((name) => !shown.includes(name))];
  return [
    h("ul", { class: "rule" }, names.map((name) => h("li", { key: name, class: name in live && "live", title: t("{what}; file: {value}", { what: knobs[name]?.[1] ?? name, value: filed(e, name) }) },
      h("span", { class: "soft" }, `${knobs[name]?.[0] ?? name} `), shortDuration(e.policy[name]), name in live && name in e.base && h("span", { class: "was" }, ` ◆ ${t("file {value}", { value: filed(e, name) })}`)))),
    h("div", { class: "soft" }, e.daily && t("fresh until its next edition"), e.daily && e.live && " · ",
      e.live && badge("live", "◆", e.live_until ? t("live until {at}", { at: moment(e.live_until) }) : t("live"), t("Changed by an operator"))),
  ];
}

function edit(e, refresh) {
  const live = e.live ?? {}, fields = {};
  const row = (name) => {
    const [label, what] = knobs[name] ?? [name, ""];
    fields[name] = h("input", { name, type: "text", value: name in live ? shortDuration(live[name]) : "", placeholder: shortDuration(e.base[name]), autocomplete: "off", spellcheck: "false", "aria-describedby": `about-${name}` });
    return h("div", { class: "knob" }, h("label", null, h("span", null, label), fields[name]),
      h("p", { id: `about-${name}`, class: "soft" }, t("{what}. File: {file}. Current: {current}", { what, file: shortDuration(e.base[name]), current: shortDuration(e.policy[name]) }), name in live && h("span", { class: "was" }, ` ◆ ${t("live")}`), t(".")));
  };
  const names = [...new Set([...Object.keys(knobs), ...Object.keys(e.policy)])].filter((name) => name in e.policy && !tuned.includes(name));
  const first = names.slice(0, 4), more = names.slice(4);
  const time = durationField(t("Duration")), reason = reasonField();
  const url = `endpoints/${part(e.name)}/cache`;
  openDialog({
    title: t("Cache settings of {name}", { name: e.name }),
    action: t("Save"),
    body: [
      h("p", { class: "soft" }, t("Durations such as 90s, 6h or 30d. An empty field takes the file's value. Changes apply at once, also to cached entries."), e.daily && t(" This endpoint also has a timetable: an edition is fresh until the next one is due.")),
      first.map(row),
      h("details", { open: more.some((name) => name in live) }, h("summary", null, t("More")), more.map(row)),
      time.field, reason.field,
      e.live_until && h("p", { class: "soft" }, t("The current changes expire at {at}; saving applies the new duration to all of them.", { at: moment(e.live_until) })),
      e.live && h("p", null, button(t("Back to file"), t("Undo all changes and use the file's values"), async () => back(e, url, refresh))),
    ],
    done: refresh,
    async go() {
      const set = {};
      for (const [name, field] of Object.entries(fields)) {
        if (field.value.trim() || name in live) set[name] = checked(name, field.value.trim());
      }
      if (Object.keys(set).length === 0) throw new Wrong(names[0], t("Enter a duration in at least one field."));
      const record = await change("PUT", url, { set, for: time.value(), note: reason.value() });
      return t("{name}: cache settings changed", { name: e.name }) + pendingNote(record);
    },
  });
}

function back(e, url, refresh) {
  openDialog({
    title: t("{name}: back to the file?", { name: e.name }),
    action: t("Back to file"),
    body: h("ul", null, Object.entries(e.live).map(([name, value]) => h("li", null, `${knobs[name]?.[0] ?? name}: ${shortDuration(value)} → ${filed(e, name)}`))),
    done: refresh,
    async go() {
      const record = await change("DELETE", url);
      return t("{name}: cache settings are the file's again", { name: e.name }) + pendingNote(record);
    },
  });
}
