package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
)

func TestOptionsThatCommentsContradictAreFound(t *testing.T) {
	t.Parallel()
	good := map[string]string{
		"%first":  `(google.api.http) = {get: "/test/v2/things/{name=**}"}`,
		"%second": `(google.api.http) = {get: "/test/v2/things"}`,
		"%method": `(google.api.method_signature) = "parent,thing,update_mask"`,
		"%name":   "// The name. Required.\n  string name = 1 [(google.api.field_behavior) = REQUIRED];",
		"%size":   "// The size.\n  int32 size = 2 [(google.api.field_behavior) = OPTIONAL];",
		"%time":   "// When it was made. Output only.\n  int64 time = 3 [(google.api.field_behavior) = OUTPUT_ONLY];",
		"%role":   "// Its role.\n  string role_uid = 4 [(google.api.field_behavior) = OPTIONAL, (google.api.resource_reference) = {type: \"a.example/Thing\"}];",
		"%answer": "// Nothing is asked with it.\n  string uid = 1;",
	}
	if err := checkText(t, good); err != nil {
		t.Errorf("good options are refused: %v", err)
	}
	for want, broken := range map[string][2]string{
		"Get stands after Ask":                   {"%second", `(google.api.http) = {get: "/test/v2/things/{name=**}"}`},
		"Make has the method_signature":          {"%method", `(google.api.method_signature) = "thing"`},
		"name has the field_behavior [OPTIONAL]": {"%name", "// The name. Required.\n  string name = 1 [(google.api.field_behavior) = OPTIONAL];"},
		"size has the field_behavior []":         {"%size", "// The size.\n  int32 size = 2;"},
		"size has the field_behavior [OPTIONAL], and [OPTIONAL IMMUTABLE]": {
			"%size", "// The size. Cannot be changed.\n  int32 size = 2 [(google.api.field_behavior) = OPTIONAL];",
		},
		"time has the field_behavior [OUTPUT_ONLY]": {"%time", "// When it was made.\n  int64 time = 3 [(google.api.field_behavior) = OUTPUT_ONLY];"},
		"role_uid needs a resource_reference":       {"%role", "// Its role.\n  string role_uid = 4 [(google.api.field_behavior) = OPTIONAL];"},
		"refers to a.example/Role, which no message describes": {
			"%role", "// Its role.\n  string role_uid = 4 [(google.api.field_behavior) = OPTIONAL, (google.api.resource_reference) = {type: \"a.example/Role\"}];",
		},
		"uid has the field_behavior [REQUIRED], and []": {"%answer", "// Nothing is asked with it.\n  string uid = 1 [(google.api.field_behavior) = REQUIRED];"},
	} {
		texts := maps.Clone(good)
		texts[broken[0]] = broken[1]
		if err := checkText(t, texts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, want %q", broken[1], err, want)
		}
	}
}

// checkText checks a contract in which texts stand for their keys.
func checkText(t *testing.T, texts map[string]string) error {
	t.Helper()
	contract := `
syntax = "proto3";
package platform.test.v2;
import "google/api/annotations.proto";
import "google/api/client.proto";
import "google/api/field_behavior.proto";
import "google/api/resource.proto";
service Things {
  rpc Ask(Question) returns (Answer) {
    option %first;
    option (google.api.method_signature) = "";
  }
  rpc Get(Question) returns (Answer) {
    option %second;
    option (google.api.method_signature) = "";
  }
  rpc Make(MakeRequest) returns (Answer) {
    option %method;
  }
}
message Question {
  // Its name.
  string name = 1 [(google.api.field_behavior) = OPTIONAL];
}
message MakeRequest {
  // Where it is made. Required.
  string parent = 1 [(google.api.field_behavior) = REQUIRED, (google.api.resource_reference) = {child_type: "a.example/Thing"}];
  // It. Required.
  Thing thing = 2 [(google.api.field_behavior) = REQUIRED];
  // What to change.
  string update_mask = 3 [(google.api.field_behavior) = OPTIONAL];
}
message Thing {
  option (google.api.resource) = {type: "a.example/Thing"};
  %name
  %size
  %time
  %role
}
message Answer {
  %answer
}
`
	for key, text := range texts {
		contract = strings.ReplaceAll(contract, key, text)
	}
	files := map[string]string{"platform/test/v2/test.proto": contract}
	for _, name := range []string{"annotations", "client", "field_behavior", "http", "resource"} {
		text, err := os.ReadFile(filepath.Join("../../..", sources, "google/api", name+".proto"))
		if err != nil {
			t.Fatal(err)
		}
		files["google/api/"+name+".proto"] = string(text)
	}
	compiled, err := compile(protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(files)}, []string{"platform/test/v2/test.proto"})
	if err != nil {
		t.Fatal(err)
	}
	return checkOptions(compiled)
}
