package store

// names numbers the strings that repeat: methods, tools, prompts. Number 0 is
// the empty string.
type names struct {
	limits Limits
	index  map[string]uint32
	list   vector[string]
	other  uint32
}

func newNames(l Limits) *names {
	n := &names{limits: l, index: map[string]uint32{}}
	n.list.grow()
	return n
}

// number returns the number of s, whose bytes are copied when it is new.
func (n *names) number(s []byte) uint32 {
	if len(s) == 0 {
		return 0
	}
	if len(s) > n.limits.NameBytes {
		s = s[:n.limits.NameBytes]
	}
	if i, ok := n.index[string(s)]; ok {
		return i
	}
	if len(n.index) >= n.limits.Names {
		return n.others()
	}
	return n.add(string(s))
}

// others is the number that stands for all names beyond the limit.
func (n *names) others() uint32 {
	if n.other == 0 {
		n.other = n.add("(other)")
	}
	return n.other
}

func (n *names) add(s string) uint32 {
	i, p := n.list.grow()
	*p = s
	n.index[s] = i
	return i
}
