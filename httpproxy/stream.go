package httpproxy

import (
	"bytes"
	"errors"
	"net"
)

// Sizes of what is kept of a connection.
const (
	bufferSize  = 32 << 10
	maxHead     = 1 << 20 // longest head of a message that is let through
	writeAtOnce = 16 << 10
)

var errHeadTooLong = errors.New("the head of the message is longer than 1 MiB")

// stream reads one side of a connection and gathers what is to be written to
// the other. What has been gathered is written before a read may block, so
// nothing that has come is ever held back.
type stream struct {
	conn net.Conn
	buf  []byte
	r, w int

	to *sink // where bytes of this side go; flushed before a read; may be nil
}

func newStream(c net.Conn) *stream { return &stream{conn: c, buf: make([]byte, bufferSize)} }

// data is what has been read and not yet taken. It is valid until fill.
func (s *stream) data() []byte { return s.buf[s.r:s.w] }

func (s *stream) skip(n int) { s.r += n }

// fill reads at least one more byte, or says why not.
func (s *stream) fill() error {
	if s.to != nil {
		s.to.flush() // what went wrong with the other side is said where it is written to
	}
	if s.r == s.w {
		s.r, s.w = 0, 0
		if len(s.buf) > bufferSize {
			s.buf = make([]byte, bufferSize)
		}
	}
	if s.w == len(s.buf) {
		switch {
		case s.r > 0:
			s.w = copy(s.buf, s.buf[s.r:s.w])
			s.r = 0
		case len(s.buf) >= maxHead:
			return errHeadTooLong
		default:
			s.buf = append(s.buf, make([]byte, len(s.buf))...)
		}
	}
	n, err := s.conn.Read(s.buf[s.w:])
	s.w += n
	if n > 0 {
		return nil
	}
	return err
}

// head reads up to the empty line that ends the head of a message, and
// returns it whole. Empty lines before it are left out (RFC 9112, section 2.2).
func (s *stream) head() (string, error) {
	for seen := 0; ; {
		for len(s.data()) > 0 && (s.data()[0] == '\r' || s.data()[0] == '\n') {
			s.skip(1)
			seen = 0
		}
		if end := headEnd(s.data(), seen); end > 0 {
			h := string(s.data()[:end])
			s.skip(end)
			return h, nil
		}
		seen = max(0, len(s.data())-2)
		if err := s.fill(); err != nil {
			return "", err
		}
	}
}

// headEnd is the length of the head at the start of b, 0 when it is not whole.
// No empty line ends before from.
func headEnd(b []byte, from int) int {
	for i := from; ; {
		k := bytes.IndexByte(b[i:], '\n')
		if k < 0 {
			return 0
		}
		i += k + 1
		if i < len(b) && b[i] == '\n' {
			return i + 1
		}
		if i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n' {
			return i + 2
		}
	}
}

// line reads one line, without its end.
func (s *stream) line(limit int) ([]byte, error) {
	for {
		if k := bytes.IndexByte(s.data(), '\n'); k >= 0 {
			l := s.data()[:k]
			s.skip(k + 1)
			return bytes.TrimSuffix(l, []byte{'\r'}), nil
		}
		if len(s.data()) > limit {
			return nil, errHeadTooLong
		}
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
}

// sink gathers what is written to one side of a connection. The first error
// stays: what comes later goes nowhere.
type sink struct {
	conn net.Conn
	buf  []byte
	err  error
}

func (k *sink) text(s string) { k.buf = append(k.buf, s...) }

// bytes passes p on; p may be reused when the sink has been flushed.
func (k *sink) bytes(p []byte) {
	if len(k.buf)+len(p) <= writeAtOnce {
		k.buf = append(k.buf, p...)
		return
	}
	k.flush()
	if k.err == nil {
		_, k.err = k.conn.Write(p)
	}
}

func (k *sink) flush() {
	if len(k.buf) == 0 {
		return
	}
	if k.err == nil {
		_, k.err = k.conn.Write(k.buf)
	}
	k.buf = k.buf[:0]
	if cap(k.buf) > 4*writeAtOnce {
		k.buf = nil
	}
}
