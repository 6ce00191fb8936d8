package sbom_test

import (
	"testing"

	"atrium/internal/sbom"
)

func TestWrittenPackageURLsAreReadAgain(t *testing.T) {
	t.Parallel()
	for _, p := range []sbom.Package{
		{Name: "left-pad", Ecosystem: "npm", Version: "1.3.0"}, {Name: "@babel/core", Ecosystem: "npm"}, {Name: "org.slf4j:slf4j-api", Ecosystem: "Maven", Version: "1.0"},
		{Name: "github.com/acme/tool/v2", Ecosystem: "Go", Version: "v2.0.1"}, {Name: "openssl", Ecosystem: "Debian:12", Version: "1:3.0-1+deb12u1"},
		{Name: "musl", Ecosystem: "Alpine:v3.18", Version: "1.2.3-r4"}, {Name: "bash", Ecosystem: "Ubuntu:22.04", Version: "5.1"}, {Name: "glibc", Ecosystem: "Rocky Linux:9"},
		{Name: "requests", Ecosystem: "PyPI", Version: "vers:pypi/>=1.0|<2.0"}, {Name: "serde", Ecosystem: "crates.io", Version: "1.0.0"}, {Name: "actions/checkout", Ecosystem: "GitHub Actions", Version: "v4"},
		{Name: "bash", Ecosystem: "Red Hat:enterprise_linux:9", Version: "1"}, {Name: "bash", Ecosystem: "SUSE:Linux Enterprise Server 15 SP4"}, {Name: "bash", Ecosystem: "SUSE:Linux Enterprise Micro 5.3"},
		{Name: "bash", Ecosystem: "openSUSE:Leap 15.5"}, {Name: "bash", Ecosystem: "openSUSE:Tumbleweed"}, {Name: "bash", Ecosystem: "AlmaLinux:9"}, {Name: "bash", Ecosystem: "Amazon Linux:2023"},
		{Name: "openssl", Ecosystem: "Red Hat:enterprise_linux:9::appstream", Version: "3.0"}, {Name: "openssl", Ecosystem: "SUSE:Linux Enterprise Server 15 SP4"}, {Name: "bash", Ecosystem: "Ubuntu:Pro:22.04:LTS"},
		{Name: "a:b", Ecosystem: "Maven:https://repo.example.com/x", Version: "1"}, {Name: "kernel", Ecosystem: "Linux"}, {Name: "cups", Ecosystem: "openSUSE:Leap 15.5"}, {Name: "x", Ecosystem: "Red Hat"},
		{Name: "checkout", Version: "2.4"}, {Name: "acme/checkout"}, {Name: "wolfi-base", Ecosystem: "Wolfi"},
	} {
		text := sbom.WritePURL(p.Name, p.Ecosystem, p.Version)
		read, image, err := sbom.ReadPURL(text)
		if err != nil || image != (sbom.Image{}) || read.Name != p.Name || read.Ecosystem != p.Ecosystem || read.Version != p.Version {
			t.Errorf("%s: got %+v %v, want %+v", text, read, err, p)
		}
	}
	const digest = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	for _, image := range []sbom.Image{{Digest: digest}, {Name: "checkout"}, {Name: "acme/checkout"}, {Name: "ghcr.io/acme/checkout"}, {Name: "localhost:5000/checkout"}} {
		if _, found, err := sbom.ReadPURL(sbom.WriteImagePURL(image)); found != image || err != nil {
			t.Errorf("%s: got %+v %v, want %+v", sbom.WriteImagePURL(image), found, err, image)
		}
	}
}
