package rpc

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	iamv2 "atrium/gen/platform/iam/v2"
	pingv2 "atrium/gen/platform/ping/v2"
	"atrium/gen/platform/ping/v2/pingv2connect"
	registryv2 "atrium/gen/platform/registry/v2"
	"atrium/platform/core"
	"atrium/platform/iam"
)

func TestViolationsOfAJSONMessageAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	parent := `"parent": "` + w.org + `"`
	for _, x := range []struct{ procedure, body, want string }{
		{"iam.v2.GroupsService/CreateGroup", `{` + parent + `, "group": {"name": "x", "nope": 1, "description": 5}}`, "nope description"},
		{"iam.v2.GroupsService/CreateGroup", `{` + parent + `, "zebra": 1, "group": []}`, "zebra group"},
		{"iam.v2.GroupsService/CreateGroup", `{` + parent + `, "group": {"name": "a", "name": "b"}}`, "name"},
		{"iam.v2.GroupsService/CreateGroup", `{` + parent + `, "group": {"name": "\ud800"}}`, "body"},
		{"iam.v2.GroupsService/CreateGroup", `{"group": `, "body"},
		{"iam.v2.GroupsService/CreateGroup", `[]`, "body"},
		{"iam.v2.GroupsService/CreateGroup", ``, "body"},
		{"iam.v2.IdentitiesService/CreateIdentity", `{` + parent + `, "identity": {"name": "x", "faceMatch": {}, "claimMatch": {"subjekt": "x", "issuer": 5}}}`, "faceMatch claimMatch.subjekt claimMatch.issuer"},
		{"iam.v2.RolesService/CreateRole", `{` + parent + `, "role": {"name": "x", "capabilities": ["CAP_NONE"]}}`, "capabilities"},
		{"iam.v2.RolesService/CreateRole", `{` + parent + `, "role": {"name": "x", "capabilities": [9999]}}`, "capabilities"},
		{"registry.v2.ReposService/ListRepos", `{"pageSize": "x", "uidp": {"childrenOff": "x"}, "nam": "x"}`, "page_size uidp.childrenOff nam"},
		{"registry.v2.ReposService/UpdateRepo", `{"repo": {"uid": "` + w.org + `"}, "updateMask": ["name"]}`, "updateMask"},
		{"registry.v2.ReposService/UpdateRepo", `{"repo": {"uid": "` + w.org + `", "catalogTier": "X", "nope": 1}, "updateMask": "catalogTier"}`, "catalogTier"},
		{"iam.v2.RoleBindingsService/BatchCreateRoleBindings", `{` + parent + `, "requests": [{"roleBinding": {"x": 1}}]}`, "requests[0].roleBinding.x"},
	} {
		status, _, text := w.post(theOwner, "/platform."+x.procedure, x.body)
		var found []string
		for _, v := range postedViolations(t, text) {
			found = append(found, v.GetField())
		}
		if got := strings.Join(found, " "); status != http.StatusBadRequest || got != x.want || strings.Contains(text, "proto:") || strings.Contains(text, "unmarshal") {
			t.Errorf("%s %s: %d, violations of %q, want %q: %s", x.procedure, x.body, status, got, x.want, text)
		}
	}
	if _, _, text := w.post(theOwner, "/platform.iam.v2.RolesService/CreateRole", `{`+parent+`, "role": {"name": "x", "capabilities": [9999]}}`); !strings.Contains(text, "9999") {
		t.Errorf("the unknown number is not named: %s", text)
	}
}

