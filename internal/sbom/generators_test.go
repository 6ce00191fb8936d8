package sbom

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// describe describes a package with what its ecosystem and its source are.
func (p Package) describe() string {
	text := p.Name + "@" + p.Version
	if p.Ecosystem != "" {
		text += " of " + p.Ecosystem
	}
	if p.SourceName != "" {
		text += " from " + p.SourceName + "@" + p.SourceVersion
	}
	return text
}

// Each generator has its own places for a fact. The documents have the form of those that it writes.
func TestEveryGeneratorIsUnderstood(t *testing.T) {
	t.Parallel()
	const ssl = "libssl3@3.0.9-1 of Debian:12 from openssl@3.0.9-1"
	for name, c := range map[string]struct{ text, packages, remark string }{
		"syft": {`{"bomFormat": "CycloneDX", "specVersion": "1.7", "components": [
			{"type": "library", "name": "libssl3", "version": "3.0.9-1", "purl": "pkg:deb/debian/libssl3@3.0.9-1?arch=amd64&distro=debian-12.1&upstream=openssl"},
			{"type": "library", "name": "github.com/jackc/pgx/v5", "version": "v5.6.0", "purl": "pkg:golang/github.com/jackc/pgx@v5.6.0#v5"},
			{"type": "library", "name": "cloud.google.com/go/compute/metadata", "version": "v0.2.0", "purl": "pkg:golang/cloud.google.com/go@v0.2.0#compute/metadata"},
			{"type": "operating-system", "name": "debian", "version": "12"}]}`,
			"cloud.google.com/go/compute/metadata@v0.2.0 of Go; github.com/jackc/pgx/v5@v5.6.0 of Go; " + ssl, ""},
		"syft before it wrote qualifiers": {`{"bomFormat": "CycloneDX", "specVersion": "1.3", "components": [
			{"type": "library", "name": "libssl3", "version": "3.0.9-1", "purl": "pkg:deb/debian/libssl3@3.0.9-1?arch=amd64",
				"properties": [{"name": "syft:metadata:source", "value": "openssl"}, {"name": "syft:metadata:sourceVersion", "value": ""}]},
			{"type": "library", "name": "serde", "version": "1.0.0", "purl": "pkg:cargo/serde@1.0.0", "properties": [{"name": "syft:metadata:source", "value": "registry+https://example.com"}]},
			{"type": "operating-system", "name": "debian", "version": "12"}]}`,
			ssl + "; serde@1.0.0 of crates.io", ""},
		"Trivy": {`{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [
			{"type": "library", "name": "libssl3", "version": "3.0.9-1", "purl": "pkg:deb/debian/libssl3@3.0.9-1?arch=amd64&distro=debian-12.1", "properties": [
				{"name": "aquasecurity:trivy:SrcName", "value": "openssl"}, {"name": "aquasecurity:trivy:SrcVersion", "value": "3.0.9"}, {"name": "aquasecurity:trivy:SrcRelease", "value": "1"}]},
			{"type": "library", "name": "libcrypt1", "version": "1:4.4.27-1", "purl": "pkg:deb/debian/libcrypt1@4.4.27-1?arch=amd64&distro=debian-12.1&epoch=1", "properties": [
				{"name": "aquasecurity:trivy:SrcName", "value": "libxcrypt"}, {"name": "aquasecurity:trivy:SrcVersion", "value": "4.4.27"}, {"name": "aquasecurity:trivy:SrcRelease", "value": "1"}, {"name": "aquasecurity:trivy:SrcEpoch", "value": "1"}]},
			{"type": "library", "name": "openssl-libs", "version": "1.0.2k-16.el7", "purl": "pkg:rpm/centos/openssl-libs@1.0.2k-16.el7?arch=x86_64&epoch=1&distro=centos-7.6.1810", "properties": [
				{"name": "aquasecurity:trivy:SrcName", "value": "openssl"}, {"name": "aquasecurity:trivy:SrcVersion", "value": "1.0.2k"}, {"name": "aquasecurity:trivy:SrcRelease", "value": "16.el7"}, {"name": "aquasecurity:trivy:SrcEpoch", "value": "1"}]},
			{"type": "library", "name": "libcrypto3", "version": "3.0.8-r0", "purl": "pkg:apk/alpine/libcrypto3@3.0.8-r0?arch=x86_64&distro=3.17.3", "properties": [
				{"name": "aquasecurity:trivy:SrcName", "value": "openssl"}, {"name": "aquasecurity:trivy:SrcVersion", "value": "3.0.8-r0"}]},
			{"type": "application", "name": "app/composer.lock", "properties": [{"name": "aquasecurity:trivy:Class", "value": "lang-pkgs"}, {"name": "aquasecurity:trivy:Type", "value": "composer"}]}]}`,
			"libcrypt1@1:4.4.27-1 of Debian:12 from libxcrypt@1:4.4.27-1; libcrypto3@3.0.8-r0 of Alpine:v3.17 from openssl@3.0.8-r0; " + ssl + "; openssl-libs@1:1.0.2k-16.el7 of CentOS:7 from openssl@1:1.0.2k-16.el7",
			"1 of its packages are of CentOS:7, which is not in OSV"},
		"Trivy in SPDX": {`{"spdxVersion": "SPDX-2.3", "packages": [
			{"SPDXID": "SPDXRef-OperatingSystem-1", "name": "debian", "versionInfo": "12.1"},
			{"SPDXID": "SPDXRef-Application-1", "name": "composer", "sourceInfo": "app/composer.lock"},
			{"SPDXID": "SPDXRef-Package-1", "name": "libssl3", "versionInfo": "3.0.9-1", "sourceInfo": "built package from: openssl 3.0.9-1",
				"externalRefs": [{"referenceType": "purl", "referenceLocator": "pkg:deb/debian/libssl3@3.0.9-1?arch=amd64"}]}]}`, ssl, ""},
		"cdxgen": {`{"bomFormat": "CycloneDX", "specVersion": "1.6", "metadata": {"component": {"type": "container", "name": "shop", "components": [{"type": "application", "name": "cart", "purl": "pkg:npm/cart@1.0.0"}]}}, "components": [
			{"type": "library", "group": "debian", "name": "libssl3", "version": "3.0.9-1", "purl": "pkg:deb/debian/libssl3@3.0.9-1?arch=amd64&distro=debian-12&distro_name=bookworm"},
			{"type": "library", "group": "debian", "name": "openssl", "version": "3.0.9-1", "tags": ["source"], "purl": "pkg:deb/debian/openssl@3.0.9-1?arch=amd64&distro=debian-12&distro_name=bookworm"}]}`,
			"cart@1.0.0 of npm; libssl3@3.0.9-1 of Debian:12; openssl@3.0.9-1 of Debian:12", ""},
		"BuildKit": {`{"_type": "https://in-toto.io/Statement/v0.1", "predicateType": "https://spdx.dev/Document", "subject": [{"name": "pkg:docker/shop@1", "digest": {"sha256": "ab"}}],
			"predicate": {"spdxVersion": "SPDX-2.3", "name": "sbom", "documentDescribes": ["SPDXRef-DocumentRoot-Directory-sbom"], "packages": [
				{"SPDXID": "SPDXRef-DocumentRoot-Directory-sbom", "name": "sbom", "primaryPackagePurpose": "FILE"},
				{"SPDXID": "SPDXRef-Package-deb-libssl3", "name": "libssl3", "versionInfo": "3.0.9-1", "sourceInfo": "acquired package info from DPKG DB: /var/lib/dpkg/status", "externalRefs": [
					{"referenceCategory": "SECURITY", "referenceType": "cpe23Type", "referenceLocator": "cpe:2.3:a:libssl3:libssl3:3.0.9-1:*:*:*:*:*:*:*"},
					{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:deb/debian/libssl3@3.0.9-1?arch=amd64&distro=debian-12&upstream=openssl"}]}]}}`, ssl, ""},
		"Docker Scout": {`{"spdxVersion": "SPDX-2.3", "packages": [{"SPDXID": "SPDXRef-1", "name": "openssl", "versionInfo": "3.0.9-1",
			"externalRefs": [{"referenceType": "purl", "referenceLocator": "pkg:deb/debian/openssl@3.0.9-1?os_distro=bookworm&os_name=debian&os_version=12"}]}]}`, "openssl@3.0.9-1 of Debian:12", ""},
		"sbom-tool of Microsoft": {`{"spdxVersion": "SPDX-2.2", "documentDescribes": ["SPDXRef-RootPackage"], "packages": [
			{"SPDXID": "SPDXRef-RootPackage", "name": "shop", "versionInfo": "1.0", "externalRefs": [{"referenceCategory": "PACKAGE_MANAGER", "referenceType": "purl", "referenceLocator": "pkg:swid/Acme/acme.com/shop@1.0?tag_id=7"}]},
			{"SPDXID": "SPDXRef-Package-1", "name": "Newtonsoft.Json", "versionInfo": "13.0.1", "externalRefs": [{"referenceCategory": "PACKAGE_MANAGER", "referenceType": "purl", "referenceLocator": "pkg:nuget/Newtonsoft.Json@13.0.1"}]},
			{"SPDXID": "SPDXRef-Package-2", "name": "Azure.Core", "versionInfo": "1.25.0", "externalRefs": [{"referenceCategory": "PACKAGE_MANAGER", "referenceType": "purl", "referenceLocator": "pkg:nuget/Azure.Core%401.25.0"}]}]}`,
			"Azure.Core@1.25.0 of NuGet; Newtonsoft.Json@13.0.1 of NuGet", ""},
		"bom of Kubernetes": {`{"spdxVersion": "SPDX-2.3", "documentDescribes": ["SPDXRef-Package-image"], "packages": [
			{"SPDXID": "SPDXRef-Package-image", "name": "sha256:ab", "primaryPackagePurpose": "CONTAINER", "externalRefs": [{"referenceType": "purl", "referenceLocator": "pkg:oci/kube-apiserver@sha256%3Aab?arch=amd64"}]},
			{"SPDXID": "SPDXRef-Package-os", "name": "base-files", "versionInfo": "12.4", "externalRefs": [{"referenceType": "purl", "referenceLocator": "pkg:deb/debian/base-files@12.4?arch=amd64&distro=debian"}]},
			{"SPDXID": "SPDXRef-Package-go", "name": "golang.org/x/net", "versionInfo": "v0.17.0", "externalRefs": [{"referenceType": "purl", "referenceLocator": "pkg:golang/golang.org/x/net@v0.17.0?type=module"}]}]}`,
			"base-files@12.4 of Debian; golang.org/x/net@v0.17.0 of Go", "names no source package for any of its 1 packages"},
		"apko": {`{"spdxVersion": "SPDX-2.3", "documentDescribes": ["SPDXRef-Package-image"], "packages": [
			{"SPDXID": "SPDXRef-Package-image", "name": "sha256:ab", "primaryPackagePurpose": "CONTAINER", "externalRefs": [{"referenceType": "purl", "referenceLocator": "pkg:oci/nginx@sha256%3Aab"}]},
			{"SPDXID": "SPDXRef-OperatingSystem-wolfi", "name": "wolfi", "versionInfo": "20230201", "primaryPackagePurpose": "OPERATING-SYSTEM"},
			{"SPDXID": "SPDXRef-Package-libssl3", "name": "libssl3", "versionInfo": "3.3.0-r8", "externalRefs": [{"referenceType": "purl", "referenceLocator": "pkg:apk/wolfi/libssl3@3.3.0-r8?arch=x86_64&distro=wolfi"}]}]}`,
			"libssl3@3.3.0-r8 of Wolfi", "names no source package for any of its 1 packages"},
		"the dependency graph of GitHub": {`{"sbom": {"spdxVersion": "SPDX-2.3", "name": "com.github.acme/shop", "packages": [
			{"SPDXID": "SPDXRef-github-acme-shop", "name": "com.github.acme/shop", "versionInfo": "main", "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:github/acme/shop@main"}]},
			{"SPDXID": "SPDXRef-npm-react", "name": "react", "versionInfo": "18.2.0", "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:npm/react@18.2.0"}]},
			{"SPDXID": "SPDXRef-action", "name": "actions/checkout", "versionInfo": "4.*.*", "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:githubactions/actions/checkout@4.%2A.%2A"}]}],
			"relationships": [{"relationshipType": "DESCRIBES", "spdxElementId": "SPDXRef-DOCUMENT", "relatedSpdxElement": "SPDXRef-github-acme-shop"}]}}`,
			"actions/checkout@4.*.* of GitHub Actions; react@18.2.0 of npm", ""},
		"cyclonedx-npm": {`{"bomFormat": "CycloneDX", "specVersion": "1.6", "metadata": {"component": {"type": "application", "name": "shop", "version": "1.0.0", "purl": "pkg:npm/shop@1.0.0"}}, "components": [
			{"type": "library", "group": "@babel", "name": "core", "version": "7.1.0", "purl": "pkg:npm/%40babel/core@7.1.0?vcs_url=git%2Bhttps%3A%2F%2Fexample.com", "components": [{"type": "library", "name": "debug", "version": "4.3.4", "purl": "pkg:npm/debug@4.3.4"}]}]}`,
			"@babel/core@7.1.0 of npm; debug@4.3.4 of npm; shop@1.0.0 of npm", ""},
		"cyclonedx-py": {`{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [{"type": "library", "name": "Django", "version": "4.2", "purl": "pkg:pypi/django@4.2"}]}`, "django@4.2 of PyPI", ""},
		"the plugins of Maven and Gradle": {`{"bomFormat": "CycloneDX", "specVersion": "1.6", "metadata": {"component": {"type": "library", "group": "com.acme", "name": "shop", "version": "1", "purl": "pkg:maven/com.acme/shop@1?type=jar"}}, "components": [
			{"type": "library", "group": "org.slf4j", "name": "slf4j-api", "version": "2.0.9", "purl": "pkg:maven/org.slf4j/slf4j-api@2.0.9?type=jar"}]}`,
			"com.acme:shop@1 of Maven; org.slf4j:slf4j-api@2.0.9 of Maven", ""},
		"Red Hat": {`{"spdxVersion": "SPDX-2.3", "packages": [{"SPDXID": "SPDXRef-1", "name": "openssl-libs", "versionInfo": "3.0.7-18.el9_2", "externalRefs": [
			{"referenceCategory": "PACKAGE_MANAGER", "referenceType": "http://spdx.org/rdf/references/purl", "referenceLocator": "pkg:rpm/redhat/openssl-libs@3.0.7-18.el9_2?arch=x86_64"},
			{"referenceCategory": "PACKAGE_MANAGER", "referenceType": "purl", "referenceLocator": "pkg:rpm/redhat/openssl-libs@3.0.7-18.el9_2?arch=x86_64&repository_id=rhel-9-for-x86_64-baseos-rpms"}]},
			{"SPDXID": "SPDXRef-2", "name": "gpg-pubkey", "externalRefs": [{"referenceType": "purl", "referenceLocator": "pkg:rpm/redhat/gpg-pubkey@d4082792-5b32db75"}]}]}`,
			"gpg-pubkey@d4082792-5b32db75 of Red Hat:enterprise_linux:9; openssl-libs@3.0.7-18.el9_2 of Red Hat:enterprise_linux:9", ""},
		"SPDX 3 of Trivy": {`{"@context": "https://spdx.org/rdf/3.0.1/spdx-context.jsonld", "@graph": [
			{"type": "CreationInfo", "@id": "_:creationInfo", "specVersion": "3.0.1"},
			{"type": "SpdxDocument", "spdxId": "https://example.com/doc", "name": "shop", "rootElement": ["https://example.com/sbom"]},
			{"type": "software_Sbom", "spdxId": "https://example.com/sbom", "rootElement": ["https://example.com/image"]},
			{"type": "software_Package", "spdxId": "https://example.com/image", "name": "shop", "software_primaryPurpose": "container"},
			{"type": "software_Package", "spdxId": "https://example.com/os", "name": "debian", "software_packageVersion": "12.1", "software_primaryPurpose": "operatingSystem"},
			{"type": "software_Package", "spdxId": "https://example.com/ssl", "name": "libssl3", "software_packageVersion": "3.0.9-1", "software_primaryPurpose": "library",
				"software_sourceInfo": "built package from: openssl 3.0.9-1", "software_packageUrl": "pkg:deb/debian/libssl3@3.0.9-1?arch=amd64"}]}`, ssl, ""},
		"Yocto": {`{"@context": "https://spdx.org/rdf/3.0.1/spdx-context.jsonld", "@graph": [
			{"type": "software_Package", "spdxId": "http://example.com/busybox", "name": "busybox", "software_packageVersion": "1.36.1", "software_primaryPurpose": "install",
				"externalIdentifier": [{"type": "ExternalIdentifier", "externalIdentifierType": "cpe23", "identifier": "cpe:2.3:*:*:busybox:1.36.1:*:*:*:*:*:*:*"}, {"type": "ExternalIdentifier", "externalIdentifierType": "packageUrl", "identifier": "pkg:yocto/core/busybox@1.36.1"}]},
			{"type": "software_Package", "spdxId": "http://example.com/source", "name": "busybox-1.36.1.tar.bz2", "software_primaryPurpose": "source"},
			{"type": "software_File", "spdxId": "http://example.com/file", "name": "/bin/busybox"}]}`,
			"core/busybox@1.36.1", "1 of its 1 packages have no package URL of an OSV ecosystem"},
		"two package URLs": {`{"spdxVersion": "SPDX-2.3", "packages": [{"SPDXID": "SPDXRef-1", "name": "log4j", "versionInfo": "1", "externalRefs": [
			{"referenceType": "purl", "referenceLocator": "pkg:maven/log4j/log4j@1"}, {"referenceType": "purl", "referenceLocator": "pkg:maven/org.acme/log4j@1"}]}]}`,
			"log4j:log4j@1 of Maven; org.acme:log4j@1 of Maven", ""},
		"two systems": {`{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [{"type": "operating-system", "name": "debian", "version": "11"}, {"type": "operating-system", "name": "debian", "version": "12"},
			{"type": "library", "name": "libssl3", "purl": "pkg:deb/debian/libssl3@3.0.9-1?upstream=openssl"}]}`,
			"libssl3@3.0.9-1 of Debian from openssl@3.0.9-1", "does not name the release of Debian for 1 of its packages"},
		"no package URLs": {`{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [{"type": "library", "name": "openssl", "version": "3", "cpe": "cpe:2.3:a:openssl:openssl:3:*:*:*:*:*:*:*"}, {"type": "library", "name": "a", "purl": "pkg:npm/a@1"}]}`,
			"a@1 of npm; openssl@3", "1 of its 2 packages have no package URL of an OSV ecosystem"},
	} {
		d, err := Parse([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, p := range d.Packages {
			got = append(got, p.describe())
		}
		if slices.Sort(got); strings.Join(got, "; ") != c.packages {
			t.Errorf("%s: %s, want %s", name, strings.Join(got, "; "), c.packages)
		}
		if remarks := fmt.Sprint(d.Remarks); (c.remark == "") != (len(d.Remarks) == 0) || !strings.Contains(remarks, c.remark) {
			t.Errorf("%s: it says %s, want %q", name, remarks, c.remark)
		}
	}
}

// SPDX 3 says in elements of their own what a package is licensed by, and what the document is about.
func TestElementsOfSPDX3AreReadTogether(t *testing.T) {
	t.Parallel()
	d, err := Parse(fmt.Appendf(nil, `{"@graph": [
		{"type": "software_Package", "spdxId": "urn:image", "name": "registry.example.com/shop", "software_packageVersion": "1", "verifiedUsing": [{"type": "Hash", "algorithm": "sha256", "hashValue": "%s"}]},
		{"type": "software_Package", "spdxId": "urn:a", "name": "a", "software_packageVersion": 2, "software_packageUrl": "pkg:npm/a@1"},
		{"type": "Relationship", "from": "urn:a", "relationshipType": "hasDeclaredLicense", "to": ["urn:mit"]},
		{"type": "Relationship", "from": "urn:a", "relationshipType": "hasConcludedLicense", "to": ["https://spdx.org/licenses/ISC"]},
		{"type": "simplelicensing_LicenseExpression", "spdxId": "urn:mit", "simplelicensing_licenseExpression": "MIT"},
		{"type": "software_Package", "spdxId": "urn:b", "software_packageUrl": "nothing"},
		{"type": "ai_AIPackage", "spdxId": "urn:c", "name": "c", "software_packageUrl": "pkg:huggingface/acme/c@1"},
		{"type": "SpdxDocument", "spdxId": "urn:doc", "rootElement": ["urn:sbom"]},
		{"type": "software_Sbom", "spdxId": "urn:sbom", "rootElement": ["urn:image", "urn:sbom"]}
	], "@context": ["https://spdx.org/rdf/3.1/spdx-context.jsonld"]}`, strings.ToUpper(hex)))
	if err != nil {
		t.Fatal(err)
	}
	if d.Format != "SPDX 3.1" || d.Subject.Name != "registry.example.com/shop:1" || !slices.Equal(d.Subject.Digests, []string{"sha256:" + hex}) {
		t.Errorf("the document says %+v", d)
	}
	if a := find(t, d, "a"); a.Version != "1" || !slices.Equal(a.Licenses, []string{"MIT", "ISC"}) {
		t.Errorf("a is %+v", a)
	}
	var places []string
	for _, remark := range d.Remarks {
		places = append(places, remark.Place)
	}
	if want := []string{"@context", "@graph[1].software_packageVersion", "@graph[5].software_packageUrl", ""}; !slices.Equal(places, want) {
		t.Errorf("it remarks %v, want something at %v", d.Remarks, want)
	}
}
