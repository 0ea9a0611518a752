package mcp

// Sides may send a message.
type Sides uint8

// Who may send a message.
const (
	ByClient Sides = 1 << iota
	ByServer
	ByBoth = ByClient | ByServer
)

// Method is one entry of the method inventory.
type Method struct {
	Name         string
	Notification bool
	Sides        Sides
	From, To     Revision // first and last revision that has it; To "" means still there
	Target       string   // member of params that names what is addressed: name, uri, taskId
}

// Method names that code refers to.
const (
	Initialize       = "initialize"
	Initialized      = "notifications/initialized"
	Ping             = "ping"
	Discover         = "server/discover"
	ToolsList        = "tools/list"
	ToolsCall        = "tools/call"
	PromptsList      = "prompts/list"
	PromptsGet       = "prompts/get"
	ResourcesList    = "resources/list"
	TemplatesList    = "resources/templates/list"
	ResourcesRead    = "resources/read"
	Complete         = "completion/complete"
	Subscribe        = "resources/subscribe"
	Unsubscribe      = "resources/unsubscribe"
	SetLevel         = "logging/setLevel"
	Listen           = "subscriptions/listen"
	CreateMessage    = "sampling/createMessage"
	RootsList        = "roots/list"
	Elicit           = "elicitation/create"
	TasksGet         = "tasks/get"
	TasksResult      = "tasks/result"
	TasksList        = "tasks/list"
	TasksCancel      = "tasks/cancel"
	TasksUpdate      = "tasks/update"
	CancelledNote    = "notifications/cancelled"
	ProgressNote     = "notifications/progress"
	LogNote          = "notifications/message"
	ToolsChanged     = "notifications/tools/list_changed"
	PromptsChanged   = "notifications/prompts/list_changed"
	ResourcesChanged = "notifications/resources/list_changed"
	ResourceUpdated  = "notifications/resources/updated"
	RootsChanged     = "notifications/roots/list_changed"
	ElicitComplete   = "notifications/elicitation/complete"
	TaskStatus       = "notifications/tasks/status"
	TasksNote        = "notifications/tasks"
	Acknowledged     = "notifications/subscriptions/acknowledged"
)

// methods is the inventory of all revisions (schema.ts of each).
var methods = []Method{
	{Name: Initialize, Sides: ByClient, From: R1, To: R4},
	{Name: Initialized, Notification: true, Sides: ByClient, From: R1, To: R4},
	{Name: Ping, Sides: ByBoth, From: R1, To: R4},
	{Name: Discover, Sides: ByClient, From: R5},
	{Name: ToolsList, Sides: ByClient, From: R1},
	{Name: ToolsCall, Sides: ByClient, From: R1, Target: "name"},
	{Name: PromptsList, Sides: ByClient, From: R1},
	{Name: PromptsGet, Sides: ByClient, From: R1, Target: "name"},
	{Name: ResourcesList, Sides: ByClient, From: R1},
	{Name: TemplatesList, Sides: ByClient, From: R1},
	{Name: ResourcesRead, Sides: ByClient, From: R1, Target: "uri"},
	{Name: Complete, Sides: ByClient, From: R1},
	{Name: Subscribe, Sides: ByClient, From: R1, To: R4, Target: "uri"},
	{Name: Unsubscribe, Sides: ByClient, From: R1, To: R4, Target: "uri"},
	{Name: SetLevel, Sides: ByClient, From: R1, To: R4},
	{Name: Listen, Sides: ByClient, From: R5},
	{Name: CreateMessage, Sides: ByServer, From: R1, To: R4},
	{Name: RootsList, Sides: ByServer, From: R1, To: R4},
	{Name: Elicit, Sides: ByServer, From: R3, To: R4},
	{Name: TasksGet, Sides: ByBoth, From: R4, Target: "taskId"},
	{Name: TasksResult, Sides: ByBoth, From: R4, To: R4, Target: "taskId"},
	{Name: TasksList, Sides: ByBoth, From: R4, To: R4},
	{Name: TasksCancel, Sides: ByBoth, From: R4, Target: "taskId"},
	{Name: TasksUpdate, Sides: ByClient, From: R5, Target: "taskId"},
	{Name: CancelledNote, Notification: true, Sides: ByBoth, From: R1},
	{Name: ProgressNote, Notification: true, Sides: ByBoth, From: R1},
	{Name: LogNote, Notification: true, Sides: ByServer, From: R1},
	{Name: ToolsChanged, Notification: true, Sides: ByServer, From: R1},
	{Name: PromptsChanged, Notification: true, Sides: ByServer, From: R1},
	{Name: ResourcesChanged, Notification: true, Sides: ByServer, From: R1},
	{Name: ResourceUpdated, Notification: true, Sides: ByServer, From: R1, Target: "uri"},
	{Name: RootsChanged, Notification: true, Sides: ByClient, From: R1, To: R4},
	{Name: ElicitComplete, Notification: true, Sides: ByServer, From: R4, To: R4},
	{Name: TaskStatus, Notification: true, Sides: ByBoth, From: R4, To: R4, Target: "taskId"},
	{Name: TasksNote, Notification: true, Sides: ByServer, From: R5, Target: "taskId"},
	{Name: Acknowledged, Notification: true, Sides: ByServer, From: R5},
}

// Methods lists the method inventory. The caller does not change it.
func Methods() []Method { return methods }

// LookupMethod finds a method by its exact name.
func LookupMethod[S ~string | ~[]byte](name S) (*Method, bool) {
	for i := range methods {
		if methods[i].Name == string(name) {
			return &methods[i], true
		}
	}
	return nil, false
}
