package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Log is a session's log as it lies in a folder.
type Log struct {
	ID       string // the name without .jsonl
	Label    string // from the name <label>-<pid>-<12 hex digits>; else the ID
	PID      int    // from the name; else 0
	Path     string // of the first segment, as if it were not compressed
	Segments []Segment
	Size     int64     // bytes on disk, all segments
	ModTime  time.Time // of the newest segment
}

// Segment is one file of a log.
type Segment struct {
	Number  int // from 1
	Path    string
	Size    int64 // bytes on disk
	ModTime time.Time
	Zstd    bool
}

const (
	logExt  = ".jsonl"
	zstdExt = ".zst"
)

// List gives the logs in a folder, newest first, without reading any of them.
// A file that vanishes meanwhile is left out.
func List(fsys FS, dir string) ([]Log, error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the session logs: %w", err)
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	logs := map[string]*Log{}
	for _, e := range entries {
		n, ok := parseName(e.Name(), names)
		if !ok || e.IsDir() || n.zstd && names[strings.TrimSuffix(e.Name(), zstdExt)] {
			continue
		}
		info, err := e.Info()
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			info, err = fsys.Stat(join(dir, e.Name()))
		}
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		log := logs[n.id]
		if log == nil {
			log = newLog(n.id, join(dir, n.id+logExt))
			logs[n.id] = log
		}
		log.add(Segment{n.segment, join(dir, e.Name()), info.Size(), info.ModTime(), n.zstd})
	}
	out := make([]Log, 0, len(logs))
	for _, log := range logs {
		slices.SortFunc(log.Segments, func(a, b Segment) int { return cmp.Compare(a.Number, b.Number) })
		out = append(out, *log)
	}
	slices.SortFunc(out, func(a, b Log) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(b.ID, a.ID))
	})
	return out, nil
}

func newLog(id, path string) *Log {
	log := &Log{ID: id, Label: id, Path: path}
	if label, pid, ok := parseID(id); ok {
		log.Label, log.PID = label, pid
	}
	return log
}

func (l *Log) add(s Segment) {
	l.Segments = append(l.Segments, s)
	l.Size += s.Size
	if s.ModTime.After(l.ModTime) {
		l.ModTime = s.ModTime
	}
}

// Locate gives the log whose first segment is at path, with or without the
// .zst of a compressed one. A path that names a later segment stands for that
// file alone.
func Locate(fsys FS, path string) (Log, error) {
	path = strings.TrimSuffix(path, zstdExt)
	_, base := split(path)
	log := newLog(strings.TrimSuffix(base, logExt), path)
	for n := 1; n == 1 || segmentOf(base) == 1; n++ {
		s, err := statSegment(fsys, path, n)
		if n > 1 && errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return Log{}, fmt.Errorf("find the log: %w", err)
		}
		log.add(s)
	}
	return *log, nil
}

// SegmentPath is the path of a segment of the log whose first one is at path.
func SegmentPath(path string, segment int) string {
	if segment <= 1 {
		return path
	}
	return fmt.Sprintf("%s.%04d%s", strings.TrimSuffix(path, logExt), segment, logExt)
}

// statSegment finds a segment, compressed or not.
func statSegment(fsys FS, path string, n int) (Segment, error) {
	name := SegmentPath(path, n)
	info, err := fsys.Stat(name)
	packed := false
	if err != nil {
		zinfo, zerr := fsys.Stat(name + zstdExt)
		if zerr != nil {
			return Segment{}, err
		}
		info, name, packed = zinfo, name+zstdExt, true
	}
	return Segment{n, name, info.Size(), info.ModTime(), packed}, nil
}

// logName is what a file name in a folder of logs says.
type logName struct {
	id      string
	segment int
	zstd    bool
}

// parseName reads a file name. <x>.0002.jsonl is the second segment of <x>
// when x is a session id, or when the first one lies beside it.
func parseName(name string, names map[string]bool) (logName, bool) {
	base, packed := strings.CutSuffix(name, zstdExt)
	id, ok := strings.CutSuffix(base, logExt)
	if !ok || id == "" || strings.HasPrefix(id, ".") {
		return logName{}, false
	}
	n := segmentOf(name)
	if n < 2 {
		return logName{id, 1, packed}, true
	}
	first := id[:strings.LastIndexByte(id, '.')]
	if _, _, ok := parseID(first); ok || names[first+logExt] || names[first+logExt+zstdExt] {
		return logName{first, n, packed}, true
	}
	return logName{id, 1, packed}, true
}

// segmentOf gives the number in <x>.NNNN.jsonl, 1 when there is none.
func segmentOf(name string) int {
	id, ok := strings.CutSuffix(strings.TrimSuffix(name, zstdExt), logExt)
	if !ok {
		return 1
	}
	digits := id[strings.LastIndexByte(id, '.')+1:]
	if len(digits) < 4 || len(digits) == len(id) || len(digits) > 9 {
		return 1
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || n < 2 {
		return 1
	}
	return int(n)
}

// parseID takes a session id apart: <label>-<pid>-<12 hex digits>.
func parseID(id string) (label string, pid int, ok bool) {
	i := strings.LastIndexByte(id, '-')
	if i < 0 || len(id)-i-1 != 12 || strings.Trim(id[i+1:], "0123456789abcdef") != "" {
		return "", 0, false
	}
	j := strings.LastIndexByte(id[:i], '-')
	if j <= 0 {
		return "", 0, false
	}
	n, err := strconv.ParseUint(id[j+1:i], 10, 31)
	if err != nil {
		return "", 0, false
	}
	return id[:j], int(n), true
}

// split cuts a path behind its last separator: "/" on every machine, and "\"
// in front of a drive's paths.
func split(path string) (dir, base string) {
	i := strings.LastIndexByte(path, '/')
	if j := strings.LastIndexByte(path, '\\'); j > i && windowsPath(path) {
		i = j
	}
	return path[:i+1], path[i+1:]
}

func windowsPath(path string) bool {
	return strings.HasPrefix(path, `\\`) || len(path) > 2 && path[1] == ':'
}

func join(dir, name string) string {
	if dir == "" || strings.HasSuffix(dir, "/") {
		return dir + name
	}
	if windowsPath(dir) {
		return strings.TrimSuffix(dir, `\`) + `\` + name
	}
	return dir + "/" + name
}
