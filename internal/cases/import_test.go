package cases

import (
	"net/http"
	"testing"

	"atrium/internal/ingest"
	"atrium/store/storetest"
)

// Only REST has imports, because they take files. The roles decide who may import, as for operations of the reference.
func TestImportsNeedTheirCapabilities(t *testing.T) {
	t.Parallel()
	component := fields{"type": "library", "name": "left-pad", "version": "1.3.0", "purl": "pkg:npm/left-pad@1.3.0"}
	statement := fields{"vulnerability": fields{"name": "CVE-2026-1"}, "products": []any{fields{"@id": "pkg:npm/left-pad@1.3.0"}},
		"status": "not_affected", "justification": "vulnerable_code_not_in_execute_path"}
	affected := fields{"package": fields{"ecosystem": "npm", "name": "left-pad"}, "ranges": []any{fields{"type": "SEMVER", "events": []any{fields{"introduced": "0"}}}}}
	imports := []struct {
		kind     ingest.DeliveryKind
		params   fields
		document fields
	}{
		{ingest.DeliverSBOM, fields{"image": "checkout@" + digest(1)},
			fields{"bomFormat": "CycloneDX", "specVersion": "1.5", "components": []any{component}}},
		{ingest.DeliverVEX, nil, fields{"@context": "https://openvex.dev/ns/v0.2.0", "@id": "https://example.com/vex/1", "author": "acme",
			"timestamp": "2026-03-27T13:55:00Z", "version": 1, "statements": []any{statement}}},
		{ingest.DeliverOSV, nil, fields{"id": "ACME-2026-1", "modified": "2026-03-27T13:55:00Z", "affected": []any{affected}}},
		{ingest.DeliverRegistry, nil, fields{"kind": "repo", "name": "shop/api"}},
	}
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		for _, i := range imports {
			var needed []string
			for _, c := range i.kind.Needed() {
				needed = append(needed, c.WireName())
			}
			name := "Import " + string(i.kind)
			w.ledger[name] = rpc{name, http.MethodPost, "/import/" + string(i.kind), needed}
		}
		e := w.newEnv(t)
		parties := e.parties(w.newEnv(t))
		e.mustCall(e.fillCall(call{rpc: "CreateRepo", target: "{group}", fields: fields{"name": "checkout"}}))
		for _, i := range imports {
			t.Run(string(i.kind), func(t *testing.T) {
				own := *e
				own.T = t
				c := own.fillCall(call{rpc: "Import " + string(i.kind), target: "{group}", fields: i.document, params: i.params.with(fields{"group": "{group}"})})
				for _, who := range parties {
					judge{env: &own, k: kindOf("repo"), p: w.setup, who: who, rpc: w.ledger[c.rpc]}.judge(c)
				}
			})
		}
	})
}
