package house

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

// The numbers and names in these tests also exist in clients, in stored rows and in page
// tokens. They must never change and never get another meaning. New lines may be added.

// core returns a platform with one organization, and the actor of its owner.
func newPlatform(t *testing.T) (*platform.Platform, *core.Actor) {
	t.Helper()
	p, err := platform.New(t.Context(), storetest.Open(t, storetest.SQLite(t)), platform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const issuer, subject = "https://issuer.example.com", "owner"
	if _, err := p.Groups.Bootstrap(t.Context(), "acme", issuer, subject); err != nil {
		t.Fatal(err)
	}
	owner, err := p.Authenticate(t.Context(), iam.Claims{Issuer: issuer, Subject: subject, ServiceAudience: true})
	if err != nil {
		t.Fatal(err)
	}
	return p, owner
}

// A row is a capability in reference/capabilities.md.
type row struct {
	name, wire string
	number     int
	roles      []string
}

// capabilityTable reads the copy of reference/capabilities.md.
func capabilityTable(t *testing.T) (rows []row, roles []string) {
	t.Helper()
	for line := range strings.Lines(read(t, "platform/testdata/capabilities.md")) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case cells[0] == "capability":
			roles = cells[3:]
		case roles != nil && strings.Contains(cells[0], "."):
			r := row{name: cells[0], wire: cells[1]}
			var err error
			if r.number, err = strconv.Atoi(cells[2]); err != nil {
				t.Fatal(err)
			}
			for i, cell := range cells[3:] {
				if cell == "x" {
					r.roles = append(r.roles, roles[i])
				}
			}
			rows = append(rows, r)
		}
	}
	if len(rows) != 43 || len(roles) != 8 {
		t.Fatalf("the table has %d capabilities, want 43 and %d roles, want 8", len(rows), len(roles))
	}
	return rows, roles
}

// ownCapabilities lists capabilities that are not in the table, such as those of our own
// kinds.
var ownCapabilities = []row{
	{name: "findings.list", wire: "CAP_FINDINGS_LIST", number: 9001},
	{name: "findings.update", wire: "CAP_FINDINGS_UPDATE", number: 9002},
	{name: "sboms.import", wire: "CAP_SBOMS_IMPORT", number: 9003},
	{name: "vex.import", wire: "CAP_VEX_IMPORT", number: 9004},
	{name: "advisories.import", wire: "CAP_ADVISORIES_IMPORT", number: 9005},
	{name: "registry.import", wire: "CAP_REGISTRY_IMPORT", number: 9006},
	{name: "sources.create", wire: "CAP_SOURCES_CREATE", number: 9101},
	{name: "sources.update", wire: "CAP_SOURCES_UPDATE", number: 9102},
	{name: "sources.list", wire: "CAP_SOURCES_LIST", number: 9103},
	{name: "sources.delete", wire: "CAP_SOURCES_DELETE", number: 9104},
}

func TestCapabilitiesAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	rows, _ := capabilityTable(t)
	rows = append(rows, ownCapabilities...)
	all := core.Capabilities()
	for _, c := range all {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.name == string(c) }) {
			t.Errorf("%s is not in the ledger: add to ownCapabilities in internal/house/ledger_test.go\n\t{name: %[1]q, wire: %q, number: %d},", c, c.WireName(), c.Number())
		}
	}
	numbers := map[int]core.Capability{}
	for _, r := range rows {
		c, err := core.ParseCapability(r.wire)
		if err != nil || string(c) != r.name || c.WireName() != r.wire || c.Number() != r.number || !slices.Contains(all, c) {
			t.Errorf("%s is %s, %s, %d (%v), want %s, %s, %d", r.wire, c, c.WireName(), c.Number(), err, r.name, r.wire, r.number)
		}
	}
	for _, c := range all {
		if other, taken := numbers[c.Number()]; taken {
			t.Errorf("%s and %s have the number %d", c, other, c.Number())
		}
		numbers[c.Number()] = c
	}
}

// No role could hold a capability whose constant is not in the ledger.
func TestEveryCapabilityConstantIsInTheLedger(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`(?m)^\s+(Cap\w+)\s+Capability = "([a-z._]+)"$`).FindAllStringSubmatch(read(t, "platform/core/capability.go"), -1)
	if len(named) != len(core.Capabilities()) {
		t.Errorf("platform/core/capability.go: %d constants are named and %d are in the list capabilities", len(named), len(core.Capabilities()))
	}
	for _, m := range named {
		if _, err := core.ParseCapability(m[2]); err != nil {
			t.Errorf("platform/core/capability.go: add to capabilities, with the number that it keeps\n\t{%s, \"CAP_%s\", 0},", m[1], enumName(m[2]))
		}
	}
}

