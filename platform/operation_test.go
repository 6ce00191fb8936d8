package platform_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/operations"
)

// Why an operation failed for the service is in the log, because its caller sees no cause.
func TestTheLogHasTheCauseOfAFailedOperation(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		var log bytes.Buffer
		p := w.replica(w.store, platform.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		o, err := p.LongRunning.Begin(acme.owner, "import/sbom", acme.uid)
		must(t, err)
		p.LongRunning.Run(acme.owner, o, func(context.Context, func(int, int)) (any, error) {
			return nil, errors.New("the disk of db.internal is full")
		})
		o, err = p.LongRunning.Get(acme.owner, o.UID)
		must(t, err)
		if o.Error == nil || strings.Contains(o.Error.Message, "disk") {
			t.Errorf("the caller sees %+v, want an error without its cause", o.Error)
		}
		if !strings.Contains(log.String(), "the disk of db.internal is full") {
			t.Errorf("the log has no cause: %s", &log)
		}
	})
}

// An operation tells how far it is and what came of it, to whoever may import into its group, for a day.
func TestAnOperationTellsWhatCameOfIt(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		begin := func() *operations.Operation {
			o, err := w.p.LongRunning.Begin(acme.owner, "import/sbom", acme.uid)
			must(t, err)
			return o
		}
		read := func(o *operations.Operation) *operations.Operation {
			got, err := w.p.LongRunning.Get(acme.owner, o.UID)
			must(t, err)
			return got
		}
		good := begin()
		if got := read(good); got.Done || got.State != operations.Running || got.Kind != "import/sbom" || got.Creator == "" {
			t.Errorf("at its begin: %+v", got)
		}
		w.p.LongRunning.Run(context.WithoutCancel(acme.owner), good, func(_ context.Context, progress func(records, percent int)) (any, error) {
			progress(3, 100)
			return map[string]int{"records": 3}, nil
		})
		if got := read(good); !got.Done || got.State != operations.Succeeded || got.Records != 3 || got.Progress != 100 || string(got.Response) != `{"records":3}` || got.Error != nil {
			t.Errorf("at its end: %+v", got)
		}
		bad := begin()
		w.p.LongRunning.Run(acme.owner, bad, func(context.Context, func(int, int)) (any, error) {
			return map[string]int{"records": 1}, core.Unavailable("the database is away", errors.New("a secret"))
		})
		if got := read(bad); !got.Done || got.State != operations.Failed || got.Error.Code != core.CodeUnavailable || got.Error.Message != "Unavailable: the database is away" || len(got.Response) == 0 {
			t.Errorf("a failure: %+v %+v", got, got.Error)
		}
		stopped, working, ended := begin(), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			w.p.LongRunning.Run(acme.owner, stopped, func(ctx context.Context, _ func(int, int)) (any, error) {
				close(working)
				<-ctx.Done()
				return nil, ctx.Err()
			})
		}()
		<-working
		for name, uid := range map[string]core.UID{"a stranger": stopped.UID, "one that is not there": acme.uid.NewChild()} {
			_, err := w.p.LongRunning.Get(other.owner, uid)
			expectRefused(t, name, err, core.CodePermissionDenied)
			_, err = w.p.LongRunning.Cancel(other.owner, uid)
			expectRefused(t, name, err, core.CodePermissionDenied)
		}
		_, err := w.p.LongRunning.Get(acme.owner, acme.uid.NewChild())
		expectRefused(t, "one that is not there", err, core.CodeNotFound)
		_, err = w.p.LongRunning.Get(t.Context(), stopped.UID)
		expectRefused(t, "nobody", err, core.CodeUnauthenticated)
		_, err = w.p.LongRunning.Cancel(acme.owner, stopped.UID)
		must(t, err)
		<-ended
		if got := read(stopped); got.State != operations.Cancelled || got.Error == nil {
			t.Errorf("cancelled: %+v", got)
		}
		// The process of an operation was killed.
		lost := begin()
		w.pass(time.Minute)
		if got := read(lost); !got.Done || got.State != operations.Failed || got.Error.Code != core.CodeUnavailable {
			t.Errorf("lost with its process: %+v", got)
		}
		w.pass(25 * time.Hour)
		_, err = w.p.LongRunning.Get(acme.owner, good.UID)
		expectRefused(t, "after a day", err, core.CodeNotFound)
		begin() // forgets the others
	})
}
