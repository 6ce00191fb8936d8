package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"atrium/platform/fieldmask"
)

func TestEveryErrorIsShownAsAStatusWithTypedDetails(t *testing.T) {
	t.Parallel()
	cause := errors.New("password=hunter2 at 10.0.0.1")
	uid := string(rootA)
	for _, x := range []struct {
		err  error
		want string
	}{
		{Invalid(fieldmask.Violation{Field: "name", Description: "is required"}, fieldmask.Violation{Field: "description", Description: "must be one line"}),
			`{"code":3,"message":"Invalid argument: name: is required","details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"iam.atrium.dev","reason":"INVALID_ARGUMENT"},
				{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"name","description":"is required"},{"field":"description","description":"must be one line"}]}]}`},
		{InArea(AreaRegistry, NewNotFound(RepoRef, rootA)),
			`{"code":5,"message":"Not found: repo ` + uid + ` does not exist","details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"registry.atrium.dev","reason":"NOT_FOUND"},
				{"@type":"type.googleapis.com/google.rpc.ResourceInfo","description":"repo ` + uid + ` does not exist","resourceName":"` + uid + `","resourceType":"registry.atrium.dev/Repo"}]}`},
		{InArea(AreaRegistry, NewNotFound(GroupRef, rootA)), // This is an error of the registry about a group.
			`{"code":5,"message":"Not found: group ` + uid + ` does not exist","details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"registry.atrium.dev","reason":"NOT_FOUND"},
				{"@type":"type.googleapis.com/google.rpc.ResourceInfo","description":"group ` + uid + ` does not exist","resourceName":"` + uid + `","resourceType":"iam.atrium.dev/Group"}]}`},
		{InArea(AreaEvents, NewAlreadyExists(Ref{"Subscription", AreaEvents}, rootA)),
			`{"code":6,"message":"Already exists: the subscription already exists","details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"events.atrium.dev","reason":"ALREADY_EXISTS"},
				{"@type":"type.googleapis.com/google.rpc.ResourceInfo","description":"the subscription already exists","resourceName":"` + uid + `","resourceType":"events.atrium.dev/Subscription"}]}`},
		{NewAlreadyExists(Ref{"AccountAssociation", AreaIAM}, rootA), // The message has the name of the kind in words.
			`{"code":6,"message":"Already exists: the account association already exists","details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"iam.atrium.dev","reason":"ALREADY_EXISTS"},
				{"@type":"type.googleapis.com/google.rpc.ResourceInfo","description":"the account association already exists","resourceName":"` + uid + `","resourceType":"iam.atrium.dev/AccountAssociation"}]}`},
		{InArea(AreaVulnerabilities, permissionDenied(CapAdvisoriesList, rootA)),
			`{"code":7,"message":"Permission denied: capability advisories.list is needed on ` + uid + `","details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"vulnerabilities.atrium.dev","metadata":{"capability":"advisories.list","resource":"` + uid + `"},"reason":"PERMISSION_DENIED"}]}`},
		{FailedPrecondition("RESOURCE_NOT_EMPTY", uid, "the group still contains other resources"),
			`{"code":9,"message":"Precondition failed: the group still contains other resources","details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"iam.atrium.dev","reason":"FAILED_PRECONDITION"},
				{"@type":"type.googleapis.com/google.rpc.PreconditionFailure","violations":[{"type":"RESOURCE_NOT_EMPTY","subject":"` + uid + `","description":"the group still contains other resources"}]}]}`},
		{Unauthenticated("a bearer token is needed"),
			`{"code":16,"message":"Unauthenticated: a bearer token is needed","details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"iam.atrium.dev","reason":"UNAUTHENTICATED"}]}`},
		{&Error{Code: CodeResourceExhausted, Reason: "RESOURCE_EXHAUSTED", Message: "Resource exhausted: slow down", RetryAfter: 1500 * time.Millisecond},
			`{"code":8,"message":"Resource exhausted: slow down","details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"iam.atrium.dev","reason":"RESOURCE_EXHAUSTED"},
				{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}]}`},
		{Unavailable("the database does not answer", cause),
			`{"code":14,"message":"Unavailable: the database does not answer","details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"iam.atrium.dev","reason":"UNAVAILABLE"},
				{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1s"}]}`},
		{Uncertain(cause), // Without RetryInfo, because a client must not repeat the change.
			`{"code":10,"message":"Aborted: the database did not answer whether it has stored the change, so the change may have been made; look for its result before you repeat it","details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"iam.atrium.dev","reason":"COMMIT_UNCERTAIN"}]}`},
		{fmt.Errorf("list: %w", context.DeadlineExceeded),
			`{"code":4,"message":"The request exceeded its time limit.","details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"iam.atrium.dev","reason":"DEADLINE_EXCEEDED"},
				{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1s"}]}`},
		{context.Canceled,
			`{"code":4,"message":"The request exceeded its time limit.","details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"iam.atrium.dev","reason":"DEADLINE_EXCEEDED"},
				{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1s"}]}`},
		{cause,
			`{"code":13,"message":"Internal error.","details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"iam.atrium.dev","metadata":{"requestId":"req-1"},"reason":"INTERNAL"}]}`},
	} {
		shown, err := json.Marshal(AsError(x.err).Status("atrium.dev", "req-1"))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.NewReplacer("\n", "", "\t", "").Replace(x.want)
		if string(shown) != want {
			t.Errorf("%v:\n got %s\nwant %s", x.err, shown, want)
		}
		if strings.Contains(string(shown), "hunter2") || strings.Contains(string(shown), "10.0.0.1") {
			t.Errorf("the cause is shown: %s", shown)
		}
	}
}

