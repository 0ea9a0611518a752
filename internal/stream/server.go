package stream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// Options say what is served.
type Options struct {
	Dir     string     // the folder of logs; it may come later
	FS      capture.FS // nil is this machine
	Host    string
	Version string           // of the program
	Now     func() time.Time // nil is time.Now

	Beat time.Duration // between signs of life; 0 is ten seconds
	Tick time.Duration // between looks at the folder; 0 is 200 ms
}

// Serve answers requests from r on w until r ends, which is no error, or ctx
// does. It returns when its reads from r have ended or, after ctx, when the
// next one does.
func Serve(ctx context.Context, r io.Reader, w io.Writer, opts Options) error {
	s := newServer(w, opts)
	defer s.close()
	if err := s.send(answer{Op: "hello", V: Version, Host: opts.Host, Version: opts.Version, Time: s.now().UnixNano()}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests := make(chan received, 32)
	go receive(ctx, r, requests)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case req := <-requests:
			if err := s.handle(ctx, req, requests); err != nil {
				if errors.Is(err, io.EOF) {
					return nil
				}
				return err
			}
		}
	}
}

// received is a request, or why there are no more.
type received struct {
	request
	err error
}

func receive(ctx context.Context, r io.Reader, to chan<- received) {
	in := bufio.NewReaderSize(r, maxRequest)
	for {
		var got received
		line, err := readLine(in, maxRequest)
		if err == nil {
			got.request, err = parse[request](line)
		}
		got.err = err
		select {
		case to <- got:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

type server struct {
	opts Options
	fs   capture.FS
	w    io.Writer
	now  func() time.Time

	told map[string]File // what the other side knows
	name string          // of the open file
	file capture.File

	line, raw, packed []byte
	zip               *zstd.Encoder
	pending           *received // a request that ended a wait
}

func newServer(w io.Writer, opts Options) *server {
	s := &server{opts: opts, fs: opts.FS, w: w, now: opts.Now, told: map[string]File{}}
	if s.fs == nil {
		s.fs = capture.OS{}
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.opts.Beat <= 0 {
		s.opts.Beat = 10 * time.Second
	}
	if s.opts.Tick <= 0 {
		s.opts.Tick = 200 * time.Millisecond
	}
	return s
}

func (s *server) close() {
	s.shut()
	if s.zip != nil {
		_ = s.zip.Close() // nothing is buffered
	}
}

func (s *server) shut() {
	if s.file != nil {
		_ = s.file.Close() // only read
		s.file, s.name = nil, ""
	}
}

// send writes a message and the bytes that follow it, in one write.
func (s *server) send(a answer, data ...byte) (err error) {
	if s.line, err = appendLine(s.line[:0], a); err != nil {
		return err
	}
	s.line = append(s.line, data...)
	_, err = s.w.Write(s.line)
	return err
}

func (s *server) handle(ctx context.Context, req received, more <-chan received) error {
	for {
		if err := s.answer(ctx, req, more); err != nil || s.pending == nil {
			return err
		}
		req, s.pending = *s.pending, nil
	}
}

func (s *server) answer(ctx context.Context, req received, more <-chan received) error {
	if req.err != nil {
		if errors.Is(req.err, errLine) {
			_ = s.send(answer{Op: "error", Text: req.err.Error()}) // the error below ends it
		}
		return req.err
	}
	switch req.Op {
	case "list":
		clear(s.told)
		_, err := s.changes(true)
		return err
	case "wait":
		s.shut()
		return s.wait(ctx, more)
	case "read":
		return s.read(req.request)
	}
	return s.send(answer{Op: "error", Text: fmt.Sprintf("unknown request %q", req.Op)})
}

// wait answers when something has changed.
func (s *server) wait(ctx context.Context, more <-chan received) error {
	last := s.now()
	for {
		start := time.Now()
		told, err := s.changes(false)
		if err != nil || told {
			return err
		}
		pause := max(s.opts.Tick, 20*time.Since(start)) // a large folder costs 5 % at most
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case req := <-more:
			timer.Stop()
			s.pending = &req
			if req.err != nil {
				return nil //nolint:nilerr // handle goes on with it
			}
			return s.send(answer{Op: "files"})
		case <-timer.C:
		}
		if now := s.now(); now.Sub(last) >= s.opts.Beat {
			last = now
			if err := s.send(answer{Op: "beat", Time: now.UnixNano()}); err != nil {
				return err
			}
		}
	}
}

// changes tells what has changed since it was last told. Without always, it
// says nothing when nothing has.
func (s *server) changes(always bool) (told bool, err error) {
	now, err := s.list()
	if err != nil {
		return true, s.send(answer{Op: "error", Text: "list the logs: " + reason(err)})
	}
	var files []File
	var gone []string
	for name, f := range now {
		if s.told[name] != f {
			files = append(files, f)
		}
	}
	for name := range s.told {
		if _, ok := now[name]; !ok {
			gone = append(gone, name)
		}
	}
	if len(files) == 0 && len(gone) == 0 && !always {
		return false, nil
	}
	s.told = now
	slices.SortFunc(files, func(a, b File) int { return int(min(max(b.MTime-a.MTime, -1), 1)) }) // newest first
	slices.Sort(gone)
	for len(files) > filesPerLine {
		if err := s.send(answer{Op: "files", Files: files[:filesPerLine], More: true}); err != nil {
			return true, err
		}
		files = files[filesPerLine:]
	}
	for len(gone) > filesPerLine {
		if err := s.send(answer{Op: "files", Gone: gone[:filesPerLine], More: true}); err != nil {
			return true, err
		}
		gone = gone[filesPerLine:]
	}
	return true, s.send(answer{Op: "files", Files: files, Gone: gone})
}

// list gives the files of logs in the folder.
func (s *server) list() (map[string]File, error) {
	entries, err := s.fs.ReadDir(s.opts.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]File{}, nil
	}
	if err != nil {
		return nil, err
	}
	out := make(map[string]File, len(entries))
	for _, e := range entries {
		if !ValidName(e.Name()) {
			continue
		}
		info, err := e.Info()
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			info, err = s.fs.Stat(filepath.Join(s.opts.Dir, e.Name()))
		}
		if err == nil && info.Mode().IsRegular() {
			out[e.Name()] = File{e.Name(), info.Size(), info.ModTime().UnixNano()}
		}
	}
	return out, nil
}

// reason is an error without the path, which is the answering side's own.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// read answers with a piece of a file.
func (s *server) read(req request) error {
	if !ValidName(req.Name) || req.At < 0 || req.Len < 0 || req.Len > MaxRead {
		return s.send(answer{Op: "error", Text: "a read of no file, or of too much"})
	}
	if err := s.open(req.Name, req.Check != "" || req.At == 0); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return s.send(answer{Op: "gone"})
		}
		return s.send(answer{Op: "error", Text: "read " + req.Name + ": " + reason(err)})
	}
	info, err := s.file.Stat()
	if err != nil {
		return s.send(answer{Op: "error", Text: "read " + req.Name + ": " + reason(err)})
	}
	moved := req.At > info.Size()
	if !moved && req.Check != "" {
		have, err := Digest(s.file, req.At)
		moved = err != nil || have != req.Check
	}
	if moved {
		s.shut()
		return s.send(answer{Op: "moved", Size: info.Size()})
	}
	return s.piece(req, info.Size())
}

