package filterfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Names of the files.
const (
	savedName  = "filters"
	recentName = "filters.recent"
)

// Book are the filters of a folder. It is safe for concurrent use; of several
// programs that write at the same time the last one counts.
type Book struct {
	Dir   string
	Check func(filter string) error // what is wrong with a filter; nil takes all

	mu sync.Mutex
}

// Path is the file that people edit.
func (b *Book) Path() string { return filepath.Join(b.Dir, savedName) }

// Load reads both files; one that is not there is empty.
func (b *Book) Load() (saved []Saved, recent, problems []string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text, err := b.read(savedName)
	if err != nil {
		return nil, nil, nil, err
	}
	saved, problems = Parse(text, b.Check)
	for i := range problems {
		problems[i] = b.Path() + ", " + problems[i]
	}
	last, err := b.read(recentName)
	return saved, parseRecent(last), problems, err
}

// Save keeps a filter under a name; an empty one forgets the name.
func (b *Book) Save(name, filter string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	text, err := b.read(savedName)
	if err != nil {
		return err
	}
	if text, err = Set(text, name, filter); err != nil {
		return err
	}
	return b.write(savedName, text)
}

// Remember puts a filter last among those that were used.
func (b *Book) Remember(filter string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := checkFilter(filter); err != nil {
		return err
	}
	text, err := b.read(recentName)
	if err != nil {
		return err
	}
	return b.write(recentName, []byte(strings.Join(push(parseRecent(text), filter), "\n")+"\n"))
}

func (b *Book) read(name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(b.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the filters: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the filters: %w", err)
	case len(text) > MaxFile:
		return nil, fmt.Errorf("read the filters: %s is longer than %d bytes; shorten it", f.Name(), MaxFile)
	}
	return text, nil
}

// write replaces a file whole.
func (b *Book) write(name string, text []byte) error {
	if err := os.MkdirAll(b.Dir, 0o700); err != nil {
		return fmt.Errorf("keep the filters: %w", err)
	}
	f, err := os.CreateTemp(b.Dir, "."+name+"-*") // for its owner alone
	if err != nil {
		return fmt.Errorf("keep the filters: %w", err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(b.Dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("keep the filters: %w", err)
	}
	return nil
}
