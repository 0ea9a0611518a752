package store

import "time"

// ActivityBuckets is how many buckets an Activity has at most.
const ActivityBuckets = 64

// Activity is how many lines a session had over time: a bounded number of
// buckets that get twice as wide whenever the session outgrows them.
type Activity struct {
	Start  time.Time // of the first bucket
	Width  time.Duration
	Used   int // buckets up to the newest line
	Counts [ActivityBuckets]uint32
}

func (b *Activity) add(ts time.Time) {
	if b.Width == 0 {
		b.Start, b.Width = ts, time.Second
	}
	for ts.Sub(b.Start)/ActivityBuckets >= b.Width {
		for i := range ActivityBuckets / 2 {
			b.Counts[i] = b.Counts[2*i] + b.Counts[2*i+1]
		}
		clear(b.Counts[ActivityBuckets/2:])
		b.Width *= 2
		b.Used = (b.Used + 1) / 2
	}
	i := int(max(0, ts.Sub(b.Start)) / b.Width)
	b.Counts[i]++
	b.Used = max(b.Used, i+1)
}
