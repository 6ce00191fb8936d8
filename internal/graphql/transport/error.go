package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"atrium/internal/graphql/limit"
	"atrium/internal/graphql/refusal"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// A statusError is an error with an HTTP status of its own.
type statusError struct {
	status int
	error
}

// refuse answers a request that is not executed with an error.
func (e *endpoint) refuse(w http.ResponseWriter, r *http.Request, media string, err error) {
	status := 0
	var refused *statusError
	if errors.As(err, &refused) {
		status, err = refused.status, refused.error
	}
	response := &graphql.Response{Errors: gqlerror.List{e.Present(r.Context(), err)}}
	if status == 0 {
		status = statusOf(response, mediaResponse)
	}
	write(w, status, media, response)
}

// WriteError answers a request that was rejected before it reached the endpoint, in
// the requested media type.
func WriteError(w http.ResponseWriter, r *http.Request, status int, shown *gqlerror.Error) {
	media := negotiate(r.Header.Values("Accept")).json()
	write(w, status, media, &graphql.Response{Errors: gqlerror.List{shown}})
}

// The names of the limits of what a caller has open, in errors, in the log and in the metric of
// refusals. --graphql-limit sets some of them.
const (
	LimitSockets       = "sockets"
	limitSubscriptions = "subscriptions"
	limitOperations    = "operations" // on one websocket
)

// IsLimit reports whether a limit is one of what a caller has open.
func IsLimit(name string) bool {
	return name == LimitSockets || name == limitSubscriptions || name == limitOperations
}

// limitError returns the error for a caller that has too many things open. It names
// the limit as the errors of package limit do.
func limitError(name string, limit int) error {
	message := fmt.Sprintf("Resource exhausted: the caller has too many %s open, at most %d; end one of them first", name, limit)
	return &gqlerror.Error{
		Err:        &refusal.Error{Code: refusal.ResourceExhausted, Message: message, RetryAfter: time.Second},
		Message:    message,
		Extensions: map[string]any{"limit": map[string]any{"name": name, "value": limit, "requested": limit + 1}},
	}
}

// statusOf returns the HTTP status of a response: 200 if anything was executed. A
// request that was rejected before has a 4xx status only with the newer media type,
// because clients of the older one do not read the body of such a response. An error
// of the server has its 5xx status in both.
func statusOf(response *graphql.Response, media string) int {
	if response.Data != nil || len(response.Errors) == 0 {
		return http.StatusOK
	}
	status := http.StatusBadRequest
	switch codeOf(response.Errors[0]) {
	case refusal.Unauthenticated:
		status = http.StatusUnauthorized
	case refusal.PermissionDenied:
		status = http.StatusForbidden
	case refusal.ResourceExhausted:
		status = http.StatusTooManyRequests
	case refusal.Internal:
		status = http.StatusInternalServerError
	case refusal.Unavailable:
		status = http.StatusServiceUnavailable
	case refusal.DeadlineExceeded:
		status = http.StatusGatewayTimeout
	}
	if media != mediaResponse && status < http.StatusInternalServerError {
		return http.StatusOK
	}
	return status
}

// codeOf returns the code of an error.
func codeOf(shown *gqlerror.Error) refusal.Code {
	code, _ := shown.Extensions["status"].(int)
	return refusal.Code(code)
}

// contentType returns the header of a response in a media type.
func contentType(media string) string {
	if media == mediaResponse {
		return mediaResponse + utf8Charset
	}
	return mediaJSON + utf8Charset
}

const utf8Charset = "; charset=utf-8"

// shortBody is the size of the largest body of which net/http itself sets the length.
const shortBody = 2 << 10

// write sends a single response.
func write(w http.ResponseWriter, status int, media string, response *graphql.Response) {
	w.Header().Set("Content-Type", contentType(media))
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if status >= http.StatusBadRequest && len(response.Errors) > 0 {
		setRetryAfter(w.Header(), response.Errors[0])
	}
	before, data, after := encodeParts(response)
	if n := len(before) + len(data) + len(after); n > shortBody {
		w.Header().Set("Content-Length", strconv.Itoa(n))
	}
	w.WriteHeader(status)
	for _, part := range [][]byte{before, append(data, after...)} { // data has room for a short end
		if _, err := w.Write(part); err != nil {
			return // the client has disconnected
		}
	}
}

