package main

// Clients that measure a stdio server, and what stands before it.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

// lat measures round trips: one request out, its answer in, then the next.
func lat(args []string) {
	fs := flag.NewFlagSet("lat", flag.ExitOnError)
	n := fs.Int("n", 5000, "round trips")
	size := fs.Int("size", 1024, "bytes per request line")
	warm := fs.Int("warm", 200, "warm-up round trips")
	tag := fs.String("tag", "", "tag")
	raw := fs.String("raw", "", "write every round trip there, in nanoseconds, one a line")
	fs.Parse(args)
	c, in, out := start(fs.Args())
	d := make([]time.Duration, 0, *n)
	var t0 time.Time
	for i := 0; i < *n+*warm; i++ {
		if i == *warm {
			t0 = time.Now()
		}
		m := req(i, *size)
		s := time.Now()
		_, err := in.Write(m)
		die(err)
		_, err = out.ReadSlice('\n')
		die(err)
		if i >= *warm {
			d = append(d, time.Since(s))
		}
	}
	wall := time.Since(t0)
	in.Close()
	io.Copy(io.Discard, out)
	c.Wait()
	if *raw != "" {
		var b bytes.Buffer
		for _, x := range d {
			fmt.Fprintln(&b, x.Nanoseconds())
		}
		die(os.WriteFile(*raw, b.Bytes(), 0o600))
	}
	report(*tag, d, wall)
}

// thr: writer goroutine pushes n requests of size bytes, reader counts answers.
func thr(args []string) {
	fs := flag.NewFlagSet("thr", flag.ExitOnError)
	n := fs.Int("n", 500, "messages")
	size := fs.Int("size", 1<<20, "bytes per request line")
	tag := fs.String("tag", "", "tag")
	fs.Parse(args)
	c, in, out := start(fs.Args())
	m := req(1, *size)
	t0 := time.Now()
	go func() {
		for i := 0; i < *n; i++ {
			if _, err := in.Write(m); err != nil {
				return
			}
		}
	}()
	got, bytesIn := 0, 0
	for got < *n {
		line, err := out.ReadSlice('\n')
		bytesIn += len(line)
		if err == bufio.ErrBufferFull {
			continue
		}
		die(err)
		got++
	}
	wall := time.Since(t0)
	mem := watchMemory(c.Process.Pid)
	in.Close()
	io.Copy(io.Discard, out)
	c.Wait()
	mem.stop()
	exit := time.Since(t0)
	o := map[string]any{"tag": *tag, "n": *n, "size": *size, "wall_s": wall.Seconds(), "MBps_each_way": float64(*n**size) / 1e6 / wall.Seconds(), "exit_s": exit.Seconds(), "bytes_back": bytesIn, "hwm_kib": mem.own(), "helpers_kib": mem.helpers()}
	b, _ := json.Marshal(o)
	fmt.Println(string(b))
}
