package platform

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
	"atrium/platform/webhooks"
)

func TestOrderByTakesFieldsAndDirections(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]core.Order{
		"":                                {Field: "name"},
		"name":                            {Field: "name"},
		"name asc":                        {Field: "name"},
		"name desc":                       {Field: "name", Desc: true},
		"name ":                           {},
		"name desc ":                      {},
		" name":                           {},
		"name  desc":                      {},
		"name\tdesc":                      {},
		"name\n":                          {},
		"created_at":                      {Field: "create_time"},
		"create_time":                     {Field: "create_time"},
		"createTime desc":                 {Field: "create_time", Desc: true},
		"updated_at desc":                 {Field: "update_time", Desc: true},
		"update_time":                     {Field: "update_time"},
		"updateTime":                      {Field: "update_time"},
		"uid desc":                        {Field: "uid", Desc: true},
		"description":                     {},
		"name,uid":                        {Field: "name"},
		"name, uid desc":                  {Field: "name", Then: [2]core.OrderKey{{Field: "uid", Desc: true}}},
		"uid,name":                        {Field: "uid"},
		"name,  uid":                      {},
		"name,":                           {},
		",name":                           {},
		"name desc uid":                   {},
		"name descending":                 {},
		"desc":                            {},
		"-name":                           {},
		"name;":                           {},
		"name\x00":                        {},
		"create_time desc, name":          {Field: "create_time", Desc: true, Then: [2]core.OrderKey{{Field: "name"}}},
		"updateTime,name desc,created_at": {Field: "update_time", Then: [2]core.OrderKey{{Field: "name", Desc: true}, {Field: "create_time"}}},
	} {
		var v core.Violations
		got := inventory.RepoKind.ParseOrder(s, &v)
		if got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
		if refused := want == (core.Order{}); refused != (len(v) == 1) {
			t.Errorf("%q: %v", s, v)
		} else if refused && (v[0].Field != "order_by" || !strings.Contains(v[0].Description, "name, create_time, update_time, uid")) {
			t.Errorf("%q: %v does not list what is accepted", s, v[0])
		}
	}
}

func TestEachKindHasOrdersOfItsOwn(t *testing.T) {
	t.Parallel()
	accepts := func(kind, s, field string, desc bool, parse func(string, *core.Violations) core.Order) {
		t.Helper()
		var v core.Violations
		if got := parse(s, &v); got != (core.Order{Field: field, Desc: desc}) || len(v) > 0 {
			t.Errorf("%s %q: %v %v, want %s", kind, s, got, v, field)
		}
	}
	accepts("advisory", "advisory_id", "advisory_id", false, inventory.AdvisoryKind.ParseOrder)
	accepts("advisory", "artifactName desc", "artifact_name", true, inventory.AdvisoryKind.ParseOrder)
	accepts("advisory", "", "uid", false, inventory.AdvisoryKind.ParseOrder)
	accepts("identity", "last_seen_time desc", "last_seen_time", true, iam.IdentityKind.ParseOrder)
	accepts("identity", "", "name", false, iam.IdentityKind.ParseOrder)
	accepts("role binding", "", "create_time", true, iam.RoleBindingKind.ParseOrder)
	accepts("subscription", "", "uid", false, webhooks.SubscriptionKind.ParseOrder)
	accepts("tag", "", "name", false, inventory.TagKind.ParseOrder)
	accepts("vulnerability", "", "uid", false, inventory.VulnerabilityKind.ParseOrder)
	accepts("role binding", "name desc", "identity_name", true, iam.RoleBindingKind.ParseOrder)
	accepts("advisory", "name", "advisory_id", false, inventory.AdvisoryKind.ParseOrder)
}

func TestAnInvalidOrderListsTheValidFieldsInTheSpellingOfTheCaller(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"nope":            "create_time, uid, identity_name, group_name, role_name",
		"nope desc":       "create_time, uid, identity_name, group_name, role_name",
		"changed_at desc": "created_at, uid, identity_name, group_name, role_name",
		"identity_id":     "create_time, uid, identity_name, group_name, role_name",
		"identityId asc":  "createTime, uid, identityName, groupName, roleName",
	} {
		var v core.Violations
		iam.RoleBindingKind.ParseOrder(asked, &v)
		if len(v) != 1 || v[0].Description != "must be one of "+want+", optionally followed by asc or desc" {
			t.Errorf("%q: %v, want %s", asked, v, want)
			continue
		}
		for _, taken := range strings.Split(want, ", ") {
			var v core.Violations
			if iam.RoleBindingKind.ParseOrder(taken, &v); len(v) > 0 {
				t.Errorf("%s is listed and refused: %v", taken, v)
			}
		}
	}
}

