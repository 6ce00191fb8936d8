// Command loadpeers copies the rows of the benchmark that compares servers into a database of Atrium. scripts/load-peers runs it.
//
//	go -C tools run ./loadpeers FROM TO
//
// FROM is the URL of the benchmark's database, and TO that of an empty database with the schema of this
// program. The rows keep their UIDs, because the benchmark compares the answers of all servers. They
// are written as the program writes them, so that this command follows every change of the tables.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/jackc/pgx/v5"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: loadpeers FROM TO")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := load(ctx, os.Args[1], os.Args[2])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "loadpeers:", err)
		os.Exit(1)
	}
}

// load copies all rows. What was written before an error stays.
func load(ctx context.Context, from, to string) error {
	source, err := pgx.Connect(ctx, from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close(context.WithoutCancel(ctx)) }()
	target, err := store.Open(ctx, to, store.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }()
	p, err := platform.New(ctx, target, platform.Options{}) // It writes the built-in roles.
	if err != nil {
		return err
	}
	c := &copier{ctx: ctx, from: source, to: target}
	c.copyAll()
	c.addCallers()
	if c.err != nil {
		return c.err
	}
	return p.Findings.Settle(core.WithActor(ctx, core.NewOperator("loadpeers"))) // Otherwise the server would do this while it is measured.
}

// A copier copies rows of one kind after the other. After an error it does nothing more.
type copier struct {
	ctx  context.Context //nolint:containedctx // it lives for one call of load
	from *pgx.Conn
	to   platform.Store
	err  error
}

// Advisories and roles of the benchmark name no group, which is the first part of their UIDs. Its
// caller is the identity zz-caller, who gets a built-in role from us instead.
const (
	groupRows = `SELECT uid, name, description, create_time, update_time FROM groups ORDER BY length(uid), uid`
	rootRows  = `SELECT DISTINCT left(uid, 40) FROM advisories WHERE NOT EXISTS (SELECT FROM groups WHERE groups.uid = left(advisories.uid, 40))`
	roleRows  = `SELECT uid, name, description FROM roles`
	people    = `SELECT uid, name, description, issuer, subject, create_time, update_time FROM identities WHERE name <> 'zz-caller'`
	bindings  = `SELECT uid, identity_uid, role_uid, create_time FROM role_bindings WHERE identity_uid NOT IN (SELECT uid FROM identities WHERE name = 'zz-caller')`
	repoRows  = `SELECT uid, name, description, create_time, update_time FROM repos`
	tagRows   = `SELECT uid, name, digest, deprecated, update_time FROM tags`
	advisory  = `SELECT uid, advisory_id, artifact_name, update_time FROM advisories`
	callersOf = `SELECT uid FROM groups WHERE name = 'big.example.com' UNION SELECT DISTINCT left(uid, 40) FROM advisories`
)

