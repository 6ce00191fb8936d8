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

// The OpenAPI 3.1 document of the routes that New serves, made by `make
// generate`. It holds the marks below where a server says what it is.
var (
	//go:embed openapi.json.gz
	openAPIJSON []byte
	//go:embed openapi.yaml.gz
	openAPIYAML []byte
)

// The marks of the document. YAML quotes what begins with a brace.
const (
	versionMark = "{{version}}"
	domainMark  = "{{domain}}"
)

// Description serves the OpenAPI document: as JSON where the path ends in
// .json, as YAML otherwise. It is for everyone to read.
func Description(o Options) http.Handler {
	asJSON := sync.OnceValue(func() []byte { return o.fillIn(openAPIJSON) })
	asYAML := sync.OnceValue(func() []byte { return o.fillIn(openAPIYAML) })
	return compress(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	}))
}

// fillIn gives a form of the document with the marks replaced.
func (o Options) fillIn(document []byte) []byte {
	version, err := json.Marshal(o.version()) // also within the quotes of YAML
	if err != nil {
		panic(err)
	}
	text := unpack(document)
	text = bytes.ReplaceAll(text, []byte(`"`+versionMark+`"`), version)
	return bytes.ReplaceAll(text, []byte(domainMark), []byte(o.errors().Domain()))
}

// unpack decompresses a part of the program.
func unpack(packed []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		var text []byte
		if text, err = io.ReadAll(r); err == nil {
			return text
		}
	}
	panic(err) // the program itself is damaged
}
