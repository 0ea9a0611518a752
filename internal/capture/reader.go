package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/zstd"
)

// MaxLine is the longest line of a log that is read, in bytes: a frame of
// 16 MiB fits, whatever escapes or base64 made of it. Longer ones are reported and skipped.
const MaxLine = 64 << 20

// ErrNotLog says that a file is no session log in any format that is known.
var ErrNotLog = errors.New("not a session log: expected mcpsnoop JSONL, mcp-tape v1, or a HAR file with MCP traffic")

// ErrEmpty says that a log holds nothing yet.
var ErrEmpty = errors.New("empty: no record in it")

// Reader reads a log once, from its beginning, in whatever known format it is
// (told by content, not by name; zstd-compressed or not). It holds one line at
// a time, at most MaxLine bytes. One goroutine uses it.
type Reader struct {
	lines    lineSource
	dec      decoder
	src      io.Reader // not yet begun
	file     io.Closer // the open segment
	unpacker *zstd.Decoder
	har      *harFile // when it is one
	log      Log      // the segments to come
	fs       FS
	err      error
}

// NewReader reads one file or stream. name is the session id for formats that
// have none of their own.
func NewReader(src io.Reader, name string) *Reader {
	r := &Reader{src: src, lines: lineSource{max: MaxLine, strict: true}, dec: decoder{name: name}}
	r.dec.startSegment(1)
	return r
}

// OpenSession reads the log at path, segment after segment.
func OpenSession(fsys FS, path string) (*Reader, error) {
	log, err := Locate(fsys, path)
	if err != nil {
		return nil, err
	}
	return OpenLog(fsys, log)
}

// OpenLog reads a log that List or Locate gave.
func OpenLog(fsys FS, log Log) (*Reader, error) {
	r := NewReader(nil, log.ID)
	r.fs, r.log = fsys, log
	if err := r.nextSegment(); err != nil {
		return nil, err
	}
	return r, nil
}

// nextSegment opens the next file of the log, or gives io.EOF.
func (r *Reader) nextSegment() error {
	if err := r.Close(); err != nil {
		return err
	}
	if len(r.log.Segments) == 0 {
		return io.EOF
	}
	s := r.log.Segments[0]
	f, err := r.fs.Open(s.Path)
	if errors.Is(err, fs.ErrNotExist) && !s.Zstd { // compressed meanwhile
		f, err = r.fs.Open(s.Path + zstdExt)
	}
	if err != nil {
		return fmt.Errorf("open a segment of the log: %w", err)
	}
	r.log.Segments = r.log.Segments[1:]
	r.src, r.file = f, f
	r.dec.startSegment(s.Number)
	r.lines.reset(0)
	return nil
}

// Next fills it with the next record or problem. It returns io.EOF at the end,
// ErrEmpty for a log without any line, ErrNotLog for another file (nothing was
// given before that), or the error of reading, after which Next must not be
// called again. Lines with an unknown direction are skipped.
func (r *Reader) Next(it *Item) error {
	if r.dec.queued(it) {
		return nil
	}
	for r.err == nil {
		if r.har != nil {
			r.err = r.har.give(it)
			break
		}
		l, last, err := r.line()
		if err != nil {
			r.err = err
			break
		}
		if r.har != nil {
			continue
		}
		ok, err := r.dec.decode(l, last, it)
		if err != nil {
			r.err = err
			break
		}
		if ok {
			r.lines.strict = false
			return nil
		}
	}
	return r.err
}

// line gives the next line over all segments. last is set for what stands
// behind the last line feed of a segment.
func (r *Reader) line() (l sourceLine, last bool, err error) {
	if r.src != nil {
		if err := r.begin(); err != nil {
			return l, false, err
		}
	}
	for {
		if r.har != nil {
			return l, false, nil
		}
		l, err = r.lines.next()
		if !errors.Is(err, errUnended) {
			return l, false, err
		}
		if r.lines.pending() > 0 {
			return r.lines.rest(), true, nil
		}
		err = io.EOF
		if r.fs != nil {
			err = r.nextSegment()
		}
		if errors.Is(err, io.EOF) {
			if end := r.dec.end(); end != nil {
				return l, false, end
			}
		}
		if err != nil {
			return l, false, err
		}
		if err := r.begin(); err != nil {
			return l, false, err
		}
	}
}

// begin puts a decompressor in front of the source when it needs one.
func (r *Reader) begin() error {
	src := r.src
	r.src = nil
	var head [len(zstdMagic)]byte
	n, err := io.ReadFull(src, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	begun, isHAR := head[:n], false
	if string(begun) == zstdMagic {
		if r.unpacker, err = newUnpacker(io.MultiReader(bytes.NewReader(begun), src)); err != nil {
			return err
		}
		src, begun = r.unpacker, nil
	}
	if r.dec.format == nil {
		if begun, isHAR, err = sniffHAR(begun, src); err != nil {
			return err
		}
	}
	src = io.MultiReader(bytes.NewReader(begun), src)
	if isHAR {
		return r.beginHAR(src)
	}
	r.lines.src = src
	return nil
}

// beginHAR goes on with a HAR file, which is the whole log.
func (r *Reader) beginHAR(src io.Reader) (err error) {
	r.har, err = readHAR(src, r.dec.name)
	r.dec.format = harFormat()
	return err
}

// Format names the format of the log, once a record has been read.
func (r *Reader) Format() string {
	if r.dec.format == nil {
		return ""
	}
	return r.dec.format.name
}

// Close closes what OpenSession opened.
func (r *Reader) Close() error {
	if r.unpacker != nil {
		r.unpacker.Close()
		r.unpacker = nil
	}
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file = nil
	return f.Close()
}

const zstdMagic = "\x28\xB5\x2F\xFD"

// maxWindow bounds the memory that a compressed segment can ask for, in bytes.
const maxWindow = 32 << 20

// newUnpacker decompresses without goroutines of its own.
func newUnpacker(src io.Reader) (*zstd.Decoder, error) {
	d, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return d, nil
}
