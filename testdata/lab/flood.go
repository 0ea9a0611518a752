package main

// The load under which a recorder that numbers its frames too late, or drops what it cannot write at once, shows it.

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// flood makes n quick round trips (the answer leaves while the request may still be on its way into the log), then
// sends requests at a fixed rate. Every answer must come, in order. It ends with one JSON line that says what the log
// has to hold.
func flood(args []string) {
	fs := flag.NewFlagSet("flood", flag.ExitOnError)
	n := fs.Int("n", 20000, "quick round trips")
	rate := fs.Int("rate", 50000, "requests a second after that")
	span := fs.Duration("for", 2*time.Second, "how long")
	size := fs.Int("size", 256, "bytes per request line")
	tag := fs.String("tag", "", "tag")
	fs.Parse(args)
	c, in, out := start(fs.Args())
	send := func(b []byte) {
		_, err := in.Write(b)
		die(err)
	}
	send([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lab","version":"1"}}}` + "\n"))
	die(expect(out, 0))
	send([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"))

	t0 := time.Now()
	for id := 1; id <= *n; id++ {
		send(req(id, *size))
		die(expect(out, id))
	}
	trips := time.Since(t0)

	total := int(float64(*rate) * span.Seconds())
	var offered atomic.Int64 // time until the last request was out
	t0 = time.Now()
	go func() {
		for sent := 0; sent < total; {
			due := min(total, int(time.Since(t0).Seconds()*float64(*rate)))
			for ; sent < due; sent++ {
				if _, err := in.Write(req(*n+1+sent, *size)); err != nil {
					return // the reader sees the end of the stream and says so
				}
			}
			time.Sleep(200 * time.Microsecond)
		}
		offered.Store(int64(time.Since(t0)))
	}()
	for id := *n + 1; id <= *n+total; id++ {
		die(expect(out, id))
	}
	wall := time.Since(t0)
	in.Close()
	io.Copy(io.Discard, out)
	err := c.Wait()
	die(err)
	o := map[string]any{
		"tag": *tag, "requests": *n + total + 1, "c2s": *n + total + 2, "s2c": *n + total + 1,
		"trips_s": trips.Seconds(), "offered_per_s": float64(total) / time.Duration(offered.Load()).Seconds(),
		"answered_per_s": float64(total) / wall.Seconds(),
	}
	b, _ := json.Marshal(o)
	fmt.Fprintln(os.Stdout, string(b))
}

// expect reads one answer and wants it to be the one with this id.
func expect(r *bufio.Reader, id int) error {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("waiting for answer %d: %w", id, err)
	}
	if got, _ := requestID(line); got != strconv.Itoa(id) {
		return fmt.Errorf("got %.80q; want the answer with id %d", line, id)
	}
	return nil
}
