// The dialog in which a rule is tuned: what the advisor says, what other TTLs would change,
// applying one, and what came of the last one.
import { change, latest, part, read } from "./api.js";
import { durationField, openDialog, reasonField, Wrong } from "./ask.js";
import * as autopilot from "./autopilot.js";
import { large, legend } from "./curve.js";
import { h, show } from "./dom.js";
import { figures } from "./figures.js";
import { knobs } from "./knobs.js";
import { own, t } from "./language.js";
import { came, plotted } from "./measured.js";
import { chooser } from "./rule.js";
import { approximate, count, moment, pendingNote, plural, short } from "./text.js";
import { verdict } from "./verdict.js";
import { simulation } from "./whatif.js";

const every = 4000;
const scrolled = { numbers: t("What the sliders would change"), came: t("What came of the present rule") }; // on narrow screens

// tune opens the dialog with the advice that is known, and with what the autopilot does; done is
// called after a change.
export function tune(e, advice, pilot, done) {
  const places = Object.fromEntries(["said", "curve", "numbers", "note", "came", "pilot"].map((name) => [name, h("div", { class: name, ...(scrolled[name] && { tabindex: 0, role: "group", "aria-label": scrolled[name] }) })]));
  const url = `endpoints/${part(e.name)}`, time = durationField(t("Duration")), reason = reasonField();
  const rule = chooser(advice, () => moved());
  const dialog = openDialog({
    title: t("Cache rule of {name}", { name: e.name }), wide: true, action: t("Apply"), done,
    body: [places.said, h("div", { class: "tune" }, h("div", { class: "half" }, places.curve, rule.field), h("div", { class: "half" }, places.numbers, places.note, places.came, places.pilot, time.field, reason.field, ends(e))), simulation(e.name, rule)],
    go: () => apply(e, `${url}/cache`, rule.changed(advice.present), time.value(), reason.value()),
  });
  // then is what the rule leads to that was chosen; null until that is known.
  let then = null;
  const ask = latest(async () => {
    try {
      const answer = await read(`${url}/advice?ttl=${part(short(rule.ttl()))}&grace=${part(short(rule.grace()))}`);
      if (pilot.on) pilot = await read(`${url}/autopilot`);
      if (!dialog.open()) return;
      advice = answer;
      if (rule.is(answer.asked)) then = answer.asked;
      draw(places, advice, then, rule);
      show(places.pilot, autopilot.section(pilot));
    } catch (error) {
      show(places.numbers, h("p", { class: "error", role: "alert" }, `✕ ${error.message}`));
    }
  });
  // moved shows the point of the curve, if it has one, and then what the server answers.
  const moved = () => {
    then = [advice.present, ...advice.curve].find(rule.is) ?? null;
    draw(places, advice, then, rule);
    ask();
  };
  moved();
  const timer = setInterval(() => (dialog.open() ? ask() : clearInterval(timer)), every);
}

function draw(places, advice, then, rule) {
  const known = advice.curve.length > 1;
  const honest = (o) => o && (known ? o : { ...o, old_share: null });
  show(places.said, said(advice));
  show(places.curve, known ? chart(advice, rule.is(advice.present) ? null : then, places.curve.clientWidth, rule.pick) : h("p", { class: "empty" }, unknown(advice)));
  show(places.numbers, h("div", { "aria-live": "polite", "aria-busy": !then && "true" },
    figures(t("What the sliders would change"), [[t("Now"), honest(advice.present)], [t("Then"), honest(then)]], t("Change"))));
  show(places.note, note(advice));
  show(places.came, came(advice));
  places.came.tabIndex = places.came.hasChildNodes() ? 0 : -1;
}

const kinds = (kind) => ({ unknown: t("not known"), unchanged: t("unchanged"), periodic: t("periodic"), random: t("at random"), always: t("each time") }[kind] ?? kind);

const said = (a) => [h("p", null, verdict(a), " ", own(a.reason)),
  a.sources?.length > 0 && h("p", { class: "soft" }, t("Sources differ: {sources}.", { sources: a.sources.map(({ source, change: c }) => `${source} ${c.interval_s ? t("about every {time}", { time: approximate(c.interval_s) }) : kinds(c.kind)}`).join(", ") }))];

function chart(advice, then, width, pick) {
  const kinds = ["now", ...(["set", "schedule"].includes(advice.verdict) ? ["best"] : []), ...(plotted(advice.measured) ? ["real"] : []), "then"];
  return h("figure", null, large(advice, plotted(advice.measured), then, Math.max(220, width), pick), legend(kinds));
}

const unknown = ({ change: c }) => (c.kind === "always" ? t("Every refresh finds another content, so how old the answers are is not known. A shorter TTL for a while would show it.") : t("How often the content changes is not known: {refreshes} so far, {changes}. The curve appears when there are more.", { refreshes: plural(c.refreshes, "refresh", "refreshes"), changes: plural(c.changes, "change") }));

function note({ change: c, requests_per_s: rate, keys }) {
  const seen = rate > 0 ? t("Predicted from {count} requests an hour for {keys}", { count: count(rate * 3600), keys: plural(Math.round(keys), "key") }) : t("No requests were seen, so nothing can be predicted");
  return h("p", { class: "soft" }, seen, c.refreshes > 0 && t(", and {refreshes} since {at}", { refreshes: plural(c.refreshes, "refresh", "refreshes"), at: moment(c.since) }), t("."), " ",
    c.kind === "unchanged" && t("As none found a change, old answers are at most those."));
}

const ends = (e) => h("p", { class: "soft" }, t("In force at once on every instance, also for what is cached already. After a limited time, the values of the file are in force again."),
  e.live_until && t(" The present changes end at {at}; the new duration is for all of them.", { at: moment(e.live_until) }));

async function apply(e, url, set, time, note) {
  if (Object.keys(set).length === 0) throw new Wrong("ttl", t("The sliders are at the rule in force: move one."));
  const record = await change("PUT", url, { set, for: time, note });
  return `${e.name}: ${Object.entries(set).map(([name, value]) => `${knobs[name]?.[0] ?? name} ${value}`).join(", ")}${record.after?.until ? t(" until {at}", { at: moment(record.after.until) }) : ""}${pendingNote(record)}`;
}
