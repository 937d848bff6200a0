// Calls of the admin API. One that is refused throws the server's message.
import { language, t } from "./language.js";
import { headers, identified, login } from "./operator.js";

export class Lost extends Error {}

// Refused is an error of the server about one field of what was asked, or none.
export class Refused extends Error {
  constructor(message, field) {
    super(message);
    this.field = field;
  }
}

async function fetchText(method, path, body, ms) {
  const by = headers();
  const init = { method, signal: AbortSignal.timeout(ms), credentials: "omit", headers: { "Accept-Language": language, ...by } };
  if (body !== undefined) {
    init.headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  try {
    const response = await fetch(`api/${path}`, init);
    return { response, text: await response.text(), token: by.Authorization };
  } catch (error) {
    throw new Lost(error.name === "TimeoutError" ? t("no answer within {s} s", { s: ms / 1000 }) : t("no connection"));
  }
}

async function answered(method, path, body, ms) {
  const got = await fetchText(method, path, body, ms);
  if (got.response.status !== 401) return got;
  const replaced = got.token !== headers().Authorization; // while this call was under way
  if (!replaced && !(await login(true))) throw new Lost(t("not logged in"));
  return answered(method, path, body, ms);
}

async function call(method, path, body, ms) {
  const { response, text } = await answered(method, path, body, ms);
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Lost(t("status {status}", { status: response.status }) + ` ${text.slice(0, 200).trim()}`);
  }
  if (!response.ok) throw new Refused(answer.error ?? t("status {status}", { status: response.status }), answer.field);
  return answer;
}

export const read = (path) => call("GET", path, undefined, 10_000);
export const ask = (path, body) => call("POST", path, body, 45_000);

// change is a call that the audit log has: it asks for a name first.
export async function change(method, path, body) {
  if (!(await identified())) throw new Refused(t("Nothing was changed: the audit log needs your name."), "operator");
  return call(method, path, body, 45_000);
}

// text reads what is not JSON.
export async function text(path) {
  const got = await answered("GET", path, undefined, 10_000);
  if (!got.response.ok) throw new Refused(got.text);
  return got.text;
}

export const part = encodeURIComponent;

// latest makes calls of work one at a time, with one more at the end for all that came meanwhile:
// the last answer is for the last call.
export function latest(work) {
  let running = false, again = false;
  return async () => {
    again = true;
    if (running) return;
    running = true;
    while (again) {
      again = false;
      await work();
    }
    running = false;
  };
}
