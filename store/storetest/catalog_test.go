package storetest_test

import (
	"context"
	"fmt"

	"atrium/platform/core"
	"atrium/platform/libraries"
	"atrium/store/storetest"
)

// createCatalog creates artifacts, most of them in Java, and twice as many versions.
func (b *bigWorld) createCatalog(n int) {
	chunks(b, n, storetest.Tables.Libraries.Artifacts, func(i int) *libraries.Artifact {
		a := &libraries.Artifact{
			UID: b.d.root(), Name: fmt.Sprintf("%x:library-%d", b.d.IntN(1<<16), i), Description: fmt.Sprint("what it holds ", i), Ecosystem: libraries.EcosystemJava,
			LatestVersion: "1.0", VersionCount: 2, Remediated: i%50 == 0, CreateTime: b.randomTime(), UpdateTime: b.randomTime(),
		}
		if i%4 == 0 {
			a.Ecosystem, a.CudaVersion = libraries.EcosystemPython, fmt.Sprint(b.d.IntN(100))
		}
		b.libraries = append(b.libraries, a.UID)
		return a
	})
	chunks(b, 2*n, storetest.Tables.Libraries.ArtifactVersions, func(i int) *libraries.ArtifactVersion {
		artifact := b.libraries[0]
		if i%2 == 0 {
			artifact = pick(b.d, b.libraries)
		}
		return &libraries.ArtifactVersion{
			UID: b.d.below(artifact), Version: fmt.Sprint(i), SortKey: fmt.Sprintf("1lC%d", b.d.IntN(1e6)), SizeBytes: 1, CreateTime: b.randomTime(), UpdateTime: b.randomTime(),
		}
	})
}

// addCatalog adds the lists of artifacts and versions.
func (r *readList) addCatalog() {
	type (
		artifacts = core.ListRequest[*libraries.ArtifactFilter]
		versions  = core.ListRequest[*libraries.ArtifactVersionFilter]
	)
	p, busy := r.p, childrenOf(r.b.libraries[0])
	java := &libraries.ArtifactFilter{Ecosystems: bothEcosystems[:1]}
	both := &libraries.ArtifactFilter{Ecosystems: bothEcosystems}
	for _, order := range []string{"name", "create_time desc", "update_time desc", "uid"} {
		r.add("java artifacts by "+order, pageBuffers, askList(p.Artifacts.List, artifacts{Filter: java, OrderBy: order}))
		r.add("java artifacts behind a place by "+order, pageBuffers, readSecondPage(r.b.contextOn(p, "owner"), p.Artifacts.List, artifacts{Filter: java, OrderBy: order, PageSize: 200}))
		// Each ecosystem can fill the whole page, so the keys are merged.
		merged := r.add("artifacts of both by "+order, 2*pageBuffers+51*keyedBuffers, askList(p.Artifacts.List, artifacts{Filter: both, OrderBy: order}))
		merged.maxTotalBuffers, merged.sorts = 2*totalBuffers, true
	}
	for _, order := range []string{"version desc", "create_time", "update_time", "uid"} {
		r.add("versions of a busy artifact by "+order, pageBuffers+keyedBuffers, askList(p.ArtifactVersions.List, versions{UIDP: busy, OrderBy: order}))
	}
	remediated := &libraries.ArtifactFilter{Ecosystems: java.Ecosystems, Remediated: true}
	cuda := &libraries.ArtifactFilter{Ecosystems: bothEcosystems[1:], CudaVersion: "42"}
	for name, f := range map[string]*libraries.ArtifactFilter{"remediated artifacts": remediated, "artifacts of a CUDA version": cuda} {
		r.add(name, pageBuffers+51*keyedBuffers, askList(p.Artifacts.List, artifacts{Filter: f, Parts: core.PartItems}))
	}
	r.add("versions of fifty artifacts", 1000+500*keyedBuffers, askEach(p.ArtifactVersions.ListEach, "version desc", r.b.libraries[:50])).maxTotalBuffers = 50 * 16
	r.add("counts of both ecosystems", 0, func(ctx context.Context) error {
		_, err := p.Artifacts.Counts(ctx, bothEcosystems)
		return err
	}).maxTotalBuffers = 2 * totalBuffers
	r.add("fifty artifacts by uid", 50*keyedBuffers+50, func(ctx context.Context) error {
		_, errs := p.Artifacts.GetMany(ctx, r.b.libraries[:50])
		return errs[0]
	})
}

// keyedBuffers is the cost of one row that is read by its key.
const keyedBuffers = 4

// readSecondPage reads the page after the first.
func readSecondPage[T, F any](owner context.Context, list func(context.Context, core.ListRequest[F]) (core.Page[T], error), req core.ListRequest[F]) func(context.Context) error {
	page, err := list(owner, req)
	req.PageToken, req.PageSize = page.NextPageToken(), 0
	return func(ctx context.Context) error {
		if err != nil {
			return err
		}
		return askList(list, req)(ctx)
	}
}
