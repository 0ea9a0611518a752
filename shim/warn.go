package shim

import (
	"os"
	"sync"
)

// Warner returns a function that writes lines to f, the client's standard
// error, behind the name of the program. A line that f has no room for is
// dropped: a client that does not read its standard error must not hold up
// what warns. It is safe for concurrent use.
func Warner(f *os.File, name string) func(string) {
	var mu sync.Mutex
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		if canTake(f) {
			p := borrow(f)
			_ = p.write([]byte(name + ": " + line + "\n")) // there is nobody else to tell
		}
	}
}
