package clientconf

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
)

// serverKeys are the members that hold the servers: of most clients, and of VS Code.
var serverKeys = []string{"mcpServers", "servers"}

// UserScope is the scope of an entry that counts in every project.
const UserScope = "user"

// Query says which entry is meant.
type Query struct {
	Name  string
	Scope string // "user", "project" or "" for the only one there is
	Dir   string // working directory: the project of scope project
}

// Find finds the entry of a server in a file. name, the file's name, tells
// TOML from JSON.
func Find(file []byte, name string, q Query) (*Entry, error) {
	all, err := entries(file, name)
	if err != nil {
		return nil, err
	}
	var found []*Entry
	var why error
	for _, e := range all {
		switch {
		case e.entry.Name != q.Name || !q.means(e.entry.Scope):
		case e.err != nil:
			why = e.err
		default:
			found = append(found, e.entry)
		}
	}
	if len(found) == 0 && why != nil {
		return nil, fmt.Errorf("%q: %w", q.Name, why)
	}
	return choose(found, q.Name)
}

// means reports whether an entry of that scope can be meant: without a word
// about it the user's own, and that of the project one stands in.
func (q Query) means(scope string) bool {
	here := scope != UserScope && filepath.Clean(scope) == filepath.Clean(q.Dir)
	switch q.Scope {
	case UserScope:
		return scope == UserScope
	case "project":
		return here
	}
	return scope == UserScope || here
}

// Names lists the servers of a file that have a command, each once.
func Names(file []byte, name string) ([]string, error) {
	all, err := entries(file, name)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var out []string
	for _, e := range all {
		if e.err == nil && !seen[e.entry.Name] {
			seen[e.entry.Name] = true
			out = append(out, e.entry.Name)
		}
	}
	sort.Strings(out)
	return out, nil
}

// candidate is an entry, or why it cannot be used.
type candidate struct {
	entry *Entry
	err   error
}

func entries(file []byte, name string) ([]candidate, error) {
	if strings.EqualFold(filepath.Ext(name), ".toml") {
		return tomlEntries(file)
	}
	root, err := parseJSONC(file)
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if root.kind != '{' {
		return nil, errors.New("want an object at the top of the file")
	}
	out, err := serversOf(file, &root, UserScope)
	if err != nil {
		return nil, err
	}
	for _, projects := range root.get("projects") {
		for i := range projects.members {
			m := &projects.members[i]
			more, err := serversOf(file, &m.val, m.name)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
	}
	return out, nil
}

// serversOf reads the entries of one object that may hold servers.
func serversOf(file []byte, v *value, scope string) ([]candidate, error) {
	var out []candidate
	for _, key := range serverKeys {
		held := v.get(key)
		if len(held) > 1 {
			return nil, fmt.Errorf("%s stands %d times: %w", key, len(held), ErrAmbiguous)
		}
		for _, servers := range held {
			if servers.kind != '{' {
				if scope != UserScope {
					continue
				}
				return nil, fmt.Errorf("%s must be an object with a member for each server", key)
			}
			for i := range servers.members {
				m := &servers.members[i]
				out = append(out, jsonEntry(file, m, scope))
			}
		}
	}
	return out, nil
}

func jsonEntry(file []byte, m *member, scope string) candidate {
	e := &Entry{Name: m.name, Scope: scope, Line: m.line, file: file}
	commands, args := m.val.get("command"), m.val.get("args")
	switch {
	case m.val.kind != '{':
		return candidate{e, errors.New("the entry must be an object")}
	case len(commands) > 1 || len(args) > 1:
		return candidate{e, fmt.Errorf("command or args stands twice: %w", ErrAmbiguous)}
	case len(commands) == 0 && (len(m.val.get("url"))+len(m.val.get("serverUrl"))+len(m.val.get("httpUrl"))) > 0:
		return candidate{e, ErrRemote}
	case len(commands) == 0:
		return candidate{e, errors.New("the entry has no command")}
	case commands[0].kind != '"':
		return candidate{e, errors.New("command must be a string")}
	case len(args) == 1 && args[0].kind != '[':
		return candidate{e, errors.New("args must be an array")}
	}
	e.command, e.text = commands[0].at, textOf(file, commands[0])
	e.Line = 1 + bytes.Count(file[:e.command.from], []byte{'\n'})
	if len(args) == 1 {
		e.args = args[0].at
		for i := range args[0].items {
			e.items = append(e.items, args[0].items[i].at)
			e.texts = append(e.texts, textOf(file, &args[0].items[i]))
		}
	}
	return candidate{e, nil}
}
