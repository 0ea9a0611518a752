// What is shown of one thing.
import { el, button, duration, bytes, visible } from "./dom.js";
import { tree } from "./json.js";
import { data, frame, call, body, callOfEvent } from "./data.js";

// facts is a table of names and values; empty values are left out.
export function facts(rows) {
  const t = el("dl", "facts");
  for (const [name, value] of rows) {
    if (value === undefined || value === null || value === "") continue;
    t.append(el("dt", "", name), el("dd", "", value));
  }
  return t;
}

// payload shows the body of a frame, as a tree or as it stood on the wire.
function payload(title, e, links) {
  const box = el("div", "payload");
  const head = el("h3", "", title + (e ? " #" + e.seq : ""));
  box.append(head);
  if (!e) {
    box.append(el("p", "none", "not in this file"));
    return box;
  }
  const raw = body(e);
  const isJSON = e.raw !== undefined;
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
  if (e.bytes !== undefined) box.append(el("p", "none", "not UTF-8; shown as base64"));
  show(isJSON);
  box.append(marks(e), view);
  return box;
}

// marks says what is odd about the copy of a frame.
function marks(e) {
  const box = el("p", "marks");
  for (const name of ["truncated", "redacted", "batch", "late", "reflowed"]) if (e[name]) box.append(el("span", "mark", name));
  if (e.dropped) box.append(el("span", "mark", "after " + e.dropped + " lost frames"));
  for (const d of e.deprecated || []) box.append(el("span", "mark", "deprecated: " + d.message + (d.replacement ? ". " + d.replacement : "")));
  return box;
}

const eventLink = (go, session, seq) => button("#" + seq, () => go("timeline", frame(session, seq)), "link");

// showEvent shows one frame.
export function showEvent(e, go) {
  const c = callOfEvent(e);
  const box = el("div", "");
  box.append(el("h2", "", "#" + e.seq + " " + e.kind + (e.method ? " " + e.method : "")));
  box.append(facts([
    ["session", e.session], ["time", e.ts], ["direction", e.direction], ["id", e.id === undefined ? "" : e.idText], ["size", bytes(e.size)],
    ["HTTP", [e.http_method, e.http_path, e.http_status].filter((x) => x !== undefined).join(" ")],
    ["stream ended by", e.stream_end], ["challenge", e.auth_challenge && [e.auth_challenge].flat().join("\n")],
    ["connection", e.conn_id], ["exchange", e.exchange],
  ]));
  if (c) box.append(button("show the call", () => go("calls", c), "link"));
  box.append(payload("frame", e));
  const found = data.doc.findings.filter((f) => f.seq === e.seq && f.session === e.session);
  if (found.length) box.append(el("h3", "", "findings"), ...found.map((f) => finding(f, go)));
  return box;
}

// showCall shows a request facing its answer.
export function showCall(c, go) {
  const request = frame(c.session, c.seq);
  const answer = c.answer === undefined ? null : frame(c.session, c.answer);
  const late = c.late_answer === undefined ? null : frame(c.session, c.late_answer);
  const box = el("div", "");
  box.append(el("h2", "", c.method + (c.name ? " " + c.name : "")));
  box.append(facts([
    ["session", c.session], ["id", c.idText], ["status", c.status + (c.tool_error ? " (isError)" : "")], ["took", duration(c.duration_ms)],
    ["started", c.started], ["error", c.error && (c.error.code ?? "") + " " + (c.error.message ?? "")], ["why", c.why],
    ["HTTP", c.http_status], ["progress", c.progress], ["task", c.task && c.task.id + " " + c.task.state],
    ["uncertain", c.uncertain && "its id was in flight twice"],
  ]));
  const pair = el("div", "pair", payload("request", request));
  pair.append(payload(late ? "late answer" : "answer", answer || late));
  box.append(pair);
  chain(c, box, go);
  return box;
}