func (c *copier) copyAll() {
	copyRows(c, groupRows, c.to.Tables().IAM.Groups, func(row pgx.CollectableRow) (*iam.Group, error) {
		g, at := &iam.Group{Status: iam.OrgStatusReady}, times{}
		return g, at.scan(row, &g.CreateTime, &g.UpdateTime, &g.UID, &g.Name, &g.Description)
	})
	copyRows(c, rootRows, c.to.Tables().IAM.Groups, func(row pgx.CollectableRow) (*iam.Group, error) {
		g := &iam.Group{Name: "advisories.example.com", Status: iam.OrgStatusReady}
		return g, row.Scan(&g.UID)
	})
	copyRows(c, roleRows, c.to.Tables().IAM.Roles, func(row pgx.CollectableRow) (*iam.Role, error) {
		r := &iam.Role{Capabilities: []core.Capability{core.CapRepoList}}
		return r, row.Scan(&r.UID, &r.Name, &r.Description)
	})
	copyRows(c, people, c.to.Tables().IAM.Identities, func(row pgx.CollectableRow) (*iam.Identity, error) {
		i, at := &iam.Identity{ClaimMatch: &iam.ClaimMatch{}}, times{}
		return i, at.scan(row, &i.CreateTime, &i.UpdateTime, &i.UID, &i.Name, &i.Description, &i.ClaimMatch.Issuer, &i.ClaimMatch.Subject)
	})
	copyRows(c, bindings, c.to.Tables().IAM.RoleBindings, func(row pgx.CollectableRow) (*iam.RoleBinding, error) {
		b, at := &iam.RoleBinding{}, times{}
		return b, at.scan(row, &b.CreateTime, nil, &b.UID, &b.IdentityUID, &b.RoleUID)
	})
	copyRows(c, repoRows, c.to.Tables().Inventory.Repos, func(row pgx.CollectableRow) (*inventory.Repo, error) {
		r, at := &inventory.Repo{}, times{}
		return r, at.scan(row, &r.CreateTime, &r.UpdateTime, &r.UID, &r.Name, &r.Description)
	})
	copyRows(c, tagRows, c.to.Tables().Inventory.Tags, func(row pgx.CollectableRow) (*inventory.Tag, error) {
		t, at := &inventory.Tag{}, times{}
		err := at.scan(row, &t.UpdateTime, nil, &t.UID, &t.Name, &t.Digest, &t.Deprecated)
		t.CreateTime = t.UpdateTime
		return t, err
	})
	copyRows(c, advisory, c.to.Tables().Inventory.Advisories, func(row pgx.CollectableRow) (*inventory.Advisory, error) {
		a, at := &inventory.Advisory{}, times{}
		err := at.scan(row, &a.UpdateTime, nil, &a.UID, &a.AdvisoryID, &a.ArtifactName)
		a.CreateTime = a.UpdateTime
		return a, err
	})
}

// addCallers makes the owner of the development issuer the owner of what the queries reach.
func (c *copier) addCallers() {
	copyRows(c, callersOf, c.to.Tables().IAM.Identities, func(row pgx.CollectableRow) (*iam.Identity, error) {
		root, err := pgx.RowTo[core.UID](row)
		return &iam.Identity{UID: root + "/0000000000000001", Name: "zz-caller", ClaimMatch: &iam.ClaimMatch{Issuer: auth.DevelopmentIssuer, Subject: "owner"}}, err
	})
	copyRows(c, callersOf, c.to.Tables().IAM.RoleBindings, func(row pgx.CollectableRow) (*iam.RoleBinding, error) {
		root, err := pgx.RowTo[core.UID](row)
		return &iam.RoleBinding{UID: root + "/ffffffffffffffff", IdentityUID: root + "/0000000000000001", RoleUID: iam.OwnerRole}, err
	})
}

// times are the times of a row, which are its last columns.
type times [2]time.Time

// scan reads the other columns into fields, and then one or two times.
func (t *times) scan(row pgx.CollectableRow, first, second *core.Time, fields ...any) error {
	fields = append(fields, &t[0])
	if second != nil {
		fields = append(fields, &t[1])
	}
	if err := row.Scan(fields...); err != nil {
		return err
	}
	*first = core.At(t[0])
	if second != nil {
		*second = core.At(t[1])
	}
	return nil
}

const perTransaction = 2_000

// copyRows writes the rows of a query, many in each transaction.
func copyRows[T any](c *copier, query string, into core.RowWriter[T], read pgx.RowToFunc[T]) {
	if c.err != nil {
		return
	}
	rows, err := c.from.Query(c.ctx, query)
	if err != nil {
		c.err = err
		return
	}
	defer rows.Close()
	var some []T
	write := func() {
		if len(some) > 0 && c.err == nil {
			c.err = c.to.Write(c.ctx, func(tx core.Tx) error { return into.Insert(c.ctx, tx, some...) })
		}
		some = some[:0]
	}
	for c.err == nil && rows.Next() {
		row, err := read(rows)
		if c.err = err; err != nil {
			return
		}
		if some = append(some, row); len(some) == perTransaction {
			write()
		}
	}
	write()
	if c.err == nil {
		c.err = rows.Err()
	}
}
