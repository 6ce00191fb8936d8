package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"atrium/platform/core"
)

// rest makes calls with the routes of the reference.
type rest struct {
	handler http.Handler
	ledger  map[string]rpc
}

func (rest) name() string { return "rest" }

var pathVariable = regexp.MustCompile(`\{([a-z_.]+)(=\*+)?\}`)

func (p rest) do(token string, c call) answer {
	operation, known := p.ledger[c.rpc]
	if !known {
		return answer{brokenRule: "the ledger has no operation " + c.rpc}
	}
	query := url.Values{}
	for name, value := range c.params {
		if many, ok := value.([]any); ok {
			for _, one := range many {
				query.Add(name, formatValue(one))
			}
			continue
		}
		query.Set(name, formatValue(value))
	}
	if c.mask != nil {
		query.Set("updateMask", strings.Join(c.mask, ","))
	}
	if c.validateOnly {
		query.Set("validate_only", "true")
	}
	path := pathVariable.ReplaceAllStringFunc(operation.path, func(variable string) string {
		if name := strings.Trim(variable, "{}"); query.Has(name) { // Some variables of the path are parameters, such as a digest.
			value := query.Get(name)
			query.Del(name)
			return url.PathEscape(value)
		}
		return (&url.URL{Path: c.target}).EscapedPath()
	})
	var body bytes.Buffer
	if operation.method == http.MethodPost || operation.method == http.MethodPatch {
		body.WriteString(asJSON(c.fields))
	}
	r := httptest.NewRequest(operation.method, path, &body)
	r.URL.RawQuery = query.Encode()
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for name, value := range c.headers() {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, r)
	return readREST(operation, w)
}

// formatValue returns a value in the form of a query.
func formatValue(value any) string {
	if n, ok := value.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

// restStatus has the HTTP status of each code.
var restStatus = map[core.Code]int{3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 12: 501, 13: 500, 14: 503, 16: 401}

// restStatusOfReason has the HTTP status of reasons that have one of their own.
var restStatusOfReason = map[string]int{"ETAG_MISMATCH": 412, "IDEMPOTENCY_KEY_REUSED": 422}

// headers returns the conditions of a change as headers.
func (c call) headers() map[string]string {
	headers := map[string]string{}
	if c.ifMatch != "" {
		headers["If-Match"] = c.ifMatch
	}
	if c.key != "" {
		headers["Idempotency-Key"] = c.key
	}
	return headers
}

func readREST(operation rpc, w *httptest.ResponseRecorder) answer {
	got := answer{raw: w.Body.String(), etag: w.Header().Get("ETag")}
	if operation.method == http.MethodDelete && w.Code == http.StatusOK {
		if w.Body.Len() > 0 {
			got.brokenRule = "the answer to DELETE has a body: " + got.raw
		}
		return got
	}
	var body map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		got.brokenRule = fmt.Sprintf("%s is no JSON object: %v", got.raw, err)
		return got
	}
	if strings.Contains(got.raw, `":null`) {
		got.brokenRule = "REST leaves out what is not there, and empty lists are []: " + got.raw
		return got
	}
	if w.Code != http.StatusOK && (w.Code != http.StatusAccepted || w.Header().Get("Location") == "") {
		var status struct {
			Code    float64
			Details []map[string]any
		}
		_ = json.Unmarshal(w.Body.Bytes(), &status) // The same text was decoded above.
		got.failure = parseStatus(status.Code, status.Details, nil)
		if restStatus[got.failure.code] != w.Code && restStatusOfReason[got.failure.reason] != w.Code {
			got.brokenRule = fmt.Sprintf("HTTP status %d with code %s", w.Code, got.failure.code)
		}
		return got
	}
	if !strings.HasPrefix(operation.name, "List") {
		got.resource = asFields(body)
		return got
	}
	got.items = []fields{}
	for name, member := range body {
		switch value := member.(type) {
		case []any:
			for _, item := range value {
				got.items = append(got.items, asFields(item))
			}
		case string:
			switch name {
			case "nextPageToken":
				got.next = value
			case "totalCount":
				got.total = value
			}
		case float64:
			got.skipped = fmt.Sprint(value)
		}
	}
	return got
}
