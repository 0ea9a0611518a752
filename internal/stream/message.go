package stream

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// Version is that of the protocol.
const Version = 1

// MaxRead is the largest piece of a file that can be asked for.
const MaxRead = 1 << 20

// Bounds of lines. Answers hold filesPerLine files at most.
const (
	maxRequest   = 4 << 10
	maxAnswer    = 1 << 20
	filesPerLine = 500
)

// File is a file in a folder of logs.
type File struct {
	Name  string `json:"name"`
	Size  int64  `json:"size"`
	MTime int64  `json:"mtime"` // Unix nanoseconds
}

// Hello is what the answering side says of itself.
type Hello struct {
	Version int
	Host    string
	Program string // its version
	Time    int64  // its clock, in Unix nanoseconds
}

type request struct {
	Op    string `json:"op"`
	Name  string `json:"name,omitzero"`
	At    int64  `json:"at,omitzero"`
	Len   int    `json:"len,omitzero"`
	Check string `json:"check,omitzero"`
}

type answer struct {
	Op      string   `json:"op"`
	V       int      `json:"v,omitzero"`
	Host    string   `json:"host,omitzero"`
	Version string   `json:"version,omitzero"`
	Time    int64    `json:"time,omitzero"`
	Files   []File   `json:"files,omitzero"`
	Gone    []string `json:"gone,omitzero"`
	More    bool     `json:"more,omitzero"`
	Raw     int      `json:"raw,omitzero"`
	Packed  int      `json:"packed,omitzero"`
	Size    int64    `json:"size,omitzero"`
	Text    string   `json:"text,omitzero"`
}

// errLine is what a line that is no message is answered with.
var errLine = errors.New("a line that is no message of the protocol")

// readLine reads a line of at most limit bytes. What it returns lives until
// the next read.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err == nil {
		return line[:len(line)-1], nil
	}
	if !errors.Is(err, bufio.ErrBufferFull) {
		if errors.Is(err, io.EOF) && len(line) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	long := append([]byte(nil), line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(long) > limit {
			return nil, fmt.Errorf("%w: longer than %d bytes", errLine, limit)
		}
		line, err = r.ReadSlice('\n')
		long = append(long, line...)
	}
	if err != nil {
		return nil, err
	}
	if len(long) > limit {
		return nil, fmt.Errorf("%w: longer than %d bytes", errLine, limit)
	}
	return long[:len(long)-1], nil
}

func parse[T request | answer](line []byte) (m T, err error) {
	if err = json.Unmarshal(line, &m); err != nil {
		return m, fmt.Errorf("%w: %w", errLine, err)
	}
	return m, nil
}

func appendLine(b []byte, m any) ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return b, fmt.Errorf("make a message: %w", err)
	}
	return append(append(b, text...), '\n'), nil
}

// ValidName reports whether a name is one of a file of logs in a folder: no
// path, no device, nothing hidden.
func ValidName(name string) bool {
	if len(name) > 255 || !utf8.ValidString(name) || name == "" || name[0] == '.' || name[0] == '-' {
		return false
	}
	if strings.ContainsAny(name, `/\:*?"<>|`) || strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		return false
	}
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".jsonl.zst")
}

// digestSpan is how much of the begin and of the end goes into a digest.
const digestSpan = 4 << 10

// Digest tells a file from another one by what stands before at: its first
// bytes and its last ones. Logs begin with the id of their session.
func Digest(r io.ReaderAt, at int64) (string, error) {
	h := sha256.New()
	n := min(at, digestSpan)
	for _, from := range [2]int64{0, at - n} {
		if _, err := io.Copy(h, io.NewSectionReader(r, from, n)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
