package checks

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Prompts, resources and completion.
var featureRules = []Rule{
	{
		ID: "prompt-message-shape", Signal: Invalid, Level: Must, on: onResult, methods: []string{mcp.PromptsGet}, check: promptMessages,
		Title: "A prompt does not consist of messages with a role and one content block",
		Help:  "The role is user or assistant, there is no system; content is one block, not an array.",
		Fix:   "Send one message for each block.",
		Spec:  "2026-07-28/schema#promptmessage",
	},
	{
		ID: "prompt-arguments", Signal: Invalid, Level: Must, on: onRequest, methods: []string{mcp.PromptsGet}, check: promptArguments,
		Title: "An argument of a prompt is not a string",
		Help:  "All arguments of prompts are strings.",
		Fix:   "Send numbers and booleans as text.",
		Spec:  "2026-07-28/schema#getpromptrequestparams",
	},
	{
		ID: "prompt-def-shape", Signal: Invalid, Level: Must, on: onResult, methods: []string{mcp.PromptsList}, check: promptDefinitions,
		Title: "The definition of a prompt is malformed",
		Help:  "It has a name, and arguments is an array of objects with a name; a JSON Schema is not one.",
		Fix:   `Send "arguments":[{"name":"..."}].`,
		Spec:  "2026-07-28/schema#prompt",
	},
	{
		ID: "resource-shape", Signal: Invalid, Level: Must, on: onResult, methods: []string{mcp.ResourcesList}, check: resourceDefinitions,
		Title: "The definition of a resource lacks uri or name",
		Help:  "Clients cannot list or read it.",
		Fix:   "Send both as strings.",
		Spec:  "2026-07-28/schema#resource",
	},
	{
		ID: "resource-uri", Signal: Warn, Level: Should, on: onResult, methods: []string{mcp.ResourcesList, mcp.ResourcesRead}, check: resourceURI,
		Title: "The uri of a resource is not an absolute URI",
		Help:  "Paths, spaces and backslashes are not legal in one, and clients fail to parse it.",
		Fix:   "Send a URI with a scheme, percent-encoded: file:///C:/a%20b.txt.",
		Spec:  "2026-07-28/server/resources#common-uri-schemes",
	},
	{
		ID: "resource-template", Signal: Warn, Level: Should, on: onResult, methods: []string{mcp.TemplatesList}, check: resourceTemplates,
		Title: "A resource template lacks its name, or is no URI template",
		Help:  "Clients cannot expand it.",
		Fix:   "Send name, and a uriTemplate as RFC 6570 has it.",
		Spec:  "2026-07-28/server/resources#resource-templates",
	},
	{
		ID: "resource-https-scheme", Signal: Info, Level: Note, on: onResult, methods: []string{mcp.ResourcesRead}, check: resourceHTTPS,
		Title: "A resource with an https uri was read through the server",
		Help:  "The scheme is meant for what the client can fetch itself.",
		Fix:   "Use a scheme of your own where the server is needed.",
		Spec:  "2026-07-28/server/resources#https",
	},
	{
		ID: "read-contents-shape", Signal: Invalid, Level: Must, on: onResult, methods: []string{mcp.ResourcesRead}, check: readContents,
		Title: "The contents of a resource are malformed",
		Help:  "contents is an array; each item has a uri and exactly one of text and blob.",
		Fix:   "Send an array, also for one item.",
		Spec:  "2026-07-28/schema#readresourceresult",
	},
	{
		ID: "read-contents-empty", Signal: Warn, Level: Should, Revisions: R5, on: onResult, methods: []string{mcp.ResourcesRead}, check: readEmpty,
		Title: "A resource that no list has was answered with empty contents",
		Help:  "For a resource that does not exist the answer is an error, else clients take it for an empty one.",
		Fix:   "Answer -32602 for an unknown uri.",
		Spec:  "2026-07-28/server/resources#error-handling",
	},
	{
		ID: "read-uri-differs", Signal: Info, Level: Note, on: onResult, methods: []string{mcp.ResourcesRead}, check: readDiffers,
		Title: "None of the contents has the uri that was asked for",
		Help:  "That is right for a folder, which answers with its children.",
		Fix:   "Compare how the server writes the uri.",
		Spec:  "2026-07-28/server/resources#reading-resources",
	},
	{
		ID: "read-path-traversal", Signal: Warn, Level: Should, on: onResult, methods: []string{mcp.ResourcesRead}, check: readTraversal,
		Title: "A file uri with .. in its path was read",
		Help:  "The server gave out something outside the folder that the uri begins with.",
		Fix:   "Resolve the path and test that it lies below an allowed folder.",
		Spec:  "2026-07-28/server/resources#security-considerations",
	},
	{
		ID: "complete-values", Signal: Warn, Level: Must, on: onResult, methods: []string{mcp.Complete}, check: completeValues,
		Title: "A completion has more than 100 values, or other values than strings",
		Help:  "Clients cut or refuse the list.",
		Fix:   "Send at most 100 strings, and hasMore when there are more.",
		Spec:  "2026-07-28/server/utilities/completion#completion-results",
	},
	{
		ID: "complete-ref", Signal: Invalid, Level: Must, on: onRequest, methods: []string{mcp.Complete}, check: completeRef,
		Title: "A completion does not say what is to be completed",
		Help:  "ref is a ref/prompt with a name, or a ref/resource with a uri.",
		Fix:   "Send one of the two.",
		Spec:  "2026-07-28/schema#completerequestparams",
	},
	{
		ID: "complete-hasmore", Signal: Info, Level: Note, on: onResult, methods: []string{mcp.Complete}, check: completeHasMore,
		Title: "total and hasMore of a completion contradict the values",
		Help:  "Clients show a wrong number of choices.",
		Fix:   "total is the number of all matches, hasMore says that the values are not all.",
		Spec:  "2026-07-28/server/utilities/completion#completion-results",
	},
	{
		ID: "complete-context-early", Signal: Info, Level: Note, Revisions: R1 | R2, on: onRequest, methods: []string{mcp.Complete}, check: completeContext,
		Title: "context of a completion in a revision that does not have it",
		Help:  "Servers of that revision ignore it.",
		Fix:   "Negotiate 2025-06-18 or later.",
		Spec:  "2025-06-18/changelog",
	},
}

