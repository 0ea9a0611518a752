package checks

import (
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// logState is what is known of the log as a whole.
type logState struct {
	meta   bool   // it has its first line: what crossed the wire first is in it
	target string // URL of the HTTP server

	fingerprint string // of the server's command or origin

	filtered bool
	lossy    bool // frames are missing
	lastSeq  uint64
	lastTS   int64
}

// whole reports whether the log holds everything since the start.
func (l *logState) whole() bool { return l.meta && !l.filtered && !l.lossy }

// client is the protocol state of one client session (store.Event.Client).
type client struct {
	legacy     bool      // an initialize was seen
	modern     bool      // a request with 2026-07-28 metadata was seen
	negotiated Revisions // from the answer to initialize; 0 when none was seen

	ids  [2]idSet // ids answered, by who asked: 0 the server, 1 the client
	said [2]bool  // has sent a frame, likewise

	shake  handshake
	server *capset // of the answer to initialize; nil when it was not seen
	client *capset // of initialize

	tokens  tokens
	listens map[wire.ID]*listen

	roots      rootsState
	lists      listState
	pages      pages
	polls      map[uint64]*poller
	logs       wantedLogs
	subs       []string          // resources that were subscribed to
	tasked     map[tokenKey]bool // requests that were answered with a task
	answered   uint64            // the newest request of the client that was answered
	walks      map[string]*walk
	cut        bool // a request was recorded cut: what it offered is not known
	resume     resumable
	session    string // hash of the session id that the server gave out
	toolsStale bool   // tools/list_changed came and the list was not read again
	defs       map[string]*defWalk
	toolCount  int // tools of the listing that is being paged through
}

// handshake is how far initialize got (lifecycle, Initialization).
type handshake struct {
	first       pos // a client message that stood before initialize
	early       bool
	asked       bool // initialize was sent and has no answer
	offer       string
	answer      string // the server's revision
	done        bool   // answered with a result
	failed      bool   // answered with an error
	initialized bool
	worked      bool // the client sent another request, and it was answered
	last        pos  // the last such request
	batch       bool

	modernOnly bool // -32022 named no revision with a handshake
	probe      int  // how server/discover was answered: error code, 0 for none
	calls      int  // messages of the client
}

// request is what is remembered of a request until it is answered.
type request struct {
	op      store.OpIndex
	frame   uint32
	seq     uint64
	ts      int64
	line    int
	segment int
	id      wire.ID
	client  bool // asked by the client
	method  string
	mi      int // number of the method in the catalogue
	tool    string
	rev     Revisions
	sure    bool
	x       *exchange
	cl      *client
	closed  int // HTTP status that ended it without an answer, or 0
	batch   bool

	cancelled bool
	cut       bool // the copy was cut: what it holds is not known

	version  string          // stated in _meta
	caps     *capset         // stated in _meta; nil when there were none
	fault    string          // the rule on routing headers that it broke
	unmeta   bool            // required metadata is missing
	token    wire.ID         // progress token
	cursor   string          // JSON text of the cursor it goes on with, "" for none
	task     bool            // asks for a task (2025-11-25)
	cacheKey uint64          // of what a public result of it may depend on
	pollKey  uint64          // of a cacheable request
	answers  map[uint64]bool // keys of inputResponses of tasks/update
	def      *toolDef
	hash     uint64 // of the arguments
	body     uint64 // of method and params, over HTTP
	badArgs  string // how its arguments do not fit the schema
	lacks    string // a required argument of a prompt that is missing
	q        *question
	level    int // of logging/setLevel, counted from 1

	cancelSeq uint64
	cancelTS  int64
	logLevel  string
	reader    uint64 // who asked, for the list of tools
	auth      string // hash of the credential
}

// exchange is what is remembered of one HTTP exchange.
type exchange struct {
	num     uint64
	verb    string // HTTP method; "" when nobody wrote it down
	guessed bool   // the log has no exchange numbers: the newest request is taken
	rev     Revisions
	sure    bool
	reqs    []*request
	notes   int  // notifications and responses in the body
	calls   bool // a notification is in the body
	answers bool // a response is in the body
	resumed bool // asked for the rest of a stream with Last-Event-ID
	status  int
	failed  bool // its status was counted

	begun    bool // a line of the request was seen
	lines    int  // lines of the response
	session  bool // the client sent a session id
	sess     string
	origin   string
	host     string
	path     string
	version  string // MCP-Protocol-Version of the request
	first    string // name of the first event
	resumeOf uint64 // exchange of the stream that it resumes, 0 when not known
	ctype    string // media type of the response, lower case, without parameters
	stream   bool   // the response is an event stream
	body     bool   // the response had a body
	done     int    // responses that came on it
	events   int
	ids      bool // an event had an id
	retry    int64
	hasPos   bool
	at       pos   // of the first line of the request
	endedTS  int64 // when the stream ended
	hasAuth  bool
}

// resumable is the newest end of a stream that asked to wait before resuming.
type resumable struct {
	retry int64 // milliseconds
	ended int64 // nanoseconds
}

// batchState is what is remembered of the frame before, to tell where an array
// of messages begins.
type batchState struct {
	on  bool
	dir capture.Direction
	ts  int64
	x   uint64
}

// pos is where the request stands.
func (r *request) pos() pos {
	return pos{seq: r.seq, line: r.line, segment: r.segment, frame: r.frame, op: r.op, hasOp: true, id: string(r.id), method: r.method, tool: r.tool}
}

func dirIndex(clientAsked bool) int {
	if clientAsked {
		return 1
	}
	return 0
}

// client returns the state of the client session of a frame.
func (e *Engine) client(i int) *client {
	if i >= maxClients {
		i = maxClients - 1
	}
	for len(e.clients) <= i {
		e.clients = append(e.clients, &client{})
	}
	return e.clients[i]
}

// exchange returns the exchange of a record, nil on stdio. A log without
// exchange numbers gets one for each request line.
func (e *Engine) exchange(rec *capture.Record) *exchange {
	if rec.Transport != capture.HTTP {
		return nil
	}
	if rec.Exchange == 0 {
		if rec.Direction == capture.C2S || e.guess == nil {
			e.guess = &exchange{guessed: true}
		}
		return e.guess
	}
	x := e.exchanges[rec.Exchange]
	if x == nil {
		x = &exchange{num: rec.Exchange}
		e.exchanges[rec.Exchange] = x
		e.order = append(e.order, rec.Exchange)
		if len(e.order) > maxExchanges {
			delete(e.exchanges, e.order[0])
			e.order = e.order[1:]
		}
	}
	return x
}

// idSet is the ids that one side has used: runs of consecutive numbers, and
// hashes of the rest.
type idSet struct {
	runs   []run
	hashes map[uint64]struct{}
	full   bool
}

type run struct{ lo, hi uint64 }

// has reports whether the id was used. It is never wrongly true but for a
// collision of 64-bit hashes.
func (s *idSet) has(id wire.ID) bool {
	if n, ok := idNumber(id); ok {
		for i := len(s.runs) - 1; i >= 0; i-- {
			if n >= s.runs[i].lo && n <= s.runs[i].hi {
				return true
			}
		}
	}
	_, ok := s.hashes[hashText(string(id))]
	return ok
}

// add notes an id, as far as there is room.
func (s *idSet) add(id wire.ID) {
	if n, ok := idNumber(id); ok {
		for i := len(s.runs) - 1; i >= 0; i-- {
			switch r := &s.runs[i]; {
			case n >= r.lo && n <= r.hi:
				return
			case n == r.hi+1:
				r.hi = n
				return
			}
		}
		if len(s.runs) < maxRuns {
			s.runs = append(s.runs, run{n, n})
			return
		}
	}
	if len(s.hashes) >= maxIDs {
		s.full = true
		return
	}
	if s.hashes == nil {
		s.hashes = map[uint64]struct{}{}
	}
	s.hashes[hashText(string(id))] = struct{}{}
}

// idNumber reads an id that is a plain whole number below 10^18.
func idNumber(id wire.ID) (uint64, bool) {
	if len(id) == 0 || len(id) > 18 {
		return 0, false
	}
	n := uint64(0)
	for i := range len(id) {
		c := id[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + uint64(c)
	}
	return n, true
}

// hashText is FNV-1a.
func hashText[S ~string | ~[]byte](s S) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// web is what is known of HTTP across all exchanges of the log.
type web struct {
	worked      map[uint64]string // requests that were answered, and on which connection
	events      map[uint64]uint64 // ids of server-sent events, and their exchange
	dead        map[string]int64  // sessions that were answered with 404, and when
	sent        map[uint64]uint64 // messages with an id on event streams, and their exchange
	oldSSE      bool              // the HTTP+SSE transport of 2024-11-05 is in use
	initialized bool              // notifications/initialized came without a session id: whose it is cannot be told
}

// listed are the resources of the newest complete list.
type listed struct {
	uris      map[uint64]bool
	walking   bool
	complete  bool
	templates bool                // the list of templates was read, and is empty
	prompts   map[string][]string // required arguments
}
