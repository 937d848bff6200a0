// What each endpoint's TTL leads to, and which one meets its target.
import { part, read } from "./api.js";
import { mark } from "./autopilot.js";
import { badge, button, h } from "./dom.js";
import { none } from "./endpoints.js";
import { advised, evidence, present, why } from "./evidence.js";
import { changes, figure } from "./figures.js";
import { language, t } from "./language.js";
import { list } from "./list.js";
import { goal, short } from "./text.js";
import { tune } from "./tune.js";

const every = 60_000, patience = 600;
const known = new Map(); // by endpoint: the advice, and when it was asked for
let asking = null;

export async function load() {
  const endpoints = (await read("endpoints")).endpoints.filter((e) => e.cached);
  const names = endpoints.map((e) => e.name), renewed = renew(names);
  await (names.every((name) => known.has(name)) ? Promise.race([renewed, new Promise((done) => setTimeout(done, patience))]) : renewed);
  return endpoints;
}

// renew asks for the advice that is not known or old, one after the other: each is a replay.
const renew = (names) => asking ??= (async () => {
  try {
    for (const name of names) {
      if (Date.now() - (known.get(name)?.at ?? 0) >= every) known.set(name, { at: Date.now(), advice: await read(`endpoints/${part(name)}/advice`) });
    }
  } catch {
    // What is missing is asked for again by the next renewal, which also reports a server that is gone.
  } finally {
    asking = null;
  }
})();

export function view(endpoints, { refresh }) {
  const heads = [t("Endpoint"), t("TTL → advised"), t("Old share"), t("Upstream calls"), t("Evidence"), t("Why"), t("Actions")];
  return h("section", null, h("p", { class: "soft" }, t("Which TTL meets the target of each endpoint, and what it would lead to: now → then, and the band in which 95 % lie.")),
    list("advice", t("Advice"), heads, endpoints.map((e) => row(e, known.get(e.name)?.advice, refresh)), refresh, endpoints.length > 0 ? t("No endpoint matches.") : none()));
}

// tooOld is what the target does not allow.
const tooOld = (advice) => Math.max(0, ...[advice.seen ?? present(advice)].filter((r) => r && goal(advice.target).old > 0).map((r) => r.older_ratio - goal(advice.target).old));

function row(e, advice, refresh) {
  if (!advice) return { key: e.name, words: e.name, sort: [e.name], cells: [h("strong", { class: "mono" }, e.name), h("span", { class: "soft" }, t("not known")), "", "", "", "", ""] };
  const now = present(advice), then = advised(advice);
  return {
    key: e.name, words: `${e.name} ${e.group} ${e[language]}`, cells: cells(e, advice, refresh),
    sort: [e.name, now?.ttl_seconds ?? 0, now?.older_ratio ?? -1, now?.calls_per_hour ?? 0, advice.evidence.refreshes],
    trouble: 1e3 * tooOld(advice) + (then && !then.present ? 1 : 0),
  };
}

function cells(e, advice, refresh) {
  const now = present(advice), then = advised(advice);
  const open = () => tune(e, advice, () => {
    known.delete(e.name);
    refresh();
  });
  return [
    [h("strong", { class: "mono" }, e.name), " ", mark(advice.autopilot), h("div", { class: "soft" }, t("target {target}", { target: goal(advice.target).text }))],
    [h("span", { class: "number" }, now ? short(now.ttl_seconds) : "–"), " ", then && (then.present ? badge("plain", "✓", t("kept"), t("The TTL in force is advised")) : badge("tip", "→", short(then.ttl_seconds), t("advised")))],
    ...[figure.old, figure.calls].map((f) => changes(f, now, then)), h("span", null, evidence(advice.evidence)), h("span", null, why(advice)),
    button(t("Tune…"), t("The curve over TTL, target and autopilot"), open, { about: e.name }),
  ];
}
