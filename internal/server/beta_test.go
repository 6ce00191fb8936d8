package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestV2beta1IsDeprecatedWhereTheOperatorSaysSo(t *testing.T) {
	t.Parallel()
	since, sunset := time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC), time.Date(2027, 6, 30, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		Deprecation
		path, deprecation, sunset string
	}{
		"a path of REST":            {Deprecation{since, sunset}, "/registry/v2beta1/repos", "@1801353600", "Wed, 30 Jun 2027 00:00:00 GMT"},
		"a procedure":               {Deprecation{since, sunset}, "/platform.registry.v2beta1.ReposService/ListRepos", "@1801353600", "Wed, 30 Jun 2027 00:00:00 GMT"},
		"no end yet":                {Deprecation{Since: since}, "/registry/v2beta1/repos", "@1801353600", ""},
		"v2":                        {Deprecation{since, sunset}, "/registry/v2/repos", "", ""},
		"v2, a uid like a version":  {Deprecation{since, sunset}, "/registry/v2/repos/v2beta1/x", "", ""},
		"a procedure of v2":         {Deprecation{since, sunset}, "/platform.registry.v2.ReposService/ListRepos", "", ""},
		"nothing is deprecated yet": {Deprecation{}, "/registry/v2beta1/repos", "", ""},
	} {
		w := httptest.NewRecorder()
		c.announce(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, httptest.NewRequest(http.MethodGet, c.path, nil))
		if h := w.Header(); h.Get("Deprecation") != c.deprecation || h.Get("Sunset") != c.sunset || (h.Get("Link") != "") != (c.deprecation != "") {
			t.Errorf("%s: %v, want Deprecation %q and Sunset %q", name, h, c.deprecation, c.sunset)
		}
	}
}
