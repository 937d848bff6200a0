// The page of the status follows what it shows: every half minute, while somebody looks,
// the parts that differ are exchanged. What is unfolded stays so, and what has the focus stays.

const refreshed = async () => {
  const response = await fetch(location.href);
  if (!response.ok) return;
  const now = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const part of $$("[data-live]")) {
    const next = now.getElementById(part.id);
    if (!next || part.contains(document.activeElement)) continue;
    const unfolded = $("details[open]", part);
    if (unfolded) $("details", next)?.setAttribute("open", "");
    if (next.innerHTML !== part.innerHTML) part.replaceChildren(...next.childNodes);
  }
};

if ($("[data-live]")) {
  setInterval(() => {
    if (document.visibilityState === "visible") refreshed().catch(() => {}); // there will be another time
  }, 30_000);
}
