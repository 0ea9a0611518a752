package checks

import (
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// logState is what is known of the log as a whole.
type logState struct {
	meta     bool   // it has its first line: what crossed the wire first is in it
	target   string // URL of the HTTP server
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

	ids  [2]idSet // ids used, by who asked: 0 the server, 1 the client
	said [2]bool  // has sent a frame, likewise
}

// request is what is remembered of a request until it is answered.
type request struct {
	op     store.OpIndex
	frame  uint32
	seq    uint64
	ts     int64
	id     wire.ID
	client bool // asked by the client
	method string
	mi     int // number of the method in the catalogue
	tool   string
	rev    Revisions
	sure   bool
	x      *exchange
	cl     *client
	closed int // HTTP status that ended it without an answer, or 0
	batch  bool

	cancelled bool
	cut       bool // the copy was cut: what it holds is not known
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
}

// batchState is what is remembered of the frame before, to tell where an array
// of messages begins.
type batchState struct {
	on  bool
	dir capture.Direction
	ts  int64
	x   uint64
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