// postedViolations reads the details of an error of the Connect protocol.
func postedViolations(t *testing.T, text string) []*errdetails.BadRequest_FieldViolation {
	t.Helper()
	var sent struct {
		Details []struct{ Type, Value string }
	}
	if err := json.Unmarshal([]byte(text), &sent); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var bad errdetails.BadRequest
	for _, d := range sent.Details {
		if d.Type != "google.rpc.BadRequest" {
			continue
		}
		value, err := base64.RawStdEncoding.DecodeString(d.Value)
		if err == nil {
			err = proto.Unmarshal(value, &bad)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return bad.GetFieldViolations()
}

func TestJSONAcceptsEveryMaskOfREST(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.owner()
	repo := must[*registryv2.Repo](t)(c.repos.CreateRepo(t.Context(), &registryv2.CreateRepoRequest{Parent: w.org, Repo: &registryv2.Repo{
		Name: "one", Description: "old", SyncConfig: &registryv2.SyncConfig{Source: "a", Google: "g"},
	}}))
	update := func(fields, mask string) *registryv2.Repo {
		t.Helper()
		status, _, text := w.post(theOwner, "/platform.registry.v2.ReposService/UpdateRepo", `{"repo": {"uid": "`+repo.GetUid()+`", `+fields+`}, "updateMask": "`+mask+`"}`)
		if status != http.StatusOK {
			t.Fatalf("%s with mask %s: status %d, want 200: %s", fields, mask, status, text)
		}
		return must[*registryv2.Repo](t)(c.repos.GetRepo(t.Context(), &registryv2.GetRepoRequest{Uid: repo.GetUid()}))
	}
	if got := update(`"sync_config": {"source": "b", "google": "ignored"}, "name": "ignored", "nope": 1`, "sync_config.source"); got.GetSyncConfig().GetSource() != "b" || got.GetSyncConfig().GetGoogle() != "g" || got.GetName() != "one" {
		t.Errorf("a part: %v, want Source 'b', Google 'g' and Name 'one'", got)
	}
	if got := update(`"name": "two"`, "syncConfig.google,name"); got.GetSyncConfig().GetSource() != "b" || got.GetSyncConfig().GetGoogle() != "" || got.GetName() != "two" {
		t.Errorf("two fields: %v, want Source 'b', Google \"\" and Name 'two'", got)
	}
	if got := update(`"name": "three"`, "*"); got.GetName() != "three" || got.GetDescription() != "" || got.GetSyncConfig() != nil {
		t.Errorf("*: %v, want Name 'three', Description \"\" and no SyncConfig", got)
	}
}

func TestUnknownFieldsInBinaryAreReportedByNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	unknown := protowire.AppendVarint(protowire.AppendTag(nil, 999, protowire.VarintType), 1)
	forged := protowire.AppendBytes(protowire.AppendTag(nil, violationsField, protowire.BytesType), []byte(`[{"field": "mine"}]`))
	for protocol := range protocols {
		c := w.clientsAs(theOwner, protocol)
		match := &iamv2.Identity_ClaimMatch{Iss: &iamv2.Identity_ClaimMatch_Issuer{Issuer: "https://example.com"}}
		match.ProtoReflect().SetUnknown(unknown)
		identity := &iamv2.Identity{Name: "x", Relationship: &iamv2.Identity_ClaimMatch_{ClaimMatch: match}}
		identity.ProtoReflect().SetUnknown(unknown)
		request := &iamv2.CreateIdentityRequest{Parent: w.org, Identity: identity}
		if protocol == "connect JSON" {
			continue // JSON has names instead of numbers.
		}
		_, err := c.identities.CreateIdentity(t.Context(), request)
		if got := violations(t, expectError(t, err, connect.CodeInvalidArgument)); got != "999 claimMatch.999" {
			t.Errorf("%s: violations of %q, want 999 claimMatch.999", protocol, got)
		}
		listed := &registryv2.ListReposRequest{}
		listed.ProtoReflect().SetUnknown(forged)
		_, err = c.repos.ListRepos(t.Context(), listed)
		if got := violations(t, expectError(t, err, connect.CodeInvalidArgument)); got != "536870911" {
			t.Errorf("%s: violations of %q, want 536870911", protocol, got)
		}
		_, err = c.tags.ListTags(t.Context(), &registryv2.ListTagsRequest{UpdatedSince: &timestamppb.Timestamp{Seconds: -1 << 60}})
		if got := violations(t, expectError(t, err, connect.CodeInvalidArgument)); got != "updated_since" {
			t.Errorf("%s: violations of %q, want updated_since", protocol, got)
		}
	}
	var broken iamv2.GetGroupRequest
	if err := (binaryCodec{}).Unmarshal([]byte{0xff}, &broken); err != nil || len(violationsIn(&broken)) != 1 || violationsIn(&broken)[0].Field != "body" {
		t.Errorf("%v %v, want 1 of them", err, violationsIn(&broken))
	}
}

// If an unknown member inside a listed field were ignored, a misspelled restriction of a rule
// would vanish, and the rule would accept more tokens.
func TestUnknownMembersInsideTheFieldsOfAMaskAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.owner()
	made := must[*iamv2.Identity](t)(c.identities.CreateIdentity(t.Context(), &iamv2.CreateIdentityRequest{Parent: w.org, Identity: &iamv2.Identity{
		Name: "robot", Relationship: &iamv2.Identity_ClaimMatch_{ClaimMatch: &iamv2.Identity_ClaimMatch{
			Iss: &iamv2.Identity_ClaimMatch_Issuer{Issuer: testIssuer}, Sub: &iamv2.Identity_ClaimMatch_Subject{Subject: "s"}, Claims: map[string]string{"env": "prod"},
		}},
	}}))
	const match = `"issuer": "` + testIssuer + `", "subject": "s2"`
	for _, x := range []struct{ fields, mask, want string }{
		{`"claimMatch": {` + match + `, "clains": {"env": "prod"}}`, "claimMatch", "claimMatch.clains"},
		{`"claim_match": {` + match + `, "clains": null}`, "claim_match", "claimMatch.clains"},
		{`"claimMatch": {` + match + `, "clains": {"env": "prod"}}`, "`claimMatch`", "claimMatch.clains"},
		{`"claimMatch": {` + match + `, "clains": {"env": "prod"}}`, "name,claimMatch.subject", "claimMatch.clains"},
		{`"claimMatch": {` + match + `, "clains": {"env": "prod"}}`, "claimMatch.claims", "claimMatch.clains"},
		{`"claimMatch": {` + match + `, "clains": {"env": "prod"}}`, "", "claimMatch.clains"},
		{`"claimMatch": {` + match + `, "clains": {"env": "prod"}}`, "*", "claimMatch.clains"},
		{`"name": "x", "claim_Match": {` + match + `}`, "claimMatch", "claim_Match"},
		{`"name": "robot", "nope": {"x": 1}, "staticKeys": {"nope": 1}`, "name", ""},
		{`"name": "robot", "nope": 1, "claimMatch": {"nope": {"x": 1}}`, "name", ""},
	} {
		status, _, text := w.post(theOwner, "/platform.iam.v2.IdentitiesService/UpdateIdentity", `{"identity": {"uid": "`+made.GetUid()+`", `+x.fields+`}, "updateMask": "`+x.mask+`"}`)
		if x.want == "" {
			if status != http.StatusOK {
				t.Errorf("%s with mask %q: status %d, want 200: %s", x.fields, x.mask, status, text)
			}
			continue
		}
		found := postedViolations(t, text)
		if status != http.StatusBadRequest || len(found) != 1 || found[0].GetField() != x.want || found[0].GetDescription() != "is not a field of this message" {
			t.Errorf("%s with mask %q: status %d, want 400 and a violation of %s: %s", x.fields, x.mask, status, x.want, text)
		}
	}
	unknown := protowire.AppendVarint(protowire.AppendTag(nil, 77, protowire.VarintType), 1)
	for protocol := range protocols {
		if protocol == "connect JSON" {
			continue // JSON has names instead of numbers.
		}
		c := w.clientsAs(theOwner, protocol)
		for _, x := range []struct{ mask, want string }{
			{"claim_match", "claimMatch.77"}, {"claimMatch", "claimMatch.77"}, {"claimMatch.subject", "claimMatch.77"}, {"*", "77 claimMatch.77"}, {"name", ""},
		} {
			match := &iamv2.Identity_ClaimMatch{Iss: &iamv2.Identity_ClaimMatch_Issuer{Issuer: testIssuer}, Sub: &iamv2.Identity_ClaimMatch_Subject{Subject: "s2"}}
			match.ProtoReflect().SetUnknown(unknown)
			identity := &iamv2.Identity{Uid: made.GetUid(), Name: "robot", Relationship: &iamv2.Identity_ClaimMatch_{ClaimMatch: match}}
			identity.ProtoReflect().SetUnknown(unknown)
			_, err := c.identities.UpdateIdentity(t.Context(), &iamv2.UpdateIdentityRequest{Identity: identity, UpdateMask: mask(x.mask)})
			if x.want == "" {
				must[any](t)(nil, err)
			} else if got := violations(t, expectError(t, err, connect.CodeInvalidArgument)); got != x.want {
				t.Errorf("%s with mask %q: violations of %q, want %q", protocol, x.mask, got, x.want)
			}
		}
	}
	if got := must[*iamv2.Identity](t)(c.identities.GetIdentity(t.Context(), &iamv2.GetIdentityRequest{Uid: made.GetUid()})); !proto.Equal(got.GetClaimMatch(), made.GetClaimMatch()) {
		t.Errorf("the rule is now %v, want %v", got.GetClaimMatch(), made.GetClaimMatch())
	}
}

