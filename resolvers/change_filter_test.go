package resolvers

import "testing"

// What is new, and what has changed, is a filter of every list with times.
func TestListsAreFilteredByWhenRowsWereMadeAndChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for list, conditions := range map[string][]string{
		"groups": {"createdSince", "updatedSince", "updatedBefore"}, "identities": {"createdSince", "updatedSince", "updatedBefore"}, "roles": {"createdSince", "updatedSince", "updatedBefore"},
		"repos": {"createdSince", "updatedSince", "updatedBefore"}, "advisories": {"createdSince", "updatedSince", "updatedBefore"}, "subscriptions": {"createdSince", "updatedSince", "updatedBefore"},
		"identityProviders": {"createdSince", "updatedSince", "updatedBefore"}, "accountAssociations": {"createdSince", "updatedSince", "updatedBefore"},
		"roleBindings": {"createdSince"}, "groupInvites": {"createdSince"}, "externalGroupRoleMappings": {"createdSince"},
	} {
		total := func(where string) string {
			return w.ask(`query($org: UID!) { list: `+list+`(within: $org, where: {`+where+`}) { totalCount } }`, "org", w.org).text("list.totalCount")
		}
		all := total("")
		for _, condition := range conditions {
			future, past := "0", all
			if condition == "updatedBefore" {
				future, past = past, future
			}
			if got := total(condition + `: "2999-01-01T00:00:00Z"`); got != future {
				t.Errorf("%s(where: {%s}) finds %s of the future, want %s", list, condition, got, future)
			}
			if got := total(condition + `: "1980-01-01T00:00:00Z"`); got != past {
				t.Errorf("%s(where: {%s}) finds %s of the past, want %s", list, condition, got, past)
			}
		}
	}
}
