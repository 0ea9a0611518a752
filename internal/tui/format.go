package tui

import (
	"strconv"
	"time"
)

// count writes n with commas: 1,204.
func count[N ~int | ~int64 | ~uint64 | ~uint32](n N) Text {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return Text(s)
}

// shortCount writes n in at most five cells: 9999, 12.3k, 456k, 7.8M.
func shortCount[N ~int | ~int64 | ~uint64 | ~uint32](n N) Text {
	v := float64(n)
	switch {
	case n < 10_000:
		return Text(strconv.FormatInt(int64(n), 10))
	case n < 99_950:
		return Text(strconv.FormatFloat(v/1e3, 'f', 1, 64) + "k")
	case n < 999_500:
		return Text(strconv.FormatFloat(v/1e3, 'f', 0, 64) + "k")
	case n < 99_950_000:
		return Text(strconv.FormatFloat(v/1e6, 'f', 1, 64) + "M")
	}
	return Text(strconv.FormatFloat(v/1e6, 'f', 0, 64) + "M")
}

// size writes a number of bytes in at most eight cells: 214 B, 1.2 KiB, 16 MiB.
func size[N ~int | ~int64 | ~uint64 | ~uint32](n N) Text {
	v, unit := float64(n), 0
	for v >= 1023.5 && unit < 4 {
		v /= 1024
		unit++
	}
	digits := 0
	if unit > 0 && v < 99.95 {
		digits = 1
	}
	return Text(strconv.FormatFloat(v, 'f', digits, 64) + [...]string{" B", " KiB", " MiB", " GiB", " TiB"}[unit])
}

// duration writes a duration in at most six cells: 0.3ms, 120ms, 3.62s,
// 41.8s, 3m12s, 2h05m, 3d04h.
func duration(d time.Duration) Text {
	switch {
	case d < 0:
		return "-" + duration(-d)
	case d < 10*time.Millisecond:
		return Text(strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64) + "ms")
	case d < 999500*time.Microsecond:
		return Text(strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 0, 64) + "ms")
	case d < 9995*time.Millisecond:
		return Text(strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + "s")
	case d < 59950*time.Millisecond:
		return Text(strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s")
	case d < time.Hour-500*time.Millisecond:
		d = d.Round(time.Second)
		return two(int(d/time.Minute), "m", int(d%time.Minute/time.Second), "s")
	case d < 24*time.Hour-30*time.Second:
		d = d.Round(time.Minute)
		return two(int(d/time.Hour), "h", int(d%time.Hour/time.Minute), "m")
	}
	d = d.Round(time.Hour)
	return two(int(d/(24*time.Hour)), "d", int(d%(24*time.Hour)/time.Hour), "h")
}

// waited writes how long something has been open: whole seconds, so that it
// changes once a second only.
func waited(d time.Duration) Text {
	if d < time.Minute {
		return Text(strconv.Itoa(int(max(d, 0)/time.Second)) + "s")
	}
	return duration(d.Truncate(time.Second))
}

func two(a int, unitA Text, b int, unitB Text) Text {
	pad := Text("")
	if b < 10 {
		pad = "0"
	}
	return Text(strconv.Itoa(a)) + unitA + pad + Text(strconv.Itoa(b)) + unitB
}

// age writes how long ago something was, coarsely: now, 5m, 3h, 12d, 2y.
func age(d time.Duration) Text {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return Text(strconv.Itoa(int(d/time.Minute)) + "m")
	case d < 48*time.Hour:
		return Text(strconv.Itoa(int(d/time.Hour)) + "h")
	case d < 730*24*time.Hour:
		return Text(strconv.Itoa(int(d/(24*time.Hour))) + "d")
	}
	return Text(strconv.Itoa(int(d/(365*24*time.Hour))) + "y")
}

// plural writes a count and its noun: 1 error, 2 errors.
func plural[N ~int | ~int64 | ~uint64 | ~uint32](n N, one, many Text) Text {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}
