package platform_test

import (
	"slices"
	"testing"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
	"atrium/platform/inventory"
)

func TestArchitecturesAreSpelledAsDocumented(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"amd64": "amd64", "arm64": "arm64", "arm64v8": "arm64", "arm64v9": "arm64v9", "armv7": "armv7", "arm32v7": "armv7", "arm32v5": "armv5",
		"i386": "386", "386": "386", "s390x": "s390x", "windows-amd64": "windows-amd64", "windows-arm64v8": "windows-arm64", "": "",
		"x86_64": "amd64", "x86-64": "amd64", "x86-64-v3": "amd64v3", "X64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "ARM64": "arm64", "armhf": "armv7", "armel": "armv6",
		"i686": "386", "x86": "386", "arm": "armv7", "arm32": "armv7", "armv7l": "armv7", "ppc64el": "ppc64le", "mips64el": "mips64le",
		"linux/amd64": "amd64", "linux/arm/v6": "armv6", "arm/v7": "armv7", "arm/6": "armv6", "armhf/v6": "armv6", "linux/arm64/v8": "arm64", "windows/x86_64": "windows-amd64",
		"Windows-x86-64": "windows-amd64", "linux-386": "386", "linux/386": "386", "Strange": "strange",
	} {
		if got := ecosystem.ArchitectureName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestSizesAreFoundByAllNamesOfAnArchitecture(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		check := func(key core.ImageKey) {
			t.Helper()
			for asked, want := range map[string]inventory.ImageSize{
				"": {Size: 1, Architecture: "amd64"}, "arm64": {Size: 2, Architecture: "arm64"}, "arm64v8": {Size: 2, Architecture: "arm64"},
				"armv7": {Size: 3, Architecture: "armv7"}, "arm32v7": {Size: 3, Architecture: "armv7"}, "armhf": {Size: 3, Architecture: "armv7"},
				"X86_64": {Size: 1, Architecture: "amd64"}, "linux/aarch64": {Size: 2, Architecture: "arm64"},
			} {
				if got, err := w.p.Images.Size(acme.owner, key, asked); err != nil || got != want {
					t.Errorf("%q: %+v, want %+v (%v)", asked, got, want, err)
				}
			}
			image, err := w.p.Images.Get(acme.owner, key)
			if err != nil || !slices.Equal(image.ArchitectureNames(), []string{"amd64", "arm64", "armv7"}) {
				t.Errorf("got %+v (%v), want ArchitectureNames %v", image, err, []string{"amd64", "arm64", "armv7"})
			}
			_, err = w.p.Images.Size(acme.owner, key, "armv6")
			expectRefused(t, "another architecture", err, core.CodeNotFound)
		}
		made := core.ImageKey{Repo: repo, Digest: digest(2)}
		bring := func(want string, names ...string) {
			t.Helper()
			image := &inventory.Image{Repo: made.Repo, Digest: made.Digest}
			for i, name := range names {
				image.Architectures = append(image.Architectures, inventory.Architecture{Name: name, Size: int64(i + 1)})
			}
			got, err := w.p.Registry.ImportImages(w.operator(), []*inventory.Image{image})
			expectImported(t, "images", got, err, want)
			check(made)
		}
		bring(mustSucceed(1, 0, 0, 0), "amd64", "arm64v8", "arm32v7", "arm64")
		bring(mustSucceed(0, 0, 1, 0), "amd64", "arm64", "armv7")
		bring(mustSucceed(0, 0, 1, 0), "x86_64", "aarch64", "armhf", "ARM64", "linux/arm/v7")

		_, err := w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{{AdvisoryID: "A", ArtifactName: "a", ArtifactArchitecture: "x86_64"}})
		must(t, err)
		page, err := w.p.Advisories.List(acme.owner, core.ListRequest[*inventory.AdvisoryFilter]{Filter: &inventory.AdvisoryFilter{ArtifactArchitectures: []string{"linux/AMD64"}}})
		if err != nil || len(page.Items) != 1 || page.Items[0].ArtifactArchitecture != "amd64" {
			t.Errorf("advisories of linux/AMD64: %+v (%v), want one of amd64", page.Items, err)
		}
	})
}

func importImages(w *world, images ...*inventory.Image) error {
	_, err := w.p.Registry.ImportImages(w.operator(), images)
	return err
}
