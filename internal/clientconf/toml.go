package clientconf

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlEntries reads the tables [mcp_servers.NAME] of a Codex configuration.
func tomlEntries(file []byte) ([]candidate, error) {
	var any map[string]any
	if err := toml.Unmarshal(file, &any); err != nil {
		return nil, fmt.Errorf("not TOML: %w", err)
	}
	var p unstable.Parser
	p.Reset(file)
	var out []candidate
	var at *candidate // entry whose table is being read
	flush := func() {
		if at != nil {
			out = append(out, *at)
		}
		at = nil
	}
	for p.NextExpression() {
		n := p.Expression()
		key := keyOf(n)
		switch n.Kind {
		case unstable.Table, unstable.ArrayTable:
			flush()
			if n.Kind == unstable.Table && len(key) == 2 && key[0] == "mcp_servers" {
				at = &candidate{&Entry{Name: key[1], Scope: UserScope, file: file, toml: true}, errors.New("the entry has no command")}
			}
		case unstable.KeyValue:
			if at != nil && len(key) == 1 {
				tomlMember(at, &p, file, n, key[0])
			}
		default:
		}
	}
	flush()
	if err := p.Error(); err != nil {
		return nil, fmt.Errorf("not TOML: %w", err)
	}
	return out, nil
}

func keyOf(n *unstable.Node) []string {
	var key []string
	for it := n.Key(); it.Next(); {
		key = append(key, string(it.Node().Data))
	}
	return key
}

// tomlMember takes one line of an entry's table.
func tomlMember(c *candidate, p *unstable.Parser, file []byte, n *unstable.Node, name string) {
	e, v := c.entry, n.Value()
	switch name {
	case "url":
		if e.command == (span{}) {
			c.err = ErrRemote
		}
	case "command":
		if v.Kind != unstable.String {
			c.err = errors.New("command must be a string")
			return
		}
		e.command, e.text, c.err = rangeOf(v), string(v.Data), nil
		e.Line = 1 + bytes.Count(file[:e.command.from], []byte{'\n'})
	case "args":
		if v.Kind != unstable.Array {
			c.err = errors.New("args must be an array")
			return
		}
		for it := v.Children(); it.Next(); {
			item := it.Node()
			if item.Kind != unstable.String {
				c.err = errors.New("args must be strings")
				return
			}
			e.items = append(e.items, rangeOf(item))
			e.texts = append(e.texts, string(item.Data))
		}
		e.args = arrayAt(file, n, e.items)
	}
}

func rangeOf(n *unstable.Node) span {
	return span{int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length)}
}

// arrayAt finds the brackets around elements that the parser gave.
func arrayAt(file []byte, n *unstable.Node, items []span) span {
	it := n.Key()
	it.Next()
	key := rangeOf(it.Node())
	from := key.to + bytes.IndexByte(file[key.to:], '[')
	to := from + 1
	if len(items) > 0 {
		to = items[len(items)-1].to
	}
	return span{from, to + bytes.IndexByte(file[to:], ']') + 1}
}
