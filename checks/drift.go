package checks

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// describing are the methods that list what models and people read.
var describing = []string{mcp.ToolsList, mcp.PromptsList, mcp.ResourcesList, mcp.TemplatesList}

// Drift: what a server offers is not what was trusted. The findings stand on
// the frame that ended the listing.
var driftRules = []Rule{
	{
		ID: "tool-drift-added", Signal: Drift, Level: Note, on: onEnd, check: drifted("tools", "", true),
		Title: "A tool is offered that the baseline does not have",
		Help:  "Nobody has looked at it yet.",
		Fix:   "Read its definition; then mcpsnoop baseline --accept.",
	},
	{
		ID: "tool-drift-removed", Signal: Drift, Level: Note, on: onEnd, check: drifted("tools", "", false),
		Title: "A tool of the baseline is offered no more",
		Help:  "What relied on it fails, or takes another tool in its place.",
		Fix:   "Bring it back, or mcpsnoop baseline --accept.",
	},
	{
		ID: "tool-drift-description", Signal: Drift, Level: Note, on: onEnd, check: drifted("tools", "description", false),
		Title: "The description of a tool has changed",
		Help:  "The model acts on it: a new text can be an instruction that nobody approved.",
		Fix:   "Read the new text; then mcpsnoop baseline --accept.",
	},
	{
		ID: "tool-drift-title", Signal: Drift, Level: Note, on: onEnd, check: drifted("tools", "title", false),
		Title: "The title of a tool has changed",
		Help:  "It is what the user is shown when a call is to be approved.",
		Fix:   "Read it; then mcpsnoop baseline --accept.",
	},
	{
		ID: "tool-drift-input-schema", Signal: Drift, Level: Note, on: onEnd, check: drifted("tools", "inputSchema", false),
		Title: "The inputSchema of a tool has changed",
		Help:  "Calls that were right may be refused now, or send more than before.",
		Fix:   "Look at the place named; then mcpsnoop baseline --accept.",
	},
	{
		ID: "tool-drift-output-schema", Signal: Drift, Level: Note, on: onEnd, check: drifted("tools", "outputSchema", false),
		Title: "The outputSchema of a tool has changed",
		Help:  "What reads the results may no longer understand them.",
		Fix:   "Look at the place named; then mcpsnoop baseline --accept.",
	},
	{
		ID: "tool-drift-annotations", Signal: Drift, Level: Note, on: onEnd, check: drifted("tools", "annotations", false),
		Title: "The annotations of a tool have changed",
		Help:  "A tool that was approved as reading and now destroys is how trust is abused.",
		Fix:   "Find out why; then mcpsnoop baseline --accept.",
		Spec:  "2026-07-28/schema#toolannotations",
	},
	{
		ID: "tool-drift-icons", Signal: Drift, Level: Note, on: onEnd, check: drifted("tools", "icons", false),
		Title: "The icons of a tool have changed",
		Help:  "They are part of what the user is shown.",
		Fix:   "Look at them; then mcpsnoop baseline --accept.",
	},
	{
		ID: "prompt-drift", Signal: Drift, Level: Note, on: onEnd, check: drifted("prompts", "", true),
		Title: "A prompt is not as the baseline has it",
		Help:  "Prompts go to the model as the user's own words.",
		Fix:   "Read it; then mcpsnoop baseline --accept.",
	},
	{
		ID: "resource-drift", Signal: Drift, Level: Note, on: onEnd, check: resourceDrift,
		Title: "A resource or template is described otherwise than the baseline has it",
		Help:  "Descriptions are read by models.",
		Fix:   "Read it; then mcpsnoop baseline --accept.",
	},
	{
		ID: "drift-not-verified", Signal: Drift, Level: Note, on: onEnd, check: notVerified,
		Title: "Drift was asked for, and there was nothing to verify against",
		Help:  "A first listing is trusted, not verified: it can only be compared with later ones.",
		Fix:   "Keep the folder of baselines between runs, or name it with --baseline.",
	},
	{
		ID: "definition-hidden-text", Signal: Drift, Level: Note, on: onTool | onResult, methods: describing, check: hiddenText,
		Title: "The text of a definition holds characters that nobody sees",
		Help:  "Tag characters, overrides of direction and zero-width spaces show the user one text and the model another.",
		Fix:   "Take them out; do not approve the definition before that is explained.",
	},
	{
		ID: "tool-name-shadowed", Signal: Info, Level: Note, on: onEnd, check: shadowed,
		Title: "Another server has a tool of the same name",
		Help:  "A client that does not put the server's name in front may call the wrong one.",
		Fix:   "Rename one of them, or leave one of the servers out.",
	},
}

// SetBaseline names what the session is compared with, before Finish. why, when
// not empty, says that drift was asked for and b verifies nothing. others are
// the tools of other servers, with the label of one that has it.
func (e *Engine) SetBaseline(b *Baseline, why string, others map[string]string) {
	e.baseline, e.unverified, e.others = b, why, others
}

