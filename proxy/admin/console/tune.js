// The dialog in which a TTL is tuned: what each leads to, which one is advised for the target, and
// what came of the one in force; applying another, another target, and the autopilot.
import { change, latest, part, read } from "./api.js";
import { durationField, openDialog, reasonField, Wrong } from "./ask.js";
import * as autopilot from "./autopilot.js";
import { at, chart, legend } from "./curve.js";
import { button, h, show } from "./dom.js";
import { advised, evidence, present, why } from "./evidence.js";
import { figures } from "./figures.js";
import { cacheSettings } from "./cache_settings.js";
import { t } from "./language.js";
import { slider } from "./stops.js";
import * as target from "./target.js";
import { moment, pendingNote, sentence, short, shortDuration, timeOfDay, zone } from "./text.js";

// tune opens the dialog with the advice that is known; done is called after a change.
export function tune(e, advice, done) {
  const url = `endpoints/${part(e.name)}`, now = present(advice)?.ttl_seconds ?? 0, known = advice.rules.length > 1 && advice.evidence.requests > 0;
  const places = Object.fromEntries(["said", "curve", "buttons", "numbers", "came"].map((name) => [name, h("div", { class: name })]));
  const ttl = known ? slider({ name: "ttl", label: t("TTL"), seconds: advice.rules.map((r) => r.ttl_seconds), at: now, moved: () => moved() }) : { value: () => now };
  const fields = { target: target.field(advice.target, () => moved()), ...(!e.daily && { autopilot: autopilot.field(advice.autopilot, now) }) };
  const time = durationField(t("Duration")), reason = reasonField();
  const dialog = openDialog({
    title: t("TTL of {name}", { name: e.name }), wide: true, action: t("Apply"), done,
    body: [places.said, h("div", { class: "tune" }, h("div", { class: "half" }, places.curve, ttl.field, places.buttons, places.numbers),
      h("div", { class: "half" }, places.came, fields.target.field, fields.autopilot?.field, autopilot.said(advice.autopilot, now), time.field, reason.field, ends(e)))],
    go: () => apply(e, `${url}/cache`, settings(e, ttl.value(), now, fields), time.value(), reason.value()),
  });
  const go = (s) => {
    ttl.set(s);
    moved();
  };
  const draw = () => drawn(places, e, advice, known && ttl.value(), go);
  // The curve answers at once, and the server for the very TTL and target.
  const ask = latest(async () => {
    const s = ttl.value();
    try {
      const answer = await read(`${url}/advice?${known ? `ttl=${part(short(s))}&` : ""}target=${part(fields.target.value())}`);
      if (!dialog.open()) return;
      dialog.right();
      advice = merged(advice, answer);
      draw();
    } catch (error) {
      dialog.wrong(error);
    }
  });
  const moved = () => {
    draw();
    ask();
  };
  draw();
  new ResizeObserver(draw).observe(ttl.field ?? places.curve); // the curve is as wide as the slider
}

// merged has the rules of both answers. What is advised stays, unless the target is another one.
function merged(advice, answer) {
  const rules = new Map([...advice.rules, ...answer.rules].map((r) => [r.ttl_seconds, r]));
  return { ...(answer.target === advice.target ? advice : answer), rules: [...rules.values()].sort((a, b) => a.ttl_seconds - b.ttl_seconds) };
}

function drawn(places, e, advice, ttl, go) {
  show(places.said, h("p", null, why(advice)), h("p", { class: "soft" }, sentence(evidence(advice.evidence)), !e.daily && advice.edition && ` ${edition(advice.edition)}`));
  show(places.came, came(advice));
  if (!ttl) return show(places.curve, h("p", { class: "empty" }, advice.rules.length > 0 ? t("No requests were seen, so nothing can be predicted.") : t("There is no TTL to choose.")));
  const now = present(advice), best = advised(advice), then = at(advice.rules, ttl), moved = ttl !== now.ttl_seconds;
  const seen = advice.seen && advice.seen.older_ratio !== null ? [["seen", advice.seen]] : [];
  const points = [["now", now], ...(best && !best.present ? [["best", best]] : []), ...seen, ...(moved ? [["then", then]] : [])];
  show(places.curve, h("figure", null, chart(advice, points, Math.max(220, places.curve.clientWidth)), legend(points.map(([kind]) => kind))));
  show(places.buttons, best && button(t("Advised: {ttl}", { ttl: short(best.ttl_seconds) }), t("Move the slider to the advised TTL"), () => go(best.ttl_seconds)),
    button(t("As now"), t("Move the slider to the TTL in force"), () => go(now.ttl_seconds)));
  show(places.numbers, h("div", { "aria-live": "polite" }, figures(t("What the slider would change"), [[t("Now"), now], [t("Then"), then]])));
}

const edition = ({ from, to }) => t("It seems to change daily, from {from} to {to}, {zone}: with a timetable (until) one call a day would do.", { from: timeOfDay(from), to: timeOfDay(to), zone });

// came is what the TTL in force led to, beside what was predicted of it.
function came({ since, seen, predicted }) {
  if (!seen) return null;
  const label = t("Since {at}, when the TTL took effect", { at: moment(since) });
  return h("section", null, h("h3", null, label), figures(label, [...(predicted ? [[t("Predicted"), predicted]] : []), [t("Seen"), seen]]));
}

const ends = (e) => h("p", { class: "soft" }, t("In force here at once and elsewhere within seconds, also for what is cached already. After a limited time, the values of the file are in force again."),
  e.live_until && t(" The present changes end at {at}; the new duration is for all of them.", { at: moment(e.live_until) }));

// settings are those that differ from what is in force, as the API takes them.
function settings(e, ttl, now, fields) {
  const set = ttl === now ? {} : { ttl: short(ttl) };
  for (const [name, { value }] of Object.entries(fields)) if (shortDuration(value()) !== shortDuration(e.policy[name])) set[name] = value();
  return set;
}

async function apply(e, url, set, time, note) {
  if (Object.keys(set).length === 0) throw new Wrong("ttl", t("Nothing was changed: move the slider, or choose another target."));
  const record = await change("PUT", url, { set, for: time, note });
  return `${e.name}${t(": ")}${Object.entries(set).map(([name, value]) => `${cacheSettings[name]?.[0] ?? name} ${value}`).join(t(", "))}${record.after?.until ? t(" until {at}", { at: moment(record.after.until) }) : ""}${pendingNote(record)}`;
}
