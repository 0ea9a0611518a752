package capture

import "testing"

// A frame that broke off is cut even when nobody knows by how much, and what
// an event stream left open is no message.
func TestDraftsThatAreNotWhole(t *testing.T) {
	for _, tt := range []struct {
		name  string
		draft Draft
		text  string
		size  int64
		cut   bool
	}{
		{"length known", Draft{Record: Record{Direction: C2S}, Body: []byte(`{"a"`), Size: 9}, `{"a"`, 9, true},
		{"length not known", Draft{Record: Record{Direction: C2S, Truncated: true}, Body: []byte(`{"a":1}`)}, `{"a":1}`, 0, true},
		{"nothing has come", Draft{Record: Record{Direction: C2S}, Body: []byte{}, Size: 9}, "", 9, true},
		{"left open", Draft{Record: Record{Direction: S2C, HTTP: &HTTPFacts{End: "reset"}}, Body: []byte(`{"a":1}`)}, `{"a":1}`, 0, false},
	} {
		r := NewRecorder(testOptions(t))
		r.Record(&tt.draft)
		r.Close(EndInfo{})
		rec := readRecords(t, r.Path())[1]
		if rec.Raw != nil || !rec.HasText || rec.Text != tt.text || rec.Size != tt.size || rec.Truncated != tt.cut {
			t.Errorf("%s: raw %q, text %q, size %d, truncated %v", tt.name, rec.Raw, rec.Text, rec.Size, rec.Truncated)
		}
	}
}
