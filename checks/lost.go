package checks

// Lost lists the tools that the client of Options.Client does not offer, or
// whose definitions make it fail with all of them, by what was found so far.
func (e *Engine) Lost() []LostTool {
	if r := e.clientReport(0, e.Findings()); r != nil {
		return r.Lost
	}
	return nil
}
