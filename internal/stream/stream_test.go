package stream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a far end on a folder.
func serve(t testing.TB, opts Options) *Client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	opts.Tick = time.Millisecond
	go func() {
		err := Serve(context.Background(), inR, outW, opts)
		outW.CloseWithError(io.EOF)
		done <- err
	}()
	c, err := NewClient(outR, inW)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = inW.Close()
		_ = outR.Close() // a server that writes is told
		if err := <-done; err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Serve: %v", err)
		}
		c.Close()
	})
	return c
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// logLike are n bytes that are partly like a log and partly not.
func logLike(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 0, n+100)
	for len(b) < n {
		b = append(b, `{"session_id":"x-1-000000000000","seq":`...)
		for range r.IntN(80) {
			b = append(b, byte(r.IntN(256)))
		}
		b = append(b, "}\n"...)
	}
	return b[:n]
}

func copyAll(c *Client, name string, at, size int64, check string) ([]byte, error) {
	var out bytes.Buffer
	_, err := c.Copy(context.Background(), name, at, size, check, func(p []byte) error {
		out.Write(p)
		return nil
	})
	return out.Bytes(), err
}

func TestCopy(t *testing.T) {
	dir := t.TempDir()
	c := serve(t, Options{Dir: dir, Host: "box", Version: "9"})
	if h := c.Hello(); h.Host != "box" || h.Program != "9" || h.Time == 0 {
		t.Errorf("hello: %+v", h)
	}
	for _, n := range []int{0, 1, 511, 513, digestSpan, MaxRead - 1, MaxRead, MaxRead + 1, 12*MaxRead + 7} {
		want := logLike(n)
		write(t, filepath.Join(dir, "a.jsonl"), want)
		for _, said := range []int64{int64(n), 0, int64(n) + 5*MaxRead} { // the size may have changed since
			got, err := copyAll(c, "a.jsonl", 0, said, "")
			if end := min(n, max(int(said), MaxRead)); err != nil || !bytes.Equal(got, want[:min(len(want), roundUp(end))]) {
				t.Fatalf("%d bytes, said to be %d: got %d, %v", n, said, len(got), err)
			}
		}
		at := int64(n / 3)
		check, err := Digest(bytes.NewReader(want), at)
		if err != nil {
			t.Fatal(err)
		}
		got, err := copyAll(c, "a.jsonl", at, int64(n), check)
		if err != nil || !bytes.Equal(got, want[at:]) {
			t.Fatalf("%d bytes from %d: got %d, %v", n, at, len(got), err)
		}
	}
}

// roundUp is how many bytes the pieces that are asked for may bring.
func roundUp(n int) int { return max(1, (n+MaxRead-1)/MaxRead) * MaxRead }

func TestCopySaysWhenAFileIsAnother(t *testing.T) {
	dir := t.TempDir()
	c := serve(t, Options{Dir: dir})
	path := filepath.Join(dir, "a.jsonl")
	old := logLike(20000)
	check, err := Digest(bytes.NewReader(old), 20000)
	if err != nil {
		t.Fatal(err)
	}
	changed := slices.Clone(old)
	changed[19999] ^= 1
	begin := slices.Clone(old)
	begin[0] ^= 1
	for name, data := range map[string][]byte{"shorter": old[:19999], "another end": append(changed, "more"...), "another begin": append(begin, "more"...)} {
		write(t, path, data)
		if got, err := copyAll(c, "a.jsonl", 20000, 20010, check); !errors.Is(err, ErrMoved) || len(got) > 0 {
			t.Errorf("%s: %d bytes, %v; want ErrMoved", name, len(got), err)
		}
	}
	write(t, path, append(old, "more"...))
	if got, err := copyAll(c, "a.jsonl", 20000, 20004, check); err != nil || string(got) != "more" {
		t.Errorf("longer: %q, %v", got, err)
	}
	if _, err := copyAll(c, "b.jsonl", 0, 0, ""); !errors.Is(err, ErrGone) {
		t.Errorf("no file: %v; want ErrGone", err)
	}
}

func TestListAndWait(t *testing.T) {
	dir := t.TempDir()
	c := serve(t, Options{Dir: filepath.Join(dir, "later"), Beat: time.Nanosecond}) // beats all the while
	files, err := c.List()
	if err != nil || len(files) > 0 {
		t.Fatalf("no folder: %v, %v", files, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "later"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"a.jsonl", "b.jsonl.zst", ".hidden.jsonl", "c.txt"} {
		write(t, filepath.Join(dir, "later", n), []byte("x"))
	}
	var got []string
	for len(got) < 2 {
		files, _, err := c.Wait()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !slices.Contains(got, f.Name) {
				got = append(got, f.Name)
			}
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"a.jsonl", "b.jsonl.zst"}) {
		t.Errorf("found %q", got)
	}
	if err := os.Remove(filepath.Join(dir, "later", "a.jsonl")); err != nil {
		t.Fatal(err)
	}
	for {
		_, gone, err := c.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if slices.Equal(gone, []string{"a.jsonl"}) {
			break
		}
	}
}

