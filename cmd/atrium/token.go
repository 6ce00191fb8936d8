package main

import (
	"context"
	"fmt"
	"time"

	"atrium/internal/server"
	"atrium/platform"
)

type tokenCommand struct {
	databaseFlags
	As       string   `default:"owner" help:"Subject of the token in the demonstration organization: owner, editor or viewer."`
	Subject  string   `placeholder:"SUB" help:"Subject of the token, instead of --as."`
	Issuer   string   `placeholder:"URL" help:"Issuer of the token, instead of the development issuer, to try the identities of that issuer."`
	Audience []string `default:"${audience}" help:"Audience of the token, as in --audience of the server; if you give several, the token has the first one."`
	TTL      string   `name:"ttl" default:"1h" help:"Time to live of the token, at most 24h."`

	ttl time.Duration
}

// maxTTL is the longest lifetime that the server accepts.
const maxTTL = 24 * time.Hour

func (c *tokenCommand) check(f *faults) {
	c.databaseFlags.check(f)
	switch c.As {
	case "owner", "editor", "viewer":
	default:
		f.add("as", "must be owner, editor or viewer")
	}
	if c.Issuer != "" {
		checkIssuer(f, "issuer", c.Issuer)
	}
	checkAudience(f, c.Audience)
	var err error
	if c.ttl, err = time.ParseDuration(c.TTL); err != nil || c.ttl <= 0 || c.ttl > maxTTL {
		f.add("ttl", "must be a duration such as 30m, at most 24h")
	}
}

// run prints only the token.
func (c *tokenCommand) run(ctx context.Context, p program) error {
	subject, claims := c.As, map[string]any{}
	if c.Subject != "" {
		subject = c.Subject
	}
	if c.Issuer != "" {
		claims["iss"] = c.Issuer
	}
	token, err := c.mint(ctx, subject, c.Audience[0], c.ttl, claims)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, token)
	return err
}

// mint creates a token of the development issuer, whose key is in the database.
func (d *databaseFlags) mint(ctx context.Context, subject, audience string, ttl time.Duration, claims map[string]any) (string, error) {
	db, err := d.openExisting(ctx, platform.Options{NoSecrets: true})
	if err != nil {
		return "", err
	}
	defer db.close()
	issuer, err := server.DevelopmentIssuer(ctx, db.Platform)
	if err != nil {
		return "", err
	}
	return issuer.Mint(subject, audience, ttl, claims)
}
