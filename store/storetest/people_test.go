package storetest_test

import (
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

func TestIdentitiesAreFoundByTheirRules(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		_, other := w.createOrganization("other")
		root, elsewhere := org.Group.UID, other.Group.UID
		ruled := func(rule string) core.UID {
			t.Helper()
			w.clockAhead.Add(1000)
			return must[*iam.Identity](t)(w.p.Identities.Create(ctx, root, input[*iam.Identity](`{"name": "i", "claimMatch": {`+rule+`}}`))).UID
		}
		exact := ruled(`"issuer": "https://a.example.com", "subject": "x"`)
		younger := ruled(`"issuer": "https://a.example.com", "subject": "x"`)
		anySubject := ruled(`"issuer": "https://a.example.com", "subjectPattern": "x.*"`)
		anyIssuer := ruled(`"issuerPattern": "https://.*", "subject": "x"`)
		anything := ruled(`"issuerPattern": ".*", "subjectPattern": ".*"`)
		long := ruled(`"issuer": "https://a.example.com/long", "subject": "x"`)
		noRule := must[*iam.Identity](t)(w.p.Identities.Create(ctx, root, input[*iam.Identity](`{"name": "none"}`))).UID

		for _, c := range []struct {
			issuer, subject string
			want            []core.UID
			known           bool
			lookup          []core.UID
		}{
			{"https://a.example.com", "x", []core.UID{exact, younger, anySubject, anyIssuer, anything}, true, []core.UID{exact, younger}},
			{"https://a.example.com", "y", []core.UID{anySubject, anything}, true, nil},
			{"https://a.example.com/long", "x", []core.UID{long, anyIssuer, anything}, true, []core.UID{long}},
			{"https://a.example.co", "x", []core.UID{anyIssuer, anything}, false, nil},
			{"https://b.example.com", "y", []core.UID{anything}, false, nil},
			// No issuer or subject equals the mark of a pattern.
			{"\x01", "\x01", []core.UID{anything}, false, nil},
			{"", "", []core.UID{anything}, false, nil},
		} {
			var got []core.UID
			for _, candidate := range w.candidates(t, c.issuer, c.subject) {
				got = append(got, candidate.Identity.UID)
			}
			slices.Sort(c.want)
			if slices.Sort(got); !slices.Equal(got, c.want) || slices.Contains(got, noRule) {
				t.Errorf("%q, %q: candidates are %v, want %v", c.issuer, c.subject, got, c.want)
			}
			if known := must[bool](t)(storetest.Tables.IAM.KnowsIssuer(ctx, w.store, c.issuer)); known != c.known {
				t.Errorf("%q is known: %v, want %v", c.issuer, known, c.known)
			}
			if found := must[[]core.UID](t)(storetest.Tables.IAM.LookupIdentities(ctx, w.store, c.issuer, c.subject, []core.UID{root})); !slices.Equal(found, c.lookup) {
				t.Errorf("%q, %q: lookup finds %q, want %q", c.issuer, c.subject, found, c.lookup)
			}
			if found := must[[]core.UID](t)(storetest.Tables.IAM.LookupIdentities(ctx, w.store, c.issuer, c.subject, []core.UID{elsewhere})); len(found) > 0 {
				t.Errorf("%q, %q: lookup finds %q in another organization", c.issuer, c.subject, found)
			}
		}

		must[*iam.Identity](t)(w.p.Identities.Update(ctx, long, input[*iam.Identity](`{"claimMatch": {"issuer": "https://c.example.com", "subject": "z"}}`)))
		if found := must[[]core.UID](t)(storetest.Tables.IAM.LookupIdentities(ctx, w.store, "https://c.example.com", "z", []core.UID{root, elsewhere})); !slices.Equal(found, []core.UID{long}) {
			t.Errorf("after its rule changed, lookup finds %q, want %q", found, long)
		}
		if must[bool](t)(storetest.Tables.IAM.KnowsIssuer(ctx, w.store, "https://a.example.com/long")) {
			t.Error("the issuer of the old rule is still known")
		}
	})
}

func TestCandidatesComeWithTheirBindings(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		root := org.Group.UID
		group := w.group(ctx, root, "a")
		who := w.identity(ctx, root, "who")
		role := must[*iam.Role](t)(w.p.Roles.Create(ctx, root, input[*iam.Role](`{"name": "r", "capabilities": ["repo.list", "tag.list"]}`))).UID
		w.bind(ctx, group, who, role)
		w.bind(ctx, root, who, iam.ViewerRole)

		found := w.candidates(t, issuer, "who")
		if len(found) != 1 || len(found[0].Grants) != 2 {
			t.Fatalf("candidates are %+v, want one with two grants", found)
		}
		same := func(a, b core.Grant) bool {
			return a.Identity == b.Identity && a.Group == b.Group && a.Role == b.Role && slices.Equal(a.Capabilities, b.Capabilities)
		}
		want := core.Grant{Identity: who, Group: group, Role: role, Capabilities: []core.Capability{core.CapRepoList, core.CapTagList}}
		grants := must[[]core.Grant](t)(storetest.Tables.IAM.Grants(ctx, w.store, []core.UID{who, org.Identity.UID}))
		if len(grants) != 3 {
			t.Errorf("there are %d grants, want 3", len(grants))
		}
		for _, held := range [][]core.Grant{found[0].Grants, grants} {
			if !slices.ContainsFunc(held, func(g core.Grant) bool { return same(g, want) }) {
				t.Errorf("%+v is not among %+v", want, held)
			}
		}
	})
}

// candidates returns the identities whose rule may match.
func (w *world) candidates(t *testing.T, issuer, subject string) []iam.Candidate {
	t.Helper()
	found, _, err := storetest.Tables.IAM.Candidates(t.Context(), w.store, bearerOf(issuer, subject))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// BearerOf returns a bearer who looks up all keys that the rules of these tests have.
func bearerOf(issuer, subject string) iam.Bearer {
	host, _, _ := strings.Cut(strings.TrimPrefix(issuer, "https://"), "/")
	return iam.Bearer{
		Issuer: issuer, Subject: subject,
		Issuers:  []string{issuer, iam.PatternMark, iam.PatternMark + "https://" + host},
		Subjects: []string{subject, iam.PatternMark},
	}
}

func TestBeingSeenIsNoChange(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		who := org.Identity
		events := len(w.recordedTypes())
		at := core.At(w.now())
		w.clockAhead.Add(5000)
		if err := w.store.MarkSeen(ctx, []core.UID{who.UID}, at); err != nil {
			t.Fatal(err)
		}
		got := must[*iam.Identity](t)(w.p.Identities.Get(ctx, who.UID))
		if got.LastSeenTime != at || got.UpdateTime != who.UpdateTime || len(w.recordedTypes()) != events {
			t.Errorf("last seen at %v and updated at %v with %d events, want %v, %v and %d", got.LastSeenTime, got.UpdateTime, len(w.recordedTypes()), at, who.UpdateTime, events)
		}
	})
}
