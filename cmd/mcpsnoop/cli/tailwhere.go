package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// printMatching prints the frames of a log that fit the filter, as the UI
// shows them: what a request came to is known before its line is printed. So
// the log is read twice.
func printMatching(ctx context.Context, app *App, s source, p *printer, where *store.Query) error {
	s, remove, err := app.spool(ctx, s)
	if err != nil {
		return err
	}
	defer remove()
	gone := writerGone(s)
	list, err := app.load(ctx, s, loadOptions{Observer: func(string) store.Observer { return newJudge(gone, true) }})
	if err != nil {
		return err
	}
	bodies := capture.NewBodies(app.FS)
	defer bodies.Close()
	m := matching{where: where, read: store.NewBodyFunc(bodies), next: map[string]*unprinted{}}
	for _, one := range list {
		one.Observer.(*judge).finish(one)
		m.next[one.ID] = &unprinted{s: one.Session}
	}
	r, err := app.open(s)
	if err != nil {
		return err
	}
	defer r.Close()
	var it capture.Item
	for ctx.Err() == nil {
		if err := r.Next(&it); err != nil {
			return readError(s, err)
		}
		if it.Problem != nil {
			err = p.problem(&it)
		} else if x, i, ok := m.frame(&it); ok {
			err = p.frame(p.format(x, x.Frame(i), &it.Record))
		}
		if err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// matching finds the frames of an indexed log again while it is read once more.
type matching struct {
	where *store.Query
	read  store.BodyFunc
	next  map[string]*unprinted
}

// unprinted is how far a session has been gone through.
type unprinted struct {
	s *store.Session
	i uint32
}

// frame is the frame that an item is, when it is one that fits.
func (m *matching) frame(it *capture.Item) (*store.Session, uint32, bool) {
	x := m.next[it.Record.SessionID]
	if x == nil || x.i >= x.s.Len() || x.s.Ref(x.s.Frame(x.i)) != it.Ref {
		return nil, 0, false // a line that is no frame: the beginning, the end
	}
	i := x.i
	x.i++
	return x.s, i, m.where.MatchFrame(x.s, i, func(s *store.Session, k uint32) ([]byte, error) {
		if k == i {
			return it.Record.Body(), nil
		}
		return m.read(s, k)
	})
}

// liveWhere filters frames while they come. A request that fits only by what
// comes of it is printed before the frame that decided.
type liveWhere struct {
	where  *store.Query
	held   map[heldCall]heldLine
	order  []heldCall // of held, the oldest first; some of it is gone already
	bytes  int
	room   int // for bytes
	missed int // requests that there was no room for
}

type heldCall struct {
	session *store.Session
	op      store.OpIndex
}

// heldLine is the line of a request that does not fit yet, and its body.
type heldLine struct{ line, body []byte }

// maxHeld is how much is kept of requests that do not fit yet, in bytes. The
// oldest go first.
const maxHeld = 8 << 20

func newLiveWhere(where *store.Query) *liveWhere {
	return &liveWhere{where: where, held: map[heldCall]heldLine{}, room: maxHeld}
}

// take prints what fits now that a frame has come.
func (w *liveWhere) take(s *store.Session, i uint32, rec *capture.Record, line []byte, print func([]byte) error) error {
	body := func(_ *store.Session, k uint32) ([]byte, error) {
		if k == i {
			return rec.Body(), nil
		}
		return nil, errNotAtHand
	}
	at, hasOp := s.Frame(i).Op()
	if !hasOp {
		if w.where.MatchFrame(s, i, body) {
			return print(line)
		}
		return nil
	}
	call := heldCall{s, at}
	op := s.Op(at)
	if h, ok := w.held[call]; ok && op.Request != i {
		if w.where.MatchFrame(s, op.Request, func(*store.Session, uint32) ([]byte, error) { return h.body, nil }) {
			w.drop(call)
			if err := print(h.line); err != nil {
				return err
			}
		} else if op.State != store.Pending {
			w.drop(call)
		}
	}
	if w.where.MatchFrame(s, i, body) {
		return print(line)
	}
	if op.Request == i && op.State == store.Pending {
		w.hold(call, heldLine{slices.Clone(line), slices.Clone(rec.Body())})
	}
	return nil
}

// errNotAtHand says that the bytes of another frame would have to be read again.
var errNotAtHand = errors.New("not at hand")

func (w *liveWhere) hold(call heldCall, h heldLine) {
	w.held[call] = h
	w.order = append(w.order, call)
	w.bytes += len(h.line) + len(h.body)
	for w.bytes > w.room {
		oldest := w.order[0]
		w.order = w.order[1:]
		if _, ok := w.held[oldest]; ok {
			w.missed++
			w.drop(oldest)
		}
	}
	if len(w.order) > 2*len(w.held)+64 {
		w.order = slices.DeleteFunc(w.order, func(c heldCall) bool { _, ok := w.held[c]; return !ok })
	}
}

func (w *liveWhere) drop(call heldCall) {
	h := w.held[call]
	w.bytes -= len(h.line) + len(h.body)
	delete(w.held, call)
}
