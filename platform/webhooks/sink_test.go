package webhooks

import (
	"strings"
	"testing"

	"atrium/platform/core"
)

func TestASinkIsAPublicHTTPSAddress(t *testing.T) {
	t.Parallel()
	for _, sink := range []string{
		"https://example.com", "https://example.com/", "https://hooks.example.com:443/a/b?c=d", "https://EXAMPLE.com/hook",
		"https://8.8.8.8/hook", "https://[2606:4700::1111]/hook", "https://xn--bcher-kva.example/", "https://1and1.example/",
		"https://a.b.c.d.example", "https://example.com./", "https://172.15.0.1/", "https://172.32.0.1/", "https://11.0.0.1/", "https://[::ffff:8.8.8.8]/",
	} {
		var v core.Violations
		if checkSink(&v, sink, &Options{}); len(v) > 0 {
			t.Errorf("%s: %v", sink, v)
		}
	}
	for _, sink := range []string{
		"", " ", "example.com", "//example.com", "/hook", "https:", "https://", "https:///hook", "https:example.com", "https://:443",
		"http://example.com", "ftp://example.com", "file:///etc/passwd", "javascript:alert(1)", "HTTP://example.com", "gopher://example.com",
		"https://example.com:8443/", "https://example.com:80/", "https://example.com:0443/", "https://8.8.8.8:22/", "https://[2606:4700::1111]:25/",
		"https://user@example.com", "https://user:pass@example.com", "https://@example.com", "https://example.com#frag", " https://example.com", "https://exa mple.com",
		"https://example.com\n", "https://exam\tple.com", "https://example.com\\@127.0.0.1/", "https://%31%32%37.0.0.1/", "https://[::1/",
		"https://" + strings.Repeat("a", 2048) + ".example.com",
	} {
		var v core.Violations
		if checkSink(&v, sink, &Options{}); len(v) != 1 {
			t.Errorf("%q: %v, want 1 of them", sink, v)
		}
	}
}

// privateHosts has every spelling that some resolver or client reads as an address
// outside the public internet.
var privateHosts = []string{
	"127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "127.0.0.1.", "0.0.0.0", "0", "0.1.2.3",
	"2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "0177.0.0.1", "0177.1", "017700000001", "127.0.0.0x1", "127.0.0.01", "00127.0.0.1",
	"10.0.0.1", "10.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.1", "169.254.169.254", "169.254.43518", "100.64.0.1", "100.127.255.255",
	"192.0.0.1", "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
	"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:10.0.0.1]", "[::127.0.0.1]", "[::7f00:1]",
	"[64:ff9b::7f00:1]", "[64:ff9b::10.0.0.1]", "[64:ff9b:1::1]", "[2002:7f00:1::]", "[2002:a00:1::]", "[2001::1]", "[2001:db8::1]",
	"[fe80::1]", "[fe80::1%25eth0]", "[2606:4700::1111%25eth0]", "[fc00::1]", "[fd12:3456::1]", "[fec0::1]", "[ff02::1]", "[100::1]", "[5f00::1]",
	"localhost", "LOCALHOST", "localhost.", "a.localhost", "localhost..", "metadata.google.internal", "db.internal.", "intranet", "kubernetes", "a..b", "example.com..",
	"127.0.0.１", "１２７.０.０.１", "127。0。0。1", "ⓛocalhost", "loc%C3%A4lhost", "exämple.com", "％31.example.com",
	"example.0x1", "example.1",
}

func TestNoSpellingOfAPrivateAddressIsASink(t *testing.T) {
	t.Parallel()
	for _, host := range privateHosts {
		for _, sink := range []string{"https://" + host + "/hook", "https://" + host + ":8443/hook"} {
			var v core.Violations
			if checkSink(&v, sink, &Options{}); len(v) != 1 {
				t.Errorf("%s: %v, want 1 of them", sink, v)
			}
		}
	}
}

func TestAHostOrPortThatTheOperatorNamesMayBeASink(t *testing.T) {
	t.Parallel()
	o := &Options{PrivateSinks: []string{"localhost:9000", "localhost:443", "10.0.0.7:80", "[::1]:80", "[fc00::2]:9000", "10.0.0.9:9000", "10.0.0.9:9001", "sinks.example.com:8443"}, SinkPorts: []string{"4443"}}
	for sink, good := range map[string]bool{
		"http://localhost:9000/hook": true, "https://localhost/": true, "http://10.0.0.7/": true, "http://[::1]:80/": true, "http://LOCALHOST:9000/": true,
		"http://localhost/": false, "http://localhost:9464/hook": false, "http://10.0.0.7:9464/": false, "http://[fc00::2]:9000/": true, "https://[fc00::2]/": false, "https://10.0.0.9:9000/": true, "http://10.0.0.9:9001/": true,
		"https://10.0.0.9/": false, "http://10.0.0.9:9002/": false, "https://sinks.example.com:8443/": true, "https://sinks.example.com:8444/": false,
		"https://sinks.example.com/": true, "https://example.com:4443/": true, "https://example.com:8443/": false, "https://10.0.0.8:4443/": false,
		"ftp://localhost/": false, "file://localhost/etc/passwd": false, "http://user@localhost/": false, "http://10.0.0.8/": false,
		"http://localhost.example.com/": false, "http://example.com/": false, "localhost:9000": false, "unix://localhost/": false,
	} {
		var v core.Violations
		if checkSink(&v, sink, o); (len(v) == 0) != good {
			t.Errorf("%s: %v", sink, v)
		}
	}
}

func FuzzSink(f *testing.F) {
	for _, host := range privateHosts {
		f.Add("https://" + host + "/")
	}
	f.Fuzz(func(t *testing.T, sink string) {
		var v core.Violations
		if checkSink(&v, sink, &Options{}); len(v) > 1 {
			t.Fatalf("%q: %v", sink, v)
		}
		if len(v) == 0 && !strings.HasPrefix(strings.ToLower(sink), "https://") {
			t.Fatalf("%q is taken", sink)
		}
	})
}

// A person who types the name of a host as browsers show it must learn how to write it.
func TestASinkWithOtherLettersNamesTheFormOfDNS(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"münchen.example", "例え.example", "１２７.０.０.１"} {
		var v core.Violations
		if checkSink(&v, "https://"+host+"/hook", &Options{}); len(v) != 1 || !strings.Contains(v[0].Description, "xn--") {
			t.Errorf("%s: %v, want one that names xn--", host, v)
		}
	}
}
