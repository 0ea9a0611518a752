package httpproxy

import (
	"errors"
	"io"
	"strconv"
	"strings"
)

// framing is how the length of a body is told (RFC 9112, section 6).
type framing uint8

const (
	noBody framing = iota
	byLength
	byChunks
	byClose // a response that ends with its connection
)

// body reads the body of a message off a stream, piece by piece.
type body struct {
	in     *stream
	kind   framing
	length int64 // by Content-Length, -1 when there is none
	left   int64 // of the body, or of the chunk
	began  bool  // a chunk has been read

	trailer []field
}

// requestBody tells how the body of a request is framed. A head that two
// programs could read in two ways is refused, as RFC 9112 (section 6.3) allows.
func requestBody(h *head, in *stream) (body, error) {
	b := body{in: in, length: -1}
	chunked, coded, err := transferCoding(h)
	if err != nil {
		return b, err
	}
	if b.length, err = contentLength(h); err != nil {
		return b, err
	}
	switch {
	case coded && b.length >= 0:
		return b, bad("the request has both Content-Length and Transfer-Encoding")
	case coded && (!chunked || h.minor == '0'):
		return b, bad("the request's Transfer-Encoding does not say where its body ends")
	case coded:
		b.kind = byChunks
	case b.length > 0:
		b.kind, b.left = byLength, b.length
	}
	return b, nil
}

// responseBody does it for a response.
func responseBody(h *head, method string, in *stream) (body, error) {
	b := body{in: in, length: -1}
	chunked, coded, err := transferCoding(h)
	if err != nil {
		return b, err
	}
	if b.length, err = contentLength(h); err != nil && !coded {
		return b, err
	}
	switch {
	case method == "HEAD", h.status < 200, h.status == 204, h.status == 304:
	case coded && chunked:
		b.kind, b.length = byChunks, -1
	case coded || b.length < 0:
		b.kind, b.length = byClose, -1
	case b.length > 0:
		b.kind, b.left = byLength, b.length
	}
	return b, nil
}

// transferCoding reports whether there is one, and whether the last is chunked.
func transferCoding(h *head) (chunked, coded bool, err error) {
	for _, f := range h.fields {
		if !is(f.name, "Transfer-Encoding") {
			continue
		}
		for part := range strings.SplitSeq(f.value, ",") {
			if chunked {
				return false, true, bad("chunked is not the last of the transfer codings")
			}
			coded = true
			chunked = is(strings.Trim(part, " \t"), "chunked")
		}
	}
	return chunked, coded, nil
}

func contentLength(h *head) (int64, error) {
	n := int64(-1)
	for _, f := range h.fields {
		if !is(f.name, "Content-Length") {
			continue
		}
		v, err := strconv.ParseUint(f.value, 10, 63)
		if err != nil {
			return 0, bad("Content-Length is not a number")
		}
		if n >= 0 && n != int64(v) {
			return 0, bad("there are several Content-Length that differ")
		}
		n = int64(v)
	}
	return n, nil
}

// next gives more of the body, valid until the next call, and whether that is
// the last of it. The last piece may be empty. io.ErrUnexpectedEOF means that
// the sender broke off.
func (b *body) next() (p []byte, last bool, err error) {
	switch b.kind {
	case byLength:
		if p, err = b.some(); err != nil {
			return nil, false, err
		}
		return p, b.left == 0, nil
	case byChunks:
		return b.chunk()
	case byClose:
		if len(b.in.data()) == 0 {
			if err := b.in.fill(); errors.Is(err, io.EOF) {
				return nil, true, nil
			} else if err != nil {
				return nil, false, err
			}
		}
		p = b.in.data()
		b.in.skip(len(p))
		return p, false, nil
	case noBody:
	}
	return nil, true, nil
}

// some gives what has come of the next left bytes.
func (b *body) some() ([]byte, error) {
	if len(b.in.data()) == 0 {
		if err := b.in.fill(); err != nil {
			return nil, unexpected(err)
		}
	}
	p := b.in.data()
	p = p[:min(int64(len(p)), b.left)]
	b.in.skip(len(p))
	b.left -= int64(len(p))
	return p, nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// chunk gives what has come of a chunk, or the end of the body.
func (b *body) chunk() ([]byte, bool, error) {
	if b.left == 0 {
		n, err := b.chunkSize()
		if err != nil {
			return nil, false, err
		}
		if n == 0 {
			return nil, true, b.trailers()
		}
		b.left, b.began = n, true
	}
	p, err := b.some()
	return p, false, err
}

// chunkSize reads the line before a chunk, and the end of the chunk before it.
// Extensions of chunks end here (RFC 9112, section 7.1.1).
func (b *body) chunkSize() (int64, error) {
	if b.began {
		l, err := b.in.line(2)
		if err != nil {
			return 0, unexpected(err)
		}
		if len(l) > 0 {
			return 0, bad("a chunk is longer than it says")
		}
	}
	l, err := b.in.line(4 << 10)
	if err != nil {
		return 0, unexpected(err)
	}
	digits, _, _ := strings.Cut(string(l), ";")
	n, err := strconv.ParseUint(strings.TrimRight(digits, " \t"), 16, 63)
	if err != nil {
		return 0, bad("the size of a chunk is not a number")
	}
	return int64(n), nil
}

func (b *body) trailers() error {
	var text strings.Builder
	for {
		l, err := b.in.line(bufferSize)
		if err != nil {
			return unexpected(err)
		}
		if len(l) == 0 {
			break
		}
		if text.Len()+len(l) > maxHead {
			return errHeadTooLong
		}
		text.Write(l)
		text.WriteByte('\n')
	}
	var err error
	if text.Len() > 0 {
		b.trailer, err = parseFields(text.String(), nil, false)
	}
	return err
}
