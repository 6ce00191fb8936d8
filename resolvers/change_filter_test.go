package resolvers

import "testing"

// What is new, and what has changed, is a filter of every list with times.
func TestListsAreFilteredByWhenRowsWereMadeAndChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for list, conditions := range map[string][]string{
		"groups": {"createdSince", "updatedSince"}, "identities": {"createdSince", "updatedSince"}, "roles": {"createdSince", "updatedSince"},
		"repos": {"createdSince", "updatedSince"}, "advisories": {"createdSince", "updatedSince"}, "subscriptions": {"createdSince", "updatedSince"},
		"identityProviders": {"createdSince", "updatedSince"}, "accountAssociations": {"createdSince", "updatedSince"},
		"roleBindings": {"createdSince"}, "groupInvites": {"createdSince"}, "externalGroupRoleMappings": {"createdSince"},
	} {
		total := func(where string) string {
			return w.ask(`query($org: ID!) { list: `+list+`(within: $org, where: {`+where+`}) { totalCount } }`, "org", w.org).text("list.totalCount")
		}
		all := total("")
		for _, condition := range conditions {
			if got := total(condition + `: "2999-01-01T00:00:00Z"`); got != "0" {
				t.Errorf("%s(where: {%s}) finds %s of the future, want 0", list, condition, got)
			}
			if got := total(condition + `: "1980-01-01T00:00:00Z"`); got != all {
				t.Errorf("%s(where: {%s}) finds %s of the past, want all %s", list, condition, got, all)
			}
		}
	}
}
