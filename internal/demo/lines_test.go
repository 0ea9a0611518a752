package demo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestJSONLines(t *testing.T) {
	for _, tt := range []struct {
		name, in, out string
		stray         []string
	}{
		{"empty", "", "", nil},
		{"frames", "{\"a\":1}\n{\"b\":2}\n", "{\"a\":1}\n{\"b\":2}\n", nil},
		{"stray between", "{}\nDEBUG x\n{}\n", "{}\n{}\n", []string{"DEBUG x"}},
		{"stray JSON", "12\n\"text\"\n{}\n", "{}\n", []string{"12", `"text"`}},
		{"half an object", "{\"a\":\n{}\n", "{}\n", []string{`{"a":`}},
		{"carriage returns and blank lines", "\r\n{}\r\n\n", "{}\n", nil},
		{"no last line end", "{}\nlast", "{}\n", []string{"last"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stray []string
			r := newJSONLines(io.NopCloser(iotest.OneByteReader(strings.NewReader(tt.in))), func(l string) {
				stray = append(stray, l)
			})
			out, err := io.ReadAll(iotest.OneByteReader(r))
			if err != nil {
				t.Fatal(err)
			}
			if string(out) != tt.out {
				t.Errorf("out = %q; want %q", out, tt.out)
			}
			if d := cmp.Diff(tt.stray, stray); d != "" {
				t.Errorf("stray, -want +got:\n%s", d)
			}
		})
	}
}

func TestJSONLinesHoldsALineOnly(t *testing.T) {
	r := newJSONLines(io.NopCloser(strings.NewReader(strings.Repeat("x", maxLine+1))), func(string) {})
	if _, err := io.ReadAll(r); err == nil {
		t.Error("a line without end was read; want an error")
	}
}

// pieces cuts nothing itself: it fails the test when two writes overlap.
type pieces struct {
	t    *testing.T
	busy sync.Mutex
	b    bytes.Buffer
}

func (p *pieces) Write(b []byte) (int, error) {
	if !p.busy.TryLock() {
		p.t.Error("two writes at once")
		return len(b), nil
	}
	defer p.busy.Unlock()
	return p.b.Write(b)
}

func TestLineWriterKeepsLinesWhole(t *testing.T) {
	p := &pieces{t: t}
	w := &lineWriter{w: p}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				w.printf("DEBUG %s", "a stray line")
			}
		})
	}
	wg.Wait()
	if got, want := p.b.String(), strings.Repeat("DEBUG a stray line\n", 1600); got != want {
		t.Error("lines are cut or missing")
	}
}

// A server that is told to go must go, also with a call open.
func TestServerEndsWithItsContext(t *testing.T) {
	in, client := io.Pipe()
	out, server := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log tape
	served := make(chan error, 1)
	go func() {
		err := RunServer(ctx, in, server, &log)
		_ = server.Close()
		served <- err
	}()
	go func() {
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang","arguments":{"lock":"x"}}}`,
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"Atlantis"}}}`,
		} {
			_, _ = io.WriteString(client, line+"\n")
		}
	}()
	answers := newJSONLines(out, func(string) {})
	got := make([]byte, 0, 4096)
	for buf := make([]byte, 512); ; {
		n, err := answers.Read(buf)
		if got = append(got, buf[:n]...); bytes.Contains(got, []byte("Atlantis")) {
			cancel() // id 3 is answered, id 2 is open
		}
		if err != nil {
			break
		}
	}
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v; want %v", err, context.Canceled)
	}
	if bytes.Contains(got, []byte(`"id":2`)) {
		t.Errorf("the open call was answered: %s", got)
	}
}
