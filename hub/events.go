package hub

import (
	"fmt"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Events are nudges from the file system about one folder: a reason to look
// sooner, and nothing to rely on.
type Events struct {
	// C gives the name of a file of the folder that may have changed, or ""
	// when any may have. It is closed when there will be no more events, for
	// example because the folder is gone.
	C <-chan string
	// Close ends the events and waits for what works for them.
	Close func()
}

// watchFolder watches a folder with the means of the system.
func watchFolder(dir string) (*Events, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("make a watcher: %w", err)
	}
	if err := w.Add(dir); err != nil {
		w.Close()
		return nil, fmt.Errorf("add a watch: %w", err)
	}
	names, stop := make(chan string), make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		defer close(names)
		defer w.Close()
		nudges(w, dir, names, stop)
	})
	var once sync.Once
	return &Events{C: names, Close: func() {
		once.Do(func() { close(stop) })
		work.Wait()
	}}, nil
}

// nudges passes on the names of files until the folder goes or stop is closed.
func nudges(w *fsnotify.Watcher, dir string, names chan<- string, stop <-chan struct{}) {
	dir = filepath.Clean(dir)
	for {
		name := ""
		select {
		case <-stop:
			return
		case _, ok := <-w.Errors: // an overflow, or something that nobody can mend
			if !ok {
				return
			}
		case ev, ok := <-w.Events:
			switch {
			case !ok:
				return
			case ev.Op == fsnotify.Chmod:
				continue
			case filepath.Clean(ev.Name) == dir:
				if ev.Op.Has(fsnotify.Remove) || ev.Op.Has(fsnotify.Rename) {
					return
				}
			default:
				name = filepath.Base(ev.Name)
			}
		}
		select {
		case names <- name:
		case <-stop:
			return
		}
	}
}
