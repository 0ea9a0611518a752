package collector

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Quick calls, and the client is gone: when the shim has ended, the collector
// has each of them once, whatever is spoken.
func TestQuickCallsAndAnExit(t *testing.T) {
	const n = 2000
	for _, tt := range []struct{ name, prefix, path, env string }{
		{"protobuf", "http://", "", ""},
		{"protobuf, address of traces", "http://", "/v1/traces", ""},
		{"protobuf, compressed", "http://", "", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip"},
		{"json", "http://", "/", "OTEL_EXPORTER_OTLP_PROTOCOL=http/json"},
		{"grpc", "grpc://", "", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip"},
		{"grpc by variable", "http://", "", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newReceiver(t)
			r.listen(t, nil)
			to := r.http
			if strings.HasPrefix(tt.name, "grpc") {
				to = r.grpc
			}
			s := startShim(t, t.TempDir(), []string{tt.env}, "--otlp-endpoint", tt.prefix+to+tt.path)
			s.calls(n)
			said := s.leave()
			all, different, named := r.count("tools/call echo")
			if all != n || different != n || named != n {
				t.Errorf("%d spans, %d different ones, %d calls; want %d\n%s", all, different, named, n, said)
			}
			if got := r.MetricsSink.DataPointCount(); (got == 0) != (tt.path == "/v1/traces") {
				t.Errorf("%d data points of metrics", got)
			}
		})
	}
}

// An address of its own, which only the environment knows, and another protocol.
func TestAddressOfASignal(t *testing.T) {
	r, metrics := newReceiver(t), newReceiver(t)
	r.listen(t, nil)
	metrics.listen(t, nil)
	s := startShim(t, t.TempDir(), []string{
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://" + metrics.grpc, "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=grpc",
	}, "--otlp-endpoint", "http://"+r.http)
	s.calls(10)
	said := s.leave()
	if all, _, _ := r.count(""); all != 10 || r.DataPointCount() != 0 || metrics.DataPointCount() == 0 || said != "" {
		t.Errorf("%d spans, %d and %d data points\n%s", all, r.DataPointCount(), metrics.DataPointCount(), said)
	}
}

// Headers of the flag and of the environment, and TLS with an authority that
// only the environment names.
func TestHeadersAndTLS(t *testing.T) {
	cert, key := certificate(t)
	r := newReceiver(t)
	r.listen(t, map[string]any{"cert_file": cert, "key_file": key})
	for _, to := range []string{"https://" + r.http, "grpcs://" + r.grpc} {
		for _, protocol := range []string{"", "http/json"} {
			s := startShim(t, t.TempDir(), []string{
				"OTEL_EXPORTER_OTLP_CERTIFICATE=" + cert, "OTEL_EXPORTER_OTLP_HEADERS=x-key=variable%20" + protocol, "OTEL_EXPORTER_OTLP_PROTOCOL=" + protocol,
			}, "--otlp-endpoint", to)
			s.calls(10)
			if said := s.leave(); said != "" {
				t.Errorf("%s %s: %s", to, protocol, said)
			}
		}
		s := startShim(t, t.TempDir(), []string{"OTEL_EXPORTER_OTLP_CERTIFICATE=" + cert}, "--otlp-endpoint", to, "--otlp-header", "X-Key=flag")
		s.calls(10)
		s.leave()
	}
	if all, different, _ := r.count(""); all != 60 || different != 60 {
		t.Errorf("%d spans, %d different ones", all, different)
	}
	for _, key := range []string{"variable", "variable http/json", "flag"} {
		if !r.keys[key] {
			t.Errorf("no request had the header %q: %v", key, r.keys)
		}
	}
	s := startShim(t, t.TempDir(), nil, "--otlp-endpoint", "https://"+r.http, "--otlp-flush", "1s")
	s.calls(3)
	if said := s.leave(); !strings.Contains(said, "3 operations were not sent") || !strings.Contains(said, "certificate") {
		t.Errorf("without the authority: %s", said)
	}
}

// The HTTP proxy sends what it passes on.
func TestHTTPProxySends(t *testing.T) {
	r := newReceiver(t)
	r.listen(t, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	defer server.Close()
	cmd := command(t.TempDir(), nil, "http", "--target", server.URL+"/mcp", "--listen", "127.0.0.1:0", "--otlp-endpoint", "http://"+r.http)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	n, _ := errs.Read(b)
	m := regexp.MustCompile(`listening on (http://\S+/mcp)`).FindSubmatch(b[:n])
	if m == nil {
		t.Fatalf("it says %q", b[:n])
	}
	for range 200 {
		resp, err := http.Post(string(m[1]), "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	_ = cmd.Process.Signal(os.Interrupt)
	rest, _ := io.ReadAll(errs)
	_ = cmd.Wait()
	if all, different, named := r.count("tools/call echo"); all != 200 || different != 200 || named != 200 {
		t.Errorf("%d spans, %d different ones, %d calls\n%s", all, different, named, rest)
	}
}

// A shim and a hub that both send: the same spans, with the frames as logs.
func TestShimAndHubSendTheSame(t *testing.T) {
	beside, above := newReceiver(t), newReceiver(t)
	beside.listen(t, nil)
	above.listen(t, nil)
	home := t.TempDir()
	end := startHub(t, home, "--otlp-endpoint", "grpc://"+above.grpc, "--otlp-logs")
	s := startShim(t, home, nil, "--otlp-endpoint", "http://"+beside.http)
	s.calls(300)
	s.leave()
	above.waitFor(t, 300)
	said := end()
	slices.Sort(beside.spans)
	slices.Sort(above.spans)
	if len(above.spans) != 300 || !slices.Equal(beside.spans, above.spans) {
		t.Errorf("%d spans of the shim, %d of the hub, and they are not the same\n%s", len(beside.spans), len(above.spans), said)
	}
	if n := above.LogsSink.LogRecordCount(); n != 600 {
		t.Errorf("%d frames as logs, want 600", n)
	}
}

// The collector is away when the session begins, and comes while it goes on.
func TestCollectorComesBack(t *testing.T) {
	for _, protocol := range []string{"http", "grpc"} {
		r := newReceiver(t)
		to := map[string]string{"http": "http://" + r.http, "grpc": "grpc://" + r.grpc}[protocol]
		s := startShim(t, t.TempDir(), nil, "--otlp-endpoint", to)
		s.calls(1500)
		time.Sleep(3 * time.Second) // it has tried by now
		r.listen(t, nil)
		s.calls(500)
		said := s.leave()
		if all, different, _ := r.count(""); different != 2000 || all != 2000 || strings.Contains(said, "not sent") {
			t.Errorf("%s: %d spans, %d different ones, want 2000\n%s", protocol, all, different, said)
		}
		if protocol == "http" && !strings.Contains(said, "cannot be reached") { // gRPC tries for a while before it says so
			t.Errorf("%s: it does not say that nobody is there: %q", protocol, said)
		}
	}
}

// Nobody comes: the shim ends in time, and says what is lost.
func TestCollectorStaysAway(t *testing.T) {
	s := startShim(t, t.TempDir(), nil, "--otlp-endpoint", "http://"+freeAddress(t), "--otlp-flush", "1s")
	s.calls(700)
	if said := s.leave(); !strings.Contains(said, "700 operations were not sent") {
		t.Error(said)
	}
}

// certificate makes an authority that vouches for itself on loopback.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "collector"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "EC PRIVATE KEY", private)
}
