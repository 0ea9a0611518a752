package sshui

// Viewers is how many sessions are open: screens, commands and transfers.
func (s *Server) Viewers() int {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	return s.gate.sessions
}
