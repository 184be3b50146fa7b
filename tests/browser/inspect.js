// Returns what a document has that no text may bring: elements, attributes and addresses. `root` is a document, `base` the
// address that relative ones are read against, `kind` one of `page`, `form`, `frame`, `mail`, `markdown`.
const HEAD = new Set("html head meta title link script style body".split(" "));
const CONTENT = new Set(
  "html head body a article bdi blockquote br code details div em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section small span strong summary table tbody td th thead time tr ul var".split(" "),
);
const DRAWING = new Set("svg path defs pattern rect".split(" "));
const FORM = new Set("button fieldset form input label legend option select".split(" "));
const ATTRIBUTES =
  /^(aria-[a-z]+|data-(base|live|ready|revision|text|theme|var)|charset|class|content|d|datetime|defer|dir|fill|height|href|hreflang|id|lang|media|name|open|patternTransform|patternUnits|preserveAspectRatio|property|rel|role|scope|src|start|tabindex|target|title|type|viewBox|width|x)$/;
const FORM_ATTRIBUTES =
  /^(action|autocomplete|autofocus|checked|for|inputmode|maxlength|method|required|selected|value)$/;

const addressOf = (value, base) => {
  try { return new URL(value, base).protocol; } catch { return "unreadable:"; }
};

const inspect = (root, base, kind) => {
  const problems = [];
  for (const element of root.querySelectorAll("*")) {
    const name = element.localName;
    const isHtml = element.namespaceURI === "http://www.w3.org/1999/xhtml";
    const isInHead = kind !== "markdown" && (name === "html" || name === "body" || element.closest("head"));
    const isAllowed = isHtml
      ? (isInHead ? HEAD.has(name) : CONTENT.has(name)) || (kind === "form" && FORM.has(name))
      : ["page", "frame"].includes(kind) && DRAWING.has(name);
    if (!isAllowed) problems.push(`element ${element.outerHTML.slice(0, 200)}`);
    for (const { name: key, value } of element.attributes) {
      const isKnown = ATTRIBUTES.test(key) || (kind === "form" && FORM_ATTRIBUTES.test(key));
      if (!isKnown) problems.push(`attribute ${key} of ${element.outerHTML.slice(0, 200)}`);
      if (key === "title" && name !== "time") problems.push(`title of ${element.outerHTML.slice(0, 200)}`);
      if (!["href", "src", "action"].includes(key)) continue;
      const isIcon = name === "link" && value === "data:,";
      const isMarkdown = kind === "markdown" || element.closest(".message");
      const usual = isMarkdown ? /^(https?:|mailto:)/i.test(value) : true;
      if (!isIcon && !(usual && ["http:", "https:", "mailto:"].includes(addressOf(value, base)))) {
        problems.push(`address ${value}`);
      }
      if (isMarkdown && element.rel !== "nofollow noopener ugc") problems.push(`rel of ${value}`);
    }
  }
  const scripts = [...root.querySelectorAll("script, style")].map((one) => one.localName).join();
  const usual = { page: ["script", "style"], form: [""], frame: ["style"], mail: ["style"], markdown: [""] }[kind];
  if (!usual.includes(scripts)) problems.push(`scripts and styles: ${scripts}`);
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_COMMENT | NodeFilter.SHOW_PROCESSING_INSTRUCTION | NodeFilter.SHOW_CDATA_SECTION);
  while (walker.nextNode()) problems.push(`node ${walker.currentNode.nodeValue.slice(0, 200)}`);
  return problems;
};

const parseHtml = (text) => new DOMParser().parseFromString(text, "text/html");

// The HTML in the entries of a feed in XML.
const inspectFeed = (text) => {
  const feed = new DOMParser().parseFromString(text, "application/xml");
  if (feed.querySelector("parsererror")) return [`not well-formed: ${feed.querySelector("parsererror").textContent}`];
  const names = "author category channel content description entry feed guid id item language link name published pubDate rss title ttl updated".split(" ");
  const strange = [...feed.querySelectorAll("*")].filter((one) => !names.includes(one.localName));
  const problems = strange.map((one) => `element ${one.localName}`);
  for (const one of feed.querySelectorAll("entry > content, item > description")) {
    problems.push(...inspect(parseHtml(one.textContent), "https://page.example/", "markdown"));
  }
  return problems;
};

const inspectDrawing = (text) => {
  const drawing = new DOMParser().parseFromString(text, "image/svg+xml");
  const names = "clipPath g linearGradient rect stop svg text title".split(" ");
  const strange = [...drawing.querySelectorAll("*")].filter((one) => !names.includes(one.localName));
  const problems = strange.map((one) => `element ${one.localName}: ${one.textContent.slice(0, 300)}`);
  for (const { attributes } of drawing.querySelectorAll("*")) {
    for (const { name } of attributes) if (/^on|href$|^style$/.test(name)) problems.push(`attribute ${name}`);
  }
  return problems;
};

// Inspects texts: each is `[kind, label, text]`.
const inspectAll = (texts) => texts.flatMap(([kind, label, text]) => {
  const found = kind === "feed" ? inspectFeed(text)
    : kind === "drawing" ? inspectDrawing(text)
    : inspect(parseHtml(text), "https://page.example/", kind);
  return found.map((problem) => `${label}: ${problem}`);
});

// Texts that turn the direction of writing, and stand in a line with others without being isolated from them.
const turning = () => [...document.querySelectorAll("body *")].filter((element) => {
  const own = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join("");
  if (!/[\u202a-\u202e\u2066-\u2069]/.test(own)) return false;
  const isIsolated = (one) => getComputedStyle(one).unicodeBidi !== "normal";
  const isInline = (one) => getComputedStyle(one).display.startsWith("inline");
  const beside = [...element.parentElement.childNodes].some((node) => node !== element && node.textContent.trim());
  const within = [...element.children].some((one) => isInline(one) && one.textContent.trim() && !isIsolated(one));
  // The whole text of an entry is its author's.
  return !element.closest(".message") && ((isInline(element) && !isIsolated(element) && beside) || within);
}).map((element) => element.outerHTML.slice(0, 200));
