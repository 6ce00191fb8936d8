package cases

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	restapi "atrium/internal/rest"
	"atrium/internal/wiretest"
	"atrium/platform"
	"atrium/platform/core"
)

// An rpc is an operation of the reference.
type rpc struct {
	name         string
	method, path string   // These are the method and path of HTTP.
	capabilities []string // These are wire names. All of them are needed.
}

// importing is the first of the capabilities to import, of which operations need any. Each party holds all of them or none.
var importing = []string{core.CapSBOMsImport.WireName()}

// wireLedger returns the operations of the reference, and our own operations.
func wireLedger(t testing.TB) map[string]rpc {
	t.Helper()
	ledger := map[string]rpc{}
	for _, r := range wiretest.RPCs(t) {
		ledger[r.Name] = rpc{r.Name, r.Method, r.Path, r.Capabilities}
	}
	// Our own operations need the capabilities of an update, or of a creation where there is no update.
	ledger["VerifyIdentityProvider"] = rpc{"VerifyIdentityProvider", http.MethodPost, "/iam/v2/identityProviders:verify", ledger["UpdateIdentityProvider"].capabilities}
	ledger["TestSubscription"] = rpc{"TestSubscription", http.MethodPost, "/events/v2/subscriptions:test", ledger["CreateSubscription"].capabilities}
	ledger["GetOperation"] = rpc{"GetOperation", http.MethodGet, "/operations/v2/{uid=**}", importing}
	ledger["CancelOperation"] = rpc{"CancelOperation", http.MethodPost, "/operations/v2/{uid=**}/cancel", importing}
	for _, name := range []string{"RunSource", "CancelSource"} {
		ledger[name] = rpc{name, http.MethodPost, "/sources/v2/sources:" + strings.ToLower(strings.TrimSuffix(name, "Source")), []string{core.CapSourcesUpdate.WireName()}}
	}
	ledger["GetSourceRuns"] = rpc{"GetSourceRuns", http.MethodGet, "/sources/v2/sources/{uid=**}/runs", []string{core.CapSourcesList.WireName()}}
	addOwn(t, ledger)
	for _, info := range platform.Kinds() {
		if k := findKind(info.Name); k != nil && info.Own && !info.GraphOnly {
			addOperations(ledger, k, info)
		}
	}
	return ledger
}

// addOwn adds the operations that only the OpenAPI document has: those of package wire. The files of exports and imports have other tests.
func addOwn(t testing.TB, ledger map[string]rpc) {
	t.Helper()
	w := httptest.NewRecorder()
	restapi.Description(restapi.Options{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	var document struct {
		Paths map[string]map[string]struct {
			OperationID  string   `json:"operationId"`
			Capabilities []string `json:"x-required-capability"`
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	for path, methods := range document.Paths {
		for method, o := range methods {
			if _, known := ledger[o.OperationID]; !known && o.OperationID != "AcceptGroupInvite" && len(strings.Split(path, "/")) > 3 && o.OperationID != "CreateRootGroup" && findKindOf(o.OperationID) == nil {
				ledger[o.OperationID] = rpc{o.OperationID, strings.ToUpper(method), path, o.Capabilities}
			}
		}
	}
}

// findKindOf returns the kind of an operation that addOperations adds.
func findKindOf(operation string) *core.KindInfo {
	for _, info := range platform.Kinds() {
		for _, verb := range []string{"Get", "List", "Create", "Update", "Delete"} {
			if k := findKind(info.Name); k != nil && info.Own && !info.GraphOnly && (operation == verb+k.name || operation == verb+k.plural) {
				return &info
			}
		}
	}
	return nil
}

// addOperations adds the operations of a kind that is not in the reference, by the rules
// of the reference.
func addOperations(ledger map[string]rpc, k *kind, info core.KindInfo) {
	path := "/" + info.Area + "/v2/" + info.Plural
	for _, o := range []rpc{
		{"Get" + k.name, http.MethodGet, path + "/{uid=**}", []string{info.List.WireName()}},
		{"List" + k.plural, http.MethodGet, path, []string{info.List.WireName()}},
		{"Create" + k.name, http.MethodPost, path + "/{parent=**}", []string{info.Create.WireName()}},
		{"Update" + k.name, http.MethodPatch, path + "/{uid=**}", []string{info.Update.WireName()}},
		{"Delete" + k.name, http.MethodDelete, path + "/{uid=**}", []string{info.Delete.WireName()}},
	} {
		if o.capabilities[0] != "" {
			ledger[o.name] = o
		}
	}
}

// roleLedger reads the copy of reference/capabilities.md: the capabilities of each built-in
// role, and the dotted name of each wire name.
func roleLedger(t testing.TB) (holds map[string]map[string]bool, dotted map[string]string) {
	t.Helper()
	var roles []string
	holds, dotted = map[string]map[string]bool{}, map[string]string{}
	for line := range strings.Lines(readFile(t, "../../platform/testdata/capabilities.md")) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case cells[0] == "capability":
			roles = cells[3:]
		case len(roles) > 0 && strings.HasPrefix(cells[1], "CAP_"):
			dotted[cells[1]] = cells[0]
			for i, cell := range cells[3:] {
				if holds[roles[i]] == nil {
					holds[roles[i]] = map[string]bool{}
				}
				holds[roles[i]][cells[1]] = cell == "x"
			}
		}
	}
	if len(holds) != 8 || len(dotted) != 43 {
		t.Fatalf("the ledger of roles has %d of them, want 8 and %d capabilities, want 43", len(holds), len(dotted))
	}
	for _, c := range core.Capabilities() { // These roles also hold the capabilities of our own kinds.
		if wire := c.WireName(); dotted[wire] == "" {
			dotted[wire] = string(c)
			holds["owner"][wire], holds["editor"][wire], holds["viewer"][wire] = true, true, strings.HasSuffix(string(c), ".list")
		}
	}
	return holds, dotted
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