// Stored role bindings contain the UIDs of built-in roles.
var builtInUIDs = map[string]core.UID{
	"viewer":                      "fd3e96b609167d999bf93771df5bc582d05ea961",
	"editor":                      "e39bd869953ef09043c4560eed5eba4b2e482cdf",
	"owner":                       "7872e984573b3a80d1d5dcf9ac7fd799d10a760c",
	"console_viewer":              "f8b2a6e5a07b5469bd4e5251a00caba4417a5359",
	"registry.pull":               "8796e4182e21cccdbd8ea824f1d05487610c7285",
	"registry.push":               "4d7e4966448f57e21277e0f49b85233752e6adb7",
	"registry.pull_token_creator": "6bf4ec17225ae31b1243a81342d2d05aae4f2b91",
	"publisher":                   "b497a0aad7d4c7179b4fa30ccb0b930e674048dd",
	"advisories.viewer":           "274c2757bf1f9625c4b24477eb196090661a86f9",
}

// ownRoles are built-in roles that are not in the table, with their capabilities.
var ownRoles = map[string][]string{
	"publisher": {
		"groups.list", "repo.create", "repo.list", "tag.create", "tag.list", "manifest.metadata.list", "findings.list", "sboms.import", "vex.import",
	},
}

func TestBuiltInRolesHoldWhatTheTableSays(t *testing.T) {
	t.Parallel()
	rows, roles := capabilityTable(t)
	p, owner := newPlatform(t)
	ctx := core.WithActor(t.Context(), owner)
	page, err := p.Roles.List(ctx, core.ListRequest[*iam.RoleFilter]{UIDP: core.UIDFilter{InRoot: true}})
	if err != nil || len(page.Items) != len(roles)+len(ownRoles) {
		t.Fatalf("there are %d built-in roles, the table has %d and %d are our own (%v)", len(page.Items), len(roles), len(ownRoles), err)
	}
	for _, role := range page.Items {
		if own, isOwn := ownRoles[role.Name]; isOwn {
			var held []string
			for _, c := range role.Capabilities {
				held = append(held, string(c))
			}
			if role.UID != builtInUIDs[role.Name] || !slices.Equal(held, own) {
				t.Errorf("%s has the UID %s and holds %q, want %s and %q", role.Name, role.UID, held, builtInUIDs[role.Name], own)
			}
			continue
		}
		if role.UID != builtInUIDs[role.Name] || !iam.IsBuiltInRole(role.UID) || !slices.Contains(roles, role.Name) {
			t.Errorf("%s has the UID %s, want %s", role.Name, role.UID, builtInUIDs[role.Name])
		}
		for _, r := range rows {
			if got, want := slices.Contains(role.Capabilities, core.Capability(r.name)), slices.Contains(r.roles, role.Name); got != want {
				t.Errorf("%s holds %s: %t, want %t", role.Name, r.name, got, want)
			}
		}
	}
}

// A kindEntry is the entry of a kind. Counters and page tokens contain its number, and page
// tokens contain the position of the order field.
type kindEntry struct {
	number                    byte
	name, plural, area, event string
	orders                    string
}

var kindLedger = []kindEntry{
	{1, "Group", "groups", "iam", "iam.group", "name create_time update_time uid"},
	{2, "Identity", "identities", "iam", "iam.identity", "name create_time update_time uid last_seen_time email"},
	{3, "Role", "roles", "iam", "iam.roles", "name create_time update_time uid"},
	{4, "RoleBinding", "roleBindings", "iam", "iam.rolebindings", "create_time uid identity_name group_name role_name"},
	{5, "Repo", "repos", "registry", "platform.registry.repo", "name create_time update_time uid"},
	{6, "Tag", "tags", "registry", "platform.registry.tag", "name create_time update_time uid digest"},
	{7, "Advisory", "advisories", "vulnerabilities", "vulnerabilities.advisory", "advisory_id artifact_name create_time update_time uid delete_time"},
	{8, "VulnerabilityMetadata", "vulnerabilityMetadata", "advisory", "", "uid"},
	{9, "Subscription", "subscriptions", "events", "events.subscription", "uid create_time update_time"},
	{10, "IdentityProvider", "identityProviders", "iam", "iam.identity_providers", "name create_time update_time uid"},
	{11, "AccountAssociation", "accountAssociations", "iam", "iam.account_associations", "name create_time update_time uid"},
	{12, "GroupInvite", "groupInvites", "iam", "iam.group_invite", "uid create_time expiration_time email role_name"},
	{13, "ExternalGroupRoleMapping", "externalGroupRoleMappings", "iam", "iam.external_group_role_mappings", "uid create_time external_group_id"},
	{14, "TermsAcceptance", "termsAcceptances", "iam", "iam.terms", "doc_id create_time uid"},
	{15, "Artifact", "artifacts", "libraries", "", "name create_time update_time uid"},
	{17, "Delivery", "deliveries", "events", "", "create_time uid update_time last_attempt_time next_attempt_time event_type"},
	{20, "Finding", "findings", "vulnerabilities", "vulnerabilities.finding", "severity first_seen_time epss package due_time update_time uid"},
	{21, "Package", "packages", "registry", "", "name uid"},
	{22, "PackageVersion", "packageVersions", "registry", "", "version uid"},
	{24, "Source", "sources", "sources", "sources.source", "name create_time update_time uid"},
	{16, "ArtifactVersion", "artifactVersions", "libraries", "", "version create_time update_time uid name"},
}

