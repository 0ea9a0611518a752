package capture

import (
	"bytes"
	"errors"
	"io"
)

// Sizes of the buffer that lines are read into.
const (
	lineBuffer  = 256 << 10 // to begin with, and what is kept between lines
	spareBuffer = 4 << 20   // a longer one is given back when its line is done
	restBuffer  = 4 << 10   // what a source keeps that has nothing to read
	history     = 64        // bytes kept before the current line, to know the place again
	strictLimit = 1 << 20   // how far a file is read to tell that it is no log
)

// errUnended says that the source has no more bytes now and the line is not whole.
var errUnended = errors.New("the line has no end yet")

// sourceLine is one line, without its line end. b is valid until the next call.
type sourceLine struct {
	b     []byte
	off   int64 // of b[0] in the file
	size  int64 // length, also where b was too long to be kept
	long  bool  // longer than the bound: b is nil
	ended bool  // a line feed followed
}

// lineSource cuts what it reads into lines and holds one line at a time.
// Bytes are not copied: lines are slices of the buffer. The source may grow
// later: what is there of an unended line stays in the buffer.
type lineSource struct {
	src    io.Reader
	max    int
	strict bool // no format known yet: refuse long lines that cannot be JSON objects

	buf        []byte
	start, end int   // what is not yet given as lines
	seen       int   // bytes behind start that hold no line feed
	off        int64 // file offset of buf[start]
	skipped    int64 // bytes dropped of a line that is too long
	full       bool  // the last read took all the room there was
}

// next gives the next line, errUnended at the end of what there is, or the
// error of the source.
func (s *lineSource) next() (sourceLine, error) {
	for {
		if k := bytes.IndexByte(s.buf[s.start+s.seen:s.end], '\n'); k >= 0 {
			return s.cut(s.start+s.seen+k, true), nil
		}
		s.seen = s.end - s.start
		if s.strict && s.seen >= strictLimit && !mayBeObject(s.buf[s.start:s.end]) {
			return sourceLine{}, ErrNotLog
		}
		if s.seen > s.max {
			s.drop()
		}
		if err := s.fill(); err != nil {
			return sourceLine{}, err
		}
	}
}

// rest gives what stands behind the last line feed and forgets it.
func (s *lineSource) rest() sourceLine { return s.cut(s.end, false) }

// pending is how many bytes of an unended line there are.
func (s *lineSource) pending() int64 { return s.skipped + int64(s.end-s.start) }

// cut takes the line that ends before buf[end].
func (s *lineSource) cut(end int, ended bool) sourceLine {
	l := sourceLine{b: s.buf[s.start:end:end], off: s.off - s.skipped, ended: ended}
	l.size = s.skipped + int64(len(l.b))
	if l.size > int64(s.max) {
		l.b, l.long = nil, true
	}
	n := end - s.start
	if ended {
		n++
	}
	s.start += n
	s.off += int64(n)
	s.seen, s.skipped = 0, 0
	return l
}

// drop forgets the bytes of a line that is too long.
func (s *lineSource) drop() {
	n := s.end - s.start
	s.skipped += int64(n)
	s.off += int64(n)
	s.start, s.seen = s.end, 0
}

// fill reads once, behind what is there.
func (s *lineSource) fill() error {
	s.makeRoom()
	n, err := s.src.Read(s.buf[s.end:])
	s.full = n == len(s.buf)-s.end
	s.end += n
	switch {
	case n > 0:
		return nil
	case err == nil:
		return io.ErrNoProgress
	case errors.Is(err, io.EOF):
		return errUnended
	}
	return err
}

// makeRoom sees to it that a read is worth its call: it moves the current line
// to the front, or grows the buffer up to one line of the longest kind.
func (s *lineSource) makeRoom() {
	size := len(s.buf)
	switch limit := s.max + lineBuffer; {
	case size > spareBuffer && s.end-s.start <= lineBuffer/2:
		s.moveTo(make([]byte, lineBuffer))
	case size < lineBuffer && !s.full && s.end-s.start+history < size/2:
		s.moveTo(s.buf) // there was little to read, and may be again
	case size < lineBuffer:
		s.moveTo(make([]byte, lineBuffer))
	case size-s.end >= lineBuffer/8:
	case size > 0 && s.start-history >= size/2:
		s.moveTo(s.buf)
	case size < limit:
		s.moveTo(make([]byte, min(max(lineBuffer, 2*size), limit)))
	default:
		s.moveTo(s.buf)
	}
}

// shrink gives the buffer back for the time when there is nothing to read.
func (s *lineSource) shrink() {
	if len(s.buf) > restBuffer && s.end-s.start+history < restBuffer/2 {
		s.moveTo(make([]byte, restBuffer))
	}
}

func (s *lineSource) moveTo(buf []byte) {
	from := max(0, s.start-history)
	n := copy(buf, s.buf[from:s.end])
	s.start -= from
	s.end = n
	s.buf = buf
}

// reset goes on at another offset of the file, from src.
func (s *lineSource) reset(off int64) {
	s.start, s.end, s.seen, s.skipped, s.off = 0, 0, 0, 0, off
}

// unread forgets what has been read of an unended line, and goes back to its start.
func (s *lineSource) unread() {
	s.off -= s.skipped
	if s.skipped > 0 {
		s.reset(s.off)
		return
	}
	s.end, s.seen = s.start, 0
}

// readOffset is the file offset behind what has been read.
func (s *lineSource) readOffset() int64 { return s.off + int64(s.end-s.start) }

// known gives the last bytes before a place in the buffer, at most history.
func (s *lineSource) known(end int) []byte { return s.buf[max(0, end-history):end] }

// mayBeObject reports whether b can be the beginning of a JSON object, white
// space and marks before it aside.
func mayBeObject(b []byte) bool {
	b = bytes.TrimLeft(bytes.TrimPrefix(b, utf8BOM), "\x00 \t\r\n")
	return len(b) == 0 || b[0] == '{'
}

var utf8BOM = []byte("\xEF\xBB\xBF")