// The name of sync_config in JSON has an underscore. protojson takes no other spelling.
func TestAFieldThatOnlyTheMaskKnowsInThisSpellingIsNotCleared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.owner()
	repo := must[*registryv2.Repo](t)(c.repos.CreateRepo(t.Context(), &registryv2.CreateRepoRequest{Parent: w.org, Repo: &registryv2.Repo{
		Name: "one", SyncConfig: &registryv2.SyncConfig{Source: "a", Google: "g"},
	}}))
	for _, mask := range []string{"syncConfig.google", "sync_config.google", "syncConfig", "sync_config", "name,syncConfig", "*", ""} {
		status, _, text := w.post(theOwner, "/platform.registry.v2.ReposService/UpdateRepo",
			`{"repo": {"uid": "`+repo.GetUid()+`", "name": "one", "syncConfig": {"source": "a", "google": "new"}}, "updateMask": "`+mask+`"}`)
		if found := postedViolations(t, text); status != http.StatusBadRequest || len(found) != 1 || found[0].GetField() != "syncConfig" {
			t.Errorf("mask %q: status %d, want 400 and a violation of syncConfig: %s", mask, status, text)
		}
	}
	if got := must[*registryv2.Repo](t)(c.repos.GetRepo(t.Context(), &registryv2.GetRepoRequest{Uid: repo.GetUid()})); got.GetSyncConfig().GetGoogle() != "g" {
		t.Errorf("the repo is now %v, want Google 'g'", got)
	}
}

