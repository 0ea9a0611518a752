package cli

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Requests that may match later are kept in bounded room, the newest of them,
// and those that found none are counted.
func TestLiveWhereIsBounded(t *testing.T) {
	t.Parallel()
	where, err := store.Compile("status:err", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	w := newLiveWhere(where)
	w.room = 4000
	x := &indexed{}
	x.Session, x.appender = store.NewSession("s", "", store.Limits{}, x)
	var printed []string
	send := func(direction capture.Direction, raw string) {
		it := capture.Item{Record: capture.Record{SessionID: "s", Seq: uint64(x.Len() + 1), Direction: direction, Raw: []byte(raw)}}
		x.appender.Append(&it)
		x.appender.Publish()
		line := fmt.Appendf(nil, "#%d", it.Record.Seq)
		if err := w.take(x.Session, x.at, &it.Record, line, func(b []byte) error { printed = append(printed, string(b)); return nil }); err != nil {
			t.Fatal(err)
		}
		if w.bytes > w.room || len(w.order) > 2*len(w.held)+65 {
			t.Fatalf("%d bytes of %d calls are kept, %d in order", w.bytes, len(w.held), len(w.order))
		}
	}
	for i := range 1000 {
		send(capture.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x"}}`, i))
		if i%2 == 0 { // quick ones are forgotten at once
			send(capture.S2C, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i))
		}
	}
	kept := len(w.held)
	if kept == 0 || w.missed != 500-kept {
		t.Fatalf("%d calls are kept and %d counted of 500 that are open", kept, w.missed)
	}
	send(capture.S2C, `{"jsonrpc":"2.0","id":999,"error":{"code":1,"message":"late"}}`)
	send(capture.S2C, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"too late"}}`)
	if got, want := fmt.Sprint(printed), "[#1500 #1501 #1502]"; got != want {
		t.Errorf("printed %s, want %s", got, want)
	}
}
