package mcp

// Metadata keys of params._meta and result._meta (2026-07-28, basic/index#_meta).
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo   = "io.modelcontextprotocol/clientInfo"
	MetaClientCaps   = "io.modelcontextprotocol/clientCapabilities"
	MetaServerInfo   = "io.modelcontextprotocol/serverInfo"
	MetaSubscription = "io.modelcontextprotocol/subscriptionId"
	MetaLogLevel     = "io.modelcontextprotocol/logLevel"
	MetaRelatedTask  = "io.modelcontextprotocol/related-task" // 2025-11-25, basic/utilities/tasks
	TasksExtension   = "io.modelcontextprotocol/tasks"
)

// Values of resultType (2026-07-28, basic/index#responses; the tasks extension adds the last).
const (
	ResultComplete      = "complete"
	ResultInputRequired = "input_required"
	ResultTask          = "task"
)

// inputMethods are those that may answer with input_required and be retried
// (2026-07-28, basic/patterns/mrtr#supported-requests).
var inputMethods = []string{ToolsCall, PromptsGet, ResourcesRead}

// AsksForInput reports whether a method may answer with input_required.
func AsksForInput(method string) bool {
	for _, m := range inputMethods {
		if m == method {
			return true
		}
	}
	return false
}
