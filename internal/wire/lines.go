package wire

import "bytes"

// EOL says how a line ended.
type EOL uint8

// The ways a line can end.
const (
	LF       EOL = iota
	CRLF         // CR LF; the CR is no part of the frame
	NoneSeen     // the stream ended inside the line
)

// String is the word for it in the log; LF is not written there.
func (e EOL) String() string { return [...]string{"lf", "crlf", "none"}[e] }

// Line is one line of a stream. Bytes is valid until the splitter is fed again.
type Line struct {
	Bytes     []byte // the line without its end, at most the splitter's bound
	Size      int64  // length of the line on the wire, without its end
	EOL       EOL
	Truncated bool // Bytes is only the beginning
}

// Splitter cuts a byte stream at line feeds while it holds at most Max bytes
// of a line; what is longer is cut while it streams and its size is counted.
// The zero Max means no bound. A Splitter serves one stream and one goroutine.
type Splitter struct {
	Max int

	held  []byte // beginning of a line that earlier chunks brought
	size  int64  // length of that line so far
	lastC byte   // its last byte, which may be cut away from held
}

// keepSpare is the most memory a splitter keeps between lines.
const keepSpare = 2 << 20

// Feed takes the next chunk and calls emit for each line that ends in it. A
// line that lies in one chunk is given as a slice of the chunk, uncopied.
func (s *Splitter) Feed(chunk []byte, emit func(Line)) {
	for {
		k := bytes.IndexByte(chunk, '\n')
		if k < 0 {
			s.hold(chunk)
			return
		}
		if s.size == 0 {
			emit(s.cut(chunk[:k], int64(k), LF))
		} else {
			s.hold(chunk[:k])
			s.flush(emit, LF)
		}
		chunk = chunk[k+1:]
	}
}

// Pending reports whether a line has begun and not ended.
func (s *Splitter) Pending() bool { return s.size > 0 }

// Close gives the line that the end of the stream left open, if there is one.
func (s *Splitter) Close(emit func(Line)) {
	if s.size > 0 {
		s.flush(emit, NoneSeen)
	}
}

// Drop forgets the line that has begun: its rest will never be fed.
func (s *Splitter) Drop() { s.held, s.size = s.held[:0], 0 }

func (s *Splitter) hold(p []byte) {
	if len(p) == 0 {
		return
	}
	keep := p
	if s.Max > 0 {
		keep = p[:min(len(p), max(0, s.Max-len(s.held)))]
	}
	s.held = append(s.held, keep...)
	s.size += int64(len(p))
	s.lastC = p[len(p)-1]
}

func (s *Splitter) flush(emit func(Line), end EOL) {
	l := s.cut(s.held, s.size, end)
	if end == LF && l.EOL == LF && s.lastC == '\r' { // the CR itself was cut away
		l.EOL, l.Size = CRLF, l.Size-1
		l.Truncated = l.Size > int64(len(l.Bytes))
	}
	emit(l)
	s.Drop()
	if cap(s.held) > keepSpare {
		s.held = nil
	}
}

// cut makes the line out of its first bytes and its whole length.
func (s *Splitter) cut(b []byte, size int64, end EOL) Line {
	l := Line{Bytes: b, Size: size, EOL: end}
	if end == LF && size == int64(len(b)) && size > 0 && b[size-1] == '\r' {
		l.Bytes, l.Size, l.EOL = b[:size-1], size-1, CRLF
	}
	if s.Max > 0 && len(l.Bytes) > s.Max {
		l.Bytes = l.Bytes[:s.Max]
	}
	l.Truncated = l.Size > int64(len(l.Bytes))
	return l
}
