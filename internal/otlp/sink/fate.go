package sink

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// fate is what became of a batch.
type fate uint8

const (
	taken   fate = iota
	later        // to be tried again
	refused      // for good
)

// judge says what an exporter's error means, and how many items of a batch
// that was taken were left out. What answers is refused: the exporters try
// again by themselves where that helps. What does not answer is tried again.
func judge(err error) (f fate, left uint64) {
	if err == nil {
		return taken, 0
	}
	text := err.Error()
	if _, partial, ok := strings.Cut(text, "OTLP partial success: "); ok {
		if _, rest, ok := cutLast(partial, " ("); ok {
			_, _ = fmt.Sscanf(rest, "%d", &left) // a number that cannot be read is none
		}
		return taken, left
	}
	var dial *url.Error
	switch {
	case errors.As(err, &dial), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled),
		strings.Contains(text, "max retry time"), strings.Contains(text, "export timeout"):
		return later, 0
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if s, ok := status.FromError(e); ok {
			if strings.Contains(s.Message(), "message larger than max") {
				return refused, 0 // it will not get smaller
			}
			switch s.Code() {
			case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Aborted, codes.ResourceExhausted, codes.DataLoss, codes.OutOfRange:
				return later, 0
			}
			return refused, 0
		}
	}
	return refused, 0
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// plain is the reason without the address, which the message names already.
func plain(err error) string {
	var dial *url.Error
	if errors.As(err, &dial) {
		err = dial.Err
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text[:min(len(text), 300)]
}
