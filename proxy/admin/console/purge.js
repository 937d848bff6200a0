// Purges, and drops of one entry: what they would reach is shown before.
import { ask, change } from "./api.js";
import { openDialog, Wrong } from "./ask.js";
import { h } from "./dom.js";
import { t } from "./language.js";
import { bytes, pendingNote, plural } from "./text.js";

// purge shows what it would reach before it can be confirmed. of is what of an API it is about: its url, a prefix or a tag.
export function purge(endpoint, key, refresh, of = {}) {
  const preview = h("p", { class: "preview", role: "status" });
  const modes = [["soft", t("Soft"), t("entries become stale: the next request refreshes them, and they are served if that fails")], ["hard", t("Hard"), t("entries are removed: the next request waits for a new answer")]];
  let mode = "", dialog; // how, and whether at all, is for the operator to say
  const look = async () => {
    dialog.submit.disabled = true;
    dialog.right();
    preview.textContent = t("Counting…");
    const asked = mode;
    try {
      const { entries, bytes: size } = await ask("purge", { endpoint, key, mode, preview: true, ...of });
      if (asked !== mode) return;
      preview.textContent = mode === "soft" ? t("{entries}, {size} in this instance's memory would become stale.", reached(entries, size)) : t("{entries}, {size} in this instance's memory would be removed.", reached(entries, size));
      dialog.submit.disabled = false;
    } catch (e) {
      if (asked !== mode || !dialog.open()) return;
      preview.textContent = t("It is not known what this would reach.");
      dialog.wrong(new Wrong("mode", e.message));
    }
  };
  const choose = ([value, label, what], type) => {
    const input = h("input", { type, name: "mode", value, onchange: () => {
      mode = input.checked ? value : "";
      if (mode) look();
      else wait();
    } });
    return h("label", { class: "choice" }, input, h("span", null, h("strong", null, label), h("span", { class: "soft" }, ` – ${what}`)));
  };
  const wait = () => {
    dialog.right();
    dialog.submit.disabled = true;
    preview.textContent = key ? t("Nothing is removed before you say so.") : t("Choose how.");
  };
  const what = key || of.url || (of.prefix && `${of.prefix}…`) || (of.tag && t("tag {tag}", { tag: of.tag })) || (endpoint === "*" ? t("all endpoints") : t("all of {name}", { name: endpoint }));
  dialog = openDialog({
    title: key ? t("Drop an entry") : endpoint === "*" ? t("Purge everything") : t("Purge {name}", { name: endpoint }),
    action: key ? t("Drop") : t("Purge"), danger: true, done: refresh,
    body: [
      h("p", { class: "mono words" }, what),
      h("fieldset", null, !key && h("legend", null, t("How")), key ? choose(["hard", t("Remove it"), t("the next request waits for a new answer")], "checkbox") : modes.map((one) => choose(one, "radio"))),
      preview,
      h("p", { class: "soft" }, t("This applies to every instance, and to Redis if it is configured. It cannot be undone.")),
    ],
    async go() {
      const done = await change("POST", "purge", key ? { endpoint, key } : { endpoint, mode, ...of });
      return (key ? t("Dropped {what}: {entries}, {size} on this instance", { what, ...reached(done.entries, done.bytes) }) : t("Purged {what}: {entries}, {size} on this instance", { what, ...reached(done.entries, done.bytes) })) + pendingNote(done);
    },
  });
  wait();
}

const reached = (entries, size) => ({ entries: plural(entries, "entry", "entries"), size: bytes(size) });
