// Numbers, times and durations as people read them.

const whole = new Intl.NumberFormat("en");
export const count = (n) => whole.format(Math.round(n));
export const plural = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;
export const share = (part) => (part === null || part === undefined ? "–" : `${(part * 100).toFixed(part > 0 && part < 0.1 ? 1 : 0)} %`);

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
  if (first < 0) return "0 s";
  const [name, size] = units[first];
  const [nextName, nextSize] = units[first + 1] ?? ["", 1];
  const rest = Math.floor((s % size) / nextSize);
  return `${Math.floor(s / size)} ${name}` + (rest > 0 && s < 10 * size ? ` ${rest} ${nextName}` : "");
}

const sizes = { d: 86400e3, h: 3600e3, m: 60e3, s: 1e3, ms: 1, "µs": 1e-3, ns: 1e-6 };

// shortDuration writes the server's "1h30m0s" as "1h30m".
export function shortDuration(text) {
  let ms = 0;
  for (const [, n, unit] of (text ?? "").matchAll(/([\d.]+)(ms|µs|ns|d|h|m|s)/g)) ms += n * sizes[unit];
  if (ms === 0) return "0s";
  if (ms % sizes.d === 0) return `${ms / sizes.d}d`;
  if (ms < 1000) return `${ms}ms`;
  const parts = [["h", Math.floor(ms / sizes.h)], ["m", Math.floor(ms / sizes.m) % 60], ["s", (ms % sizes.m) / 1000]];
  return parts.filter(([, n]) => n > 0).map(([unit, n]) => n + unit).join("");
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

// moment writes a time: without the day if it is today.
export function moment(iso) {
  const at = new Date(iso);
  return (at.toDateString() === new Date().toDateString() ? clock : day).format(at);
}

export const ago = (iso) => `${approximate((Date.now() - new Date(iso)) / 1000)} ago`;

// pendingNote says of a change that it could not be stored yet.
export const pendingNote = (answer) => answer.pending ? " – pending: on this instance only, until Redis is back" : "";
