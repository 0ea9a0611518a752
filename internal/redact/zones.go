package redact

import (
	"bytes"
	"strings"
)

// zone says what the members of a place mean.
type zone uint8

const (
	zoneData    zone = iota // names and values of the user
	zoneRoot                // a JSON-RPC message, or a batch of them
	zoneParams              // params of a message
	zoneResult              // result of a message
	zoneProto               // other structure of the protocol
	zoneTools               // the list of tools
	zoneTool                // one of them
	zoneInputs              // requests inside a result, by name
	zoneInput               // one of them
	zoneSchema              // a JSON Schema
	zoneNames               // schemas by the names they declare
	zoneLogLine             // a line of a session log
)

// place is what is known of a value before it is read.
type place struct {
	zone    zone
	key     keyKind // it stands behind a key
	items   keyKind // so do its elements
	inherit keyKind // in a schema: of the name that it declares
	spare   bool    // it is never touched; an object is looked into
	// envelope: it carries messages or their content; its name is no key
	envelope bool
	quiet    bool // text of a schema: values and memory only
	pair     pairRole
}

// pairRole marks the members of {"name": "API_KEY", "value": "..."}.
type pairRole uint8

const (
	pairName pairRole = iota + 1
	pairValue
)

// member returns the place of the value of a member called name, of which e
// is known, in zone z.
func member(z zone, inherit keyKind, name []byte, e *nameEntry) place {
	switch z {
	case zoneData:
		return place{zone: zoneData, key: e.kind, pair: e.pair}
	case zoneSchema:
		return schemaMember(inherit, name)
	case zoneNames:
		if e.kind != 0 {
			inherit = e.kind
		}
		return place{zone: zoneSchema, inherit: inherit, quiet: true}
	}
	p := protocolMember(z, name)
	if !p.spare && !p.envelope {
		p.key, p.pair = e.kind, e.pair
	}
	return p
}

func pairOf(name []byte) pairRole {
	switch string(name) {
	case "name", "Name", "key", "Key":
		return pairName
	case "value", "Value":
		return pairValue
	}
	return 0
}

// pairKind classifies the text of a "name": the name of a variable or header
// holds no space.
func (r *rules) pairKind(text []byte) keyKind {
	if len(text) > maxName || bytes.IndexByte(text, ' ') >= 0 {
		return 0
	}
	return r.keys.kind(text)
}

// schemaMember is the place of a keyword. Only default, const, examples and
// enum hold data; the name that the schema stands under says what they hide.
func schemaMember(inherit keyKind, name []byte) place {
	switch string(name) {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return place{zone: zoneNames, inherit: inherit, quiet: true}
	case "default", "const":
		return place{zone: zoneData, key: inherit}
	case "examples", "enum":
		return place{zone: zoneData, items: inherit}
	case "type", "x-mcp-header":
		return place{spare: true}
	}
	return place{zone: zoneSchema, inherit: inherit, quiet: true}
}

// protocolMember is the place of a member of the protocol's own structure.
func protocolMember(z zone, name []byte) place {
	s := string(name)
	switch z {
	case zoneRoot:
		switch s {
		case "jsonrpc", "id", "method":
			return place{spare: true}
		case "params":
			return place{zone: zoneParams, envelope: true}
		case "result":
			return place{zone: zoneResult, envelope: true}
		}
		return place{zone: zoneProto, envelope: s == "error"}
	case zoneLogLine:
		if s == "raw" {
			return place{zone: zoneRoot, envelope: true}
		}
		return place{zone: zoneData}
	case zoneInputs:
		return place{zone: zoneInput}
	case zoneInput:
		if s == "params" {
			return place{zone: zoneParams, envelope: true}
		}
		return place{zone: zoneProto, spare: s == "method"}
	case zoneTool:
		if s == "inputSchema" || s == "outputSchema" {
			return place{zone: zoneSchema, quiet: true}
		}
	case zoneParams, zoneResult:
		switch {
		case s == "tools":
			return place{zone: zoneTools}
		case s == "requestedSchema" && z == zoneParams:
			return place{zone: zoneSchema, quiet: true}
		case s == "inputRequests" && z == zoneResult:
			return place{zone: zoneInputs}
		}
	}
	switch s {
	case "progressToken", "cursor", "nextCursor", "requestState", "requestId", "taskId", "elicitationId", "traceparent", "tracestate":
		return place{spare: true}
	case "arguments", "structuredContent", "data", "input", "env", "headers", "argument", "context", "inputResponses":
		return place{zone: zoneData}
	}
	return place{zone: zoneProto, spare: strings.HasPrefix(s, "io.modelcontextprotocol/")}
}

// element is the place of the elements of an array at p.
func (p place) element() place {
	e := place{zone: p.zone, key: p.items, inherit: p.inherit, quiet: p.quiet, spare: p.spare}
	switch p.zone {
	case zoneTools:
		e.zone = zoneTool
	case zoneRoot:
		if e.envelope = p.envelope; !p.envelope {
			e.zone = zoneProto
		}
	case zoneParams, zoneResult, zoneTool, zoneInputs, zoneInput:
		e.zone = zoneProto
	}
	return e
}

// inside is the zone of the members of an object at p.
func (p place) inside() zone {
	if p.zone == zoneTools {
		return zoneProto
	}
	return p.zone
}

// isLogLine reports whether the object b is a line of a session log.
func isLogLine(b []byte) bool {
	return bytes.Contains(b[:min(len(b), 4096)], []byte(`"session_id"`)) && bytes.Contains(b[:min(len(b), 4096)], []byte(`"direction"`))
}
