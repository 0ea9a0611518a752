// The data of the page: blocks of JSON, read piece by piece so that the page
// can be used meanwhile.

export const data = {
  doc: {},
  calls: [],
  interactions: [],
  events: [],
  byFrame: new Map(), // session and seq to event
  callOf: new Map(), // session and seq of the request to call
  labels: new Map(), // id of a session to its label
};

export const frameKey = (session, seq) => (session || "") + "#" + seq;

// load reads all blocks and tells after each piece how far it is.
export async function load(progress) {
  data.doc = JSON.parse(document.getElementById("doc").textContent);
  const blocks = [...document.querySelectorAll("script[data-list]")];
  for (let n = 0; n < blocks.length; n++) {
    const list = data[blocks[n].dataset.list];
    for (const line of blocks[n].textContent.split("\n")) {
      if (line) list.push(JSON.parse(line));
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

export const frame = (session, seq) => data.byFrame.get(frameKey(session, seq));
export const call = (session, seq) => data.callOf.get(frameKey(session, seq));

// body is what a frame holds, as text.
export function body(e) {
  if (e.raw !== undefined) return e.raw;
  if (e.text !== undefined) return e.text;
  return e.bytes === undefined ? "" : e.bytes;
}

// callOfEvent is the call that a frame belongs to.
export function callOfEvent(e) {
  return call(e.session, e.request === undefined ? e.seq : e.request);
}
