package postgres

import (
	"fmt"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// The resolver of a machine can take any time, so no test asks it.
func TestWhyAHostIsNotFoundIsInPlainWords(t *testing.T) {
	t.Parallel()
	config := &pgconn.Config{Host: "db.example.com", Port: 5432}
	for want, lookup := range map[string]*net.DNSError{
		"there is no host db.example.com; correct the host of --database-url":              {Err: "no such host", IsNotFound: true},
		"db.example.com:5432 did not answer in time; see whether a firewall is in the way": {Err: "i/o timeout", IsTimeout: true},
	} {
		cause := fmt.Errorf("dial: %w", lookup)
		if got := explainError(config, cause); got.Error() != want {
			t.Errorf("%v is explained as %q, want %q", cause, got, want)
		}
	}
}
