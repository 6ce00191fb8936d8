package platform_test

import (
	"slices"
	"testing"

	"atrium/platform"
)

func TestArchitecturesAreSpelledAsDocumented(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"amd64": "amd64", "arm64": "arm64", "arm64v8": "arm64", "arm64v9": "arm64v9", "armv7": "armv7", "arm32v7": "armv7", "arm32v5": "armv5",
		"i386": "386", "386": "386", "s390x": "s390x", "windows-amd64": "windows-amd64", "windows-arm64v8": "windows-arm64", "": "",
	} {
		if got := platform.ArchitectureName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestSizesAreFoundByBothNamesOfAnArchitecture(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		check := func(key platform.ImageKey) {
			t.Helper()
			for asked, want := range map[string]platform.ImageSize{
				"": {Size: 1, Architecture: "amd64"}, "arm64": {Size: 2, Architecture: "arm64"}, "arm64v8": {Size: 2, Architecture: "arm64"},
				"armv7": {Size: 3, Architecture: "armv7"}, "arm32v7": {Size: 3, Architecture: "armv7"},
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
			expectRefused(t, "another architecture", err, platform.CodeNotFound)
		}
		made := platform.ImageKey{Repo: repo, Digest: digest(2)}
		bring := func(want string, names ...string) {
			t.Helper()
			image := &platform.Image{Repo: made.Repo, Digest: made.Digest}
			for i, name := range names {
				image.Architectures = append(image.Architectures, platform.Architecture{Name: name, Size: int64(i + 1)})
			}
			got, err := w.p.Images.Import(w.operator(), []*platform.Image{image})
			expectImported(t, "images", got, err, want)
			check(made)
		}
		bring(mustSucceed(1, 0, 0, 0), "amd64", "arm64v8", "arm32v7", "arm64")
		bring(mustSucceed(0, 0, 1, 0), "amd64", "arm64", "armv7")
	})
}
