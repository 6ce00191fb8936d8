package platform_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

func TestCreatingATagThatExistsMovesIt(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo, other := w.repo(acme.uid), w.repo(acme.uid)
		put := func(repo core.UID, format string, args ...any) *inventory.Tag {
			t.Helper()
			made, err := w.p.Tags.Create(acme.owner, repo, body[*inventory.Tag](format, args...))
			must(t, err)
			return made
		}
		first := put(repo, `{"name": "1.26", "digest": %q, "bundles": ["a"]}`, digest(1))
		w.pass(time.Hour)
		moved := put(repo, `{"name": "1.26", "digest": %q, "deprecated": true}`, digest(2))
		if moved.UID != first.UID || moved.Digest != digest(2) || !moved.Deprecated || !moved.UpdateTime.After(first.UpdateTime.Time) || !moved.CreateTime.Equal(first.CreateTime.Time) {
			t.Errorf("%+v became %+v, want UID %v and Digest %v", first, moved, first.UID, digest(2))
		}
		read, err := w.p.Tags.Get(acme.owner, first.UID)
		must(t, err)
		if read.Digest != digest(2) || !read.Deprecated || len(read.Bundles) != 0 {
			t.Errorf("got %+v, want Digest %v and 0 bundles", read, digest(2))
		}
		if elsewhere := put(other, `{"name": "1.26", "digest": %q}`, digest(3)); elsewhere.UID == first.UID || elsewhere.UID.Parent() != other {
			t.Errorf("got %+v, want Parent %v", elsewhere, other)
		}
		page, err := w.p.Tags.List(acme.owner, core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{ChildrenOf: repo}})
		must(t, err)
		if page.TotalCount != 1 || len(page.Items) != 1 {
			t.Errorf("%d tags of %d, want 1 and 1", len(page.Items), page.TotalCount)
		}
		for in, want := range map[string]string{
			`{}`: "name digest", `{"name": "x"}`: "digest", `{"name": ".x", "digest": "sha256:1"}`: "name digest",
			`{"name": "x", "digest": "` + digest(1) + `", "deprecated": "yes"}`:                "deprecated",
			`{"name": "x", "digest": "` + digest(1) + `", "bundles": ["\n"], "updateTime": 1}`: "updateTime bundles",
		} {
			_, err := w.p.Tags.Create(acme.owner, repo, body[*inventory.Tag]("%s", in))
			if got := violationFields(err); got != want {
				t.Errorf("%s: %s, want %s", in, got, want)
			}
		}
		w.checkCounters()
	})
}

func TestTagsAreFiltered(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		var since core.Time
		for i, name := range []string{"1.26", "1.26-r3", "bookworm-20260327", "latest", "sha256-" + strings.Repeat("0", 64) + ".sig"} {
			made, err := w.p.Tags.Create(acme.owner, repo, body[*inventory.Tag](`{"name": %q, "digest": %q, "deprecated": %t}`, name, digest(i%2), i == 0))
			must(t, err)
			if name == "latest" {
				since = made.UpdateTime
			}
		}
		yes, no := true, false
		for what, x := range map[string]struct {
			f    *inventory.TagFilter
			want string
		}{
			"all":         {&inventory.TagFilter{}, "1.26 1.26-r3 bookworm-20260327 latest sha256"},
			"by name":     {&inventory.TagFilter{Name: "latest"}, "latest"},
			"no part":     {&inventory.TagFilter{Name: "late"}, ""},
			"digest":      {&inventory.TagFilter{Digest: digest(1)}, "1.26-r3 latest"},
			"since":       {&inventory.TagFilter{UpdatedSince: since}, "latest sha256"},
			"deprecated":  {&inventory.TagFilter{Deprecated: &yes}, "1.26"},
			"current":     {&inventory.TagFilter{Deprecated: &no, Without: []inventory.TagClass{inventory.TagClassReferrer}}, "1.26-r3 bookworm-20260327 latest"},
			"people's":    {&inventory.TagFilter{Without: []inventory.TagClass{inventory.TagClassReferrer, inventory.TagClassDate, inventory.TagClassEpoch}}, "1.26 latest"},
			"one of many": {&inventory.TagFilter{Names: []string{"latest", "1.26", "none"}}, "1.26 latest"},
		} {
			page, err := w.p.Tags.List(acme.owner, core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{ChildrenOf: repo}, Filter: x.f})
			must(t, err)
			var got []string
			for _, tag := range page.Items {
				got = append(got, strings.Split(tag.Name, "-000")[0])
			}
			if strings.Join(got, " ") != x.want || int(page.TotalCount) != len(got) {
				t.Errorf("%s: %q of %d", what, got, page.TotalCount)
			}
		}
		_, err := w.p.Tags.List(acme.owner, core.ListRequest[*inventory.TagFilter]{Filter: &inventory.TagFilter{Digest: "sha256:x"}})
		if got := violationFields(err); got != "digest" {
			t.Errorf("got %v, want 'digest'", got)
		}
	})
}

