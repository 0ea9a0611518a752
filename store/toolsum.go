package store

import "slices"

// SumTools adds up the statistics of one tool over sessions. Slowest and
// ResultFrame, which are places in one session, are left out.
func SumTools(list ...*ToolStats) *ToolStats {
	sum := &ToolStats{}
	for _, t := range list {
		sum.Name = t.Name
		sum.Calls.Add(&t.Calls)
		sum.Late += t.Late
		sum.Retries += t.Retries
		sum.Trips = max(sum.Trips, t.Trips)
		sum.Ended += t.Ended
		sum.Total += t.Total
		sum.Longest = max(sum.Longest, t.Longest)
		sum.ResultMax = max(sum.ResultMax, t.ResultMax)
		sum.ResultBytes += t.ResultBytes
		if n := len(t.hist); n > len(sum.hist) {
			sum.hist = append(slices.Clone(sum.hist), make([]uint32, n-len(sum.hist))...)
		}
		for i, n := range t.hist {
			sum.hist[i] += n
		}
	}
	return sum
}

// Add adds the counts of o.
func (c *Counts) Add(o *Counts) {
	c.Total += o.Total
	c.OK += o.OK
	c.Failed += o.Failed
	c.Cancelled += o.Cancelled
	c.Pending += o.Pending
}
