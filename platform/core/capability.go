package core

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"atrium/platform/fieldmask"
)

// A Capability is the right to use one operation, by its dotted name.
type Capability string

// The capabilities that this service checks.
const (
	CapGroupsCreate              Capability = "groups.create"
	CapGroupsUpdate              Capability = "groups.update"
	CapGroupsList                Capability = "groups.list"
	CapGroupsDelete              Capability = "groups.delete"
	CapGroupInvitesCreate        Capability = "group_invites.create"
	CapGroupInvitesList          Capability = "group_invites.list"
	CapGroupInvitesDelete        Capability = "group_invites.delete"
	CapRolesCreate               Capability = "roles.create"
	CapRolesUpdate               Capability = "roles.update"
	CapRolesList                 Capability = "roles.list"
	CapRolesDelete               Capability = "roles.delete"
	CapRoleBindingsCreate        Capability = "role_bindings.create"
	CapRoleBindingsUpdate        Capability = "role_bindings.update"
	CapRoleBindingsList          Capability = "role_bindings.list"
	CapRoleBindingsDelete        Capability = "role_bindings.delete"
	CapAccountAssociationsCreate Capability = "account_associations.create"
	CapAccountAssociationsUpdate Capability = "account_associations.update"
	CapAccountAssociationsList   Capability = "account_associations.list"
	CapAccountAssociationsDelete Capability = "account_associations.delete"
	CapIdentityCreate            Capability = "identity.create"
	CapIdentityUpdate            Capability = "identity.update"
	CapIdentityList              Capability = "identity.list"
	CapIdentityDelete            Capability = "identity.delete"
	CapIdentityProvidersCreate   Capability = "identity_providers.create"
	CapIdentityProvidersUpdate   Capability = "identity_providers.update"
	CapIdentityProvidersList     Capability = "identity_providers.list"
	CapIdentityProvidersDelete   Capability = "identity_providers.delete"
	CapSubscriptionsCreate       Capability = "subscriptions.create"
	CapSubscriptionsList         Capability = "subscriptions.list"
	CapSubscriptionsDelete       Capability = "subscriptions.delete"
	CapRepoCreate                Capability = "repo.create"
	CapRepoUpdate                Capability = "repo.update"
	CapRepoList                  Capability = "repo.list"
	CapRepoDelete                Capability = "repo.delete"
	CapTagCreate                 Capability = "tag.create"
	CapTagUpdate                 Capability = "tag.update"
	CapTagList                   Capability = "tag.list"
	CapTagDelete                 Capability = "tag.delete"
	CapManifestMetadataList      Capability = "manifest.metadata.list"
	CapLibrariesArtifactsList    Capability = "libraries.artifacts.list"
	CapAdvisoriesList            Capability = "advisories.list"
	CapTermsAccept               Capability = "terms.accept"
	CapTermsList                 Capability = "terms.list"
	CapFindingsList              Capability = "findings.list"
	CapFindingsUpdate            Capability = "findings.update"
	CapSBOMsImport               Capability = "sboms.import"
	CapVEXImport                 Capability = "vex.import"
	CapAdvisoriesImport          Capability = "advisories.import"
	CapRegistryImport            Capability = "registry.import"
	CapSourcesCreate             Capability = "sources.create"
	CapSourcesUpdate             Capability = "sources.update"
	CapSourcesList               Capability = "sources.list"
	CapSourcesDelete             Capability = "sources.delete"
)

