package main

import (
	"context"
	"encoding/json"

	"atrium/platform"
	"atrium/server"
)

type bootstrapCommand struct {
	databaseFlags
	Org     string `placeholder:"NAME" help:"Name of the organisation. Required."`
	Issuer  string `placeholder:"URL" help:"Issuer (claim iss) of the owner's tokens. Required."`
	Subject string `placeholder:"SUB" help:"Subject (claim sub) of the owner's tokens. Required."`
}

func (c *bootstrapCommand) check(f *faults) {
	c.databaseFlags.check(f)
	f.required("org", c.Org)
	f.required("subject", c.Subject)
	if f.required("issuer", c.Issuer); c.Issuer != "" {
		checkIssuer(f, "issuer", c.Issuer)
	}
}

// run prints the UIDs of what it made. It is often the first command that a
// database sees, so it brings the schema up to date.
func (c *bootstrapCommand) run(ctx context.Context, p program) error {
	if err := server.Migrate(ctx, c.DatabaseURL, c.DatabaseDirectURL); err != nil {
		return err
	}
	db, err := c.open(ctx, platform.Options{NoSecrets: true})
	if err != nil {
		return err
	}
	defer db.close()
	ctx = platform.WithActor(ctx, platform.NewOperator("bootstrap"))
	made, err := db.Groups.Bootstrap(ctx, c.Org, c.Issuer, c.Subject)
	if err != nil {
		return err
	}
	out := json.NewEncoder(p.stdout)
	out.SetIndent("", "  ")
	return out.Encode(map[string]platform.UID{
		"group": made.Group.UID, "identity": made.Identity.UID, "roleBinding": made.Binding.UID,
	})
}
