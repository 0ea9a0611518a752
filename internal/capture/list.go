package capture

import "time"

// Log is a session's log as it lies in a folder.
type Log struct {
	ID       string // the name without .jsonl
	Label    string // from the name <label>-<pid>-<12 hex digits>; else the ID
	PID      int    // from the name; else 0
	Path     string // of the first segment
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

// List gives the logs in a folder, newest first, without reading any of them.
func List(fsys FS, dir string) ([]Log, error) { panic("TODO") }

// Locate gives the log whose first segment is at path. A path that names a
// later segment stands for that file alone.
func Locate(fsys FS, path string) (Log, error) { panic("TODO") }

// Head reads the first record of a log: the meta record, where the log has one.
func Head(fsys FS, log Log) (Record, error) { panic("TODO") }

// Last reads the last whole record of a log from its end: the end record when
// the session is over.
func Last(fsys FS, log Log) (Record, error) { panic("TODO") }
