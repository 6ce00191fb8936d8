package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"atrium/graphql/limit"
	"atrium/graphql/refusal"

	"github.com/99designs/gqlgen/graphql"
)

// readBody reads the GraphQL request in the body of a POST.
func (e *endpoint) readBody(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, error) {
	start := graphql.Now()
	media, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset := parameters["charset"]
	if err != nil || media != mediaJSON || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return nil, &statusError{http.StatusUnsupportedMediaType, refusal.NewInvalid("Content-Type", "must be application/json, in UTF-8")}
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
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

func (e *endpoint) wholeBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if e.BodyBytes > 0 && r.ContentLength > e.BodyBytes { // the body is not read
		return nil, &statusError{http.StatusRequestEntityTooLarge, limit.Exceed("bytes", int(e.BodyBytes), int(r.ContentLength))}
	}
	from := r.Body
	if e.BodyBytes > 0 {
		from = http.MaxBytesReader(w, from, e.BodyBytes)
	}
	body, err := io.ReadAll(from)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, &statusError{http.StatusRequestEntityTooLarge, limit.Exceed("bytes", int(e.BodyBytes), int(e.BodyBytes)+1)}
	case err != nil:
		return nil, refusal.NewInvalid("body", "could not be read completely")
	}
	return body, nil
}

// decodeRequest decodes a request from the JSON of a POST or a websocket. Unknown
// members are ignored, and the last one of duplicates counts, as in encoding/json.
func (e *endpoint) decodeRequest(body []byte) (*graphql.RawParams, error) {
	if !utf8.Valid(body) {
		return nil, refusal.NewInvalid("body", "must be UTF-8")
	}
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) {
		return nil, refusal.NewInvalid("body", "must be one request, because batches are not supported")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
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
	members := map[string]json.RawMessage{}
	for name, given := range values {
		switch {
		case len(given) > 1:
			return nil, refusal.NewInvalid("query", "must be part of a URL in which each parameter is given once")
		case !utf8.ValidString(given[0]):
			return nil, refusal.NewInvalid("query", "must be part of a URL in UTF-8")
		case given[0] == "":
		case name == "variables" || name == "extensions":
			members[name] = json.RawMessage(given[0])
		default:
			members[name], _ = json.Marshal(given[0]) // encoding a string cannot fail
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
func (e *endpoint) requestOf(members map[string]json.RawMessage) (*graphql.RawParams, error) {
	raw := &graphql.RawParams{}
	var document string
	var wrong []refusal.Violation
	for _, member := range []struct {
		name string
		into any
		is   string
	}{
		{"query", &raw.Query, "a string"},
		{"documentId", &document, "a string"},
		{"operationName", &raw.OperationName, "a string"},
		{"variables", &raw.Variables, "a JSON object"},
		{"extensions", &raw.Extensions, "a JSON object"},
	} {
		value, given := members[member.name]
		if !given {
			continue
		}
		if decodeMember(value, member.into) != nil {
			wrong = append(wrong, refusal.Violation{Field: member.name, Description: "must be " + member.is})
		} else if err := e.checkValue(value); err != nil {
			wrong = append(wrong, refusal.Violation{Field: member.name, Description: err.Error()})
		}
	}
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

// checkValue checks a value with CheckJSON.
func (e *endpoint) checkValue(value json.RawMessage) error {
	if e.CheckJSON == nil {
		return nil
	}
	return e.CheckJSON(value)
}

func decodeMember(value json.RawMessage, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber() // numbers of 2^53 and more stay exact
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}
