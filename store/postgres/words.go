package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// A connectError explains in plain words why there is no connection. Its cause is
// the longer error of the driver.
type connectError struct {
	words string
	cause error
}

func (w *connectError) Error() string { return w.words }

func (w *connectError) Unwrap() error { return w.cause }

// explainError explains why a connection could not be made. It returns unknown
// errors unchanged.
func explainError(config *pgconn.Config, err error) error {
	at := net.JoinHostPort(config.Host, fmt.Sprint(config.Port))
	words := explain(config, at, err)
	if words == "" {
		return err
	}
	return &connectError{words, err}
}

// explain returns the words of a connectError, or "" for an unknown error.
func explain(config *pgconn.Config, at string, err error) string {
	var said *pgconn.PgError
	var lookup *net.DNSError
	var network net.Error
	switch {
	case errors.As(err, &said):
		return explainRefusal(config, at, said)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing listens at %s; start PostgreSQL there, or correct the host and port of --database-url", at)
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return fmt.Sprintf("there is no host %s; correct the host of --database-url", config.Host)
	case errors.Is(err, syscall.ENOENT):
		return fmt.Sprintf("there is no socket of PostgreSQL in %s; start PostgreSQL, or name its host in --database-url", config.Host)
	case config.TLSConfig != nil && isTLSRefused(err):
		return fmt.Sprintf("PostgreSQL at %s does not offer TLS; set it up there, or allow clear text by sslmode=disable in --database-url", at)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return at + " did not answer in time; see whether a firewall is in the way"
	}
	return ""
}

// isTLSRefused reports whether the server refused TLS. The driver has no type for
// this error.
func isTLSRefused(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if err.Error() == "server refused TLS connection" {
			return true
		}
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, one := range joined.Unwrap() {
				if isTLSRefused(one) {
					return true
				}
			}
		}
	}
	return false
}

// explainRefusal explains why the server rejected a connection.
func explainRefusal(config *pgconn.Config, at string, said *pgconn.PgError) string {
	switch said.Code {
	case "28P01", "28000":
		return fmt.Sprintf("PostgreSQL at %s does not let user %s in (%s); correct the user and the password of --database-url", at, config.User, said.Message)
	case "3D000":
		return fmt.Sprintf("PostgreSQL at %s has no database %s; create it (createdb %[2]s), or correct --database-url", at, config.Database)
	case "42501":
		return fmt.Sprintf("user %s may not connect to database %s at %s; grant it CONNECT", config.User, config.Database, at)
	case "53300":
		return fmt.Sprintf("PostgreSQL at %s has no connection left; raise its max_connections, or lower pool_max_conns of --database-url", at)
	case "57P03":
		return fmt.Sprintf("PostgreSQL at %s is starting or stopping; try again", at)
	}
	return fmt.Sprintf("PostgreSQL at %s refuses the connection: %s (%s)", at, said.Message, said.Code)
}
