// What cards show of their endpoints, live. Texts are fetched as their cards come into
// sight, pictures by the browser itself. What cannot be had leaves an empty place.

const mostLines = 6;

// readable are the first lines of a text without links, which say nothing here.
function readable(text) {
  return text.split("\n")
    .map((line) => line.replace(/https?:\/\/\S+/g, "").trim())
    .filter((line) => line !== "" && !/[:：]$/.test(line));
}

function showLines(place, lines) {
  place.classList.remove("loading");
  place.classList.toggle("one", lines.length === 1 && lines[0].length < 60);
  place.replaceChildren(...lines.slice(0, mostLines).map((line) => {
    const p = document.createElement("p");
    p.textContent = line;
    return p;
  }));
  place.parentElement?.classList.toggle("failed", lines.length === 0);
}

// fetchText resolves to the text of an answer, and whether it is a good one.
async function fetchText(url) {
  const answer = await fetch(url, { headers: { "Accept": "text/plain", "Accept-Language": document.documentElement.lang } });
  const plain = (answer.headers.get("Content-Type") ?? "").startsWith("text/plain");
  return { text: plain ? await answer.text() : "", ok: answer.ok && plain };
}

async function fillLines(place) {
  place.classList.add("loading");
  const { text, ok } = await fetchText(place.dataset.call).catch(() => ({ ok: false }));
  showLines(place, ok ? readable(text) : []);
}

const error = 360; // the width of a picture that says what is wrong: all of it is to be seen

// fit chooses how a picture fills its place: photos cover it, small icons keep their size.
function fit(img) {
  const { naturalWidth: width, naturalHeight: height } = img;
  img.classList.toggle("photo", width >= 300 && width !== error && width / height > 1.3 && width / height < 2.4);
  img.parentElement.classList.toggle("failed", width === 0);
  img.hidden = width === 0;
}

function watchPicture(img) {
  img.addEventListener("load", () => fit(img));
  img.addEventListener("error", () => fit(img));
  if (img.complete && img.getAttribute("src")) {
    fit(img);
  }
}

function showPicture(place, url) {
  let img = $("img", place);
  if (!img) {
    img = new Image(320, 180);
    img.alt = "";
    watchPicture(img);
    place.replaceChildren(img);
  }
  img.src = url;
}

async function showText(place, url) {
  let lines = $(".lines", place);
  if (!lines) {
    lines = document.createElement("div");
    lines.className = "lines";
    lines.lang = "";
    place.replaceChildren(lines);
  }
  lines.classList.add("loading");
  const { text } = await fetchText(url).catch(() => ({ text: "" }));
  showLines(lines, text.split("\n").map((line) => line.trim()).filter(Boolean));
}

// show puts the answer of a call into a card.
function show(place, url) {
  if (place.classList.contains("picture")) {
    showPicture(place, url);
  } else {
    showText(place, url);
  }
}

$$(".taste img").forEach(watchPicture);

const inSight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) {
      inSight.unobserve(target);
      fillLines(target);
    }
  }
}, { rootMargin: "160px" });
$$(".taste .lines").forEach((place) => inSight.observe(place));

$$(".taste .show").forEach((button) => button.addEventListener("click", () => {
  show(button.closest(".taste"), button.dataset.call);
}));

$$(".own").forEach((form) => {
  const place = $(".taste", form.closest(".card"));
  const url = () => form.getAttribute("action") + "?" + new URLSearchParams(new FormData(form));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show(place, url());
  });
  if ("instantly" in form.dataset) {
    let pause;
    form.addEventListener("input", () => {
      clearTimeout(pause);
      pause = setTimeout(() => form.checkValidity() && show(place, url()), 200);
    });
  }
});
