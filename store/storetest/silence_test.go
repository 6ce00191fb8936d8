package storetest_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/store/postgres"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/storetest"
)

// addParameters adds parameters to a URL.
func addParameters(t *testing.T, address string, added url.Values) string {
	t.Helper()
	u := must[*url.URL](t)(url.Parse(address))
	query := u.Query()
	for name := range added {
		query.Set(name, added.Get(name))
	}
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // PostgreSQL reads a + as itself
	return u.String()
}

// addFirstHost adds the host of another URL before that of a URL.
func addFirstHost(t *testing.T, address, first string) string {
	t.Helper()
	u := must[*url.URL](t)(url.Parse(address))
	u.Host = must[*url.URL](t)(url.Parse(first)).Host + "," + u.Host
	return u.String()
}

func openPostgres(t *testing.T, address string, o postgres.Options) *postgres.Engine {
	t.Helper()
	engine := must[*postgres.Engine](t)(postgres.Open(t.Context(), address, o))
	t.Cleanup(func() { _ = engine.Close() })
	return engine
}

// slowRead returns a statement that takes longer than the default time limit.
func slowRead() *dbconn.Statement {
	return &dbconn.Statement{SQL: "SELECT pg_sleep(5)"}
}

// The machine of the first host is lost, so that its address swallows what is sent there.
// Running servers and new ones use the second host.
func TestASilentHostIsPassedOver(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(testing.TB) string{
		"directly":         storetest.Postgres,
		"through a pooler": storetest.Pooled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			second := address(t)
			relay := storetest.NewRelay(t, second)
			both := addFirstHost(t, second, relay.URL)
			defer relay.Cut() // Otherwise, the pool would wait for silent connections.
			running := openPostgres(t, both, postgres.Options{})
			relay.Refuse() // This ends the connections.
			relay.Silence()
			// On a loaded machine, the second host may take longer than the limit of an address. It is never
			// found by a pool whose whole time goes to the first.
			waitFor(t, "a running server does not find the second host", func() bool {
				return running.Run(t.Context(), &dbconn.Statement{SQL: "SELECT 1"}) == nil
			})
			waitFor(t, "a new server does not find the second host", func() bool {
				engine, err := postgres.Open(t.Context(), both, postgres.Options{})
				if err == nil {
					err = engine.Close()
				}
				return err == nil
			})
		})
	}
}

// A test of pgpool says after which time.
func TestAURLMayShortenTheTimeToConnect(t *testing.T) {
	t.Parallel()
	relay := storetest.NewRelay(t, storetest.Postgres(t))
	relay.Silence()
	_, err := postgres.Open(t.Context(), addParameters(t, relay.URL, url.Values{"connect_timeout": {"1"}}), postgres.Options{})
	if core.AsError(err).Code != core.CodeUnavailable {
		t.Errorf("opening a silent server ends with %v, want UNAVAILABLE", err)
	}
}

// The server of an operator's statement_timeout falls silent, so it ends no statement.
func TestASilentServerIsGivenUpAfterTheLimitOfTheURL(t *testing.T) {
	t.Parallel()
	plain := storetest.Postgres(t)
	for _, limit := range []string{"1000", "1000ms", "1s", "1 s", "1e3", "1000000us", "0.02min"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			relay := storetest.NewRelay(t, plain)
			engine := openPostgres(t, addParameters(t, relay.URL, url.Values{"statement_timeout": {limit}}), postgres.Options{})
			defer relay.Cut() // Otherwise, the pool would wait for silent connections.
			relay.Silence()
			within, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := engine.Run(within, &dbconn.Statement{SQL: "SELECT 1"}); core.AsError(err).Code != core.CodeUnavailable {
				t.Errorf("a read from a silent server ends with %v, want UNAVAILABLE", err)
			}
		})
	}
}

// A request has several steps. Once one of them has waited for a silent server, the others must
// not wait again, whether they read or write.
func TestNothingMoreIsSentToASilentServer(t *testing.T) {
	t.Parallel()
	relay := storetest.NewRelay(t, storetest.Postgres(t))
	engine := openPostgres(t, addParameters(t, relay.URL, url.Values{"statement_timeout": {"1s"}}), postgres.Options{})
	defer relay.Cut() // Otherwise, the pool would wait for silent connections.
	trace := &core.Trace{}
	ctx := core.WithTrace(t.Context(), trace)
	read := func() error { return engine.Run(ctx, &dbconn.Statement{SQL: "SELECT 1"}) }
	write := func() error {
		return engine.Write(ctx, func(tx dbconn.TxConn) error { return tx.Run(ctx, &dbconn.Statement{SQL: "SELECT 1"}) })
	}
	for first, step := range map[string]func() error{"a read": read, "a write": write} {
		relay.Silence()
		if err := step(); core.AsError(err).Code != core.CodeUnavailable {
			t.Errorf("%s ends with %v, want UNAVAILABLE", first, err)
		}
		sent := trace.RoundTrips.Load()
		for next, step := range map[string]func() error{"a read": read, "a write": write} {
			if err := step(); core.AsError(err).Code != core.CodeUnavailable || trace.RoundTrips.Load() > sent {
				t.Errorf("%s after %s ends with %v and %d more round trips, want UNAVAILABLE and none", next, first, err, trace.RoundTrips.Load()-sent)
			}
		}
		relay.Cut()
		waitFor(t, "the server is still taken for silent", func() bool { return read() == nil })
	}
}

// The server falls silent before a COMMIT, which may have arrived all the same.
func TestACommitToASilentServerIsUncertain(t *testing.T) {
	t.Parallel()
	relay := storetest.NewRelay(t, storetest.Postgres(t))
	engine := openPostgres(t, relay.URL, postgres.Options{})
	defer relay.Cut() // Otherwise, the pool would wait for silent connections.
	runs := 0
	expectUncertain(t, engine.Write(t.Context(), func(tx dbconn.TxConn) error {
		runs++
		err := tx.Run(t.Context(), &dbconn.Statement{SQL: "SELECT 1"})
		relay.Silence()
		return err
	}))
	if runs != 1 {
		t.Errorf("the unit ran %d times, want 1", runs)
	}
}

func TestAURLMayAllowSlowReads(t *testing.T) {
	t.Parallel()
	plain := storetest.Postgres(t)
	for _, limit := range []string{"0", "1min", "1h", "1d"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			engine := openPostgres(t, addParameters(t, plain, url.Values{"statement_timeout": {limit}}), postgres.Options{})
			if err := engine.Run(t.Context(), slowRead()); err != nil {
				t.Errorf("a slow read ends with %v", err)
			}
		})
	}
}

// The primary need not repeat a read for which the URL of the standby allows the time. The
// test is not parallel, because others pause the standby.
func TestTheURLOfAStandbyMayAllowSlowReads(t *testing.T) {
	primary := storetest.Postgres(t)
	standby := addParameters(t, storetest.Standbys(t, primary)[0], url.Values{"statement_timeout": {"1min"}})
	engine := openPostgres(t, primary, postgres.Options{ReadURLs: []string{standby}})
	run := func(statement *dbconn.Statement) (bool, error) {
		var at dbconn.Position
		if err := engine.Run(t.Context(), engine.Standbys().AskPosition(&at)); err != nil {
			return false, err
		}
		return engine.Standbys().Run(t.Context(), at, statement)
	}
	waitFor(t, "the standby does not answer", func() bool {
		done, err := run(&dbconn.Statement{SQL: "SELECT 1"})
		return done && err == nil
	})
	if done, err := run(slowRead()); !done || err != nil {
		t.Errorf("the standby does not answer a slow read: %v", err)
	}
}
