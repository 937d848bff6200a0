// What the scripts of all pages build upon. Each of the other files looks for the elements
// it is about, and does nothing on pages without them.

const $ = (selector, inside = document) => inside.querySelector(selector);
const $$ = (selector, inside = document) => [...inside.querySelectorAll(selector)];

// Calls that are shown in full begin with the address of this site.
$$(".origin").forEach((place) => { place.textContent = location.origin; });