func promptMessages(c *ctx) {
	list := c.result.get("messages")
	if !c.complete() {
		return
	}
	if !list.isArray() {
		c.hitAt("/result/messages", "messages is %s; want an array", show(list))
	}
	for _, m := range list.each() {
		if r := m.get("role"); !r.is("user") && !r.is("assistant") {
			c.hit(m, "the role is %s; want user or assistant", show(r))
		}
		if b := m.get("content"); !b.isObject() {
			c.hit(m, "content is %s; want one block", show(b))
		}
	}
}

func promptArguments(c *ctx) {
	v := c.params.get("arguments")
	if v.ok() && !v.isObject() {
		c.hit(v, "the arguments are %s; want an object", show(v))
	}
	for _, a := range v.each() {
		if v.isObject() && !a.isString() {
			c.hit(a, "the argument %s is %s; want a string", quote(a.key()), show(a))
		}
	}
}

func promptDefinitions(c *ctx) {
	for _, p := range c.result.get("prompts").each() {
		if v := p.get("name"); !v.isString() {
			c.hit(p, "the name is %s; want a string", show(v))
		}
		args := p.get("arguments")
		if args.ok() && !args.isArray() {
			c.hit(args, "arguments is %s; want an array of objects with a name", show(args))
			continue
		}
		for _, a := range args.each() {
			if !a.get("name").isString() {
				c.hit(a, "an argument has no name: %s", show(a))
			}
		}
	}
}

func resourceDefinitions(c *ctx) {
	for _, r := range c.result.get("resources").each() {
		for _, k := range [...]string{"uri", "name"} {
			if v := r.get(k); !v.isString() {
				c.hit(r, "%s is %s; want a string", k, show(v))
			}
		}
	}
}

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// isURI reports whether s is an absolute URI (RFC 3986), as far as characters
// and escapes tell.
func isURI(s string) bool {
	if !scheme.MatchString(s) || strings.ContainsAny(s, " \\<>\"{}|^`") {
		return false
	}
	_, err := url.Parse(s)
	return err == nil
}

