package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/spf13/pflag"
)

// configName is the file in the working directory that gives flags.
const configName = ".mcpsnoop.toml"

// maxConfig bounds the file, in bytes.
const maxConfig = 1 << 20

// configKeys are the names that a configuration may set: those of the capture
// commands' flags. Commands take what they have a flag for.
func configKeys() []string {
	return []string{
		"label", "trace-file", "no-trace", "max-frame", "max-log-size", "grace",
		"redact-secrets", "redact-key", "redact-value", "redact-path",
		"otlp-endpoint", "otlp-header", "observe-auth", "target", "listen",
	}
}

// setting is one key of a configuration. Lines of one key add up.
type setting struct {
	Key    string
	Values []string
	Line   int // of the first value
	List   bool
}

// readConfig reads the configuration of the working directory; none is fine.
func (a *App) readConfig() ([]setting, error) {
	f, err := a.FS.Open(a.abs(configName))
	if errors.Is(err, fs.ErrNotExist) || a.Dir == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", configName, plain(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", configName, plain(err))
	}
	if len(b) > maxConfig {
		return nil, fmt.Errorf("read %s: longer than %s", configName, sizeText(maxConfig))
	}
	return parseConfig(configName, b)
}

// configError is a mistake in a configuration, with its place.
func configError(file string, line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", file, line, fmt.Errorf(format, args...))
}

// parseConfig reads TOML. It uses the parser below the decoder, because a list
// may also be written as lines that repeat a key, which TOML forbids.
func parseConfig(file string, b []byte) ([]setting, error) {
	var p unstable.Parser
	p.Reset(b)
	var out []setting
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.KeyValue:
			s, err := keyValue(file, b, e)
			if err != nil {
				return nil, err
			}
			if out, err = addSetting(file, out, s); err != nil {
				return nil, err
			}
		case unstable.Table, unstable.ArrayTable:
			key, line := keyOf(b, e)
			return nil, configError(file, line, "table [%s]: this file has no tables; write the keys at its top", key)
		}
	}
	if err := p.Error(); err != nil {
		return nil, syntaxError(file, b, err)
	}
	return out, nil
}

func syntaxError(file string, b []byte, err error) error {
	line := 1 + strings.Count(strings.TrimRight(string(b), "\n"), "\n")
	var pe *unstable.ParserError
	if errors.As(err, &pe) {
		if at := cap(b) - cap(pe.Highlight); pe.Highlight != nil && at >= 0 && at <= len(b) {
			line = lineAt(b, at)
		}
		return configError(file, line, "not TOML: %s", pe.Message)
	}
	return configError(file, line, "not TOML: %w", err)
}

func lineAt(b []byte, offset int) int { return 1 + strings.Count(string(b[:offset]), "\n") }

// keyOf gives the dotted key of an expression and its line.
func keyOf(b []byte, e *unstable.Node) (key string, line int) {
	var parts []string
	line = 1
	for it := e.Key(); it.Next(); {
		n := it.Node()
		if len(parts) == 0 {
			line = lineAt(b, int(n.Raw.Offset))
		}
		parts = append(parts, string(n.Data))
	}
	return strings.Join(parts, "."), line
}

func keyValue(file string, b []byte, e *unstable.Node) (setting, error) {
	key, line := keyOf(b, e)
	s := setting{Key: key, Line: line}
	if !slices.Contains(configKeys(), key) {
		if name := nearest(key, configKeys()); name != "" {
			return s, configError(file, line, "unknown key %q; did you mean %q", key, name)
		}
		return s, configError(file, line, "unknown key %q; known are %s", key, strings.Join(configKeys(), ", "))
	}
	v := e.Value()
	if v.Kind != unstable.Array {
		text, err := scalar(v)
		if err != nil {
			return s, configError(file, line, "%s: %w", key, err)
		}
		s.Values = []string{text}
		return s, nil
	}
	s.List = true
	for it := v.Children(); it.Next(); {
		if it.Node().Kind == unstable.Comment {
			continue
		}
		text, err := scalar(it.Node())
		if err != nil {
			return s, configError(file, line, "%s: %w", key, err)
		}
		s.Values = append(s.Values, text)
	}
	return s, nil
}

// scalar gives the text of a value, as it would stand behind the flag.
func scalar(n *unstable.Node) (string, error) {
	switch n.Kind {
	case unstable.String, unstable.Bool:
		return string(n.Data), nil
	case unstable.Integer:
		return strings.ReplaceAll(string(n.Data), "_", ""), nil
	}
	return "", fmt.Errorf("want text in quotes, true, false or a whole number, and got %s", strings.ToLower(n.Kind.String()))
}

// addSetting adds a key, or the further values of a list that stands on
// several lines.
func addSetting(file string, list []setting, s setting) ([]setting, error) {
	for i := range list {
		if list[i].Key != s.Key {
			continue
		}
		if !isList(s.Key) {
			return nil, configError(file, s.Line, "%s stands on line %d already", s.Key, list[i].Line)
		}
		list[i].Values = append(list[i].Values, s.Values...)
		return list, nil
	}
	if s.List && !isList(s.Key) {
		return nil, configError(file, s.Line, "%s takes one value, not a list", s.Key)
	}
	return append(list, s), nil
}

func isList(key string) bool {
	return slices.Contains([]string{"redact-key", "redact-value", "redact-path", "otlp-header"}, key)
}

// applyConfig sets flags that the command line did not set. Keys that the
// command has no flag for are left to those that have.
func applyConfig(list []setting, flags *pflag.FlagSet) error {
	for _, s := range list {
		f := flags.Lookup(s.Key)
		if f == nil || f.Changed {
			continue
		}
		for _, v := range s.Values {
			if err := f.Value.Set(v); err != nil {
				return configError(configName, s.Line, "%s %q: %w", s.Key, v, valueError(f, err))
			}
		}
	}
	return nil
}

// unused notes the keys that no command of this version has a flag for, so
// that nobody believes that they work.
func (a *App) unused(list []setting, flags *pflag.FlagSet) {
	for _, s := range list {
		if flags.Lookup(s.Key) == nil && strings.HasPrefix(s.Key, "otlp-") {
			a.note("%s:%d: %s does nothing in this version", configName, s.Line, s.Key)
		}
	}
}
