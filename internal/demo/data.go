package demo

import (
	"time"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
)

// This file has the data of the demonstration organization. Real data can be
// imported into it. So no repo has the name of an official image or sorts before
// "b", where lists of official images begin, and the ids of advisories differ from
// real ones.

// A service is a program that a team of the organization develops. It becomes a
// repo with two releases, of which the older one is at its end of life. Some teams
// support a third release, which is older than both. The first release has no tag any more.
type service struct {
	team, name, description             string
	release, previous, supported, first string
	megabytes                           int64 // size of the image
	packages                            []string
	stack                               string // what it is built on; "" if only the names of packages are known
}

var services = []service{
	{"payments", "billing", "Writes invoices and sends them", "2.4.1", "2.3.0", "", "2.1.0", 48, []string{"openssl", "zlib"}, "go"},
	{"shop", "checkout", "Takes orders from the basket to the payment", "5.0.2", "4.9.8", "4.2.7", "4.0.3", 61, []string{"openssl"}, "node"},
	{"shop", "frontend", "The shop as customers see it", "12.1.0", "12.0.3", "11.9.2", "11.0.1", 93, []string{"nodejs"}, "node"},
	{"platform", "gateway", "The way in for every request", "3.8.0", "3.7.4", "", "3.5.2", 35, []string{"openssl", "zlib"}, ""},
	{"payments", "invoices", "Keeps invoices for ten years", "1.1.9", "1.1.8", "", "1.0.4", 44, []string{"sqlite"}, "go"},
	{"payments", "ledger", "Every booking, once", "7.2.0", "7.1.1", "", "6.8.0", 52, []string{"openssl"}, "go"},
	{"platform", "mailer", "Sends mail and hears what bounced", "0.9.6", "0.9.5", "", "0.8.1", 29, []string{"openssl"}, "go"},
	{"platform", "notifications", "Tells customers what happened", "2.0.0", "1.9.9", "", "1.7.0", 31, nil, "go"},
	{"payments", "payments", "Talks to banks and card networks", "4.4.0", "4.3.2", "3.9.4", "3.6.1", 57, []string{"openssl"}, "go"},
	{"shop", "recommendations", "What else customers may like", "0.31.0", "0.30.2", "", "0.27.5", 410, []string{"python", "zlib"}, "python"},
	{"shop", "search", "Finds products by words", "6.3.1", "6.2.0", "", "5.9.4", 120, []string{"zlib"}, ""},
	{"platform", "warehouse", "What lies where", "1.17.3", "1.16.0", "", "1.12.0", 66, []string{"sqlite"}, "go"},
}

// newAdvisories returns advisories about flaws in the services and in packages, and their metadata.
func newAdvisories(c *clock) ([]*inventory.Advisory, []*inventory.Vulnerability) {
	var advisories []*inventory.Advisory
	var vulnerabilities []*inventory.Vulnerability
	add := func(id, alias, repo, component, summary, score string, events ...inventory.AdvisoryEvent) {
		a, v := newAdvisory(id, alias, summary, score, events...)
		a.ArtifactName, a.ArtifactType, a.ComponentName, a.ComponentType = repo, "oci", component, "binary"
		advisories, vulnerabilities = append(advisories, a), append(vulnerabilities, v)
	}
	add("ACME-2026-0001", "DEMO-2026-1001", "billing", "pdf", "Invoices of other customers could be read", "CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:N/A:N",
		c.detection(63), c.fixedIn(releasedDaysAgo(0), "2.4.1"))
	add("ACME-2026-0002", "DEMO-2026-1002", "checkout", "basket", "A negative quantity lowered the price", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:H/A:N",
		c.detection(56), c.fixedIn(releasedDaysAgo(1), "5.0.2"))
	add("ACME-2026-0003", "DEMO-2026-1003", "gateway", "tls", "A slow handshake kept a connection for ever", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H",
		c.detection(19), inventory.AdvisoryEvent{CreateTime: c.noteTime(18), Author: reviewer, PendingUpstreamFix: &inventory.Note{Note: "The library's makers work on it"}})
	add("ACME-2026-0004", "DEMO-2026-1004", "frontend", "markdown", "Product texts could run scripts", "CVSS:3.1/AV:N/AC:L/PR:L/UI:R/S:C/C:L/I:L/A:N",
		c.detection(55), c.fixedIn(releasedDaysAgo(1), "12.1.0"))
	add("ACME-2026-0005", "DEMO-2026-1005", "search", "parser", "A query of brackets used up the memory", "CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:N/I:N/A:L",
		c.detection(37), inventory.AdvisoryEvent{CreateTime: c.noteTime(36), Author: reviewer, FalsePositiveDetermination: &inventory.FalsePositiveDetermination{
			Type: "TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH", Note: "The parser is not reached",
		}})
	for _, f := range flaws {
		a, v := f.advisory(c)
		advisories, vulnerabilities = append(advisories, a), append(vulnerabilities, v)
	}
	return advisories, vulnerabilities
}