func resourceURI(c *ctx) {
	for _, name := range [...]string{"resources", "contents"} {
		for _, r := range c.result.get(name).each() {
			if v := r.get("uri"); v.isString() && !isURI(v.str()) && !marked(v) {
				c.hit(v, "the uri is %s", show(v))
			}
		}
	}
}

func resourceTemplates(c *ctx) {
	for _, r := range c.result.get("resourceTemplates").each() {
		v := r.get("uriTemplate")
		if !r.get("name").isString() {
			c.hit(r, "the name is %s; want a string", show(r.get("name")))
		}
		if _, err := uritemplate.New(v.str()); !v.isString() || err != nil && !marked(v) {
			c.hit(r, "uriTemplate is %s", show(v))
		}
	}
}

func resourceHTTPS(c *ctx) {
	if strings.HasPrefix(c.tool, "https://") && c.complete() {
		c.hitAt("", "%s was read through the server", quote(c.tool))
	}
}

func readContents(c *ctx) {
	if !c.complete() {
		return
	}
	list := c.result.get("contents")
	if !list.isArray() {
		c.hitAt("/result/contents", "contents is %s; want an array", show(list))
		return
	}
	for _, r := range list.each() {
		text, blob := r.get("text"), r.get("blob")
		switch {
		case !r.get("uri").isString():
			c.hit(r, "the uri is %s; want a string", show(r.get("uri")))
		case text.ok() == blob.ok() || text.ok() && !text.isString() || blob.ok() && !blob.isString():
			c.hit(r, "want exactly one of text and blob, as a string")
		}
	}
}

// readEmpty needs the whole list of resources, and no template: otherwise the
// resource may exist.
func readEmpty(c *ctx) {
	l := &c.e.listed
	v := c.result.get("contents")
	if !c.complete() || !v.isArray() || v.len() > 0 || !l.complete || !l.templates || l.uris[hashText(c.tool)] {
		return
	}
	c.hit(v, "%s is in no list, and its contents are empty", quote(c.tool))
}

func readDiffers(c *ctx) {
	list := c.result.get("contents")
	if c.req == nil || c.tool == "" || list.len() == 0 {
		return
	}
	for _, r := range list.each() {
		if r.get("uri").is(c.tool) || !r.get("uri").isString() {
			return
		}
	}
	c.hit(list, "%s was asked for", quote(c.tool))
}

func readTraversal(c *ctx) {
	rest, ok := strings.CutPrefix(strings.ToLower(c.tool), "file:")
	if !ok || !c.complete() {
		return
	}
	for seg := range strings.SplitSeq(strings.ReplaceAll(rest, "%2e", "."), "/") {
		if seg == ".." {
			c.hitAt("", "%s was answered with contents", quote(c.tool))
			return
		}
	}
}

func completeValues(c *ctx) {
	list := c.result.at("completion", "values")
	if !c.complete() {
		return
	}
	if !list.isArray() {
		c.hitAt("/result/completion/values", "values is %s; want an array of strings", show(list))
		return
	}
	if n := list.len(); n > 100 {
		c.hit(list, "%d values; at most 100 are allowed", n)
	}
	for _, v := range list.each() {
		if !v.isString() {
			c.hit(list, "a value is %s; want a string", show(v))
			return
		}
	}
}

func completeRef(c *ctx) {
	r := c.params.get("ref")
	prompt := r.get("type").is("ref/prompt") && r.get("name").isString()
	resource := r.get("type").is("ref/resource") && r.get("uri").isString()
	if !prompt && !resource {
		c.hitAt("/params/ref", "ref is %s", show(r))
	}
}

func completeHasMore(c *ctx) {
	v := c.result.get("completion")
	total, ok := v.get("total").num()
	n := float64(v.get("values").len())
	if !ok {
		return
	}
	if more := v.get("hasMore"); total < n || more.typ() == wire.Bool && !more.isTrue() && total > n {
		c.hit(v, "total %s, hasMore %s, %d values", show(v.get("total")), show(more), int(n))
	}
}

func completeContext(c *ctx) {
	if v := c.params.get("context"); v.ok() {
		c.hit(v, "context is new in 2025-06-18")
	}
}
