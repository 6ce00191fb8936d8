package main

import (
	"strings"
	"testing"
)

// A typing error in a variable must not start a server with other settings.
func TestAVariableThatIsNoSettingIsRefused(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]bool{
		"ATRIUM_AUDIENSE": true, "ATRIUM_DB_URL": true, "ATRIUM_DATABASE_URL_FIL": true, "ATRIUM_ADDR_FILE": true, "ATRIUM_": true,
		"ATRIUM_LOG_LEVEL": false, "ATRIUM_TOKEN": false, "ATRIUM_VERSION": false, "atrium_audiense": false, "OTHER_AUDIENSE": false,
		"ATRIUM_SERVICE_HOST": false, "ATRIUM_SERVICE_PORT_HTTP": false, "ATRIUM_PORT": false, "ATRIUM_PORT_80_TCP_ADDR": false, "ATRIUM_METRICS_PORT_9464_TCP": false, "ATRIUM_METRICS_SERVICE_HOST": false,
		"ATRIUM_TEST_POSTGRES": false,
	} {
		_, _, err := atrium(t, map[string]string{name: "info"}, "admin", "config")
		if (err != nil) != refused || refused && (exitCode(err) != 2 || !strings.Contains(err.Error(), name+": there is no such setting")) {
			t.Errorf("%s: %v, want it refused: %t", name, err, refused)
		}
	}
	if _, _, err := atrium(t, map[string]string{"ATRIUM_AUDIENSE": "a"}, "version"); err != nil {
		t.Errorf("a command that is no server: %v", err)
	}
}

func TestWhatCannotWorkIsRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"HTTPS_PROXY=socks5://127.0.0.1:1080":           "HTTPS_PROXY: must begin with http:// or https://",
		"https_proxy=socks5h://u:secret@127.0.0.1:1080": "https_proxy: must begin with http:// or https://",
		"HTTPS_PROXY=proxy.example.com:3128":            "",
		"HTTPS_PROXY=http://u:secret@proxy.example.com": "",
		"ATRIUM_PUBLIC_URL=https://example.com/atrium":  "--public-url (ATRIUM_PUBLIC_URL): must be a URL of scheme and host only",
		"ATRIUM_PUBLIC_URL=https://example.com/":        "",
		"ATRIUM_IDLE_TIMEOUT=0s":                        "--idle-timeout (ATRIUM_IDLE_TIMEOUT): must be above 0",
		"ATRIUM_PRIVATE_SINK=münchen.example:443":       "begins with xn--",
		"ATRIUM_CORS_ORIGIN=https://münchen.example":    "begins with xn--",
	} {
		name, value, _ := strings.Cut(setting, "=")
		_, _, err := atrium(t, map[string]string{name: value}, "admin", "config")
		if (err != nil) != (want != "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v, want %q", setting, err, want)
		}
	}
}
