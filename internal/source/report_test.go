package source

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/intake"
)

// Who may see a source sees that the database failed, and not at which host. The log has it.
func TestAReportHidesTheCauseOfAFailureOfTheService(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	u := &run{
		reader: &Reader{options: Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}}, source: &intake.Source{UID: "acme"},
		err: fmt.Errorf("advisories: %w", core.Unavailable("the database does not answer", errors.New("dial db.internal as atrium"))),
	}
	report := u.report(nil)
	if report.State != intake.Failed || report.Error != "advisories: Unavailable: the database does not answer" {
		t.Errorf("the report says %q, want the message of the error", report.Error)
	}
	if !strings.Contains(log.String(), "db.internal") {
		t.Errorf("the log has no cause: %s", &log)
	}
}
