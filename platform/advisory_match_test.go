package platform_test

import (
	"fmt"
	"testing"

	"atrium/platform"
)

func TestReposOfOneNameDoNotShareAdvisoriesOfOneOfThem(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		shop, pay := w.group(acme.uid), w.group(acme.uid)
		advise := func(group platform.UID, id, artifact string) {
			_, err := w.p.Advisories.Import(w.operator(), group, []*platform.Advisory{{AdvisoryID: id, ArtifactName: artifact}})
			must(t, err)
		}
		read := func(uid platform.UID) *platform.Repo {
			repo, err := w.p.Repos.Get(w.operator(), uid)
			must(t, err)
			return repo
		}
		repos := []*platform.Repo{read(w.namedRepo(shop, "billing")), read(w.namedRepo(pay, "billing")), read(w.namedRepo(acme.uid, "billing"))}
		tags := make([]*platform.Tag, len(repos))
		for i, repo := range repos {
			made, err := w.p.Tags.Create(acme.owner, repo.UID, body[*platform.Tag](`{"name": "latest", "digest": %q}`, digest(i+1)))
			must(t, err)
			tags[i] = made
		}
		advise(acme.uid, "EVERYWHERE", "billing")
		advise(shop, "SHOP", "billing")
		advise(pay, "PAY", "billing")
		advise(acme.uid, "DIGEST", digest(1))
		advise(pay, "ELSEWHERE", digest(1))
		advise(acme.uid, "PACKAGE", "openssl")
		want := func(what string, pages []platform.Page[*platform.Advisory], errs []error, want ...string) {
			t.Helper()
			for i, page := range pages {
				must(t, errs[i])
				var got []string
				for _, a := range page.Items {
					got = append(got, a.AdvisoryID)
				}
				if fmt.Sprint(got) != want[i] {
					t.Errorf("%s %d has %v, want %s", what, i, got, want[i])
				}
			}
		}
		req := platform.ListRequest[*platform.AdvisoryFilter]{OrderBy: "advisory_id"}
		pages, errs := w.p.Advisories.ListOfRepos(acme.owner, req, repos)
		want("repo", pages, errs, "[EVERYWHERE SHOP]", "[EVERYWHERE PAY]", "[EVERYWHERE]")
		pages, errs = w.p.Advisories.ListOfTags(acme.owner, req, tags)
		want("a tag without packages,", pages, errs, "[DIGEST EVERYWHERE SHOP]", "[EVERYWHERE PAY]", "[EVERYWHERE]")
		must(t, importImages(w, &platform.Image{Repo: repos[0].UID, Digest: digest(1), Packages: []string{"openssl", "zlib"}}))
		pages, errs = w.p.Advisories.ListOfTags(acme.owner, req, tags)
		want("a tag", pages, errs, "[DIGEST PACKAGE]", "[EVERYWHERE PAY]", "[EVERYWHERE]")
		_, errs = w.p.Advisories.ListOfTags(w.with(w.role(acme.uid, platform.CapAdvisoriesList, platform.CapTagList), acme.uid, acme.uid), req, tags[:1])
		expectRefused(t, "advisories without the image", errs[0], platform.CodePermissionDenied)
		_, errs = w.p.Advisories.ListOfTags(w.with(w.role(acme.uid, platform.CapRepoList, platform.CapManifestMetadataList), acme.uid, acme.uid), req, tags[:1])
		expectRefused(t, "advisories without their capability", errs[0], platform.CodePermissionDenied)
	})
}

func importImages(w *world, images ...*platform.Image) error {
	_, err := w.p.Images.Import(w.operator(), images)
	return err
}
