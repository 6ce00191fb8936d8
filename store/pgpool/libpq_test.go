package pgpool

import (
	"crypto/tls"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// These are all parameters of libpq 18, with values that mean something (PostgreSQL documentation,
// 32.1.2), and what becomes of each: it is obeyed, or the URL is refused and the error names it.
// None reaches the server unless the server knows it.
func TestEveryParameterOfLibpqIsObeyedOrRefused(t *testing.T) {
	t.Parallel()
	sentToServer := []string{"application_name", "client_encoding", "options", "tcp_user_timeout"}
	for name, values := range map[string]struct{ obeyed, refused []string }{
		"host": {[]string{"a,b", "/tmp"}, nil}, "hostaddr": {[]string{"127.0.0.1", "::1"}, []string{"h", "127.0.0.1,127.0.0.2"}},
		"port": {[]string{"5433"}, []string{"0", "99999", "x"}}, "dbname": {[]string{"d"}, nil}, "user": {[]string{"u"}, nil}, "password": {[]string{"p"}, nil}, "passfile": {[]string{"/nowhere"}, nil},
		"require_auth": {[]string{"scram-sha-256", "!password"}, []string{"x"}}, "channel_binding": {[]string{"disable", "prefer", "require"}, []string{"x"}},
		"connect_timeout": {[]string{"10"}, []string{"x"}}, "client_encoding": {[]string{"UTF8", "utf-8", "auto", "unicode"}, []string{"LATIN1", "SQL_ASCII"}},
		"options": {[]string{"-c geqo=off"}, nil}, "application_name": {[]string{"a"}, nil}, "fallback_application_name": {[]string{"a"}, nil},
		"keepalives": {[]string{"0", "1"}, []string{"yes", "-1"}}, "keepalives_idle": {[]string{"0", "30"}, []string{"30s"}}, "keepalives_interval": {[]string{"10"}, []string{"x"}},
		"keepalives_count": {[]string{"3"}, []string{"x"}}, "tcp_user_timeout": {[]string{"5000"}, nil}, "replication": {[]string{"false", "off", "no", "0"}, []string{"true", "database"}},
		"gssencmode": {[]string{"disable", "prefer"}, []string{"require"}}, "gssdelegation": {[]string{"0"}, []string{"1"}}, "gsslib": {[]string{"gssapi"}, []string{"x"}}, "krbsrvname": {[]string{"postgres"}, nil},
		"sslmode": {[]string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}, []string{"x"}}, "sslnegotiation": {[]string{"postgres", "direct"}, nil},
		"sslcompression": {[]string{"0", "1"}, []string{"2"}}, "sslcert": {nil, []string{"/nowhere"}}, "sslkey": {nil, []string{"/nowhere"}}, "sslpassword": {[]string{"p"}, nil},
		"sslcertmode": {[]string{"disable", "allow", "require"}, []string{"x"}}, "sslrootcert": {[]string{"system"}, []string{"/nowhere"}}, "sslcrl": {nil, []string{"/nowhere"}}, "sslcrldir": {nil, []string{"/nowhere"}},
		"sslsni": {[]string{"0", "1"}, nil}, "requirepeer": {nil, []string{"postgres"}}, "sslkeylogfile": {nil, []string{"/nowhere"}},
		"ssl_min_protocol_version": {[]string{"TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"}, []string{"TLSv1.4", "1.2"}}, "ssl_max_protocol_version": {[]string{"TLSv1.3"}, []string{"x"}},
		"min_protocol_version": {[]string{"3.0", "3.2"}, []string{"2.0"}}, "max_protocol_version": {[]string{"3.0", "latest"}, []string{"x"}},
		"target_session_attrs": {[]string{"any", "read-write", "read-only", "primary", "standby", "prefer-standby"}, []string{"master"}}, "load_balance_hosts": {[]string{"disable", "random"}, []string{"x"}},
		"service": {nil, []string{"none"}}, "servicefile": {[]string{"/nowhere"}, nil}, "scram_client_key": {nil, []string{"AA=="}}, "scram_server_key": {nil, []string{"AA=="}},
		"oauth_issuer": {nil, []string{"https://i"}}, "oauth_client_id": {nil, []string{"c"}}, "oauth_client_secret": {nil, []string{"s"}}, "oauth_scope": {nil, []string{"s"}},
	} {
		for i, value := range slices.Concat(values.obeyed, values.refused) {
			given := "postgres://u@h/d?sslmode=require&" + name + "=" + strings.ReplaceAll(url.PathEscape(value), "=", "%3D")
			if name == "sslmode" || strings.HasSuffix(name, "protocol_version") || name == "sslrootcert" {
				given = strings.Replace(given, "sslmode=require&", "", 1)
			}
			pool, err := parse(given, 0, false)
			if one, oneErr := parseConnection(given); (err == nil) != (oneErr == nil) || err == nil && one.Database != pool.ConnConfig.Database {
				t.Errorf("%s: %v for a pool, and %v for a connection", given, err, oneErr)
			}
			if isRefused := i >= len(values.obeyed); (err != nil) != isRefused {
				t.Errorf("%s: %v", given, err)
				continue
			} else if isRefused {
				if shown := err.Error(); strings.Contains(shown, "?") || !strings.Contains(shown, name) && !strings.Contains(shown, "file /nowhere") {
					t.Errorf("%s: %v, want an error that names the parameter or the file", given, err)
				}
				continue
			}
			for sent := range pool.ConnConfig.RuntimeParams {
				if !slices.Contains(sentToServer, sent) {
					t.Errorf("%s: the server gets %s", given, sent)
				}
			}
		}
	}
}

