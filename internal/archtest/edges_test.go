package archtest

// The rooms of the house from the ground up: a package may only import packages of a lower floor, and of those only
// the ones that edges lists. Packages that do not exist yet may stand here; packages that exist must.
var floors = [][]string{
	{"internal/wire", "internal/mcp", "internal/clientconf", "internal/demo", "internal/filterfile", "internal/archtest"},
	{"internal/redact"},
	{"internal/capture"},
	{"store", "internal/trash"},
	{"checks", "internal/otlp", "internal/play"},
	{"internal/otlp/sink"},
	{"export/web"},
	{"export", "internal/share"},
	{"internal/tui", "internal/stream", "internal/selfserve"},
	{"shim", "httpproxy", "hub", "hub/metrics", "sshui", "remote"},
	{"cmd/mcpsnoop/cli"},
	{"cmd/mcpsnoop"},
}

// edges says who may import whom, and what for. An import that is not here is a failure: add it with its reason, or
// turn the dependency round by an interface where it is used.
var edges = map[string]map[string]string{
	"internal/redact": {
		"internal/wire": "walks JSON in place, so that bytes outside the redacted places stay as they are",
		"internal/mcp":  "knows protocol tokens, cursors and schemas, which are spared",
	},
	"internal/capture": {
		"internal/wire":   "a record is made of a frame, and lines are cut by the same splitter on both sides",
		"internal/redact": "redaction comes before the write, so the one writer of logs does it",
	},
	"internal/trash": {
		"internal/capture": "which files a log consists of, and whether somebody writes it",
	},
	"store": {
		"internal/capture": "the index is built from records, and bodies are read back from the log by position",
		"internal/redact":  "marks of redaction are equal to each other wherever values are compared",
		"internal/mcp":     "methods, revisions and metadata keys decide what belongs to one operation",
		"internal/wire":    "calls are paired by wire.ID, which keeps types and digits",
	},
	"checks": {
		"store":            "rules read operations and frames through the reader of the store",
		"internal/capture": "findings on the log itself: torn lines, gaps, cut frames",
		"internal/redact":  "a rule never judges a mark",
		"internal/mcp":     "rules are stated in terms of methods, revisions and headers",
		"internal/wire":    "strict reading of a body is the walk over JSON that made the frame",
	},
	"internal/otlp": {
		"internal/capture": "the caller's trace and the text of an error stand in the bodies of frames",
		"store":            "spans, metrics and logs are made of operations",
		"internal/mcp":     "attribute values are methods, revisions and error codes",
		"internal/wire":    "ids in attributes keep their JSON text",
	},
	"internal/otlp/sink": {
		"internal/otlp":    "what is sent are the spans that the export writes",
		"store":            "looks at sessions until their operations are done",
		"internal/capture": "the bodies of frames that are sent as logs",
		"internal/mcp":     "a session begins with initialize",
	},
	"internal/play": {
		"store":            "what is replayed or answered are the operations of a session",
		"internal/capture": "sessions are read from, and replays recorded to, logs",
		"internal/redact":  "answers are compared with marks taken as equal",
		"internal/mcp":     "which calls may be replayed is a fact of the protocol",
		"internal/wire":    "messages are framed as they were",
	},
	"export/web": {
		"store":         "the page holds operations and frames",
		"internal/mcp":  "names of methods and revisions on the page",
		"internal/wire": "bodies are shown from their raw bytes",
	},
	"export": {
		"store":            "every format is written from the reader of the store",
		"checks":           "the page and the json export carry the findings",
		"export/web":       "html is one of the formats",
		"internal/otlp":    "otlp is one of the formats",
		"internal/capture": "jsonl and tape are logs again",
		"internal/redact":  "redaction flags of an export, and its check for secrets that are left",
		"internal/mcp":     "authorization and headers in the json and har exports",
		"internal/wire":    "raw bytes are copied, not decoded",
	},
	"internal/share": {
		"store":            "a share is one session",
		"internal/capture": "and is kept as a log",
		"internal/redact":  "a share is redacted before it leaves",
		"export/web":       "a share is shown as a page where the hub has one",
	},
	"internal/tui": {
		"store":            "rows, filters and cursors",
		"checks":           "findings on the frame that is shown, with reason and fix",
		"export":           "saving what is shown uses the formats of export",
		"internal/capture": "the body of a frame is read from the log when it is shown",
		"internal/redact":  "what is copied or exported goes through the active redaction",
		"internal/mcp":     "names and groups of methods",
		"internal/wire":    "raw bytes of the frame that is shown",
	},
	"internal/stream": {
		"store":            "a hub streams the sessions it has",
		"internal/capture": "what is carried are logs and positions in them",
		"internal/wire":    "its lines are cut by the same bounded splitter",
	},
	"internal/selfserve": {
		"store":         "answers are read from the store",
		"checks":        "findings are one of the answers",
		"export":        "exports are another",
		"internal/mcp":  "it speaks the protocol it watches",
		"internal/wire": "and frames it the same way",
	},
	"shim": {
		"internal/capture": "writes the log",
		"internal/redact":  "takes the configured redaction to the writer",
		"internal/wire":    "cuts streams into frames",
	},
	"httpproxy": {
		"internal/capture": "writes the log",
		"internal/redact":  "covers credentials that servers send back, before the record has them",
		"internal/mcp":     "knows routing headers, revisions and the metadata documents",
		"internal/wire":    "cuts bodies and event streams into frames",
	},
	"hub": {
		"store":            "fills one store from all sources",
		"checks":           "rules run while frames arrive",
		"export":           "the web listener serves exports and the page",
		"export/web":       "the page",
		"internal/otlp":    "sends what it sees to a collector",
		"internal/share":   "keeps shares",
		"internal/stream":  "serves logs to other machines",
		"internal/capture": "follows logs",
		"internal/mcp":     "names of methods as metric labels",
		"internal/wire":    "ids in what it serves",
	},
	"hub/metrics": {
		"store":            "counts operations, frames and findings through the reader of the store",
		"internal/capture": "directions as labels, and what tells servers apart",
		"internal/mcp":     "which operations are calls of tools",
	},
	"sshui": {
		"internal/tui":    "one UI a viewer",
		"internal/stream": "the subsystem that carries logs",
		"store":           "what a viewer may see",
	},
	"remote": {
		"internal/stream":  "the far end of the line protocol",
		"internal/capture": "mirrors logs, also over SFTP",
		"store":            "what is mirrored shows up as sessions with an origin",
	},
	"cmd/mcpsnoop": {
		"cmd/mcpsnoop/cli": "main is three lines",
	},
}

