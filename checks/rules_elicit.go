package checks

import (
	"regexp"
	"slices"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

const (
	elicitPage = "2026-07-28/client/elicitation#elicitation-requests"
	formPage   = "2026-07-28/client/elicitation#requested-schema"
	actionPage = "2026-07-28/client/elicitation#response-actions"
)

// Elicitation: forms and their answers. URL mode is in rules_eliciturl.go.
var elicitRules = []Rule{
	{
		ID: "elicit-shape", Signal: Invalid, Level: Must, Revisions: R3Up, on: onElicit, check: elicitShape,
		Title: "An elicitation lacks its message or its requestedSchema",
		Help:  "The client has nothing to show to the user.",
		Fix:   "Send message, and for a form requestedSchema.",
		Spec:  elicitPage,
	},
	{
		ID: "elicit-mode", Signal: Invalid, Level: Must, Revisions: R4Up, on: onElicit, check: elicitMode,
		Title: "The mode of an elicitation is neither form nor url",
		Help:  "Clients refuse modes that they do not know.",
		Fix:   "Use form or url; form is what its absence stands for.",
		Spec:  elicitPage,
	},
	{
		ID: "elicit-mode-r3", Signal: Info, Level: Note, Revisions: R3, on: onElicit, check: elicitModeEarly,
		Title: "An elicitation has mode or url in a revision that has forms alone",
		Help:  "Clients of 2025-06-18 ignore both.",
		Fix:   "Use URL mode only with 2025-11-25 and later.",
		Spec:  "2025-11-25/changelog",
	},
	{
		ID: "elicit-schema-root", Signal: Warn, Level: Must, Revisions: R3Up, on: onElicit, check: elicitRoot,
		Title: "The requestedSchema of a form is not a flat object",
		Help:  "Clients build the form from type, properties and required alone.",
		Fix:   `Send {"type":"object","properties":{...},"required":[...]}.`,
		Spec:  formPage,
	},
	{
		ID: "elicit-schema-nested", Signal: Warn, Level: Must, Revisions: R3Up, on: onElicit, check: elicitNested,
		Title: "A property of a form is not a primitive",
		Help:  "Forms hold strings, numbers, booleans and choices; clients cannot show the rest.",
		Fix:   "Flatten the property.",
		Spec:  formPage,
	},
	{
		ID: "elicit-schema-format", Signal: Warn, Level: Must, Revisions: R3Up, on: onElicit, check: elicitFormat,
		Title: "A string of a form has a format that forms do not know",
		Help:  "They know email, uri, date and date-time.",
		Fix:   "Use one of the four, or leave format out.",
		Spec:  formPage,
	},
	{
		ID: "elicit-schema-extra", Signal: Info, Level: Note, Revisions: R3Up, on: onElicit, check: elicitExtra,
		Title: "A property of a form has a keyword that forms do not have",
		Help:  "Clients need not look at it, so answers may not keep to it.",
		Fix:   "Check the answer on the server.",
		Spec:  formPage,
	},
	{
		ID: "elicit-enumnames", Signal: Deprecated, Level: Note, Revisions: R4Up, on: onElicit, check: elicitEnumNames,
		Title: "enumNames is used, which will be removed",
		Help:  "It is no JSON Schema.",
		Fix:   "Use oneOf with const and title.",
		Spec:  "2026-07-28/schema#legacytitledenumschema",
	},
	{
		ID: "elicit-enumnames-length", Signal: Warn, Level: Should, Revisions: R3Up, on: onElicit, check: elicitEnumLength,
		Title: "enum and enumNames differ in length",
		Help:  "Names are shown at the wrong choices.",
		Fix:   "Give each choice a name.",
		Spec:  "2026-07-28/schema#legacytitledenumschema",
	},
	{
		ID: "elicit-default", Signal: Warn, Level: Should, Revisions: R3Up, on: onElicit, check: elicitDefault,
		Title: "The default of a form is not valid for its property",
		Help:  "The user is shown a value that the server would refuse.",
		Fix:   "Correct the default.",
		Spec:  formPage,
	},
	{
		ID: "elicit-required", Signal: Warn, Level: Should, Revisions: R3Up, on: onElicit, check: elicitRequired,
		Title: "A form requires what is no property of it",
		Help:  "Nobody can fill it in.",
		Fix:   "Correct required.",
		Spec:  formPage,
	},
	{
		ID: "elicit-sensitive", Signal: Warn, Level: Should, Revisions: R3Up, on: onElicit, check: elicitSensitive,
		Title: "A form asks for what looks like a secret",
		Help:  "Forms pass through the client and the model; secrets must not.",
		Fix:   "Use URL mode for secrets.",
		Spec:  "2026-07-28/client/elicitation#form-mode-security",
	},
	{
		ID: "elicit-link-in-form", Signal: Info, Level: Note, Revisions: R4Up, on: onElicit, check: elicitLink,
		Title: "A form has a URL in its texts",
		Help:  "Clients may make it a link that a user takes for safe.",
		Fix:   "Use URL mode.",
		Spec:  "2026-07-28/client/elicitation#safe-url-handling",
	},
	{
		ID: "elicit-result-action", Signal: Invalid, Level: Must, Revisions: R3 | R4, on: onElicited, check: elicitAction,
		Title: "The action of an elicitation result is unknown",
		Help:  "It is accept, decline or cancel; the server cannot tell what the user did.",
		Fix:   "Use one of the three.",
		Spec:  actionPage,
	},
	{
		ID: "elicit-result-content-missing", Signal: Warn, Level: Must, Revisions: R3Up, on: onElicited, check: elicitNoContent,
		Title: "An accepted form has no content",
		Help:  "The form has required members, and nothing was submitted.",
		Fix:   "Send content, or decline.",
		Spec:  actionPage,
	},
	{
		ID: "elicit-result-content-extra", Signal: Warn, Level: Should, Revisions: R3Up, on: onElicited, check: elicitMoreContent,
		Title: "An elicitation result has content that nobody submitted",
		Help:  "Content goes with an accepted form alone; what a user typed and then declined must not leave the client.",
		Fix:   "Leave content out.",
		Spec:  actionPage,
	},
	{
		ID: "elicit-result-schema", Signal: Warn, Level: Must, Revisions: R3Up, on: onElicited, check: elicitMisfit,
		Title: "The content of a form does not fit its requestedSchema",
		Help:  "The server asked for another type, range or choice, or a required member is missing.",
		Fix:   "Let the client check the form before it is sent.",
		Spec:  formPage,
	},
	{
		ID: "elicit-result-value-type", Signal: Invalid, Level: Must, Revisions: R3Up, on: onElicited, check: elicitValueType,
		Title: "A value of a form is of a type that forms do not have",
		Help:  "Values are strings, numbers and booleans, and since 2025-11-25 arrays of strings.",
		Fix:   "Flatten the value.",
		Spec:  "2026-07-28/schema#elicitresult",
	},
}

// isForm reports whether the elicitation at hand is a form.
func (c *ctx) isForm() bool {
	m := c.item.get("mode")
	return !m.ok() || m.is("form") || c.rev == R3
}

// fields gives the properties of the form at hand.
func (c *ctx) fields(yield func(p val)) {
	if !c.isForm() {
		return
	}
	for _, p := range c.item.at("requestedSchema", "properties").each() {
		yield(p)
	}
}

func elicitShape(c *ctx) {
	switch m, s := c.item.get("message"), c.item.get("requestedSchema"); {
	case !m.isString():
		c.hit(c.item, "message is %s; want a string", show(m))
	case c.isForm() && !s.isObject():
		c.hit(c.item, "requestedSchema is %s; want an object", show(s))
	}
}

func elicitMode(c *ctx) {
	if m := c.item.get("mode"); m.ok() && !m.is("form") && !m.is("url") {
		c.hit(m, "the mode is %s", show(m))
	}
}

func elicitModeEarly(c *ctx) {
	if c.item.get("mode").ok() || c.item.get("url").ok() {
		c.hit(c.item, "the elicitation has mode or url")
	}
}

var formKeywords = []string{"oneOf", "anyOf", "allOf", "not", "if", "$ref", "$defs", "definitions", "patternProperties", "dependentSchemas", "items"}

func elicitRoot(c *ctx) {
	s := c.item.get("requestedSchema")
	if !c.isForm() || !s.isObject() {
		return
	}
	if !s.get("type").is("object") || !s.get("properties").isObject() {
		c.hit(s, "the root has not type object and properties")
		return
	}
	for _, v := range s.each() {
		if k := v.key(); slices.Contains(formKeywords, k) {
			c.hit(v, "%s at the root of a form", k)
		}
	}
}

func elicitNested(c *ctx) {
	c.fields(func(p val) {
		t := p.get("type")
		items := p.get("items")
		switch {
		case !p.isObject():
			c.hit(p, "the property is %s; want an object", show(p))
		case t.is("object"), t.is("null"), t.isArray():
			c.hit(p, "the type is %s", show(t))
		case t.is("array") && (c.rev == R3 || !items.get("enum").ok() && !items.get("anyOf").ok()):
			c.hit(p, "an array that is no choice of several")
		case p.get("$ref").ok(), p.get("anyOf").ok(), p.get("allOf").ok():
			c.hit(p, "the property is put together from schemas")
		}
	})
}

func elicitFormat(c *ctx) {
	c.fields(func(p val) {
		switch f := p.get("format"); f.str() {
		case "", "email", "uri", "date", "date-time":
		default:
			if p.get("type").is("string") {
				c.hit(f, "the format is %s", show(f))
			}
		}
	})
}

var formExtras = []string{"pattern", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "contains"}

func elicitExtra(c *ctx) {
	c.fields(func(p val) {
		for _, k := range formExtras {
			if v := p.get(k); v.ok() {
				c.hit(v, "%s", k)
			}
		}
	})
}

func elicitEnumNames(c *ctx) {
	c.fields(func(p val) {
		if v := p.get("enumNames"); v.ok() {
			c.hit(v, "enumNames is used")
		}
	})
}

func elicitEnumLength(c *ctx) {
	c.fields(func(p val) {
		if e, n := p.get("enum"), p.get("enumNames"); e.isArray() && n.isArray() && e.len() != n.len() {
			c.hit(n, "%d names for %d choices", n.len(), e.len())
		}
	})
}

func elicitDefault(c *ctx) {
	c.fields(func(p val) {
		if d := p.get("default"); d.ok() {
			if f := primitiveFault(p, d); f != "" {
				c.hit(d, "the default is %s; %s", show(d), f)
			}
		}
	})
}

func elicitRequired(c *ctx) {
	s := c.item.get("requestedSchema")
	props := s.get("properties")
	for _, r := range s.get("required").each() {
		if c.isForm() && r.isString() && props.isObject() && !props.get(r.str()).ok() {
			c.hit(r, "%s is required and is no property", show(r))
		}
	}
}

func elicitSensitive(c *ctx) {
	c.fields(func(p val) {
		if k := p.key(); !p.get("type").is("boolean") && (sensitive(k) || sensitive(p.get("title").str())) {
			c.hit(p, "the form asks for %s", quote(k))
		}
	})
}

var webLink = regexp.MustCompile(`(?i)\bhttps?://[^\s"<>]`)

func elicitLink(c *ctx) {
	if m := c.item.get("message"); c.isForm() && webLink.MatchString(m.str()) {
		c.hit(m, "the message has a URL")
	}
	c.fields(func(p val) {
		if d := p.get("description"); webLink.MatchString(d.str()) {
			c.hit(d, "the description has a URL")
		}
	})
}

func elicitAction(c *ctx) {
	if a := c.item.get("action"); !a.is("accept") && !a.is("decline") && !a.is("cancel") {
		c.hit(c.item, "the action is %s", show(a))
	}
}

func elicitNoContent(c *ctx) {
	if !c.q.url && c.q.required && c.item.get("action").is("accept") && !c.item.get("content").ok() {
		c.hit(c.item, "accept without content")
	}
}

func elicitMoreContent(c *ctx) {
	v, a := c.item.get("content"), c.item.get("action")
	if v.len() == 0 {
		return
	}
	switch {
	case a.is("decline"), a.is("cancel"):
		c.hit(v, "content on %s", a.str())
	case c.q.url && a.is("accept"):
		c.hit(v, "content for an elicitation in URL mode")
	}
}

func elicitMisfit(c *ctx) {
	content := c.item.get("content")
	if c.q.url || c.q.schema == nil || !c.item.get("action").is("accept") || !content.isObject() {
		return
	}
	t := &tree{}
	if !t.parse(c.q.schema) {
		return
	}
	s := t.root()
	for _, r := range s.get("required").each() {
		if r.isString() && !content.get(r.str()).ok() {
			c.hit(content, "%s is required and missing", show(r))
		}
	}
	props := s.get("properties")
	for _, v := range content.each() {
		if p := props.get(v.key()); p.isObject() {
			if f := primitiveFault(p, v); f != "" {
				c.hit(v, "the value is %s; %s", show(v), f)
			}
		}
	}
}

func elicitValueType(c *ctx) {
	for _, v := range c.item.get("content").each() {
		bad := v.isObject() || v.isNull() || v.isArray() && c.rev == R3
		for _, e := range v.each() {
			bad = bad || !e.isString()
		}
		if bad {
			c.hit(v, "the value is %s", show(v))
		}
	}
}

// elicitMethods are where ids of elicitations are spoken of.
var elicitMethods = []string{mcp.ElicitComplete}
