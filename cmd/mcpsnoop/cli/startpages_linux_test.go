package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A program goes on after it has forgotten its code, with less of it in memory.
func TestForgetStart(t *testing.T) {
	before := codeInMemory(t)
	forgetStart()
	if after := codeInMemory(t); after >= before {
		t.Errorf("%d KiB of code are in memory, before %d", after, before)
	}
	if _, _, ok := ownCode(os.DevNull); ok {
		t.Error("code was found in an empty table")
	}
}

// codeInMemory is how much of the program's code is mapped and there, in KiB.
func codeInMemory(t *testing.T) (kib int) {
	t.Helper()
	from, to, ok := ownCode("/proc/self/maps")
	if !ok {
		t.Fatal("nothing says where the code is")
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(smaps), fmt.Sprintf("%08x-%08x r-xp", from, to))
	_, rest, _ = strings.Cut(rest, "\nRss:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatalf("no size of the code in smaps: %v", err)
	}
	return kib
}
