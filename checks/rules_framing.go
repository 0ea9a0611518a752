package checks

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Ids that code refers to.
const (
	stdoutNotJSON   = "stdio-stdout-not-json"
	stdinNotJSON    = "stdio-stdin-not-json"
	embeddedNewline = "stdio-embedded-newline"
)

// Framing and JSON (transports, RFC 8259).
var framingRules = []Rule{
	{
		ID: stdoutNotJSON, Signal: Invalid, Level: Must, Transports: OnStdio, on: onText, check: stdoutText,
		Title: "The server printed something to stdout that is not JSON",
		Help:  "Stdout carries one message a line and nothing else. Strict clients drop the connection at the first other line, lenient ones log it.",
		Fix:   "Print logs and banners to stderr. Look for print or console.log in the server and in what it imports, and for a launcher that reports progress.",
		Spec:  "2026-07-28/basic/transports/stdio#receiving-messages",
	},
	{
		ID: stdinNotJSON, Signal: Invalid, Level: Must, Transports: OnStdio, on: onText, check: stdinText,
		Title: "The client wrote something to the server's stdin that is not JSON",
		Help:  "The server cannot tell what was meant and may stop reading.",
		Fix:   "Write one JSON message a line.",
		Spec:  "2026-07-28/basic/transports/stdio#sending-messages",
	},
	{
		ID: "stdio-json-not-message", Signal: Invalid, Level: Must, Transports: OnStdio, on: onJSON, check: jsonNotMessage,
		Title: "A line is JSON but no message",
		Help:  "Only objects are messages, and arrays of them in 2025-03-26.",
		Fix:   "Print debug values to stderr.",
		Spec:  "2026-07-28/basic/transports/stdio#sending-messages",
	},
	{
		ID: embeddedNewline, Signal: Invalid, Level: Must, Transports: OnStdio, on: onText, check: func(*ctx) {},
		Title: "One message stands on several lines",
		Help:  "A line feed ends a message, so pretty-printed JSON arrives as many broken ones and the call is never answered.",
		Fix:   "Serialize without indentation.",
		Spec:  "2026-07-28/basic/transports/stdio#sending-messages",
	},
	{
		ID: "frame-not-utf8", Signal: Invalid, Level: Must, on: onBytes, check: notUTF8,
		Title: "A frame is not valid UTF-8",
		Help:  "Messages are UTF-8. Another encoding shows as broken text or ends the connection.",
		Fix:   "Set the encoding of the stream to UTF-8; on Windows the default is another one.",
		Spec:  "2026-07-28/basic/transports",
	},
	{
		ID: "frame-bom", Signal: Warn, Level: Should, on: onText, check: byteOrderMark,
		Title: "A frame begins with a byte order mark",
		Help:  "JSON must not be sent with one, and many parsers stop at it.",
		Fix:   "Write UTF-8 without a byte order mark.",
		Spec:  "https://www.rfc-editor.org/rfc/rfc8259#section-8.1",
	},
	{
		ID: "json-lone-surrogate", Signal: Warn, Level: Should, on: onJSON, check: halfSurrogate,
		Title: "An escape is half of a surrogate pair",
		Help:  "It stands for no character; what a reader makes of it is its own affair, and some refuse the message.",
		Fix:   "Cut strings between characters, not between UTF-16 units.",
		Spec:  "https://www.rfc-editor.org/rfc/rfc8259#section-8.2",
	},
	{
		ID: "json-duplicate-member", Signal: Warn, Level: Should, on: onJSON, check: duplicateMember,
		Title: "A member name stands twice in one object",
		Help:  "Readers differ in which one counts, so a gateway and the server behind it can see two different calls.",
		Fix:   "Write each name once.",
		Spec:  "https://www.rfc-editor.org/rfc/rfc8259#section-4",
	},
	{
		ID: "json-unsafe-integer", Signal: Warn, Level: Should, on: onMessage, check: unsafeInteger,
		Title: "An id or a token is a number beyond 2^53",
		Help:  "JavaScript reads it rounded and answers with another number, which then fits no request.",
		Fix:   "Count from 1, or use strings.",
		Spec:  "https://www.rfc-editor.org/rfc/rfc8259#section-6",
	},
	{
		ID: "json-case-variant-member", Signal: Warn, Level: Should, on: onMessage, check: caseVariant,
		Title: "A member differs from a defined one in letter case only",
		Help:  "Names are case-sensitive, but some decoders are not and let it override the real member: two readers see two calls.",
		Fix:   "Spell the member as the schema does, or remove it.",
		Spec:  "2026-07-28/schema",
	},
}

func stdoutText(c *ctx) {
	if c.s2c() {
		notJSON(c)
	}
}

func stdinText(c *ctx) {
	if c.c2s() {
		notJSON(c)
	}
}

func notJSON(c *ctx) {
	t := strings.TrimRight(c.rec.Text, "\r")
	if !c.rec.HasText || t == "" {
		return
	}
	b := []byte(t)
	err := wire.Check(b)
	var syntax *wire.SyntaxError
	switch {
	case err == nil, errors.Is(err, wire.ErrDepth):
		return // JSON that is recorded as text because it nests too deep
	case c.rec.EOL == "none" && errors.As(err, &syntax) && syntax.Offset >= len(b):
		return // the stream ended inside a message
	case hasBOM(t) && wire.Check(b[3:]) == nil:
		return
	case strings.TrimSpace(t) == "" && !c.cl.said[dirIndex(c.c2s())]:
		return
	}
	c.hitAt("", "%s", notJSONMessage(t, !c.c2s() && !c.cl.said[dirIndex(false)]))
}

