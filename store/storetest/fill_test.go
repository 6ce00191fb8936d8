package storetest_test

import (
	"errors"
	"fmt"
	"strings"

	"atrium/platform"
	"atrium/store/storetest"
)

// createPeople creates identities, roles and bindings.
func (b *bigWorld) createPeople(n sizes) {
	chunks(b, n.identities, storetest.Tables.IAM.Identities, func(i int) *platform.Identity {
		parent := b.randomGroup()
		if i%2 == 0 {
			parent = b.root
		}
		identity := &platform.Identity{
			UID: b.d.below(parent), Name: fmt.Sprintf("person %d", b.d.IntN(1e6)), CreateTime: b.randomTime(), UpdateTime: b.randomTime(), LastSeenTime: b.randomTime(),
			ClaimMatch: &platform.ClaimMatch{Issuer: issuer, Subject: fmt.Sprintf("person-%d", i)},
		}
		if i%100 == 0 {
			identity.ClaimMatch = &platform.ClaimMatch{Issuer: fmt.Sprintf("https://%d.example.com", i), SubjectPattern: "repo:.*"}
		}
		if parent == b.root {
			b.identities = append(b.identities, identity.UID)
		}
		return identity
	})
	var custom []platform.UID
	chunks(b, 2000, storetest.Tables.IAM.Roles, func(i int) *platform.Role {
		r := &platform.Role{UID: b.d.below(pick(b.d, b.groups)), Name: fmt.Sprintf("role %d", i), Capabilities: []platform.Capability{platform.CapRepoList}, CreateTime: b.randomTime(), UpdateTime: b.randomTime()}
		if i == 0 {
			r.UID = b.d.below(b.root)
			b.role = r.UID
		}
		custom = append(custom, r.UID)
		return r
	})
	taken := map[string]bool{}
	chunks(b, n.bindings, storetest.Tables.IAM.RoleBindings, func(i int) *platform.RoleBinding {
		for {
			group, identity, role := b.randomGroup(), pick(b.d, b.identities), b.role
			switch {
			case i%10 == 0:
				identity, role = b.identities[0], pick(b.d, custom) // This identity and this role have many bindings.
			case i%4 == 0:
				role = platform.ViewerRole
			}
			if k := string(group + identity + role); !taken[k] {
				taken[k] = true
				return &platform.RoleBinding{UID: b.d.below(group), IdentityUID: identity, RoleUID: role, CreateTime: b.randomTime()}
			}
		}
	})
}

func (b *bigWorld) fill(n sizes) {
	chunks(b, n.repos, storetest.Tables.Inventory.Repos, func(i int) *platform.Repo {
		r := &platform.Repo{
			UID: b.d.below(b.randomGroup()), Name: fmt.Sprintf("%x/repo-%d", b.d.IntN(1<<16), i), Description: strings.Repeat("what it holds ", 1+b.d.IntN(8)),
			CreateTime: b.randomTime(), UpdateTime: b.randomTime(),
		}
		b.repos, b.repoNames = append(b.repos, r.UID), append(b.repoNames, r.Name)
		return r
	})
	b.busyRepo = b.repos[0]
	chunks(b, n.tags, storetest.Tables.Inventory.Tags, func(i int) *platform.Tag {
		repo := b.busyRepo
		if i%2 == 0 {
			repo = b.repos[b.d.IntN(len(b.repos)/10)]
		}
		tag := &platform.Tag{
			UID: b.d.below(repo), Name: fmt.Sprintf("%d.%d-r%d", b.d.IntN(100), b.d.IntN(100), i), Digest: "sha256:" + b.d.hex(32),
			CreateTime: b.randomTime(), UpdateTime: b.randomTime(), Deprecated: i%49 == 0,
		}
		if repo == b.busyRepo {
			b.tagName, b.tagDigest = tag.Name, tag.Digest
		}
		return tag
	})
	b.insert(func(tx platform.Tx) error {
		images := times(2000, func(i int) *platform.Image {
			k := platform.ImageKey{Repo: b.repos[i], Digest: "sha256:" + b.d.hex(32)}
			b.digests = append(b.digests, k)
			return &platform.Image{Repo: k.Repo, Digest: k.Digest, Architectures: []platform.Architecture{{Name: "amd64", Size: 1}}, Packages: b.repoNames[2*i+1 : 2*i+3]}
		})
		return storetest.Tables.Inventory.PutImages(b.t.Context(), tx, images)
	})
	chunks(b, n.advisories, storetest.Tables.Inventory.Advisories, func(i int) *platform.Advisory {
		id := fmt.Sprintf("GO-%d-%d", 2000+b.d.IntN(25), i)
		artifact := b.repoNames[b.d.IntN(max(len(b.repoNames)/20, n.advisories/4))] // An artifact has four advisories, whatever the size.
		events := []platform.AdvisoryEvent{{Fixed: &platform.Fixed{FixedVersion: "1.2.3"}, Author: "someone"}}
		if i%200 == 0 { // few are open
			events = []platform.AdvisoryEvent{{Detection: &platform.Detection{Manual: &struct{}{}}, Author: "someone"}}
		}
		b.artifacts, b.advisoryIDs = append(b.artifacts, artifact), append(b.advisoryIDs, id)
		return &platform.Advisory{
			UID: b.d.below(b.randomGroup()), AdvisoryID: id, ArtifactName: artifact, Aliases: []string{"CVE-" + id}, Origin: "osv",
			Events: events, CreateTime: b.randomTime(), UpdateTime: b.randomTime(),
			Severities: severities[b.d.IntN(len(severities))],
		}
	})
	chunks(b, n.advisories, storetest.Tables.Inventory.Vulnerabilities, func(i int) *platform.Vulnerability {
		id := fmt.Sprintf("GO-%d", i)
		return &platform.Vulnerability{ID: id, Aliases: []string{"CVE-" + id}, Details: strings.Repeat("details ", 30), UpdateTime: b.randomTime()}
	})
	chunks(b, 1000, storetest.Tables.Webhooks.Subscriptions, func(i int) *platform.Subscription {
		return &platform.Subscription{UID: b.d.below(pick(b.d, b.groups)), Sink: fmt.Sprintf("https://sink.example.com/%d", i), EncryptedSecret: []byte("x"), CreateTime: b.randomTime(), UpdateTime: b.randomTime()}
	})
}