// capabilities is the ledger of all capabilities with their wire names and
// numbers. A number is never reused. The order of this list is the order of the
// bits in a CapabilitySet, which exists in memory only.
var capabilities = []struct {
	name   Capability
	wire   string
	number int
}{
	{CapGroupsCreate, "CAP_IAM_GROUPS_CREATE", 101},
	{CapGroupsUpdate, "CAP_IAM_GROUPS_UPDATE", 102},
	{CapGroupsList, "CAP_IAM_GROUPS_LIST", 103},
	{CapGroupsDelete, "CAP_IAM_GROUPS_DELETE", 104},
	{CapGroupInvitesCreate, "CAP_IAM_GROUP_INVITES_CREATE", 201},
	{CapGroupInvitesList, "CAP_IAM_GROUP_INVITES_LIST", 203},
	{CapGroupInvitesDelete, "CAP_IAM_GROUP_INVITES_DELETE", 204},
	{CapRolesCreate, "CAP_IAM_ROLES_CREATE", 301},
	{CapRolesUpdate, "CAP_IAM_ROLES_UPDATE", 302},
	{CapRolesList, "CAP_IAM_ROLES_LIST", 303},
	{CapRolesDelete, "CAP_IAM_ROLES_DELETE", 304},
	{CapRoleBindingsCreate, "CAP_IAM_ROLE_BINDINGS_CREATE", 401},
	{CapRoleBindingsUpdate, "CAP_IAM_ROLE_BINDINGS_UPDATE", 402},
	{CapRoleBindingsList, "CAP_IAM_ROLE_BINDINGS_LIST", 403},
	{CapRoleBindingsDelete, "CAP_IAM_ROLE_BINDINGS_DELETE", 404},
	{CapAccountAssociationsCreate, "CAP_IAM_ACCOUNT_ASSOCIATIONS_CREATE", 701},
	{CapAccountAssociationsUpdate, "CAP_IAM_ACCOUNT_ASSOCIATIONS_UPDATE", 702},
	{CapAccountAssociationsList, "CAP_IAM_ACCOUNT_ASSOCIATIONS_LIST", 703},
	{CapAccountAssociationsDelete, "CAP_IAM_ACCOUNT_ASSOCIATIONS_DELETE", 704},
	{CapIdentityCreate, "CAP_IAM_IDENTITY_CREATE", 901},
	{CapIdentityUpdate, "CAP_IAM_IDENTITY_UPDATE", 902},
	{CapIdentityList, "CAP_IAM_IDENTITY_LIST", 903},
	{CapIdentityDelete, "CAP_IAM_IDENTITY_DELETE", 904},
	{CapIdentityProvidersCreate, "CAP_IAM_IDENTITY_PROVIDERS_CREATE", 1301},
	{CapIdentityProvidersUpdate, "CAP_IAM_IDENTITY_PROVIDERS_UPDATE", 1302},
	{CapIdentityProvidersList, "CAP_IAM_IDENTITY_PROVIDERS_LIST", 1303},
	{CapIdentityProvidersDelete, "CAP_IAM_IDENTITY_PROVIDERS_DELETE", 1304},
	{CapSubscriptionsCreate, "CAP_EVENTS_SUBSCRIPTION_CREATE", 1501},
	{CapSubscriptionsList, "CAP_EVENTS_SUBSCRIPTION_LIST", 1503},
	{CapSubscriptionsDelete, "CAP_EVENTS_SUBSCRIPTION_DELETE", 1504},
	{CapRepoCreate, "CAP_REPO_CREATE", 1603},
	{CapRepoUpdate, "CAP_REPO_UPDATE", 1604},
	{CapRepoList, "CAP_REPO_LIST", 1605},
	{CapRepoDelete, "CAP_REPO_DELETE", 1606},
	{CapTagCreate, "CAP_TAG_CREATE", 1611},
	{CapTagUpdate, "CAP_TAG_UPDATE", 1612},
	{CapTagList, "CAP_TAG_LIST", 1613},
	{CapTagDelete, "CAP_TAG_DELETE", 1614},
	{CapManifestMetadataList, "CAP_MANIFEST_METADATA_LIST", 1615},
	{CapLibrariesArtifactsList, "CAP_LIBRARIES_ARTIFACTS_LIST", 1803},
	{CapAdvisoriesList, "CAP_ADVISORIES_LIST", 1902},
	{CapTermsAccept, "CAP_TERMS_ACCEPT", 2201},
	{CapTermsList, "CAP_TERMS_LIST", 2202},
	{CapFindingsList, "CAP_FINDINGS_LIST", 9001},
	{CapFindingsUpdate, "CAP_FINDINGS_UPDATE", 9002},
	{CapSBOMsImport, "CAP_SBOMS_IMPORT", 9003},
	{CapVEXImport, "CAP_VEX_IMPORT", 9004},
	{CapAdvisoriesImport, "CAP_ADVISORIES_IMPORT", 9005},
	{CapRegistryImport, "CAP_REGISTRY_IMPORT", 9006},
	{CapSourcesCreate, "CAP_SOURCES_CREATE", 9101},
	{CapSourcesUpdate, "CAP_SOURCES_UPDATE", 9102},
	{CapSourcesList, "CAP_SOURCES_LIST", 9103},
	{CapSourcesDelete, "CAP_SOURCES_DELETE", 9104},
}

