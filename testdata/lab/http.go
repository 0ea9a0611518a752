package main

// A small MCP-like HTTP server and a client that measures it.

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

func httpsrv(args []string) {
	fs := flag.NewFlagSet("httpsrv", flag.ExitOnError)
	addr := fs.String("addr", "127.0.0.1:3900", "listen")
	fs.Parse(args)
	h := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			events(w, r)
			return
		}
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		i := bytes.Index(b, []byte(`,"method"`))
		if i < 0 {
			w.WriteHeader(202)
			return
		}
		out := append([]byte{}, b[:i]...)
		out = append(out, `,"result":{"content":[{"type":"text","text":"ok"}]}}`...)
		if strings.Contains(r.URL.RawQuery, "sse") {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", out)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(out)
	}
	die(http.ListenAndServe(*addr, http.HandlerFunc(h)))
}

func httpcli(args []string) {
	fs := flag.NewFlagSet("httpcli", flag.ExitOnError)
	url := fs.String("url", "http://127.0.0.1:3900/mcp", "url")
	n := fs.Int("n", 5000, "requests in all")
	conc := fs.Int("c", 1, "concurrent keep-alive connections")
	size := fs.Int("size", 1024, "bytes per request")
	tag := fs.String("tag", "", "tag")
	fs.Parse(args)
	tr := &http.Transport{MaxIdleConnsPerHost: *conc, MaxConnsPerHost: *conc, DialContext: (&net.Dialer{}).DialContext, DisableCompression: true}
	cl := &http.Client{Transport: tr, Timeout: 30 * time.Second}
	do := func(id int) error {
		resp, err := cl.Post(*url, "application/json", bytes.NewReader(req(id, *size)))
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 200 {
			return fmt.Errorf("status %d", resp.StatusCode)
		}
		return err
	}
	for i := 0; i < 100; i++ {
		die(do(i))
	}
	var mu sync.Mutex
	d := make([]time.Duration, 0, *n)
	t0 := time.Now()
	var wg sync.WaitGroup
	for k := 0; k < *conc; k++ {
		wg.Add(1)
		go func(k int) {
			defer wg.Done()
			loc := make([]time.Duration, 0, *n / *conc)
			for i := 0; i < *n / *conc; i++ {
				s := time.Now()
				die(do(1000000*(k+1) + i))
				loc = append(loc, time.Since(s))
			}
			mu.Lock()
			d = append(d, loc...)
			mu.Unlock()
		}(k)
	}
	wg.Wait()
	report(*tag, d, time.Since(t0))
}