func TestEveryCodeHasTheNameOfGoogleRPC(t *testing.T) {
	t.Parallel()
	for code, want := range map[Code]string{
		3: "INVALID_ARGUMENT", 4: "DEADLINE_EXCEEDED", 5: "NOT_FOUND", 6: "ALREADY_EXISTS", 7: "PERMISSION_DENIED", 8: "RESOURCE_EXHAUSTED",
		9: "FAILED_PRECONDITION", 10: "ABORTED", 12: "UNIMPLEMENTED", 13: "INTERNAL", 14: "UNAVAILABLE", 16: "UNAUTHENTICATED",
	} {
		if got := code.String(); got != want {
			t.Errorf("%d is %q, want %q", int(code), got, want)
		}
		status := (&Error{Code: code, Reason: want}).Status("atrium.dev", "req-1")
		info := status.Details[0]
		if status.Code != code || info["@type"] != "type.googleapis.com/google.rpc.ErrorInfo" || info["reason"] != want || info["domain"] != "iam.atrium.dev" {
			t.Errorf("%s: %v, want Code %v, @type 'type.googleapis.com/google.rpc.ErrorInfo', reason %v and domain 'iam.atrium.dev'", want, status, code, want)
		}
		if _, shown := info["metadata"]; shown != (code == CodeInternal) {
			t.Errorf("%s: the request id is shown: %t", want, shown)
		}
	}
	if len(codeNames) != 12 {
		t.Errorf("there are %d codes, want 12", len(codeNames))
	}
}

func TestTheCauseIsForTheLogAndForErrorsIs(t *testing.T) {
	t.Parallel()
	cause := errors.New("the disk is full")
	err := AsError(fmt.Errorf("write: %w", cause))
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("the cause is lost: %v, want %v", err, cause)
	}
	if got := AsError(fmt.Errorf("wrapped: %w", Unauthenticated("x"))); got.Code != CodeUnauthenticated {
		t.Errorf("a wrapped error becomes %v, want Code %v", got, CodeUnauthenticated)
	}
	if !errors.Is(err, &Error{Code: CodeInternal}) || errors.Is(err, &Error{Code: CodeNotFound}) {
		t.Error("an Error is compared by its code")
	}
	if AsError(Unauthenticated("x")).Area != "" {
		t.Error("the area of an error comes out of nowhere")
	}
}

func TestMarkingTheAreaLeavesTheOriginalAlone(t *testing.T) {
	t.Parallel()
	original := permissionDenied(CapRepoList, rootA)
	marked := AsError(InArea(AreaRegistry, original))
	if original.Area != "" || marked.Area != "registry" {
		t.Errorf("original %q, want none, marked %q, want registry", original.Area, marked.Area)
	}
	if again := AsError(InArea(AreaIAM, marked)); again.Area != "registry" {
		t.Errorf("marked twice it is %q, want registry", again.Area)
	}
	if InArea(AreaIAM, nil) != nil {
		t.Error("no error becomes one")
	}
}

func TestViolationsComeInTheOrderOfFields(t *testing.T) {
	t.Parallel()
	var v Violations
	for _, field := range []string{"nope", "claimMatch.subject", "updateMask", "description", "name", "claimMatch.issuer", "parent"} {
		v.Add(field, "is wrong")
	}
	if got := joinFields(v.SortByField([]string{"uid", "name", "description", "claimMatch"})); got != "parent name description claimMatch.subject claimMatch.issuer nope updateMask" {
		t.Errorf("got %v, want 'parent name description claimMatch.subject claimMatch.issuer nope updateMask'", got)
	}
}

func TestAnErrorForInvalidInputIsLimited(t *testing.T) {
	t.Parallel()
	var v Violations
	for i := range 5000 {
		v.Add(fmt.Sprint("field", i), "is not a field of this resource")
	}
	for _, err := range []error{v.Err(), Invalid(v...)} {
		if n := len(AsError(err).Violations); n != MaxViolations {
			t.Errorf("%d violations are shown, want %d", n, MaxViolations)
		}
	}
}

// joinFields joins the fields of violations.
func joinFields(all Violations) string {
	fields := make([]string, len(all))
	for i, v := range all {
		fields[i] = v.Field
	}
	return strings.Join(fields, " ")
}