// chain shows the requests that a call took, when there were several.
function chain(c, box, go) {
  const i = data.interactions.find((x) => x.session === c.session && x.hops.some((h) => h.seq === c.seq));
  if (!i) return;
  box.append(el("h3", "", i.round_trips + " round trips, " + duration(i.total_ms) + ": server " + duration(i.server_ms) + ", client " + duration(i.client_ms)));
  const list = el("ol", "hops");
  for (const h of i.hops) {
    const asks = (h.asked || []).map((a) => a.method + " (" + a.key + ")").join(", ");
    const item = el("li", "", button("#" + h.seq, () => go("calls", call(c.session, h.seq)), "link"));
    item.append(el("span", "", " " + h.status + ", server " + duration(h.server_ms) + (h.client_ms ? ", after the client's " + duration(h.client_ms) : "") + (asks ? ", asks for " + asks : "")));
    list.append(item);
  }
  box.append(list);
  if (i.partial) box.append(el("p", "none", "work went on off these requests, in a task"));
}

function finding(f, go) {
  const p = el("div", "finding " + f.signal, el("b", "", f.signal + " " + f.rule + " "), f.message);
  if (f.count > 1) p.append(" (" + f.count + " times)");
  if (f.path) p.append(" at ", el("code", "", f.path));
  if (f.seq) p.append(" ", eventLink(go, f.session, f.seq));
  if (f.fix) p.append(el("div", "fix", f.fix));
  return p;
}

// showFinding shows a finding and the frame that it is about.
export function showFinding(f, go) {
  const box = el("div", "", el("h2", "", f.rule), finding(f, go));
  box.append(facts([["session", f.session], ["level", f.level], ["tool", f.tool], ["method", f.method], ["specification", f.spec]]));
  const e = f.seq && frame(f.session, f.seq);
  if (e) box.append(payload("frame", e));
  return box;
}

// showTool shows the figures of a tool, what its definition weighs and its calls.
export function showTool(t, go) {
  const box = el("div", "", el("h2", "", t.name));
  box.append(facts([
    ["calls", t.calls], ["errors", t.errors], ["pending", t.pending], ["p50", duration(t.p50_ms)], ["p95", duration(t.p95_ms)], ["p99", duration(t.p99_ms)],
    ["longest", duration(t.max_ms)], ["most round trips", t.max_round_trips], ["results", bytes(t.result_bytes)], ["largest result", bytes(t.max_result_bytes)],
  ]));
  for (const d of data.doc.summary.definitions.per_tool.filter((x) => x.name === t.name)) {
    box.append(el("h3", "", "definition"), facts([["session", d.session], ["size", bytes(d.bytes)], ["description", bytes(d.description_bytes)], ["schemas", bytes(d.schema_bytes)]]));
    for (const f of d.findings) box.append(el("div", "finding " + f.signal, el("b", "", f.rule + " "), f.message));
    if (d.seq) box.append(eventLink(go, d.session, d.seq));
  }
  if (t.calls) box.append(button("show its calls", () => go("calls", null, t.name), "link"));
  return box;
}

// showQuestion shows what a user was asked and what they did.
export function showQuestion(q, go) {
  const box = el("div", "", el("h2", "", q.operation), el("p", "message", q.message));
  box.append(facts([["session", q.session], ["mode", q.mode], ["answer", q.action], ["after", duration(q.took_ms)], ["key", q.key], ["host", q.host], ["address", q.url], ["cut", q.truncated && "the question was longer"]]));
  if (q.fields && q.fields.length) box.append(el("h3", "", "fields"), facts(q.fields.map((f) => [f.name, f.type + (f.title ? ", " + f.title : "")])));
  box.append(eventLink(go, q.session, q.seq));
  return box;
}

// showSession shows who talked to whom.
export function showSession(s) {
  const box = el("div", "", el("h2", "", s.label));
  box.append(facts([
    ["id", s.id], ["transport", s.transport], ["command", s.command && s.command.join(" ")], ["target", s.target], ["folder", s.cwd], ["host", s.host],
    ["started", s.started], ["ended", s.ended], ["exit code", s.end && s.end.exit_code], ["signal", s.end && s.end.signal], ["frames", s.frames],
    ["missing frames", s.missing_frames], ["unreadable lines", s.bad_lines],
    ["calls", s.calls.total + ": " + s.calls.ok + " ok, " + s.calls.error + " failed, " + s.calls.cancelled + " cancelled, " + s.calls.pending + " without an answer"],
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
