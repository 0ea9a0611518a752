package httpproxy

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// codings splits a Content-Encoding (RFC 9110, section 8.4) and reports
// whether a copy of all of them can be decoded.
func codings(value string) (list []string, known bool) {
	known = true
	for part := range strings.SplitSeq(value, ",") {
		switch c := strings.ToLower(strings.Trim(part, " \t")); c {
		case "", "identity":
		case "gzip", "x-gzip", "deflate", "br", "zstd":
			list = append(list, c)
		default:
			list, known = append(list, c), false
		}
	}
	return list, known
}

// decoder decodes a copy of a compressed body in step with the bytes: write
// returns when all that can be decoded of them has been given to out. The work
// is done by a goroutine of its own, since the decoders want to read; it ends
// with close.
type decoder struct {
	chunks chan []byte
	hungry chan struct{} // it has taken all it was given
	ended  chan struct{} // it will take no more
	broken bool          // valid once ended is closed

	cur    []byte
	asked  bool
	budget int64 // output that one write may still make
	limit  int64
}

// newDecoder starts the goroutine. limit bounds what one write may make of
// its bytes: a body that grows more than that is given up (and passed on all
// the same).
func newDecoder(list []string, limit int64, out func([]byte)) *decoder {
	d := &decoder{chunks: make(chan []byte), hungry: make(chan struct{}), ended: make(chan struct{}), limit: limit}
	go d.run(list, out)
	return d
}

func (d *decoder) run(list []string, out func([]byte)) {
	defer close(d.ended)
	r, done, err := decodeAll(list, d)
	defer done()
	if err != nil {
		d.broken = true
		return
	}
	buf := make([]byte, bufferSize)
	for {
		n, err := r.Read(buf)
		if d.budget -= int64(n); d.budget < 0 {
			d.broken = true
			return
		}
		if n > 0 {
			out(buf[:n])
		}
		if err != nil {
			d.broken = !errors.Is(err, io.EOF)
			return
		}
	}
}

// Read gives the decoder what has come, and waits for more.
func (d *decoder) Read(p []byte) (int, error) {
	for len(d.cur) == 0 {
		if d.asked {
			d.hungry <- struct{}{}
		}
		c, ok := <-d.chunks
		if !ok {
			return 0, io.EOF
		}
		d.cur, d.asked, d.budget = c, true, d.limit
	}
	n := copy(p, d.cur)
	d.cur = d.cur[n:]
	return n, nil
}

// write decodes p and reports whether that went well so far.
func (d *decoder) write(p []byte) bool {
	select {
	case d.chunks <- p:
	case <-d.ended:
		return !d.broken
	}
	select {
	case <-d.hungry:
		return true
	case <-d.ended:
		return !d.broken
	}
}

// close ends the body: what is left to be given to out is given. It reports
// whether the body was whole.
func (d *decoder) close() bool {
	close(d.chunks)
	<-d.ended
	return !d.broken
}

// decodeAll undoes the codings, the last one first.
func decodeAll(list []string, r io.Reader) (io.Reader, func(), error) {
	done := func() {}
	for i := len(list) - 1; i >= 0; i-- {
		switch list[i] {
		case "gzip", "x-gzip":
			z, err := gzip.NewReader(r)
			if err != nil {
				return nil, done, err
			}
			r = z
		case "deflate":
			z, err := inflate(r)
			if err != nil {
				return nil, done, err
			}
			r = z
		case "br":
			r = brotli.NewReader(r)
		case "zstd":
			z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20))
			if err != nil {
				return nil, done, err
			}
			done, r = z.Close, z // it stands alone or last: one Close is enough for one zstd
		}
	}
	return r, done, nil
}

// inflate reads "deflate", which is zlib by RFC 9110 (section 8.4.1.2) and bare
// deflate from some servers.
func inflate(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	first, err := b.Peek(2)
	if err != nil {
		return nil, err
	}
	if first[0]&0x0f == 8 && (int(first[0])<<8|int(first[1]))%31 == 0 {
		return zlib.NewReader(b)
	}
	return flate.NewReader(b), nil
}
