package sink

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want fate
		left uint64
	}{
		{nil, taken, 0},
		{&url.Error{Op: "Post", Err: errors.New("connection refused")}, later, 0},
		{fmt.Errorf("traces export: %w", context.DeadlineExceeded), later, 0},
		{errors.New("max retry time elapsed: 503"), later, 0},
		{status.Error(codes.Unavailable, "down"), later, 0},
		{status.Error(codes.ResourceExhausted, "busy"), later, 0},
		{status.Error(codes.ResourceExhausted, "grpc: received message larger than max (5 vs. 4)"), refused, 0},
		{fmt.Errorf("traces export: %w", status.Error(codes.Unauthenticated, "who are you")), refused, 0},
		{status.Error(codes.InvalidArgument, "what"), refused, 0},
		{errors.New("failed to send to http://h/v1/traces: 401 Unauthorized"), refused, 0},
		{errors.New("OTLP partial success: too old (3 spans rejected)"), taken, 3},
		{errors.New("OTLP partial success: empty message (0 spans rejected)"), taken, 0},
	} {
		if got, left := judge(tt.err); got != tt.want || left != tt.left {
			t.Errorf("%v: %d, %d left out; want %d, %d", tt.err, got, left, tt.want, tt.left)
		}
	}
}
