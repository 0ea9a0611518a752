package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// Folders below the state folder.
const (
	sessionsDir = "sessions"
	remoteDir   = "remote"
)

var errNoState = errors.New("cannot tell where the state folder is: neither MCPSNOOP_HOME nor a home folder is set")

// stateDir is where sessions and all else that is kept lie.
func (a *App) stateDir() (string, error) {
	if dir := a.Getenv("MCPSNOOP_HOME"); dir != "" {
		return a.abs(dir), nil
	}
	if dir := a.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) { // others are to be ignored, says its specification
		return filepath.Join(dir, "mcpsnoop"), nil
	}
	if a.OS == "windows" {
		if dir := a.Getenv("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, "mcpsnoop"), nil
		}
		if dir := a.Getenv("USERPROFILE"); dir != "" {
			return filepath.Join(dir, "AppData", "Local", "mcpsnoop"), nil
		}
		return "", errNoState
	}
	home := a.Getenv("HOME")
	switch {
	case home == "":
		return "", errNoState
	case a.OS == "darwin":
		return filepath.Join(home, "Library", "Application Support", "mcpsnoop"), nil
	}
	return filepath.Join(home, ".local", "state", "mcpsnoop"), nil
}

// abs takes a path as relative to the working directory that App has.
func (a *App) abs(path string) string {
	if path == "" || filepath.IsAbs(path) || a.Dir == "" {
		return path
	}
	return filepath.Join(a.Dir, path)
}

// savedLog is a log in the state folder.
type savedLog struct {
	capture.Log
	Origin string // the host it was mirrored from, "" for this machine
}

// savedLogs lists all saved sessions, newest first; those of this machine
// before those of others where they are equally new.
func (a *App) savedLogs() ([]savedLog, error) {
	state, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	logs, err := a.listLogs(filepath.Join(state, sessionsDir), "")
	if err != nil {
		return nil, err
	}
	hosts, err := a.FS.ReadDir(filepath.Join(state, remoteDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the mirrors: %w", err)
	}
	for _, h := range hosts {
		far, err := a.listLogs(filepath.Join(state, remoteDir, h.Name(), sessionsDir), h.Name())
		if err != nil {
			return nil, err
		}
		logs = append(logs, far...)
	}
	sortNewestFirst(logs)
	return logs, nil
}

func (a *App) listLogs(dir, origin string) ([]savedLog, error) {
	logs, err := capture.List(a.FS, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	out := make([]savedLog, len(logs))
	for i, l := range logs {
		out[i] = savedLog{l, origin}
	}
	return out, err
}

// isPath tells a path from the name of a session.
func isPath(arg string) bool {
	return strings.ContainsAny(arg, `/\`) || strings.HasSuffix(arg, ".jsonl") || strings.HasSuffix(arg, ".zst") || strings.HasSuffix(arg, ".har")
}
