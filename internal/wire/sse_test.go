package wire

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// eventText writes an event in short: type|data|id=..|retry=..
func eventText(ev Event) string {
	s := ev.Type + "|" + string(ev.Data)
	if ev.HasID {
		s += "|id=" + ev.ID
	}
	if ev.HasRetry {
		s += fmt.Sprintf("|retry=%d", ev.Retry)
	}
	if ev.Size != int64(len(ev.Data)) {
		s += fmt.Sprintf("|size=%d", ev.Size)
	}
	return s
}

// feedEvents feeds text in pieces of the sizes, the last one again and again.
func feedEvents(max int, text string, sizes ...int) (s *Events, out []string) {
	s = &Events{Max: max}
	for i := 0; len(text) > 0; i++ {
		n := min(len(text), sizes[min(i, len(sizes)-1)])
		s.Feed([]byte(text[:n]), func(ev Event) { out = append(out, eventText(ev)) })
		text = text[n:]
	}
	return s, out
}

func TestEvents(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"data: a\n\n", []string{"|a"}},
		{"data:a\r\n\r\n", []string{"|a"}},
		{"data: a\r\r", []string{"|a"}},
		{"data:  a\n\n", []string{"| a"}},
		{"data: {\"a\":\ndata: 1}\n\n", []string{"|{\"a\":\n1}"}},
		{"\xEF\xBB\xBFdata: a\n\n", []string{"|a"}},
		{"\xEF\xBB\xBF\xEF\xBB\xBFdata: a\n\n", nil},
		{": comment\n\n:\n\n", nil},
		{"data\n\n", nil},
		{"data:\n\n", nil},
		{"data\ndata\n\n", []string{"|\n"}},
		{"id: 1\ndata:\n\nretry: 500\n\ndata: x\n\ndata: y\n\n", []string{"|x|id=1|retry=500", "|y"}},
		{"id: 1\n\nid\ndata: x\n\n", []string{"|x|id="}},
		{"id: a\x00b\ndata: x\n\n", []string{"|x"}},
		{"event: ping\n\ndata: x\n\n", []string{"|x"}},
		{"event: message\ndata: x\n\nevent: ping\ndata: y\n\n", []string{"message|x", "ping|y"}},
		{"retry: 5x\nretry: \nretry: 99999999999999999999\ndata: x\n\n", []string{"|x|retry=9223372036854775807"}},
		{"foo: bar\nDATA: no\n data: no\ndata: yes\n\n", []string{"|yes"}},
		{"data: not ended", nil},
		{"data: not ended\n", nil},
		{"data: a\n\r\ndata: b\r\n\n", []string{"|a", "|b"}},
	} {
		for size := 1; size <= len(tt.in); size++ {
			if _, got := feedEvents(0, tt.in, size); !slices.Equal(got, tt.want) {
				t.Errorf("%q in pieces of %d: got %q; want %q", tt.in, size, got, tt.want)
			}
		}
	}
}

// An event is given with the byte that ends it: a CR counts at once, and the LF
// that may belong to it does not make an event of its own.
func TestEventIsGivenAtOnce(t *testing.T) {
	var s Events
	n := 0
	emit := func(Event) { n++ }
	for i, c := range []byte("data: a\r\n\r") {
		if n != 0 {
			t.Fatalf("an event before byte %d", i)
		}
		s.Feed([]byte{c}, emit)
	}
	if n != 1 {
		t.Fatalf("%d events at the second CR; want 1", n)
	}
	s.Feed([]byte("\ndata: b\n\n"), emit)
	if n != 2 {
		t.Errorf("%d events; want 2", n)
	}
}

