package checks

import (
	"bytes"
	"slices"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// question is what is remembered of a question of the server (elicitation,
// sampling), to judge the answer by.
type question struct {
	url      bool   // elicitation in URL mode
	required bool   // the form has required members
	schema   []byte // of the form
	choice   string // mode of toolChoice
	rev      Revisions
}

// maxForm is the longest requestedSchema that is kept.
const maxForm = 64 << 10

// questionOf reads a question; nil for other methods.
func questionOf(method string, params val, rev Revisions) *question {
	switch method {
	case mcp.Elicit:
		s := params.get("requestedSchema")
		q := &question{url: params.get("mode").is("url"), required: s.get("required").len() > 0, rev: rev}
		if s.isObject() && len(s.raw()) <= maxForm && !marked(s) {
			q.schema = bytes.Clone(s.raw())
		}
		return q
	case mcp.CreateMessage:
		return &question{choice: params.at("toolChoice", "mode").str(), rev: rev}
	}
	return nil
}

// judgeQuestions runs the rules on questions and answers that are messages of
// their own, and on answers that a request brings.
func (c *ctx) judgeQuestions() {
	switch c.ev.Msg.Kind {
	case wire.Request:
		if c.s2c() {
			c.judgeQuestion(c.method, c.params)
			return
		}
		if c.rev != R5 || !mcp.AsksForInput(c.method) {
			return
		}
		v := c.params.get("inputResponses")
		if !v.isObject() {
			return
		}
		if a := c.follows(); a != nil {
			for _, k := range a.keys {
				c.judgeReply(k.q, k.method, v.get(k.key))
			}
		}
	case wire.Result:
		if c.c2s() && c.req != nil {
			c.judgeReply(c.req.q, c.method, c.result)
		}
	case wire.Notification, wire.Error, wire.Other:
	}
}

func (c *ctx) judgeQuestion(method string, params val) {
	c.item = params
	switch method {
	case mcp.Elicit:
		c.run(onElicit)
	case mcp.CreateMessage:
		c.run(onSample)
	}
}

func (c *ctx) judgeReply(q *question, method string, v val) {
	if !v.isObject() || v.get("task").isObject() {
		return // a task brings the answer later
	}
	c.item, c.q = v, q
	switch {
	case method == mcp.Elicit && q != nil:
		c.run(onElicited)
	case method == mcp.CreateMessage && q != nil:
		c.run(onSampled)
	case method == mcp.RootsList:
		c.run(onRoots)
	}
	c.q = nil
}

// elicits are the elicitations in URL mode of 2025-11-25.
type elicits struct {
	urls map[string]uint64 // hash of the URL, by elicitationId
	done map[string]bool
}

// learnElicits notes the ids of elicitations in URL mode.
func (c *ctx) learnElicits() {
	switch {
	case c.c2s() || c.rev&R4 == 0:
	case c.method == mcp.Elicit && c.ev.Msg.Kind == wire.Request:
		c.e.elicits.add(c.params)
	case c.method == mcp.ElicitComplete:
		if id := c.params.get("elicitationId").str(); id != "" && len(c.e.elicits.done) < maxInputs {
			if c.e.elicits.done == nil {
				c.e.elicits.done = map[string]bool{}
			}
			c.e.elicits.done[id] = true
		}
	case c.fail.ok() && c.code() == codeOpenURL:
		for _, e := range c.fail.at("data", "elicitations").each() {
			c.e.elicits.add(e)
		}
	}
}

func (e *elicits) add(params val) {
	id := params.get("elicitationId")
	if !id.isString() || len(id.raw()) > maxSubjectLen || len(e.urls) >= maxInputs {
		return
	}
	if e.urls == nil {
		e.urls = map[string]uint64{}
	}
	e.urls[id.str()] = hashText(params.get("url").raw())
}

// learnRoots notes how the list of roots changes.
func (c *ctx) learnRoots() {
	cl := c.cl
	switch {
	case !c.c2s():
	case c.method == mcp.RootsChanged:
		cl.roots.noticed, cl.roots.silent = true, pos{}
	case c.method == mcp.RootsList && c.result.get("roots").isArray() && !marked(c.result):
		h := uint64(0)
		for _, r := range c.result.get("roots").each() {
			k := hashText(r.get("uri").raw())
			h += k * k
		}
		if cl.roots.known && h != cl.roots.hash && !cl.roots.noticed && cl.roots.silent.seq == 0 {
			cl.roots.silent = c.pos()
		}
		cl.roots.known, cl.roots.hash, cl.roots.noticed = true, h, false
	}
}

// rootsState is what is known of the roots of a client.
type rootsState struct {
	known   bool
	hash    uint64 // of the newest list
	noticed bool   // roots/list_changed came since
	silent  pos    // a list that differed without
}

// primitiveFault says how a value does not fit a property of a form, "" when
// it fits or this cannot be told.
func primitiveFault(s, v val) string {
	if marked(s) || marked(v) {
		return ""
	}
	n, number := v.num()
	switch t := s.get("type").str(); {
	case t == "string" && !v.isString():
		return "want a string"
	case t == "boolean" && v.typ() != wire.Bool:
		return "want true or false"
	case t == "number" && !number, t == "integer" && !number:
		return "want a number"
	case t == "integer" && !v.isInt():
		return "want a whole number"
	case t == "array" && !v.isArray():
		return "want an array"
	}
	if low, ok := s.get("minimum").num(); ok && number && n < low {
		return "it is below minimum"
	}
	if high, ok := s.get("maximum").num(); ok && number && n > high {
		return "it is above maximum"
	}
	if !v.isString() {
		return ""
	}
	length := float64(len([]rune(v.str())))
	if low, ok := s.get("minLength").num(); ok && length < low {
		return "it is shorter than minLength"
	}
	if high, ok := s.get("maxLength").num(); ok && length > high {
		return "it is longer than maxLength"
	}
	if !inEnum(s, v) {
		return "it is not among the choices"
	}
	return ""
}

// inEnum reports whether a string is among the choices of a property that has
// choices.
func inEnum(s, v val) bool {
	one := s.get("oneOf")
	if e := s.get("enum"); e.isArray() {
		for _, c := range e.each() {
			if c.is(v.str()) {
				return true
			}
		}
		return false
	}
	var choices []string
	for _, o := range one.each() {
		if !o.get("const").isString() {
			return true
		}
		choices = append(choices, o.get("const").str())
	}
	return len(choices) == 0 || slices.Contains(choices, v.str())
}
