package stream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// ErrMoved says that a file is another one than was asked for, or was cut.
var ErrMoved = errors.New("the log was replaced, or is shorter than before")

// ErrGone says that there is no such file.
var ErrGone = errors.New("the log is gone")

// ErrNotStream says that what answers does not speak the protocol.
var ErrNotStream = errors.New("the far end does not speak the protocol of mcpsnoop stream")

// ahead is how many pieces are asked for before the first has come.
const ahead = 8

// Client asks for logs. One goroutine uses it; to end a call, close what it
// reads from.
type Client struct {
	r     *bufio.Reader
	w     io.Writer
	hello Hello
	unzip *zstd.Decoder

	line, packed, raw []byte
}

// NewClient waits for the far end to say who it is. What comes before that,
// from the start files of a shell for example, is skipped, up to a bound.
func NewClient(r io.Reader, w io.Writer) (*Client, error) {
	c := &Client{r: bufio.NewReaderSize(r, 64<<10), w: w}
	const maxNoise = 50 // lines
	for range maxNoise {
		line, err := readLine(c.r, maxRequest)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotStream, err)
		}
		a, err := parse[answer](line)
		if err != nil || a.Op != "hello" {
			continue
		}
		if a.V != Version {
			return nil, fmt.Errorf("%w: it speaks version %d, and this program %d", ErrNotStream, a.V, Version)
		}
		c.hello = Hello{a.V, a.Host, a.Version, a.Time}
		c.unzip, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*MaxRead))
		return c, err
	}
	return nil, ErrNotStream
}

// Hello is what the far end said of itself.
func (c *Client) Hello() Hello { return c.hello }

// Close gives memory back. It does not close the streams.
func (c *Client) Close() {
	if c.unzip != nil {
		c.unzip.Close()
	}
}

func (c *Client) ask(r request) (err error) {
	if c.line, err = appendLine(c.line[:0], r); err != nil {
		return err
	}
	_, err = c.w.Write(c.line)
	return err
}

// next reads an answer, leaving out signs of life.
func (c *Client) next() (answer, error) {
	for {
		line, err := readLine(c.r, maxAnswer)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return answer{}, fmt.Errorf("read from the far end: %w", err)
		}
		a, err := parse[answer](line)
		switch {
		case err != nil:
			return a, err
		case a.Op == "beat":
			continue
		case a.Op == "error":
			return a, FarError{a.Text}
		}
		return a, nil
	}
}

// FarError is an error that the far end met, and said; the stream goes on.
type FarError struct{ Text string }

func (e FarError) Error() string { return "the far end: " + e.Text }

// List gives all files. Names that are not valid are left out.
func (c *Client) List() ([]File, error) {
	files, _, err := c.files("list")
	return files, err
}

// Wait gives what has changed since the last List or Wait, once something has.
func (c *Client) Wait() (files []File, gone []string, err error) { return c.files("wait") }

// maxFiles bounds how many files a far end may name.
const maxFiles = 1 << 20

func (c *Client) files(op string) (files []File, gone []string, err error) {
	if err := c.ask(request{Op: op}); err != nil {
		return nil, nil, err
	}
	for {
		a, err := c.next()
		if err != nil {
			return nil, nil, err
		}
		if a.Op != "files" || len(files)+len(gone) > maxFiles {
			return nil, nil, fmt.Errorf("%w: %q in place of files", errLine, a.Op)
		}
		for _, f := range a.Files {
			if ValidName(f.Name) && f.Size >= 0 {
				files = append(files, f)
			}
		}
		for _, name := range a.Gone {
			if ValidName(name) {
				gone = append(gone, name)
			}
		}
		if !a.More {
			return files, gone, nil
		}
	}
}

// Copy gives the bytes of a file from at to its end, which is said to be at
// size, in pieces. check is the digest of what stands before at, "" when at is
// zero. It returns how many bytes were given; fewer than there are now when
// the file has grown meanwhile. The pieces live until give returns.
func (c *Client) Copy(ctx context.Context, name string, at, size int64, check string, give func([]byte) error) (n int64, err error) {
	asked, answered := 0, 0
	pieces := int(max(1, (size-at+MaxRead-1)/MaxRead))
	for answered < pieces {
		for asked < pieces && asked-answered < ahead && err == nil {
			req := request{Op: "read", Name: name, At: at + int64(asked)*MaxRead, Len: MaxRead}
			if asked == 0 {
				req.Check = check
			}
			if werr := c.ask(req); werr != nil {
				return n, werr
			}
			asked++
		}
		if asked == answered {
			break
		}
		piece, perr := c.piece()
		answered++
		var far FarError
		switch {
		case perr != nil && !errors.Is(perr, ErrMoved) && !errors.Is(perr, ErrGone) && !errors.As(perr, &far):
			return n, perr // the stream itself
		case err != nil: // what was asked for ahead
			continue
		case perr != nil:
			err = perr
			continue
		}
		if err = ctx.Err(); err == nil {
			err = give(piece)
		}
		if err == nil {
			n += int64(len(piece))
			if len(piece) < MaxRead && answered < pieces {
				err = errShort
			}
		}
	}
	if errors.Is(err, errShort) {
		err = nil
	}
	return n, err
}

// errShort ends a copy of a file that is shorter than it was said to be.
var errShort = errors.New("short")

// piece reads the answer to a read.
func (c *Client) piece() ([]byte, error) {
	a, err := c.next()
	switch {
	case err != nil:
		return nil, err
	case a.Op == "moved":
		return nil, ErrMoved
	case a.Op == "gone":
		return nil, ErrGone
	case a.Op != "data" || a.Raw < 0 || a.Raw > MaxRead || a.Packed < 0 || a.Packed > MaxRead:
		return nil, fmt.Errorf("%w: %q in place of data", errLine, a.Op)
	}
	if a.Packed == 0 {
		if cap(c.raw) < a.Raw {
			c.raw = make([]byte, a.Raw, MaxRead)
		}
		c.raw = c.raw[:a.Raw]
		_, err = io.ReadFull(c.r, c.raw)
		return c.raw, err
	}
	if cap(c.packed) < a.Packed {
		c.packed = make([]byte, a.Packed, MaxRead)
	}
	c.packed = c.packed[:a.Packed]
	if _, err := io.ReadFull(c.r, c.packed); err != nil {
		return nil, err
	}
	if c.raw, err = c.unzip.DecodeAll(c.packed, c.raw[:0]); err != nil {
		return nil, fmt.Errorf("%w: decompress: %w", errLine, err)
	}
	if len(c.raw) != a.Raw {
		return nil, fmt.Errorf("%w: %d bytes in place of %d", errLine, len(c.raw), a.Raw)
	}
	return c.raw, nil
}
