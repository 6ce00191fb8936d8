package pgpool

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// A parameter that pgx sends to the server as it is, which shows what pgx has read.
const probed = "probed"

func TestParametersAreThoseThatPgxReads(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{
		"postgres://h/d?probed=1":          true,
		"postgres://h/d?pro%62ed=":         true,
		"postgres://h/d? probed =1":        true,
		"postgres://h/d?a=1&probed=1":      true,
		"postgres://h/d?a=1;b&probed=1;2":  true, // net/url leaves out a pair with a semicolon
		"postgres://u:a?probed=1@h/d":      false,
		"postgres://u:a?b#c@h/d?probed=1":  true,
		"postgres://u:a#b@h/d?probed=1":    true,
		"postgres://h/d#x?probed=1":        true,
		"postgres://h/d?a=1#&probed=1":     true,
		"postgres://h?probed=1":            true,
		"postgresql://h,i:5433?probed=1":   true,
		"postgres://h/d?application_name=": false,
		"postgres://h/d":                   false,
	} {
		config, err := pgconn.ParseConfig(url)
		if err != nil {
			t.Errorf("pgx refuses %s: %v", url, err)
			continue
		}
		if _, read := config.RuntimeParams[probed]; read != want || isGiven(url, probed) != want {
			t.Errorf("%s: pgx reads %s: %t, and isGiven is %t, want %t", url, probed, read, isGiven(url, probed), want)
		}
	}
}

func TestAPasswordIsHiddenWhereverPgxReadsIt(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"postgres://u:secret@h/d":                     "postgres://u:xxxxx@h/d",
		"postgres://u@h/d":                            "postgres://u@h/d",
		"postgres://u:1#secret@h/d":                   "postgres://u:xxxxx@h/d", // net/url reads a host and a fragment
		"postgres://u:1?secret@h/d":                   "postgres://u:xxxxx@h/d", // net/url reads a host and parameters
		"postgres://u:1%23secret@h/d?a=1":             "postgres://u:xxxxx@h/d?a=1",
		"postgres://h/d?password=secret":              "postgres://h/d?password=xxxxx",
		"postgres://h/d?a=1;&password=sec;ret":        "postgres://h/d?a=1;&password=xxxxx",
		"postgres://h/d?pass%77ord=secret&a=1":        "postgres://h/d?password=xxxxx&a=1",
		"postgres://h/d?password=secret&password=ret": "postgres://h/d?password=xxxxx&password=xxxxx",
		"postgres://h/d?sslpassword=secret":           "postgres://h/d?sslpassword=xxxxx",
		"postgres://u:1/secret@h/d":                   "",
		"postgres://u:secret":                         "",
		"postgres://u:secret@h:port/d":                "",
	} {
		shown, isSafe := HidePassword(url)
		if shown != want || isSafe != (want != "") {
			t.Errorf("%s is shown as %q (%t), want %q", url, shown, isSafe, want)
		}
	}
}

func TestConnectionsHaveANameUnlessTheURLHasAnother(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{"postgres://h/d": "atrium", "postgres://h/d?application_name=shop": "shop"} {
		pool, err := parse(url, 0, false)
		if err != nil {
			t.Fatal(err)
		}
		one, err := parseConnection(url)
		if err != nil {
			t.Fatal(err)
		}
		if got := pool.ConnConfig.RuntimeParams["application_name"]; got != want || one.RuntimeParams["application_name"] != want {
			t.Errorf("%s: the pool is called %q, and a connection outside it %q, want %q", url, got, one.RuntimeParams["application_name"], want)
		}
	}
}

func TestTheSimpleProtocolIsRefusedInAURL(t *testing.T) {
	t.Parallel()
	config, err := parse("postgres://h/d?default_query_exec_mode=simple_protocol", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := setMode(config, ""); err == nil || !strings.Contains(err.Error(), `"simple_protocol" is not one of cache_statement`) {
		t.Errorf("the simple protocol: %v, want an error with the modes", err)
	}
}

// pgx is the oracle: a URL with hidden passwords means the same, apart from the passwords.
func FuzzURL(f *testing.F) {
	for _, url := range []string{"u:p?a=1@h/d?probed=1", "h:1,i/d?password=a&b=c", "u:1#b@[::1]:5/d?sslmode=disable&probed=+", "/d?host=/tmp&user=%40"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, rest string) {
		url := "postgres://" + rest
		if got := split(url).String(); got != url && got+"?" != url {
			t.Errorf("%q becomes %q", url, got)
		}
		if strings.Contains(rest, "file") || strings.Contains(rest, "ssl") || strings.Contains(rest, "service") {
			return // These name files.
		}
		config, err := pgconn.ParseConfig(url)
		if err != nil {
			return
		}
		if _, read := config.RuntimeParams[probed]; read != isGiven(url, probed) {
			t.Errorf("%q: pgx reads %s: %t", url, probed, read)
		}
		shown, isSafe := HidePassword(url)
		if !isSafe {
			return
		}
		hidden, err := pgconn.ParseConfig(shown)
		if err != nil {
			t.Fatalf("%q is shown as %q, which is invalid: %v", url, shown, err)
		}
		if hidden.Host != config.Host || hidden.Port != config.Port || hidden.Database != config.Database || hidden.User != config.User ||
			config.Password != "" && hidden.Password != "xxxxx" {
			t.Errorf("%q is shown as %q, which means another thing", url, shown)
		}
	})
}

func TestAPasswordIsSetWhateverItContains(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"plain", "a@b", "a:b/c?d#e%f&g=h+i j", "é;", "?Action=connect&X-Amz-Signature=ab%2Fcd"} {
		for _, url := range []string{"postgres://u@h/d?sslmode=disable", "postgres://u:old@h,i:5433/d"} {
			changed, err := SetPassword(url, password)
			if err != nil {
				t.Fatal(err)
			}
			if user, got, err := ReadCredentials(changed); err != nil || user != "u" || got != password {
				t.Errorf("%s with the password %q has %q and %q (%v)", url, password, user, got, err)
			}
		}
	}
	if _, err := SetPassword("postgres://h/d", "p"); err == nil || !strings.Contains(err.Error(), "names no user") {
		t.Errorf("a URL without a user: %v, want an error", err)
	}
}
