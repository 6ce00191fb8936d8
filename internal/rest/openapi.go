package rest

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// The OpenAPI 3.1 document of the routes that New serves. `make generate` makes it. It
// contains placeholders for the values of a server.
var (
	//go:embed openapi.json.gz
	openAPIJSON []byte
	//go:embed openapi.yaml.gz
	openAPIYAML []byte
)

// The placeholders in the document. In YAML they are quoted, because they begin with a
// brace.
const (
	versionMark = "{{version}}"
	domainMark  = "{{domain}}"
)

// Description returns the public handler of the OpenAPI document: JSON if the path ends in
// .json, otherwise YAML.
func Description(o Options) http.Handler {
	asJSON := sync.OnceValue(func() []byte { return o.fillIn(openAPIJSON) })
	asYAML := sync.OnceValue(func() []byte { return o.fillIn(openAPIYAML) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			setPrivateHeaders(w.Header())
			mediaType, body := "application/yaml", asYAML
			if strings.HasSuffix(r.URL.Path, ".json") {
				mediaType, body = "application/json", asJSON
			}
			w.Header().Set("Content-Type", mediaType)
			_, _ = w.Write(body())
		default:
			setPrivateHeaders(w.Header())
			w.Header().Set("Allow", "GET, HEAD, OPTIONS")
			if r.Method == http.MethodOptions {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			o.WriteError(w, r, noMethod)
		}
	})
}

// Document returns the OpenAPI document as JSON, with the placeholders.
func Document() []byte { return unpack(openAPIJSON) }

// fillIn returns the document with the placeholders replaced.
func (o Options) fillIn(document []byte) []byte {
	version, err := json.Marshal(o.version()) // also inside a quoted YAML string
	if err != nil {
		panic(err)
	}
	text := unpack(document)
	text = bytes.ReplaceAll(text, []byte(`"`+versionMark+`"`), version)
	return bytes.ReplaceAll(text, []byte(domainMark), []byte(o.errors().Domain()))
}

// unpack decompresses an embedded file.
func unpack(packed []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		var text []byte
		if text, err = io.ReadAll(r); err == nil {
			return text
		}
	}
	panic(err) // the program is damaged
}
