package demo

import (
	"crypto/sha256"
	"fmt"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// This file releases services: it creates repos, images and tags, and moves and deletes tags.

// begin creates the repos of services of one team, with their first releases.
func (d *seeder) begin(all []service) {
	first := func(s service) string { return s.first }
	d.describe(all, first)
	d.hold(all, first, 17)
	d.importTags(all, func(s service) []inventory.Tag {
		return []inventory.Tag{{Name: "latest", Digest: s.digest(s.first)}, {Name: s.first, Digest: s.digest(s.first)}}
	})
}

// publish releases a version of each service that has it, as the pipeline does: the image comes with what it holds, and
// then its tags. The images are larger than those of today.
func (d *seeder) publish(all []service, version func(service) string, larger int64) {
	d.hold(all, version, larger)
	ci := d.signIn(pipeline)
	for _, s := range all {
		for _, name := range []string{version(s), "latest"} {
			if version(s) == "" {
				continue
			}
			d.try(func() error {
				tag := inventory.Tag{Name: name, Digest: s.digest(version(s))}
				_, err := d.p.Tags.Create(ci, d.repos[s.name], fieldmask.TypedInput(&tag, "name", "digest"))
				return err
			})
		}
	}
}

// release releases the versions of today. Those before them are deprecated, and the first ones lose their tags.
func (d *seeder) release(all []service) {
	current := func(s service) string { return s.release }
	d.describe(all, current)
	d.hold(all, current, 0)
	d.importTags(all, func(s service) []inventory.Tag {
		digest := s.digest(s.release)
		return []inventory.Tag{
			{Name: "latest", Digest: digest},
			{Name: s.release, Digest: digest},
			{Name: s.release + "-r0", Digest: digest},
			{Name: s.release + "-20260301", Digest: digest},
			{Name: "sha256-" + digest[len("sha256:"):] + ".sig", Digest: s.digest(s.release + ".sig")},
			{Name: s.previous, Digest: s.digest(s.previous), Deprecated: true},
		}
	})
	editor, owner := d.signIn(developer("editor")), d.signIn(developer("owner"))
	for _, s := range all {
		d.try(func() error {
			active := inventory.Repo{ActiveTags: []string{s.release, "latest"}}
			_, err := d.p.Repos.Update(editor, d.repos[s.name], fieldmask.TypedInput(&active, "activeTags"))
			return err
		})
		d.try(func() error {
			first, err := d.p.Tags.List(owner, core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{ChildrenOf: d.repos[s.name]}, Filter: &inventory.TagFilter{Name: s.first}})
			if err != nil || len(first.Items) == 0 {
				return err
			}
			return d.p.Tags.Delete(owner, first.Items[0].UID)
		})
	}
}

// describe imports the repos of services of one team.
func (d *seeder) describe(all []service, version func(service) string) {
	d.try(func() error {
		repos := make([]*registry.ImportedRepo, len(all))
		for i, s := range all {
			repos[i] = &registry.ImportedRepo{
				Repo: inventory.Repo{
					Name: s.name, Description: s.description, CatalogTier: core.CatalogTierApplication,
					Aliases: []string{"registry.example.com/acme/" + s.name}, ActiveTags: []string{version(s), "latest"},
				},
				Readme: "# " + s.name + "\n\n" + s.description + ".\n\n```sh\ndocker run registry.example.com/acme/" + s.name + ":" + version(s) + "\n```\n",
			}
		}
		_, err := d.p.Registry.ImportRepos(d.ctx, d.teams[all[0].team], repos, core.ImportOptions{})
		for _, r := range repos {
			d.repos[r.Name] = r.UID
		}
		return err
	})
}

func (d *seeder) importTags(all []service, tags func(service) []inventory.Tag) {
	d.try(func() error {
		var imported []*registry.ImportedTag
		for _, s := range all {
			for _, t := range tags(s) {
				imported = append(imported, &registry.ImportedTag{Repo: d.repos[s.name], Tag: t})
			}
		}
		_, err := d.p.Registry.ImportTags(d.ctx, imported, core.ImportOptions{})
		return err
	})
}

// hold imports the images of a release, so many megabytes larger than that of today, and what they hold. Of services
// without a stack only the names of packages are known.
func (d *seeder) hold(all []service, version func(service) string, larger int64) {
	d.try(func() error {
		var images []*inventory.Image
		var sboms []*registry.ImportedSBOM
		for _, s := range all {
			if version(s) == "" {
				continue
			}
			repo, digest, megabytes := d.repos[s.name], s.digest(version(s)), s.megabytes+larger
			images = append(images, &inventory.Image{
				Repo: repo, Digest: digest, Packages: append([]string{s.name}, s.packages...),
				Architectures: []inventory.Architecture{{Name: "amd64", Size: megabytes << 20}, {Name: "arm64", Size: (megabytes - 2) << 20}},
			})
			if holds := s.contents(version(s)); holds != nil {
				sboms = append(sboms, &registry.ImportedSBOM{Repo: repo, Digest: digest, Format: "CycloneDX 1.6", Packages: holds.packages()})
			}
		}
		if len(images) == 0 {
			return nil
		}
		_, err := d.p.Registry.ImportImages(d.ctx, images)
		if err == nil && len(sboms) > 0 {
			_, err = d.p.Registry.ImportSBOMs(d.ctx, sboms)
		}
		return err
	})
}

// contents returns what a version is built on, or nil if that is not known.
func (s service) contents(version string) contents {
	switch in := stacks[s.stack]; version {
	case s.first:
		return in.first
	case s.supported:
		return in.supported
	default:
		return in.current
	}
}

// digest returns a made-up digest of a version, the same one each time.
func (s service) digest(version string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(Name+"/"+s.name+":"+version)))
}
