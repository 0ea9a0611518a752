package checks

import (
	"bytes"
	"encoding/base64"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Content blocks in results of tools and prompts (server/tools, Tool Result).
var blockRules = []Rule{
	{
		ID: "block-type-unknown", Signal: Invalid, Level: Must, on: onBlock, check: blockType,
		Title: "A content block has a type that the revision does not have",
		Help:  "Clients drop the block, or the whole result.",
		Fix:   "Use text, image, resource, from 2025-03-26 on audio, from 2025-06-18 on resource_link.",
		Spec:  "2026-07-28/schema#contentblock",
	},
	{
		ID: "block-text", Signal: Invalid, Level: Must, on: onBlock, check: blockText,
		Title: "A text block has no text",
		Help:  "text is a required string; objects have to be serialized.",
		Fix:   "Send text as a string.",
		Spec:  "2026-07-28/schema#textcontent",
	},
	{
		ID: "block-media", Signal: Invalid, Level: Must, on: onBlock, check: blockMedia,
		Title: "An image or audio block lacks data or mimeType",
		Help:  "Blocks of model APIs look alike and have other members: source, media_type, mime_type.",
		Fix:   "Send data in base64 and mimeType.",
		Spec:  "2026-07-28/schema#imagecontent",
	},
	{
		ID: "block-base64", Signal: Warn, Level: Must, on: onBlock | onResult, check: blockBase64,
		Title: "Binary data is not plain base64",
		Help:  "The client cannot decode it.",
		Fix:   "Use the standard alphabet with padding, no line breaks and no data: prefix.",
		Spec:  "2026-07-28/server/tools#image-content",
	},
	{
		ID: "block-mime-magic", Signal: Warn, Level: Should, on: onBlock, check: blockMagic,
		Title: "An image is not of the type that it claims",
		Help:  "Models and browsers refuse an image whose bytes contradict its mimeType.",
		Fix:   "Send the type that the bytes have.",
		Spec:  "2026-07-28/server/tools#image-content",
	},
	{
		ID: "block-resource", Signal: Invalid, Level: Must, on: onBlock, check: blockResource,
		Title: "An embedded resource lacks its uri, or has not exactly one of text and blob",
		Help:  "Clients cannot tell what it is.",
		Fix:   "Send resource.uri and either text or blob.",
		Spec:  "2026-07-28/schema#embeddedresource",
	},
	{
		ID: "block-resource-mime", Signal: Info, Level: Note, on: onBlock, methods: []string{mcp.PromptsGet}, check: blockResourceMime,
		Title: "An embedded resource of a prompt has no mimeType",
		Help:  "The page on prompts wants one, the schema does not.",
		Fix:   "Send mimeType.",
		Spec:  "2026-07-28/server/prompts#embedded-resources",
	},
	{
		ID: "block-resource-link", Signal: Invalid, Level: Must, Revisions: R3Up, on: onBlock, check: blockLink,
		Title: "A link to a resource lacks uri or name",
		Help:  "Clients cannot follow or show it.",
		Fix:   "Send both.",
		Spec:  "2026-07-28/schema#resourcelink",
	},
	{
		ID: "block-embedded-no-capability", Signal: Info, Level: Note, Revisions: R3Up, on: onBlock, check: blockNoCapability,
		Title: "A result embeds a resource and the server declares no resources",
		Help:  "Servers that embed resources should offer them too.",
		Fix:   "Declare and implement resources.",
		Spec:  "2026-07-28/server/tools#embedded-resources",
	},
	{
		ID: "block-annotations", Signal: Invalid, Level: Must, on: onBlock, check: blockAnnotations,
		Title: "The annotations of a block are malformed",
		Help:  "audience holds user or assistant, priority lies between 0 and 1, lastModified is an ISO 8601 time.",
		Fix:   "Correct the member named.",
		Spec:  "2026-07-28/schema#annotations",
	},
}

// blockTypes are the types of blocks and the revisions that have them.
var blockTypes = []struct {
	name string
	revs Revisions
}{
	{"text", AnyRev}, {"image", AnyRev}, {"resource", AnyRev}, {"audio", R2Up}, {"resource_link", R3Up},
}

func blockType(c *ctx) {
	v := c.item.get("type")
	for _, t := range blockTypes {
		if v.is(t.name) && c.rev&t.revs != 0 {
			return
		}
	}
	if !marked(v) {
		c.hit(c.item, "the type is %s", show(v))
	}
}

func blockText(c *ctx) {
	if v := c.item.get("text"); c.item.get("type").is("text") && !v.isString() {
		c.hit(c.item, "text is %s; want a string", show(v))
	}
}

// isMedia reports whether the block at hand is an image or a sound.
func (c *ctx) isMedia() bool {
	t := c.item.get("type")
	return t.is("image") || t.is("audio")
}

func blockMedia(c *ctx) {
	if !c.isMedia() {
		return
	}
	for _, k := range [...]string{"data", "mimeType"} {
		if v := c.item.get(k); !v.isString() {
			c.hit(c.item, "%s is %s; want a string", k, show(v))
		}
	}
}

func blockBase64(c *ctx) {
	if c.item.ok() {
		if c.isMedia() {
			c.base64(c.item.get("data"))
		}
		c.base64(c.item.at("resource", "blob"))
		return
	}
	if c.method == mcp.ResourcesRead {
		for _, r := range c.result.get("contents").each() {
			c.base64(r.get("blob"))
		}
	}
}

func (c *ctx) base64(v val) {
	if !v.isString() || marked(v) {
		return
	}
	b := v.raw()
	b = b[1 : len(b)-1]
	if bytes.IndexByte(b, '\\') >= 0 {
		b = []byte(v.str())
	}
	if at, ok := isBase64(b); !ok {
		hint := ""
		switch {
		case bytes.HasPrefix(b, []byte("data:")):
			hint = ": it begins with data:, which is no part of it"
		case at < len(b) && (b[at] == '-' || b[at] == '_'):
			hint = ": it is in the alphabet for URLs"
		case at == len(b):
			hint = ": its length is wrong, padding may be missing"
		}
		c.hit(v, "not base64 at character %d%s", at, hint)
	}
}

var base64Chars = func() (t [256]bool) {
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		t[c] = true
	}
	return t
}()

