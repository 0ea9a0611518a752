package httpproxy

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// route is where a request goes and where it is recorded.
type route struct {
	target *Target // the server
	book   *book
}

// book is the record of what passes between clients and one endpoint.
type book struct {
	rec       *capture.Recorder // nil means that nothing is recorded
	target    *Target           // with the path of the endpoint
	old       oldTransport
	exchanges atomic.Uint64

	docs docPaths

	exact bool // the path of the endpoint is "/", not every path
	rest  bool // no endpoint at all: what passes a forward proxy beside them
}

// kindOf says how much is kept of requests to a path.
func (b *book) kindOf(path string, facts *capture.HTTPFacts) (k kind, doc string) {
	if doc = b.doc(path); doc != "" {
		return document, doc
	}
	switch {
	case b.rest:
		return other, ""
	case b.target.path == "" && !b.exact:
		if secretPath(path) || mediaType(facts.ContentType) == "application/x-www-form-urlencoded" {
			return other, "" // an authorization server on the same origin
		}
		return endpoint, ""
	case strings.TrimSuffix(path, "/") == b.target.path, b.old.is(path):
		return endpoint, ""
	}
	return other, ""
}

// doc tells the documents about authorization: by their well-known paths, and
// those about the resource by where challenges have said that they are.
func (b *book) doc(path string) string {
	if doc := metadataDoc(path); doc != "" {
		return doc
	}
	if b.docs.is(path) {
		return "prm"
	}
	return ""
}

// docPaths are the paths that challenges have named for the document about a
// resource (RFC 9728, section 5.1).
type docPaths struct {
	mu    sync.Mutex
	paths []string
}

// maxDocPaths bounds them; servers have one or two.
const maxDocPaths = 64

func (d *docPaths) learn(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.paths) < maxDocPaths && !slices.Contains(d.paths, path) {
		d.paths = append(d.paths, path)
	}
}

func (d *docPaths) is(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.paths, path)
}
