package export

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// BenchmarkFormats writes a log of 20,000 calls. MB/s are those of the log.
func BenchmarkFormats(b *testing.B) {
	rows := []string{`0 meta {"command":["x"]}`}
	pad := fmt.Sprintf("%0200d", 7)
	for i := range 20000 {
		rows = append(rows,
			fmt.Sprintf(`%d c2s {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"tool%d","arguments":{"n":%d,"pad":%q}}}`, 10*i, i, i%20, i, pad),
			fmt.Sprintf(`%d s2c {"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":%q}]}}`, 10*i+5, i, pad))
	}
	in := inputOf(b, rows)
	info, err := capture.OS{}.Stat(in.Logs[0].Name)
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range Formats() {
		b.Run(f.Name, func(b *testing.B) {
			b.SetBytes(info.Size())
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Write(context.Background(), io.Discard, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
