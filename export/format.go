package export

import (
	"context"
	"io"
	"path/filepath"
	"strings"
)

// Format is one way of writing sessions.
type Format struct {
	Name  string
	Ends  []string // of file names that ask for it
	About string   // in a few words
	Page  bool     // made to be handed on to people
	Judge bool     // holds what rules find
	JSON  bool     // what it writes is JSON, so that a terminal may be given escapes

	// Write writes all of in. It stops at the first error of w or ctx.
	Write func(ctx context.Context, w io.Writer, in *Input) error
}

// Formats lists what can be written, the default first.
func Formats() []Format {
	return []Format{
		{Name: "json", Ends: []string{".json"}, About: "one document: sessions, calls, findings, events", JSON: true, Judge: true, Write: writeJSON},
		{Name: "jsonl", Ends: []string{".jsonl"}, About: "a session log again", JSON: true, Write: writeJSONL},
		{Name: "text", Ends: []string{".txt", ".text"}, About: "for reading", Judge: true, Write: writeText},
		{Name: "html", Ends: []string{".html", ".htm"}, About: "a page that needs nothing else", Page: true, Judge: true, Write: writeHTML},
		{Name: "har", Ends: []string{".har"}, About: "HTTP archive: a call an entry", JSON: true, Write: writeHAR},
		{Name: "otlp", Ends: []string{".otlp"}, About: "OpenTelemetry traces in JSON", JSON: true, Write: writeOTLP},
		{Name: "tape", Ends: []string{".tape"}, About: "mcp-tape v1", JSON: true, Write: writeTape},
	}
}

// ByName returns the format of that name.
func ByName(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// ByFile returns the format that a file's name asks for.
func ByFile(path string) (Format, bool) {
	end := strings.ToLower(filepath.Ext(path))
	for _, f := range Formats() {
		for _, e := range f.Ends {
			if e == end {
				return f, true
			}
		}
	}
	return Format{}, false
}
