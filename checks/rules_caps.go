package checks

import (
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// What was declared against what is used (lifecycle, Capability negotiation;
// since 2026-07-28 versioning, Extension negotiation). Capabilities that were
// not seen judge nothing.
var capsRules = []Rule{
	{
		ID: "cap-server-feature-unadvertised", Signal: Warn, Level: Must, on: onResult, check: featureUnadvertised,
		Title: "The server answers methods of a feature that it did not declare",
		Help:  "Clients that go by the declaration never offer the feature.",
		Fix:   "Declare tools, prompts or resources.",
		Spec:  "2026-07-28/server/tools#capabilities",
	},
	{
		ID: "cap-client-used-unadvertised", Signal: Warn, Level: Should, Revisions: Legacy, on: onError, check: usedUnadvertised,
		Title: "The client used a feature that the server did not declare",
		Help:  "The server refused it, as its declaration had said.",
		Fix:   "Look at the server's capabilities before asking.",
		Spec:  "2025-11-25/basic/lifecycle#operation",
	},
	{
		ID: "cap-completions", Signal: Warn, Level: Must, Revisions: R2Up, on: onResult, methods: []string{mcp.Complete}, check: capCompletions,
		Title: "The server completes arguments and did not declare completions",
		Help:  "Clients that go by the declaration never ask.",
		Fix:   "Declare completions.",
		Spec:  "2026-07-28/server/utilities/completion#capabilities",
	},
	{
		ID: "cap-logging", Signal: Warn, Level: Must, on: onNotification | onResult, methods: []string{mcp.LogNote, mcp.SetLevel}, check: capLogging,
		Title: "The server sends log messages and did not declare logging",
		Help:  "Clients that go by the declaration ignore them.",
		Fix:   "Declare logging, or write to stderr.",
		Spec:  "2025-11-25/server/utilities/logging#capabilities",
	},
	{
		ID: "cap-subscribe", Signal: Warn, Level: Must, Revisions: Legacy, on: onResult, methods: []string{mcp.Subscribe}, check: capSubscribe,
		Title: "The server takes subscriptions and did not declare resources.subscribe",
		Help:  "Clients that go by the declaration never subscribe.",
		Fix:   `Declare "resources":{"subscribe":true}.`,
		Spec:  "2025-11-25/server/resources#capabilities",
	},
	{
		ID: "cap-list-changed", Signal: Warn, Level: Must, on: onNotification, methods: []string{mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged}, check: capListChanged,
		Title: "The server says that a list changed and did not declare listChanged",
		Help:  "Clients that go by the declaration do not listen, and work with the old list.",
		Fix:   `Declare "listChanged":true for the list.`,
		Spec:  "2025-11-25/server/tools#capabilities",
	},
	{
		ID: "cap-value-type", Signal: Invalid, Level: Must, on: onCaps, check: capValueType,
		Title: "A capability has a value of another type than it must have",
		Help:  "Capabilities are objects, empty when there is nothing more to say; true is not one.",
		Fix:   `Send "tools":{} instead of "tools":true.`,
		Spec:  "2026-07-28/schema#servercapabilities",
	},
	{
		ID: "cap-unknown", Signal: Info, Level: Note, on: onCaps, check: capUnknown,
		Title: "A capability that the specification does not know",
		Help:  "That is allowed; a typing error looks the same.",
		Fix:   "Compare the name with the schema.",
		Spec:  "2026-07-28/schema#servercapabilities",
	},
	{
		ID: "cap-extension-key", Signal: Warn, Level: Must, Revisions: R5, on: onCaps, check: capExtensionKey,
		Title: "The identifier of an extension has no prefix, or is malformed",
		Help:  "Without a prefix two vendors can mean different things by one name.",
		Fix:   "Use com.example/name.",
		Spec:  "2026-07-28/basic/versioning#extension-negotiation",
	},
	{
		ID: "cap-extension-value", Signal: Invalid, Level: Must, Revisions: R5, on: onCaps, check: capExtensionValue,
		Title: "The settings of an extension are not an object",
		Help:  "An empty object means no settings; true is not one.",
		Fix:   "Send {}.",
		Spec:  "2026-07-28/schema#clientcapabilities",
	},
	{
		ID: "cap-legacy-tasks-in-modern", Signal: Warn, Level: Should, Revisions: R5, on: onCaps, check: capLegacyTasks,
		Title: "The tasks capability of 2025-11-25 in a message of 2026-07-28",
		Help:  "Tasks are an extension now and work in another way on the wire.",
		Fix:   "Declare the extension io.modelcontextprotocol/tasks.",
		Spec:  "2026-07-28/changelog",
	},
	{
		ID: "cap-roots-listchanged-modern", Signal: Info, Level: Note, Revisions: R5, on: onCaps, check: capRootsListChanged,
		Title: "roots.listChanged is declared, which 2026-07-28 has removed",
		Help:  "There is no notification for it any more.",
		Fix:   "Leave it out.",
		Spec:  "2026-07-28/changelog",
	},
	{
		ID: "cap-client-sampling", Signal: Warn, Level: Must, Revisions: Legacy, on: onRequest, methods: []string{mcp.CreateMessage}, check: capSampling,
		Title: "The server asks for sampling and the client did not declare it",
		Help:  "The client refuses, and the server's work fails half way.",
		Fix:   "Look at the client's capabilities first.",
		Spec:  "2025-11-25/client/sampling#capabilities",
	},
	{
		ID: "cap-client-roots", Signal: Warn, Level: Must, Revisions: Legacy, on: onRequest, methods: []string{mcp.RootsList}, check: capRoots,
		Title: "The server asks for roots and the client did not declare them",
		Help:  "The client answers that it does not know the method.",
		Fix:   "Look at the client's capabilities first.",
		Spec:  "2025-11-25/client/roots#capabilities",
	},
	{
		ID: "cap-client-elicitation", Signal: Warn, Level: Must, Revisions: R3 | R4, on: onRequest, methods: []string{mcp.Elicit}, check: capElicitation,
		Title: "The server asks the user in a way that the client did not declare",
		Help:  "An empty elicitation capability stands for forms alone; url has to be declared.",
		Fix:   "Look at the client's capabilities first.",
		Spec:  "2025-11-25/client/elicitation#capabilities",
	},
	{
		ID: "cap-client-sampling-tools", Signal: Warn, Level: Must, Revisions: R4, on: onRequest, methods: []string{mcp.CreateMessage}, check: capSamplingTools,
		Title: "A sampling request brings tools and the client did not declare sampling.tools",
		Help:  "The client has to refuse it.",
		Fix:   "Leave tools and toolChoice out, or look at the client's capabilities first.",
		Spec:  "2025-11-25/client/sampling#capabilities",
	},
	{
		ID: "cap-client-sampling-context", Signal: Warn, Level: Should, Revisions: R4, on: onRequest, methods: []string{mcp.CreateMessage}, check: capSamplingContext,
		Title: "A sampling request asks for context and the client did not declare sampling.context",
		Help:  "The client may leave the context out.",
		Fix:   "Leave includeContext out, or send none.",
		Spec:  "2025-11-25/client/sampling#capabilities",
	},
	{
		ID: "cap-roots-changed-undeclared", Signal: Warn, Level: Must, Revisions: Legacy, on: onNotification, methods: []string{mcp.RootsChanged}, check: capRootsChanged,
		Title: "The client says that its roots changed and did not declare roots.listChanged",
		Help:  "The server need not listen.",
		Fix:   `Declare "roots":{"listChanged":true}.`,
		Spec:  "2025-11-25/client/roots#capabilities",
	},
	{
		ID: "cap-input-request-undeclared", Signal: Warn, Level: Must, Revisions: R5, on: onInput, check: capInputRequest,
		Title: "The server asks for input that the request did not declare",
		Help:  "Capabilities of the request count, not those of other requests. The client cannot give the input, so the call fails.",
		Fix:   "Answer -32021 with the capabilities that are required.",
		Spec:  "2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow",
	},
	{
		ID: "cap-task-undeclared", Signal: Warn, Level: Must, Revisions: R5, on: onResult, check: capTask,
		Title: "The server answered with a task and the request did not declare the extension",
		Help:  "The client does not know how to wait for the result.",
		Fix:   "Answer with the result itself unless io.modelcontextprotocol/tasks is declared.",
		Spec:  "https://modelcontextprotocol.io/extensions/tasks/overview",
	},
	{
		ID: "cap-task-method-undeclared", Signal: Warn, Level: Must, Revisions: R5, on: onResult, methods: []string{mcp.TasksGet, mcp.TasksUpdate, mcp.TasksCancel}, check: capTaskMethod,
		Title: "A tasks method was answered although the request did not declare the extension",
		Help:  "The server has to refuse it with -32021.",
		Fix:   "Let the client declare io.modelcontextprotocol/tasks on each of these requests.",
		Spec:  "https://modelcontextprotocol.io/extensions/tasks/overview",
	},
	{
		ID: "cap-ext-server-unadvertised", Signal: Warn, Level: Must, Revisions: R5, on: onResult, check: capExtServer,
		Title: "The server uses an extension that server/discover does not list",
		Help:  "Clients that go by discovery do not expect it.",
		Fix:   "List the extension in the capabilities.",
		Spec:  "2026-07-28/basic/versioning#extension-negotiation",
	},
}

// feature is the capability that the method belongs to.
func feature(method string) string {
	switch f, _, _ := strings.Cut(method, "/"); f {
	case "tools", "prompts", "resources":
		return f
	}
	return ""
}

func featureUnadvertised(c *ctx) {
	f := feature(c.method)
	caps := c.serverCaps()
	if !c.s2c() || f == "" || caps == nil || caps.has(f) {
		return
	}
	for _, list := range [...]string{"tools", "prompts", "resources", "resourceTemplates"} {
		if v := c.result.get(list); v.isArray() && v.len() == 0 {
			return // an empty list is how to say that there are none
		}
	}
	c.hitAt("", "%s is answered, and the capability %s is not declared", c.method, f)
}

func usedUnadvertised(c *ctx) {
	f := feature(c.method)
	if caps := c.serverCaps(); c.s2c() && f != "" && caps != nil && !caps.has(f) && c.code() == codeMethodNotFound {
		c.hitPos(c.req.pos(), "", "%s was asked, and the server had not declared %s", c.method, f)
	}
}

func capCompletions(c *ctx) {
	if caps := c.serverCaps(); c.s2c() && caps != nil && !caps.has("completions") {
		c.hitAt("", "completion/complete is answered, and completions is not declared")
	}
}

func capLogging(c *ctx) {
	if caps := c.serverCaps(); c.s2c() && caps != nil && !caps.has("logging") {
		c.hitAt("", "%s, and logging is not declared", c.method)
	}
}

func capSubscribe(c *ctx) {
	if caps := c.serverCaps(); c.s2c() && caps != nil && !caps.has("resources.subscribe") {
		c.hitAt("", "resources/subscribe is answered, and resources.subscribe is not true")
	}
}

func capListChanged(c *ctx) {
	list := strings.Split(c.method, "/")[1]
	if caps := c.serverCaps(); c.s2c() && caps != nil && !caps.has(list+".listChanged") {
		c.hitAt("", "%s, and %s.listChanged is not true", c.method, list)
	}
}

var (
	clientCaps = []string{"experimental", "roots", "sampling", "elicitation", "tasks", "extensions"}
	serverCaps = []string{"experimental", "logging", "completions", "prompts", "resources", "tools", "tasks", "extensions"}
)

// capNames are the capabilities that the schema defines for one side.
func (c *ctx) capNames() []string {
	if c.capsOfClient() {
		return clientCaps
	}
	return serverCaps
}

func capValueType(c *ctx) {
	for _, m := range c.item.each() {
		if !slices.Contains(c.capNames(), m.key()) {
			continue
		}
		if !m.isObject() {
			c.hit(m, "%s is %s; want an object", m.key(), show(m))
		}
		for _, k := range [...]string{"listChanged", "subscribe"} {
			if v := m.get(k); v.ok() && v.typ() != wire.Bool {
				c.hit(v, "%s.%s is %s; want true or false", m.key(), k, show(v))
			}
		}
	}
}

func capUnknown(c *ctx) {
	for _, m := range c.item.each() {
		if !slices.Contains(c.capNames(), m.key()) {
			c.hit(m, "%s is not in the schema", quote(m.key()))
		}
	}
}

func capExtensionKey(c *ctx) {
	for _, m := range c.item.get("extensions").each() {
		if k := m.key(); !strings.Contains(k, "/") || !legalMetaKey(k) {
			c.hit(m, "the identifier %s is not of the form prefix/name", quote(k))
		}
	}
}

func capExtensionValue(c *ctx) {
	for _, m := range c.item.get("extensions").each() {
		if !m.isObject() {
			c.hit(m, "the settings of %s are %s; want an object", quote(m.key()), show(m))
		}
	}
}

func capLegacyTasks(c *ctx) {
	if v := c.item.get("tasks"); v.ok() {
		c.hit(v, "tasks is declared at the top level")
	}
}

func capRootsListChanged(c *ctx) {
	if v := c.item.at("roots", "listChanged"); v.ok() && c.capsOfClient() {
		c.hit(v, "roots.listChanged is declared")
	}
}

// lacks reports whether the handshake was seen and the client did not declare
// a capability in it.
func (c *ctx) lacks(capability string) bool {
	return c.cl.client != nil && !c.cl.client.has(capability)
}

func capSampling(c *ctx) {
	if c.s2c() && c.lacks("sampling") {
		c.hitAt("", "sampling is not among the client's capabilities")
	}
}

func capRoots(c *ctx) {
	if c.s2c() && c.lacks("roots") {
		c.hitAt("", "roots is not among the client's capabilities")
	}
}

func capElicitation(c *ctx) {
	mode := c.params.get("mode").str()
	if mode == "" {
		mode = "form"
	}
	if c.s2c() && c.cl.client != nil && !c.cl.client.elicits(mode) {
		c.hitAt("", "the client did not declare elicitation in the mode %s", quote(mode))
	}
}

func capSamplingTools(c *ctx) {
	if c.s2c() && (c.params.get("tools").ok() || c.params.get("toolChoice").ok()) && c.lacks("sampling.tools") {
		c.hitAt("", "tools are sent, and sampling.tools is not declared")
	}
}

func capSamplingContext(c *ctx) {
	v := c.params.get("includeContext")
	if c.s2c() && (v.is("thisServer") || v.is("allServers")) && c.lacks("sampling.context") {
		c.hit(v, "includeContext is %s, and sampling.context is not declared", show(v))
	}
}

func capRootsChanged(c *ctx) {
	if c.c2s() && c.lacks("roots.listChanged") {
		c.hitAt("", "roots.listChanged is not declared")
	}
}

func capInputRequest(c *ctx) {
	if c.req == nil || c.req.cut || c.req.caps == nil {
		return
	}
	caps, need := c.req.caps, ""
	switch in := c.item; in.get("method").str() {
	case mcp.Elicit:
		mode := in.at("params", "mode").str()
		if mode == "" {
			mode = "form"
		}
		if !caps.elicits(mode) {
			need = "elicitation." + clip(mode, 20)
		}
	case mcp.CreateMessage:
		switch {
		case !caps.has("sampling"):
			need = "sampling"
		case (in.at("params", "tools").ok() || in.at("params", "toolChoice").ok()) && !caps.has("sampling.tools"):
			need = "sampling.tools"
		}
	case mcp.RootsList:
		if !caps.has("roots") {
			need = "roots"
		}
	}
	if need != "" {
		c.hit(c.item, "%s needs %s, which the request does not declare", c.item.get("method").str(), need)
	}
}

func capTask(c *ctx) {
	if c.result.get("resultType").is(mcp.ResultTask) && c.req != nil && c.req.caps != nil && !c.req.caps.extension(mcp.TasksExtension) {
		c.hitAt("/result/resultType", "the result is a task, and the request does not declare %s", mcp.TasksExtension)
	}
}

func capTaskMethod(c *ctx) {
	if c.s2c() && !c.cl.legacy && c.req != nil && c.req.caps != nil && !c.req.caps.extension(mcp.TasksExtension) {
		c.hitAt("", "%s is answered, and the request does not declare %s", c.method, mcp.TasksExtension)
	}
}

func capExtServer(c *ctx) {
	caps := c.e.peer.caps
	if c.result.get("resultType").is(mcp.ResultTask) && caps != nil && !caps.extension(mcp.TasksExtension) {
		c.hitAt("/result/resultType", "the result is a task, and server/discover does not list %s", mcp.TasksExtension)
	}
}
