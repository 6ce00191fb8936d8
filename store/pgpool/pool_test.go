package pgpool

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestAnInvalidParameterOfAURLIsNamedWithoutItsValue(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"postgres://u:secret@h/d?pool_max_conns=hidden":                   `"pool_max_conns"`,
		"postgres://u:secret@h/d?application_name=a&sslmode=hidden":       `"sslmode"`,
		"postgres://u:secret@h/d?sslmode=hidden&pool_max_conns=hidden":    "is malformed",
		"postgres://u:secret@h:hidden/d":                                  "is malformed",
		"postgres://u:secret@h:hidden/d?sslmode=disable":                  "is malformed",
		"postgres://u:secret@h/d?default_query_exec_mode=hidden&port=543": `"default_query_exec_mode"`,
	} {
		_, err := parse(url, 0, false)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want an error with %s and no value", url, err, want)
		}
		if _, err := parseConnection(url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a connection to %s: %v, want an error with %s", url, err, want)
		}
	}
}

// A container may have few of the processors of its machine, and PostgreSQL accepts 100 connections by default.
func TestThePoolFitsTheProcessorsAndPostgreSQL(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for processors, want := range map[int]int32{1: 8, 2: 8, 3: 12, 32: 20} {
		runtime.GOMAXPROCS(processors)
		pool, err := parse("postgres://h/d", 0, false)
		if err != nil {
			t.Fatal(err)
		}
		if pool.MaxConns != want {
			t.Errorf("with %d processors the pool has %d connections, want %d", processors, pool.MaxConns, want)
		}
	}
}

func TestOnlyASingleHostMayHaveMoreTimeToConnect(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]time.Duration{
		"postgres://h/d":                       ConnectTimeout,
		"postgres://h/d?connect_timeout=0":     ConnectTimeout,
		"postgres://h/d?connect_timeout=1":     time.Second,
		"postgres://h/d?connect_timeout=30":    30 * time.Second,
		"postgres://h,i/d":                     addressTimeout,
		"postgres://h,i/d?connect_timeout=1":   time.Second,
		"postgres://h,i/d?connect_timeout=30":  addressTimeout,
		"postgres://h/d?sslmode=allow":         ConnectTimeout,
		"postgres://h:1,h:2/d?sslmode=disable": addressTimeout,
	} {
		pool, err := parse(url, 0, false)
		if err != nil {
			t.Fatal(err)
		}
		one, err := parseConnection(url)
		if err != nil {
			t.Fatal(err)
		}
		if pool.ConnConfig.ConnectTimeout != want || one.ConnectTimeout != want {
			t.Errorf("%s: %s in the pool and %s outside it, want %s", url, pool.ConnConfig.ConnectTimeout, one.ConnectTimeout, want)
		}
	}
}
