package hub

import (
	"io"
	"io/fs"
	"path"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// memFS is a folder in memory, without identities of files, as some file
// systems are.
type memFS struct {
	mu    sync.Mutex
	files map[string]*memFile
	gone  bool // the folder does not exist
	fail  error
	reads int
}

type memFile struct {
	b   []byte
	mod time.Time
}

func newMemFS() *memFS { return &memFS{files: map[string]*memFile{}} }

func (m *memFS) write(name, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[name] = &memFile{[]byte(text), time.Now()}
}

func (m *memFS) append(name, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.files[name]
	if f == nil {
		f = &memFile{}
		m.files[name] = f
	}
	f.b, f.mod = append(f.b, text...), time.Now()
}

func (m *memFS) truncate(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.files[name]
	f.b, f.mod = nil, time.Now()
}

func (m *memFS) rename(from, to string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[to] = m.files[from]
	delete(m.files, from)
}

func (m *memFS) remove(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, name)
}

func (m *memFS) Open(name string) (capture.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: m.fail}
	}
	f := m.files[name]
	if f == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &memHandle{m: m, f: f, name: name}, nil
}

func (m *memFS) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.files[name]; f != nil {
		return memInfo{path.Base(name), int64(len(f.b)), f.mod, 0}, nil
	}
	if name == "logs" && !m.gone {
		return memInfo{name, 0, time.Time{}, fs.ModeDir}, nil
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

func (m *memFS) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	var out []fs.DirEntry
	for n, f := range m.files {
		if base, ok := strings.CutPrefix(n, name+"/"); ok {
			out = append(out, fs.FileInfoToDirEntry(memInfo{base, int64(len(f.b)), f.mod, 0}))
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name() < out[j].Name() })
	return out, nil
}

type memInfo struct {
	name string
	size int64
	mod  time.Time
	mode fs.FileMode
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) Mode() fs.FileMode  { return i.mode }
func (i memInfo) ModTime() time.Time { return i.mod }
func (i memInfo) IsDir() bool        { return i.mode.IsDir() }
func (i memInfo) Sys() any           { return nil }

type memHandle struct {
	m    *memFS
	f    *memFile
	name string
	at   int64
}

func (h *memHandle) ReadAt(p []byte, off int64) (int, error) {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	h.m.reads++
	if off >= int64(len(h.f.b)) {
		return 0, io.EOF
	}
	n := copy(p, h.f.b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *memHandle) Read(p []byte) (int, error) {
	n, err := h.ReadAt(p, h.at)
	h.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (h *memHandle) Stat() (fs.FileInfo, error) {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	return memInfo{path.Base(h.name), int64(len(h.f.b)), h.f.mod, 0}, nil
}

func (h *memHandle) Close() error { return nil }
