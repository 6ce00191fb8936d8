package feeds

import (
	"context"
	"errors"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// Feeds has the operations by which imports bring what feeds say. Only operators may call them.
type Feeds struct {
	core   *core.Core
	tables Tables
}

// New returns the operations.
func New(c *core.Core, tables Tables) *Feeds { return &Feeds{c, tables} }

// Tables has what imports read and write.
type Tables struct {
	Groups          core.Table[*iam.Group, *iam.GroupFilter]
	Advisories      core.Table[*inventory.Advisory, *inventory.AdvisoryFilter]
	Vulnerabilities core.Table[*inventory.Vulnerability, *inventory.VulnerabilityFilter]

	Queries
}

// Queries read and write in other ways than a Table does.
type Queries interface {
	// AdvisoriesInheriting reads the advisories of all groups that have one of the
	// names as id or alias and no CVSS severity of their own.
	AdvisoriesInheriting(ctx context.Context, on core.Conn, names []string) ([]*inventory.Advisory, error)

	// AdvisoriesOfRecords reads the advisories of records in a group.
	AdvisoriesOfRecords(ctx context.Context, on core.Conn, of AdvisoryRecords) ([]*inventory.Advisory, error)

	// AdvisoriesOfVulnerabilities reads those of the advisories in a group, above and below it that have one of names, and are not
	// withdrawn: what says which are of the same vulnerability. For FeedGroup, these are of all groups.
	AdvisoriesOfVulnerabilities(ctx context.Context, tx core.Tx, group core.UID, names []string) ([]*inventory.Advisory, error)

	// SetRepresentatives stores the representatives of advisories.
	SetRepresentatives(tx core.Tx, all []*inventory.Advisory)

	// RaiseAdvisoryTimes and RaiseVulnerabilityTimes replace the source times of rows by later
	// ones. They keep times that are later already, and everything else of the rows.
	RaiseAdvisoryTimes(ctx context.Context, tx core.Tx, times []SourceTime) error

	RaiseVulnerabilityTimes(ctx context.Context, tx core.Tx, times []SourceTime) error

	// Exploitations reads what catalogs say of vulnerabilities; missing ones are left out.
	Exploitations(ctx context.Context, on core.Conn, ids []string) ([]inventory.Exploitation, error)

	// KnownExploitedIDs lists the vulnerabilities that are known to be exploited.
	KnownExploitedIDs(ctx context.Context, tx core.Tx) ([]string, error)

	// PutExploitations stores what one catalog says, and keeps what the other one says.
	PutExploitations(ctx context.Context, tx core.Tx, of Catalog, all []inventory.Exploitation) error

	// AdvisoriesWithFindings lists the advisories that have findings, and one of the names as id,
	// alias or upstream id.
	AdvisoriesWithFindings(ctx context.Context, tx core.Tx, names []string) ([]core.UID, error)

	AddFindingTasks(ctx context.Context, tx core.Tx, tasks []inventory.FindingTask) error
}

// feedLock excludes all other imports of advisories and vulnerabilities until a transaction
// ends. Both change the severities of advisories, and an older record must not replace a newer
// one.
const feedLock core.UID = "feed"

// feedGroupName is a name that no other organization can have.
const feedGroupName = "(feeds)"

// makeFeedGroup creates FeedGroup unless it exists.
func (s *Feeds) makeFeedGroup(ctx context.Context) error {
	if err := core.RequireOperator(ctx); err != nil {
		return err
	}
	found, err := s.core.Store.Exists(ctx, inventory.FeedGroup)
	if err != nil || found {
		return err
	}
	err = core.WritePatiently(ctx, s.core.Store, func(tx core.Tx) error {
		feeds := &iam.Group{Name: feedGroupName, Description: "Advisories for all organizations"}
		iam.GroupKind.Stamp(feeds, inventory.FeedGroup, s.core.Now())
		return s.tables.Groups.Insert(ctx, tx, feeds)
	})
	if errors.Is(err, core.ErrDuplicate) { // another import has just made it
		return nil
	}
	return err
}
