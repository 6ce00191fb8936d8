package platform_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// Who decided stays with the decision: of a finding, of a rule for later findings, and of an operator.
func TestFindingsSayWhoDecidedAndWhenThatEnds(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		shop := w.group(acme.uid)
		repo := w.repo(shop)
		held := []string{"a@1.0.0", "b@1.0.0", "c@1.0.0", "d@1.0.0"}
		w.sbom(repo, digest(1), held...)
		w.point(repo, "latest", digest(1))
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"), fixedIn("CVE-2", "b", "2.0.0"), fixedIn("CVE-3", "c", "2.0.0"), fixedIn("CVE-4", "d", "2.0.0"))
		w.settle()
		subject := w.name()
		editor := w.member(acme.uid, subject)
		w.bind(acme.uid, editor, iam.EditorRole)
		byEditor, owner := w.as(subject), core.UID("")
		identities, err := w.p.Identities.List(w.operator(), core.ListRequest[*iam.IdentityFilter]{UIDP: core.UIDFilter{DescendantsOf: acme.uid}})
		must(t, err)
		for _, i := range identities.Items {
			if i.UID != editor {
				owner = i.UID
			}
		}
		until := func(days int) string {
			return fmt.Sprintf(`{"state": "FINDING_STATE_ACCEPTED", "expireTime": %q}`, w.now().Add(time.Duration(days)*24*time.Hour).Format(time.RFC3339))
		}
		w.triage(acme.owner, inventory.FindingUpdate{Within: repo, Where: &inventory.FindingFilter{Packages: []string{"a"}}}, until(5))
		w.triage(byEditor, inventory.FindingUpdate{Within: shop, Where: vulnerabilities("CVE-2")}, until(20))
		w.triage(w.operator(), inventory.FindingUpdate{Within: repo, Where: &inventory.FindingFilter{Packages: []string{"c"}}}, accepted)
		show := func(filter *inventory.FindingFilter) string {
			w.settle()
			page, err := w.p.Findings.List(acme.owner, core.ListRequest[*inventory.FindingFilter]{Filter: filter, OrderBy: "package"})
			must(t, err)
			var all []string
			for _, f := range page.Items {
				who := f.DecidedBy
				switch who {
				case string(owner):
					who = "owner"
				case string(editor):
					who = "editor"
				}
				all = append(all, f.Package+" "+who)
			}
			return strings.Join(all, ", ")
		}
		w.expect("who decided", show(nil), "a owner, b editor, c test, d ")
		before := func(days int) core.Time { return core.At(w.now().Add(time.Duration(days) * 24 * time.Hour)) }
		w.expect("what ends within a week", show(&inventory.FindingFilter{ExpireBefore: before(7)}), "a owner")
		w.expect("what ends within a month", show(&inventory.FindingFilter{ExpireBefore: before(30)}), "a owner, b editor")
		w.expect("what is open and ends", show(&inventory.FindingFilter{ExpireBefore: before(30), States: []inventory.FindingState{inventory.FindingOpen}}), "")
		w.expect("what the editor decided", show(&inventory.FindingFilter{DecidedBy: string(editor)}), "b editor")
		w.expect("what others decided", show(&inventory.FindingFilter{Not: &inventory.FindingFilter{DecidedBy: string(editor)}}), "a owner, c test, d ")
		w.sbom(repo, digest(2), held...)
		w.point(repo, "new", digest(2))
		w.expect("a later image", show(&inventory.FindingFilter{TagNames: []string{"new", "none"}}), "a , b editor, c , d ")
		w.expect("the other one", show(&inventory.FindingFilter{TagNames: []string{"latest"}}), "a owner, b editor, c test, d ")
		w.expect("no tag", show(&inventory.FindingFilter{TagNames: []string{"none"}}), "")
		w.triage(byEditor, inventory.FindingUpdate{Within: repo, Where: &inventory.FindingFilter{Packages: []string{"a"}, TagNames: []string{"latest"}}}, `{"note": "asked again"}`)
		w.expect("a new note", show(&inventory.FindingFilter{TagNames: []string{"latest"}, Packages: []string{"a"}}), "a editor")
		w.triage(acme.owner, inventory.FindingUpdate{Within: repo, Where: &inventory.FindingFilter{Packages: []string{"a"}}}, `{"state": "FINDING_STATE_OPEN"}`)
		w.expect("taken back", show(&inventory.FindingFilter{Packages: []string{"a"}}), "a , a ")
		_, err = w.p.Findings.List(acme.owner, core.ListRequest[*inventory.FindingFilter]{Filter: &inventory.FindingFilter{TagNames: make([]string, 2000)}})
		w.expect("too many names", violationFields(err), "tagNames")
	})
}
