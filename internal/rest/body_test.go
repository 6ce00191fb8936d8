package rest

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atrium/platform/core"
)

func TestABodyIsRejectedByItsHeadersAndSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, contentType, encoding string
		body                        io.Reader
		status                      int // 0 means that the body is read.
		field                       string
	}{
		{"no media type", "", "", strings.NewReader("{}"), 0, ""},
		{"JSON", "application/json", "", strings.NewReader("{}"), 0, ""},
		{"JSON with charset", "application/json; charset=UTF-8", "", strings.NewReader("{}"), 0, ""},
		{"JSON in capitals", "Application/JSON", "", strings.NewReader("{}"), 0, ""},
		{"identity", "application/json", "identity", strings.NewReader("{}"), 0, ""},
		{"empty", "application/json", "", strings.NewReader(""), 0, ""},
		{"the largest", "", "", strings.NewReader(strings.Repeat(" ", MaxBody)), 0, ""},
		{"a form, as curl has it", "application/x-www-form-urlencoded", "", strings.NewReader("{}"), 0, ""},
		{"anything, as generators have it", "*/*", "", strings.NewReader("{}"), 0, ""},
		{"text", "text/plain", "", strings.NewReader("{}"), 0, ""},
		{"a broken media type", "application/json; =", "", strings.NewReader("{}"), 0, ""},
		{"compressed", "application/json", "gzip", strings.NewReader("{}"), 415, "Content-Encoding"},
		{"too large", "", "", strings.NewReader(strings.Repeat(" ", MaxBody+1)), 413, "body"},
		{"broken off", "", "", io.MultiReader(strings.NewReader("{"), errorReader{}), 400, "body"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodPost, "/iam/v2/groups", c.body)
			r = r.WithContext(core.WithActor(r.Context(), &core.Actor{}))
			r.Header.Set("Content-Type", c.contentType)
			r.Header.Set("Content-Encoding", c.encoding)
			w := httptest.NewRecorder()
			body, err := newRequest(w, r, &route{}, nil).readBody()
			if c.status == 0 {
				if err != nil || body == nil {
					t.Fatalf("got %q, %v", body, err)
				}
				return
			}
			Options{}.WriteError(w, r, err)
			if accepted := w.Header().Get("Accept-Encoding"); (accepted == "identity") != (c.status == http.StatusUnsupportedMediaType) {
				t.Errorf("Accept-Encoding is %q", accepted)
			}
			if e := core.AsError(err); w.Code != c.status || e.Violations[0].Field != c.field {
				t.Errorf("got %d %+v, want %d %s", w.Code, e, c.status, c.field)
			}
		})
	}
}

// The body of a request without a token is not read.
func TestABodyWithoutATokenIsNotRead(t *testing.T) {
	t.Parallel()
	body := strings.NewReader("{}")
	r := httptest.NewRequest(http.MethodPost, "/iam/v2/groups", body)
	_, err := newRequest(httptest.NewRecorder(), r, &route{}, nil).readBody()
	if core.AsError(err).Code != core.CodeUnauthenticated || body.Len() != 2 {
		t.Errorf("%v, and %d bytes are left, want 2", err, body.Len())
	}
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, errors.New("the client went away") }

func TestABatchIsDecoded(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		``:                               0,
		`{}`:                             0,
		`{"parent":"p","requests":null}`: 0,
		`{"parent":"p","roleUid":"r","requests":[{"roleBinding":{"identityUid":"i"}}]}`:      1,
		`{"parent":"p","role_uid":"r","requests":[{"role_binding":{"identity_uid":"i"}}]}`:   1,
		`{"parent":"p","requests":[{"parent":"p","roleBinding":null},{"parent":null},null]}`: 3,
		`{"requests":[` + strings.Repeat(`5,`, 25) + `5]}`:                                   26, // The items after the 26th are not read.
	} {
		if batch := decodeBatch([]byte(body)); len(batch.Requests) != want || batch.Malformed != nil {
			t.Errorf("%s: %d requests %v, want %d", body, len(batch.Requests), batch.Malformed, want)
		}
	}
}

func TestAllViolationsOfABatchAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`[]`:                   "body",
		`{`:                    "body",
		`{} {}`:                "body",
		`{"parent": "\udc00"}`: "body",
		"\"\xff\"":             "body",
		`{"parent":1,"role_uid":true,"requests":{},"x":1,"y":2}`:                           "x y parent roleUid requests",
		`{"roleUid":"a","role_uid":"b"}`:                                                   "roleUid",
		`{"parent":"a","parent":"a","x":1,"x":1}`:                                          "parent x x",
		`{"parent":"p","requests":[{"roleBinding":{"roleUid":"a","roleUid":"b"}}]}`:        "requests[0].roleBinding.roleUid",
		`{"parent":"p","requests":[{"parent":"q","z":1,"roleBinding":[]},7,{"parent":2}]}`: "requests[0].z requests[0].roleBinding requests[1] requests[2].parent",
	} {
		var fields []string
		for _, v := range decodeBatch([]byte(body)).Malformed {
			fields = append(fields, v.Field)
		}
		if got := strings.Join(fields, " "); got != want {
			t.Errorf("%s: violations of %q, want %q", body, got, want)
		}
	}
}
