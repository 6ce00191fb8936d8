package sqlstore

import (
	"context"
	"strconv"

	"atrium/platform/core"
	"atrium/store/sqlstore/table"
)

// A dependent is a column that refers to the rows of a kind, and keeps them from being deleted.
type dependent struct{ kind, table, column string }

// dependents lists the columns that refer to the rows of each kind.
var dependents = map[string][]dependent{
	"Group": {
		{"Group", "grp", "parent"}, {"Identity", "identity", "parent"}, {"Role", "role", "parent"}, {"RoleBinding", "role_binding", "parent"},
		{"IdentityProvider", "identity_provider", "parent"}, {"GroupInvite", "group_invite", "parent"},
		{"AccountAssociation", "account_association", "parent"},
		{"Repo", "repo", "parent"}, {"Advisory", "advisory", "parent"}, {"Subscription", "subscription", "parent"}, {"Source", "source", "parent"},
	},
	"Identity": {{"RoleBinding", "role_binding", "identity"}},
	"Role": {
		{"RoleBinding", "role_binding", "role"}, {"IdentityProvider", "identity_provider", "default_role"},
		{"GroupInvite", "group_invite", "role"}, {"ExternalGroupRoleMapping", "external_group_role_mapping", "role"},
	},
	"IdentityProvider": {{"ExternalGroupRoleMapping", "external_group_role_mapping", "parent"}},
	"Repo":             {{"Tag", "tag", "parent"}},
}

// Dependents counts the rows that refer to a row, up to a limit for each kind.
func (s tables) Dependents(ctx context.Context, kind string, uid core.UID) ([]core.Dependents, error) {
	var found []core.Dependents
	q := table.NewStatement(s.Dialect)
	for i, d := range dependents[kind] {
		if i > 0 {
			q.Add(" UNION ALL ")
		}
		q.Add("SELECT "+strconv.Itoa(i)+" AS place, COUNT(*) AS n FROM (SELECT 1 FROM "+d.table+" WHERE "+d.column+" = ? LIMIT ?) d", uid, int64(core.MaxDependents)+1)
	}
	q.Add(" ORDER BY 1")
	err := s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var place, n int64
		err := scan(&place, &n)
		if err == nil && n > 0 {
			found = append(found, core.Dependents{Kind: dependents[kind][place].kind, Count: int(n)})
		}
		return err
	}))
	return found, err
}
