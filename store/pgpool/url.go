package pgpool

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// A splitURL has the parts of a PostgreSQL URL, as they were written. pgx and libpq split a URL
// in this way, which is not that of net/url: the first @ ends the user and the password unless a
// / is before it, so a password may contain ? and #, and a + in a parameter is not a space.
type splitURL struct {
	scheme string
	// The user has a password after a colon; hasUser means that an @ follows both.
	user       string
	hasUser    bool
	address    string   // The hosts, the ports and the database.
	parameters []string // Each is NAME=VALUE.
}

func split(databaseURL string) (u splitURL) {
	u.scheme, u.address, _ = strings.Cut(databaseURL, "://")
	if i := strings.IndexAny(u.address, "@/"); i >= 0 && u.address[i] == '@' {
		u.user, u.address, u.hasUser = u.address[:i], u.address[i+1:], true
	}
	address, query, found := strings.Cut(u.address, "?")
	if u.address = address; found {
		u.parameters = strings.Split(query, "&")
	}
	return u
}

func (u splitURL) String() string {
	text := u.scheme + "://"
	if u.hasUser {
		text += u.user + "@"
	}
	text += u.address
	if len(u.parameters) > 0 {
		text += "?" + strings.Join(u.parameters, "&")
	}
	return text
}

// parameterName returns the name of a parameter, or "" if it is malformed.
func parameterName(parameter string) string {
	name, _, _ := strings.Cut(parameter, "=")
	name, _ = url.PathUnescape(strings.Trim(name, " "))
	return name
}

// SetPassword returns a URL with another password. The URL must have a user before its hosts.
func SetPassword(databaseURL, password string) (string, error) {
	u := split(databaseURL)
	user, _, _ := strings.Cut(u.user, ":")
	if user == "" {
		return "", errors.New("the PostgreSQL URL names no user; use postgres://USER@HOST:PORT/DATABASE")
	}
	// PathEscape leaves @ and : as they are, and only the first of these may not be in a password.
	u.user = user + ":" + strings.ReplaceAll(url.PathEscape(password), "@", "%40")
	return u.String(), nil
}

// ReadCredentials returns the user and the password of a URL.
func ReadCredentials(databaseURL string) (user, password string, err error) {
	config, err := Parse(databaseURL)
	if err != nil {
		return "", "", err
	}
	return config.User, config.Password, nil
}

// isGiven reports whether a URL has a parameter.
func isGiven(databaseURL, name string) bool {
	return slices.ContainsFunc(split(databaseURL).parameters, func(parameter string) bool { return parameterName(parameter) == name })
}

var errMalformed = errors.New("the PostgreSQL URL is malformed; use postgres://USER:PASSWORD@HOST:PORT/DATABASE")

// explainURL returns the error for a URL that cannot be parsed. It names the file that cannot be read, or the
// parameter without which the URL could be parsed, but not its value.
func explainURL(databaseURL string, cause error) error {
	if err := explainFile(cause); err != nil {
		return err
	}
	if isGiven(databaseURL, "sslcert") != isGiven(databaseURL, "sslkey") {
		return errors.New("the PostgreSQL URL must have both sslcert and sslkey, or none of them")
	}
	u := split(databaseURL)
	for _, parameter := range u.parameters {
		name, rest := parameterName(parameter), u
		rest.parameters = slices.DeleteFunc(slices.Clone(u.parameters), func(other string) bool { return parameterName(other) == name })
		if _, err := pgxpool.ParseConfig(rest.String()); err == nil {
			return fmt.Errorf("the parameter %.100q of the PostgreSQL URL has an invalid value; correct or remove it", name)
		}
	}
	return errMalformed
}

// secretParameters are those whose values must not be shown.
var secretParameters = []string{"password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret"}

// HidePassword returns a PostgreSQL URL with xxxxx in place of its passwords. isSafe is false for
// a URL that cannot be parsed or has an @ in another place: anything in it may be a password.
func HidePassword(databaseURL string) (shown string, isSafe bool) {
	u := split(databaseURL)
	if _, err := pgxpool.ParseConfig(databaseURL); err != nil || strings.Contains(u.address+strings.Join(u.parameters, ""), "@") {
		return "", false
	}
	if user, _, found := strings.Cut(u.user, ":"); found {
		u.user = user + ":xxxxx"
	}
	for i, parameter := range u.parameters {
		if name := parameterName(parameter); slices.Contains(secretParameters, name) {
			u.parameters[i] = name + "=xxxxx"
		}
	}
	return u.String(), true
}
