// Endpoints with their statistics and cache settings.
import { change, part, read } from "./api.js";
import { checked, durationField, openDialog, reasonField, Wrong } from "./ask.js";
import { badge, button, h, svg } from "./dom.js";
import { cacheSettings, tuned } from "./cache_settings.js";
import { language, own, t } from "./language.js";
import { dashboards, grafana } from "./links.js";
import { find as filtered, list } from "./list.js";
import { cached, wholes } from "./shares.js";
import { count, moment, pendingNote, plural, share, shortDuration } from "./text.js";
import { declaration, tryOut } from "./try.js";

const shown = ["ttl", "grace", "stale_if_error"];

export async function load() {
  const [{ endpoints }, history] = await Promise.all([read("endpoints"), read("history")]);
  return { endpoints, history };
}

export const find = (text) => filtered("endpoints", text);

export function view({ endpoints, history }, { overview, refresh }) {
  const heads = [t("Endpoint"), t("Requests"), t("From cache"), t("Errors"), t("Cache settings"), t("Actions")];
  return h("section", null, endpoints.length > 0 && h("p", { class: "soft" }, t("Requests of the last hour, on this instance."), wholes),
    list("endpoints", t("Endpoints"), heads, endpoints.map((e) => row(e, history.endpoints[e.name] ?? unasked, overview.grafana, refresh)), refresh, endpoints.length > 0 ? t("No endpoint matches.") : none()));
}

export const unasked = { state: "unknown", total: { requests: 0, cached: 0, fetched: 0, errors: 0 } }; // one that is new

// none says why there is no endpoint at all.
export const none = () => [t("There are no endpoints here."), " ", h("a", { href: "#apis" }, t("All is served as an API."))];

function row(e, { state, total }, address, refresh) {
  return {
    key: e.name, class: state === "failing" && "trouble", cells: cells(e, state, total, address, refresh), words: `${e.name} ${e.group} ${own(e.title)} ${e[language]}`,
    sort: [e.name, total.requests, cached(total) ?? -1, total.requests ? total.errors / total.requests : 0],
    trouble: ({ failing: 2e9, stale: 1e9, fallback: 1e9 }[state] ?? 0) + (total.errors > 0 ? 1e8 : 0),
  };
}

// named is a name, with the title of what has one of its own.
export const named = (e) => [h("strong", { class: "mono" }, e.name), own(e.title) !== e.name && ` ${own(e.title)}`];

const badges = { failing: ["bad", "✕"], stale: ["warn", "◐"], fallback: ["warn", "◐"] };
const stateWords = { failing: t("failing"), stale: t("stale"), fallback: t("last resort") };

// counted are the cells of what was asked for in an hour: requests, from the cache, errors.
export const counted = (total) => [
  h("span", { class: "number" }, count(total.requests)),
  cached(total) === null ? h("span", { class: "soft" }, "–") : h("span", { class: "number" }, bar(cached(total)), share(cached(total))),
  total.errors > 0 ? h("span", { class: "number bad", title: plural(total.errors, "error") }, h("span", { "aria-hidden": "true" }, "▲ "), share(total.errors / total.requests)) : h("span", { class: "number soft" }, total.requests ? "0 %" : "–"),
];

function cells(e, state, total, address, refresh) {
  return [
    [...named(e), badges[state] && [" ", badge(...badges[state], stateWords[state])], h("div", { class: "soft" }, e[language])],
    ...counted(total),
    rule(e),
    h("span", { class: "row" }, button(t("Try…"), t("Make a request as a caller would"), () => tryOut(e.name), { key: "try", about: e.name }),
      button(t("YAML"), t("Show the declaration"), () => declaration(e.name), { key: "yaml", about: e.name }),
      e.cached && button(t("Edit…"), t("Change the cache settings"), () => edit(e, refresh), { key: "edit", about: e.name }), grafana(address, dashboards.service, e.name)),
  ];
}

const bar = (part) => svg("svg", { class: "bar", viewBox: "0 0 40 6", "aria-hidden": "true" },
  svg("rect", { width: 40, height: 6, rx: 3 }), svg("rect", { class: "part", width: 40 * part, height: 6, rx: 3 }));

// filed is what the files say of a setting, as far as that is known here.
const filed = (e, name) => shortDuration(e.base[name]) || t("as in the file");

function rule(e) {
  if (!e.cached) return h("span", { class: "soft" }, t("not cached"));
  const live = e.live ?? {};
  const names = [...shown, ...Object.keys(live).filter((name) => !shown.includes(name))];
  return [
    h("ul", { class: "rule" }, names.map((name) => h("li", { key: name, class: name in live && "live", title: t("{what}; file: {value}", { what: cacheSettings[name]?.[1] ?? name, value: filed(e, name) }) },
      h("span", { class: "soft" }, `${cacheSettings[name]?.[0] ?? name} `), shortDuration(e.policy[name]), name in live && name in e.base && h("span", { class: "was" }, ` ◆ ${t("file {value}", { value: filed(e, name) })}`)))),
    h("div", { class: "soft" }, e.daily && t("fresh until its next edition"), e.daily && e.live && " · ",
      e.live && badge("live", "◆", e.live_until ? t("live until {at}", { at: moment(e.live_until) }) : t("live"), t("Changed by an operator"))),
  ];
}

function edit(e, refresh) {
  const live = e.live ?? {}, fields = {};
  const row = (name) => {
    const [label, what] = cacheSettings[name] ?? [name, ""];
    fields[name] = h("input", { name, type: "text", value: name in live ? shortDuration(live[name]) : "", placeholder: shortDuration(e.base[name]), autocomplete: "off", spellcheck: "false", "data-duration": name, "aria-describedby": `about-${name}` });
    return h("div", { class: "setting" }, h("label", null, h("span", null, label), fields[name]),
      h("p", { id: `about-${name}`, class: "soft" }, t("{what}. File: {file}. Current: {current}", { what, file: shortDuration(e.base[name]), current: shortDuration(e.policy[name]) }), name in live && h("span", { class: "was" }, ` ◆ ${t("live")}`), t(".")));
  };
  const names = [...new Set([...Object.keys(cacheSettings), ...Object.keys(e.policy)])].filter((name) => name in e.policy && !tuned.includes(name));
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
    body: h("ul", null, Object.entries(e.live).map(([name, value]) => h("li", null, `${cacheSettings[name]?.[0] ?? name}: ${shortDuration(value)} → ${filed(e, name)}`))),
    done: refresh,
    async go() {
      const record = await change("DELETE", url);
      return t("{name}: cache settings are the file's again", { name: e.name }) + pendingNote(record);
    },
  });
}
