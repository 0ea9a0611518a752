package httpproxy

import (
	"strings"
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

	exact bool // the path of the endpoint is "/", not every path
	rest  bool // no endpoint at all: what passes a forward proxy beside them
}

// kindOf says how much is kept of requests to a path.
func (b *book) kindOf(path string, facts *capture.HTTPFacts) (k kind, doc string) {
	if doc = metadataDoc(path); doc != "" {
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
