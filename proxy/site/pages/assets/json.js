// JSON as it was answered, with line breaks and colours: members keep their order,
// numbers their digits.
function prettyJSON(text) {
  const out = document.createDocumentFragment();
  let depth = 0;
  const plain = words => out.append(words);
  const coloured = (kind, words) => out.append(made("span", { class: kind }, words));
  const line = () => "\n" + "  ".repeat(depth);
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  tokens.forEach((token, i) => {
    const empty = "]}".includes(tokens[i + 1]), closes = "[{".includes(tokens[i - 1]);
    switch (token) {
      case "{": case "[":
        depth++;
        return plain(token + (empty ? "" : line()));
      case "}": case "]":
        depth--;
        return plain((closes ? "" : line()) + token);
      case ",": return plain("," + line());
      case ":": return plain(": ");
    }
    if (token[0] !== '"') return coloured("literal", token);
    coloured(tokens[i + 1] === ":" ? "key" : "string", token);
  });
  return out;
}

// made is a new element with attributes.
function made(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...children);
  return element;
}