// comparison gives the items of a kind then and now; ok says that they are to
// be compared.
func (e *Engine) comparison(kind string) (before, now Items, ok bool) {
	d := e.Definitions()
	if e.baseline == nil || d == nil || !e.baseline.Comparable(d) || e.baseline.Tracks[kind] == nil || d.Kinds[kind] == nil {
		return nil, nil, false
	}
	return e.baseline.items[kind], d.Kinds[kind], true
}

// drifted makes the function of a rule on a field of a kind. Without a field it
// is about what is there: added, and what is gone otherwise; of other kinds
// than tools it is about everything.
func drifted(kind, field string, added bool) func(*ctx) {
	return func(c *ctx) {
		before, now, ok := c.e.comparison(kind)
		if !ok {
			return
		}
		all := kind != "tools"
		for _, name := range slices.Sorted(maps.Keys(now)) {
			old, had := before[name]
			switch {
			case !had && field == "" && added:
				c.hitDrift(kind, name, "", "%s is new", quote(name))
			case had && field != "":
				c.driftField(kind, name, field, old, now[name])
			case had && all:
				for _, f := range c.e.baseline.Tracks[kind] {
					c.driftField(kind, name, f, old, now[name])
				}
			}
		}
		if field != "" || added && !all {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(before)) {
			if _, ok := now[name]; !ok {
				c.hitDrift(kind, name, "", "%s is gone", quote(name))
			}
		}
	}
}

func resourceDrift(c *ctx) {
	drifted("resources", "", true)(c)
	drifted("resourceTemplates", "", true)(c)
}

func (c *ctx) driftField(kind, name, field string, old, now Fields) {
	if old[field] == now[field] || !slices.Contains(c.e.baseline.Tracks[kind], field) {
		return
	}
	changes := diffJSON([]byte(old[field]), []byte(now[field]))
	if len(changes) == 0 {
		return
	}
	more := ""
	if len(changes) > 1 {
		more = ", and more"
	}
	c.hitDrift(kind, name, field, "%s: %s%s", field, changes[0].String(), more)
}

func (c *ctx) hitDrift(kind, name, field, format string, args ...any) {
	p := c.e.defs.at[kind]
	p.tool = clip(name, maxSubjectLen)
	path := ""
	if field != "" {
		path = "/" + field
	}
	c.hitPos(p, path, format, args...)
}

func notVerified(c *ctx) {
	if why := c.e.unverified; why != "" {
		c.hitAt("", "%s", why)
	}
}

// describers are the lists whose entries models and people read, besides that
// of tools.
var describers = map[string]string{mcp.PromptsList: "prompts", mcp.ResourcesList: "resources", mcp.TemplatesList: "resourceTemplates"}

// hiddenText looks at the texts of definitions that people approve and models
// read.
func hiddenText(c *ctx) {
	if list, ok := describers[c.method]; ok {
		for _, d := range c.result.get(list).each() {
			c.noHidden(d, "name", "title", "description")
			for _, a := range d.get("arguments").each() {
				c.noHidden(a, "name", "title", "description")
			}
		}
		return
	}
	if !c.item.ok() {
		return
	}
	c.noHidden(c.item, "name", "title", "description")
	c.noHidden(c.item.get("annotations"), "title")
	for _, k := range [...]string{"inputSchema", "outputSchema"} {
		subschemas(c.item.get(k), true, 0, func(s val, _ bool) { c.noHidden(s, "title", "description") })
	}
}

func (c *ctx) noHidden(v val, members ...string) {
	for _, k := range members {
		if m := v.get(k); m.isString() && mayHide(m.raw()) {
			if r, ok := hiddenRune(m.str()); ok {
				c.hit(m, "U+%04X stands in the %s", r, k)
			}
		}
	}
}

// mayHide reports whether a text has anything but plain characters.
func mayHide(raw []byte) bool {
	for _, b := range raw {
		if b >= 0x80 || b == '\\' {
			return true
		}
	}
	return false
}

// hiddenRune finds a character that shows nothing and can only hide: not the
// joiners and marks of direction that scripts and emoji need.
func hiddenRune(s string) (rune, bool) {
	flag := false
	for _, r := range s {
		switch {
		case r == 0x1F3F4: // a flag whose region follows in tag characters
			flag = true
			continue
		case r >= 0xE0020 && r <= 0xE007F && flag:
			continue
		case r >= 0xE0000 && r <= 0xE007F, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200B, r >= 0x2060 && r <= 0x2064, r == 0x1B, r == 0x08:
			return r, true
		}
		flag = false
	}
	return 0, false
}

func shadowed(c *ctx) {
	d := c.e.Definitions()
	if d == nil || len(c.e.others) == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(d.Kinds["tools"])) {
		if label, ok := c.e.others[name]; ok {
			c.hitDrift("tools", name, "", "%s has a tool called %s too", quote(label), quote(strings.Clone(name)))
		}
	}
}

// canonicalText is a value in canonical form, marks of redaction made equal.
func canonicalText(v []byte) string { return plainMarks(wire.AppendCanonical(nil, v)) }
