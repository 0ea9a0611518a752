//go:build unix

package shim

import (
	"bytes"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// passThrough sends chunks through a pump into a pipe of the least size, with
// the writing end non-blocking if asked, and returns what came out.
func passThrough(t testing.TB, rec *capture.Recorder, chunks [][]byte, nonblock bool) []byte {
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, out := own(inR), own(outW) // blocking from here on
	if nonblock {
		if err := unix.SetNonblock(out.fd, true); err != nil {
			t.Fatal(err)
		}
		if err := unix.SetNonblock(in.fd, true); err != nil {
			t.Fatal(err)
		}
	}
	r := run{o: Options{Clock: systemClock{}, Recorder: rec}, plan: plan{started: time.Now()}}
	p := r.newPump(capture.S2C, in, out)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.run()
	}()
	go func() {
		for _, c := range chunks {
			_, _ = inW.Write(c) // a pump that ends early shows in what comes out
		}
		_ = inW.Close()
	}()
	var got bytes.Buffer
	_, _ = got.ReadFrom(outR) // the same
	<-done
	_ = outR.Close()
	p.end()
	return got.Bytes()
}

// What goes in comes out, byte for byte, whatever it is and however it is cut;
// and the record holds the same bytes.
func TestBytesOutAreBytesIn(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"\n", "\r\n", "\ufeff", "{", "}", `"`, "\x00", "\xff\xfe", "{\"id\":1}\n", " ", "ü"}),
		rapid.Custom(func(t *rapid.T) string {
			return string(bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, rapid.IntRange(0, 100_000).Draw(t, "times")))
		}),
	)
	rapid.Check(t, func(rt *rapid.T) {
		var chunks [][]byte
		for _, s := range rapid.SliceOfN(piece, 0, 12).Draw(rt, "pieces") {
			chunks = append(chunks, []byte(s))
		}
		want := bytes.Join(chunks, nil)
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		warn := func(s string) { t.Errorf("warned: %s", s) }
		rec := capture.NewRecorder(capture.Options{
			File:  capture.FileOptions{Dir: dir, SessionID: "test-1-0123456789ab", Now: time.Now, Warn: warn},
			Label: "test", Transport: capture.Stdio, Clock: testClock{}, Warn: warn,
		})
		got := passThrough(t, rec, chunks, rapid.Bool().Draw(rt, "nonblock"))
		if !bytes.Equal(got, want) {
			rt.Fatalf("%d bytes came out, %d went in", len(got), len(want))
		}
		if lost := rec.Close(capture.EndInfo{}); lost != 0 {
			rt.Fatalf("%d frames lost", lost)
		}
		if kept := onTheWire(readLog(t, rec.Path())); !bytes.Equal(kept, want) {
			rt.Fatalf("the record holds %d bytes, %d passed", len(kept), len(want))
		}
	})
}

// onTheWire puts a direction together again from its records. There are no
// batches: what stands between their elements is not kept.
func onTheWire(all []capture.Record) []byte {
	var out []byte
	for _, r := range all {
		if !r.Direction.IsFrame() {
			continue
		}
		out = append(append(append(out, r.Raw...), r.Text...), r.Bytes...)
		switch r.EOL {
		case "":
			out = append(out, '\n')
		case "crlf":
			out = append(out, '\r', '\n')
		}
	}
	return out
}

func TestWarnerDoesNotWaitForAReader(t *testing.T) {
	r, w := pipe(t)
	warn := Warner(w, "test")
	warn("one")
	p := borrow(w)
	if err := unix.SetNonblock(p.fd, true); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := unix.Write(p.fd, make([]byte, 4096)); err != nil {
			break
		}
	}
	if err := unix.SetNonblock(p.fd, false); err != nil {
		t.Fatal(err)
	}
	warn("two") // would block
	_ = w.Close()
	var got bytes.Buffer
	_, _ = got.ReadFrom(r) // what is there is compared
	if text := string(bytes.TrimRight(got.Bytes(), "\x00")); text != "test: one\n" {
		t.Errorf("came: %q", text)
	}
	warn("three") // nobody is there
}