func TestAReadmeIsTextOfItsRepo(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		p := w.p.Repos
		empty, err := p.Readme(acme.owner, repo)
		must(t, err)
		if empty.Content != "" || empty.UID != repo {
			t.Errorf("got %+v, want Content \"\" and UID %v", empty, repo)
		}
		before, err := p.Get(acme.owner, repo)
		must(t, err)
		const text = "# Go\n\n\tA 'quoted' \"text\" with äöü 漢字 🙂 and \\u0000.\r\n"
		largest := strings.Repeat("é", 128<<10)
		for _, content := range []string{text, largest, "x"} {
			written, err := p.UpdateReadme(acme.owner, repo, fieldmask.TypedInput(&inventory.Readme{Content: content}, "content"))
			must(t, err)
			read, err := p.Readme(acme.owner, repo)
			must(t, err)
			if written.Content != content || read.Content != content || written.UID != repo {
				t.Errorf("%d bytes came back as %d", len(content), len(read.Content))
			}
		}
		after, err := p.Get(acme.owner, repo)
		must(t, err)
		if !after.UpdateTime.After(before.UpdateTime.Time) || after.Name != before.Name {
			t.Errorf("%+v became %+v, want Name %v", before, after, before.Name)
		}
		for in, want := range map[string]string{
			`{"content": 1}`: "content", `{"text": "x"}`: "text", `{"content": "a\u0000b"}`: "content",
			`{"content": "` + largest + `a"}`: "content", `[]`: "body",
		} {
			_, err := p.UpdateReadme(acme.owner, repo, body[*inventory.Readme]("%s", in))
			if got := violationFields(err); got != want {
				t.Errorf("%.40s: %s, want %s", in, got, want)
			}
		}
		_, err = p.UpdateReadme(acme.owner, repo, inputWithMask[*inventory.Readme](`{}`, "uid"))
		if got := violationFields(err); got != "updateMask" {
			t.Errorf("got %v, want 'updateMask'", got)
		}
		if _, err = p.UpdateReadme(acme.owner, repo, inputWithMask[*inventory.Readme](`{"uid": "`+string(repo)+`", "content": "x"}`, "uid", "content")); err != nil {
			t.Errorf("a mask of an unchanged uid: %v", err)
		}
		kept, err := p.UpdateReadme(acme.owner, repo, body[*inventory.Readme](`{}`))
		must(t, err)
		cleared, err := p.UpdateReadme(acme.owner, repo, body[*inventory.Readme](`{"content": null}`))
		must(t, err)
		if kept.Content != "x" || cleared.Content != "" {
			t.Errorf("kept %q, want x, cleared %q, want none", kept.Content, cleared.Content)
		}
		_, err = p.UpdateReadme(acme.owner, missingBelow(acme.uid), body[*inventory.Readme](`{"content": "x"}`))
		if e := refusal(t, "a missing repo", err, core.CodeNotFound); e.Area != "registry" || e.Resource.Kind != "Repo" {
			t.Errorf("got %+v, want Area 'registry' and Kind 'Repo'", e)
		}
		readmes, errs := p.Readmes(acme.owner, []core.UID{missingBelow(acme.uid), repo, "x"})
		if readmes[1] == nil || !isCode(errs[0], core.CodeNotFound) || !isCode(errs[2], core.CodeInvalidArgument) {
			t.Errorf("%v %v", readmes, errs)
		}
	})
}

