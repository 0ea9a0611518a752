package store

import (
	"fmt"
	"testing"
)

// A repeat is a notification of the method and the call of the frame before it.
func TestRepeats(t *testing.T) {
	s, a := NewSession("s", "", Limits{}, nil)
	progress := `< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"%s","progress":%d}}`
	lines := []string{
		`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"p"}}}`,
		`> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b","_meta":{"progressToken":"q"}}}`,
		fmt.Sprintf(progress, "p", 1), fmt.Sprintf(progress, "p", 2), fmt.Sprintf(progress, "q", 1), fmt.Sprintf(progress, "q", 2),
		`< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`,
		`> {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`,
		`> {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":2}}`,
		`< {"jsonrpc":"2.0","id":1,"result":{}}`, `< {"jsonrpc":"2.0","id":2,"result":{}}`,
	}
	for i, l := range lines {
		a.Append(item(s, i, l))
	}
	a.Publish()
	want := map[uint32]bool{3: true, 5: true, 8: true}
	c := NewCursor(s, mustCompile(t, "kind:repeat"), nil)
	defer c.Close()
	if _, err := c.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range s.Len() {
		if _, found := c.Rank(i); s.Frame(i).Has(Repeat) != want[i] || found != want[i] {
			t.Errorf("frame %d: repeat %v, found %v; want %v", i, s.Frame(i).Has(Repeat), found, want[i])
		}
	}
	if n := s.Summary().Repeats; n != 3 {
		t.Errorf("%d repeats; want 3", n)
	}
}
