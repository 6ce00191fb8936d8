package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
)

type issuersListCommand struct {
	databaseFlags
}

func (c *issuersListCommand) check(f *faults) { c.databaseFlags.check(f) }

// run prints the proven issuers, and those that wait for a proof.
func (c *issuersListCommand) run(ctx context.Context, p program) error {
	return c.operate(ctx, func(ctx context.Context, issuers iam.Issuers) error {
		proofs, err := issuers.List(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "ORGANISATION\tISSUER\tPROOF\tVERIFIED")
		for _, proof := range proofs {
			method, at := string(proof.Method), ""
			if method == "" {
				method = "none"
			}
			if !proof.VerifyTime.IsZero() {
				at = proof.VerifyTime.String()
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", proof.Organisation, proof.Issuer, method, at)
		}
		return table.Flush()
	})
}

// operate calls do with the issuers, as the operator.
func (d *databaseFlags) operate(ctx context.Context, do func(context.Context, iam.Issuers) error) error {
	db, err := d.openExisting(ctx, platform.Options{NoSecrets: true})
	if err != nil {
		return err
	}
	defer db.close()
	return do(core.WithActor(ctx, core.NewOperator("issuers")), db.Issuers)
}

type issuerFlags struct {
	databaseFlags
	Org    string `placeholder:"UID" help:"UID of the organisation's root group. Required."`
	Issuer string `placeholder:"URL" help:"URL of the issuer; https://HOST/* stands for patterns over the issuers of a host, and * for all patterns over issuers. Required."`
}

func (c *issuerFlags) check(f *faults) {
	c.databaseFlags.check(f)
	checkUID(f, "org", c.Org)
	f.require("issuer", c.Issuer)
}

type issuersAllowCommand struct{ issuerFlags }

func (c *issuersAllowCommand) run(ctx context.Context, _ program) error {
	return c.operate(ctx, func(ctx context.Context, issuers iam.Issuers) error {
		return issuers.Allow(ctx, core.UID(c.Org), c.Issuer)
	})
}

type issuersRevokeCommand struct{ issuerFlags }

func (c *issuersRevokeCommand) run(ctx context.Context, _ program) error {
	return c.operate(ctx, func(ctx context.Context, issuers iam.Issuers) error {
		return issuers.Revoke(ctx, core.UID(c.Org), c.Issuer)
	})
}
