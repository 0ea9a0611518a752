package shim

import (
	"os"
	"testing"
	"time"
)

// story plays a run through the plan with a clock of its own: what happens at
// which second, and what the plan does at which.
type story struct {
	t    *testing.T
	p    plan
	now  time.Time
	f    facts
	left []event
	did  []deed
}

type event struct {
	at time.Duration // since the start
	do func(*story)
}

type deed struct {
	at float64
	do action
}

func at(seconds float64, do func(*story)) event {
	return event{time.Duration(seconds*1000+0.5) * time.Millisecond, do}
}

func clientLeaves(s *story) { s.p.clientLeft(s.now) }
func serverExits(s *story)  { s.p.serverExited(s.now) }
func talks(s *story)        { s.f.talk, s.f.output = s.now, s.now }
func pipesEnd(s *story)     { s.p.outputEnded(s.now); s.f.piped = true }
func outputEnds(s *story)   { s.p.outputEnded(s.now) }
func groupEmpties(s *story) { s.f.alone = true }
func clientStalls(s *story) { s.f.writing = true }
func clientReads(s *story)  { s.f.writing = false }

func signal1(s *story) {
	if s.p.signal(s.now, os.Interrupt) {
		s.did = append(s.did, deed{s.seconds(), passSignal})
	}
}

func signal2(s *story) { s.p.signal(s.now, os.Kill) }

const passSignal action = 100

func (s *story) seconds() float64 {
	return s.now.Sub(s.p.started).Seconds()
}

// play runs the clock until the plan finishes or a minute has gone.
func (s *story) play() {
	start := time.Unix(1000, 0)
	s.p.started, s.now = start, start
	s.f.talk, s.f.output = start, start
	for {
		for len(s.left) > 0 && !s.now.Before(start.Add(s.left[0].at)) {
			s.left[0].do(s)
			s.left = s.left[1:]
		}
		s.f.now = s.now
		do, wake := s.p.step(s.f)
		if do != wait {
			s.did = append(s.did, deed{s.seconds(), do})
			if do == finish {
				return
			}
			continue
		}
		if wake <= 0 {
			s.t.Fatalf("at %v: nothing to do, and no time to wait", s.seconds())
		}
		next := s.now.Add(wake)
		if len(s.left) > 0 {
			if e := start.Add(s.left[0].at); e.Before(next) {
				next = e
			}
		}
		if s.now = next; s.seconds() > 60 {
			return
		}
	}
}

func TestPlan(t *testing.T) {
	const grace = 5 * time.Second
	every := func(from, to, step float64) (es []event) {
		for s := from; s < to; s += step {
			es = append(es, at(s, talks))
		}
		return es
	}
	for _, tt := range []struct {
		name   string
		events []event
		want   []deed
	}{
		{"server exits", []event{at(1, serverExits), at(1, pipesEnd), at(1, groupEmpties)}, []deed{{1, finish}}},
		{"client leaves, server follows", []event{at(1, clientLeaves), at(3, serverExits), at(3, pipesEnd), at(3, groupEmpties)}, []deed{{3, finish}}},
		{"client leaves, server does not", []event{at(1, clientLeaves), at(11.1, serverExits), at(11.1, pipesEnd), at(11.1, groupEmpties)},
			[]deed{{6, passTerm}, {11, killAll}, {11.1, finish}}},
		{"output after the client's end extends the grace time", append(append([]event{at(1, clientLeaves)}, every(2, 9, 1)...), at(15, serverExits), at(15, pipesEnd), at(15, groupEmpties)),
			[]deed{{13, passTerm}, {15, finish}}},
		{"but not for ever", append([]event{at(1, clientLeaves)}, every(2, 25, 1)...), []deed{{16, passTerm}, {21, killAll}, {26, finish}}},
		{"a signal", []event{at(1, signal1), at(2, serverExits), at(2, pipesEnd), at(2, groupEmpties)}, []deed{{1, passSignal}, {2, finish}}},
		{"a signal to a deaf server", []event{at(1, signal1), at(6, serverExits), at(6, pipesEnd), at(6, groupEmpties)}, []deed{{1, passSignal}, {6, killAll}, {6, finish}}},
		{"a second signal", []event{at(1, signal1), at(2, signal2), at(2, serverExits), at(2, pipesEnd), at(2, groupEmpties)}, []deed{{1, passSignal}, {2, killAll}, {2, finish}}},
		{"one signal delivered twice", []event{at(1, signal1), at(1.01, signal1), at(2, serverExits), at(2, pipesEnd), at(2, groupEmpties)}, []deed{{1, passSignal}, {2, finish}}},
		{"a signal after the client has left", []event{at(1, clientLeaves), at(3, signal1)}, []deed{{3, passSignal}, {8, killAll}, {13, finish}}},
		{"a wrapper leaves a quiet child", []event{at(1, serverExits)}, []deed{{1.5, passTerm}, {3, killAll}, {3.5, finish}}},
		{"a wrapper leaves a child that talks", append([]event{at(1, serverExits)}, every(1.2, 20, 0.2)...), []deed{{6, passTerm}, {7.5, killAll}, {12.5, finish}}},
		{"a wrapper leaves a child without pipes", []event{at(1, serverExits), at(1, pipesEnd), at(1.2, groupEmpties)}, []deed{{1, passTerm}, {1.2, finish}}},
		{"a wrapper is ended, its child takes its time", []event{at(1, signal1), at(1, serverExits), at(4, pipesEnd), at(4, groupEmpties)}, []deed{{1, passSignal}, {4, finish}}},
		{"somebody out of reach holds the pipes", []event{at(1, serverExits), at(1, groupEmpties)}, []deed{{1.5, finish}}},
		{"the client reads the last output late", []event{at(1, serverExits), at(1, groupEmpties), at(1, clientStalls), at(20, clientReads), at(20, talks), at(20, pipesEnd)}, []deed{{20, finish}}},
		{"the client never reads the last output", []event{at(1, serverExits), at(1, groupEmpties), at(1, clientStalls)}, []deed{{31, finish}}},
		{"nor after it has closed its end", []event{at(1, clientLeaves), at(2, serverExits), at(2, groupEmpties), at(2, clientStalls)}, []deed{{7, finish}}},
		{"nor after a signal", []event{at(1, signal1), at(2, serverExits), at(2, groupEmpties), at(2, clientStalls)}, []deed{{1, passSignal}, {2.5, finish}}},
		{"the server closes its output", []event{at(1, outputEnds), at(9, serverExits), at(9, pipesEnd), at(9, groupEmpties)}, []deed{{1.05, hangUp}, {9, finish}}},
		{"the server hangs in the kernel", []event{at(1, signal1)}, []deed{{1, passSignal}, {6, killAll}, {11, finish}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := story{t: t, p: plan{grace: grace}, left: tt.events}
			s.play()
			if len(s.did) != len(tt.want) {
				t.Fatalf("did %v; want %v", s.did, tt.want)
			}
			for i, d := range s.did {
				if d.do != tt.want[i].do || d.at < tt.want[i].at-0.001 || d.at > tt.want[i].at+0.03 {
					t.Errorf("step %d: did %v; want %v", i+1, d, tt.want[i])
				}
			}
		})
	}
}
