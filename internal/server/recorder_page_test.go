package server

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atrium/internal/rest"
)

// A browser asks for dozens of files of a page, and these lines hide the others.
func TestFilesOfPagesAreLoggedOnlyForDebugging(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/console/~assets/main-ABC.js": "DEBUG", "/playground/style.css": "DEBUG", "/guide/guide.css": "DEBUG", "/livez": "DEBUG",
		"/console": "INFO", "/guide/concepts": "INFO", "/": "INFO", "/console/~assets/missing.js": "INFO",
		"/registry/v2/repos/a.js": "INFO",
	} {
		var log strings.Builder
		o := rest.Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
		answer := func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "missing") {
				w.WriteHeader(http.StatusNotFound)
			}
		}
		handler := addOuterLayers(http.HandlerFunc(answer), o, (&Config{Logger: o.Logger}).newRecorder(), nil)
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		if !strings.Contains(log.String(), "level="+want+" msg=request") {
			t.Errorf("%s: want %s, got %s", path, want, log.String())
		}
	}
}
