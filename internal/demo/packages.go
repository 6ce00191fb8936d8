package demo

import (
	"strings"

	"atrium/platform/affected"
	"atrium/platform/inventory"
)

// This file has what is in the images of the services, and advisories about it. The packages and
// their versions are real. The advisories are made up, and so are their ids.

// The parts of an SBOM, by ecosystem: each package as name@version. A package of Debian that was
// built of a source package with another name has that name after a "<".
type contents map[string][]string

// A stack is what services of one kind are built on: now, when the releases were made that are
// still supported, and at first.
type stack struct{ current, supported, first contents }

const debian, npm, golang, pypi = "Debian:12", "npm", "Go", "PyPI"

var debianNow = []string{
	"base-files@12.4+deb12u12", "ca-certificates@20230311+deb12u1", "libc6@2.36-9+deb12u13<glibc", "libcurl4@7.88.1-10+deb12u14<curl", "libgcc-s1@12.2.0-14+deb12u1<gcc-12",
	"libssl3@3.0.17-1~deb12u3<openssl", "netbase@6.4", "tzdata@2025b-0+deb12u2", "zlib1g@1:1.2.13.dfsg-1<zlib",
}

var debianBefore = []string{
	"base-files@12.4+deb12u5", "ca-certificates@20230311", "libc6@2.36-9+deb12u4<glibc", "libcurl4@7.88.1-10+deb12u5<curl", "libgcc-s1@12.2.0-14<gcc-12",
	"libssl3@3.0.11-1~deb12u2<openssl", "netbase@6.4", "tzdata@2024a-0+deb12u1", "zlib1g@1:1.2.13.dfsg-1<zlib",
}

var stacks = map[string]stack{
	"node": {
		contents{debian: debianNow, npm: {"axios@1.8.2", "body-parser@1.20.3", "cookie@0.7.1", "express@4.21.2", "lodash@4.17.21", "qs@6.13.0", "react@18.3.1", "react-dom@18.3.1", "semver@7.7.1", "send@0.19.0", "ws@8.18.1"}},
		contents{debian: debianBefore, npm: {"axios@0.27.2", "body-parser@1.19.2", "cookie@0.4.2", "express@4.17.3", "lodash@4.17.21", "qs@6.9.7", "react@17.0.2", "react-dom@17.0.2", "semver@7.3.8", "send@0.17.2", "ws@8.5.0"}},
		contents{debian: debianBefore, npm: {"axios@0.27.2", "body-parser@1.19.2", "cookie@0.4.2", "express@4.17.3", "lodash@4.17.15", "qs@6.9.7", "react@17.0.2", "react-dom@17.0.2", "semver@7.3.2", "send@0.17.2", "ws@7.4.0"}},
	},
	"go": {
		contents{debian: debianNow, golang: {"github.com/go-chi/chi/v5@v5.2.1", "github.com/jackc/pgx/v5@v5.7.2", "github.com/prometheus/client_golang@v1.21.1", "golang.org/x/crypto@v0.35.0", "golang.org/x/net@v0.36.0", "google.golang.org/grpc@v1.71.0", "stdlib@1.24.1"}},
		contents{debian: debianBefore, golang: {"github.com/go-chi/chi/v5@v5.0.10", "github.com/jackc/pgx/v5@v5.5.1", "github.com/prometheus/client_golang@v1.17.0", "golang.org/x/crypto@v0.15.0", "golang.org/x/net@v0.18.0", "google.golang.org/grpc@v1.59.0", "stdlib@1.21.4"}},
		contents{debian: debianBefore, golang: {"github.com/go-chi/chi/v5@v5.0.10", "github.com/jackc/pgx/v5@v5.5.1", "github.com/prometheus/client_golang@v1.17.0", "golang.org/x/crypto@v0.11.0", "golang.org/x/net@v0.18.0", "google.golang.org/grpc@v1.55.0", "stdlib@1.20.1"}},
	},
	"python": {
		contents{debian: debianNow, pypi: {"certifi@2025.1.31", "jinja2@3.1.6", "numpy@1.26.4", "pillow@11.1.0", "requests@2.32.3", "torch@2.6.0", "urllib3@2.3.0"}},
		contents{debian: debianBefore, pypi: {"certifi@2023.11.17", "jinja2@3.1.2", "numpy@1.26.2", "pillow@10.1.0", "requests@2.31.0", "torch@2.1.1", "urllib3@2.1.0"}},
		contents{debian: debianBefore, pypi: {"certifi@2023.11.17", "jinja2@3.0.3", "numpy@1.26.2", "pillow@10.1.0", "requests@2.28.0", "torch@2.1.1", "urllib3@1.26.5"}},
	},
}

