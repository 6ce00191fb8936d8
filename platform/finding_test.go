package platform_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// fixedIn returns an advisory about the versions of a package of npm before the fix.
func fixedIn(id, name, version string) *inventory.Advisory {
	return &inventory.Advisory{
		AdvisoryID: id, ArtifactName: name, ArtifactType: "npm", Severities: []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: "9.8"}},
		Affected: &affected.Set{Ranges: []affected.Range{{Type: "SEMVER", Events: []affected.Event{{Introduced: "0"}, {Fixed: version}}}}},
	}
}

func (w *world) advise(group core.UID, all ...*inventory.Advisory) {
	w.Helper()
	done, err := w.p.Feeds.ImportAdvisories(w.operator(), group, all)
	must(w, err)
	for _, err := range done.Rejected {
		must(w, err)
	}
}

// sbom imports an SBOM with packages of npm, each as name@version.
func (w *world) sbom(repo core.UID, digest string, packages ...string) {
	w.Helper()
	b := &registry.ImportedSBOM{Repo: repo, Digest: digest, Format: "CycloneDX 1.5"}
	for _, p := range packages {
		name, version, _ := strings.Cut(p, "@")
		b.Packages = append(b.Packages, inventory.InstalledPackage{Name: name, Version: version, Ecosystem: "npm", PURL: "pkg:npm/" + p})
	}
	done, err := w.p.Registry.ImportSBOMs(w.operator(), []*registry.ImportedSBOM{b})
	must(w, err)
	for _, err := range done.Rejected {
		must(w, err)
	}
}

func (w *world) point(repo core.UID, name, digest string) core.UID {
	w.Helper()
	made, err := w.p.Tags.Create(w.operator(), repo, body[*inventory.Tag](`{"name": %q, "digest": %q}`, name, digest))
	must(w, err)
	return made.UID
}

func (w *world) settle() {
	w.Helper()
	must(w, w.p.Findings.Settle(w.operator()))
}

