package checks

import (
	"slices"
	"strings"
	"sync"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// Rule is one entry of the table of rules.
type Rule struct {
	ID         string
	Signal     Signal
	Level      Level
	Revisions  Revisions  // it holds in these; 0 stands for all
	Transports Transports // 0 stands for both
	Title      string     // what is wrong, in one line
	Help       string     // why it matters
	Fix        string     // what to change
	Spec       string     // link to the section that it is read from; "" for none

	on      trigger
	methods []string // of the request, also on its answer; nil for any
	check   func(*ctx)
	strict  bool // it counts only for a client whose limit it is
}

// trigger is a set of occasions on which rules are run.
type trigger uint32

const (
	onGap          trigger = 1 << iota // frames are missing before this line
	onCut                              // the copy of a frame was cut
	onProblem                          // a line of the log that cannot be read
	onText                             // a stdio line that is not JSON
	onBytes                            // a frame that is not UTF-8
	onJSON                             // any JSON on a message channel, also what is no message
	onMessage                          // a JSON-RPC message
	onRequest                          // a request
	onNotification                     // a notification
	onResult                           // a response with a result
	onError                            // a response with an error
	onOutcome                          // a response, be its copy whole or cut
	onHTTPRequest                      // the line of an HTTP request
	onHTTPResponse                     // the line of an HTTP response that has the status
	onEvent                            // a server-sent event
	onStreamEnd                        // the end of an event stream
	onMeta                             // a _meta object
	onCaps                             // a capabilities object
	onBlock                            // a content block
	onTool                             // a tool definition
	onInput                            // an entry of inputRequests
	onIcons                            // what has icons: a tool, a prompt, a resource, an implementation
	onElicit                           // the parameters of an elicitation, asked for either way
	onElicited                         // the result of one
	onSample                           // the parameters of sampling, asked for either way
	onSampled                          // the result of it
	onRoots                            // the list of roots
	onTask                             // a task object
	onShape                            // a message, when all that is known of it has been said
	onEnd                              // the end of the session
	triggers       = iota

	onResponse = onResult | onError
	onCall     = onRequest | onNotification
)

// section is a part of the table; one file each.
type section struct {
	title string
	rules []Rule
}

// all is the table.
func all() []section {
	return []section{
		{"What happened, and holes in the record", logRules},
		{"Framing and JSON", framingRules},
		{"Messages and requests", jsonrpcRules},
		{"Responses", responseRules},
		{"Batches", batchRules},
		{"The handshake, up to 2025-11-25", lifecycleRules},
		{"Metadata of requests and results, from 2026-07-28 on", metaRules},
		{"Versions and discovery, from 2026-07-28 on", versioningRules},
		{"Capabilities and extensions", capsRules},
		{"HTTP requests", httpRules},
		{"Routing headers, from 2026-07-28 on", routingRules},
		{"HTTP responses", httpAnswerRules},
		{"Sessions of the transport", sessionRules},
		{"Event streams", sseRules},
		{"Authorization", slices.Concat(authRules, authTokenRules, authDocRules)},
		{"Loops", loopRules},
		{"Error codes", errorRules},
		{"Tool definitions and their schemas", slices.Concat(toolRules, toolDefRules, dialectRules, iconRules)},
		{"Tool calls and results", callRules},
		{"Content blocks", blockRules},
		{"Prompts, resources and completion", featureRules},
		{"Progress, cancellation and subscriptions", slices.Concat(noteRules, progressRules, subRules)},
		{"Log messages", loggingRules},
		{"Input that a server asks for", mrtrRules},
		{"Elicitation", slices.Concat(elicitRules, elicitURLRules)},
		{"Sampling and roots", samplingRules},
		{"Lists, tasks and what is deprecated", listRules},
		{"Pages, caching and extensions", slices.Concat(cacheRules, cacheVaryRules)},
		{"Tasks", slices.Concat(taskRules, taskFlowRules)},
		{"What clients handle badly", lintRules},
		{"Drift, and what else to look at before a tool is trusted", driftRules},
	}
}

const specSite = "https://modelcontextprotocol.io/specification/"

// specLink makes the whole link of what stands in the table: the path of a
// page with its revision, or a whole URL.
func specLink(s string) string {
	if s == "" || strings.Contains(s, "://") {
		return s
	}
	page, anchor, _ := strings.Cut(s, "#")
	page = strings.TrimSuffix(page, "/index")
	if anchor != "" {
		page += "#" + anchor
	}
	return specSite + page
}

// Rules lists every rule that is built in, by id. The caller does not change it.
func Rules() []Rule { return theCatalogue().rules }

// Find returns the rule of that id.
func Find(id string) (*Rule, bool) {
	r := theCatalogue().byID[id]
	return r, r != nil
}

// catalogue is the table made ready for dispatch: for each occasion and method
// the rules that can apply.
type catalogue struct {
	rules  []Rule
	byID   map[string]*Rule
	runs   [triggers][][]*Rule // by method number; 0 is any method that is not known
	method map[string]int
}

// theCatalogue is built at its first use and never changes.
var theCatalogue = sync.OnceValue(func() *catalogue { return newCatalogue(all()) })

func newCatalogue(sections []section) *catalogue {
	c := &catalogue{byID: map[string]*Rule{}, method: map[string]int{}}
	for _, s := range sections {
		c.rules = append(c.rules, s.rules...)
	}
	slices.SortFunc(c.rules, func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
	methods := mcp.Methods()
	for i := range methods {
		c.method[methods[i].Name] = i + 1
	}
	for t := range c.runs {
		c.runs[t] = make([][]*Rule, len(methods)+1)
	}
	for i := range c.rules {
		r := &c.rules[i]
		if r.Revisions == 0 {
			r.Revisions = AnyRev
		}
		if r.Transports == 0 {
			r.Transports = AnyTransport
		}
		r.Spec = specLink(r.Spec)
		c.byID[r.ID] = r
		c.schedule(r)
	}
	return c
}

// schedule puts a rule where it can apply.
func (c *catalogue) schedule(r *Rule) {
	for t := range c.runs {
		if r.on&(1<<t) == 0 {
			continue
		}
		for m := range c.runs[t] {
			if r.methods == nil || m > 0 && slices.Contains(r.methods, mcp.Methods()[m-1].Name) {
				c.runs[t][m] = append(c.runs[t][m], r)
			}
		}
	}
}
