package store

// MarkAt is mark number i, from 0, in the order in which they were set. i is
// less than MarkLen.
func (s *Session) MarkAt(i uint32) (frame uint32, rule string, g Signal) {
	m := s.marks.list.read(i)
	return m.Frame, *s.marks.rules.list.read(m.rule), m.Signal
}