// open opens the file, unless it is the one that is open and may be used again.
func (s *server) open(name string, anew bool) error {
	if s.file != nil && s.name == name && !anew {
		return nil
	}
	s.shut()
	path := filepath.Join(s.opts.Dir, name)
	info, err := s.fs.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait
		return fs.ErrNotExist
	}
	if s.file, err = s.fs.Open(path); err != nil {
		s.file = nil
		return err
	}
	s.name = name
	return nil
}

// piece sends bytes of the open file, compressed where that helps.
func (s *server) piece(req request, size int64) error {
	if cap(s.raw) < req.Len {
		s.raw = make([]byte, MaxRead)
	}
	n, err := s.file.ReadAt(s.raw[:req.Len], req.At)
	if err != nil && !errors.Is(err, io.EOF) {
		s.shut()
		return s.send(answer{Op: "error", Text: "read " + req.Name + ": " + reason(err)})
	}
	a := answer{Op: "data", Raw: n, Size: size}
	data := s.raw[:n]
	if n > 512 && filepath.Ext(req.Name) != ".zst" {
		if s.zip == nil {
			if s.zip, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(MaxRead)); err != nil {
				return fmt.Errorf("compress: %w", err)
			}
		}
		s.packed = s.zip.EncodeAll(data, s.packed[:0])
		if len(s.packed) < n {
			a.Packed, data = len(s.packed), s.packed
		}
	}
	return s.send(a, data...)
}