var capabilityBit = func() map[Capability]int {
	bit := make(map[Capability]int, len(capabilities))
	for i, c := range capabilities {
		bit[c.name] = i
	}
	return bit
}()

// Capabilities lists every capability, in the order of their numbers.
func Capabilities() []Capability {
	all := make([]Capability, len(capabilities))
	for i, c := range capabilities {
		all[i] = c.name
	}
	return all
}

// ReadingCapabilities lists the capabilities that only read.
func ReadingCapabilities() []Capability {
	return slices.DeleteFunc(Capabilities(), func(c Capability) bool { return !c.reads() })
}

// reads reports whether c is the right to an operation that only reads.
func (c Capability) reads() bool { return strings.HasSuffix(string(c), ".list") }

// ParseCapability parses the wire name (CAP_REPO_LIST) or the dotted name
// (repo.list) of a capability.
func ParseCapability(s string) (Capability, error) {
	for _, c := range capabilities {
		if s == c.wire || s == string(c.name) {
			return c.name, nil
		}
	}
	return "", fmt.Errorf("%q is not a capability; an example is %s", fieldmask.TruncateForMessage(s), capabilities[0].wire)
}

// IsKnown reports whether the capability exists.
func (c Capability) IsKnown() bool { _, ok := capabilityBit[c]; return ok }

// WireName returns the name of c in the API's enum.
func (c Capability) WireName() string {
	if i, ok := capabilityBit[c]; ok {
		return capabilities[i].wire
	}
	return string(c)
}

// Number returns the number of c in the API's enum.
func (c Capability) Number() int { return capabilities[capabilityBit[c]].number }

// MarshalText writes the wire name.
func (c Capability) MarshalText() ([]byte, error) { return []byte(c.WireName()), nil }

// UnmarshalJSON accepts both names and the number.
func (c *Capability) UnmarshalJSON(b []byte) error {
	if !fieldmask.IsNumber(b) {
		var name string
		if err := json.Unmarshal(b, &name); err != nil {
			return err
		}
		return c.UnmarshalText([]byte(name))
	}
	for _, known := range capabilities {
		if string(b) == strconv.Itoa(known.number) {
			*c = known.name
			return nil
		}
	}
	return fmt.Errorf("%s is not the number of a capability", fieldmask.TruncateForMessage(string(b)))
}

// UnmarshalText accepts both names.
func (c *Capability) UnmarshalText(b []byte) error {
	parsed, err := ParseCapability(string(b))
	*c = parsed
	return err
}

// A CapabilitySet holds one bit per capability of the ledger.
type CapabilitySet uint64

// CapabilitySetOf returns the set of capabilities.
func CapabilitySetOf(list []Capability) CapabilitySet {
	var s CapabilitySet
	for _, c := range list {
		if i, ok := capabilityBit[c]; ok {
			s |= 1 << i
		}
	}
	return s
}

func (s CapabilitySet) has(c Capability) bool {
	i, ok := capabilityBit[c]
	return ok && s&(1<<i) != 0
}

// Without returns the capabilities that are not in another set.
func (s CapabilitySet) Without(t CapabilitySet) CapabilitySet { return s &^ t }

// List lists the capabilities in the order of their numbers.
func (s CapabilitySet) List() []Capability {
	all := make([]Capability, 0, bits.OnesCount64(uint64(s)))
	for i, c := range capabilities {
		if s&(1<<i) != 0 {
			all = append(all, c.name)
		}
	}
	return all
}

func (s CapabilitySet) String() string {
	names := make([]string, 0, 4)
	for _, c := range s.List() {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}
