package main

// Peak memory of a process from outside. The kernel's own figure after wait4 is no use here: it takes in the peak of
// the parent at the time of the fork, and that of children the process has waited for.

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// memory holds the highest VmHWM seen, in KiB, of one process and of children that run the same program beside it.
type memory struct {
	pid  int
	exe  string
	quit chan struct{}
	done sync.WaitGroup

	mu    sync.Mutex
	peak  int
	child map[int]int
}

// watchMemory reads at once and then every 20 ms until stop: the peak only grows, so what counts is the last reading.
func watchMemory(pid int) *memory {
	m := &memory{pid: pid, quit: make(chan struct{}), child: map[int]int{}}
	m.exe, _ = os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	m.read()
	m.done.Go(func() {
		for {
			select {
			case <-m.quit:
				return
			case <-time.After(20 * time.Millisecond):
				m.read()
			}
		}
	})
	return m
}

func (m *memory) stop() { close(m.quit); m.done.Wait() }

func (m *memory) read() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peak = max(m.peak, hwm(m.pid))
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || field(pid, "PPid:") != m.pid {
			continue
		}
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); exe == m.exe {
			m.child[pid] = max(m.child[pid], hwm(pid))
		}
	}
}

func (m *memory) own() int { m.mu.Lock(); defer m.mu.Unlock(); return m.peak }

func (m *memory) helpers() (sum int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, kib := range m.child {
		sum += kib
	}
	return sum
}

func hwm(pid int) int { return field(pid, "VmHWM:") }

// field is a number from /proc/PID/status, 0 when the process is gone.
func field(pid int, name string) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(b), name)
	n := 0
	fmt.Sscan(rest, &n)
	return n
}