// createFindings stores findings of some packages. A few have the word "rare".
func (b *bigWorld) createFindings(n int) {
	d, at := newDice(3), 0
	ratings := []platform.SeverityRating{platform.SeverityLow, platform.SeverityMedium, platform.SeverityHigh, platform.SeverityCritical}
	for at < n {
		b.insert(func(tx platform.Tx) error {
			return storetest.Tables.Inventory.ReplaceFindings(b.t.Context(), tx, nil, times(min(10_000, n-at), func(int) *platform.Finding {
				repo, flaw, chance := pick(d, b.repos), d.IntN(500), d.Float64()
				f := &platform.Finding{
					UID: d.below(repo), Repo: repo, Digest: "sha256:" + d.hex(32), Advisory: b.root + platform.UID(fmt.Sprintf("/%016x", flaw)),
					VulnerabilityID: fmt.Sprintf("CVE-2026-%d", flaw), Package: fmt.Sprintf("package-%d", flaw), Ecosystem: "npm", Basis: platform.BasisVersion,
					Severity: platform.AdvisorySeverity{Rating: pick(d, ratings)}, EPSS: &chance, State: platform.FindingOpen, IsLive: true, FirstSeenTime: b.timeOf(d), UpdateTime: b.timeOf(d),
				}
				if at++; at%(n/50) == 0 {
					f.Package, f.DueTime = "rare", b.timeOf(d)
				}
				switch { // In a small world a third is resolved. Few are decided.
				case at%3 == 0 && n < ordinarySizes.findings: // The bars of the hot reads are without them.
					f.State, f.ResolvedTime = platform.FindingResolved, b.timeOf(d)
				case at%500 == 1:
					f.State = platform.FindingAccepted
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
	versions := times(n, func(i int) *platform.PackageVersion {
		of := platform.Package{UID: b.root + platform.UID(fmt.Sprintf("/%016x", i)), Name: fmt.Sprintf("package-%d", i), Ecosystem: "npm", CreateTime: platform.At(epoch)}
		return &platform.PackageVersion{UID: of.UID + "/0000000000000001", Version: "1.0.0", Package: of, CreateTime: of.CreateTime}
	})
	uses := times(n, func(i int) platform.PackageUse { return platform.PackageUse{Version: versions[i].UID, Image: 1} })
	b.insert(func(tx platform.Tx) error {
		ctx := b.t.Context()
		return errors.Join(storetest.Tables.Inventory.InsertPackages(ctx, tx, versions), storetest.Tables.Inventory.ChangeUses(ctx, tx, b.repos[1], nil, uses), storetest.Tables.Inventory.ChangeUses(ctx, tx, b.busyRepo, nil, uses[:n/200]))
	})
}

// createReports adds tags to some images, so that reports exist for them.
func (b *bigWorld) createReports() {
	d := newDice(2) // A separate dice keeps the other random values unchanged.
	b.insert(func(tx platform.Tx) error {
		tags := times(50, func(i int) *platform.Tag {
			return &platform.Tag{UID: d.below(b.repos[i]), Name: "reported", Digest: b.digests[i].Digest, CreateTime: platform.At(epoch), UpdateTime: platform.At(epoch)}
		})
		return storetest.Tables.Inventory.Tags.Insert(b.t.Context(), tx, tags...)
	})
}

// createOrganisations creates small organisations with one owner, one repo and one
// advisory.
func (b *bigWorld) createOrganisations(n int) {
	roots := times(n, func(i int) *platform.Group {
		return &platform.Group{UID: b.d.root(), Name: fmt.Sprintf("small %d", i), CreateTime: b.randomTime(), UpdateTime: b.randomTime()}
	})
	owners := times(n, func(i int) *platform.Identity {
		return &platform.Identity{
			UID: b.d.below(roots[i].UID), Name: "owner", CreateTime: b.randomTime(), UpdateTime: b.randomTime(),
			ClaimMatch: &platform.ClaimMatch{Issuer: issuer, Subject: fmt.Sprintf("owner-%d", i)},
		}
	})
	bindings := times(n, func(i int) *platform.RoleBinding {
		return &platform.RoleBinding{UID: b.d.below(roots[i].UID), IdentityUID: owners[i].UID, RoleUID: platform.OwnerRole, CreateTime: b.randomTime()}
	})
	repos := times(n, func(i int) *platform.Repo {
		return &platform.Repo{UID: b.d.below(roots[i].UID), Name: b.repoNames[0], CreateTime: b.randomTime(), UpdateTime: b.randomTime()}
	})
	advisories := times(n, func(i int) *platform.Advisory {
		return &platform.Advisory{UID: b.d.below(roots[i].UID), AdvisoryID: "GO-1", ArtifactName: b.repoNames[0], CreateTime: b.randomTime(), UpdateTime: b.randomTime()}
	})
	b.otherOrg = roots[0].UID
	ctx := b.t.Context()
	b.insert(func(tx platform.Tx) error {
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
