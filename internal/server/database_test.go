package server

import (
	"context"
	"log/slog"
	"strings"
	"testing"
)

// A searchedStore is a store with or without a search index.
type searchedStore bool

func (s searchedStore) IsSearchIndexed(context.Context) (bool, error) { return bool(s), nil }

func TestTheStartWarnsOfSearchesWithoutAnIndex(t *testing.T) {
	t.Parallel()
	for indexed, want := range map[searchedStore]string{true: "", false: "CREATE EXTENSION pg_trgm"} {
		var log strings.Builder
		c := &Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}
		if err := c.warnOfSlowSearch(t.Context(), indexed); err != nil {
			t.Fatal(err)
		}
		if (log.Len() > 0) != (want != "") || !strings.Contains(log.String(), want) {
			t.Errorf("with an index %v the log says %q", indexed, log.String())
		}
	}
}
