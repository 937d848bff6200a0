// What is in trouble, the worst first.
import { own, t } from "./language.js";
import { cause as inWords, result } from "./results.js";
import { count, moment } from "./text.js";

export const low = 0.1; // the share of a quota below which it is told

// troubles are {weight, to, kind, sign, what, why, cause, section, endpoint}, from what the API says of the
// instance, of its hosts and sources, and of the last hour. To is the place [tab, filter] of the cause, [] for none; the section is one of
// the runbook; the endpoint is "" where it concerns more than one.
export function troubles(overview, { hosts, sources }, history) {
  const found = [];
  const add = (weight, to, kind, sign, what, why, cause, section, endpoint = "") => found.push({ weight, to, kind, sign, what, why, cause, section, endpoint });
  if (overview.reload_failed) add(10, [], "bad", "▲", t("Last reload"), t("Failed, since {at}: the previous configuration and catalog stay in force, but a restart would fail", { at: moment(overview.reload_failed.since) }), first(own(overview.reload_failed.mistakes)), "sundryreloadfailed");
  if (!overview.in_sync) add(9, ["audit"], "bad", "▲", t("Redis"), t("This instance is cut off from the settings in Redis"), undefined, "sundrysettingsunread");
  const broken = (weight, name, kind, sign, why) => {
    const using = sources.filter((s) => s.hosts.includes(name)), host = hosts.find((h) => h.name === name);
    add(weight, ["upstreams", name], kind, sign, name, `${why}${t("; ")}${t("used by {names}", { names: [...new Set(using.map((s) => s.endpoint))].join(t(", ")) })}`, held(host) ? [held(host)] : latest(using), "sundrybreakeropen");
  };
  for (const name of overview.breakers_open ?? []) broken(7, name, "bad", "▲", t("The breaker is open: no calls are made"));
  for (const name of overview.breakers_half_open ?? []) broken(5, name, "warn", "◐", t("The breaker is half-open: a few trial calls are made"));
  for (const [name, { state, total }] of Object.entries(history.endpoints)) {
    const its = sources.filter((s) => s.endpoint === name), cause = latest(its), to = [cause ? "failures" : "upstreams", `${name}/`];
    if (state === "failing" && total.requests > 0) add(8, to, "bad", "✕", name, t("{n} of {all} requests failed in the last hour", { n: total.errors, all: count(total.requests) }), every(its, cause), "sundryendpointwithoutsource", name);
    if (state === "fallback") add(4, to, "warn", "◐", name, t("All that was fetched lately came from the last resort, because the sources before it fail"), cause, "sundryendpointonlastresort", name);
    if (state === "stale") add(4, to, "warn", "◐", name, t("Answers are old, because refreshes fail"), cause, "sundrystaleforlong", name);
  }
  for (const s of sources) {
    const name = `${s.endpoint}/${s.source}`;
    if (s.quota_left !== undefined && s.quota_left < low) add(6, ["upstreams", name], "warn", "◔", name, t("{n} % of its quota is left", { n: Math.round(100 * s.quota_left) }), undefined, "quotas", s.endpoint);
  }
  return found.sort((a, b) => b.weight - a.weight || a.what.localeCompare(b.what));
}

// held says that an operator holds a breaker; "": it decides by itself.
export function held({ force, until } = { force: "auto" }) {
  if (force === "auto") return "";
  return (force === "open" ? t("held open") : t("held closed")) + (until ? t(" until {at}", { at: moment(until) }) : "");
}

// latest is what last went wrong at any of the sources, as [words, text of the error]; undefined for nothing.
function latest(sources) {
  const rejected = (s) => s.last_error_result === "rejected"; // by a breaker: what opened it is the cause
  const [s] = sources.filter((s) => s.last_error).sort((a, b) => rejected(a) - rejected(b) || b.last_error_at.localeCompare(a.last_error_at));
  return s && [`${s.endpoint}/${s.source}${t(": ")}${said(s.last_error_result, s.last_error)}`, s.last_error];
}

// every says of what last went wrong that all sources of an endpoint fail, if there are several and they do.
function every(sources, cause) {
  const used = sources.filter((s) => !s.missing), n = new Set(used.map((s) => s.source)).size;
  const fail = n > 1 && used.every((s) => s.last_error && s.recent.at(-1)?.result !== "success");
  return fail ? [t("all {n} sources fail; last: {cause}", { n, cause: cause[0] }), cause[1]] : cause;
}

const few = 3; // mistakes that are shown of a reload

// first are the first mistakes of a reload, of which the text has one a line.
function first(text) {
  const mistakes = text.split("\n"), n = mistakes.length - few;
  return [[...mistakes.slice(0, few), ...(n > 0 ? [t("and {n} more", { n })] : [])].join("\n"), text];
}

// said is how an attempt failed, and why, unless that is the same.
export const said = (kind, error) => (error === kind ? result(kind) : `${result(kind)}${t(": ")}${inWords(error)}`);