// isBase64 tests for standard base64 with padding, and says where it ends.
func isBase64(b []byte) (int, bool) {
	n := len(b)
	for n > 0 && len(b)-n < 2 && b[n-1] == '=' {
		n--
	}
	for i, c := range b[:n] {
		if !base64Chars[c] {
			return i, false
		}
	}
	return len(b), len(b)%4 == 0
}

// magic are the first bytes of the image types that results mostly hold.
var magic = []struct{ mime, bytes string }{
	{"image/png", "\x89PNG\r\n\x1a\n"}, {"image/jpeg", "\xff\xd8\xff"}, {"image/gif", "GIF8"}, {"image/webp", "RIFF"},
}

func blockMagic(c *ctx) {
	data := c.item.get("data")
	if !c.item.get("type").is("image") || marked(data) {
		return
	}
	mime := strings.ToLower(c.item.get("mimeType").str())
	if mime == "image/jpg" {
		mime = "image/jpeg"
	}
	raw := data.raw()
	if len(raw) < 18 {
		return
	}
	head, err := base64.StdEncoding.DecodeString(string(raw[1:17]))
	if err != nil {
		return
	}
	claim, is := "", ""
	for _, m := range magic {
		if m.mime == mime {
			claim = m.bytes
		}
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			is = m.mime
		}
	}
	if claim == "" || bytes.HasPrefix(head, []byte(claim)) {
		return
	}
	if is == "" {
		is = "something else"
	}
	c.hit(c.item, "mimeType is %s, the bytes are %s", mime, is)
}

func blockResource(c *ctx) {
	if !c.item.get("type").is("resource") {
		return
	}
	r := c.item.get("resource")
	switch text, blob := r.get("text"), r.get("blob"); {
	case !r.get("uri").isString():
		c.hit(c.item, "resource.uri is %s; want a string", show(r.get("uri")))
	case text.ok() == blob.ok():
		c.hit(c.item, "want exactly one of resource.text and resource.blob")
	case text.ok() && !text.isString() || blob.ok() && !blob.isString():
		c.hit(c.item, "text and blob are strings")
	}
}

func blockResourceMime(c *ctx) {
	if r := c.item.get("resource"); c.item.get("type").is("resource") && r.isObject() && !r.get("mimeType").ok() {
		c.hit(r, "the embedded resource has no mimeType")
	}
}

func blockLink(c *ctx) {
	if !c.item.get("type").is("resource_link") {
		return
	}
	for _, k := range [...]string{"uri", "name"} {
		if v := c.item.get(k); !v.isString() {
			c.hit(c.item, "%s is %s; want a string", k, show(v))
		}
	}
}

func blockNoCapability(c *ctx) {
	if caps := c.serverCaps(); c.item.get("type").is("resource") && caps != nil && !caps.has("resources") {
		c.hit(c.item, "a resource is embedded, and resources is not declared")
	}
}

func blockAnnotations(c *ctx) {
	a := c.item.get("annotations")
	if !a.ok() {
		return
	}
	if !a.isObject() {
		c.hit(a, "annotations are %s; want an object", show(a))
		return
	}
	if v := a.get("audience"); v.ok() {
		ok := v.isArray()
		for _, w := range v.each() {
			ok = ok && (w.is("user") || w.is("assistant"))
		}
		if !ok {
			c.hit(v, "audience is %s; want user, assistant or both in an array", show(v))
		}
	}
	if v := a.get("priority"); v.ok() {
		if n, ok := v.num(); v.typ() != wire.Number || !ok || n < 0 || n > 1 {
			c.hit(v, "priority is %s; want a number from 0 to 1", show(v))
		}
	}
	if v := a.get("lastModified"); v.ok() && !marked(v) && !isTime(v.str()) {
		c.hitLess(v, "lastModified is %s; want an ISO 8601 time", show(v))
	}
}

// timeLayouts are the forms of ISO 8601 that are taken as one.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02",
	"2006-01-02T15:04:05.999999999Z0700", "20060102T150405Z0700", "2006-01", "2006",
}

func isTime(s string) bool {
	for _, l := range timeLayouts {
		if _, err := time.Parse(l, s); err == nil {
			return true
		}
	}
	return false
}
