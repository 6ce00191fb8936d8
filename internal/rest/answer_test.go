package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

func TestAPageIsWrittenAsAnEnvelope(t *testing.T) {
	t.Parallel()
	repo := func(name string) *inventory.Repo { return &inventory.Repo{UID: "u", Name: name, Description: "<&>"} }
	for _, c := range []struct {
		page core.Page[*inventory.Repo]
		next string
		want string
	}{
		{core.Page[*inventory.Repo]{}, "", `{"repos":[],"totalCount":"0","skipped":0}`},
		{core.Page[*inventory.Repo]{Skipped: 10, TotalCount: 12}, "", `{"repos":[],"totalCount":"12","skipped":10}`},
		{
			core.Page[*inventory.Repo]{Items: []*inventory.Repo{repo("a"), repo("b")}, TotalCount: 1 << 60}, "A-_z",
			`{"repos":[{"uid":"u","name":"a","description":"<&>"},{"uid":"u","name":"b","description":"<&>"}],` +
				`"nextPageToken":"A-_z","totalCount":"1152921504606846976","skipped":0}`,
		},
	} {
		var b bytes.Buffer
		if err := (envelope[*inventory.Repo]{"repos", c.page, c.next}).stream(&b); err != nil {
			t.Fatal(err)
		}
		if got := string(bytes.ReplaceAll(b.Bytes(), []byte("\n"), nil)); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		if !json.Valid(b.Bytes()) {
			t.Errorf("not JSON: %s", b.Bytes())
		}
	}
}

// A limitedWriter fails after a number of bytes.
type limitedWriter struct {
	http.ResponseWriter
	left    int
	refused int // This counts the rejected writes.
}

func (f *limitedWriter) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		f.refused++
		return 0, errors.New("full")
	}
	return len(b), nil
}

func TestAFailedWriteEndsTheResponseAndIsLogged(t *testing.T) {
	t.Parallel()
	page := newEnvelope("repos", core.Page[*inventory.Repo]{Items: []*inventory.Repo{{}, {}}})
	var whole bytes.Buffer
	if err := page.stream(&whole); err != nil {
		t.Fatal(err)
	}
	for left := range whole.Len() + 1 {
		var log bytes.Buffer
		w := &limitedWriter{ResponseWriter: httptest.NewRecorder(), left: left}
		Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}.writeAnswer(w, httptest.NewRequest(http.MethodGet, "/", nil), page)
		want := 0
		if left < whole.Len() {
			want = 1
		}
		if logged := strings.Count(log.String(), "writing a response failed"); w.refused != want || logged != want {
			t.Errorf("of %d bytes %d fit: %d writes were refused and %d logged, want %d", whole.Len(), left, w.refused, logged, want)
		}
	}
}
