package sink

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// Protocol is how data is sent.
type Protocol string

// The protocols, by their names in OTEL_EXPORTER_OTLP_PROTOCOL.
const (
	HTTPProtobuf Protocol = "http/protobuf"
	HTTPJSON     Protocol = "http/json"
	GRPC         Protocol = "grpc"
)

// Endpoint is where data is sent.
type Endpoint struct {
	base     url.URL
	traces   bool // the address is that of traces, and nothing else is sent there
	said     bool // the address says how data is sent
	Protocol Protocol
}

// Env gives environment variables, "" for those that are not set.
type Env func(name string) string

var errScheme = errors.New("want http://, https://, grpc:// or grpcs://, and a host")

// ParseEndpoint reads an address. One that ends in /v1/traces is taken as it
// is and gets spans alone; all others are bases, as in
// OTEL_EXPORTER_OTLP_ENDPOINT. Without a protocol in the environment, port
// 4317 means gRPC, as it does everywhere.
func ParseEndpoint(raw string, env Env) (Endpoint, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return Endpoint{}, errors.New("not a URL")
	}
	e := Endpoint{Protocol: Protocol(env("OTEL_EXPORTER_OTLP_PROTOCOL"))}
	switch u.Scheme {
	case "http", "https":
	case "grpc", "grpcs":
		u.Scheme = strings.Replace(u.Scheme, "grpc", "http", 1)
		e.Protocol, e.said = GRPC, true
	default:
		return Endpoint{}, errScheme
	}
	if u.Host == "" {
		return Endpoint{}, errScheme
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return Endpoint{}, errors.New("want no name, password, query or fragment in it; send what must be secret in a header")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	e.traces = strings.HasSuffix(u.Path, "/v1/traces")
	if e.Protocol == "" {
		e.Protocol = HTTPProtobuf
		if u.Port() == "4317" && u.Path == "" {
			e.Protocol = GRPC
		}
	}
	if err := checkProtocols(env); err != nil {
		return Endpoint{}, err
	}
	e.base = *u
	return e, nil
}

// checkProtocols says which variable names no protocol.
func checkProtocols(env Env) error {
	for _, signal := range []string{"", "TRACES_", "METRICS_", "LOGS_"} {
		name := "OTEL_EXPORTER_OTLP_" + signal + "PROTOCOL"
		switch p := Protocol(env(name)); p {
		case HTTPProtobuf, HTTPJSON, GRPC, "":
		default:
			return fmt.Errorf("%s is %q; want http/protobuf, http/json or grpc", name, p)
		}
	}
	return nil
}

// protocol is how a signal is sent: as the address says, else as the
// environment says of the signal, else of all.
func (o *Options) protocol(signal string) Protocol {
	if p := o.Env("OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_PROTOCOL"); p != "" && !o.Endpoint.said {
		return Protocol(p)
	}
	return o.Endpoint.Protocol
}

// String is the address without what a path may hold.
func (e Endpoint) String() string { return e.base.Scheme + "://" + e.base.Host }

// TracesOnly reports whether the address is that of traces.
func (e Endpoint) TracesOnly() bool { return e.traces }

// url is the address of a signal: traces, metrics or logs.
func (e Endpoint) url(signal string, p Protocol) string {
	u := e.base
	switch {
	case p == GRPC:
		u.Path = ""
	case !e.traces:
		u.Path += "/v1/" + signal
	}
	return u.String()
}

// headers are those of a signal: what the environment says, and what was
// given, which wins. nil when nothing was given: the exporters read the rest.
func headers(signal string, given map[string]string, env Env) map[string]string {
	if len(given) == 0 {
		return nil
	}
	out := map[string]string{}
	text := env("OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_HEADERS")
	if text == "" {
		text = env("OTEL_EXPORTER_OTLP_HEADERS")
	}
	for pair := range strings.SplitSeq(text, ",") {
		k, v, ok := strings.Cut(pair, "=")
		if v, err := url.PathUnescape(strings.TrimSpace(v)); ok && err == nil {
			out[strings.TrimSpace(k)] = v
		}
	}
	for k, v := range given {
		out[k] = v
	}
	return out
}

// tlsConfig is what the environment says of TLS, for clients of our own. nil
// means nothing.
func tlsConfig(signal string, env Env) (*tls.Config, error) {
	get := func(what string) string {
		if v := env("OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_" + what); v != "" {
			return v
		}
		return env("OTEL_EXPORTER_OTLP_" + what)
	}
	ca, cert, key := get("CERTIFICATE"), get("CLIENT_CERTIFICATE"), get("CLIENT_KEY")
	if ca == "" && cert == "" {
		return nil, nil //nolint:nilnil // nil is what tls takes for nothing
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("read the certificate of the collector: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read the certificate of the collector: %s holds none in PEM form", ca)
		}
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("read the client's certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
