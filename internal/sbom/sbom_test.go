package sbom

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// find returns the package of a document with a name.
func find(t *testing.T, d *Document, name string) Package {
	t.Helper()
	for _, p := range d.Packages {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no package %q in %+v", name, d.Packages)
	return Package{}
}

const cycloneDX = `{"bomFormat": "CycloneDX", "specVersion": "1.5",
	"metadata": {"component": {"type": "container", "name": "registry.example.com/shop:1", "version": "sha256:%s"}},
	"components": [
		{"type": "operating-system", "name": "debian", "version": "12.5"},
		{"type": "file", "name": "/etc/passwd"},
		{"type": "library", "name": "libssl3", "version": "3.0.11-1~deb12u2", "licenses": [{"license": {"id": "Apache-2.0"}}],
			"purl": "pkg:deb/debian/libssl3@3.0.11-1~deb12u2?arch=amd64&upstream=openssl&package-id=1"},
		{"type": "library", "name": "libssl3", "version": "3.0.11-1~deb12u2", "licenses": [{"expression": "Apache-2.0 OR MIT"}],
			"purl": "pkg:deb/debian/libssl3@3.0.11-1~deb12u2?arch=amd64&upstream=openssl&package-id=2"},
		{"type": "framework", "group": "@babel", "name": "core", "version": "7.1.0", "purl": "pkg:npm/%%40babel/core@7.1.0",
			"components": [{"type": "library", "name": "inner", "version": "1"}]}
	]}`

const spdx = `{"spdxVersion": "SPDX-2.3", "SPDXID": "SPDXRef-DOCUMENT", "name": "shop", "documentDescribes": ["SPDXRef-image"],
	"files": [{"SPDXID": "SPDXRef-file", "fileName": "a", "checksums": []}],
	"packages": [
		{"SPDXID": "SPDXRef-image", "name": "registry.example.com/shop", "versionInfo": "1", "downloadLocation": "NOASSERTION",
			"checksums": [{"algorithm": "SHA256", "checksumValue": "%s"}]},
		{"SPDXID": "SPDXRef-os", "name": "debian", "versionInfo": "12", "downloadLocation": "NOASSERTION", "primaryPackagePurpose": "OPERATING-SYSTEM"},
		{"SPDXID": "SPDXRef-a", "name": "log4j-core", "versionInfo": "2.14.1", "downloadLocation": "NOASSERTION", "licenseConcluded": "NOASSERTION",
			"licenseDeclared": "Apache-2.0", "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
				"referenceLocator": "pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1"}]},
		{"SPDXID": "SPDXRef-b", "name": "plain", "downloadLocation": "NOASSERTION"}
	]}`

var hex = strings.Repeat("ab", 32)

func TestBothFormsSayWhatAnImageHolds(t *testing.T) {
	t.Parallel()
	d, err := Parse(fmt.Appendf(nil, cycloneDX, hex))
	if err != nil {
		t.Fatal(err)
	}
	if d.Format != "CycloneDX 1.5" || d.Skipped != 2 || len(d.Packages) != 3 || d.Subject.Name != "registry.example.com/shop:1" ||
		len(d.Subject.Digests) != 1 || d.Subject.Digests[0] != "sha256:"+hex {
		t.Errorf("CycloneDX says %+v", d)
	}
	ssl := find(t, d, "libssl3")
	if ssl.Ecosystem != "Debian:12" || ssl.SourceName != "openssl" || ssl.SourceVersion != "3.0.11-1~deb12u2" || ssl.Architecture != "amd64" ||
		len(ssl.Licenses) != 2 || strings.Contains(ssl.PURL, "package-id") {
		t.Errorf("libssl3 is %+v", ssl)
	}
	if babel := find(t, d, "@babel/core"); babel.Ecosystem != "npm" || babel.Version != "7.1.0" {
		t.Errorf("@babel/core is %+v", babel)
	}
	if inner := find(t, d, "inner"); inner.Ecosystem != "" || inner.PURL != "" {
		t.Errorf("a component without a package URL is %+v", inner)
	}

	d, err = Parse(fmt.Appendf(nil, spdx, hex))
	if err != nil {
		t.Fatal(err)
	}
	if d.Format != "SPDX 2.3" || d.Skipped != 3 || len(d.Packages) != 2 || d.Subject.Name != "registry.example.com/shop:1" || len(d.Subject.Digests) != 1 {
		t.Errorf("SPDX says %+v", d)
	}
	if log4j := find(t, d, "org.apache.logging.log4j:log4j-core"); log4j.Ecosystem != "Maven" || log4j.Version != "2.14.1" || log4j.Licenses[0] != "Apache-2.0" {
		t.Errorf("log4j-core is %+v", log4j)
	}
}

// Attestations of registries are statements, in envelopes or not. Their subject is the image.
func TestAttestationsAreOpened(t *testing.T) {
	t.Parallel()
	other := strings.Repeat("cd", 32)
	statement := fmt.Sprintf(`{"_type": "https://in-toto.io/Statement/v0.1", "predicateType": "https://cyclonedx.org/bom", "subject": [{"name": "shop", "digest": {"sha256": "%s"}}], "predicate": %s}`, other, fmt.Sprintf(cycloneDX, hex))
	quoted, err := json.Marshal(fmt.Sprintf(cycloneDX, hex))
	if err != nil {
		t.Fatal(err)
	}
	old := fmt.Sprintf(`{"predicateType": "https://cyclonedx.org/bom/v1.4", "subject": [{"digest": {"sha256": "%s"}}], "predicate": {"Data": %s}}`, strings.ToUpper(other), quoted)
	for name, text := range map[string]string{
		"a statement":             statement,
		"an envelope":             fmt.Sprintf(`{"payloadType": "application/vnd.in-toto+json", "payload": "%s", "signatures": []}`, base64.StdEncoding.EncodeToString([]byte(statement))),
		"a bundle":                fmt.Sprintf(`{"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "dsseEnvelope": {"payloadType": "application/vnd.in-toto+json", "payload": "%s"}}`, base64.StdEncoding.EncodeToString([]byte(statement))),
		"an old form of cosign's": old,
	} {
		d, err := Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(d.Packages) != 3 || len(d.Subject.Digests) != 1 || d.Subject.Digests[0] != "sha256:"+other {
			t.Errorf("%s says %+v", name, d)
		}
	}
}

func TestPackageURLsNameTheEcosystem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Package{
		"pkg:deb/debian/curl@7.88.1-10+deb12u5?distro=debian-12":              {Name: "curl", Version: "7.88.1-10+deb12u5", Ecosystem: "Debian:12"},
		"pkg:deb/ubuntu/bash@5.1-6ubuntu1?distro=ubuntu-22.04":                {Name: "bash", Version: "5.1-6ubuntu1", Ecosystem: "Ubuntu:22.04"},
		"pkg:alpine/busybox@1.35.0-r17?distro=alpine-3.16.2&upstream=busybox": {Name: "busybox", Version: "1.35.0-r17", Ecosystem: "Alpine:v3.16"},
		"pkg:apk/wolfi/glibc@2.39-r1?distro=wolfi-20230201":                   {Name: "glibc", Version: "2.39-r1", Ecosystem: "Wolfi"},
		"pkg:rpm/rocky/openssl-libs@3.0.7-24.el9?epoch=1&distro=rocky-9.3&upstream=openssl-3.0.7-24.el9.src.rpm": {
			Name: "openssl-libs", Version: "1:3.0.7-24.el9", Ecosystem: "Rocky Linux:9", SourceName: "openssl", SourceVersion: "1:3.0.7-24.el9"},
		"pkg:deb/kali/x@1?distro=kali-2024.1":                                         {Name: "x", Version: "1"},
		"pkg:golang/github.com/gin-gonic/gin@v1.9.0":                                  {Name: "github.com/gin-gonic/gin", Version: "v1.9.0", Ecosystem: "Go"},
		"pkg:golang/github.com/Masterminds/goutils@v1.1.0":                            {Name: "github.com/Masterminds/goutils", Version: "v1.1.0", Ecosystem: "Go"},
		"pkg:golang/github.com%2FAzure/azure-sdk@v1?x=Y#sub":                          {Name: "github.com/Azure/azure-sdk", Version: "v1", Ecosystem: "Go"},
		"pkg:deb/debian/curl@7.88.1-10?distro=bookworm":                               {Name: "curl", Version: "7.88.1-10", Ecosystem: "Debian:12"},
		"pkg:deb/debian/curl@7.88.1-10?distro=debian-Trixie":                          {Name: "curl", Version: "7.88.1-10", Ecosystem: "Debian:13"},
		"pkg:deb/ubuntu/curl@7.81.0-1?distro=jammy":                                   {Name: "curl", Version: "7.81.0-1", Ecosystem: "Ubuntu:22.04"},
		"pkg:deb/ubuntu/curl@7.81.0-1?distro=ubuntu-noble":                            {Name: "curl", Version: "7.81.0-1", Ecosystem: "Ubuntu:24.04"},
		"pkg:apk/alpine/curl@8.5.0-r0?distro=alpine-edge":                             {Name: "curl", Version: "8.5.0-r0", Ecosystem: "Alpine:edge"},
		"pkg:apk/alpine/musl@1.2.3-r0?arch=x86_64&distro=3.16.0":                      {Name: "musl", Version: "1.2.3-r0", Ecosystem: "Alpine:v3.16"},
		"pkg:apk/alpine/zlib@1.2.12-r1?distro=alpine-3.17_alpha20220715":              {Name: "zlib", Version: "1.2.12-r1", Ecosystem: "Alpine:edge"},
		"pkg:apk/alpine/zlib@1.3.1-r2?distro=3.24.0_alpha20260127":                    {Name: "zlib", Version: "1.3.1-r2", Ecosystem: "Alpine:edge"},
		"pkg:apk/alpine/zlib@1.2.12-r1?distro=alpine-3.19.0_rc1":                      {Name: "zlib", Version: "1.2.12-r1", Ecosystem: "Alpine:v3.19"},
		"pkg:apk/wolfi/zlib@1.3-r1?distro=20230201":                                   {Name: "zlib", Version: "1.3-r1", Ecosystem: "Wolfi"},
		"pkg:deb/ubuntu/libcrypt1@4.4.27-1?epoch=1&distro=ubuntu-22.04":               {Name: "libcrypt1", Version: "1:4.4.27-1", Ecosystem: "Ubuntu:22.04"},
		"pkg:deb/debian/glibc@2.36-9?os_distro=bookworm&os_name=debian&os_version=12": {Name: "glibc", Version: "2.36-9", Ecosystem: "Debian:12"},
		"pkg:rpm/redhat/bash@5.1.8-6.el9?distro=rhel-9.4":                             {Name: "bash", Version: "5.1.8-6.el9", Ecosystem: "Red Hat:enterprise_linux:9"},
		"pkg:rpm/redhat/bash@5.2.26-4.el10?distro=redhat-10.0":                        {Name: "bash", Version: "5.2.26-4.el10", Ecosystem: "Red Hat:enterprise_linux:10"},
		"pkg:rpm/redhat/bash@5.1.8-6.el9":                                             {Name: "bash", Version: "5.1.8-6.el9", Ecosystem: "Red Hat:enterprise_linux:9"},
		"pkg:rpm/redhat/nodejs@18-1.module%2Bel8.7.0%2B16806":                         {Name: "nodejs", Version: "18-1.module+el8.7.0+16806", Ecosystem: "Red Hat:enterprise_linux:8"},
		"pkg:rpm/redhat/gpg-pubkey@d4082792-5b32db75":                                 {Name: "gpg-pubkey", Version: "d4082792-5b32db75", Ecosystem: "Red Hat"},
		"pkg:rpm/fedora/bash@5.2-1.fc41":                                              {Name: "bash", Version: "5.2-1.fc41", Ecosystem: "Fedora:41"},
		"pkg:rpm/sles/bash@4.4-1?distro=sles-15.4":                                    {Name: "bash", Version: "4.4-1", Ecosystem: "SUSE:Linux Enterprise Server 15 SP4"},
		"pkg:rpm/suse/bash@4.4-1?distro=sles-12.5":                                    {Name: "bash", Version: "4.4-1", Ecosystem: "SUSE:Linux Enterprise Server 12 SP5"},
		"pkg:rpm/sles/bash@4.4-1?distro=sles-15":                                      {Name: "bash", Version: "4.4-1", Ecosystem: "SUSE:Linux Enterprise Server 15"},
		"pkg:rpm/sle-micro/bash@4.4-1?distro=sle-micro-5.3":                           {Name: "bash", Version: "4.4-1", Ecosystem: "SUSE:Linux Enterprise Micro 5.3"},
		"pkg:rpm/opensuse/bash@4.4-1?distro=opensuse-leap-15.5":                       {Name: "bash", Version: "4.4-1", Ecosystem: "openSUSE:Leap 15.5"},
		"pkg:rpm/opensuse/bash@4.4-1?distro=opensuse.leap-15.5":                       {Name: "bash", Version: "4.4-1", Ecosystem: "openSUSE:Leap 15.5"},
		"pkg:rpm/opensuse/bash@5.2-1?distro=opensuse-tumbleweed-20240101":             {Name: "bash", Version: "5.2-1", Ecosystem: "openSUSE:Tumbleweed"},
		"pkg:rpm/amzn/bash@5.2.15-1.amzn2023?distro=amzn-2023":                        {Name: "bash", Version: "5.2.15-1.amzn2023", Ecosystem: "Amazon Linux:2023"},
		"pkg:rpm/amazon/bash@4.2.46-34.amzn2?distro=amazon-2%20%28Karoo%29":           {Name: "bash", Version: "4.2.46-34.amzn2", Ecosystem: "Amazon Linux:2"},
		"pkg:rpm/fedora/bash@5.2-1.fc40?distro=fedora-40":                             {Name: "bash", Version: "5.2-1.fc40", Ecosystem: "Fedora:40"},
		"pkg:rpm/ol/bash@4.4-1?distro=ol-8.9":                                         {Name: "bash", Version: "4.4-1", Ecosystem: "Oracle Linux:8"},
		"pkg:rpm/oracle/bash@4.4-1?distro=oracle-8.9":                                 {Name: "bash", Version: "4.4-1", Ecosystem: "Oracle Linux:8"},
		"pkg:rpm/centos/bash@4.2.46-31.el7?distro=centos-7.6.1810":                    {Name: "bash", Version: "4.2.46-31.el7", Ecosystem: "CentOS:7"},
		"pkg:rpm/alma/bash@4.4-1?distro=alma-8.5":                                     {Name: "bash", Version: "4.4-1", Ecosystem: "AlmaLinux:8"},
		"pkg:rpm/mariner/bash@5.1-1?distro=mariner-2.0":                               {Name: "bash", Version: "5.1-1", Ecosystem: "Azure Linux:2"},
		"pkg:deb/debian/curl@1?distro=alpine-3.18":                                    {Name: "curl", Version: "1", Ecosystem: "Debian"},
		"pkg:golang/github.com/jackc/pgx@v5.6.0#v5":                                   {Name: "github.com/jackc/pgx/v5", Version: "v5.6.0", Ecosystem: "Go"},
		"pkg:golang/github.com/jackc/pgx@v5.6.0?type=package#pgconn":                  {Name: "github.com/jackc/pgx", Version: "v5.6.0", Ecosystem: "Go"},
		"pkg:gem/nokogiri@1.13.6-x86_64-linux":                                        {Name: "nokogiri", Version: "1.13.6", Ecosystem: "RubyGems"},
		"pkg:gem/nokogiri@1.13.6-java":                                                {Name: "nokogiri", Version: "1.13.6", Ecosystem: "RubyGems"},
		"pkg:gem/rails@7.1.0-beta1":                                                   {Name: "rails", Version: "7.1.0-beta1", Ecosystem: "RubyGems"},
		"pkg:golang/std@go1.19.3?type=module":                                         {Name: "stdlib", Version: "1.19.3", Ecosystem: "Go"},
		"pkg:golang/go@1.21.0":                                                        {Name: "stdlib", Version: "1.21.0", Ecosystem: "Go"},
		"pkg:golang/stdlib@1.20.3":                                                    {Name: "stdlib", Version: "1.20.3", Ecosystem: "Go"},
		"pkg:pypi/Django_Foo@4.2":                                                     {Name: "django-foo", Version: "4.2", Ecosystem: "PyPI"},
		"pkg:npm/%40angular/animation@12.3.1":                                         {Name: "@angular/animation", Version: "12.3.1", Ecosystem: "npm"},
		"pkg:composer/laravel/laravel@5.5.0":                                          {Name: "laravel/laravel", Version: "5.5.0", Ecosystem: "Packagist"},
		"pkg:generic/openssl@1.1.10g":                                                 {Name: "openssl", Version: "1.1.10g"},
		"pkg:gem/rails@7.0.1?platform=java":                                           {Name: "rails", Version: "7.0.1", Ecosystem: "RubyGems"},
		"pkg:swift/github.com/Alamofire/Alamofire@5.4.3":                              {Name: "github.com/Alamofire/Alamofire", Version: "5.4.3", Ecosystem: "SwiftURL"},
	} {
		u, err := parsePURL(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var p Package
		p.applyPURL(u, "")
		if p.Name != want.Name || p.Version != want.Version || p.Ecosystem != want.Ecosystem || p.SourceName != want.SourceName || p.SourceVersion != want.SourceVersion {
			t.Errorf("%s is %+v, want %+v", text, p, want)
		}
	}
}

// Documents that are not valid are refused with the place of the fault. None of them takes
// much time or memory.
func TestInvalidDocumentsAreNamed(t *testing.T) {
	t.Parallel()
	component := func(c string) string {
		return `{"bomFormat": "CycloneDX", "specVersion": "1.5", "components": [` + c + `]}`
	}
	pack := func(p string) string { return `{"spdxVersion": "SPDX-2.3", "packages": [` + p + `]}` }
	for name, c := range map[string]struct{ text, place, reason string }{
		"nothing":               {"", "", "not a JSON object"},
		"a list":                {"[]", "", "not a JSON object"},
		"half a document":       {`{"bomFormat": "CycloneDX"`, "", "not a JSON object"},
		"another document":      {`{"name": "x"}`, "", "neither bomFormat"},
		"another form":          {`{"bomFormat": "x"}`, "bomFormat", "want"},
		"an old version":        {`{"bomFormat": "CycloneDX", "specVersion": "1.1"}`, "specVersion", "1.2 to 1.7"},
		"SPDX 1":                {`{"spdxVersion": "SPDX-1.2"}`, "spdxVersion", "SPDX-2.2 and SPDX-2.3"},
		"SPDX 3":                {`{"@context": "https://spdx.org/rdf/3.0.1/spdx-context.jsonld", "@graph": {}}`, "@graph", "list"},
		"another major version": {`{"bomFormat": "CycloneDX", "specVersion": "2.0"}`, "specVersion", "1.2 to 1.7"},
		"no version":            {`{"bomFormat": "CycloneDX"}`, "specVersion", "1.2 to 1.7"},
		"OpenVEX":               {`{"@context": "https://openvex.dev/ns/v0.2.0"}`, "@context", "not that of SPDX 3"},
		"half a graph":          {`{"@context": "https://spdx.org/rdf/3.0.1/spdx-context.jsonld", "@graph": [{"type": "software_Package"}`, "", "not a JSON object"},
		"no list":               {`{"bomFormat": "CycloneDX", "specVersion": "1.5", "components": {}}`, "", "not valid CycloneDX"},
		"nothing but faults":    {component(`{"type": "library", "name": "x", "purl": "x"}, {"type": "library"}`), "components[0].purl", "none of the 2 packages"},
		"no name":               {component(`{"type": "library"}`), "components[0].name", "missing"},
		"a bad package URL":     {component(`{"type": "library", "name": "x", "purl": "npm/x@1"}`), "components[0].purl", "not a package URL"},
		"a control character":   {component(`{"type": "library", "name": "x\u0000"}`), "components[0].name", "control"},
		"a long name":           {component(`{"type": "library", "name": "` + strings.Repeat("x", maxName+1) + `"}`), "components[0].name", "longer"},
		"a long package URL":    {component(`{"type": "library", "name": "x", "purl": "pkg:npm/` + strings.Repeat("x", 5*maxText) + `"}`), "components[0].purl", "longer"},
		"null":                  {pack(`null`), "packages[0].name", "missing"},
		"a bad one of SPDX":     {pack(`{"name": "x", "SPDXID": "SPDXRef-x", "externalRefs": [{"referenceCategory": "OTHER", "referenceType": "purl", "referenceLocator": "x"}]}`), "packages[0].externalRefs[0]", "not a package URL"},
		"another predicate":     {`{"predicateType": "https://slsa.dev/provenance/v1", "predicate": {}}`, "predicateType", "not an SBOM"},
		"no predicate":          {`{"predicateType": "https://spdx.dev/Document"}`, "predicate", "missing"},
		"another payload":       {`{"payloadType": "text/plain", "payload": ""}`, "payloadType", "want"},
		"no base64":             {`{"payloadType": "application/vnd.in-toto+json", "payload": "%"}`, "payload", "base64"},
		"depth":                 {strings.Repeat(`{"a":`, maxDepth+1), "", "nested deeper"},
		"depth in lists":        {`{"bomFormat": ` + strings.Repeat("[", 1_000_000), "", "nested deeper"},
		"too many packages":     {component(strings.Repeat(`{"type": "library", "name": "x"},`, MaxPackages) + `{"type": "library", "name": "x"}`), fmt.Sprintf("components[%d]", MaxPackages), "more than"},
		"elements of packages":  {component(strings.Repeat(`{},`, maxElements+1) + `{}`), "", "elements"},
		"elements elsewhere":    {`{"bomFormat": "CycloneDX", "specVersion": "1.5", "vulnerabilities": [` + strings.Repeat(`{},`, maxElements+1) + `{}]}`, "", "elements"},
		"files of a component":  {component(`{"type": "library", "name": "x", "files": [` + strings.Repeat(`1,`, maxElements+1) + `1]}`), "", "elements"},
		"VEX":                   {`{"bomFormat": "CycloneDX", "specVersion": "1.5", "vulnerabilities": [{"id": "CVE-1"}]}`, "components", "VEX"},
		"a NUL in a purl":       {component(`{"type": "library", "name": "x", "purl": "pkg:npm/a%00b@1"}`), "components[0].name", "control"},
		"no UTF-8 in a purl":    {component(`{"type": "library", "name": "x", "purl": "pkg:npm/a%ffb@1"}`), "components[0].name", "UTF-8"},
		"no name in a purl":     {component(`{"type": "library", "name": "x", "purl": "pkg:npm/@1"}`), "components[0].purl", "not a package URL"},
		"statements in another": {nest(4), "", "envelopes"},
		"brackets in a text":    {`{"bomFormat": "` + strings.Repeat("[", 2*maxDepth) + `\"{"}`, "bomFormat", "want"},
	} {
		_, err := Parse([]byte(c.text))
		var invalid *Error
		if !errors.As(err, &invalid) || invalid.Place != c.place || !strings.Contains(invalid.Reason, c.reason) {
			t.Errorf("%s: %v, want %s: ...%s", name, err, c.place, c.reason)
		}
	}
}

// A fault loses the entry that has it, and not the others of the document.
func TestAFaultOfAnEntryIsNamedAndTheOthersAreRead(t *testing.T) {
	t.Parallel()
	component := func(c string) string {
		return `{"bomFormat": "CycloneDX", "specVersion": "1.5", "components": [{"type": "library", "name": "good", "version": "1"}, ` + c + `]}`
	}
	pack := func(p string) string {
		return `{"spdxVersion": "SPDX-2.3", "packages": [{"name": "good", "versionInfo": "1"}, ` + p + `]}`
	}
	for name, c := range map[string]struct{ text, place, reason, packages string }{
		"a bad package URL":          {component(`{"type": "library", "name": "bad", "version": "2", "purl": "pkg:/nothing"}`), "components[1].purl", "the rest of its entry identifies", "bad@2 good@1"},
		"no name":                    {component(`{"type": "library", "name": "", "version": "(devel)", "purl": "pkg:golang/@%28devel%29"}`), "components[1].purl", "left out", "good@1"},
		"neither name nor purl":      {component(`{"type": "library"}`), "components[1].name", "is missing; the package is left out", "good@1"},
		"a long name":                {component(`{"type": "library", "name": "` + strings.Repeat("x", maxName+1) + `"}`), "components[1].name", "longer", "good@1"},
		"a control character":        {component(`{"type": "library", "name": "x\u0000"}`), "components[1].name", "control", "good@1"},
		"a fault within":             {component(`{"type": "library", "name": "a", "components": [{"type": "library"}, {"type": "library", "name": "b"}]}`), "components[1].components[0].name", "missing", "a@ b@ good@1"},
		"a wrong type":               {component(`{"type": "library", "name": "a", "version": 7, "purl": "pkg:npm/a@2"}`), "components.version", "number", "good@1 a@2"},
		"a wrong type beside":        {`{"bomFormat": "CycloneDX", "specVersion": "1.5", "metadata": {"component": [1]}, "components": [{"type": "library", "name": "good", "version": "1"}]}`, "metadata.component", "array", "good@1"},
		"a bad package URL of SPDX":  {pack(`{"name": "bad", "externalRefs": [{"referenceType": "purl", "referenceLocator": "x"}]}`), "packages[1].externalRefs[0]", "the rest of its entry identifies", "bad@ good@1"},
		"no name in SPDX":            {pack(`{"versionInfo": "1"}`), "packages[1].name", "missing", "good@1"},
		"null":                       {pack(`null`), "packages[1].name", "missing", "good@1"},
		"a wrong type in SPDX":       {pack(`{"name": 1}, {"name": "a"}`), "packages.name", "number", "a@ good@1"},
		"one of two purls of SPDX":   {pack(`{"name": "a", "externalRefs": [{"referenceType": "purl", "referenceLocator": "x"}, {"referenceType": "purl", "referenceLocator": "pkg:npm/a@2"}]}`), "packages[1].externalRefs[0]", "the rest of its entry identifies", "good@1 a@2"},
		"a version that is not here": {strings.Replace(component(`{"type": "library", "name": "a"}`), "1.5", "1.8", 1), "specVersion", "newer than 1.7", "a@ good@1"},
	} {
		d, err := Parse([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(d.Remarks) == 0 || d.Remarks[0].Place != c.place || !strings.Contains(d.Remarks[0].Reason, c.reason) {
			t.Errorf("%s: %v, want %s: ...%s", name, d.Remarks, c.place, c.reason)
		}
		if got := listPackages(d); got != c.packages {
			t.Errorf("%s: %s, want %s", name, got, c.packages)
		}
	}
	many := component(strings.Repeat(`{"type": "library"},`, maxRemarks+4) + `{"type": "library"}`)
	if d, err := Parse([]byte(many)); err != nil || len(d.Remarks) <= maxRemarks || !strings.HasPrefix(d.Remarks[maxRemarks].Reason, "5 more") {
		t.Errorf("many faults: %+v %v, want %d and a number", d, err, maxRemarks)
	}
}

// listPackages lists the packages of a document, such as a@1 b@2.
func listPackages(d *Document) string {
	var all []string
	for _, p := range d.Packages {
		all = append(all, p.Name+"@"+p.Version)
	}
	return strings.Join(all, " ")
}

// Every component with a package URL is a package, whatever its type, wherever it lies.
func TestComponentsOfEveryTypeAreRead(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"library", "framework", "application", "platform", "file", "container", "firmware", "device", "device-driver", "data", "machine-learning-model", "unknown"} {
		d, err := Parse(fmt.Appendf(nil, `{"bomFormat": "CycloneDX", "specVersion": "1.7", "components": [{"type": %q, "name": "a", "purl": "pkg:npm/a@1"}]}`, kind))
		if err != nil || listPackages(d) != "a@1" || d.Format != "CycloneDX 1.7" || len(d.Remarks) > 0 {
			t.Errorf("%s: %+v %v, want a@1", kind, d, err)
		}
	}
	d, err := Parse([]byte(`{"bomFormat": "CycloneDX", "specVersion": "1.6",
		"metadata": {"component": {"type": "application", "name": "shop", "purl": "pkg:npm/shop@3", "components": [{"type": "application", "name": "cart", "purl": "pkg:npm/cart@4"}]}},
		"components": [{"type": "container", "name": "base", "purl": "pkg:oci/base@sha256%3Aab"}, {"type": "library", "name": "a", "purl": "pkg:npm/a@1"}]}`))
	if err != nil || listPackages(d) != "a@1 cart@4 shop@3" || d.Skipped != 1 {
		t.Errorf("nested components: %+v %v, want a, cart and shop", d, err)
	}
}

// Images have hundreds of thousands of files. Nobody decodes them.
func TestFilesOfSPDXDoNotCount(t *testing.T) {
	t.Parallel()
	files := strings.Repeat(`{"checksums": [1, 2]},`, maxElements) + `{}`
	d, err := Parse([]byte(`{"spdxVersion": "SPDX-2.3", "files" : [` + files + `], "packages": [{"name": "x", "SPDXID": "SPDXRef-x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Packages) != 1 || d.Skipped != maxElements+1 {
		t.Errorf("%d packages and %d other entries, want 1 and %d", len(d.Packages), d.Skipped, maxElements+1)
	}
	if _, err := Parse([]byte(`{"spdxVersion": "SPDX-2.3", "files": [], "packages": [` + strings.Repeat(`{},`, maxElements+1) + `{}]}`)); !IsInvalid(err) {
		t.Errorf("packages after files: %v, want that they are too many", err)
	}
}

// nest returns a statement in n statements.
func nest(n int) string {
	if n == 0 {
		return `{"bomFormat": "CycloneDX", "specVersion": "1.5"}`
	}
	return `{"predicateType": "https://cyclonedx.org/bom", "predicate": ` + nest(n-1) + `}`
}

func FuzzParse(f *testing.F) {
	f.Add(fmt.Appendf(nil, cycloneDX, hex))
	f.Add(fmt.Appendf(nil, spdx, hex))
	f.Add([]byte(nest(2)))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(text)
		if err != nil {
			if !IsInvalid(err) {
				t.Errorf("%v does not say what is not valid", err)
			}
			return
		}
		for _, p := range d.Packages {
			if p.Name == "" {
				t.Errorf("a package has no name: %+v", p)
			}
		}
	})
}
