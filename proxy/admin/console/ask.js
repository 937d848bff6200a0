// The dialog, and the line that tells outcomes.
import { button, h, show } from "./dom.js";

const dialog = document.getElementById("dialog");
const outcome = document.getElementById("outcome");
let fading, opened = 0;

// tell says how something went, to eyes and to screen readers.
export function tell(text, bad = false) {
  clearTimeout(fading);
  show(outcome, h("div", { class: bad ? "bad" : "good" }, h("span", null, h("span", { "aria-hidden": "true" }, bad ? "✕ " : "✓ "), text),
    button("Dismiss", "Hide this message", () => {
      show(outcome);
      document.getElementById("panel").focus({ preventScroll: true });
    })));
  if (!bad) fading = setTimeout(() => show(outcome), 12_000);
}

// ask opens the dialog. With go it is a form: what go throws is shown in it,
// else the text that go returns is told and done is called. It returns a
// function that tells whether it is still this one that is open.
export function ask({ title, body, action, danger, go, done, wide }) {
  const mine = ++opened;
  const error = h("p", { class: "error", role: "alert" });
  const submit = action && h("button", { type: "submit", class: danger ? "danger" : "main" }, action);
  const form = h("form", {
    novalidate: true,
    onsubmit: async (event) => {
      event.preventDefault();
      if (submit?.disabled || !go) return;
      submit.disabled = true;
      show(error);
      try {
        const text = await go();
        if (mine === opened) dialog.close();
        tell(text);
        done?.();
      } catch (e) {
        show(error, "✕ ", e.message);
      } finally {
        submit.disabled = false;
      }
    },
  }, h("h2", { id: "dialog-title" }, title), body, error,
  h("div", { class: "actions" }, button(action ? "Cancel" : "Close", "Close without doing anything (Esc)", () => dialog.close()), submit));
  dialog.replaceChildren(form);
  dialog.className = wide ? "wide" : "";
  if (!dialog.open) dialog.showModal();
  else dialog.querySelector("input, select, button")?.focus();
  return { open: () => dialog.open && mine === opened, submit };
}

// lasting asks for how long something holds; value() is what the API takes.
export function lasting(what) {
  const other = h("input", { type: "text", "aria-label": "Other span", placeholder: "such as 45m or 12h", hidden: true, autocomplete: "off" });
  const choice = h("select", {
    name: "for",
    onchange: () => {
      other.hidden = choice.value !== "other";
      if (!other.hidden) other.focus();
    },
  }, [["", "until taken back"], ["10m", "for 10 minutes"], ["1h", "for 1 hour"], ["1d", "for 1 day"], ["other", "for another span…"]].map(([value, text]) => h("option", { value }, text)));
  return {
    field: h("label", { class: "field" }, h("span", null, what), h("span", { class: "row" }, choice, other)),
    value() {
      if (choice.value === "other" && other.value.trim() === "") throw new Error("for how long? Write a span such as 45m or 12h");
      return choice.value === "other" ? other.value.trim() : choice.value;
    },
  };
}