// kinds describes every kind of the core.
func kinds(t *testing.T) []kindEntry {
	t.Helper()
	var all []kindEntry
	for _, k := range platform.Kinds() {
		all = append(all, kindEntry{k.Number, k.Name, k.Plural, k.Area, k.Event, strings.Join(k.Orders, " ")})
	}
	return all
}

// areas lists the kinds of each area.
func areas(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, k := range kinds(t) {
		found[k.area] = append(found[k.area], k.name)
	}
	return found
}

// texts lists what a kind must keep.
func (e kindEntry) texts() []string { return []string{e.name, e.plural, e.area, e.event, e.orders} }

// nextNumber returns the first number that no kind has had.
func nextNumber() byte {
	next := byte(1)
	for _, e := range kindLedger {
		next = max(next, e.number+1)
	}
	return next
}

func TestKindsKeepTheirNumbersAndNames(t *testing.T) {
	t.Parallel()
	numbers := map[byte]string{}
	for _, k := range kinds(t) {
		if other, taken := numbers[k.number]; taken || k.number == 0 {
			t.Errorf("platform: %s has the number %d, which is not its own (%q): give its Kind the next free one\n\tNumber: %d,", k.name, k.number, other, nextNumber())
		}
		numbers[k.number] = k.name
		i := slices.IndexFunc(kindLedger, func(e kindEntry) bool { return e.number == k.number })
		if i < 0 {
			t.Errorf("%s is not in the ledger: add to kindLedger in internal/house/ledger_test.go\n\t{%d, %q, %q, %q, %q, %q},", k.name, k.number, k.name, k.plural, k.area, k.event, k.orders)
			continue
		}
		want := kindLedger[i]
		if !strings.HasPrefix(k.orders+" ", want.orders+" ") {
			t.Errorf("platform: the Orders of %s are %q, but page tokens of clients count them as %q: restore that order, and add new ones at the end", k.name, k.orders, want.orders)
		}
		if k.orders = want.orders; k != want {
			t.Errorf("platform: the Kind with the number %d has the name, plural, area, event and orders\n\t%q\nbut clients and stored rows know it as\n\t%q\nRestore these facts", k.number, k.texts(), want.texts())
		}
	}
}

// tokenLedger has the contents of each version of page tokens. A version never changes: a
// new one gets the next number and a line here.
var tokenLedger = map[int]string{1: "version, order, time of issue, UID, value of the order field"}

func TestThePageTokenVersionIsTheNewestOfTheLedger(t *testing.T) {
	t.Parallel()
	m := regexp.MustCompile(`tokenVersion = (\d+)\n`).FindStringSubmatch(read(t, "platform/core/token.go"))
	if m == nil {
		t.Fatal("platform/core/token.go names no version")
	}
	if version, _ := strconv.Atoi(m[1]); version != len(tokenLedger) || tokenLedger[version] == "" {
		t.Errorf("version %d is not the newest of %v, want %d", version, tokenLedger, len(tokenLedger))
	}
}

func TestEventTypesAreThoseOfTheWire(t *testing.T) {
	t.Parallel()
	wire := read(t, "internal/wiretest/wire.txt")
	for _, k := range kinds(t) {
		for operation, verb := range map[string]string{"Create": "created", "Update": "updated", "Delete": "deleted", "BatchCreate": "created.batch"} {
			name := operation + k.name
			if operation == "BatchCreate" {
				name += "s"
			}
			rpc := regexp.MustCompile(`(?m)^RPC ` + name + ` .*<prefix>\.(\S+) `).FindStringSubmatch(wire)
			if rpc == nil {
				continue
			}
			if want := fmt.Sprintf("%s.%s.v1", k.event, verb); rpc[1] != want {
				t.Errorf("%s records %s, the wire says %s", name, want, rpc[1])
			}
		}
	}
	if !strings.Contains(read(t, "platform/core/event.go"), `EventPrefix = "dev.atrium.api."`) {
		t.Error("the prefix of event types has changed")
	}
}