// findings describes the findings within a scope, and compares their number with the counters.
func (w *world) findings(within core.UID, filter *inventory.FindingFilter) string {
	w.Helper()
	w.settle()
	page, err := w.p.Findings.List(w.operator(), core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: within}, Filter: filter, OrderBy: "uid"})
	must(w, err)
	if page.TotalCount != int64(len(page.Items)) {
		w.Errorf("the total is %d, and there are %d findings", page.TotalCount, len(page.Items))
	}
	all := make([]string, len(page.Items))
	for i, f := range page.Items {
		all[i] = fmt.Sprintf("%s %s@%s %s", f.VulnerabilityID, f.Package, f.InstalledVersion, strings.TrimPrefix(string(f.State), "FINDING_STATE_"))
		if f.Basis == inventory.BasisName {
			all[i] += " by name"
		}
		if f.IsFixable() {
			all[i] += " fixed in " + strings.Join(f.FixedVersions, ",")
		}
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

func (w *world) expect(what, got, want string) {
	w.Helper()
	if got != want {
		w.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestFindingsFollowTagsPackagesAndAdvisories(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		shop := w.group(acme.uid)
		repo := w.repo(shop)
		all := func() string { return w.findings(acme.uid, nil) }
		w.sbom(repo, digest(1), "left-pad@1.2.0", "express@4.0.0")
		w.advise(acme.uid, fixedIn("CVE-1", "left-pad", "1.3.0"), fixedIn("CVE-2", "express", "3.9.0"))
		w.expect("an image without a tag", all(), "")
		old := w.point(repo, "old", digest(1))
		w.expect("a tag", all(), "CVE-1 left-pad@1.2.0 OPEN fixed in 1.3.0")
		w.expectCounters(repo)
		w.advise(acme.uid, fixedIn("CVE-3", "express", "4.0.1"))
		w.expect("a new advisory", all(), "CVE-1 left-pad@1.2.0 OPEN fixed in 1.3.0; CVE-3 express@4.0.0 OPEN fixed in 4.0.1")
		w.sbom(repo, digest(2), "left-pad@1.3.0", "express@4.0.1")
		w.point(repo, "new", digest(2))
		w.point(repo, "latest", digest(1))
		w.expect("two tags of an image and one that is fixed", all(), "CVE-1 left-pad@1.2.0 OPEN fixed in 1.3.0; CVE-3 express@4.0.0 OPEN fixed in 4.0.1")
		w.point(repo, "latest", digest(2))
		must(t, w.p.Tags.Delete(w.operator(), old))
		w.expect("without tags of the old image", all(), "")
		w.point(repo, "old", digest(1))
		changed := fixedIn("CVE-1", "left-pad", "1.1.0")
		changed.UpdateTime = core.At(epoch.AddDate(1, 0, 0))
		w.advise(acme.uid, changed)
		w.expect("an advisory that changes", all(), "CVE-3 express@4.0.0 OPEN fixed in 4.0.1")
		w.expect("what was resolved", w.findings(acme.uid, &inventory.FindingFilter{States: []inventory.FindingState{inventory.FindingResolved}}), "CVE-1 left-pad@1.2.0 RESOLVED fixed in 1.3.0")
		withdrawn := fixedIn("CVE-3", "express", "4.0.1")
		withdrawn.UpdateTime, withdrawn.DeleteTime = core.At(epoch.AddDate(1, 0, 0)), core.At(epoch)
		w.advise(acme.uid, withdrawn)
		w.expect("an advisory that is withdrawn", all(), "")
		w.sbom(repo, digest(1), "left-pad@1.0.0")
		w.expect("another SBOM", all(), "CVE-1 left-pad@1.0.0 OPEN fixed in 1.1.0")
		w.advise("", fixedIn("CVE-4", "left-pad", "1.0.1"))
		w.expect("a feed for all", all(), "CVE-1 left-pad@1.0.0 OPEN fixed in 1.1.0; CVE-4 left-pad@1.0.0 OPEN fixed in 1.0.1")
		w.expectCounters(acme.uid)
	})
}

// What an image holds is compared with what was used of it until its own task ends, whatever else
// looks at the image before.
func TestAReplacedSBOMIsSeenAlsoAfterAnotherLookAtItsImage(t *testing.T) {
	for name, look := range map[string]func(w *world, repo core.UID){
		"an advisory": func(w *world, repo core.UID) {
			w.advise(repo.Parent(), fixedIn("CVE-2", "left-pad", "2.0.0"))
			_, err := w.p.Findings.Reconcile(w.operator())
			must(w, err)
			w.sbom(repo, digest(1), "express@4.0.0")
		},
		"a decision": func(w *world, repo core.UID) {
			w.sbom(repo, digest(1), "express@4.0.0")
			_, err := w.p.Findings.Update(w.operator(), inventory.FindingUpdate{
				Within: repo, Where: &inventory.FindingFilter{Packages: []string{"left-pad"}},
				Change: fieldmask.TypedInput(&inventory.Finding{State: inventory.FindingInTriage}, "state"),
			})
			must(w, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEachEngine(t, func(t *testing.T, w *world) {
				acme := w.found("acme")
				repo := w.repo(acme.uid)
				w.sbom(repo, digest(1), "left-pad@1.0.0")
				w.point(repo, "latest", digest(1))
				w.advise(acme.uid, fixedIn("CVE-1", "left-pad", "1.3.0"))
				w.settle()
				look(w, repo)
				w.settle()
				w.advise(acme.uid, fixedIn("CVE-3", "express", "4.0.1"), fixedIn("CVE-4", "left-pad", "3.0.0"))
				w.expect("the new packages", w.findings(acme.uid, nil), "CVE-3 express@4.0.0 OPEN fixed in 4.0.1")
				w.expectCounters(acme.uid)
			})
		})
	}
}

// An organization whose tasks fail keeps no other one waiting, wherever it stands among them.
func TestTasksThatFailKeepNoOtherOrganization(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		orgs := []org{w.found("one"), w.found("two"), w.found("three")}
		slices.SortFunc(orgs, func(a, b org) int { return strings.Compare(string(a.uid), string(b.uid)) })
		for _, o := range orgs {
			repo := w.repo(o.uid)
			w.sbom(repo, digest(1), "left-pad@1.0.0")
			w.point(repo, "latest", digest(1))
			w.advise(o.uid, fixedIn("CVE-1", "left-pad", "1.3.0"))
		}
		_, err := w.raw().Exec("UPDATE advisory SET affected = '{' WHERE uid IN (SELECT a.uid FROM advisory a ORDER BY a.uid LIMIT 2)")
		must(t, err)
		if err := w.p.Findings.Settle(w.operator()); err == nil || strings.Count(err.Error(), "findings of ") != 2 {
			t.Errorf("the tasks of two organizations fail with %v", err)
		}
		page, err := w.p.Findings.List(w.operator(), core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: orgs[2].uid}})
		if err != nil || len(page.Items) != 1 {
			t.Errorf("the third organization has %d findings, want 1 (%v)", len(page.Items), err)
		}
	})
}

