// The page of an endpoint: address and code follow the form, and it is tried in place.
const tryForm = document.getElementById("try");
if (tryForm) {
  // Not of the form itself: a parameter may be called as one of its properties.
  const { shape: otherwise, target, templates: asText, words: asWords } = tryForm.closest(".trying").dataset;
  const templates = JSON.parse(asText), words = JSON.parse(asWords);
  const endpoint = new URL(tryForm.getAttribute("action"), location.href).href;
  const fields = [...document.querySelectorAll("#try [name]")];
  const byId = id => document.getElementById(id);
  const say = (word, values = {}) => (words[word] ?? word).replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const pairs = () => fields.filter(field => field.value !== "").map(field => [field.name, field.value]);
  const query = () => new URLSearchParams(pairs()).toString();
  const withQuery = to => { const q = query(); return q ? to + "?" + q : to; };

  // What will be answered: the first parameter that asks for a form decides, as in the service.
  const shape = () => {
    const chosen = fields.flatMap(field => field.value && field.selectedOptions?.[0].dataset.shape || [])[0] ?? otherwise;
    return chosen === "json" && document.querySelector("#try [data-callback]")?.value ? "script" : chosen;
  };

  // The page's own address has what the form holds, so that it can be shared: nothing personal, and
  // not lang, which is the page's.
  const shareable = field => field.name !== "lang" && !("personal" in field.dataset);
  const remember = () => {
    const own = new URLSearchParams(location.search), first = otherLanguage && new URLSearchParams(new URL(otherLanguage.href).search);
    for (const field of fields.filter(shareable)) {
      for (const query of [own, first].filter(Boolean)) {
        if (field.value === field.dataset.initial) query.delete(field.name);
        else query.set(field.name, field.value);
      }
    }
    const q = own.toString();
    history.replaceState(null, "", location.pathname + (q ? "?" + q : "") + location.hash);
    if (otherLanguage) otherLanguage.search = first.toString();
  };
  const otherLanguage = document.querySelector(".switch");
  const restore = () => {
    const query = new URLSearchParams(location.search);
    let any = false;
    for (const field of fields) {
      field.dataset.initial = field.value;
      if (!shareable(field) || !query.has(field.name)) continue;
      field.value = query.get(field.name);
      if (field.selectedIndex === -1) field.value = field.dataset.initial; // there is no such choice
      else any = true;
    }
    return any;
  };

  const follow = () => {
    const what = shape(), given = pairs();
    byId("address").textContent = withQuery(endpoint);
    for (const [language, snippets] of Object.entries(templates)) {
      byId("text-" + language).textContent = fillSnippet(snippets[what], endpoint, given);
    }
  };

  const showFacts = facts => {
    byId("facts").replaceChildren(...facts.filter(([, value]) => value).map(([name, value]) =>
      made("div", {}, made("dt", {}, say(name) + " "), made("dd", {}, value))));
    byId("facts").hidden = false;
  };

  const duration = seconds => {
    const [word, unit] = seconds < 120 ? ["seconds", 1] : seconds < 7200 ? ["minutes", 60] : seconds < 172800 ? ["hours", 3600] : ["days", 86400];
    return say(word, { n: Math.round(seconds / unit) });
  };

  // The field Cache-Status (RFC 9211) in words.
  const cacheState = status => {
    const of = Object.fromEntries(status.split(";").slice(1).map(part => part.trim().split("=")));
    const old = Number(of.ttl) < 0;
    let state = "hit" in of ? (old ? "stale" : "hit") : { bypass: "bypass", "uri-miss": "miss", stale: old ? "fallback" : "refreshed" }[of.fwd];
    if (!state) return "";
    const more = [of.detail && say(of.detail), "collapsed" in of && say("collapsed"), "sundry-last-resort" in of && say("lastresort")].filter(Boolean);
    return [say(state), ...more].join(document.documentElement.lang.startsWith("zh") ? "，" : ", ");
  };

  const size = bytes => bytes < 1024 ? bytes + " B" : (bytes / 1024).toFixed(1) + " KiB";

  const scrolling = (...content) => made("pre", { tabindex: 0, role: "group", "aria-label": byId("result-title").textContent }, made("code", {}, ...content));

  const link = to => /^https?:/.test(to) ? made("a", { href: to, target: "_blank", rel: "noopener noreferrer" }, to) : to;

  const picture = body => {
    const img = made("img", { alt: say("picture"), src: URL.createObjectURL(body) });
    img.addEventListener("load", () => {
      URL.revokeObjectURL(img.src);
      if (img.naturalWidth) img.after(made("p", { class: "soft" }, say("pixels", { w: img.naturalWidth, h: img.naturalHeight })));
    });
    return [img];
  };

  const shown = async (what, type, body) => {
    if (type.startsWith("image/")) return picture(body);
    const text = await body.text();
    if (what === "redirect") return [made("p", {}, say("redirects") + " ", link(text.trim()))];
    if (type.startsWith("application/json")) return [scrolling(prettyJSON(text))];
    if (what === "page") return [made("p", {}, made("a", { href: withQuery(endpoint), target: "_blank", rel: "noopener" }, say("opens"))), scrolling(text)];
    return [scrolling(text)];
  };

  const clearErrors = () => fields.forEach(field => {
    field.removeAttribute("aria-invalid");
    byId("error-" + field.name).textContent = "";
  });

  // An error stands beside the field that it is about.
  const showError = async (response, body, given) => {
    const parameter = given.match(/parameter=(\w+)/)?.[1], field = fields.find(one => one.name === parameter);
    let message = body.type.startsWith("image/") ? say("failed") : await body.text();
    try { message = JSON.parse(message).message; } catch { /* a line of text */ }
    byId("outcome").textContent = message;
    if (!field) return;
    field.setAttribute("aria-invalid", "true");
    byId("error-" + parameter).textContent = message;
    field.focus();
  };

  const report = (response, body, ms, what) => {
    const header = name => response.headers.get(name) ?? "";
    const error = header("Sundry-Error"), redirected = header("Sundry-Redirect");
    showFacts([
      ["status", redirected || response.status + " " + response.statusText], ["time", say("ms", { n: Math.round(ms) })], ["error", error.split(";")[0]],
      ["cache", cacheState(header("Cache-Status"))], ["age", header("Age") && duration(Number(header("Age")))], ["source", header("Sundry-Source")],
      ["type", what === "redirect" && !error ? "" : header("Content-Type").split(";")[0]], ["size", size(body.size)],
    ]);
    return error;
  };

  // As the codes do: errors in JSON in place of a picture.
  const accept = what => what === "picture" || what === "svg" ? { Accept: "application/json" } : {};

  let running;
  const send = async event => {
    event?.preventDefault();
    running?.abort();
    const mine = running = new AbortController(), what = shape(), started = performance.now();
    clearErrors();
    byId("result").hidden = false;
    byId("outcome").textContent = say("sending");
    try {
      const response = await fetch(withQuery(what === "redirect" ? target : endpoint), {
        signal: mine.signal, cache: "no-store", headers: { ...accept(what), "Accept-Language": document.documentElement.lang },
      });
      const body = await response.blob(), ms = performance.now() - started;
      const error = report(response, body, ms, what);
      byId("answer").replaceChildren(...await shown(error ? "" : what, body.type, body));
      if (event) byId("result").scrollIntoView({ block: "nearest" });
      if (error) await showError(response, body, error);
      else byId("outcome").textContent = say("done", { ms: Math.round(ms) });
    } catch (problem) {
      if (mine.signal.aborted) return;
      byId("outcome").textContent = say("offline");
      byId("facts").hidden = true;
      byId("answer").replaceChildren();
    }
  };

  tryForm.noValidate = true; // the service says what is wrong, in more words than a browser
  const shared = restore();
  tryForm.addEventListener("input", () => { follow(); remember(); });
  tryForm.addEventListener("submit", send);
  document.querySelectorAll("[data-tabs]").forEach(makeTabs);
  document.querySelectorAll("code.json").forEach(code => code.replaceChildren(prettyJSON(code.textContent)));
  follow();
  if (shared) send(); // who opens an address with parameters wants to see what they give
}
