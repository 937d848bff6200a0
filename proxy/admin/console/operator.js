// Who uses the console, and the token: both are kept for this tab only, and go with each call.
import { h } from "./dom.js";
import { t } from "./language.js";

const dialog = document.getElementById("login"), opener = document.getElementById("operator");
const kept = { name: sessionStorage.getItem("sundry-operator") ?? "", token: sessionStorage.getItem("sundry-token") ?? "" };
let waiting = null, asked = false; // asked for the token

const guarded = () => asked || kept.token !== "";

export const named = () => kept.name !== "";

// headers of each call. Headers hold no other scripts, so that a name is encoded.
export const headers = () => ({
  ...(kept.name && { "X-Sundry-Operator": encodeURIComponent(kept.name) }),
  ...(kept.token && { Authorization: `Bearer ${kept.token}` }),
});

function keep(name, token) {
  Object.assign(kept, { name, token });
  sessionStorage.setItem("sundry-operator", name);
  sessionStorage.setItem("sundry-token", token);
  show();
}

export function show() {
  opener.textContent = named() ? t("Operator: {name}", { name: kept.name }) : guarded() ? t("Log in…") : t("Your name…");
  opener.title = guarded() ? t("Your name for the audit log, and the token") : t("Your name for the audit log");
}

// login asks who it is, once for all that wait for it; false: it was cancelled.
export function login(locked = false) {
  asked ||= locked;
  waiting ??= new Promise((resolve) => ask(locked, resolve)).finally(() => (waiting = null));
  return waiting;
}

// identified asks for the name unless it is known; false: there is none. Where the dialog that is open has a field for it, it is
// what stands there.
export async function identified() {
  const field = document.querySelector("#dialog[open] [name=operator]");
  if (field?.value.trim()) keep(field.value.trim(), kept.token);
  return named() || (!field && login());
}

function ask(locked, resolve) {
  const name = h("input", { type: "text", name: "operator", value: kept.name, maxlength: 40, required: true, autocomplete: "username", autofocus: true, "aria-describedby": "login-name" });
  const token = h("input", { type: "password", name: "token", autocomplete: "current-password", "aria-describedby": "login-token" });
  const wrong = h("p", { id: "login-name", class: "error", role: "alert" });
  const said = h("p", { id: "login-token", class: locked && kept.token ? "error" : "soft" }, locked
    ? (kept.token ? t("The token was refused.") : t("This listener asks for the token."))
    : t("Leave it empty to keep it."));
  let done = false;
  const form = h("form", {
    novalidate: true,
    onsubmit: (event) => {
      event.preventDefault();
      const given = name.value.trim();
      wrong.textContent = given ? "" : t("Enter your name.");
      name.setAttribute("aria-invalid", String(!given));
      if (!given) return name.focus();
      keep(given, token.value || kept.token);
      done = true;
      dialog.close();
    },
  }, h("h2", { id: "login-title" }, guarded() ? t("Log in") : t("Your name")), h("p", { class: "soft" }, t("The audit log names who made each change.")),
  h("label", { class: "field" }, h("span", null, t("Name")), name), wrong,
  guarded() && [h("label", { class: "field" }, h("span", null, t("Token")), token), said],
  h("div", { class: "actions" }, h("button", { type: "button", onclick: () => dialog.close() }, t("Cancel")), h("button", { type: "submit", class: "main" }, guarded() ? t("Log in") : t("Save"))));
  dialog.replaceChildren(form);
  dialog.onclose = () => resolve(done);
  dialog.showModal();
  name.focus();
}
