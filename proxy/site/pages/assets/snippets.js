// Calls of an endpoint in programming languages: the same as snippets.go makes of the
// same templates.
function fillSnippet(snippet, url, pairs) {
  const put = (text, values) => text.replace(/%(url|name|value|pair)%/g, (_, name) => quoted(snippet.quote, values[name]));
  if (!pairs.length) return put(snippet.bare, { url });
  const each = pairs.map(([name, value]) => put(snippet.each, { name, value, pair: name + "=" + value }));
  return put(snippet.before, { url }) + each.join(snippet.between) + put(snippet.after, { url });
}

// quoted is the text as a literal. Those of JSON are also those of JavaScript, Python and Go.
function quoted(how, text) {
  switch (how) {
    case "shell": return "'" + text.replaceAll("'", "'\\''") + "'";
    case "php": return "'" + text.replace(/[\\']/g, "\\$&") + "'";
  }
  return JSON.stringify(text.toWellFormed?.() ?? text).replace(/[\u2028\u2029]/g, c => "\\u" + c.charCodeAt(0).toString(16));
}
