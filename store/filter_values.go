package store

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// comparison turns an operator into a test of what compareInt gives.
func comparison(op string) func(int) bool {
	switch op {
	case "<":
		return func(c int) bool { return c < 0 }
	case "<=":
		return func(c int) bool { return c <= 0 }
	case ">":
		return func(c int) bool { return c > 0 }
	case ">=":
		return func(c int) bool { return c >= 0 }
	}
	return func(c int) bool { return c == 0 }
}

func compareInt(a, b int64) int { return cmp.Compare(a, b) }

func parseCount(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s is no whole number", quote(s))
	}
	return n, nil
}

// sizeUnits are the units of sizes; the empty one is bytes.
var sizeUnits = map[string]float64{
	"": 1, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
}

// parseSize reads a number of bytes: 512, 1.5MB, 64KiB.
func parseSize(s string) (int64, error) {
	digits := strings.TrimRightFunc(s, func(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' })
	unit, ok := sizeUnits[strings.ToLower(s[len(digits):])]
	n, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || !(n >= 0) || n*unit > math.MaxInt64/2 {
		return 0, fmt.Errorf("%s is no size: for example 512, 64KB or 1.5MiB", quote(s))
	}
	return int64(n * unit), nil
}

var errSpan = errors.New("no duration")

// parseSpan reads a duration, with days and weeks beside the units of Go.
func parseSpan(s string) (time.Duration, error) {
	for unit, d := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if digits, ok := strings.CutSuffix(s, unit); ok {
			n, err := strconv.ParseFloat(digits, 64)
			if err != nil || !(n >= 0) || n*float64(d) > math.MaxInt64/2 {
				return 0, errSpan
			}
			return time.Duration(n * float64(d)), nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errSpan
	}
	return d, nil
}

// moments are the spellings of times; those that have a date, and those of the day of now.
var (
	dates = []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04",
		"2006-01-02 15:04:05.999999999", "2006-01-02 15:04", "2006-01-02",
	}
	clocks = []string{"15:04:05.999999999", "15:04"}
)

// parseMoment reads a time, or how long before now it was, as nanoseconds
// since 1970.
func parseMoment(s string, now time.Time) (int64, error) {
	if d, err := parseSpan(s); err == nil {
		return nanos(now.Add(-d)), nil
	}
	for _, layout := range dates {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return nanos(t), nil
		}
	}
	for _, layout := range clocks {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			y, m, d := now.Date()
			return nanos(time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), now.Location())), nil
		}
	}
	return 0, fmt.Errorf("%s is neither a duration nor a time: for example 10m, 30d, 15:04:05 or 2026-11-30T15:04", quote(s))
}

// nanos is UnixNano within the years that it can hold.
func nanos(t time.Time) int64 {
	switch {
	case t.Year() < 1678:
		return math.MinInt64
	case t.Year() > 2261:
		return math.MaxInt64
	}
	return t.UnixNano()
}
