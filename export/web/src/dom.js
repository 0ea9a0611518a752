// Everything that is shown goes through here, and as text: no function of the
// page makes markup out of a string.

// What would act on the text around it, or be seen by nobody: controls,
// characters that turn the direction of text or have no width, half pairs. What
// joins and parts letters and emoji stays.
const hidden = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const hiddenAll = new RegExp(hidden.source, "gu");

function escape(c) {
  switch (c) {
    case "\n": return "\\n";
    case "\r": return "\\r";
    case "\t": return "\\t";
  }
  return "\\u" + c.codePointAt(0).toString(16).padStart(4, "0");
}

// visible writes hidden characters as escapes.
export function visible(s) {
  return hidden.test(s) ? s.replace(hiddenAll, escape) : s;
}

// el makes an element. Strings among its children become text.
export function el(tag, className, ...children) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  for (const c of children) {
    if (c === null || c === undefined || c === "") continue;
    if (typeof c === "object") e.append(c);
    else appendText(e, String(c));
  }
  return e;
}

// appendText adds text, with each hidden character as a mark of its own.
export function appendText(e, s) {
  let from = 0;
  if (hidden.test(s)) {
    for (const m of s.matchAll(hiddenAll)) {
      e.append(s.slice(from, m.index));
      const mark = document.createElement("span");
      mark.className = "hidden";
      mark.textContent = escape(m[0]);
      e.append(mark);
      from = m.index + m[0].length;
    }
  }
  e.append(s.slice(from));
}

export function button(text, onclick, className) {
  const b = el("button", className, text);
  b.type = "button";
  b.addEventListener("click", onclick);
  return b;
}

// duration writes milliseconds for people.
export function duration(ms) {
  if (ms === undefined || ms === null) return "";
  if (ms < 1) return ms.toFixed(3) + " ms";
  if (ms < 1000) return ms.toFixed(1) + " ms";
  if (ms < 60000) return (ms / 1000).toFixed(2) + " s";
  return Math.floor(ms / 60000) + " min " + Math.round((ms % 60000) / 1000) + " s";
}

export function bytes(n) {
  if (n === undefined || n === null) return "";
  if (n < 1024) return n + " B";
  if (n < 1024 * 1024) return (n / 1024).toFixed(1) + " KiB";
  return (n / 1024 / 1024).toFixed(1) + " MiB";
}
