package platform_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/platform/reports"
)

// readSBOM describes what is read of the SBOM of an image.
func (w *world) readSBOM(ctx context.Context, image string, architecture ...string) (string, error) {
	w.Helper()
	req := reports.SBOMRequest{Image: image}
	if len(architecture) > 0 {
		req.Architecture = &architecture[0]
	}
	var text strings.Builder
	err := w.p.SBOMs.Read(ctx, req, func(page *reports.SBOMPage) error {
		if text.Len() == 0 {
			of := page.Of
			fmt.Fprintf(&text, "%s %s %q %v %d %x\n", of.RepoName, of.Digest[:12], of.Architecture, of.Ecosystems, of.Introduced, of.Identity)
		}
		for _, p := range page.Packages {
			direct := "?"
			if p.Direct != nil {
				direct = fmt.Sprint(*p.Direct)
			}
			source := ""
			if p.SourceVersion != nil {
				source = p.SourceVersion.Package.Name + "@" + p.SourceVersion.Version
			}
			fmt.Fprintf(&text, "%s@%s %s %s %v %q %s direct %s by %v in %q from %q\n", p.Version.Package.Name, p.Version.Version, p.Version.Package.Ecosystem, p.PURL, p.Licenses, p.Supplier, p.Scope, direct, p.IntroducedBy, p.Layer, source)
		}
		return nil
	})
	return text.String(), err
}

// bringSBOM imports a document about an image for an architecture.
func (w *world) bringSBOM(repo core.UID, digest, architecture string, packages ...inventory.InstalledPackage) {
	w.Helper()
	_, err := w.p.Registry.ImportSBOMs(w.operator(), []*registry.ImportedSBOM{{Repo: repo, Digest: digest, Architecture: architecture, Format: "SPDX 2.3", Packages: packages}})
	must(w, err)
}

// manyPackages are more than one page has, and each needs others.
func manyPackages() []inventory.InstalledPackage {
	yes, no := true, false
	all := make([]inventory.InstalledPackage, 2500)
	for i := range all {
		all[i] = inventory.InstalledPackage{
			Name: fmt.Sprintf("p%04d", i*7%len(all)), Version: "1.0", Ecosystem: "npm", Licenses: []string{"MIT", "odd license"}, Supplier: "Acme", Scope: inventory.ScopeRequired,
			Placement: inventory.Placement{Direct: &no, IntroducedBy: []int{0, i / 2}, Layer: "sha256:a"},
		}
	}
	all[0].Direct, all[0].IntroducedBy = &yes, []int{}
	all[1] = inventory.InstalledPackage{Name: "libssl3", Version: "3.0", Ecosystem: "Debian:12", PURL: "pkg:deb/debian/libssl3@3.0", SourceName: "openssl", SourceVersion: "3.0-1"}
	return all
}

func TestTheSBOMOfAnImageIsTheSameInEveryDatabase(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		packages := manyPackages()
		repo, beside := w.namedRepo(acme.uid, "checkout"), w.namedRepo(other.uid, "checkout")
		w.bringSBOM(repo, digest(1), "", packages...)
		// The other organization gets the packages in another order, and knows some of them already.
		w.sbom(beside, digest(2), "p0001@1.0", "p0002@2.0")
		moved, places := make([]inventory.InstalledPackage, 0, len(packages)), make([]int, len(packages))
		for i := range packages {
			from := (i + 1234) % len(packages)
			places[from] = i
			moved = append(moved, packages[from])
		}
		for i := range moved {
			by := []int{}
			for _, place := range moved[i].IntroducedBy {
				by = append(by, places[place])
			}
			if moved[i].IntroducedBy != nil {
				moved[i].IntroducedBy = by
			}
		}
		w.bringSBOM(beside, digest(1), "", moved...)
		one, err := w.readSBOM(acme.owner, "acme/checkout@"+digest(1))
		must(t, err)
		two, err := w.readSBOM(other.owner, "other/checkout@"+digest(1))
		must(t, err)
		if one != two {
			t.Errorf("the SBOMs differ:\n%.500s\n%.500s", one, two)
		}
		lines := strings.Split(strings.TrimSpace(one), "\n")
		if len(lines) != 1+len(packages) || !strings.HasPrefix(lines[1], `libssl3@3.0 Debian:12 pkg:deb/debian/libssl3@3.0 [] ""  direct ? by [] in "" from "openssl@3.0-1"`) ||
			!strings.HasPrefix(lines[2], `p0000@1.0 npm  [MIT odd license] "Acme" PACKAGE_SCOPE_REQUIRED direct true by [] in "sha256:a"`) || !strings.Contains(lines[0], `"" [Debian:12 npm] `) {
			t.Errorf("%d lines, the first of which are\n%s", len(lines), strings.Join(lines[:4], "\n"))
		}
		if three, err := w.readSBOM(w.operator(), string(repo)+"@"+digest(1)); err != nil || three != one {
			t.Errorf("an operator reads %v %.300s", err, three)
		}
	})
}

