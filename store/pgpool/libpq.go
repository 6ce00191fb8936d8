package pgpool

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Parse reads a PostgreSQL URL as libpq does, for a connection that belongs to no pool. Errors do not
// show the URL, which may contain a password.
func Parse(databaseURL string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(nameAddresses(databaseURL))
	if err != nil {
		return nil, explainURL(databaseURL, err)
	}
	return config, useLibpq(config)
}

// The parameters of libpq of which only these values can be obeyed, and what to do instead. pgx
// does not know them, and would send them to the server. An empty value is that of libpq without
// the parameter.
var fixedParameters = map[string]struct {
	values []string
	cure   string
}{
	"gssencmode":     {[]string{"disable", "prefer"}, "connections are encrypted by TLS: use sslmode"},
	"gssdelegation":  {[]string{"0"}, "credentials of GSSAPI are not delegated"},
	"gsslib":         {[]string{"gssapi", "sspi"}, "remove it"},
	"sslcompression": {[]string{"0", "1"}, "remove it"}, // TLS has no compression any more; libpq ignores it too
	"replication":    {[]string{"false", "off", "no", "0"}, "Atrium needs connections that take statements"},

	"load_balance_hosts": {[]string{"disable", "random"}, "remove it"},

	"requirepeer":         {nil, "it is not supported; let permissions of the folder of the socket decide"},
	"sslcrl":              {nil, "lists of revoked certificates are not supported; remove it"},
	"sslcrldir":           {nil, "lists of revoked certificates are not supported; remove it"},
	"sslkeylogfile":       {nil, "keys of TLS are not written to a file; remove it"},
	"scram_client_key":    {nil, "it is not supported; use a password"},
	"scram_server_key":    {nil, "it is not supported; use a password"},
	"oauth_issuer":        {nil, "OAuth is not supported; use --database-password-command"},
	"oauth_client_id":     {nil, "OAuth is not supported; use --database-password-command"},
	"oauth_client_secret": {nil, "OAuth is not supported; use --database-password-command"},
	"oauth_scope":         {nil, "OAuth is not supported; use --database-password-command"},
}

// useLibpq gives the parameters of libpq that pgx does not know their meaning, and takes them from
// those that are sent to the server. tcp_user_timeout stays, because the server knows it too.
func useLibpq(config *pgx.ConnConfig) error {
	if config.Database == "" {
		config.Database = config.User
	}
	given := config.RuntimeParams
	take := func(name string) string {
		defer delete(given, name)
		return given[name]
	}
	if name := take("fallback_application_name"); given["application_name"] == "" && name != "" {
		given["application_name"] = name
	}
	if encoding := strings.ToUpper(take("client_encoding")); !slices.Contains([]string{"", "AUTO", "UTF8", "UTF-8", "UNICODE"}, encoding) {
		return invalidParameter("client_encoding", "must be UTF8, in which Atrium sends and stores all texts")
	}
	given["client_encoding"] = "UTF8" // whatever the settings of the user and the database say
	if err := setTLSVersions(config, take("ssl_min_protocol_version"), take("ssl_max_protocol_version")); err != nil {
		return err
	}
	if err := setKeepAlives(config, take("keepalives"), take("keepalives_idle"), take("keepalives_interval"), take("keepalives_count")); err != nil {
		return err
	}
	if err := setAddresses(config, take("hostaddr")); err != nil {
		return err
	}
	for name, fixed := range fixedParameters {
		value, isGiven := given[name]
		switch {
		case !isGiven:
			continue
		case value == "" || slices.Contains(fixed.values, value):
		case fixed.values == nil:
			return invalidParameter(name, "must be removed: "+fixed.cure)
		default:
			return invalidParameter(name, "must be "+strings.Join(fixed.values, " or ")+": "+fixed.cure)
		}
		delete(given, name)
		if name == "load_balance_hosts" && value == "random" {
			shuffleHosts(config)
		}
	}
	return nil
}

func invalidParameter(name, problem string) error {
	return fmt.Errorf("the parameter %q of the PostgreSQL URL %s", name, problem)
}