var contentLength = regexp.MustCompile(`(?i)^\s*content-(length|type)\s*:`)

// notJSONMessage says what the line is, with a hint when it is a known kind of
// mistake. first says that the server has sent no message before it.
func notJSONMessage(t string, first bool) string {
	hint := ""
	switch k := embeddedObject(t); {
	case contentLength.MatchString(t) || strings.Contains(t, "Content-Length:"):
		hint = "; this is Content-Length framing, as language servers (LSP) use it, where each message must be one line"
	case k > 0:
		hint = fmt.Sprintf("; a JSON object starts at byte %d of the line, what stands before it must go to stderr or end with a line feed", k)
	case first:
		hint = "; it stands before the first message, so it may come from a launcher"
	}
	return fmt.Sprintf("not JSON: %s%s", quote(t), hint)
}

// embeddedObject finds where a whole JSON object stands inside a line, 0 when
// there is none.
func embeddedObject(t string) int {
	b := []byte(t)
	for i, tries := 1, 0; tries < 16; tries++ {
		k := bytes.IndexByte(b[min(i, len(b)):], '{')
		if k < 0 {
			return 0
		}
		i += k
		if v, _, err := wire.Prefix(b[i:]); err == nil && wire.ParseMessage(v).Kind != wire.Other {
			return i
		}
		i++
	}
	return 0
}

const bom = "\xEF\xBB\xBF"

func hasBOM(s string) bool { return strings.HasPrefix(s, bom) }

func byteOrderMark(c *ctx) {
	if hasBOM(c.rec.Text) {
		c.hitAt("", "the frame begins with EF BB BF")
	}
}

func notUTF8(c *ctx) { c.hitAt("", "%d bytes that are not UTF-8", len(c.rec.Bytes)) }

func jsonNotMessage(c *ctx) {
	switch {
	case c.root.isObject():
		return
	case c.root.isArray():
		return // the batch rules judge arrays
	}
	c.hitAt("", "the line is a JSON %s: %s", c.root.typ(), show(c.root))
}

func halfSurrogate(c *ctx) {
	if i := c.root.t.surrogate; i >= 0 {
		c.hit(val{c.root.t, i}, "half of a surrogate pair is escaped here")
	}
}

func duplicateMember(c *ctx) {
	if i := c.root.t.twice; i >= 0 {
		v := val{c.root.t, i}
		c.hit(v, "the member %s stands twice in one object", quote(v.key()))
	}
}

func unsafeInteger(c *ctx) {
	vs := [...]val{{}, {}, {}}
	if len(c.ev.Msg.ID) > 15 {
		vs[0] = c.root.get("id")
	}
	switch c.method {
	case mcp.ProgressNote:
		vs[1] = c.params.get("progressToken")
	case mcp.CancelledNote:
		vs[1] = c.params.get("requestId")
	}
	if c.meta.ok() {
		vs[2] = c.meta.get("progressToken")
	}
	for _, v := range vs {
		if v.typ() == wire.Number && !safeInteger(string(wire.ParseID(v.raw()))) {
			c.hit(v, "%s is beyond 2^53-1", show(v))
		}
	}
}

// safeInteger reports whether a number is one that doubles hold exactly.
func safeInteger(n string) bool {
	const largest = "9007199254740991"
	n = strings.TrimPrefix(n, "-")
	if strings.ContainsAny(n, ".eE") {
		return true
	}
	return len(n) < len(largest) || len(n) == len(largest) && n <= largest
}

func caseVariant(c *ctx) {
	c.variants(c.root, topMembers)
	c.variants(c.meta, metaMembers)
	if c.mi == 0 {
		return
	}
	m := membersOf(c.method)
	switch c.ev.Msg.Kind {
	case wire.Request, wire.Notification:
		c.variants(c.params, m.params)
	case wire.Result:
		c.variants(c.result, m.result)
	case wire.Error, wire.Other:
	}
}

func (c *ctx) variants(v val, names []string) {
	if !v.isObject() || len(names) == 0 {
		return
	}
	t := v.t
	for i, end := v.i+1, t.nodes[v.i].skip; i < end; i = t.nodes[i].skip {
		k := t.key(i)
		if n := variant(k, names); n != "" {
			c.hit(val{t, i}, "%s is not %s: names are case-sensitive, and a reader that is not lets it override the real one", quote(string(k)), quote(n))
		}
	}
}

// variant is the name that k is when case does not count, "" when k is one of
// the names itself or none of them.
func variant(k []byte, names []string) string {
	for _, n := range names {
		if string(k) == n {
			return ""
		}
	}
	for _, n := range names {
		if len(n) == len(k) && strings.EqualFold(n, string(k)) {
			return n
		}
	}
	return ""
}

// hasBytes reports whether the frame is kept as bytes because it is not UTF-8.
func (c *ctx) hasBytes() bool {
	return len(c.rec.Bytes) > 0 && c.rec.Direction != capture.Stderr && !c.rec.Truncated
}