// setRetryAfter sets the header Retry-After to the time in the details of an error, unless
// the layers before have set it.
func setRetryAfter(h http.Header, shown *gqlerror.Error) {
	details, _ := shown.Extensions["details"].([]map[string]any)
	for _, detail := range details {
		text, _ := detail["retryDelay"].(string)
		if wait, err := time.ParseDuration(text); err == nil && h.Get("Retry-After") == "" {
			h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		}
	}
}

// encode encodes a response as JSON.
func encode(response *graphql.Response) []byte {
	before, data, after := encodeParts(response)
	return slices.Concat(before, data, after)
}

// encodeParts encodes a response as JSON: its data, which can be long and is not
// copied, and what stands before and after it. Data is left out if nothing was
// executed, as the specification requires, and the errors are limited.
func encodeParts(response *graphql.Response) (before, data, after []byte) {
	ends := make([]byte, 0, 128) // before and after share it, unless there are errors
	ends = append(ends, '{')
	if len(response.Errors) > 0 {
		ends = append(append(append(ends, `"errors":`...), encodeErrors(response.Errors)...), ',')
	}
	if response.Data != nil {
		ends = append(ends, `"data":`...)
	}
	before, after = ends, ends[len(ends):]
	if len(response.Extensions) > 0 {
		if response.Data != nil {
			after = append(after, ',')
		}
		after = append(appendExtensions(append(after, `"extensions":`...), response.Extensions), '}')
		return before, response.Data, after
	}
	if response.Data == nil {
		before = bytes.TrimSuffix(before, []byte(","))
	}
	return before, response.Data, append(after, '}')
}

// appendExtensions appends the extensions of a response, sorted by name.
func appendExtensions(b []byte, extensions map[string]any) []byte {
	next := byte('{')
	for _, name := range slices.Sorted(maps.Keys(extensions)) {
		b = append(append(append(b, next, '"'), name...), '"', ':')
		next = ','
		if text, ok := extensions[name].(interface{ AppendJSON(b []byte) []byte }); ok {
			b = text.AppendJSON(b)
		} else if encoded, err := json.Marshal(extensions[name]); err == nil {
			b = append(b, encoded...)
		} else {
			b = append(b, "null"...)
		}
	}
	return append(b, '}')
}

// Limits of errors in a response. A message can repeat many long names of the
// request.
const (
	maxErrors       = 50
	maxErrorsBytes  = 64 << 10
	maxErrorBytes   = 8 << 10
	maxMessageBytes = 1 << 10
)

// encodeErrors encodes errors as JSON within the limits. If it leaves some out, the
// last error says so.
func encodeErrors(errs gqlerror.List) []byte {
	encoded := make([]byte, 1, 512)
	encoded[0] = '['
	for i, err := range errs {
		one := encodeError(err)
		if i == maxErrors-1 && len(errs) > maxErrors || len(encoded)+len(one) > maxErrorsBytes-maxMessageBytes {
			one = encodeError(&gqlerror.Error{
				Message:    fmt.Sprintf("%d more errors are not shown.", len(errs)-i),
				Extensions: map[string]any{"code": "RESOURCE_EXHAUSTED", "status": refusal.ResourceExhausted, "reason": limit.Reason},
			})
			return append(append(encoded, one...), ']')
		}
		encoded = append(append(encoded, one...), ',')
	}
	encoded[len(encoded)-1] = ']'
	return encoded
}

// encodeError encodes an error and shortens it if it is too long.
func encodeError(err *gqlerror.Error) []byte {
	shown := *err
	shown.Message = truncate(err.Message, maxMessageBytes)
	encoded, problem := json.Marshal(&shown)
	if problem == nil && len(encoded) <= maxErrorBytes {
		return encoded
	}
	shown.Path = nil
	shown.Extensions = map[string]any{"code": fmt.Sprint(err.Extensions["code"]), "status": err.Extensions["status"], "reason": fmt.Sprint(err.Extensions["reason"])}
	encoded, _ = json.Marshal(&shown)
	return encoded
}

// truncate shortens text to about n bytes and marks the omission.
func truncate(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
