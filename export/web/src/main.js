// The page: tabs, a list of what the tab is about, and what is shown of the
// element that was chosen.
import { el, button, duration, bytes, visible } from "./dom.js";
import { find } from "./json.js";
import { data, load, body, callOfEvent } from "./data.js";
import { VirtualList } from "./vlist.js";
import { showCall, showEvent, showFinding, showQuestion, showSession, showTool } from "./detail.js";

const cell = (className, s) => el("span", "cell " + className, s);
const clock = (ts) => (ts ? new Date(ts).toISOString().slice(11, 23) : "");

// tabs say what each list holds: its rows, how one looks, what is shown of
// one, and what a search looks at.
const tabs = {
  timeline: { title: "Timeline", rows: () => data.events, row: eventRow, show: showEvent, text: eventText },
  calls: { title: "Calls", rows: () => data.calls, row: callRow, show: showCall, text: callText },
  tools: { title: "Tools", rows: tools, row: toolRow, show: showTool, text: (t) => t.name },
  findings: { title: "Findings", rows: () => data.doc.findings, row: findingRow, show: showFinding, text: (f) => [f.rule, f.signal, f.tool, f.message].join(" ") },
  questions: { title: "Elicitations", rows: () => data.doc.elicitations, row: questionRow, show: showQuestion, text: (q) => [q.operation, q.message, q.action].join(" ") },
  raw: { title: "Raw", rows: () => data.events, row: rawRow, show: showEvent, text: eventText },
  sessions: { title: "Sessions", rows: () => data.doc.sessions, row: sessionRow, show: showSession, text: (s) => [s.label, s.id].join(" ") },
};

let tab = "";
let list = null;
let searching = 0;
const byId = (id) => document.getElementById(id);

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
  return [c.method, c.name, c.status, c.idText, q, c.answer === undefined ? "" : frameText(c.session, c.answer)].join(" ");
}

function frameText(session, seq) {
  const e = data.byFrame.get((session || "") + "#" + seq);
  return e ? body(e) : "";
}

// excerpt is what a frame is about: arguments, a result, an error, a text.
function excerpt(e) {
  if (e.raw === undefined) return body(e).slice(0, excerptLength);
  const paths = { request: [["params", "arguments"], ["params"]], notification: [["params"]], response: [["error"], ["result"]] }[e.kind] || [];
  for (const p of paths) {
    const found = find(e.raw, ...p);
    if (found !== null) return found.slice(0, excerptLength);
  }
  return e.raw.slice(0, excerptLength);
}

const excerptLength = 300; // characters

// session names the session of a row, where there are several.
const session = (x) => (x.session === undefined ? null : cell("label", data.labels.get(x.session)));

function eventRow(e) {
  const c = callOfEvent(e);
  const answer = e.kind === "response" && c;
  const http = [e.http_method, e.http_path, e.http_status && "HTTP " + e.http_status, e.stream_end && "stream ended by " + e.stream_end].filter(Boolean).join(" ");
  const r = el("div", "event " + e.direction + " " + e.kind, cell("seq", "#" + e.seq), session(e), cell("time", clock(e.ts)), cell("dir", { c2s: "→", s2c: "←", stderr: "⚠" }[e.direction] || ""));
  r.append(cell("kind", e.kind), cell("what", [e.method, c && c.name].filter(Boolean).join(" ") || http));
  const state = answer ? c.status : e.kind === "invalid" ? "invalid" : e.http_status >= 400 ? "error" : "";
  r.append(cell("state " + state, e.http_status >= 400 ? "HTTP " + e.http_status : state), cell("took", answer ? duration(c.duration_ms) : ""), cell("rest", excerpt(e)));
  return r;
}

function callRow(c) {
  return el("div", "call", cell("seq", "#" + c.seq), session(c), cell("time", clock(c.started)), cell("dir", c.direction === "s2c" ? "←" : "→"), cell("what", c.method + (c.name ? " " + c.name : "")),
    cell("state " + c.status, c.status), cell("took", duration(c.duration_ms)), cell("rest", c.error ? (c.error.code ?? "") + " " + (c.error.message ?? "") : c.why || ""));
}

function toolRow(t) {
  const most = Math.max(1, ...data.doc.summary.tools.map((x) => x.p95_ms || 0));
  const bar = el("span", "bar");
  bar.style.width = (100 * (t.p95_ms || 0)) / most + "px";
  const r = el("div", "tool", cell("what", t.name), cell("num", t.calls + " calls"), cell("num" + (t.errors ? " state error" : ""), t.errors ? t.errors + " errors" : ""),
    cell("num", t.calls ? "p50 " + duration(t.p50_ms) : ""), cell("num", t.calls ? "p95 " + duration(t.p95_ms) : ""));
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
  return el("div", "rawrow " + e.direction, cell("seq", "#" + e.seq), session(e), cell("rest", visible(body(e).slice(0, 1000))));
}

function sessionRow(s) {
  return el("div", "session", cell("what", s.label), cell("num", s.transport), cell("num", s.frames + " frames"), cell("rest", s.id));
}

// open shows a tab.
function open(name, search) {
  tab = name;
  for (const b of byId("tabs").children) b.setAttribute("aria-selected", String(b.dataset.tab === name));
  if (list) list.close();
  list = new VirtualList(byId("list"), tabs[name].row, (row) => {
    byId("detail").replaceChildren(tabs[tab].show(row, go));
    split(true);
  });
  if (search !== undefined) byId("search").value = search;
  split(false);
  return filter();
}

// split makes room for the details, or gives all of it to the list.
function split(on) {
  document.querySelector("main").classList.toggle("open", on);
}

// go shows one element, in its tab.
async function go(name, row, search) {
  await open(name, search ?? "");
  if (row) list.go(row);
}

// filter shows the rows that hold what is searched for. It works in pieces, so
// that typing goes on.
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
  const pause = 30; // milliseconds
  let until = performance.now() + pause;
  for (const r of rows) {
    if (t.text(r).toLowerCase().includes(want)) found.push(r);
    if (performance.now() > until) {
      status("searching…");
      await new Promise((done) => setTimeout(done));
      if (mine !== searching) return;
      until = performance.now() + pause;
    }
  }
  list.show(found);
  status(found.length + " of " + rows.length + " rows");
}

const status = (s) => { byId("progress").textContent = s; };

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
  byId("title").replaceChildren(el("span", "", names.slice(0, 4).join(", ") + (names.length > 4 ? ", …" : "")));
  const c = doc.summary.calls;
  const parts = [c.total + " calls", c.error + " failed", c.pending + " without an answer", doc.findings.length + " findings", data.events.length + " frames"];
  if (doc.where) parts.push("only: " + doc.where);
  byId("facts").replaceChildren(el("span", "", parts.join(" · ")));
  if (doc.missing_frames) byId("facts").append(el("span", "warn", " " + doc.missing_frames + " frames are missing"));
  if (!doc.redacted) byId("facts").append(el("span", "warn", " nothing was redacted when this page was made"));
}

// idTexts keeps ids as they were written: as numbers some would lose digits.
function idTexts() {
  for (const e of data.events) {
    if (e.id !== undefined) e.idText = e.raw === undefined ? JSON.stringify(e.id) : find(e.raw, "id") ?? JSON.stringify(e.id);
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
  for (const [name, t] of Object.entries(tabs)) {
    const n = t.rows().length;
    if (n === 0 && name === "questions") continue;
    const b = button(t.title + " " + n, () => open(name));
    b.dataset.tab = name;
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
