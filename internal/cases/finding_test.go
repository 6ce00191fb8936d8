package cases

import (
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// Only GraphQL has findings, because the reference does not have them. So they have no rows
// that run in every protocol.
var findings = newKind(kind{name: "Finding", plural: "Findings", ref: "finding", area: "vulnerabilities", in: "{repo}"})

// createFinding imports an advisory about the name of a repo, and creates a tag there.
func createFinding(e *env, repo string) fields {
	e.Helper()
	uid := core.UID(repo)
	found, err := e.w.p.Repos.Get(e.operator(), uid)
	if err == nil {
		_, err = e.w.p.Feeds.ImportAdvisories(e.operator(), uid.Root(), []*inventory.Advisory{{AdvisoryID: "CVE-2026-1", ArtifactName: found.Name}})
	}
	e.mustCall(call{rpc: "CreateTag", target: repo, fields: fields{"name": "affected", "digest": digest(1)}})
	if err == nil {
		err = e.w.p.Findings.Settle(e.operator())
	}
	page, listed := e.w.p.Findings.List(e.operator(), core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{ChildrenOf: uid}})
	if err != nil || listed != nil || len(page.Items) != 1 {
		e.Fatalf("%d findings: %v %v", len(page.Items), err, listed)
	}
	return fields{"uid": string(page.Items[0].UID)}
}

// The roles decide who may see findings, as for kinds of the reference.
func TestFindingsNeedTheirCapabilityAndThatOfTags(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		e := w.newEnv(t)
		parties := e.parties(w.newEnv(t))
		e.made["finding"] = createFinding(e, e.text("{repo}"))
		uid := e.text("{finding}")
		for _, c := range []call{{rpc: "GetFinding", target: uid}, {rpc: "ListFindings", target: uid, params: fields{"uidp.ids": []any{uid}}}} {
			t.Run(c.rpc, func(t *testing.T) {
				for _, who := range parties {
					own := *e
					own.T = t
					judge{env: &own, k: findings, p: w.graphQL(), who: who, rpc: rpc{capabilities: []string{"CAP_FINDINGS_LIST", "CAP_TAG_LIST"}}}.judge(c)
				}
			})
		}
	})
}
