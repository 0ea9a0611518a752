package sink

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// message is a request or a response of a signal, of the collector's own modules.
type message interface {
	UnmarshalProto(b []byte) error
	MarshalProto() ([]byte, error)
	UnmarshalJSON(b []byte) error
	MarshalJSON() ([]byte, error)
}

// inJSON turns what an exporter sends into JSON, and the answer back.
type inJSON struct {
	next     http.RoundTripper
	request  func() message
	response func() message
}

// jsonClient makes the HTTP client of an exporter that sends JSON.
func jsonClient(signal string, env Env) (*http.Client, error) {
	tlsConfig, err := tlsConfig(signal, env)
	if err != nil {
		return nil, err
	}
	t := &inJSON{next: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: tlsConfig, ForceAttemptHTTP2: true,
		MaxIdleConns: 2, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
	}}
	switch signal {
	case "traces":
		t.request = func() message { r := ptraceotlp.NewExportRequest(); return &r }
		t.response = func() message { r := ptraceotlp.NewExportResponse(); return &r }
	case "metrics":
		t.request = func() message { r := pmetricotlp.NewExportRequest(); return &r }
		t.response = func() message { r := pmetricotlp.NewExportResponse(); return &r }
	default:
		t.request = func() message { r := plogotlp.NewExportRequest(); return &r }
		t.response = func() message { r := plogotlp.NewExportResponse(); return &r }
	}
	return &http.Client{Transport: t, Timeout: timeout}, nil
}

const (
	protobufType = "application/x-protobuf"
	jsonType     = "application/json"
	maxAnswer    = 4 << 20 // bytes of a collector's answer that are read
)

// RoundTrip is a part of http.RoundTripper.
func (t *inJSON) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close() // it is in memory
	if err != nil {
		return nil, err
	}
	if r.Header.Get("Content-Type") == protobufType {
		m := t.request()
		if err := m.UnmarshalProto(body); err != nil {
			return nil, fmt.Errorf("read what is to be sent: %w", err)
		}
		if body, err = m.MarshalJSON(); err != nil {
			return nil, fmt.Errorf("write it as JSON: %w", err)
		}
	}
	out := r.Clone(r.Context())
	out.Header.Set("Content-Type", jsonType)
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	resp, err := t.next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	return t.answer(resp), nil
}

// answer turns a JSON answer of success into what the exporter reads.
func (t *inJSON) answer(resp *http.Response) *http.Response {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode >= 300 || kind != jsonType {
		return resp
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	_ = resp.Body.Close() // what it held has been read
	m := t.response()
	if err != nil || m.UnmarshalJSON(b) != nil {
		b = nil // it was taken; what else it says cannot be read
	} else if b, err = m.MarshalProto(); err != nil {
		b = nil
	}
	resp.Header.Set("Content-Type", protobufType)
	resp.Header.Set("Content-Length", strconv.Itoa(len(b)))
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	return resp
}
