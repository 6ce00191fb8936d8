package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"atrium/platform"
)

func TestAPageIsWrittenAsAnEnvelope(t *testing.T) {
	t.Parallel()
	repo := func(name string) *platform.Repo { return &platform.Repo{UID: "u", Name: name, Description: "<&>"} }
	for _, c := range []struct {
		page platform.Page[platform.Repo]
		want string
	}{
		{platform.Page[platform.Repo]{}, `{"repos":[],"totalCount":"0","skipped":0}`},
		{platform.Page[platform.Repo]{Skipped: 10, TotalCount: 12}, `{"repos":[],"totalCount":"12","skipped":10}`},
		{
			platform.Page[platform.Repo]{Items: []*platform.Repo{repo("a"), repo("b")}, NextPageToken: "A-_z", TotalCount: 1 << 60},
			`{"repos":[{"uid":"u","name":"a","description":"<&>"},{"uid":"u","name":"b","description":"<&>"}],` +
				`"nextPageToken":"A-_z","totalCount":"1152921504606846976","skipped":0}`,
		},
	} {
		var b bytes.Buffer
		if err := (envelope[platform.Repo]{"repos", c.page}).stream(&b); err != nil {
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

// full takes no more than some bytes.
type full struct {
	http.ResponseWriter
	left int
}

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("full")
	}
	return len(b), nil
}

func TestAnAnswerThatCannotBeWrittenEnds(t *testing.T) {
	t.Parallel()
	page := platform.Page[platform.Repo]{Items: []*platform.Repo{{}, {}}}
	for left := range 100 {
		w := &full{httptest.NewRecorder(), left}
		Options{}.writeAnswer(w, httptest.NewRequest(http.MethodGet, "/", nil), envelope[platform.Repo]{"repos", page})
	}
}

func TestGzipIsForThoseWhoAcceptIt(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"":                         false,
		"gzip":                     true,
		"GZIP":                     true,
		"deflate, gzip, br":        true,
		"deflate":                  false,
		"gzip;q=0":                 false,
		"gzip; q=0.000":            false,
		"gzip; q=0.5":              true,
		"gzip;q=1.0, identity;q=0": true,
		"x-gzip":                   false,
		"identity":                 false,
	} {
		if got := acceptsGzip([]string{header}); got != want {
			t.Errorf("%q: %t, want %t", header, got, want)
		}
	}
}
