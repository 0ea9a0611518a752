package otlp

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// traceID is the trace of a session whose callers sent no trace of their own.
func traceID(session string) []byte {
	h := sha256.Sum256([]byte("mcpsnoop trace\x00" + session))
	return h[:16]
}

// spanID is the span of the request with that number; part tells a chain (1)
// from its hops (0).
func spanID(session string, seq uint64, part byte) []byte {
	b := append([]byte("mcpsnoop span\x00"+session), part)
	h := sha256.Sum256(binary.BigEndian.AppendUint64(b, seq))
	return h[:8]
}

// parent is a caller's span, out of a traceparent (W3C Trace Context, section 3.2).
type parent struct {
	trace, span []byte
	flags       uint32
}

// parseTraceparent reads version-traceid-spanid-flags. Version ff, zero ids and
// capital letters are not valid; a later version may hold more behind the flags.
func parseTraceparent(s string) (parent, bool) {
	f := strings.Split(s, "-")
	if len(f) < 4 || len(f[0]) != 2 || len(f[1]) != 32 || len(f[2]) != 16 || len(f[3]) != 2 {
		return parent{}, false
	}
	if f[0] == "ff" || f[0] == "00" && len(f) != 4 || strings.ToLower(s) != s {
		return parent{}, false
	}
	var p parent
	version, err0 := hex.DecodeString(f[0])
	trace, err1 := hex.DecodeString(f[1])
	span, err2 := hex.DecodeString(f[2])
	flags, err3 := hex.DecodeString(f[3])
	if err0 != nil || err1 != nil || err2 != nil || err3 != nil || len(version) != 1 || zero(trace) || zero(span) {
		return parent{}, false
	}
	p.trace, p.span, p.flags = trace, span, uint32(flags[0])
	return p, true
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