// Ping needs no token, so anybody can send these messages.
func TestAMessageHasAtMostTheViolationsOfOneResponse(t *testing.T) {
	t.Parallel()
	const many = 1000
	var unknown []byte
	var numbers, names, scalars []string
	for i := range many {
		unknown = protowire.AppendVarint(protowire.AppendTag(unknown, protowire.Number(100+i), protowire.VarintType), 1)
		numbers, names, scalars = append(numbers, strconv.Itoa(100+i)), append(names, `"": 0`), append(scalars, "0")
	}
	nested := &iamv2.BatchCreateRoleBindingsRequest{}
	for range many {
		one := &iamv2.CreateRoleBindingRequest{}
		one.ProtoReflect().SetUnknown(unknown[:6]) // two fields
		nested.Requests = append(nested.Requests, one)
	}
	inRequests := must[[]byte](t)(proto.Marshal(nested))
	for _, x := range []struct {
		name  string
		codec connect.Codec
		body  []byte
		into  proto.Message
	}{
		{"binary", binaryCodec{}, unknown, &pingv2.PingRequest{}},
		{"nested binary", binaryCodec{}, inRequests, &iamv2.BatchCreateRoleBindingsRequest{}},
		{"JSON", jsonCodec{"json"}, []byte("{" + strings.Join(names, ",") + "}"), &pingv2.PingRequest{}},
		{"nested JSON", jsonCodec{"json"}, []byte(`{"requests": [` + strings.Join(scalars, ",") + "]}"), &iamv2.BatchCreateRoleBindingsRequest{}},
	} {
		if err := x.codec.Unmarshal(x.body, x.into); err != nil || len(violationsIn(x.into)) != core.MaxViolations {
			t.Errorf("%s: %d violations (%v), want %d", x.name, len(violationsIn(x.into)), err, core.MaxViolations)
		}
	}
	masks := []byte("{" + strings.Repeat(`"updateMask": 0,`, many) + `"repo": {}}`)
	var update registryv2.UpdateRepoRequest
	if err := (jsonCodec{"json"}).Unmarshal(masks, &update); err != nil || len(violationsIn(&update)) > core.MaxViolations {
		t.Errorf("masks: %d violations (%v), want at most %d", len(violationsIn(&update)), err, core.MaxViolations)
	}
	w := newWorld(t)
	request := &pingv2.PingRequest{}
	request.ProtoReflect().SetUnknown(unknown)
	for protocol := range protocols {
		if protocol == "connect JSON" {
			continue // JSON has names instead of numbers.
		}
		_, err := pingv2connect.NewPingServiceClient(newHTTP2Client(), w.server.URL, protocols[protocol]).Ping(t.Context(), request)
		if got, want := violations(t, expectError(t, err, connect.CodeInvalidArgument)), strings.Join(numbers[:core.MaxViolations], " "); got != want {
			t.Errorf("%s: violations of %q, want %q", protocol, got, want)
		}
	}
	if _, _, text := w.post(nobody, "/platform.ping.v2.PingService/Ping", "{"+strings.Join(names, ",")+"}"); len(postedViolations(t, text)) != core.MaxViolations {
		t.Errorf("JSON: %d violations, want %d", len(postedViolations(t, text)), core.MaxViolations)
	}
}