func TestAnImageHasArchitecturesAndSizes(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		newImage := func(n int, architectures ...inventory.Architecture) *inventory.Image {
			return &inventory.Image{Repo: repo, Digest: digest(n), Architectures: architectures}
		}
		_, err := w.p.Registry.ImportImages(w.operator(), []*inventory.Image{
			newImage(1, inventory.Architecture{Name: "arm64", Size: 5}, inventory.Architecture{Name: "amd64", Size: 7}),
			newImage(2, inventory.Architecture{Name: "arm64", Size: 5}, inventory.Architecture{Name: "s390x"}),
			newImage(3, inventory.Architecture{Name: "amd64"}), newImage(4),
		})
		must(t, err)
		size := func(n int, architecture string) (inventory.ImageSize, error) {
			return w.p.Images.Size(acme.owner, core.ImageKey{Repo: repo, Digest: digest(n)}, architecture)
		}
		for _, x := range []struct {
			digest int
			asked  string
			want   inventory.ImageSize
		}{
			{1, "", inventory.ImageSize{Size: 7, Architecture: "amd64"}}, {1, "arm64", inventory.ImageSize{Size: 5, Architecture: "arm64"}}, {1, "riscv64", inventory.ImageSize{}},
			{2, "", inventory.ImageSize{Size: 5, Architecture: "arm64"}}, {2, "s390x", inventory.ImageSize{}}, {2, "amd64", inventory.ImageSize{}},
			{3, "", inventory.ImageSize{}}, {4, "", inventory.ImageSize{}}, {5, "", inventory.ImageSize{}},
		} {
			got, err := size(x.digest, x.asked)
			if x.want == (inventory.ImageSize{}) {
				expectRefused(t, x.asked, err, core.CodeNotFound)
			} else if err != nil || got != x.want {
				t.Errorf("image %d, %q: %v, want %v (%v)", x.digest, x.asked, got, x.want, err)
			}
		}
		image, err := w.p.Images.Get(acme.owner, core.ImageKey{Repo: repo, Digest: digest(2)})
		must(t, err)
		if !slices.Equal(image.ArchitectureNames(), []string{"arm64", "s390x"}) {
			t.Errorf("got %+v, want ArchitectureNames %v", image, []string{"arm64", "s390x"})
		}
		_, err = w.p.Images.Get(acme.owner, core.ImageKey{Repo: "x", Digest: "y"})
		if got := violationFields(err); got != "repoUid digest" {
			t.Errorf("got %v, want 'repoUid digest'", got)
		}
		puller := w.memberWith(w.role(acme.uid, core.CapRepoList), acme.uid, acme.uid)
		_, err = w.p.Images.Get(puller, core.ImageKey{Repo: repo, Digest: digest(1)})
		if e := refusal(t, "one capability of two", err, core.CodePermissionDenied); e.Metadata["capability"] != "manifest.metadata.list" || e.Area != "registry" {
			t.Errorf("got %+v, want capability 'manifest.metadata.list' and Area 'registry'", e)
		}
	})
}

// A resource below the deepest level could not be found again. So groups end early enough for
// repos with tags in each of them.
func TestEverythingFitsIntoTheDeepestGroup(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		deepest := acme.uid
		for deepest.Depth() < 27 {
			deepest = w.group(deepest)
		}
		_, err := w.p.Groups.Create(acme.owner, deepest, body[*iam.Group](`{"name": "deeper"}`))
		if fields := violationFields(err); fields != "parent" {
			t.Errorf("a deeper group: violations of %q (%v), want parent", fields, err)
		}
		repo := w.repo(deepest)
		tag, err := w.p.Tags.Get(acme.owner, w.tag(repo))
		must(t, err)
		if !tag.UID.Below(repo) {
			t.Errorf("the tag is %s, want it below %s", tag.UID, repo)
		}
		for _, list := range []func() (int64, error){
			func() (int64, error) {
				page, err := w.p.Repos.List(acme.owner, core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{ChildrenOf: deepest}})
				return page.TotalCount, err
			},
			func() (int64, error) {
				page, err := w.p.Tags.List(acme.owner, core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{DescendantsOf: deepest}})
				return page.TotalCount, err
			},
		} {
			if n, err := list(); err != nil || n != 1 {
				t.Errorf("%d rows (%v), want 1", n, err)
			}
		}
	})
}
