package sink

import (
	"context"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// watched is a Source of one session.
type watched struct {
	st      *store.Store
	live    bool
	changed chan struct{}
}

func (w *watched) Store() *store.Store                  { return w.st }
func (w *watched) Live(*store.Session) bool             { return w.live }
func (w *watched) Subscribe() (<-chan struct{}, func()) { return w.changed, func() {} }

// A session whose recorder was killed has no last line: its open call is sent
// as one without an answer, and counts for no duration. A session that waits
// is left in peace.
func TestWatchOfASilentSession(t *testing.T) {
	for _, tt := range []struct {
		live  bool
		later time.Duration
		want  int
	}{{false, time.Hour, 2}, {true, time.Hour, 1}, {false, time.Second, 1}} {
		r := newReceiver()
		x := newSession()
		w := &watched{st: store.New(store.Limits{}), live: tt.live, changed: make(chan struct{})}
		var a *store.Appender
		x.s, a = w.st.Open("play-1-00000000000a", "", nil)
		x.a = a
		x.calls(1)
		x.say(`> {"jsonrpc":"2.0","id":"open","method":"tools/call","params":{"name":"read"}}`)
		x.a.Publish()
		k := start(t, x, r.overHTTP(t), func(o *Options) { o.Now = func() time.Time { return time.Unix(1000, 0).Add(tt.later) } })
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.Watch(ctx, w, func(_ *store.Session, i uint32) (capture.Record, error) { return x.body(nil, i) }, time.Time{})
		}()
		w.changed <- struct{}{}
		cancel()
		<-done
		k.end()
		if len(r.spans) != tt.want || r.metrics[0].Histogram().DataPoints().At(0).Count() != 1 {
			t.Errorf("live %v, %s later: %d spans, %d durations", tt.live, tt.later, len(r.spans), r.metrics[0].Histogram().DataPoints().At(0).Count())
		}
		if tt.want == 2 {
			if v, ok := r.spans[1].Attributes().Get("mcpsnoop.unanswered"); !ok {
				t.Errorf("it is not said that the call has no answer: %v", v)
			}
		}
	}
}