// top may import every package below it: it is where things are put together.
const top = "cmd/mcpsnoop/cli"

// notForTop says what even the top leaves alone.
var notForTop = map[string]string{
	"internal/archtest": "it is a test",
}

// mayNot are imports that are forbidden whatever the way: the package must not depend on them through others either.
// A path stands for itself and everything below it.
var mayNot = []struct{ pkg, dep, reason string }{
	{"internal/tui", ours + "hub", "the same UI runs where there is no hub"},
	{"internal/tui", ours + "sshui", "the UI does not know how its viewer came"},
	{"internal/tui", "charm.land/wish", "the UI does not know how its viewer came"},
	{"internal/tui", "charm.land/ssh", "the UI does not know how its viewer came"},
	{"internal/tui", "golang.org/x/crypto/ssh", "the UI does not know how its viewer came"},
	{"store", "github.com/fsnotify/fsnotify", "events of the file system are nudges for a hub; the store is told what to read"},
	{"store", "net/http", "the store has no network"},
	{"shim", "charm.land", "a shim is small: it starts with every server"},
	{"shim", "github.com/modelcontextprotocol", "what passes through must not be read with an SDK's opinion of it"},
	{"httpproxy", "github.com/modelcontextprotocol", "what passes through must not be read with an SDK's opinion of it"},
}

// notDirectly are imports that a package must not make itself; what its dependencies do is theirs.
var notDirectly = []struct{ pkg, dep, reason string }{
	{"internal/wire", "encoding/json", "too slow for the path of every frame; use go-json-experiment/json or the walk"},
	{"internal/capture", "encoding/json", "too slow for the path of every frame; use go-json-experiment/json or the walk"},
}

// forbidden modules: no package of ours imports them, in tests neither, and none gets them through others.
var forbidden = []struct{ module, reason string }{
	{"github.com/charmbracelet/bubbletea", "v1 under its old path; use charm.land/bubbletea/v2"},
	{"github.com/charmbracelet/lipgloss", "v1 under its old path: two Style types that do not fit; use charm.land/lipgloss/v2"},
	{"github.com/charmbracelet/bubbles", "v1 under its old path; use charm.land/bubbles/v2"},
	{"github.com/charmbracelet/wish", "v1 under its old path; use charm.land/wish/v2"},
	{"github.com/charmbracelet/ssh", "the layer of v1: a panic in one session ends the server; use charm.land/ssh"},
	{"github.com/tidwall/gjson", "deep nesting overflows its stack and ends the process"},
	{"github.com/segmentio/encoding", "deep nesting overflows its stack and ends the process"},
}

// broughtAlong are dependencies of a forbidden module that others bring, and the packages that may have them: they
// never see bytes from outside.
var broughtAlong = map[string][]string{
	// The official go-sdk decodes with it. The demo's own client talks to the demo's own server.
	"github.com/segmentio/encoding": {"internal/demo", top, "cmd/mcpsnoop"},
}
