package inventory

import "testing"

func TestANameOfImagesIsThatOfARepo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		image, repo string
		sources     []string
		want        bool
	}{
		{"ghcr.io/acme/shop", "shop", nil, true}, {"ghcr.io/acme/shop", "acme/shop", nil, true}, {"ghcr.io/acme/shop", "ghcr.io/acme/shop", nil, true}, {"shop", "shop", nil, true},
		{"ghcr.io/acme/shop", "op", nil, false}, {"ghcr.io/acme/shop", "other/shop", nil, false}, {"shop", "acme/shop", nil, false}, {"ghcr.io/acme/shop", "acme", nil, false},
		// Where the images came from is known.
		{"ghcr.io/acme/shop", "renamed", []string{"quay.io/x", "ghcr.io/acme/shop"}, true}, {"acme/shop", "renamed", []string{"ghcr.io/acme/shop"}, true},
		{"shop", "acme/shop", []string{"ghcr.io/acme/shop"}, true}, {"ghcr.io/acme/shop", "shop", []string{"ghcr.io/other/shop"}, false},
	} {
		if got := isNameOf(c.image, &Repo{Name: c.repo}, c.sources); got != c.want {
			t.Errorf("%s is %t the name of %s from %q", c.image, got, c.repo, c.sources)
		}
	}
}

// What is not known is never shown as harmless.
func TestARuleForAReleaseIsForNoOtherOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule, installed string
		want            bool
	}{
		{"", "", true}, {"", "Debian:12", true}, {"Debian", "Debian:12", true}, {"Debian:12", "Debian:12", true}, {"Ubuntu:22.04", "Ubuntu:22.04:LTS", true}, {"Debian", "Debian", true},
		{"Debian:12", "Debian", false}, {"Debian:11", "Debian:12", false}, {"npm", "PyPI", false}, {"Red Hat:enterprise_linux:9", "Red Hat", false},
	} {
		f := &Finding{Repo: "a", Package: "p", Ecosystem: c.installed, InstalledVersion: "1"}
		for _, r := range []*TriageRule{{Scope: "a", Ecosystem: c.rule}, {Scope: "a", Package: "p", Ecosystem: c.rule}} {
			if got := r.isFor(f); got != c.want {
				t.Errorf("a rule for %q is for %q: %t", c.rule, c.installed, got)
			}
		}
	}
}
