package shim

// class is what a signal to the shim means.
type class uint8

const (
	ignore   class = iota
	endsIt         // passed on once, and the grace time begins
	stopsUs        // passed on, and the shim stops as well
	justPass       // passed on
)
