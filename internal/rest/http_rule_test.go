package rest

import (
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atrium/internal/apierror"
	"atrium/platform/fieldmask"

	_ "atrium/gen/services" // This registers the contract.

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// A binding is a request of HTTP that calls a procedure, as the contract has it.
type binding struct {
	method, path, body string
	request            protoreflect.MessageDescriptor
}

// bindings returns what the option google.api.http of each procedure says, by "GET /path" with variables as in routes.
func bindings() map[string]binding {
	found := map[string]binding{}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				rule, _ := proto.GetExtension(methods.Get(j).Options(), annotations.E_Http).(*annotations.HttpRule)
				for _, r := range append([]*annotations.HttpRule{rule}, rule.GetAdditionalBindings()...) {
					b := binding{body: r.GetBody(), request: methods.Get(j).Input()}
					for method, path := range map[string]string{
						http.MethodGet: r.GetGet(), http.MethodPost: r.GetPost(), http.MethodPatch: r.GetPatch(), http.MethodDelete: r.GetDelete(),
					} {
						if path != "" {
							b.method, b.path = method, path
						}
					}
					found[string(methods.Get(j).Name())+" "+b.method+" "+regexp.MustCompile(`\{\w+\.uid=`).ReplaceAllString(b.path, "{uid=")] = b
				}
			}
		}
		return true
	})
	return found
}

func TestTheContractNamesTheRequestOfEveryProcedure(t *testing.T) {
	t.Parallel()
	p := newWorld(t).p
	contract := bindings()
	for _, r := range append(routes(p), operationRoutes(p)...) {
		if strings.Contains(r.pattern, "/v2beta1/") {
			continue
		}
		name := r.name
		if name == "CreateRootGroup" {
			name = "CreateGroup" // without a parent
		}
		key := name + " " + r.method + " " + r.pattern
		b, found := contract[key]
		if !found {
			t.Errorf("no procedure has the option google.api.http of %s", key)
			continue
		}
		delete(contract, key)
		b.compare(t, r)
	}
	for key := range contract {
		t.Errorf("google.api.http of %s has no route", key)
	}
}

// compare compares what a request of HTTP has with a route.
func (b binding) compare(t *testing.T, r route) {
	t.Helper()
	var inPath []string
	for _, variable := range regexp.MustCompile(`\{([\w.]+)`).FindAllStringSubmatch(b.path, -1) {
		inPath = append(inPath, variable[1])
		if fieldOf(b.request, variable[1]) == nil {
			t.Errorf("%s: the variable %s is no field of %s", r.name, variable[1], b.request.Name())
		}
	}
	body := b.request
	if b.body != "*" && b.body != "" {
		body = fieldOf(b.request, b.body).Message()
	}
	if (r.body != nil) != (b.body != "") {
		t.Errorf("%s: the body is %q, and %v in the route", r.name, b.body, r.body)
	} else if r.body != nil {
		compareBody(t, r, body, inPath)
	}
	ownOfGRPC := map[string][]string{"CreateSubscription": {"conditions", "findings"}} // REST has them in batches, whose bodies hold more than the resource.
	var want []string                                                                  // the fields that are neither in the path nor in the body
	for i := range b.request.Fields().Len() {
		name := string(b.request.Fields().Get(i).Name())
		if b.body != "*" && name != b.body && !slices.Contains(inPath, name) && name != "uidp" && !slices.Contains(ownOfGRPC[r.name], name) && (name != "parent" || r.name != "CreateRootGroup") {
			want = append(want, name)
		}
	}
	var got []string
	for _, parameter := range r.query {
		name := apierror.SnakeCase(parameter.name)
		if _, isScope := strings.CutPrefix(name, "uidp."); isScope && fieldOf(b.request, name) == nil {
			t.Errorf("%s: %s has no field %s", r.name, b.request.Name(), name)
		} else if !isScope && name != "validate_only" { // which is metadata in gRPC
			got = append(got, name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: the query has %v, and %v in the contract", r.name, got, want)
	}
}

// compareBody compares the fields of a body with those of a message.
func compareBody(t *testing.T, r route, message protoreflect.MessageDescriptor, inPath []string) {
	t.Helper()
	var want, got []string
	for i := range message.Fields().Len() {
		f := message.Fields().Get(i)
		isOutput := hasBehavior(f, annotations.FieldBehavior_OUTPUT_ONLY) && r.kind == nil
		if !slices.Contains(inPath, string(f.Name())) && !isOutput {
			want = append(want, f.JSONName())
		}
	}
	fields := fieldsOf(reflect.TypeOf(r.body))
	if r.kind != nil {
		fields = r.kind.fields
	}
	for _, f := range fields {
		isOutput := f.Mode == fieldmask.OutputOnly && r.kind == nil // A kind takes back what it has answered.
		isInPath := f.Name == "uid" && len(inPath) > 0 && r.kind == nil
		if !strings.Contains(f.Name, ".") && !isOutput && !isInPath {
			got = append(got, f.Name)
		}
	}
	if r.kind != nil && r.method == http.MethodPost {
		compareBehavior(t, r, message)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: the body has %v, and %v in the contract", r.name, got, want)
	}
}

// compareBehavior compares what the contract says of the fields of a kind with what the core does with them.
func compareBehavior(t *testing.T, r route, message protoreflect.MessageDescriptor) {
	t.Helper()
	for _, f := range r.kind.fields {
		field := message.Fields().ByJSONName(f.Name)
		for behavior, holds := range map[annotations.FieldBehavior]bool{
			annotations.FieldBehavior_REQUIRED:    slices.Contains(r.kind.required, f.Name),
			annotations.FieldBehavior_OUTPUT_ONLY: f.Mode == fieldmask.OutputOnly || f.Mode == fieldmask.Volatile,
		} {
			if field != nil && hasBehavior(field, behavior) != holds {
				t.Errorf("%s: %s has the behavior %s: %v, and %v in the core", r.name, field.FullName(), behavior, !holds, holds)
			}
		}
	}
}

func hasBehavior(field protoreflect.FieldDescriptor, behavior annotations.FieldBehavior) bool {
	given, _ := proto.GetExtension(field.Options(), annotations.E_FieldBehavior).([]annotations.FieldBehavior)
	return slices.Contains(given, behavior)
}

// fieldOf returns the field at a path such as repo.uid, or nil.
func fieldOf(message protoreflect.MessageDescriptor, path string) (field protoreflect.FieldDescriptor) {
	for name := range strings.SplitSeq(path, ".") {
		if message == nil {
			return nil
		}
		if field = message.Fields().ByName(protoreflect.Name(name)); field == nil {
			return nil
		}
		message = field.Message()
	}
	return field
}
