package metrics

import (
	"strings"
	"unicode/utf8"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// Bounds of what peers choose.
const (
	maxLabel  = 128  // bytes of a label value
	maxSeries = 2000 // label sets of the tool metrics, per hub
	maxServer = 200  // servers that are told apart
	maxListed = 5000 // names that are known of one label
	freeNames = 10   // names that are taken as they are where no list is known
)

// What stands for names that get no series of their own.
const (
	overCap  = "(over-series-cap)"
	unlisted = "(unlisted)"
)

// clip makes a label value of what came from the wire: UTF-8, at most maxLabel
// bytes.
func clip(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), 4*maxLabel)], "\uFFFD")
	if len(s) <= maxLabel {
		return s
	}
	n := maxLabel
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// vocabulary is what is known of the tools of the servers of one label.
type vocabulary struct {
	listed map[string]bool // advertised by some tools/list
	proven map[string]bool // where no list is known: taken as they are
	free   int             // names that may still be taken unproven
}

func newVocabulary() *vocabulary {
	return &vocabulary{listed: map[string]bool{}, proven: map[string]bool{}, free: freeNames}
}

// advertise adds the tools of a listing.
func (v *vocabulary) advertise(tools []store.Definition) {
	for i := range tools {
		if len(v.listed) >= maxListed {
			return
		}
		v.listed[clip(tools[i].Name)] = true
	}
}

// label is the label value for a tool's name. Where no list is known, a few
// names are taken as they are, and those that the server has a tool for: else
// a client that makes up names would decide how many series there are.
func (v *vocabulary) label(name string) string {
	name = clip(name)
	switch {
	case len(v.listed) > 0 && v.listed[name], len(v.listed) == 0 && v.proven[name]:
		return name
	case len(v.listed) > 0 || v.free == 0:
		return unlisted
	}
	v.free--
	v.proven[name] = true
	return name
}

// worked notes that a call of the name succeeded.
func (v *vocabulary) worked(name string) {
	if len(v.listed) == 0 && len(v.proven) < maxSeries {
		v.proven[clip(name)] = true
	}
}