var kindsOfPURL = map[string]string{debian: "deb/debian", npm: "npm", golang: "golang", pypi: "pypi"}

// packages lists the packages as an SBOM names them.
func (c contents) packages() (all []inventory.InstalledPackage) {
	for ecosystem, texts := range c {
		for _, text := range texts {
			text, source, _ := strings.Cut(text, "<")
			name, version, _ := strings.Cut(text, "@")
			p := inventory.InstalledPackage{
				Name: name, Version: version, Ecosystem: ecosystem, SourceName: source,
				PURL: "pkg:" + kindsOfPURL[ecosystem] + "/" + name + "@" + strings.ReplaceAll(version, "+", "%2B"),
			}
			if ecosystem == debian {
				p.PURL += "?distro=debian-12"
			}
			all = append(all, p)
		}
	}
	return all
}

// A flaw is an advisory about a package.
type flaw struct {
	id, alias, ecosystem, name, summary, score string
	fixed                                      string // the version that is not affected any more; "" if there is none
	days                                       int    // how many days ago it became known
}

// noFix is about what recommendations is trained with. The team has accepted the risk.
const noFix = "ACME-2026-0106"

var flaws = []flaw{
	{"ACME-2026-0101", "DEMO-2026-1101", npm, "express", "A redirect could lead to another site", "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N", "4.18.0", 166},
	{"ACME-2026-0102", "DEMO-2026-1102", npm, "qs", "A query string could change the prototype of all objects", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", "6.9.8", 5},
	{"ACME-2026-0103", "DEMO-2026-1103", golang, "golang.org/x/net", "Many small frames kept a server busy", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H", "0.23.0", 101},
	{"ACME-2026-0104", "DEMO-2026-1104", debian, "curl", "A cookie was sent to a sibling domain", "CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:L/I:N/A:N", "7.88.1-10+deb12u7", 88},
	{"ACME-2026-0105", "DEMO-2026-1105", pypi, "pillow", "A crafted image used up the memory", "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:U/C:N/I:N/A:H", "", 33},
	{"ACME-2026-0107", "DEMO-2026-1107", npm, "lodash", "A template could run code", "CVSS:3.1/AV:N/AC:L/PR:H/UI:N/S:U/C:H/I:H/A:H", "4.17.21", 172},
	{"ACME-2026-0108", "DEMO-2026-1108", golang, "golang.org/x/crypto", "A handshake could be cut short unnoticed", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:N", "0.14.0", 158},
	{"ACME-2026-0109", "DEMO-2026-1109", golang, "stdlib", "A long header kept a server busy", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:L", "1.20.8", 122},
	{"ACME-2026-0110", "DEMO-2026-1110", npm, "ws", "A request with many headers stopped the server", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H", "7.5.10", 90},
	{"ACME-2026-0111", "DEMO-2026-1111", pypi, "jinja2", "A filter did not escape attributes", "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N", "3.1.2", 70},
	{noFix, "DEMO-2026-1106", pypi, "torch", "A model from elsewhere could run code", "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:U/C:H/I:H/A:H", "", 130},
}

// advisory returns the flaw as a feed describes it.
func (f flaw) advisory(c *clock) (*inventory.Advisory, *inventory.Vulnerability) {
	events := []affected.Event{{Introduced: "0"}}
	if f.fixed != "" {
		events = append(events, affected.Event{Fixed: f.fixed})
	}
	a, v := newAdvisory(f.id, f.alias, f.summary, f.score, c.detection(f.days))
	a.ArtifactName, a.ArtifactType = f.name, f.ecosystem
	a.Affected = &affected.Set{Ranges: []affected.Range{{Type: "ECOSYSTEM", Events: events}}}
	return a, v
}
