package httpproxy

// http2Side serves clients that speak HTTP/2.
type http2Side struct{ p *Proxy }

func newHTTP2(p *Proxy) *http2Side { return &http2Side{p} }

func (s *http2Side) serve(*pair) {}
func (s *http2Side) shutdown()   {}
func (s *http2Side) close()      {}