func TestManyFiles(t *testing.T) {
	dir := t.TempDir()
	const n = 2*filesPerLine + 3
	for i := range n {
		write(t, filepath.Join(dir, "s"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+time.Duration(i).String()+".jsonl"), nil)
	}
	files, err := serve(t, Options{Dir: dir}).List()
	if err != nil || len(files) != n {
		t.Errorf("%d files, %v; want %d", len(files), err, n)
	}
}

func TestNothingOutsideIsServed(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "secret.jsonl"), []byte("secret"))
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := serve(t, Options{Dir: filepath.Join(dir, "in")})
	for _, name := range []string{"../secret.jsonl", "..", "", filepath.Join(dir, "secret.jsonl"), `..\secret.jsonl`, "a:b.jsonl", "-.jsonl"} {
		var far FarError
		if got, err := copyAll(c, name, 0, 10, ""); !errors.As(err, &far) || len(got) > 0 {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

func TestNoiseBeforeTheHello(t *testing.T) {
	r := strings.NewReader("Welcome to the machine!\n\n{\"op\":\"hello\",\"v\":1,\"host\":\"h\"}\n")
	c, err := NewClient(r, io.Discard)
	if err != nil || c.Hello().Host != "h" {
		t.Fatal(c, err)
	}
	c.Close()
	for _, s := range []string{"", "sh: mcpsnoop: not found\n", strings.Repeat("x\n", 1000), strings.Repeat("x", 1<<20), "{\"op\":\"hello\",\"v\":2}\n"} {
		if _, err := NewClient(strings.NewReader(s), io.Discard); !errors.Is(err, ErrNotStream) {
			t.Errorf("%.20q: %v; want ErrNotStream", s, err)
		}
	}
}

func TestServeEnds(t *testing.T) {
	if err := Serve(t.Context(), strings.NewReader(`{"op":"wait"}`+"\n"), io.Discard, Options{Dir: t.TempDir()}); err != nil {
		t.Errorf("end of input in a wait: %v", err)
	}
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Serve(ctx, r, io.Discard, Options{Dir: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("end of the context: %v", err)
	}
	_ = w.Close()
}

// FuzzServe throws any bytes at the side that has the logs: it must end, and
// give nothing but what is in the folder.
func FuzzServe(f *testing.F) {
	f.Add([]byte(`{"op":"list"}` + "\n" + `{"op":"read","name":"a.jsonl","len":10}` + "\n" + `{"op":"read","name":"a.jsonl","at":2,"len":10,"check":"x"}` + "\n"))
	f.Add([]byte(`{"op":"wait"}` + "\n" + `{"op":"read","name":"../b.jsonl","len":10}`))
	f.Add([]byte("\n\n{}\n[]\nnull\n"))
	dir := f.TempDir()
	write(f, filepath.Join(dir, "b.jsonl"), []byte("outside, a secret"))
	in := filepath.Join(dir, "in")
	if err := os.Mkdir(in, 0o700); err != nil {
		f.Fatal(err)
	}
	write(f, filepath.Join(in, "a.jsonl"), []byte("hello, this is a log"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		_ = Serve(t.Context(), bytes.NewReader(data), &out, Options{Dir: in, Tick: time.Microsecond})
		if bytes.Contains(out.Bytes(), []byte("outside, a secret")) {
			t.Error("gave a file that is not in the folder")
		}
	})
}

// FuzzClient throws any bytes at the side that asks: it must not panic, and
// never hold more than the bounds say.
func FuzzClient(f *testing.F) {
	f.Add([]byte(`{"op":"files","files":[{"name":"../x.jsonl","size":1},{"name":"a.jsonl","size":-1}]}` + "\n" + `{"op":"data","raw":3}` + "\nabc"))
	f.Add([]byte(`{"op":"files","more":true}` + "\n" + `{"op":"files"}` + "\n" + `{"op":"data","raw":1048576,"packed":9}` + "\n(\xb5/\xfd\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := NewClient(io.MultiReader(strings.NewReader("{\"op\":\"hello\",\"v\":1}\n"), bytes.NewReader(data)), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		files, err := c.List()
		for _, file := range files {
			if !ValidName(file.Name) || file.Size < 0 {
				t.Errorf("took %+v", file)
			}
		}
		if err != nil {
			return
		}
		_, _ = c.Copy(t.Context(), "a.jsonl", 0, 3*MaxRead, "", func(p []byte) error {
			if len(p) > MaxRead {
				t.Errorf("a piece of %d bytes", len(p))
			}
			return nil
		})
	})
}

func FuzzReadLine(f *testing.F) {
	f.Add([]byte("a\nbb\n\n"), 4)
	f.Fuzz(func(t *testing.T, data []byte, limit int) {
		limit = min(max(limit, 1), 1<<16)
		r := bufio.NewReaderSize(bytes.NewReader(data), 16)
		for {
			line, err := readLine(r, limit)
			if err != nil {
				return
			}
			if len(line) > max(limit, 16) || bytes.IndexByte(line, '\n') >= 0 {
				t.Fatalf("a line of %d bytes", len(line))
			}
		}
	})
}