// expectCounters compares what is counted with what there is.
func (w *world) expectCounters(within core.UID) {
	w.Helper()
	wrong, err := w.store.Recount(w.Context())
	must(w, err)
	if wrong != 0 {
		w.Errorf("%d counters were wrong", wrong)
	}
	changed, err := w.p.Findings.Review(w.operator())
	must(w, err)
	if changed != 0 {
		w.Errorf("a review has found %d findings that were wrong", changed)
	}
	summary, err := w.p.Findings.Summarize(w.operator(), within)
	must(w, err)
	page, err := w.p.Findings.List(w.operator(), core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: within}, PageSize: 500})
	must(w, err)
	images, repos, open := map[core.ImageKey]inventory.OpenCounts{}, map[core.UID]bool{}, int64(0)
	for _, f := range page.Items {
		if f.IsOpen() {
			open++
			var one inventory.OpenCounts
			one[max(f.Severity.Rating.Rank(), 0)] = 1
			images[f.Image()], repos[f.Repo] = images[f.Image()].Plus(one), true
		}
	}
	tags, err := w.p.Tags.List(w.operator(), core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{DescendantsOf: within}, PageSize: 500})
	must(w, err)
	for _, t := range tags.Items {
		if want := images[core.ImageKey{Repo: t.UID.Parent(), Digest: t.Digest}].Text(); t.OpenSeverity != want {
			w.Errorf("the tag %s shows the open findings %q, want %q", t.Name, t.OpenSeverity, want)
		}
	}
	if summary.Open.Total != open || summary.AffectedImages != int64(len(images)) || summary.AffectedRepos != int64(len(repos)) {
		w.Errorf("the summary is %+v, and there are %d open findings of %d images in %d repos", summary, open, len(images), len(repos))
	}
	held, err := w.p.Advisories.Summarize(w.operator(), within)
	must(w, err)
	advisories, err := w.p.Advisories.List(w.operator(), core.ListRequest[*inventory.AdvisoryFilter]{UIDP: core.UIDFilter{DescendantsOf: within}})
	must(w, err)
	if total := held.Open.Total + held.Fixed.Total + held.NotAffected.Total; total != advisories.TotalCount {
		w.Errorf("the summary of the advisories has %d of them, and there are %d", total, advisories.TotalCount)
	}
}

func TestFindingsByNameAreOpenAndFixable(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		nginx := w.namedRepo(acme.uid, "nginx")
		w.point(nginx, "latest", digest(1))
		fixed := &inventory.Advisory{AdvisoryID: "CVE-1", ArtifactName: "nginx", Events: []inventory.AdvisoryEvent{{Fixed: &inventory.Fixed{FixedVersion: "1.2"}}}}
		w.advise(acme.uid, fixed, &inventory.Advisory{AdvisoryID: "CVE-2", ArtifactName: "openssl"}, &inventory.Advisory{AdvisoryID: "CVE-3", ArtifactName: digest(1)})
		w.expect("the name of a repo", w.findings(acme.uid, nil), "CVE-1 nginx@ OPEN by name fixed in 1.2; CVE-3 "+digest(1)+"@ OPEN by name")
		must(t, importImages(w, &inventory.Image{Repo: nginx, Digest: digest(1), Packages: []string{"OpenSSL", "openssl"}}))
		w.expect("names of packages", w.findings(acme.uid, nil), "CVE-2 openssl@ OPEN by name; CVE-3 "+digest(1)+"@ OPEN by name")
		w.expectCounters(acme.uid)
	})
}

// A random history of all that changes findings ends with the findings that follow from its end.
func TestFindingsAreRightAfterAnyHistory(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		r := rand.New(rand.NewPCG(1, 2))
		acme, other := w.found("acme"), w.found("other")
		var repos []core.UID
		for _, group := range []core.UID{acme.uid, w.group(acme.uid), other.uid} {
			repos = append(repos, w.repo(group), w.repo(group))
		}
		type tagOf struct{ repo, uid core.UID }
		tags := map[string]tagOf{}
		names := []string{"a", "b", "c", "d"}
		for step := range 150 {
			repo := repos[r.IntN(len(repos))]
			switch r.IntN(6) {
			case 0, 1:
				name := names[r.IntN(3)]
				tags[string(repo)+name] = tagOf{repo, w.point(repo, name, digest(1+r.IntN(4)))}
			case 2:
				for key, tag := range tags {
					must(t, w.p.Tags.Delete(w.operator(), tag.uid))
					delete(tags, key)
					break
				}
			case 3:
				var held []string
				for _, name := range names {
					if r.IntN(2) == 0 {
						held = append(held, fmt.Sprintf("%s@1.%d.0", name, r.IntN(5)))
					}
				}
				w.sbom(repo, digest(1+r.IntN(4)), held...)
			case 4:
				a := fixedIn(fmt.Sprintf("CVE-%d", r.IntN(8)), names[r.IntN(len(names))], fmt.Sprintf("1.%d.0", r.IntN(6)))
				if a.UpdateTime = core.At(epoch.AddDate(1, 0, step)); r.IntN(4) == 0 {
					a.DeleteTime = core.At(epoch)
				}
				w.advise([]core.UID{acme.uid, other.uid, ""}[r.IntN(3)], a)
			case 5:
				_, err := w.p.Findings.Reconcile(w.operator())
				must(t, err)
			}
		}
		w.settle()
		w.expectCounters(acme.uid)
		w.expectCounters(other.uid)
		if len(repos) > 0 && w.findings(acme.uid, nil)+w.findings(other.uid, nil) == "" {
			t.Error("the history has no findings in the end, and shows nothing")
		}
	})
}