// Whoever may list the packages of an image may read its SBOM. For the others, the image is not there.
func TestTheSBOMOfAnImageIsForThoseWhoMaySeeItsPackages(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		shop := w.group(acme.uid)
		repo := w.namedRepo(shop, "checkout")
		group, err := w.p.Groups.Get(acme.owner, shop)
		must(t, err)
		path := "acme/" + group.Name + "/checkout"
		w.sbom(repo, digest(1), "a@1.0.0")
		tag := w.point(repo, "1.4", digest(1))
		w.point(repo, "bare", digest(2))
		some := w.memberWith(w.role(acme.uid, core.CapGroupsList, core.CapRepoList, core.CapTagList), acme.uid, acme.uid)
		for _, image := range []string{path + "@" + digest(1), path + ":1.4", path + ":2@" + digest(1), string(repo) + "@" + digest(1), string(repo) + ":1.4", string(tag)} {
			if text, err := w.readSBOM(acme.owner, image); err != nil || !strings.Contains(text, "a@1.0.0") {
				t.Errorf("the owner reads %s: %v %s", image, err, text)
			}
			for _, missing := range []struct {
				ctx   context.Context
				image string
			}{{other.owner, image}, {acme.owner, strings.NewReplacer(path, path+"s", digest(1), digest(9), "1.4", "1.5", string(repo), string(acme.uid)+"/0000000000000001/0000000000000002").Replace(image)}} {
				_, err := w.readSBOM(missing.ctx, missing.image)
				var e *core.Error
				if !errors.As(err, &e) || e.Code != core.CodeNotFound || e.Reason != "NOT_FOUND" || e.Resource.Kind != "Image" || e.Message != "Not found: image "+missing.image+" does not exist" {
					t.Errorf("%s: %+v", missing.image, err)
				}
			}
			if _, err := w.readSBOM(some, image); core.AsError(err).Code != core.CodePermissionDenied {
				t.Errorf("%s for somebody without manifest.metadata.list: %v", image, err)
			}
		}
		if _, err := w.readSBOM(acme.owner, path+":bare"); core.AsError(err).Code != core.CodeNotFound || core.AsError(err).Message != "Not found: image "+path+":bare has no SBOM" {
			t.Errorf("an image without an SBOM: %v", err)
		}
		for _, image := range []string{"", path, path + "@", path + ":", "@" + digest(1), ":1", path + "@sha256:12"} {
			if _, err := w.readSBOM(acme.owner, image); !strings.Contains(fmt.Sprint(err), "image") || core.AsError(err).Code != core.CodeInvalidArgument {
				t.Errorf("%q: %v", image, err)
			}
		}
		found, errs := w.p.SBOMs.ListOfImages(other.owner, []core.ImageKey{{Repo: repo, Digest: digest(1)}})
		if errs[0] == nil || found[0] != nil {
			t.Errorf("another organization lists %v %v", found, errs)
		}
	})
}

func TestAnImageHasAnSBOMForEachArchitecture(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.namedRepo(acme.uid, "checkout")
		for name, architecture := range map[string]string{"a": "amd64", "b": "arm64", "c": ""} {
			w.bringSBOM(repo, digest(1), architecture, inventory.InstalledPackage{Name: name})
		}
		image := "acme/checkout@" + digest(1)
		for asked, want := range map[string]string{"amd64": "a@", "aarch64": "b@", "all": "c@"} {
			if text, err := w.readSBOM(acme.owner, image, asked); err != nil || !strings.Contains(text, "\n"+want) {
				t.Errorf("%s: %v %s", asked, err, text)
			}
		}
		if _, err := w.readSBOM(acme.owner, image); !strings.Contains(fmt.Sprint(err), "must be one of all, amd64, arm64") {
			t.Errorf("without an architecture: %v", err)
		}
		if _, err := w.readSBOM(acme.owner, image, "s390x"); core.AsError(err).Code != core.CodeNotFound || !strings.Contains(err.Error(), "has no SBOM for s390x, only for all, amd64, arm64") {
			t.Errorf("another architecture: %v", err)
		}
		found, errs := w.p.SBOMs.ListOfImages(acme.owner, []core.ImageKey{{Repo: repo, Digest: digest(2)}, {Repo: repo, Digest: digest(1)}})
		if errs[0] != nil || errs[1] != nil || len(found[0]) != 0 || len(found[1]) != 3 || found[1][1].Architecture != "amd64" || found[1][1].Format != "SPDX 2.3" || found[1][1].CreateTime.IsZero() {
			t.Errorf("listed %+v %v", found, errs)
		}
	})
}
