package main

// How long an event takes from the server's write to the client's read.

import (
	"bufio"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// events streams n events, one every so often, each with the time at which it is written. With gzip=1 the stream is
// compressed and flushed after each event.
func events(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	n, _ := strconv.Atoi(q.Get("events"))
	every, _ := time.ParseDuration(q.Get("every"))
	w.Header().Set("Content-Type", "text/event-stream")
	var out io.Writer = w
	var z *gzip.Writer
	if q.Get("gzip") != "" {
		w.Header().Set("Content-Encoding", "gzip")
		z = gzip.NewWriter(w)
		out = z
	}
	for i := range n {
		fmt.Fprintf(out, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/lab\",\"params\":{\"n\":%d,\"at\":%d}}\n\n", i, time.Now().UnixNano())
		if z != nil {
			z.Flush()
		}
		w.(http.Flusher).Flush()
		time.Sleep(every)
	}
	if z != nil {
		z.Close()
	}
}

// eventcli reads such a stream and reports the delays.
func eventcli(args []string) {
	fs := flag.NewFlagSet("eventcli", flag.ExitOnError)
	url := fs.String("url", "http://127.0.0.1:3900/mcp", "url")
	n := fs.Int("n", 1000, "events")
	every := fs.Duration("every", 2*time.Millisecond, "between two events")
	zip := fs.Bool("gzip", false, "compressed")
	tag := fs.String("tag", "", "tag")
	fs.Parse(args)
	target := fmt.Sprintf("%s?events=%d&every=%s", *url, *n, *every)
	if *zip {
		target += "&gzip=1"
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableCompression: true}}).Get(target)
	die(err)
	defer resp.Body.Close()
	var body io.Reader = resp.Body
	if *zip {
		body, err = gzip.NewReader(resp.Body)
		die(err)
	}
	var d []time.Duration
	t0 := time.Now()
	for s := bufio.NewScanner(body); s.Scan(); {
		now := time.Now().UnixNano()
		_, at, ok := strings.Cut(s.Text(), `"at":`)
		if !ok {
			continue
		}
		then, err := strconv.ParseInt(strings.TrimRight(at, "}"), 10, 64)
		die(err)
		d = append(d, time.Duration(now-then))
	}
	if len(d) != *n {
		die(fmt.Errorf("%d events of %d", len(d), *n))
	}
	report(*tag, d, time.Since(t0))
}
