// The body of an answer: a picture, or the beginning of a text.
import { h } from "./dom.js";
import { t } from "./language.js";

const drawn = /^image\/(png|jpeg|gif|webp|avif|svg\+xml|x-icon|vnd\.microsoft\.icon|bmp)/;

export function body({ picture, preview, cut, bytes }, type, label) {
  if (bytes === 0) return null;
  if (picture && drawn.test(type)) return h("img", { class: "picture", src: `data:${type.split(";")[0]};base64,${picture}`, alt: label });
  return [h("pre", { tabindex: 0, role: "group", "aria-label": label }, preview ?? t("(not text)")), cut && h("p", { class: "soft" }, t("Only the beginning is shown."))];
}
