package store

import (
	"testing"
	"unsafe"
)

// An index of millions of frames is made of these two: a field more is paid
// for with every frame.
func TestRowsStaySmall(t *testing.T) {
	if n := unsafe.Sizeof(Frame{}); n > 64 {
		t.Errorf("a Frame takes %d bytes, want at most 64", n)
	}
	if n := unsafe.Sizeof(Operation{}); n > 128 {
		t.Errorf("an Operation takes %d bytes, want at most 128", n)
	}
}
