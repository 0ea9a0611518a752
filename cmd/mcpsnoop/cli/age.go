package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// age is a flag that takes a time like 30d, 2w or 72h.
type age time.Duration

func (a *age) String() string {
	if *a == 0 {
		return "0"
	}
	return time.Duration(*a).String()
}
func (a *age) Type() string { return "AGE" }

func (a *age) Set(s string) error {
	d, err := parseAge(s)
	if err == nil {
		*a = age(d)
	}
	return err
}

const day = 24 * time.Hour

func parseAge(s string) (time.Duration, error) {
	for _, u := range []struct {
		name string
		unit time.Duration
	}{{"d", day}, {"w", 7 * day}} {
		if digits, ok := strings.CutSuffix(s, u.name); ok {
			if n, err := strconv.ParseFloat(digits, 64); err == nil && n >= 0 && n < 100_000 && !strings.ContainsAny(digits, "xpein_") {
				return time.Duration(n * float64(u.unit)), nil
			}
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("want an age like 30d, 2w or 72h")
	}
	return d, nil
}

// ageText writes an age for people.
func ageText(d time.Duration) string {
	switch {
	case d >= 2*day:
		return fmt.Sprintf("%dd", d/day)
	case d >= time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", max(d, 0)/time.Minute)
}
