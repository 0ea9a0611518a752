package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestParseConfig(t *testing.T) {
	for _, tt := range []struct{ name, text, want, err string }{
		{"empty", "", "[]", ""},
		{"comments", "# one\n\n\t# two\n", "[]", ""},
		{"kinds", "label='a b'\nno-trace = true\nmax-frame = 1_000\n", "[{label [a b] 1 false} {no-trace [true] 2 false} {max-frame [1000] 3 false}]", ""},
		{"quoted key", "\"label\" = \"x\"", "[{label [x] 1 false}]", ""},
		{"array", "redact-key = [\n \"a\", # first\n 'b',\n]\n", "[{redact-key [a b] 1 true}]", ""},
		{"lines", "redact-key='a'\nlabel='x'\nredact-key=['b']", "[{redact-key [a b] 1 false} {label [x] 2 false}]", ""},
		{"line ends", "label='x'\r\ngrace='5s'\r\n", "[{label [x] 1 false} {grace [5s] 2 false}]", ""},
		{"unknown", "\nlabl = 'x'", "", `f:2: unknown key "labl"; did you mean "label"`},
		{"far off", "zzzzzzzz = 1", "", `f:1: unknown key "zzzzzzzz"; known are label, `},
		{"dotted", "label.x = 1", "", `f:1: unknown key "label.x"; did you mean "label"`},
		{"table", "label = 'x'\n[shim]\ngrace = '1s'", "", "f:2: table [shim]: this file has no tables"},
		{"tables", "[[shim]]", "", "f:1: table [shim]"},
		{"twice", "label='a'\n\nlabel='b'", "", "f:3: label stands on line 1 already"},
		{"no list", "label = ['a']", "", "f:1: label takes one value, not a list"},
		{"float", "grace = 1.5", "", "f:1: grace: want text in quotes"},
		{"inline table", "label = {a=1}", "", "f:1: label: want text in quotes"},
		{"nested", "redact-key = [['a']]", "", "f:1: redact-key: want text in quotes"},
		{"not closed", "label = 'x", "", "f:1: not TOML: "},
		{"no value", "label='x'\ngrace =\n", "", "f:2: not TOML: "},
		{"no key", "label='x'\n= 3", "", "f:2: not TOML: "},
		{"binary", "\x00\x01", "", "f:1: not TOML: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, err := parseConfig("f", []byte(tt.text))
			switch {
			case tt.err == "" && err != nil, tt.err != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.err)):
				t.Errorf("error %v; want %q", err, tt.err)
			case tt.err == "" && fmt.Sprint(list) != tt.want:
				t.Errorf("got %v; want %s", list, tt.want)
			}
		})
	}
}

// Every key has a flag in some command, or is one whose flag is to come.
func TestConfigKeysAreFlags(t *testing.T) {
	flags := map[string]bool{}
	root := newRoot(&App{})
	root.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
	for _, c := range root.Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
	}
	for _, key := range configKeys() {
		if !flags[key] && !strings.HasPrefix(key, "otlp-") {
			t.Errorf("key %s has no flag", key)
		}
	}
}

func TestApplyConfig(t *testing.T) {
	o := &captureOptions{}
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.addFlags(fs)
	if err := fs.Parse([]string{"--label", "flag", "--redact-key", "mine"}); err != nil {
		t.Fatal(err)
	}
	list, err := parseConfig("f", []byte("label='file'\ngrace='2s'\nredact-key='theirs'\nredact-value=['a,b','c']\nmax-frame='1KiB'\ntarget='t'\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := applyConfig(list, fs); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %s %s %s %d", o.Label, o.Grace, o.Redact.Keys.list, o.Redact.Values, int64(o.MaxFrame))
	if want := "flag 2s [mine] [a,b c] 1024"; got != want {
		t.Errorf("got %s; want %s", got, want)
	}
}

// FuzzTOML: whatever the file holds, there is a list or an error with its
// place, and a value that was read goes into its flag or gives another such error.
func FuzzTOML(f *testing.F) {
	for _, s := range []string{"label='x'", "redact-key=['a',\n'b']\nredact-key='c'", "[t]\na=1", "grace='1s'\nmax-frame=1_0", "a.b=1\n'''", "label=\"\\u00e9\"", "\xef\xbb\xbflabel=1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := string(b)
		list, err := parseConfig(configName, b)
		if string(b) != before {
			t.Fatal("the input was changed")
		}
		if err == nil {
			fs := pflag.NewFlagSet("", pflag.ContinueOnError)
			(&captureOptions{}).addFlags(fs)
			err = applyConfig(list, fs)
		}
		if err != nil {
			var line int
			if _, scan := fmt.Sscanf(err.Error(), configName+":%d:", &line); scan != nil || line < 1 || line > 1+strings.Count(before, "\n") {
				t.Fatalf("error without its place: %v", err)
			}
		}
		for _, s := range list {
			if !slices.Contains(configKeys(), s.Key) {
				t.Fatalf("unknown key %q was let through", s.Key)
			}
		}
	})
}
