package rest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v4"
)

// writeVariable is the environment variable that makes TestTheDescriptionIsThatOfTheRoutes
// write the document instead of comparing it.
const writeVariable = "ATRIUM_WRITE_OPENAPI"

// `make generate` writes the embedded document from the routes.
func TestTheDescriptionIsThatOfTheRoutes(t *testing.T) {
	t.Parallel()
	made := render(describe(listRoutes(newWorld(t).p)))
	for _, form := range []struct {
		file       string
		made, held []byte
	}{{"openapi.json.gz", made.json, openAPIJSON}, {"openapi.yaml.gz", made.yaml, openAPIYAML}} {
		switch {
		case len(form.held) > 0 && bytes.Equal(unpack(form.held), form.made):
		case os.Getenv(writeVariable) == "":
			t.Errorf("rest/%s is not what the routes are: run make generate", form.file)
		default:
			var packed bytes.Buffer
			w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
			_, err := w.Write(form.made)
			if err := errors.Join(err, w.Close(), os.WriteFile(form.file, packed.Bytes(), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestTheDescriptionIsComplete(t *testing.T) {
	t.Parallel()
	d := describe(listRoutes(newWorld(t).p))
	for _, fault := range slices.Sorted(maps.Keys(d.faults)) {
		t.Error(fault)
	}
	for _, name := range slices.Sorted(maps.Keys(d.byName)) {
		if !d.read[name] {
			t.Errorf("the text of %s is of nothing", name)
		}
	}
}

func TestTypesThatCannotBeDescribedAreFaults(t *testing.T) {
	t.Parallel()
	type odd struct {
		Named  string    `json:"named"`
		Long   uint64    `json:"long"` // JavaScript would round such a number.
		Object func()    `json:"object"`
		Marked time.Time `json:"marked"`
		Bare   string
	}
	d := describe([]route{{name: "GetOdd", method: http.MethodGet, pattern: "/iam/v2/odds/{uid=**}", answer: odd{}}})
	faults := strings.Join(slices.Sorted(maps.Keys(d.faults)), "\n")
	for _, want := range []string{
		"no text for GetOdd", "no text for iam/odds", "no text for Odd", "no text for Odd.named",
		"uint64 cannot be told", "func() cannot be told", "rest.odd.Bare has no name", "time.Time writes its own JSON",
	} {
		if !strings.Contains(faults, want) {
			t.Errorf("%q is not among its faults:\n%s", want, faults)
		}
	}
}

func loadDescription(t *testing.T) *openapi3.T {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(Options{Version: "v1.2.3"}.fillIn(openAPIJSON))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func TestTheDescriptionIsValid(t *testing.T) {
	t.Parallel()
	document := loadDescription(t)
	if err := document.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	if document.Info.Version != "v1.2.3" || document.OpenAPI != "3.1.0" {
		t.Errorf("version %q, want v1.2.3, OpenAPI %q, want 3.1.0", document.Info.Version, document.OpenAPI)
	}
}

func TestEveryOperationOfTheWireIsDescribed(t *testing.T) {
	t.Parallel()
	document := loadDescription(t)
	operations := map[string]*openapi3.Operation{}
	for _, path := range document.Paths.Map() {
		for _, o := range path.Operations() {
			if operations[o.OperationID] != nil {
				t.Errorf("%s is there twice", o.OperationID)
			}
			operations[o.OperationID] = o
		}
	}
	for _, wire := range readWire(t) {
		o := operations[wire.name]
		if o == nil {
			t.Errorf("%s is not described", wire.name)
			continue
		}
		var needed []string
		if list, ok := o.Extensions["x-required-capability"].([]any); ok {
			for _, c := range list {
				needed = append(needed, c.(string))
			}
		}
		if !slices.Equal(needed, wire.capabilities) {
			t.Errorf("%s needs %v, want %v", wire.name, needed, wire.capabilities)
		}
		if wire.name == "CreateGroup" {
			wire.unscoped = false // In the document, creating a group without a parent is a separate operation.
		}
		if unscoped, _ := o.Extensions["x-required-capability-unscoped"].(bool); unscoped != (wire.unscoped && needed != nil) {
			t.Errorf("%s: unscoped is %t", wire.name, unscoped)
		}
		if open := o.Security != nil && len(*o.Security) == 0; open != (wire.name == "Ping") {
			t.Errorf("%s takes no token: %t", wire.name, open)
		}
	}
}

// The samples of the reference send the examples.
func TestEveryBodyAndEveryRequiredParameterHasAnExampleThatFits(t *testing.T) {
	t.Parallel()
	bodies, parameters := 0, 0
	for _, path := range loadDescription(t).Paths.Map() {
		for _, o := range path.Operations() {
			if o.RequestBody != nil {
				bodies++
				content := o.RequestBody.Value.Content["application/json"]
				example, _ := content.Example.(map[string]any)
				if err := content.Schema.Value.VisitJSON(example, openapi3.VisitAsRequest()); len(example) == 0 || err != nil {
					t.Errorf("%s: the example %v of its body does not fit: %v", o.OperationID, example, err)
				}
			}
			for _, p := range o.Parameters {
				if p.Value.In != "query" || !p.Value.Required {
					continue
				}
				parameters++
				if err := p.Value.Schema.Value.VisitJSON(p.Value.Example); p.Value.Example == nil || err != nil {
					t.Errorf("%s: the example %v of %s does not fit: %v", o.OperationID, p.Value.Example, p.Value.Name, err)
				}
			}
		}
	}
	if bodies < 25 || parameters < 6 {
		t.Errorf("%d bodies and %d required parameters were found: this test shows nothing", bodies, parameters)
	}
}

// The required fields of a body are the fields that the core requires.
func TestRequiredFieldsAreThoseOfTheCore(t *testing.T) {
	t.Parallel()
	schemas := loadDescription(t).Components.Schemas
	for name, want := range map[string]string{
		"RepoCreate": "name", "RepoUpdate": "", "TagCreate": "name digest", "RoleBindingCreate": "identityUid roleUid",
		"SubscriptionCreate": "sink", "StaticKeysInput": "issuer subject issuerKeys", "ClaimMatchInput": "", "SyncConfigInput": "source",
		"Repo": "uid name", "SyncConfig": "source uniqueTags gracePeriod", "BatchInput": "parent requests",
	} {
		schema := schemas[name].Value
		if got := strings.Join(schema.Required, " "); got != want {
			t.Errorf("%s requires %q, want %q", name, got, want)
		}
		body := strings.HasSuffix(name, "Create") || strings.HasSuffix(name, "Update") || strings.HasSuffix(name, "Input")
		if closed := schema.AdditionalProperties.Has != nil && !*schema.AdditionalProperties.Has; closed != body {
			t.Errorf("%s refuses unknown fields: %t, want %t", name, closed, body)
		}
	}
	if p := schemas["RepoCreate"].Value.Properties["uid"].Value; !p.ReadOnly {
		t.Error("the uid of a new repo is not read only")
	}
	if p := schemas["RoleBindingCreate"].Value.Properties["roleUid"].Value; !p.WriteOnly {
		t.Error("the roleUid of a new binding is not write only")
	}
	if p := schemas["RoleBinding"].Value.Properties["roleUid"]; p != nil {
		t.Error("a binding shows a roleUid")
	}
	if p := schemas["RepoUpdate"].Value.Properties["description"].Value; !p.Type.Is("null") && !p.Type.Includes("null") {
		t.Error("null does not clear a description")
	}
	if p := schemas["RepoUpdate"].Value.Properties["name"].Value; p.Type.Includes("null") {
		t.Error("null clears a name")
	}
}

func TestTheUIDPatternIsWhatTheCoreAccepts(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(uidPattern)
	root, segment := strings.Repeat("a1", 20), "/"+strings.Repeat("b2", 8)
	for _, uid := range []string{
		root, root + segment, root + strings.Repeat(segment, 28), root + strings.Repeat(segment, 29), "", root[1:], root + "/", root + segment[1:],
		strings.ToUpper(root), root + segment + "/", segment, root + "//" + segment,
	} {
		if got, want := pattern.MatchString(uid), core.UID(uid).Valid(); got != want {
			t.Errorf("%q: the pattern says %t, the core %t", uid, got, want)
		}
	}
}

func TestTheDescriptionIsServedInBothForms(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(Description(Options{}))
	t.Cleanup(server.Close)
	ask := func(method, path string) (*http.Response, string) {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(body)
	}
	asJSON, text := ask(http.MethodGet, "/openapi.json")
	asYAML, other := ask(http.MethodGet, "/openapi.yaml")
	if asJSON.Header.Get("Content-Type") != "application/json" || asYAML.Header.Get("Content-Type") != "application/yaml" {
		t.Errorf("got %v, %v, want Content-Type 'application/json' and Content-Type 'application/yaml'", asJSON.Header, asYAML.Header)
	}
	var one, same, again any
	err := errors.Join(json.Unmarshal([]byte(text), &one), yaml.Unmarshal([]byte(other), &again))
	inJSON, fault := json.Marshal(again)
	if err := errors.Join(err, fault, json.Unmarshal(inJSON, &same)); err != nil || !reflect.DeepEqual(one, same) {
		t.Errorf("the forms differ: %v", err)
	}
	if strings.Contains(text+other, "{{") {
		t.Error("a mark is left")
	}
	for method, status := range map[string]int{http.MethodHead: 200, http.MethodOptions: 204, http.MethodPost: 405} {
		if got, body := ask(method, "/openapi.json"); got.StatusCode != status || (method != http.MethodPost) != (body == "") ||
			method != http.MethodHead && got.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("%s: status %d, want %d: %v %s", method, got.StatusCode, status, got.Header, body)
		}
	}
}
