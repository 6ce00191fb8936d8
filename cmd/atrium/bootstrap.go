package main

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/internal/server"
	"atrium/platform"
	"atrium/platform/core"
)

type bootstrapCommand struct {
	databaseFlags
	Org     string `placeholder:"NAME" help:"Name of the organization. Required."`
	Issuer  string `placeholder:"URL" help:"Issuer (claim iss) of the owner's tokens. Required."`
	Subject string `placeholder:"SUB" help:"Subject (claim sub) of the owner's tokens. Required."`
}

func (c *bootstrapCommand) check(f *faults) {
	c.databaseFlags.check(f)
	f.require("org", c.Org)
	f.require("subject", c.Subject)
	if f.require("issuer", c.Issuer); c.Issuer != "" {
		checkIssuer(f, "issuer", c.Issuer)
	}
}

// run prints the UIDs of the created resources. It is often the first command for a
// database, so it applies pending migrations.
func (c *bootstrapCommand) run(ctx context.Context, p program) error {
	if err := server.Migrate(ctx, c.DatabaseURL, c.DatabaseDirectURL, nil); err != nil {
		return err
	}
	db, err := c.open(ctx, platform.Options{NoSecrets: true})
	if err != nil {
		return err
	}
	defer db.close()
	ctx = core.WithActor(ctx, core.NewOperator("bootstrap"))
	made, err := db.Groups.Bootstrap(ctx, c.Org, c.Issuer, c.Subject)
	if err != nil {
		return err
	}
	out := json.NewEncoder(p.stdout)
	out.SetIndent("", "  ")
	err = out.Encode(map[string]core.UID{
		"group": made.Group.UID, "identity": made.Identity.UID, "roleBinding": made.Binding.UID,
	})
	if err != nil {
		return fmt.Errorf("the organization %s was created and has the UID %s, but the other UIDs could not be printed: %w", c.Org, made.Group.UID, err)
	}
	return nil
}
