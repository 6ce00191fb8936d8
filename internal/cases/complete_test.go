package cases

import (
	"slices"
	"testing"

	"atrium/platform"
)

// Every kind of the platform is in the table. internal/house checks that it has a file
// here.
func TestEveryKindHasItsCases(t *testing.T) {
	t.Parallel()
	for _, k := range platform.Kinds() {
		if !slices.ContainsFunc(kinds, func(known *kind) bool { return known.name == k.Name }) {
			t.Errorf("%s: the table has no cases of it: add to internal/cases a file with\n\tvar _ = newKind(kind{name: %[1]q, ...})", k.Name)
		}
	}
}

// Every operation of the reference has a row, and is in the matrix.
func TestEveryOperationHasACase(t *testing.T) {
	t.Parallel()
	w := &world{ledger: wireLedger(t)}
	inRows, inMatrix := map[string]bool{}, map[string]bool{}
	for _, k := range kinds {
		for _, rows := range k.rowsByOperation(w) {
			for _, r := range rows {
				inRows[r.do.rpc] = true
			}
		}
		if len(k.library.items) > 0 {
			inRows["List"+k.plural] = true
		}
		for _, c := range k.operations(w) {
			inMatrix[c.rpc] = true
		}
	}
	for name := range w.ledger {
		if !inRows[name] || !inMatrix[name] && !rightsElsewhere[name] {
			t.Errorf("%s: it has rows: %t, is in the matrix: %t", name, inRows[name], inMatrix[name])
		}
	}
}

// rightsElsewhere lists operations that the rules of the matrix do not fit: what is counted below a group is counted for who may see a part
// of it too, what the log or a policy says is said of a group that is gone, and others need rights on several resources or on none.
var rightsElsewhere = map[string]bool{
	"ListPackages": true, "GetPackage": true, "CountPackages": true, "ListPackageVersions": true, "GetPackageVersion": true, "GetVulnerabilityExposure": true, "CompareImages": true, "CheckImage": true,
	"SummarizeFindings": true, "CountFindings": true, "GetTopVulnerabilities": true, "GetTopPackages": true, "GetUpgrades": true, "GetFindingActivity": true, "GetRemediationActivity": true,
	"SummarizeAdvisories": true, "GetAdvisoryActivity": true, "GetAcceptanceRules": true, "GetDuePolicy": true, "GetAuditLog": true, "GetAuditLogRuns": true, "GetAuditLogSummary": true, "GetEventActivity": true, "GetAccessAt": true, "GetAccessChanges": true,
	"Redeliver": true, "ConfirmRoleBindings": true, "ListEffectiveRoleBindings": true, "GetEffectiveCapabilities": true, "Search": true,
}
