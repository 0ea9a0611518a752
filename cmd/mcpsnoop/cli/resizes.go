package cli

// watchSizes gives the sizes of a terminal as they change: it looks whenever
// it is nudged, until stop. The first look is at the first nudge.
func watchSizes[T any](nudges <-chan T, size func() (width, height int, err error)) (sizes <-chan [2]int, stop func()) {
	out := make(chan [2]int, 1)
	done := make(chan struct{})
	go func() {
		var last [2]int
		for {
			select {
			case <-done:
				return
			case <-nudges:
			}
			w, h, err := size()
			if err != nil || last == [2]int{w, h} {
				continue
			}
			last = [2]int{w, h}
			select {
			case out <- last:
			case <-done:
				return
			}
		}
	}()
	return out, func() { close(done) }
}
