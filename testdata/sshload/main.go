// Command sshload is many viewers of a hub in one process: each asks for a
// terminal over SSH, opens the newest session and follows it. It prints one JSON
// line: bytes to each viewer, how far the screens of some of them are behind the
// log, and how long the first screen took.
//
//	sshload -addr 127.0.0.1:2222 -key FILE -log SESSION.jsonl -n 100 -for 60s
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/crypto/ssh"
)

type viewer struct {
	bytes  atomic.Int64
	first  time.Duration // from the login to the first bytes of the screen
	login  time.Duration
	client *ssh.Client
	in     io.WriteCloser
	screen *vt.Emulator // nil for most
	mu     sync.Mutex
	errs   error
}

func main() {
	addr := flag.String("addr", "", "of the hub")
	keyFile := flag.String("key", "", "private key")
	log := flag.String("log", "", "log of the session that is watched")
	n := flag.Int("n", 1, "viewers")
	span := flag.Duration("for", 10*time.Second, "how long")
	warm := flag.Duration("warm", 3*time.Second, "before it counts")
	samples := flag.Int("samples", 5, "viewers whose screen is read")
	keys := flag.String("keys", "\rG", "what each viewer types")
	width, height := flag.Int("w", 80, "width"), flag.Int("h", 24, "height")
	stuck := flag.Int("stuck", 0, "of them never read")
	flag.Parse()

	text, err := os.ReadFile(*keyFile)
	die(err)
	signer, err := ssh.ParsePrivateKey(text)
	die(err)
	all := make([]*viewer, *n)
	for i := range all {
		v := &viewer{}
		all[i] = v
		if i < *samples {
			v.screen = vt.NewEmulator(*width, *height)
			go io.Copy(io.Discard, v.screen) // its answers
		}
		die(v.start(*addr, signer, *width, *height, i >= *n-*stuck))
	}
	time.Sleep(500 * time.Millisecond)
	for _, k := range *keys {
		for _, v := range all {
			fmt.Fprint(v.in, string(k))
		}
		time.Sleep(500 * time.Millisecond)
	}
	time.Sleep(*warm)
	before := make([]int64, *n)
	for i, v := range all {
		before[i] = v.bytes.Load()
	}
	var lags []float64
	missed := 0
	start := time.Now()
	for time.Since(start) < *span {
		time.Sleep(250 * time.Millisecond)
		if *log == "" {
			continue
		}
		for _, v := range all[:min(*samples, *n)] {
			if lag, ok := v.lag(*log); ok {
				lags = append(lags, lag)
			} else {
				missed++
			}
		}
	}
	seconds := time.Since(start).Seconds()
	var rates, firsts, logins []float64
	for i, v := range all {
		if i < *n-*stuck {
			rates = append(rates, float64(v.bytes.Load()-before[i])/seconds)
			firsts = append(firsts, v.first.Seconds()*1000)
			logins = append(logins, v.login.Seconds()*1000)
		}
	}
	dump := ""
	if *samples > 0 {
		all[0].mu.Lock()
		dump = all[0].screen.String()
		all[0].mu.Unlock()
	}
	out, _ := json.Marshal(map[string]any{
		"viewers": *n, "bytes_per_s_max": slices.Max(rates), "bytes_per_s_min": slices.Min(rates),
		"lag_s_max": maxOf(lags), "lag_s_p50": median(lags), "lags": len(lags), "unread": missed,
		"first_ms_p50": median(firsts), "first_ms_max": maxOf(firsts), "login_ms_p50": median(logins), "screen": dump,
	})
	fmt.Println(string(out))
	for _, v := range all {
		_ = v.client.Close()
	}
}

func (v *viewer) start(addr string, signer ssh.Signer, w, h int, stuck bool) error {
	t0 := time.Now()
	c, err := ssh.Dial("tcp", addr, &ssh.ClientConfig{
		User: "load", Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyCallback: ssh.InsecureIgnoreHostKey(), //nolint:gosec // a bench on loopback
	})
	if err != nil {
		return err
	}
	v.client, v.login = c, time.Since(t0)
	s, err := c.NewSession()
	if err != nil {
		return err
	}
	out, err := s.StdoutPipe()
	if err != nil {
		return err
	}
	if v.in, err = s.StdinPipe(); err != nil {
		return err
	}
	_ = s.Setenv("LC_ALL", "C.UTF-8")
	if err := s.RequestPty("xterm-256color", h, w, ssh.TerminalModes{}); err != nil {
		return err
	}
	t0 = time.Now()
	if err := s.Shell(); err != nil {
		return err
	}
	if stuck {
		return nil
	}
	first := make(chan struct{})
	go func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := out.Read(buf)
			if n > 0 {
				if v.bytes.Add(int64(n)); v.first == 0 && bytes.Contains(buf[:n], []byte("mcpsnoop")) {
					v.first = time.Since(t0)
					close(first)
				}
				if v.screen != nil {
					v.mu.Lock()
					_, _ = v.screen.Write(buf[:n])
					v.mu.Unlock()
				}
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case <-first:
	case <-time.After(10 * time.Second):
		return fmt.Errorf("no screen within 10 s")
	}
	return nil
}

var (
	ids  = regexp.MustCompile(`\s(\d{3,})\s`)
	head = regexp.MustCompile(`"ts":"([^"]+)".*?"id":(\d+)`)
)

// lag is how old the newest frame on the screen is, against the clock, when
// there are newer ones in the log.
func (v *viewer) lag(log string) (float64, bool) {
	v.mu.Lock()
	text := v.screen.String()
	v.mu.Unlock()
	shown := -1
	for _, m := range ids.FindAllStringSubmatch(text, -1) {
		if id, err := strconv.Atoi(m[1]); err == nil {
			shown = max(shown, id)
		}
	}
	f, err := os.Open(log)
	if err != nil || shown < 0 {
		return 0, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, false
	}
	const span = 8 << 20
	tail := make([]byte, min(span, info.Size()))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil && err != io.EOF {
		return 0, false
	}
	for _, line := range bytes.Split(tail, []byte("\n")) {
		m := head.FindSubmatch(line[:min(len(line), 600)])
		if m == nil {
			continue
		}
		if id, _ := strconv.Atoi(string(m[2])); id == shown+1 { // the first that is not shown
			ts, err := time.Parse(time.RFC3339Nano, string(m[1]))
			if err != nil {
				return 0, false
			}
			return time.Since(ts).Seconds(), true
		}
	}
	return 0, true // nothing newer
}

func maxOf(list []float64) float64 {
	if len(list) == 0 {
		return -1
	}
	return slices.Max(list)
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return -1
	}
	s := slices.Sorted(slices.Values(list))
	return s[len(s)/2]
}

func die(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "sshload:", err)
		os.Exit(1)
	}
}
