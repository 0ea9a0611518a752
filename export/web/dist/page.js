(() => {
  // src/dom.js
  var hidden = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
  var hiddenAll = new RegExp(hidden.source, "gu");
  function escape(c) {
    switch (c) {
      case "\n":
        return "\\n";
      case "\r":
        return "\\r";
      case "	":
        return "\\t";
    }
    return "\\u" + c.codePointAt(0).toString(16).padStart(4, "0");
  }
  function visible(s) {
    return hidden.test(s) ? s.replace(hiddenAll, escape) : s;
  }
  function el(tag, className, ...children2) {
    const e = document.createElement(tag);
    if (className) e.className = className;
    for (const c of children2) {
      if (c === null || c === void 0 || c === "") continue;
      if (typeof c === "object") e.append(c);
      else appendText(e, String(c));
    }
    return e;
  }
  function appendText(e, s) {
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
  function button(text2, onclick, className) {
    const b = el("button", className, text2);
    b.type = "button";
    b.addEventListener("click", onclick);
    return b;
  }
  function duration(ms) {
    if (ms === void 0 || ms === null) return "";
    if (ms < 1) return ms.toFixed(3) + " ms";
    if (ms < 1e3) return ms.toFixed(1) + " ms";
    if (ms < 6e4) return (ms / 1e3).toFixed(2) + " s";
    return Math.floor(ms / 6e4) + " min " + Math.round(ms % 6e4 / 1e3) + " s";
  }
  function bytes(n) {
    if (n === void 0 || n === null) return "";
    if (n < 1024) return n + " B";
    if (n < 1024 * 1024) return (n / 1024).toFixed(1) + " KiB";
    return (n / 1024 / 1024).toFixed(1) + " MiB";
  }

  // src/json.js
  var space = /[ \t\r\n]/;
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
  function skipValue(s, i) {
    let depth = 0;
    for (; i < s.length; ) {
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
  function children(s, i) {
    const object = s[i] === "{";
    const list2 = [];
    i = skipSpace(s, i + 1);
    while (i < s.length && s[i] !== "}" && s[i] !== "]") {
      let key = null;
      if (object) {
        const end2 = skipString(s, i);
        key = text(s.slice(i, end2));
        i = skipSpace(s, end2);
        if (s[i] !== ":") break;
        i = skipSpace(s, i + 1);
      }
      const end = skipValue(s, i);
      if (end === i) break;
      list2.push({ key, from: i, to: end });
      i = skipSpace(s, end);
      if (s[i] !== ",") break;
      i = skipSpace(s, i + 1);
    }
    return list2;
  }
  function text(lexeme) {
    try {
      return JSON.parse(lexeme);
    } catch {
      return lexeme;
    }
  }
  function find(s, ...path) {
    let at = { from: skipSpace(s, 0), to: s.length };
    for (const name2 of path) {
      if (s[at.from] !== "{") return null;
      at = children(s, at.from).findLast((c) => c.key === name2);
      if (!at) return null;
    }
    return s.slice(at.from, at.to);
  }
  var page = 100;
  var unfolded = 40;
  var longText = 2e3;
  function tree(s, open2 = 7) {
    const box = el("div", "tree");
    const from = skipSpace(s, 0);
    box.append(node(s, { key: null, from, to: skipValue(s, from) }, open2));
    return box;
  }
  function node(s, at, open2) {
    const c = s[at.from];
    const line = el("div", "node");
    if (c !== "{" && c !== "[") {
      line.append(...name(at), scalar(s, at));
      return line;
    }
    const kids = children(s, at.from);
    const close = c === "{" ? "}" : "]";
    const count = kids.length + (c === "{" ? kids.length === 1 ? " member" : " members" : kids.length === 1 ? " element" : " elements");
    const toggle = button("\u25B8", flip, "fold");
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
      toggle.textContent = on ? "\u25BE" : "\u25B8";
      inner.hidden = !on;
      if (on && !filled) {
        filled = true;
        more(s, kids, 0, open2 - 1, inner);
      }
    }
    if (kids.length === 0) {
      line.replaceChildren(...name(at), el("span", "brief", c + close));
      return line;
    }
    set(open2 > 6 || open2 > 0 && kids.length <= unfolded);
    return line;
  }
  function more(s, kids, from, open2, box) {
    for (const k of kids.slice(from, from + page)) box.append(node(s, k, open2));
    const rest = kids.length - from - page;
    if (rest > 0) {
      const b = button("show more (" + rest + ")", () => {
        b.remove();
        more(s, kids, from + page, open2, box);
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
    const box = el("span", "str", '"', value.slice(0, longText), "\u2026 ");
    box.append(button("show all " + value.length + " characters", () => box.replaceWith(el("span", "str", '"', value, '"'))));
    return box;
  }

  // src/data.js
  var data = {
    doc: {},
    calls: [],
    interactions: [],
    events: [],
    byFrame: /* @__PURE__ */ new Map(),
    // session and seq to event
    callOf: /* @__PURE__ */ new Map(),
    // session and seq of the request to call
    labels: /* @__PURE__ */ new Map()
    // id of a session to its label
  };
  var frameKey = (session2, seq) => (session2 || "") + "#" + seq;
  async function load(progress) {
    data.doc = JSON.parse(document.getElementById("doc").textContent);
    const blocks = [...document.querySelectorAll("script[data-list]")];
    for (let n = 0; n < blocks.length; n++) {
      const list2 = data[blocks[n].dataset.list];
      for (const line of blocks[n].textContent.split("\n")) {
        if (line) list2.push(JSON.parse(line));
      }
      blocks[n].textContent = "";
      progress((n + 1) / blocks.length);
      if (n % 4 === 3) await new Promise((done) => setTimeout(done));
    }
    for (const e of data.events) {
      e.ms = Date.parse(e.ts);
      data.byFrame.set(frameKey(e.session, e.seq), e);
    }
    for (const s of data.doc.sessions) data.labels.set(s.id, s.label);
    for (const c of data.calls) data.callOf.set(frameKey(c.session, c.seq), c);
  }
  var frame = (session2, seq) => data.byFrame.get(frameKey(session2, seq));
  var call = (session2, seq) => data.callOf.get(frameKey(session2, seq));
  function body(e) {
    if (e.raw !== void 0) return e.raw;
    if (e.text !== void 0) return e.text;
    return e.bytes === void 0 ? "" : e.bytes;
  }
  function callOfEvent(e) {
    return call(e.session, e.request === void 0 ? e.seq : e.request);
  }

  // src/vlist.js
  var rowHeight = 26;
  var spare = 8;
  var tallest = 15e6;
  var VirtualList = class {
    // box scrolls; draw(i) makes the row of element i; pick(i) is told of a choice.
    constructor(box, draw, pick) {
      this.box = box;
      this.draw = draw;
      this.pick = pick;
      this.rows = [];
      this.at = -1;
      this.first = this.last = -1;
      this.pad = el("div", "pad");
      this.sheet = el("div", "sheet");
      this.pad.append(this.sheet);
      box.replaceChildren(this.pad);
      this.onscroll = () => this.paint(false);
      box.addEventListener("scroll", this.onscroll, { passive: true });
      this.onclick = (e) => {
        const row = e.target.closest(".row");
        if (row && row.dataset.at !== void 0) this.choose(Number(row.dataset.at), true);
      };
      this.sheet.addEventListener("click", this.onclick);
    }
    close() {
      this.box.removeEventListener("scroll", this.onscroll);
    }
    // show lists other elements.
    show(rows) {
      this.rows = rows;
      this.at = -1;
      this.pad.style.height = Math.min(rows.length * rowHeight, tallest) + "px";
      this.box.scrollTop = 0;
      this.paint(true);
    }
    // scale is how many pixels of rows one pixel of scrolling stands for.
    scale() {
      const all = this.rows.length * rowHeight;
      const room = Math.max(1, Math.min(all, tallest) - this.box.clientHeight);
      return Math.max(1, (all - this.box.clientHeight) / room);
    }
    paint(all) {
      const top = this.box.scrollTop * this.scale();
      const first = Math.max(0, Math.floor(top / rowHeight) - spare);
      const last = Math.min(this.rows.length, Math.ceil((top + this.box.clientHeight) / rowHeight) + spare);
      if (!all && first === this.first && last === this.last) return;
      this.first = first;
      this.last = last;
      const rows = [];
      for (let k = first; k < last; k++) {
        const row = this.draw(this.rows[k]);
        row.classList.add("row");
        row.dataset.at = k;
        if (k === this.at) row.classList.add("chosen");
        rows.push(row);
      }
      this.sheet.replaceChildren(...rows);
      this.sheet.style.transform = "translateY(" + (this.box.scrollTop + first * rowHeight - top) + "px)";
    }
    choose(k, byHand) {
      if (k < 0 || k >= this.rows.length) return;
      this.at = k;
      const top = this.box.scrollTop * this.scale();
      if (!byHand || k * rowHeight < top || (k + 1) * rowHeight > top + this.box.clientHeight) {
        if (k * rowHeight < top) this.box.scrollTop = k * rowHeight / this.scale();
        else if ((k + 1) * rowHeight > top + this.box.clientHeight) {
          this.box.scrollTop = ((k + 1) * rowHeight - this.box.clientHeight) / this.scale();
        }
      }
      this.paint(true);
      this.pick(this.rows[k]);
    }
    move(n) {
      this.choose(Math.max(0, Math.min(this.rows.length - 1, this.at + n)), false);
    }
    // go chooses an element.
    go(row) {
      const k = this.rows.indexOf(row);
      if (k >= 0) this.choose(k, false);
      return k >= 0;
    }
  };

  // src/detail.js
  function facts(rows) {
    const t = el("dl", "facts");
    for (const [name2, value] of rows) {
      if (value === void 0 || value === null || value === "") continue;
      t.append(el("dt", "", name2), el("dd", "", value));
    }
    return t;
  }
  function payload(title, e, links) {
    const box = el("div", "payload");
    const head = el("h3", "", title + (e ? " #" + e.seq : ""));
    box.append(head);
    if (!e) {
      box.append(el("p", "none", "not in this file"));
      return box;
    }
    const raw = body(e);
    const isJSON = e.raw !== void 0;
    const view = el("div", "view");
    const show = (asTree) => view.replaceChildren(asTree ? tree(raw) : el("pre", "raw", visible(raw)));
    if (isJSON) {
      let asTree = true;
      const b = button("raw", () => {
        asTree = !asTree;
        b.textContent = asTree ? "raw" : "tree";
        show(asTree);
      });
      head.append(b);
    }
    if (links) head.append(...links);
    if (e.bytes !== void 0) box.append(el("p", "none", "not UTF-8; shown as base64"));
    show(isJSON);
    box.append(marks(e), view);
    return box;
  }
  function marks(e) {
    const box = el("p", "marks");
    for (const name2 of ["truncated", "redacted", "batch", "late", "reflowed"]) if (e[name2]) box.append(el("span", "mark", name2));
    if (e.dropped) box.append(el("span", "mark", "after " + e.dropped + " lost frames"));
    for (const d of e.deprecated || []) box.append(el("span", "mark", "deprecated: " + d.message + (d.replacement ? ". " + d.replacement : "")));
    return box;
  }
  var eventLink = (go2, session2, seq) => button("#" + seq, () => go2("timeline", frame(session2, seq)), "link");
  function showEvent(e, go2) {
    const c = callOfEvent(e);
    const box = el("div", "");
    box.append(el("h2", "", "#" + e.seq + " " + e.kind + (e.method ? " " + e.method : "")));
    box.append(facts([
      ["session", e.session],
      ["time", e.ts],
      ["direction", e.direction],
      ["id", e.id === void 0 ? "" : e.idText],
      ["size", bytes(e.size)],
      ["HTTP", [e.http_method, e.http_path, e.http_status].filter((x) => x !== void 0).join(" ")],
      ["stream ended by", e.stream_end],
      ["challenge", e.auth_challenge && [e.auth_challenge].flat().join("\n")],
      ["connection", e.conn_id],
      ["exchange", e.exchange]
    ]));
    if (c) box.append(button("show the call", () => go2("calls", c), "link"));
    box.append(payload("frame", e));
    const found = data.doc.findings.filter((f) => f.seq === e.seq && f.session === e.session);
    if (found.length) box.append(el("h3", "", "findings"), ...found.map((f) => finding(f, go2)));
    return box;
  }
  function showCall(c, go2) {
    const request = frame(c.session, c.seq);
    const answer = c.answer === void 0 ? null : frame(c.session, c.answer);
    const late = c.late_answer === void 0 ? null : frame(c.session, c.late_answer);
    const box = el("div", "");
    box.append(el("h2", "", c.method + (c.name ? " " + c.name : "")));
    box.append(facts([
      ["session", c.session],
      ["id", c.idText],
      ["status", c.status + (c.tool_error ? " (isError)" : "")],
      ["took", duration(c.duration_ms)],
      ["started", c.started],
      ["error", c.error && (c.error.code ?? "") + " " + (c.error.message ?? "")],
      ["why", c.why],
      ["HTTP", c.http_status],
      ["progress", c.progress],
      ["task", c.task && c.task.id + " " + c.task.state],
      ["uncertain", c.uncertain && "its id was in flight twice"]
    ]));
    const pair = el("div", "pair", payload("request", request));
    pair.append(payload(late ? "late answer" : "answer", answer || late));
    box.append(pair);
    chain(c, box, go2);
    return box;
  }
  function chain(c, box, go2) {
    const i = data.interactions.find((x) => x.session === c.session && x.hops.some((h) => h.seq === c.seq));
    if (!i) return;
    box.append(el("h3", "", i.round_trips + " round trips, " + duration(i.total_ms) + ": server " + duration(i.server_ms) + ", client " + duration(i.client_ms)));
    const list2 = el("ol", "hops");
    for (const h of i.hops) {
      const asks = (h.asked || []).map((a) => a.method + " (" + a.key + ")").join(", ");
      const item = el("li", "", button("#" + h.seq, () => go2("calls", call(c.session, h.seq)), "link"));
      item.append(el("span", "", " " + h.status + ", server " + duration(h.server_ms) + (h.client_ms ? ", after the client's " + duration(h.client_ms) : "") + (asks ? ", asks for " + asks : "")));
      list2.append(item);
    }
    box.append(list2);
    if (i.partial) box.append(el("p", "none", "work went on off these requests, in a task"));
  }
  function finding(f, go2) {
    const p = el("div", "finding " + f.signal, el("b", "", f.signal + " " + f.rule + " "), f.message);
    if (f.count > 1) p.append(" (" + f.count + " times)");
    if (f.path) p.append(" at ", el("code", "", f.path));
    if (f.seq) p.append(" ", eventLink(go2, f.session, f.seq));
    if (f.fix) p.append(el("div", "fix", f.fix));
    return p;
  }
  function showFinding(f, go2) {
    const box = el("div", "", el("h2", "", f.rule), finding(f, go2));
    box.append(facts([["session", f.session], ["level", f.level], ["tool", f.tool], ["method", f.method], ["specification", f.spec]]));
    const e = f.seq && frame(f.session, f.seq);
    if (e) box.append(payload("frame", e));
    return box;
  }
  function showTool(t, go2) {
    const box = el("div", "", el("h2", "", t.name));
    box.append(facts([
      ["calls", t.calls],
      ["errors", t.errors],
      ["pending", t.pending],
      ["p50", duration(t.p50_ms)],
      ["p95", duration(t.p95_ms)],
      ["p99", duration(t.p99_ms)],
      ["longest", duration(t.max_ms)],
      ["most round trips", t.max_round_trips],
      ["results", bytes(t.result_bytes)],
      ["largest result", bytes(t.max_result_bytes)]
    ]));
    for (const d of data.doc.summary.definitions.per_tool.filter((x) => x.name === t.name)) {
      box.append(el("h3", "", "definition"), facts([["session", d.session], ["size", bytes(d.bytes)], ["description", bytes(d.description_bytes)], ["schemas", bytes(d.schema_bytes)]]));
      for (const f of d.findings) box.append(el("div", "finding " + f.signal, el("b", "", f.rule + " "), f.message));
      if (d.seq) box.append(eventLink(go2, d.session, d.seq));
    }
    if (t.calls) box.append(button("show its calls", () => go2("calls", null, t.name), "link"));
    return box;
  }
  function showQuestion(q, go2) {
    const box = el("div", "", el("h2", "", q.operation), el("p", "message", q.message));
    box.append(facts([["session", q.session], ["mode", q.mode], ["answer", q.action], ["after", duration(q.took_ms)], ["key", q.key], ["host", q.host], ["address", q.url], ["cut", q.truncated && "the question was longer"]]));
    if (q.fields && q.fields.length) box.append(el("h3", "", "fields"), facts(q.fields.map((f) => [f.name, f.type + (f.title ? ", " + f.title : "")])));
    box.append(eventLink(go2, q.session, q.seq));
    return box;
  }
  function showSession(s) {
    const box = el("div", "", el("h2", "", s.label));
    box.append(facts([
      ["id", s.id],
      ["transport", s.transport],
      ["command", s.command && s.command.join(" ")],
      ["target", s.target],
      ["folder", s.cwd],
      ["host", s.host],
      ["started", s.started],
      ["ended", s.ended],
      ["exit code", s.end && s.end.exit_code],
      ["signal", s.end && s.end.signal],
      ["frames", s.frames],
      ["missing frames", s.missing_frames],
      ["unreadable lines", s.bad_lines],
      ["calls", s.calls.total + ": " + s.calls.ok + " ok, " + s.calls.error + " failed, " + s.calls.cancelled + " cancelled, " + s.calls.pending + " without an answer"]
    ]));
    for (const c of s.capabilities) {
      box.append(el("h3", "", "protocol " + (c.protocol_version || "unknown")));
      for (const side of ["client", "server"]) {
        box.append(el("h4", "", side + " " + [c[side].name, c[side].version].filter(Boolean).join(" ")));
        if (c[side].capabilities) box.append(tree(JSON.stringify(c[side].capabilities), 4));
      }
    }
    return box;
  }

  // src/main.js
  var cell = (className, s) => el("span", "cell " + className, s);
  var clock = (ts) => ts ? new Date(ts).toISOString().slice(11, 23) : "";
  var tabs = {
    timeline: { title: "Timeline", rows: () => data.events, row: eventRow, show: showEvent, text: eventText },
    calls: { title: "Calls", rows: () => data.calls, row: callRow, show: showCall, text: callText },
    tools: { title: "Tools", rows: tools, row: toolRow, show: showTool, text: (t) => t.name },
    findings: { title: "Findings", rows: () => data.doc.findings, row: findingRow, show: showFinding, text: (f) => [f.rule, f.signal, f.tool, f.message].join(" ") },
    questions: { title: "Elicitations", rows: () => data.doc.elicitations, row: questionRow, show: showQuestion, text: (q) => [q.operation, q.message, q.action].join(" ") },
    raw: { title: "Raw", rows: () => data.events, row: rawRow, show: showEvent, text: eventText },
    sessions: { title: "Sessions", rows: () => data.doc.sessions, row: sessionRow, show: showSession, text: (s) => [s.label, s.id].join(" ") }
  };
  var tab = "";
  var list = null;
  var searching = 0;
  var byId = (id) => document.getElementById(id);
  function tools() {
    const seen = new Set(data.doc.summary.tools.map((t) => t.name));
    const listed = data.doc.summary.definitions.per_tool.filter((d) => !seen.has(d.name) && seen.add(d.name));
    return [...data.doc.summary.tools, ...listed.map((d) => ({ name: d.name, calls: 0, errors: 0 }))];
  }
  function eventText(e) {
    return [e.kind, e.direction, e.method, e.http_status, body(e)].join(" ");
  }
  function callText(c) {
    const q = frameText(c.session, c.seq);
    return [c.method, c.name, c.status, c.idText, q, c.answer === void 0 ? "" : frameText(c.session, c.answer)].join(" ");
  }
  function frameText(session2, seq) {
    const e = data.byFrame.get((session2 || "") + "#" + seq);
    return e ? body(e) : "";
  }
  function excerpt(e) {
    if (e.raw === void 0) return body(e).slice(0, excerptLength);
    const paths = { request: [["params", "arguments"], ["params"]], notification: [["params"]], response: [["error"], ["result"]] }[e.kind] || [];
    for (const p of paths) {
      const found = find(e.raw, ...p);
      if (found !== null) return found.slice(0, excerptLength);
    }
    return e.raw.slice(0, excerptLength);
  }
  var excerptLength = 300;
  var session = (x) => x.session === void 0 ? null : cell("label", data.labels.get(x.session));
  function eventRow(e) {
    const c = callOfEvent(e);
    const answer = e.kind === "response" && c;
    const http = [e.http_method, e.http_path, e.http_status && "HTTP " + e.http_status, e.stream_end && "stream ended by " + e.stream_end].filter(Boolean).join(" ");
    const r = el("div", "event " + e.direction + " " + e.kind, cell("seq", "#" + e.seq), session(e), cell("time", clock(e.ts)), cell("dir", { c2s: "\u2192", s2c: "\u2190", stderr: "\u26A0" }[e.direction] || ""));
    r.append(cell("kind", e.kind), cell("what", [e.method, c && c.name].filter(Boolean).join(" ") || http));
    const state = answer ? c.status : e.kind === "invalid" ? "invalid" : e.http_status >= 400 ? "error" : "";
    r.append(cell("state " + state, e.http_status >= 400 ? "HTTP " + e.http_status : state), cell("took", answer ? duration(c.duration_ms) : ""), cell("rest", excerpt(e)));
    return r;
  }
  function callRow(c) {
    return el(
      "div",
      "call",
      cell("seq", "#" + c.seq),
      session(c),
      cell("time", clock(c.started)),
      cell("dir", c.direction === "s2c" ? "\u2190" : "\u2192"),
      cell("what", c.method + (c.name ? " " + c.name : "")),
      cell("state " + c.status, c.status),
      cell("took", duration(c.duration_ms)),
      cell("rest", c.error ? (c.error.code ?? "") + " " + (c.error.message ?? "") : c.why || "")
    );
  }
  function toolRow(t) {
    const most = Math.max(1, ...data.doc.summary.tools.map((x) => x.p95_ms || 0));
    const bar = el("span", "bar");
    bar.style.width = 100 * (t.p95_ms || 0) / most + "px";
    const r = el(
      "div",
      "tool",
      cell("what", t.name),
      cell("num", t.calls + " calls"),
      cell("num" + (t.errors ? " state error" : ""), t.errors ? t.errors + " errors" : ""),
      cell("num", t.calls ? "p50 " + duration(t.p50_ms) : ""),
      cell("num", t.calls ? "p95 " + duration(t.p95_ms) : "")
    );
    r.append(el("span", "cell barbox", bar));
    return r;
  }
  function findingRow(f) {
    return el("div", "finding", cell("seq", f.seq ? "#" + f.seq : ""), session(f), cell("signal " + f.signal, f.signal), cell("what", f.rule), cell("rest", f.message + (f.count > 1 ? " (" + f.count + " times)" : "")));
  }
  function questionRow(q) {
    return el("div", "question", cell("seq", "#" + q.seq), session(q), cell("what", q.operation), cell("state " + q.action, q.action), cell("took", duration(q.took_ms)), cell("rest", q.message));
  }
  function rawRow(e) {
    return el("div", "rawrow " + e.direction, cell("seq", "#" + e.seq), session(e), cell("rest", visible(body(e).slice(0, 1e3))));
  }
  function sessionRow(s) {
    return el("div", "session", cell("what", s.label), cell("num", s.transport), cell("num", s.frames + " frames"), cell("rest", s.id));
  }
  function open(name2, search) {
    tab = name2;
    for (const b of byId("tabs").children) b.setAttribute("aria-selected", String(b.dataset.tab === name2));
    if (list) list.close();
    list = new VirtualList(byId("list"), tabs[name2].row, (row) => {
      byId("detail").replaceChildren(tabs[tab].show(row, go));
      split(true);
    });
    if (search !== void 0) byId("search").value = search;
    split(false);
    return filter();
  }
  function split(on) {
    document.querySelector("main").classList.toggle("open", on);
  }
  async function go(name2, row, search) {
    await open(name2, search ?? "");
    if (row) list.go(row);
  }
  async function filter() {
    const t = tabs[tab];
    const want = byId("search").value.trim().toLowerCase();
    const rows = t.rows();
    const mine = ++searching;
    if (!want) {
      list.show(rows);
      status(rows.length + " rows");
      return;
    }
    const found = [];
    const pause = 30;
    let until = performance.now() + pause;
    for (const r of rows) {
      if (t.text(r).toLowerCase().includes(want)) found.push(r);
      if (performance.now() > until) {
        status("searching\u2026");
        await new Promise((done) => setTimeout(done));
        if (mine !== searching) return;
        until = performance.now() + pause;
      }
    }
    list.show(found);
    status(found.length + " of " + rows.length + " rows");
  }
  var status = (s) => {
    byId("progress").textContent = s;
  };
  function keys(e) {
    if (e.target.id === "search") {
      if (e.key === "Escape") {
        e.target.value = "";
        e.target.blur();
        filter();
      }
      return;
    }
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 }[e.key];
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Escape") {
      split(false);
      list.paint(true);
    } else if (step && !e.target.closest("#detail")) {
      list.move(step);
      e.preventDefault();
    } else if (e.key === "/") {
      byId("search").focus();
      e.preventDefault();
    }
  }
  function headline() {
    const doc = data.doc;
    const names = doc.sessions.map((s) => s.label);
    byId("title").replaceChildren(el("span", "", names.slice(0, 4).join(", ") + (names.length > 4 ? ", \u2026" : "")));
    const c = doc.summary.calls;
    const parts = [c.total + " calls", c.error + " failed", c.pending + " without an answer", doc.findings.length + " findings", data.events.length + " frames"];
    if (doc.where) parts.push("only: " + doc.where);
    byId("facts").replaceChildren(el("span", "", parts.join(" \xB7 ")));
    if (doc.missing_frames) byId("facts").append(el("span", "warn", " " + doc.missing_frames + " frames are missing"));
    if (!doc.redacted) byId("facts").append(el("span", "warn", " nothing was redacted when this page was made"));
  }
  function idTexts() {
    for (const e of data.events) {
      if (e.id !== void 0) e.idText = e.raw === void 0 ? JSON.stringify(e.id) : find(e.raw, "id") ?? JSON.stringify(e.id);
    }
    for (const c of data.calls) {
      const e = data.byFrame.get((c.session || "") + "#" + c.seq);
      c.idText = (e && e.idText) ?? JSON.stringify(c.id);
    }
  }
  async function start() {
    await load((part) => status("reading " + Math.round(part * 100) + " %"));
    idTexts();
    headline();
    for (const [name2, t] of Object.entries(tabs)) {
      const n = t.rows().length;
      if (n === 0 && name2 === "questions") continue;
      const b = button(t.title + " " + n, () => open(name2));
      b.dataset.tab = name2;
      b.setAttribute("role", "tab");
      byId("tabs").append(b);
    }
    let timer = 0;
    byId("search").addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(filter, 80);
    });
    document.addEventListener("keydown", keys);
    addEventListener("resize", () => list.paint(true));
    await open("timeline");
    document.documentElement.dataset.ready = "true";
  }
  start();
})();
