package store

// Limits are the bounds of what the index keeps in memory. The zero value of
// a field means its default. What is beyond a bound is still in the log.
type Limits struct {
	Names        int // different method and tool names a session keeps; more are shown as "(other)". Default 65,536
	NameBytes    int // longest kept name in bytes. Default 256
	Exchanges    int // open HTTP exchanges that are remembered for pairing. Default 65,536
	Problems     int // unreadable log lines that are kept one by one; more are counted. Default 1,000
	Asked        int // answers that want input and wait for a retry, per client. Default 1,024
	Tasks        int // tasks that are followed, per client. Default 65,536
	Cancelled    int // cancelled calls whose late answer is still recognised, per client. Default 65,536
	Tools        int // definitions of one listing that are measured one by one. Default 20,000
	Elicitations int // questions in the ledger. Default 10,000
	ToolStats    int // tools whose calls are counted one by one; more are counted as "(other)". Default 4,096
	Results      int // results of queries that nobody looks at any more and that are kept, per session. Default 8
	Events       int // server-sent events that are remembered to know replays, per client. Default 65,536
	Ladders      int // attempts to get authorization, operation by operation. Default 1,000
	Attempts     int // attempts of one of them that are kept one by one; more are counted. Default 64
	Clients      int // client sessions told apart in one log. Default 65,535; also the most
}

func (l Limits) withDefaults() Limits {
	set := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	set(&l.Names, 1<<16)
	set(&l.NameBytes, 256)
	set(&l.Exchanges, 1<<16)
	set(&l.Problems, 1000)
	set(&l.Asked, 1024)
	set(&l.Tasks, 1<<16)
	set(&l.Cancelled, 1<<16)
	set(&l.Tools, 20000)
	set(&l.Elicitations, 10000)
	set(&l.ToolStats, 4096)
	set(&l.Results, 8)
	set(&l.Events, 1<<16)
	set(&l.Ladders, 1000)
	set(&l.Attempts, 64)
	set(&l.Clients, 1<<16-1)
	l.Clients = min(l.Clients, 1<<16-1)
	return l
}
