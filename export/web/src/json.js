// A tree over the text of a JSON value. The text is walked over, not parsed:
// numbers keep their digits and strings their escapes until somebody looks.
import { el, button } from "./dom.js";

const space = /[ \t\r\n]/;

function skipSpace(s, i) {
  while (i < s.length && space.test(s[i])) i++;
  return i;
}

function skipString(s, i) {
  for (i++; i < s.length; i++) {
    if (s[i] === "\\") i++;
    else if (s[i] === '"') return i + 1;
  }
  return i;
}

// skipValue finds the end of the value at i, however deep it is.
export function skipValue(s, i) {
  let depth = 0;
  for (; i < s.length;) {
    const c = s[i];
    if (c === '"') {
      i = skipString(s, i);
      if (depth === 0) return i;
      continue;
    }
    if (c === "{" || c === "[") depth++;
    else if (c === "}" || c === "]") {
      if (--depth <= 0) return depth < 0 ? i : i + 1;
    } else if (depth === 0) {
      while (i < s.length && !/[ \t\r\n,:\]}]/.test(s[i])) i++;
      return i;
    }
    i++;
  }
  return i;
}

// children lists the members or elements of the object or array at i.
export function children(s, i) {
  const object = s[i] === "{";
  const list = [];
  i = skipSpace(s, i + 1);
  while (i < s.length && s[i] !== "}" && s[i] !== "]") {
    let key = null;
    if (object) {
      const end = skipString(s, i);
      key = text(s.slice(i, end));
      i = skipSpace(s, end);
      if (s[i] !== ":") break;
      i = skipSpace(s, i + 1);
    }
    const end = skipValue(s, i);
    if (end === i) break;
    list.push({ key, from: i, to: end });
    i = skipSpace(s, end);
    if (s[i] !== ",") break;
    i = skipSpace(s, i + 1);
  }
  return list;
}

// text is what a JSON string says.
export function text(lexeme) {
  try {
    return JSON.parse(lexeme);
  } catch {
    return lexeme;
  }
}

// find gives the text of a member, by its path of names.
export function find(s, ...path) {
  let at = { from: skipSpace(s, 0), to: s.length };
  for (const name of path) {
    if (s[at.from] !== "{") return null;
    at = children(s, at.from).findLast((c) => c.key === name);
    if (!at) return null;
  }
  return s.slice(at.from, at.to);
}

const page = 100; // children that are shown at once
const unfolded = 40; // children of a branch that begins unfolded
const longText = 2000; // characters of a string that are shown at once

// tree shows the JSON in s. What stands deeper than open levels is folded.
export function tree(s, open = 7) {
  const box = el("div", "tree");
  const from = skipSpace(s, 0);
  box.append(node(s, { key: null, from, to: skipValue(s, from) }, open));
  return box;
}

function node(s, at, open) {
  const c = s[at.from];
  const line = el("div", "node");
  if (c !== "{" && c !== "[") {
    line.append(...name(at), scalar(s, at));
    return line;
  }
  const kids = children(s, at.from);
  const close = c === "{" ? "}" : "]";
  const count = kids.length + (c === "{" ? (kids.length === 1 ? " member" : " members") : (kids.length === 1 ? " element" : " elements"));
  const toggle = button("▸", flip, "fold");
  const brief = el("span", "brief", c + " " + count + " " + close);
  const inner = el("div", "kids");
  let filled = false;
  line.append(toggle, ...name(at), brief, inner);
  function flip() {
    set(toggle.getAttribute("aria-expanded") !== "true");
  }
  function set(on) {
    toggle.setAttribute("aria-expanded", String(on));
    toggle.setAttribute("aria-label", on ? "fold" : "unfold");
    toggle.textContent = on ? "▾" : "▸";
    inner.hidden = !on;
    if (on && !filled) {
      filled = true;
      more(s, kids, 0, open - 1, inner);
    }
  }
  if (kids.length === 0) {
    line.replaceChildren(...name(at), el("span", "brief", c + close));
    return line;
  }
  set(open > 6 || (open > 0 && kids.length <= unfolded));
  return line;
}

// more adds a page of children, and a button for the rest.
function more(s, kids, from, open, box) {
  for (const k of kids.slice(from, from + page)) box.append(node(s, k, open));
  const rest = kids.length - from - page;
  if (rest > 0) {
    const b = button("show more (" + rest + ")", () => {
      b.remove();
      more(s, kids, from + page, open, box);
    });
    box.append(b);
  }
}

function name(at) {
  return at.key === null ? [] : [el("span", "key", at.key), el("span", "colon", ": ")];
}

function scalar(s, at) {
  const lexeme = s.slice(at.from, at.to);
  if (lexeme[0] !== '"') {
    return el("span", lexeme === "null" ? "null" : lexeme === "true" || lexeme === "false" ? "bool" : "num", lexeme);
  }
  const value = text(lexeme);
  if (value.length <= longText) return el("span", "str", '"', value, '"');
  const box = el("span", "str", '"', value.slice(0, longText), "… ");
  box.append(button("show all " + value.length + " characters", () => box.replaceWith(el("span", "str", '"', value, '"'))));
  return box;
}
