package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// sequence notes what an observer sees.
type sequence struct {
	seqs []uint64
	sum  uint32
}

func (s *sequence) Observe(ev *store.Event) {
	s.seqs = append(s.seqs, ev.Rec.Seq)
	s.sum = crc32.Update(s.sum, crc32.IEEETable, ev.Rec.Raw)
}

// However the batches fall, every record is seen once, in order, with its bytes.
func TestLoadSeesWhatTheReaderGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var log []byte
		ids := []string{"a-1-00000000000a", "b-1-00000000000b", "c-1-00000000000c"}
		n := rapid.IntRange(1, 3*batchItems).Draw(t, "records")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for i := range n {
			size := random.IntN(500)
			if random.IntN(100) == 0 {
				size = []int{5000, batchBytes / 3, batchBytes, 3 * batchBytes}[random.IntN(4)]
			}
			rec := capture.Record{SessionID: ids[random.IntN(len(ids))], Label: "l", Seq: uint64(i + 1), Direction: capture.C2S, Transport: capture.Stdio}
			rec.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"m","params":{"i":%d,"pad":%q}}`, i, strings.Repeat("x", size))
			log = capture.AppendRecord(log, &rec)
			if random.IntN(50) == 0 {
				log = append(log, "{\"session_id\":broken}\n"...)
			}
		}
		want := map[string]*sequence{}
		r := capture.NewReader(bytes.NewReader(log), "x")
		for it := (capture.Item{}); ; {
			err := r.Next(&it)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if it.Problem != nil {
				continue
			}
			if want[it.Record.SessionID] == nil {
				want[it.Record.SessionID] = &sequence{}
			}
			want[it.Record.SessionID].Observe(&store.Event{Rec: &it.Record})
		}
		a := &App{FS: capture.OS{}, Streams: Streams{In: bytes.NewReader(log)}}
		list, err := a.load(context.Background(), source{Stdin: true}, loadOptions{Observer: func(string) store.Observer { return &sequence{} }})
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != len(want) {
			t.Fatalf("%d sessions; want %d", len(list), len(want))
		}
		for _, one := range list {
			if got := one.Observer.(*sequence); fmt.Sprint(got) != fmt.Sprint(want[one.ID]) || int(one.Len()) != len(got.seqs) {
				t.Fatalf("%s: got %v, %d rows; want %v", one.ID, got, one.Len(), want[one.ID])
			}
		}
	})
}

func TestLoadErrors(t *testing.T) {
	for _, tt := range []struct {
		name, log string
		want      string
	}{
		{"empty", "", "read -: empty: no record in it"},
		{"no log", "hello\nworld\n", "read -: not a session log"},
		{"broken pipe", string(logOf("a-1-00000000000a", 2)) + "!", "read -: pipe broke"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, broken := strings.CutSuffix(tt.log, "!")
			var in io.Reader = strings.NewReader(text)
			if broken {
				in = io.MultiReader(in, brokenReader{})
			}
			a := &App{FS: capture.OS{}, Streams: Streams{In: in}}
			_, err := a.load(context.Background(), source{Name: "-", Stdin: true}, loadOptions{})
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %v; want %s", err, tt.want)
			}
		})
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("pipe broke") }
