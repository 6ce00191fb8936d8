package server

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// An SBOM is decided about over the network as imports are received, and nothing of it is stored.
func TestAnSBOMIsCheckedOverTheNetwork(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, databaseURL string) {
		d := openDoor(t, databaseURL)
		at := "/check/sbom?group=" + string(d.shop)
		bad, good := bomOf("checkout", 1, "left-pad@1.3.0", "other@2.0.0"), bomOf("checkout", 1, "other@2.0.0")
		d.post(d.shopCI, at, bad).want(t, 200, `"verdict":"CHECK_VERDICT_FAILED"`, `"failing":{"total":1,`, `"packages":2`, digestOf(1), `"ignored":[]`)
		d.post(d.shopCI, at, good).want(t, 200, `"verdict":"CHECK_VERDICT_PASSED"`)
		d.post(d.shopCI, at, bomOf("checkout", 1)).want(t, 200, `"verdict":"CHECK_VERDICT_NOT_KNOWN"`)
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write([]byte(bad))
		_ = w.Close()
		d.post(d.shopCI, at, packed.String(), "Content-Encoding", "gzip").want(t, 200, "CHECK_VERDICT_FAILED")
		for body, status := range map[string]int{"{}": 400, bad + "\n" + good: 400, "odd": 400, "": 400} {
			d.post(d.shopCI, at, body).want(t, status, `"field":"body`)
		}
		d.post(d.shopCI, at+"&failOn=WORST", bad).want(t, 400, `"field":"failOn"`)
		d.post(d.shopCI, "/check/sbom", bad).want(t, 400, `"field":"group"`)
		d.post(d.shopCI, at, bad, "Content-Type", "application/zip").want(t, 400, "Content-Type")
		d.post(d.shopCI, "/check/sbom?group="+string(d.ops), strings.Repeat("x", 1<<20)).want(t, 403, "findings.list")
		repos, err := d.p.Repos.List(core.WithActor(t.Context(), d.operator()), core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{DescendantsOf: d.org}, PageSize: 10})
		if err != nil || len(repos.Items) != 0 {
			t.Errorf("%d repos after checks: %v", len(repos.Items), err)
		}
	})
}
