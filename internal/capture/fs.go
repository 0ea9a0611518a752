package capture

import (
	"io"
	"io/fs"
	"os"
)

// File is an open log. ReadAt is safe for concurrent use, Read is not.
type File interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// FS is where logs are read: this machine, or another one over SFTP. Errors
// satisfy errors.Is with fs.ErrNotExist and fs.ErrPermission where they mean
// that. Implementations are safe for concurrent use.
type FS interface {
	Open(name string) (File, error)
	Stat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
}

// OS is the file system of this machine. The zero value is ready.
type OS struct{}

// Open opens a file for reading.
func (OS) Open(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Stat follows symbolic links.
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// ReadDir lists a folder, sorted by name.
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// sameFile reports whether two results of Stat speak of one file, and whether
// this file system can tell.
func sameFile(a, b fs.FileInfo) (same, known bool) {
	if !os.SameFile(a, a) {
		return false, false
	}
	return os.SameFile(a, b), true
}
