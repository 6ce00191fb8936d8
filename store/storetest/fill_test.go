package storetest_test

import (
	"errors"
	"fmt"
	"strings"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

// createPeople creates identities, roles and bindings.
func (b *bigWorld) createPeople(n sizes) {
	chunks(b, n.identities, storetest.Tables.IAM.Identities, func(i int) *iam.Identity {
		parent := b.randomGroup()
		if i%2 == 0 {
			parent = b.root
		}
		identity := &iam.Identity{
			UID: b.d.below(parent), Name: fmt.Sprintf("person %d", b.d.IntN(1e6)), CreateTime: b.randomTime(), UpdateTime: b.randomTime(), LastSeenTime: b.randomTime(),
			ClaimMatch: &iam.ClaimMatch{Issuer: issuer, Subject: fmt.Sprintf("person-%d", i)},
		}
		if i%100 == 0 {
			identity.ClaimMatch = &iam.ClaimMatch{Issuer: fmt.Sprintf("https://%d.example.com", i), SubjectPattern: "repo:.*"}
		}
		if parent == b.root {
			b.identities = append(b.identities, identity.UID)
		}
		return identity
	})
	var custom []core.UID
	chunks(b, 2000, storetest.Tables.IAM.Roles, func(i int) *iam.Role {
		r := &iam.Role{UID: b.d.below(pick(b.d, b.groups)), Name: fmt.Sprintf("role %d", i), Capabilities: []core.Capability{core.CapRepoList}, CreateTime: b.randomTime(), UpdateTime: b.randomTime()}
		if i == 0 {
			r.UID = b.d.below(b.root)
			b.role = r.UID
		}
		custom = append(custom, r.UID)
		return r
	})
	taken := map[string]bool{}
	chunks(b, n.bindings, storetest.Tables.IAM.RoleBindings, func(i int) *iam.RoleBinding {
		for {
			group, identity, role := b.randomGroup(), pick(b.d, b.identities), b.role
			switch {
			case i%10 == 0:
				identity, role = b.identities[0], pick(b.d, custom) // This identity and this role have many bindings.
			case i%4 == 0:
				role = iam.ViewerRole
			}
			if k := string(group + identity + role); !taken[k] {
				taken[k] = true
				return &iam.RoleBinding{UID: b.d.below(group), IdentityUID: identity, RoleUID: role, CreateTime: b.randomTime()}
			}
		}
	})
}

func (b *bigWorld) fill(n sizes) {
	chunks(b, n.repos, storetest.Tables.Inventory.Repos, func(i int) *inventory.Repo {
		r := &inventory.Repo{
			UID: b.d.below(b.randomGroup()), Name: fmt.Sprintf("%x/repo-%d", b.d.IntN(1<<16), i), Description: strings.Repeat("what it holds ", 1+b.d.IntN(8)),
			CreateTime: b.randomTime(), UpdateTime: b.randomTime(),
		}
		b.repos, b.repoNames = append(b.repos, r.UID), append(b.repoNames, r.Name)
		return r
	})
	b.busyRepo = b.repos[0]
	chunks(b, n.tags, storetest.Tables.Inventory.Tags, func(i int) *inventory.Tag {
		repo := b.busyRepo
		if i%2 == 0 {
			repo = b.repos[b.d.IntN(len(b.repos)/10)]
		}
		tag := &inventory.Tag{
			UID: b.d.below(repo), Name: fmt.Sprintf("%d.%d-r%d", b.d.IntN(100), b.d.IntN(100), i), Digest: "sha256:" + b.d.hex(32),
			CreateTime: b.randomTime(), UpdateTime: b.randomTime(), Deprecated: i%49 == 0,
		}
		if repo == b.busyRepo {
			b.tagName, b.tagDigest = tag.Name, tag.Digest
		}
		return tag
	})
	b.insert(func(tx core.Tx) error {
		images := times(2000, func(i int) *inventory.Image {
			k := core.ImageKey{Repo: b.repos[i], Digest: "sha256:" + b.d.hex(32)}
			b.digests = append(b.digests, k)
			return &inventory.Image{Repo: k.Repo, Digest: k.Digest, Architectures: []inventory.Architecture{{Name: "amd64", Size: 1}}, Packages: b.repoNames[2*i+1 : 2*i+3]}
		})
		return storetest.Tables.Registry.PutImages(b.t.Context(), tx, images)
	})
	chunks(b, n.advisories, storetest.Tables.Inventory.Advisories, func(i int) *inventory.Advisory {
		id := fmt.Sprintf("GO-%d-%d", 2000+b.d.IntN(25), i)
		artifact := b.repoNames[b.d.IntN(max(len(b.repoNames)/20, n.advisories/4))] // An artifact has four advisories, whatever the size.
		events := []inventory.AdvisoryEvent{{Fixed: &inventory.Fixed{FixedVersion: "1.2.3"}, Author: "someone"}}
		if i%200 == 0 { // few are open
			events = []inventory.AdvisoryEvent{{Detection: &inventory.Detection{Manual: &struct{}{}}, Author: "someone"}}
		}
		b.artifacts, b.advisoryIDs = append(b.artifacts, artifact), append(b.advisoryIDs, id)
		return standAlone(&inventory.Advisory{
			UID: b.d.below(b.randomGroup()), AdvisoryID: id, ArtifactName: artifact, Aliases: []string{"CVE-" + id}, Origin: "osv",
			Events: events, CreateTime: b.randomTime(), UpdateTime: b.randomTime(),
			Severities: severities[b.d.IntN(len(severities))],
		})
	})
	chunks(b, n.advisories, storetest.Tables.Inventory.Vulnerabilities, func(i int) *inventory.Vulnerability {
		id := fmt.Sprintf("GO-%d", i)
		return &inventory.Vulnerability{ID: id, Aliases: []string{"CVE-" + id}, Details: strings.Repeat("details ", 30), UpdateTime: b.randomTime()}
	})
	chunks(b, 1000, storetest.Tables.Webhooks.Subscriptions, func(i int) *webhooks.Subscription {
		return &webhooks.Subscription{UID: b.d.below(pick(b.d, b.groups)), Sink: fmt.Sprintf("https://sink.example.com/%d", i), EncryptedSecret: []byte("x"), CreateTime: b.randomTime(), UpdateTime: b.randomTime()}
	})
}

// standAlone makes an advisory represent itself, as a vulnerability without other records.
func standAlone(a *inventory.Advisory) *inventory.Advisory {
	a.Representative = a.UID
	return a
}

// createFindings stores findings of some packages. A few have the word "rare".
func (b *bigWorld) createFindings(n int) {
	d, at := newDice(3), 0
	ratings := []core.SeverityRating{core.SeverityLow, core.SeverityMedium, core.SeverityHigh, core.SeverityCritical}
	for at < n {
		b.insert(func(tx core.Tx) error {
			return storetest.Tables.Inventory.ReplaceFindings(b.t.Context(), tx, nil, times(min(10_000, n-at), func(int) *inventory.Finding {
				repo, flaw, chance := pick(d, b.repos), d.IntN(500), d.Float64()
				f := &inventory.Finding{
					UID: d.below(repo), Repo: repo, Digest: "sha256:" + d.hex(32), Advisory: b.root + core.UID(fmt.Sprintf("/%016x", flaw)), Representative: b.root + core.UID(fmt.Sprintf("/%016x", flaw)),
					VulnerabilityID: fmt.Sprintf("CVE-2026-%d", flaw), Sources: []string{fmt.Sprintf("CVE-2026-%d", flaw)}, Package: fmt.Sprintf("package-%d", flaw), Ecosystem: "npm", Basis: inventory.BasisVersion,
					Severity: inventory.AdvisorySeverity{Rating: pick(d, ratings)}, EPSS: &chance, State: inventory.FindingOpen, IsLive: true, FirstSeenTime: b.timeOf(d), UpdateTime: b.timeOf(d),
				}
				if at++; at%(n/50) == 0 {
					f.Package, f.DueTime = "rare", b.timeOf(d)
				}
				switch { // In a small world a third is resolved. Few are decided.
				case at%3 == 0 && n < ordinarySizes.findings: // The bars of the hot reads are without them.
					f.State, f.ResolvedTime = inventory.FindingResolved, b.timeOf(d)
				case at%500 == 1:
					f.State = inventory.FindingAccepted
				}
				if at%10 == 0 {
					f.FixedVersions = []string{"1.2.3"}
				}
				return f
			}))
		})
	}
}

// createPackages stores packages, all of which one repo holds. The busy repo holds a few of them.
func (b *bigWorld) createPackages(n int) {
	versions := times(n, func(i int) *inventory.PackageVersion {
		of := inventory.Package{UID: b.root + core.UID(fmt.Sprintf("/%016x", i)), Name: fmt.Sprintf("package-%d", i), Ecosystem: "npm", CreateTime: core.At(epoch)}
		return &inventory.PackageVersion{UID: of.UID + core.UID(fmt.Sprintf("/%016x", i)), Version: "1.0.0", Package: of, CreateTime: of.CreateTime}
	})
	uses := times(n, func(i int) inventory.PackageUse { return inventory.PackageUse{Version: versions[i].UID, Image: 1} })
	b.insert(func(tx core.Tx) error {
		ctx := b.t.Context()
		return errors.Join(storetest.Tables.Inventory.InsertPackages(ctx, tx, versions), storetest.Tables.Inventory.ChangeUses(ctx, tx, b.repos[1], nil, uses), storetest.Tables.Inventory.ChangeUses(ctx, tx, b.busyRepo, nil, uses[:n/200]))
	})
}

// createReports adds tags to some images, so that reports exist for them.
func (b *bigWorld) createReports() {
	d := newDice(2) // A separate dice keeps the other random values unchanged.
	b.insert(func(tx core.Tx) error {
		tags := times(50, func(i int) *inventory.Tag {
			return &inventory.Tag{UID: d.below(b.repos[i]), Name: "reported", Digest: b.digests[i].Digest, CreateTime: core.At(epoch), UpdateTime: core.At(epoch)}
		})
		return storetest.Tables.Inventory.Tags.Insert(b.t.Context(), tx, tags...)
	})
}

// createOrganizations creates small organizations with one owner, one repo and one
// advisory.
func (b *bigWorld) createOrganizations(n int) {
	roots := times(n, func(i int) *iam.Group {
		return &iam.Group{UID: b.d.root(), Name: fmt.Sprintf("small %d", i), CreateTime: b.randomTime(), UpdateTime: b.randomTime()}
	})
	owners := times(n, func(i int) *iam.Identity {
		return &iam.Identity{
			UID: b.d.below(roots[i].UID), Name: "owner", CreateTime: b.randomTime(), UpdateTime: b.randomTime(),
			ClaimMatch: &iam.ClaimMatch{Issuer: issuer, Subject: fmt.Sprintf("owner-%d", i)},
		}
	})
	bindings := times(n, func(i int) *iam.RoleBinding {
		return &iam.RoleBinding{UID: b.d.below(roots[i].UID), IdentityUID: owners[i].UID, RoleUID: iam.OwnerRole, CreateTime: b.randomTime()}
	})
	repos := times(n, func(i int) *inventory.Repo {
		return &inventory.Repo{UID: b.d.below(roots[i].UID), Name: b.repoNames[0], CreateTime: b.randomTime(), UpdateTime: b.randomTime()}
	})
	advisories := times(n, func(i int) *inventory.Advisory {
		return standAlone(&inventory.Advisory{UID: b.d.below(roots[i].UID), AdvisoryID: "GO-1", ArtifactName: b.repoNames[0], CreateTime: b.randomTime(), UpdateTime: b.randomTime()})
	})
	b.otherOrg = roots[0].UID
	ctx := b.t.Context()
	b.insert(func(tx core.Tx) error {
		for _, insert := range []func() error{
			func() error { return storetest.Tables.IAM.Groups.Insert(ctx, tx, roots...) },
			func() error { return storetest.Tables.IAM.Identities.Insert(ctx, tx, owners...) },
			func() error { return storetest.Tables.IAM.RoleBindings.Insert(ctx, tx, bindings...) },
			func() error { return storetest.Tables.Inventory.Repos.Insert(ctx, tx, repos...) },
			func() error { return storetest.Tables.Inventory.Advisories.Insert(ctx, tx, advisories...) },
		} {
			if err := insert(); err != nil {
				return err
			}
		}
		return nil
	})
}