func TestAMaskOfTooManyPathsIsRefusedInEveryProtocol(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := must[*registryv2.Repo](t)(w.owner().repos.CreateRepo(t.Context(), &registryv2.CreateRepoRequest{Parent: w.org, Repo: &registryv2.Repo{Name: "one"}}))
	for protocol := range protocols {
		_, err := w.clientsAs(theOwner, protocol).repos.UpdateRepo(t.Context(), &registryv2.UpdateRepoRequest{
			Repo: repo, UpdateMask: mask(slices.Repeat([]string{"description"}, 101)...),
		})
		if got := violations(t, expectError(t, err, connect.CodeInvalidArgument)); got != "updateMask" {
			t.Errorf("%s: violations of %q, want updateMask", protocol, got)
		}
	}
}

func TestServicesOfV2beta1AnswerAsV2AndUnknownMethodsAreUnimplemented(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for procedure, want := range map[string]int{
		"/platform.iam.v2beta1.GroupsService/GetGroup":         http.StatusOK,
		"/platform.registry.v2beta1.ReposService/ListRepos":    http.StatusOK,
		"/platform.iam.v2.GroupsService/RenameGroup":           http.StatusNotImplemented,
		"/platform.iam.v2beta1.GroupsService/RenameGroup":      http.StatusNotImplemented,
		"/platform.iam.v2.GroupsService/":                      http.StatusNotImplemented,
		"/platform.iam.v2beta1.CasinosService/GetGroup":        http.StatusNotImplemented,
		"/platform.registry.v2beta1.v2beta1.ReposService/List": http.StatusNotImplemented,
	} {
		body := `{}`
		if strings.HasSuffix(procedure, "GetGroup") {
			body = `{"uid": "` + w.org + `"}`
		}
		if status, _, text := w.post(theOwner, procedure, body); status != want || want != http.StatusOK && !strings.Contains(text, `"unimplemented"`) {
			t.Errorf("%s: status %d, want %d: %s", procedure, status, want, text)
		}
	}
	client := connect.NewClient[iamv2.GetGroupRequest, iamv2.Group](w.server.Client(), w.server.URL+"/platform.iam.v2.GroupsService/RenameGroup", connect.WithGRPCWeb())
	request := connect.NewRequest(&iamv2.GetGroupRequest{})
	request.Header().Set("X-Subject", theOwner)
	_, err := client.CallUnary(context.Background(), request)
	_ = expectError(t, err, connect.CodeUnimplemented)
}

// Enums in JSON have the same numbers as in the messages.
func TestEnumNumbersInJSONAreThoseOfTheMessages(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		numbers map[string]int32
		values  []string
	}{
		{iamv2.OrgKind_value, iam.OrgKind("").Values()},
		{iamv2.OrgStatus_value, iam.OrgStatus("").Values()},
		{iamv2.IdentityProvider_OIDC_CorrelationRule_value, iam.CorrelationRule("").Values()},
		{registryv2.CatalogTier_value, core.CatalogTier("").Values()},
	} {
		if len(x.numbers) != len(x.values)+1 {
			t.Errorf("%d numbers of %q", len(x.numbers), x.values)
		}
		for i, name := range x.values {
			if x.numbers[name] != int32(i+1) {
				t.Errorf("%s is %d, want %d", name, i+1, x.numbers[name])
			}
		}
	}
}