// newAdvisory returns an advisory that does not say yet what it is about, and its metadata.
func newAdvisory(id, alias, summary, score string, events ...inventory.AdvisoryEvent) (*inventory.Advisory, *inventory.Vulnerability) {
	severities := []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: score}}
	first, last := events[0].CreateTime, events[len(events)-1].CreateTime
	return &inventory.Advisory{
			AdvisoryID: id, Aliases: []string{alias}, CreateTime: first, UpdateTime: last,
			Author: reviewer, Origin: Name, Events: events, Severities: severities,
		}, &inventory.Vulnerability{
			ID: id, Aliases: []string{alias}, Summary: summary, Details: summary + ".\n\nMade up for demonstration.",
			References: []inventory.Reference{{Type: "TYPE_ADVISORY", URL: "https://security.example.com/" + id}},
			Severities: severities, UpdateTime: last,
		}
}

// newArtifacts returns well-known libraries with a few releases, which do not sort
// correctly as plain strings.
func newArtifacts(c *clock) []*libraries.ImportedArtifact {
	add := func(ecosystem libraries.Ecosystem, name, description, cuda string, versions ...string) *libraries.ImportedArtifact {
		a := &libraries.ImportedArtifact{Artifact: libraries.Artifact{Ecosystem: ecosystem, Name: name, Description: description, CudaVersion: cuda}}
		for i, version := range versions {
			a.Versions = append(a.Versions, &libraries.ArtifactVersion{Version: version, SizeBytes: int64(i+3) << 20, CreateTime: c.noteTime(179 - i)})
		}
		return a
	}
	guava := add(libraries.EcosystemJava, "com.google.guava:guava", "Collections and more for Java", "", "9.0", "18.0", "31.1-android", "31.1-jre", "33.4.8-jre")
	netty := add(libraries.EcosystemJava, "io.netty:netty-common", "What the parts of Netty share", "", "4.1.9.Final", "4.1.100.Final", "4.2.0.RC4", "4.2.0.Final")
	netty.Remediated = true
	return []*libraries.ImportedArtifact{
		guava, netty,
		add(libraries.EcosystemPython, "numpy", "Arrays and what to do with them", "", "1.9.3", "1.26.4", "2.0.0rc2", "2.0.0"),
		add(libraries.EcosystemPython, "torch", "Tensors and neural networks on GPUs", "12.1", "2.1.0+cu121", "2.2.0.dev20231010+cu121", "2.10.0"),
	}
}

const reviewer = "security@example.com"

// noteTime returns when the reviewer wrote something down, so many days ago.
func (c *clock) noteTime(days int) core.Time {
	return core.At(c.daysAgo(days, 9).Add(30 * time.Minute))
}

func (c *clock) detection(days int) inventory.AdvisoryEvent {
	return inventory.AdvisoryEvent{CreateTime: c.noteTime(days), Author: reviewer, Detection: &inventory.Detection{Manual: &struct{}{}}}
}

func (c *clock) fixedIn(days int, version string) inventory.AdvisoryEvent {
	return inventory.AdvisoryEvent{CreateTime: c.noteTime(days), Author: reviewer, Fixed: &inventory.Fixed{FixedVersion: version}}
}
