package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// A connectError explains in plain words why there is no connection, or none that can be used. Its cause is
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
	case errors.Is(err, pgconn.ErrReadOnlyConnection):
		return "every server of --database-url that answers is read-only (the session is read-only): name the primary, or promote a standby"
	case errors.Is(err, pgconn.ErrReadWriteConnection), errors.Is(err, pgconn.ErrPrimaryConnection), errors.Is(err, pgconn.ErrStandbyConnection):
		return fmt.Sprintf("no server of --database-url that answers fits its target_session_attrs (%s); correct it, or the hosts", cause(err))
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing listens at %s; start PostgreSQL there, or correct the host and port of --database-url", at)
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return fmt.Sprintf("there is no host %s; correct the host of --database-url", config.Host)
	case errors.Is(err, syscall.ENOENT):
		return fmt.Sprintf("there is no socket of PostgreSQL in %s; start PostgreSQL, or name its host in --database-url", config.Host)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return at + " did not answer in time; see whether a firewall is in the way"
	case cause(err) == tlsRefused:
		return fmt.Sprintf("PostgreSQL at %s does not offer TLS; set it up there, or allow clear text by sslmode=disable in --database-url", at)
	case strings.Contains(err.Error(), "require_auth check failed"), strings.Contains(err.Error(), "channel binding check failed"):
		return fmt.Sprintf("PostgreSQL at %s authenticates in another way than --database-url requires: %s", at, cause(err))
	}
	return ""
}

// tlsRefused is the error of a server that refuses TLS. The driver has no type for it.
const tlsRefused = "server refused TLS connection"

// cause returns the text of the innermost error. Of several, which the driver has when it has tried
// several addresses, or one with and without TLS, it is the first that is not the refusal of TLS:
// with sslmode=prefer, clear text was tried after that.
func cause(err error) string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		text := ""
		for _, one := range joined.Unwrap() {
			if found := cause(one); text == "" || text == tlsRefused {
				text = found
			}
		}
		return text
	}
	if inner := errors.Unwrap(err); inner != nil {
		return cause(inner)
	}
	return err.Error()
}

// ExplainMigration explains why the schema of a database could not be changed. It returns unknown errors
// unchanged.
func ExplainMigration(err error) error {
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		return err
	}
	words := map[string]string{
		"42501": "the user of --database-url may not create tables in its schema (%s); grant that with GRANT CREATE ON SCHEMA, or create a schema for the user: CREATE SCHEMA AUTHORIZATION ...",
		"3F000": "there is no schema in which the user of --database-url creates tables (%s); create one with CREATE SCHEMA, or name another by search_path in --database-url",
		"25006": "the database of --database-url is read-only (%s); name the primary, or set default_transaction_read_only to off",
	}[said.Code]
	if words == "" {
		return err
	}
	return &connectError{fmt.Sprintf(words, said.Message), err}
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
