package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"atrium/internal/graphql/limit"
	"atrium/internal/graphql/refusal"

	"github.com/99designs/gqlgen/graphql"
)

// readBody reads the GraphQL request in the body of a POST.
func (e *endpoint) readBody(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, error) {
	start := graphql.Now()
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, &statusError{http.StatusUnsupportedMediaType, refusal.NewInvalid("Content-Type", "must be application/json, in UTF-8")}
	}
	if coding := strings.Join(r.Header.Values("Content-Encoding"), ", "); coding != "" && !strings.EqualFold(coding, "identity") {
		w.Header().Set("Accept-Encoding", "identity")
		return nil, &statusError{http.StatusUnsupportedMediaType, refusal.NewInvalid("Content-Encoding", "must be absent, because compressed bodies are not supported")}
	}
	body, err := e.wholeBody(w, r)
	if err != nil {
		return nil, err
	}
	raw, err := e.decodeRequest(body)
	if err != nil {
		return nil, err
	}
	raw.Headers = r.Header
	raw.ReadTime = graphql.TraceTiming{Start: start, End: graphql.Now()}
	return raw, nil
}

// isJSON reports whether a body is JSON in UTF-8.
func isJSON(contentType string) bool {
	if contentType == mediaJSON {
		return true
	}
	media, parameters, err := mime.ParseMediaType(contentType)
	charset := parameters["charset"]
	return err == nil && media == mediaJSON && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

// wholeBody returns the body of a request, which must be within the limit.
func (e *endpoint) wholeBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if e.BodyBytes > 0 && r.ContentLength > e.BodyBytes { // the body is not read
		return nil, &statusError{http.StatusRequestEntityTooLarge, limit.NewExceeded("bytes", int(e.BodyBytes), int(r.ContentLength))}
	}
	from := r.Body
	if e.BodyBytes > 0 {
		from = http.MaxBytesReader(w, from, e.BodyBytes)
	}
	var buffer bytes.Buffer
	buffer.Grow(int(max(0, min(r.ContentLength, maxBuffered))) + bytes.MinRead)
	_, err := buffer.ReadFrom(from)
	if err == nil {
		return buffer.Bytes(), nil
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, &statusError{http.StatusRequestEntityTooLarge, limit.NewExceeded("bytes", int(e.BodyBytes), int(e.BodyBytes)+1)}
	}
	return nil, refusal.NewInvalid("body", "could not be read completely")
}

// maxBuffered limits the memory that is allocated for a body before any of it arrives.
const maxBuffered = 64 << 10

// decodeRequest decodes a request from the JSON of a POST or a websocket. Unknown
// members are ignored, and the last one of duplicates counts, as in encoding/json.
func (e *endpoint) decodeRequest(body []byte) (*graphql.RawParams, error) {
	if !utf8.Valid(body) {
		return nil, refusal.NewInvalid("body", "must be UTF-8")
	}
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) {
		return nil, refusal.NewInvalid("body", "must be one request, because batches are not supported")
	}
	members, ok := readMembers(body)
	if !ok {
		return nil, refusal.NewInvalid("body", "must be a JSON object")
	}
	return e.requestOf(members)
}

// readQuery reads a request from the URL of a GET.
func (e *endpoint) readQuery(r *http.Request) (*graphql.RawParams, error) {
	start := graphql.Now()
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, refusal.NewInvalid("query", "must be part of a well-formed URL")
	}
	var members requestMembers
	for name, given := range values {
		switch {
		case len(given) > 1:
			return nil, refusal.NewInvalid("query", "must be part of a URL in which each parameter is given once")
		case !utf8.ValidString(given[0]):
			return nil, refusal.NewInvalid("query", "must be part of a URL in UTF-8")
		case given[0] == "":
		case name == "variables" || name == "extensions":
			members.set(name, []byte(given[0]))
		default:
			text, _ := json.Marshal(given[0]) // encoding a string cannot fail
			members.set(name, text)
		}
	}
	raw, err := e.requestOf(members)
	if err != nil {
		return nil, err
	}
	raw.Headers = r.Header
	raw.ReadTime = graphql.TraceTiming{Start: start, End: graphql.Now()}
	return raw, nil
}

// requestOf converts the members of a request and checks their types. null counts as
// absent.
func (e *endpoint) requestOf(members requestMembers) (*graphql.RawParams, error) {
	raw := &graphql.RawParams{}
	var document string
	var wrong []refusal.Violation
	check := func(member int, isDecoded bool, is string) {
		value := members[member]
		if value == nil {
			return
		}
		if !isDecoded {
			wrong = append(wrong, refusal.Violation{Field: memberNames[member], Description: "must be " + is})
		} else if err := e.checkValue(value); err != nil {
			wrong = append(wrong, refusal.Violation{Field: memberNames[member], Description: err.Error()})
		}
	}
	texts := [...]*string{memberQuery: &raw.Query, memberDocument: &document, memberOperation: &raw.OperationName}
	for i, to := range texts {
		text, ok := decodeText(members[i])
		*to = text
		check(i, ok, "a string")
	}
	check(memberVariables, decodeObject(members[memberVariables], &raw.Variables), "a JSON object")
	check(memberExtensions, decodeObject(members[memberExtensions], &raw.Extensions), "a JSON object")
	switch {
	case wrong != nil:
		return nil, &refusal.Error{Code: refusal.InvalidArgument, Violations: wrong}
	case document != "" && raw.Query != "":
		return nil, refusal.NewInvalid("documentId", "cannot be given together with query")
	case document != "":
		limit.NameDocument(raw, document)
	case raw.Query == "" && raw.Extensions[limit.PersistedQuery] == nil:
		return nil, refusal.NewInvalid("query", "is required")
	}
	return raw, nil
}

// checkValue checks a value with CheckJSON. Only an escape can be wrong in a value that
// could be decoded.
func (e *endpoint) checkValue(value []byte) error {
	if e.CheckJSON == nil || bytes.IndexByte(value, '\\') < 0 {
		return nil
	}
	return e.CheckJSON(value)
}
