package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"atrium/internal/rpc"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store"
)

// A server runs in this process until Close.
type server struct {
	*httptest.Server
	org   string // This is the UID of the only organization.
	close []func() error
}

// serve starts a server over an empty database. It accepts "owner" as the token of
// the owner; package auth has the tests of real tokens.
func serve(ctx context.Context) (*server, error) {
	folder, err := os.MkdirTemp("", "atrium-client-")
	if err != nil {
		return nil, err
	}
	s := &server{close: []func() error{func() error { return os.RemoveAll(folder) }}}
	database := "sqlite:" + filepath.Join(folder, "atrium.db")
	if err := store.Migrate(ctx, database, nil); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	db, err := store.Open(ctx, database, store.Options{})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.close = append(s.close, db.Close)
	p, err := platform.New(ctx, db, platform.Options{})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	made, err := p.Groups.Bootstrap(ctx, "acme", issuer, "owner")
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.org = string(made.Group.UID)
	s.Server = httptest.NewUnstartedServer(authenticate(p, rpc.New(p, rpc.Options{})))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	return s, nil
}

const issuer = "https://issuer.example.com"

func authenticate(p *platform.Platform, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if subject, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
			actor, err := p.Authenticate(ctx, iam.Claims{Issuer: issuer, Subject: subject, ServiceAudience: true})
			if err != nil {
				rpc.Options{}.WriteError(w, r, err)
				return
			}
			ctx = core.WithActor(ctx, actor)
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Close stops the server and removes its database.
func (s *server) Close() error {
	if s.Server != nil {
		s.Server.Close()
	}
	var errs []error
	for i := range s.close {
		errs = append(errs, s.close[len(s.close)-1-i]())
	}
	return errors.Join(errs...)
}
