// The language of the console: that of the query (lang), else the one that was chosen last,
// else the first of the browser's. The words of the code are English; words.zh.js has the others.
import zh from "./words.zh.js";

const storage = "sundry-language";
const remembered = () => {
  try {
    return localStorage.getItem(storage);
  } catch {
    return null; // where it is not allowed
  }
};
const first = () => (navigator.languages ?? []).map((tag) => tag.slice(0, 2)).find(known);

const asked = () => new URLSearchParams(location.search).get("lang");
const known = (tag) => (tag === "zh" || tag === "en" ? tag : undefined);

export const language = known(asked()) ?? known(remembered()) ?? first() ?? "en";
export const locale = { zh: "zh-CN", en: "en-GB" }[language];

// choose shows the page anew in another language, and remembers it.
export function choose(tag) {
  let query = "";
  try {
    localStorage.setItem(storage, tag);
  } catch {
    query = `?lang=${tag}`;
  }
  history.replaceState(null, "", location.pathname + query + location.hash);
  location.reload();
}

// t is a text in the language, with values for its {names}. Where English has forms for one
// and for many, "|" is between them, and n decides.
export function t(text, values = {}) {
  const [one, many = one] = (language === "zh" ? (zh[text] ?? text) : text).split("|");
  return (values.n === 1 ? one : many).replace(/\{(\w+)\}/g, (all, name) => (name === "n" ? number.format(values.n) : (values[name] ?? all)));
}

const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });

// own is the text of this language, of what the server says in both.
export const own = (texts) => texts?.[language] ?? "";
