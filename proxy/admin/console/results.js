// How attempts end, in words.
import { language, t } from "./language.js";

const words = {
  success: t("success"), negative: t("negative"), throttled: t("throttled"), internal: t("internal"), invalid: t("invalid"), forbidden: t("forbidden"),
  unavailable: t("unavailable"), timeout: t("timeout"), limited: t("limited"), rejected: t("rejected"), busy: t("busy"), malformed: t("malformed"), skipped: t("skipped"),
};

export const result = (name) => words[name] ?? name;

// causes that are frequent, by what the program says of them in English.
const causes = [
  [/connection refused/, t("connection refused")], [/no such host|^lookup /, t("the host's name was not found (DNS)")], [/tls: |x509: /, t("TLS or the certificate failed")],
  [/deadline exceeded|timeout|timed out/i, t("no reply in time")], [/connection reset|EOF|broken pipe/, t("the connection broke off")], [/circuit breaker (is )?open/, t("the breaker is open")], [/held open by an operator/, t("the breaker is held open")],
  [/\bis empty$|, 0 bytes\)$/, t("the reply is empty")],
  [/a page titled|looks like text\/html/, t("a web page, not the data")], [/body is not a picture/, t("not a picture")],
  [/^(status \d+: )?(body as|body:|map:|var |the answer )/, t("the body is not as expected")],
];

// cause is what the text of an error says, in the language of the console; where that is not known, the text.
export function cause(error) {
  if (language === "en") return error;
  const [, status] = /^status (\d+)/.exec(error) ?? [];
  const [, known] = causes.find(([of]) => of.test(error)) ?? [];
  return status ? t("status {status}", { status }) + (known ? `${t(": ")}${known}` : "") : known ?? error;
}
