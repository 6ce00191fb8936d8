package transport

import "testing"

func TestAResponseHasTheMediaTypeThatTheClientPrefers(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{
		"":                                mediaJSON,
		"*/*":                             mediaJSON,
		"application/*":                   mediaJSON,
		mediaJSON:                         mediaJSON,
		mediaResponse:                     mediaResponse,
		"text/event-stream":               mediaEvents,
		"text/*":                          mediaEvents,
		"text/html":                       "",
		"nonsense":                        "",
		"application/json;q=0":            "",
		"application/json;q=2":            "",
		mediaJSON + "; q=0, */*":          mediaResponse,
		"application/json;charset=latin1": "",
		"application/json; charset=UTF-8": mediaJSON,
		mediaResponse + ", " + mediaJSON:  mediaResponse,
		mediaJSON + ", " + mediaResponse:  mediaJSON,
		mediaJSON + ";q=0.5, " + mediaResponse + ";q=0.9":                      mediaResponse,
		mediaResponse + ";q=0.5, " + mediaJSON:                                 mediaJSON,
		"*/*, " + mediaResponse:                                                mediaResponse,
		"*/*, " + mediaResponse + ";q=0.1":                                     mediaJSON,
		mediaResponse + ", " + mediaJSON + ", multipart/mixed":                 mediaResponse,
		mediaResponse + ", " + mediaJSON + "; charset=utf-8; q=0.9, text/html": mediaResponse,
		"text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8":   mediaJSON,
	} {
		if got := negotiate([]string{accept}).bestType; got != want {
			t.Errorf("%q is answered as %q, want %q", accept, got, want)
		}
	}
}
