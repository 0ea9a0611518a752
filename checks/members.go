package checks

import "github.com/mcpsnoop/mcpsnoop/internal/mcp"

// Members that the schema defines, for finding names that differ from them in
// letter case only (schema.ts of all revisions).

var (
	topMembers  = []string{"jsonrpc", "id", "method", "params", "result", "error"}
	metaMembers = []string{
		"progressToken", "traceparent", "tracestate", "baggage", mcp.MetaVersion, mcp.MetaClientInfo, mcp.MetaClientCaps,
		mcp.MetaServerInfo, mcp.MetaSubscription, mcp.MetaLogLevel, mcp.MetaRelatedTask,
	}
)

type methodMembers struct {
	method         string
	params, result []string
}

var definedMembers = []methodMembers{
	{mcp.Initialize, []string{"protocolVersion", "capabilities", "clientInfo", "_meta"}, []string{"protocolVersion", "capabilities", "serverInfo", "instructions", "_meta"}},
	{mcp.Discover, []string{"_meta"}, []string{"supportedVersions", "capabilities", "instructions", "ttlMs", "cacheScope", "resultType", "_meta"}},
	{mcp.ToolsCall, []string{"name", "arguments", "task", "inputResponses", "requestState", "_meta"}, []string{"content", "structuredContent", "isError", "task", "resultType", "inputRequests", "requestState", "_meta"}},
	{mcp.PromptsGet, []string{"name", "arguments", "inputResponses", "requestState", "_meta"}, []string{"description", "messages", "resultType", "inputRequests", "requestState", "_meta"}},
	{mcp.ResourcesRead, []string{"uri", "inputResponses", "requestState", "_meta"}, []string{"contents", "ttlMs", "cacheScope", "resultType", "inputRequests", "requestState", "_meta"}},
	{mcp.ToolsList, []string{"cursor", "_meta"}, []string{"tools", "nextCursor", "ttlMs", "cacheScope", "resultType", "_meta"}},
	{mcp.PromptsList, []string{"cursor", "_meta"}, []string{"prompts", "nextCursor", "ttlMs", "cacheScope", "resultType", "_meta"}},
	{mcp.ResourcesList, []string{"cursor", "_meta"}, []string{"resources", "nextCursor", "ttlMs", "cacheScope", "resultType", "_meta"}},
	{mcp.TemplatesList, []string{"cursor", "_meta"}, []string{"resourceTemplates", "nextCursor", "ttlMs", "cacheScope", "resultType", "_meta"}},
	{mcp.Complete, []string{"ref", "argument", "context", "_meta"}, []string{"completion", "resultType", "_meta"}},
	{mcp.Subscribe, []string{"uri", "_meta"}, nil},
	{mcp.Unsubscribe, []string{"uri", "_meta"}, nil},
	{mcp.SetLevel, []string{"level", "_meta"}, nil},
	{mcp.Listen, []string{"notifications", "_meta"}, nil},
	{mcp.CreateMessage, []string{"messages", "modelPreferences", "systemPrompt", "includeContext", "temperature", "maxTokens", "stopSequences", "metadata", "tools", "toolChoice", "task", "_meta"}, []string{"role", "content", "model", "stopReason", "_meta"}},
	{mcp.Elicit, []string{"mode", "message", "requestedSchema", "url", "elicitationId", "task", "_meta"}, []string{"action", "content", "_meta"}},
	{mcp.RootsList, []string{"_meta"}, []string{"roots", "_meta"}},
	{mcp.CancelledNote, []string{"requestId", "reason", "_meta"}, nil},
	{mcp.ProgressNote, []string{"progressToken", "progress", "total", "message", "_meta"}, nil},
	{mcp.LogNote, []string{"level", "logger", "data", "_meta"}, nil},
	{mcp.ResourceUpdated, []string{"uri", "_meta"}, nil},
}

func membersOf(method string) *methodMembers {
	for i := range definedMembers {
		if definedMembers[i].method == method {
			return &definedMembers[i]
		}
	}
	return &noMembers
}

var noMembers methodMembers