var tlsVersions = map[string]uint16{"TLSv1": tls.VersionTLS10, "TLSv1.1": tls.VersionTLS11, "TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13}

// setTLSVersions sets the range of versions of TLS; "" leaves a bound as it is.
func setTLSVersions(config *pgx.ConnConfig, least, most string) error {
	for name, version := range map[string]string{"ssl_min_protocol_version": least, "ssl_max_protocol_version": most} {
		if version != "" && tlsVersions[version] == 0 {
			return invalidParameter(name, "must be TLSv1, TLSv1.1, TLSv1.2 or TLSv1.3")
		}
	}
	if least != "" && most != "" && tlsVersions[least] > tlsVersions[most] {
		return invalidParameter("ssl_min_protocol_version", "must not be above ssl_max_protocol_version")
	}
	for _, address := range listAddresses(config) {
		if t := address.TLSConfig; t != nil {
			t.MinVersion, t.MaxVersion = max(t.MinVersion, tlsVersions[least]), tlsVersions[most]
			if least != "" {
				t.MinVersion = tlsVersions[least]
			}
		}
	}
	return nil
}

// setKeepAlives sets how the system finds out whether a silent server is still there. Empty
// texts leave the settings of Go, and zero is the setting of the system.
func setKeepAlives(config *pgx.ConnConfig, isOn, idle, interval, count string) error {
	if isOn+idle+interval+count == "" {
		return nil
	}
	numbers := map[string]int{}
	for name, text := range map[string]string{"keepalives": isOn, "keepalives_idle": idle, "keepalives_interval": interval, "keepalives_count": count} {
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return invalidParameter(name, "must be a number that is not negative")
		}
		if numbers[name] = n; n == 0 {
			numbers[name] = -1
		}
	}
	dialer := &net.Dialer{KeepAlive: -1}
	if numbers["keepalives"] != -1 {
		dialer.KeepAliveConfig = net.KeepAliveConfig{
			Enable: true, Idle: time.Duration(numbers["keepalives_idle"]) * time.Second,
			Interval: time.Duration(numbers["keepalives_interval"]) * time.Second, Count: numbers["keepalives_count"],
		}
	}
	config.DialFunc = dialer.DialContext
	return nil
}

// nameAddresses makes hosts of the addresses of a URL that names no hosts.
func nameAddresses(databaseURL string) string {
	u := split(databaseURL)
	hosts, _, _ := strings.Cut(u.address, "/")
	if hosts != "" || isGiven(databaseURL, "host") || !isGiven(databaseURL, "hostaddr") {
		return databaseURL
	}
	for i, parameter := range u.parameters {
		if _, value, _ := strings.Cut(parameter, "="); parameterName(parameter) == "hostaddr" {
			u.parameters[i] = "host=" + value
		}
	}
	return u.String()
}

// setAddresses makes the hosts of a URL have the addresses of hostaddr, without a lookup.
func setAddresses(config *pgx.ConnConfig, hostaddr string) error {
	if hostaddr == "" {
		return nil
	}
	addresses, hosts := strings.Split(hostaddr, ","), listHosts(config)
	if len(addresses) != len(hosts) || slices.ContainsFunc(addresses, func(a string) bool { return net.ParseIP(a) == nil }) {
		return invalidParameter("hostaddr", "must have one IP address for each host")
	}
	known := map[string][]string{}
	for i, host := range hosts {
		known[host.Host] = append(known[host.Host], addresses[i])
	}
	config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return known[host], nil }
	return nil
}

// listAddresses lists what a connection tries, in this order: each host with and without TLS, perhaps.
func listAddresses(config *pgx.ConnConfig) []*pgconn.FallbackConfig {
	return append([]*pgconn.FallbackConfig{{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}}, config.Fallbacks...)
}

// listHosts lists the first address of each host.
func listHosts(config *pgx.ConnConfig) []*pgconn.FallbackConfig {
	return slices.CompactFunc(listAddresses(config), func(a, b *pgconn.FallbackConfig) bool { return a.Host == b.Host && a.Port == b.Port })
}

// shuffleHosts makes a process try the hosts in an order of its own.
func shuffleHosts(config *pgx.ConnConfig) {
	hosts, all := listHosts(config), listAddresses(config)
	rand.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
	var ordered []*pgconn.FallbackConfig
	for _, host := range hosts {
		for _, address := range all {
			if address.Host == host.Host && address.Port == host.Port {
				ordered = append(ordered, address)
			}
		}
	}
	config.Host, config.Port, config.TLSConfig, config.Fallbacks = ordered[0].Host, ordered[0].Port, ordered[0].TLSConfig, ordered[1:]
}

// explainFile returns the error for a file that a URL names and that cannot be read, or nil if
// that is not the cause.
func explainFile(cause error) error {
	var file *fs.PathError
	if !errors.As(cause, &file) {
		return nil
	}
	problem := "cannot be read: " + file.Err.Error()
	switch {
	case errors.Is(cause, fs.ErrNotExist):
		problem = "does not exist"
	case errors.Is(cause, fs.ErrPermission):
		problem = "may not be read by this user"
	}
	return fmt.Errorf("the file %s, which the PostgreSQL URL names, %s", file.Path, problem)
}