// unordered lists the fields that are no order, with the reason.
var unordered = map[string]string{
	"Group.description": "is long", "Identity.description": "is long", "Role.description": "is long", "Repo.description": "is long",
	"IdentityProvider.description": "is long", "AccountAssociation.description": "is long", "Artifact.description": "is long",
	"ArtifactVersion.description": "is long", "Vulnerability.summary": "is long", "Vulnerability.details": "is long",
	"Delivery.lastError": "is long", "Delivery.lastAnswer": "is long", "Subscription.sink": "is long", "Identity.company": "is long",
	"Advisory.author": "is of any length", "Advisory.artifactType": "is of any length", "Advisory.artifactArchitecture": "is of any length",
	"Advisory.componentName": "is of any length", "Advisory.componentLocation": "is of any length", "Advisory.componentType": "is of any length",
	"Advisory.legacyAdvisoryId": "is of any length", "Identity.emailUnverified": "is of any length",
	"Subscription.secret": "is shown once", "GroupInvite.code": "is shown once", "GroupInvite.keyId": "is random",
	"TermsAcceptance.acceptedBy": "is the UID of another kind", "Artifact.latestVersion": "does not sort by bytes", "Vulnerability.id": "is its uid",
	"Delivery.eventId": "sorts as createTime", "IdentityProvider.issuerVerifyTime": "is a fact of the organization and the issuer",
	"RoleBinding.expireTime": "is null for most", "RoleBinding.reviewTime": "is null for most", "RoleBinding.reviewer": "is the UID of another kind", "RoleBinding.reviewNote": "is long",
}

// Every list can be sorted by each short text and time that its rows show.
func TestEveryListIsSortedByTheShownValues(t *testing.T) {
	t.Parallel()
	left := maps.Clone(unordered)
	sorts(t, &iam.GroupKind, left)
	sorts(t, &iam.IdentityKind, left)
	sorts(t, &iam.RoleKind, left)
	sorts(t, &iam.RoleBindingKind, left)
	sorts(t, &inventory.RepoKind, left)
	sorts(t, &inventory.TagKind, left)
	sorts(t, &inventory.AdvisoryKind, left)
	sorts(t, &inventory.VulnerabilityKind, left)
	sorts(t, &webhooks.SubscriptionKind, left)
	sorts(t, &iam.IdentityProviderKind, left)
	sorts(t, &iam.AccountAssociationKind, left)
	sorts(t, &iam.GroupInviteKind, left)
	sorts(t, &iam.ExternalGroupRoleMappingKind, left)
	sorts(t, &iam.TermsKind, left)
	sorts(t, &libraries.ArtifactKind, left)
	sorts(t, &libraries.ArtifactVersionKind, left)
	sorts(t, &webhooks.DeliveryKind, left)
	for field := range left {
		t.Errorf("%s is no order for a reason, but no row shows it as a text or time", field)
	}
}

func sorts[T any](t *testing.T, k *core.Kind[T], left map[string]string) {
	t.Helper()
	row := reflect.TypeFor[T]().Elem()
	for i := range row.NumField() {
		field := row.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || field.Type != reflect.TypeFor[string]() && field.Type != reflect.TypeFor[core.Time]() {
			continue
		}
		if at := row.Name() + "." + name; left[at] != "" {
			delete(left, at)
		} else if k.Order(name) == nil {
			t.Errorf("rows of %s show %s, but order_by does not take it", k.Name, name)
		}
	}
}

// The required fields of a kind are those that an empty body lacks.
func TestRequiredFieldsAreThoseThatAnEmptyBodyLacks(t *testing.T) {
	t.Parallel()
	lacks(t, &iam.GroupKind)
	lacks(t, &iam.IdentityKind)
	lacks(t, &iam.RoleKind)
	lacks(t, &iam.RoleBindingKind)
	lacks(t, &inventory.RepoKind)
	lacks(t, &inventory.TagKind)
	lacks(t, (&webhooks.Area{Events: &events.Area{Types: allEventTypes}}).SubscriptionKind())
	lacks(t, &iam.IdentityProviderKind)
	lacks(t, &iam.AccountAssociationKind)
	lacks(t, &iam.GroupInviteKind)
	lacks(t, &iam.ExternalGroupRoleMappingKind)
}

func lacks[T any](t *testing.T, k *core.Kind[T]) {
	t.Helper()
	var v core.Violations
	k.Check(core.NewFilter[T](), func(string) bool { return true }, &v)
	var fields []string
	for _, x := range v {
		fields = append(fields, x.Field)
	}
	if !slices.Equal(fields, k.Required) {
		t.Errorf("%s requires %q, and an empty one violates %q", k.Name, k.Required, fields)
	}
}

func FuzzOrderBy(f *testing.F) {
	f.Add("name desc")
	f.Add("createTime asc")
	f.Fuzz(func(t *testing.T, s string) {
		var v core.Violations
		o := inventory.RepoKind.ParseOrder(s, &v)
		if len(v) > 0 {
			if o != (core.Order{}) {
				t.Fatalf("%q is refused, and is %v", s, o)
			}
			return
		}
		if inventory.RepoKind.Order(o.Field) == nil || inventory.RepoKind.Order(o.Field).Name != o.Field {
			t.Fatalf("%q sorts by %q", s, o.Field)
		}
	})
}