func TestEventsAreCutAtTheirBound(t *testing.T) {
	long := strings.Repeat("x", 100000)
	in := "data: " + long + "\ndata: yy\n\nid: " + long + "\ndata: z\n\n: " + long + "\n" + long + "\ndata: z\n\n"
	for _, size := range []int{1, 7, 4096, 1 << 20} {
		_, got := feedEvents(10, in, size)
		if len(got) != 3 || got[0] != "|xxxxxxxxxx|size=100003" || !strings.HasPrefix(got[1], "|z|id=xxxx") || got[2] != "|z" {
			t.Errorf("pieces of %d: got %.60q", size, got)
		}
		if size <= 4096 && len(got) > 1 && len(got[1]) > maxField+10 {
			t.Errorf("pieces of %d: an id of %d bytes", size, len(got[1]))
		}
	}
}

func TestOpenEventAndPendingFields(t *testing.T) {
	for _, size := range []int{1, 3, 100} {
		s, got := feedEvents(0, "data: a\n\nid: 7\nretry: 5\n\nevent: e\ndata: lost", size)
		if !slices.Equal(got, []string{"|a"}) {
			t.Errorf("got %q", got)
		}
		ev, ok := s.Open()
		if !ok || eventText(ev) != "e|lost" {
			t.Errorf("open: %q, %v", eventText(ev), ok)
		}
		if p, ok := s.Pending(); !ok || p.ID != "7" || p.Retry != 5 {
			t.Errorf("pending: %+v, %v", p, ok)
		}
	}
	s, _ := feedEvents(0, "data: a\n\n", 3)
	if _, ok := s.Open(); ok {
		t.Error("something is open behind a whole event")
	}
	if _, ok := s.Pending(); ok {
		t.Error("something is pending behind a whole event")
	}
}

// naiveEvents does it the way the standard tells it, on the whole text.
func naiveEvents(text string) (out []string) {
	text = strings.TrimPrefix(text, byteOrderMark)
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	lines = lines[:len(lines)-1] // what no line end follows is no line
	var data, kind string
	var carry Event
	for _, l := range lines {
		if l == "" {
			if data = strings.TrimSuffix(data, "\n"); data != "" {
				ev := carry
				ev.Type, ev.Data, ev.Size = kind, []byte(data), int64(len(data))
				out = append(out, eventText(ev))
				carry = Event{}
			}
			data, kind = "", ""
			continue
		}
		name, value, _ := strings.Cut(l, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			kind = value
		case "data":
			data += value + "\n"
		case "id":
			if !strings.Contains(value, "\x00") {
				carry.ID, carry.HasID = value, true
			}
		case "retry":
			if n, ok := digits([]byte(value)); ok {
				carry.Retry, carry.HasRetry = n, true
			}
		}
	}
	return out
}

func checkEvents(t interface {
	Errorf(string, ...any)
}, text string, sizes ...int) {
	want := naiveEvents(text)
	if _, got := feedEvents(0, text, sizes...); !slices.Equal(got, want) {
		t.Errorf("%q in pieces %v:\n got %q\nwant %q", text, sizes, got, want)
	}
}

func TestEventsLikeTheStandardInAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{
			"data", "data:", "data: ", "event: ", "id:", "retry: ", "5", "x", ":", " ", "\n", "\n\n", "\r", "\r\n", "\r\n\r\n", "\x00", byteOrderMark, "{\"a\":1}", "message", "é",
		})
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "text"), "")
		checkEvents(t, text, rapid.SliceOfN(rapid.IntRange(1, 9), 1, 6).Draw(t, "sizes")...)
	})
}

func FuzzEvents(f *testing.F) {
	f.Add("data: a\r\n\r\nid: 1\n: c\ndata\n\n", uint8(3))
	f.Add(byteOrderMark+"data: a\rdata: b\r\r", uint8(1))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		if len(text) < maxField { // a longer line that is no data is cut, which the naive reader does not do
			checkEvents(t, text, int(size)+1)
		}
		var s Events
		s.Max = 16
		for _, c := range bytes.SplitAfter([]byte(text), []byte{size}) {
			s.Feed(c, func(ev Event) {
				if len(ev.Data) > 16 {
					t.Errorf("%d bytes of data", len(ev.Data))
				}
			})
		}
		s.Open()
	})
}
