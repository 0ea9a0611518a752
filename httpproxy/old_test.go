package httpproxy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// mapped passes a text through a mapper in pieces of the sizes.
func mapped(text string, sizes ...int) string {
	var out strings.Builder
	m := &endpointMapper{
		out:  func(p []byte) { out.Write(p) },
		swap: func(uri string) (string, bool) { return "/there", strings.HasPrefix(uri, "http://here") },
	}
	for i := 0; len(text) > 0; i++ {
		n := min(len(text), sizes[min(i, len(sizes)-1)])
		m.pass([]byte(text[:n]))
		text = text[n:]
	}
	m.release()
	return out.String()
}

func TestEndpointMapper(t *testing.T) {
	for in, want := range map[string]string{
		"event: endpoint\ndata: http://here/x?a\n\n":                                   "event: endpoint\ndata: /there\n\n",
		"data: http://here/x\nevent:endpoint\n\ndata: http://here\n\n":                 "data: /there\nevent:endpoint\n\ndata: http://here\n\n",
		"\xEF\xBB\xBFevent: endpoint\r\nid: 1\r\ndata:http://here\r\n\r\n":             "\xEF\xBB\xBFevent: endpoint\r\nid: 1\r\ndata:/there\r\n\r\n",
		": hello\n\n\nevent: endpoint\rdata: http://here\r\r":                          ": hello\n\n\nevent: endpoint\rdata: /there\r\r",
		"event: endpoint\ndata: /x\n\n":                                                "event: endpoint\ndata: /x\n\n",
		"event: message\ndata: {}\n\nevent: endpoint\ndata: http://here\n\n":           "event: message\ndata: {}\n\nevent: endpoint\ndata: http://here\n\n",
		"event: endpoint\ndata: http://here\ndata: two\n\n":                            "event: endpoint\ndata: http://here\ndata: two\n\n",
		"event: endpoint\ndata: http://here":                                           "event: endpoint\ndata: http://here",
		"event: endpoint\n: " + strings.Repeat("x", 70000) + "\ndata: http://here\n\n": "event: endpoint\n: " + strings.Repeat("x", 70000) + "\ndata: http://here\n\n",
	} {
		for _, size := range []int{1, 2, 3, 17, 1 << 20} {
			if len(in) > 1000 && size != 17 {
				continue // how much is held when too much has come depends on the pieces
			}
			if got := mapped(in, size); got != want {
				t.Errorf("%.80q in pieces of %d: got %.80q; want %.80q", in, size, got, want)
			}
		}
	}
}

// How a stream is cut changes nothing, and nothing is lost or added.
func TestEndpointMapperInAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"event: endpoint", "event:", "data: http://here/1", "data: x", ": c", "id: 1", "\n", "\n\n", "\r", "\r\n", byteOrderMark, "é"})
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "text"), "")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 30), 1, 5).Draw(t, "sizes")
		got, whole := mapped(text, sizes...), mapped(text, len(text)+1)
		if got != whole {
			t.Errorf("%q in pieces %v: got %q; whole %q", text, sizes, got, whole)
		}
		if got != text && !strings.Contains(got, "/there") {
			t.Errorf("%q became %q", text, got)
		}
	})
}

const byteOrderMark = "\xEF\xBB\xBF"
