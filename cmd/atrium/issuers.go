package main

import (
	"cmp"
	"context"
	"fmt"
	"text/tabwriter"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
)

type issuersListCommand struct {
	databaseFlags
	outputFlags
}

func (c *issuersListCommand) check(f *faults) {
	c.databaseFlags.check(f)
	c.outputFlags.check(f)
}

// Help returns the detailed help.
func (*issuersListCommand) Help() string {
	return `With -o json it is a list of objects: organization (its uid), issuer, method (file, token, operator or upgrade; none while a proof is missing) and
verifyTime, which is left out without a proof.`
}

// A reportedProof is a proof for programs.
type reportedProof struct {
	Organization core.UID  `json:"organization"`
	Issuer       string    `json:"issuer"`
	Method       string    `json:"method"`
	VerifyTime   core.Time `json:"verifyTime,omitzero"`
}

// run prints the proven issuers, and those that wait for a proof.
func (c *issuersListCommand) run(ctx context.Context, p program) error {
	return c.operate(ctx, func(ctx context.Context, issuers iam.Issuers) error {
		proofs, err := issuers.List(ctx)
		if err != nil {
			return err
		}
		reported := []reportedProof{}
		for _, proof := range proofs {
			reported = append(reported, reportedProof{proof.Organization, proof.Issuer, cmp.Or(string(proof.Method), "none"), proof.VerifyTime})
		}
		if c.isJSON() {
			return writeJSON(p.stdout, reported)
		}
		table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "ORGANIZATION\tISSUER\tPROOF\tVERIFIED")
		for _, proof := range reported {
			at := ""
			if !proof.VerifyTime.IsZero() {
				at = proof.VerifyTime.String()
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", proof.Organization, proof.Issuer, proof.Method, at)
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
	Org    string `placeholder:"UID" help:"UID of the organization's root group. Required."`
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
