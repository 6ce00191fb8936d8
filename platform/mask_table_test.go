package platform

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// This table lists the fields of every kind that callers can write, and says who sets
// each field and when. A missing field or another mode is a change of the contract.
func TestEveryFieldIsUpdatableFixedOrOutputOnly(t *testing.T) {
	t.Parallel()
	checkModes(t, iam.GroupKind.Fields, iam.Group{}, "name description labels", "", "uid resourceLimits verified createTime kind status", "updateTime")
	checkModes(t, iam.IdentityKind.Fields, iam.Identity{}, "name description company claimMatch staticKeys", "", "uid createTime", "email emailUnverified lastSeenTime updateTime")
	checkModes(t, iam.RoleKind.Fields, iam.Role{}, "name description capabilities", "", "uid createTime", "updateTime")
	checkModes(t, iam.RoleBindingKind.Fields, iam.RoleBinding{}, "identityUid roleUid expireTime", "", "uid createTime", "identity group role reviewTime reviewer reviewNote")
	checkModes(t, iam.IdentityProviderKind.Fields, iam.IdentityProvider{}, "name description defaultRole oidc", "oidc.correlationRule", "uid createTime", "issuerVerified issuerVerifyTime updateTime")
	checkModes(t, iam.AccountAssociationKind.Fields, iam.AccountAssociation{}, "name description amazon google platform azure github", "", "uid createTime", "updateTime")
	checkModes(t, inventory.RepoKind.Fields, inventory.Repo{}, "name description catalogTier bundles aliases activeTags sync_config labels", "",
		"uid createTime sync_config.uniqueTags sync_config.expirationTime sync_config.apkoOverlay sync_config.gracePeriod", "updateTime")
	checkModes(t, inventory.ReadmeFields, inventory.Readme{}, "content", "", "uid", "")
	checkModes(t, inventory.TagKind.Fields, inventory.Tag{}, "", "name digest deprecated bundles", "uid updateTime", "")
	checkModes(t, iam.GroupInviteKind.Fields, iam.GroupInvite{}, "", "roleUid email ttl singleUse", "uid role expirationTime code keyId createTime", "")
	checkModes(t, iam.ExternalGroupRoleMappingKind.Fields, iam.ExternalGroupRoleMapping{}, "", "externalGroupId roleUid scope", "uid identityProviderUid createTime", "")
	checkModes(t, webhooks.SubscriptionKind.Fields, webhooks.Subscription{}, "", "sink types format digest", "uid secret createTime updateTime", "")
}

func checkModes[T any](t *testing.T, fields []fieldmask.Field, row T, updatable, atCreation, outputOnly, volatile string) {
	t.Helper()
	kind := reflect.TypeOf(row)
	want := map[string]fieldmask.Mode{}
	for mode, names := range map[fieldmask.Mode]string{fieldmask.Updatable: updatable, fieldmask.AtCreation: atCreation, fieldmask.OutputOnly: outputOnly, fieldmask.Volatile: volatile} {
		for _, name := range strings.Fields(names) {
			want[name] = mode
		}
	}
	for _, f := range fields {
		if mode, ok := want[f.Name]; !ok || mode != f.Mode {
			t.Errorf("%s.%s has mode %d, want %d (%t)", kind.Name(), f.Name, f.Mode, mode, ok)
		}
		if listed, v := fieldmask.JSONInput[*T]([]byte(`{}`), []string{f.Name}).DecodeUpdate(fields); len(v) > 0 || (len(listed.Fields) == 1) != (f.Mode == fieldmask.Updatable) || len(listed.Fields)+len(listed.Fixed) != 1 {
			t.Errorf("a mask of %s.%s writes %v and keeps %v: %v", kind.Name(), f.Name, listed.Fields, listed.Fixed, v)
		}
		c, _ := fieldmask.JSONInput[*T]([]byte(`{"`+f.Name+`": null}`), nil).DecodeUpdate(fields)
		if written, claimed := len(c.Fields) == 1, len(c.Claims) == 1; !strings.Contains(f.Name, ".") && (written != (f.Mode == fieldmask.Updatable) || claimed == (f.Mode == fieldmask.Updatable || f.Mode == fieldmask.AtCreation)) {
			t.Errorf("a body with %s.%s writes %q and claims %q", kind.Name(), f.Name, c.Fields, c.Claims)
		}
		delete(want, f.Name)
	}
	for name := range want {
		t.Errorf("%s has no field %s", kind.Name(), name)
	}
	if n := countPaths(kind); n > fieldmask.MaxPaths/2 {
		t.Errorf("a mask of %s can have %d paths, which is too near to the limit of %d", kind.Name(), n, fieldmask.MaxPaths)
	}
	for i := range kind.NumField() {
		name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
		if name != "-" && fieldmask.FindField(fields, name) == nil {
			t.Errorf("%s.%s is not in its kind's fields", kind.Name(), name)
		}
	}
}

// countPaths returns how many paths a mask of t can have, without the keys of maps.
func countPaths(t reflect.Type) (n int) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return 0
	}
	for f := range t.Fields() {
		if f.Tag.Get("json") != "-" {
			n += 1 + countPaths(f.Type)
		}
	}
	return n
}
