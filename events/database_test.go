package events

import (
	"database/sql"
	"log/slog"
	"strings"
	"testing"

	"atrium/store/storetest"
)

// The queue would log a warning each night for an index that does not exist.
func TestTheIndexesThatTheQueueRebuildsExist(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		c, err := connect(t.Context(), url, "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.close)
		if err := c.migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		driver, source, find := "pgx", url, "SELECT 1 FROM pg_indexes WHERE schemaname = current_schema() AND indexname = $1"
		if path, embedded := strings.CutPrefix(url, "sqlite:"); embedded {
			driver, source, find = "sqlite", QueueFile(path), "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = $1"
		}
		db, err := sql.Open(driver, source)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		d := &Deliverer{connection: c}
		for _, name := range d.riverConfig("replica", DelivererOptions{Logger: slog.New(slog.DiscardHandler)}).WithDefaults().ReindexerIndexNames {
			var found int
			if err := db.QueryRowContext(t.Context(), find, name).Scan(&found); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
