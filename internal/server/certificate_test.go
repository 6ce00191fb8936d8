package server

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// Certificates of a few days are replaced by a program each day or so. If the log told of each, nobody
// would read it.
func TestTheLogTellsOfACertificateInTheLastQuarterOfItsLife(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		age, left time.Duration
		want      bool
	}{
		"90 days, 15 left":       {75 * day, 15 * day, false},
		"90 days, 13 left":       {77 * day, 13 * day, true},
		"7 days, new":            {time.Hour, 7*day - time.Hour, false},
		"7 days, two days left":  {5 * day, 2 * day, false},
		"7 days, one day left":   {6 * day, day, true},
		"an hour, ten min. left": {50 * time.Minute, 10 * time.Minute, true},
		"expired":                {2 * day, -day, true},
	} {
		var logs bytes.Buffer
		now := time.Now()
		one := &Certificate{current: &tls.Certificate{Leaf: &x509.Certificate{NotBefore: now.Add(-c.age), NotAfter: now.Add(c.left)}}}
		one.get(slog.New(slog.NewTextHandler(&logs, nil)))
		if told := strings.Contains(logs.String(), "expires soon"); told != c.want {
			t.Errorf("%s: the log tells of it: %t, want %t", name, told, c.want)
		}
	}
}
