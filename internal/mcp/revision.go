package mcp

// Revision is a revision of the specification, a date. "" is an unknown one.
// Revisions compare as text.
type Revision string

// The published revisions (specification, versioning).
const (
	R1 Revision = "2024-11-05"
	R2 Revision = "2025-03-26"
	R3 Revision = "2025-06-18"
	R4 Revision = "2025-11-25"
	R5 Revision = "2026-07-28"
)

// Revisions lists them, oldest first.
func Revisions() []Revision { return []Revision{R1, R2, R3, R4, R5} }

// Modern reports whether the revision has no handshake and carries its
// metadata on each request (2026-07-28 and later). An unknown one is not.
func (r Revision) Modern() bool { return r.Known() && r >= R5 }

// Known reports whether the text is a date, and so comparable.
func (r Revision) Known() bool {
	if len(r) != len("2006-01-02") {
		return false
	}
	for i, c := range []byte(r) {
		if dash := i == 4 || i == 7; dash != (c == '-') || !dash && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