func TestParametersOfLibpqHaveTheirMeaning(t *testing.T) {
	t.Parallel()
	read := func(url string) *pgx.ConnConfig {
		config, err := parseConnection(url)
		if err != nil {
			t.Fatalf("%s: %v", url, err)
		}
		return config
	}
	for url, want := range map[string]string{"postgres://u@h": "u", "postgres://u@h/": "u", "postgres://h?user=u": "u", "postgres://u@h/d": "d", "postgres://u@h?dbname=d": "d"} {
		if got := read(url).Database; got != want {
			t.Errorf("%s: the database is %q, want %q", url, got, want)
		}
	}
	for url, want := range map[string]string{"?fallback_application_name=f": "f", "?fallback_application_name=f&application_name=a": "a", "?fallback_application_name=": "atrium"} {
		if got := read("postgres://u@h/d" + url).RuntimeParams["application_name"]; got != want {
			t.Errorf("%s: the name is %q, want %q", url, got, want)
		}
	}
	versions := read("postgres://u@h,i/d?sslmode=require&ssl_min_protocol_version=TLSv1.3&ssl_max_protocol_version=TLSv1.3")
	for _, address := range listAddresses(versions) {
		if address.TLSConfig.MinVersion != tls.VersionTLS13 || address.TLSConfig.MaxVersion != tls.VersionTLS13 {
			t.Errorf("%s: TLS %x to %x, want 1.3 only", address.Host, address.TLSConfig.MinVersion, address.TLSConfig.MaxVersion)
		}
	}
	addressed := read("postgres://u@a,b/d?hostaddr=127.0.0.1,127.0.0.2")
	if got, err := addressed.LookupFunc(t.Context(), "b"); err != nil || !slices.Equal(got, []string{"127.0.0.2"}) {
		t.Errorf("b has the addresses %v (%v), want 127.0.0.2", got, err)
	}
	if got := read("postgres:///d?hostaddr=127.0.0.3&user=u"); got.Host != "127.0.0.3" {
		t.Errorf("the host is %q, want that of hostaddr", got.Host)
	}
	seen := map[string]bool{}
	for range 200 {
		seen[read("postgres://u@a,b,c/d?load_balance_hosts=random").Host] = true
	}
	if len(seen) != 3 {
		t.Errorf("load_balance_hosts=random begins with %v, want each host", seen)
	}
}

func TestAFileThatAURLNamesIsNamedWhenItCannotBeRead(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(key, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for parameters, want := range map[string]string{
		"sslmode=verify-full&sslrootcert=/no/root.crt":       "the file /no/root.crt, which the PostgreSQL URL names, does not exist",
		"sslmode=require&sslcert=/no/a.crt&sslkey=/no/a.key": "the file /no/a.key, which the PostgreSQL URL names, does not exist",
		"sslmode=require&sslcert=/no/a.crt":                  "must have both sslcert and sslkey",
	} {
		if _, err := parse("postgres://u:secret@h/d?"+parameters, 0, false); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", parameters, err, want)
		}
	}
}
