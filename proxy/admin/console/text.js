// Numbers, times and durations as people read them.

import { locale, t } from "./language.js";
import { h } from "./dom.js";

const whole = new Intl.NumberFormat(locale);
export const count = (n) => whole.format(Math.round(n));
export const plural = (n, one, many = one + "s") => t(`{n} ${one}|{n} ${many}`, { n });
export const share = (part) => (part === null || part === undefined ? "–" : `${(part * 100).toFixed(part > 0 && part < 0.1 ? 1 : 0)} %`);

// milliseconds are the last that a list with gaps has.
export function milliseconds(list) {
  const last = list?.findLast((v) => v !== null && v !== undefined);
  return last === undefined ? "–" : `${last < 10 ? last.toFixed(1) : count(last)} ms`;
}

export function bytes(n) {
  if (n < 1024) return `${n} B`;
  const step = Math.min(3, Math.floor(Math.log2(n) / 10));
  return `${(n / 1024 ** step).toFixed(n / 1024 ** step < 10 ? 1 : 0)} ${["B", "KiB", "MiB", "GiB"][step]}`;
}

// approximate writes seconds in one or two units.
export function approximate(s) {
  s = Math.round(Math.abs(s));
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = units.findIndex(([, size]) => s >= size);
  if (first < 0) return `0 ${t("s")}`;
  const [name, size] = units[first];
  const [nextName, nextSize] = units[first + 1] ?? ["", 1];
  const rest = Math.floor((s % size) / nextSize);
  return `${Math.floor(s / size)} ${t(name)}` + (rest > 0 && s < 10 * size ? ` ${rest} ${t(nextName)}` : "");
}

const sizes = { d: 86400e3, h: 3600e3, m: 60e3, s: 1e3, ms: 1, "µs": 1e-3, ns: 1e-6 };

// shortDuration writes the durations of a setting in short: "1h30m0s" as "1h30m".
export const shortDuration = (text) => (text ?? "").replace(/(\d+(\.\d+)?(ms|µs|ns|d|h|m|s))+/g, (one) => {
  let ms = 0;
  for (const [, n, unit] of one.matchAll(/([\d.]+)(ms|µs|ns|d|h|m|s)/g)) ms += n * sizes[unit];
  return short(ms / 1e3);
});

// goal is a target such as old=2% or calls=100/h, in numbers and in words.
export function goal(target) {
  const [name, value] = target.split("="), n = parseFloat(value);
  return name === "old" ? { old: n / 100, calls: 0, text: t("{share} old", { share: `${n} %` }) } : { old: 0, calls: n, text: perHour(n) };
}

// short writes seconds as the API takes them: "1h30m".
export function short(s) {
  const ms = Math.round(s * 1e3);
  if (ms === 0) return "0s";
  if (ms % sizes.d === 0) return `${ms / sizes.d}d`;
  if (ms < 1000) return `${ms}ms`;
  const parts = [["h", Math.floor(ms / sizes.h)], ["m", Math.floor(ms / sizes.m) % 60], ["s", (ms % sizes.m) / 1000]];
  return parts.filter(([, n]) => n > 0).map(([unit, n]) => n + unit).join("");
}

// spoken writes seconds in words, for screen readers: "1 hour 30 minutes".
export function spoken(s) {
  const words = [];
  for (const [name, size] of [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]]) {
    const n = Math.floor(s / size);
    if (n > 0) words.push(plural(n, name));
    s -= n * size;
  }
  return words.join(" ") || plural(0, "second");
}

// sentence is one of what the server says.
export const sentence = (text) => text && text[0].toUpperCase() + text.slice(1) + (/[.。]$/.test(text) ? "" : t("."));

// percent writes a share so that small ones, and those next to all, can be told apart.
export function percent(part) {
  const p = part * 100, far = Math.min(p, 100 - p);
  if (far < 1e-9) return `${Math.round(p)} %`;
  if (far < 0.01) return p < 50 ? "< 0.01 %" : "> 99.99 %";
  return `${p.toFixed(far < 1 ? 2 : far < 10 ? 1 : 0)} %`;
}

// perHour writes a rate; few are written by the day. So does perHourBetween with a band.
export const perHour = (n) => rate([n]);
export const perHourBetween = (low, high) => rate([low, high]);

function rate(band) {
  const daily = Math.max(...band) > 0 && Math.max(...band) < 1.2;
  const x = band.map((n) => digits(daily ? n * 24 : n)).join(" – ");
  return daily ? t("{x} a day", { x }) : t("{x}/h", { x });
}

const digits = (n) => (n >= 100 ? count(n) : String(Number(n.toPrecision(3))));

const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const entire = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "long" });

// zone names the time zone that all times are shown in.
export const zone = `${Intl.DateTimeFormat().resolvedOptions().timeZone} (${new Intl.DateTimeFormat("en", { timeZoneName: "longOffset" }).formatToParts().find((part) => part.type === "timeZoneName").value.replace("GMT", "UTC")})`;

// time is an element for a time; its title holds all of it, with the zone.
export const time = (iso, ...kids) => h("time", { datetime: iso, title: entire.format(new Date(iso)) }, kids.length > 0 ? kids : moment(iso));

// moment writes a time: without the day if it is today.
export function moment(iso) {
  const at = new Date(iso);
  return (at.toDateString() === new Date().toDateString() ? clock : day).format(at);
}

// timeOfDay is that of a daily edition.
export const timeOfDay = (iso) => new Date(iso).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" });

export const ago = (iso) => t("{time} ago", { time: approximate((Date.now() - new Date(iso)) / 1000) });

// pendingNote says of a change that it could not be stored yet.
export const pendingNote = (answer) => answer.pending ? t(" – pending: on this instance only, until it can be stored") : "";
