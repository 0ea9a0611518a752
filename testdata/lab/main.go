// Command lab makes load for a program that stands between an MCP client and its server, and is the floor that
// such a program is measured against. It knows nothing of the program but its command line: whatever is put
// before the server's command is taken. It is a module of its own, so that the product never imports it.
//
//	lab lat   [-n N -size BYTES -raw FILE] CMD...        round trips, one at a time
//	lab thr   [-n N -size BYTES] CMD...                  throughput, memory of CMD
//	lab flood [-n N -rate PER_S -for D] CMD...           quick trips, then a fixed rate
//	lab echo | serve                                     the servers behind them
//	lab relay -- CMD...                                  floor of a stdio shim (Linux)
//	lab reverse TARGET LISTEN, httpsrv, httpcli          the same for HTTP
//	lab eventcli [-n N -every D -gzip]                   delay of events
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sort"
	"strings"
	"time"
)

func die(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func req(id, size int) []byte {
	h := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"pad":"`, id)
	t := "\"}}}\n"
	n := size - len(h) - len(t)
	if n < 0 {
		n = 0
	}
	return []byte(h + strings.Repeat("x", n) + t)
}

func start(args []string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	c := exec.Command(args[0], args[1:]...)
	in, err := c.StdinPipe()
	die(err)
	out, err := c.StdoutPipe()
	die(err)
	die(c.Start())
	return c, in, bufio.NewReaderSize(out, 4<<20)
}

func pct(d []time.Duration, p float64) time.Duration {
	i := int(float64(len(d)-1) * p)
	return d[i]
}

func report(tag string, d []time.Duration, wall time.Duration) {
	sort.Slice(d, func(i, j int) bool { return d[i] < d[j] })
	var sum time.Duration
	for _, x := range d {
		sum += x
	}
	o := map[string]any{"tag": tag, "n": len(d), "p50_us": us(pct(d, .5)), "p90_us": us(pct(d, .9)), "p99_us": us(pct(d, .99)), "max_us": us(d[len(d)-1]), "mean_us": us(sum / time.Duration(len(d))), "wall_s": wall.Seconds(), "per_s": float64(len(d)) / wall.Seconds()}
	b, _ := json.Marshal(o)
	fmt.Println(string(b))
}
func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

func main() {
	commands := map[string]func([]string){
		"echo":     func([]string) { echo() },
		"serve":    func([]string) { serve() },
		"lat":      lat,
		"thr":      thr,
		"flood":    flood,
		"relay":    func(a []string) { relay(a[1:]) }, // relay -- CMD
		"reverse":  func(a []string) { reverse(a[0], a[1]) },
		"httpsrv":  httpsrv,
		"httpcli":  httpcli,
		"eventcli": eventcli,
	}
	if len(os.Args) > 1 {
		if run, ok := commands[os.Args[1]]; ok {
			run(os.Args[2:])
			return
		}
	}
	fmt.Fprintln(os.Stderr, "usage: lab echo|serve|lat|thr|flood|relay|reverse|httpsrv|httpcli|eventcli")
	os.Exit(2)
}
