package rpc

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	iamv2 "atrium/gen/platform/iam/v2"
	librariesv2 "atrium/gen/platform/libraries/v2"
	registryv2 "atrium/gen/platform/registry/v2"
	vulnerabilitiesv2 "atrium/gen/platform/vulnerabilities/v2"
	"atrium/internal/wiretest"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
)

// These fields and procedures are not in the reference. The numbers of our own fields
// begin at 100.
var (
	ourFields = []string{
		"Subscription.types", "Subscription.secret", "Subscription.create_time", "Subscription.update_time", "Subscription.format", "Subscription.digest", "CreateSubscriptionRequest.conditions", "CreateSubscriptionRequest.findings", "ResolvedVulnsReport.image_ref",
		"RoleBinding.expire_time", "RoleBinding.review_time", "RoleBinding.reviewer", "RoleBinding.review_note", "IdentityProvider.issuer_verified", "IdentityProvider.issuer_verify_time",
		"Advisory.severity", "ListAdvisoriesRequest.severities", "ListAdvisoriesRequest.min_score", "ListAdvisoriesRequest.withdrawn", "ListAdvisoriesRequest.states",
		"ListDocumentsRequest.page_size", "ListDocumentsRequest.page_token", "ListDocumentsRequest.order_by", "ListDocumentsRequest.skip",
		"ListResolvedVulnsReportsRequest.page_size", "ListResolvedVulnsReportsRequest.page_token", "ListResolvedVulnsReportsRequest.order_by", "ListResolvedVulnsReportsRequest.skip",
		"ListResolvedVulnsReportsResponse.next_page_token", "ListResolvedVulnsReportsResponse.total_count", "ListResolvedVulnsReportsResponse.skipped",
		"ListDocumentsResponse.next_page_token", "ListDocumentsResponse.total_count", "ListDocumentsResponse.skipped",
		"ListGroupsRequest.query", "ListIdentitiesRequest.query", "ListRolesRequest.query", "ListTagsRequest.query",
		"ListReposRequest.query", "ListReposRequest.tiers", "ListReposRequest.bundles", "ListReposRequest.aliases",
		"Repo.labels", "ListReposRequest.labels", "Group.labels", "ListGroupsRequest.labels",
	}
	ourRPCs     = []string{"AcceptGroupInvite", "VerifyIdentityProvider", "TestSubscription"}
	ourMessages = []string{ // This also lists enums.
		"AcceptGroupInviteRequest", "VerifyIdentityProviderRequest", "AdvisorySeverity", "SeverityRating", "SeveritySource", "AdvisoryState",
		"TestSubscriptionRequest", "TestSubscriptionResponse", "SubscriptionFormat", "SubscriptionDigest"}
	// Newer clients know these values, which have their numbers.
	newerValues = map[string]string{"ORG_KIND_AWS_MARKETPLACE": "5"}
	// Presence does not change the encoding. With it, a client can send false.
	ourPresence = []string{"ListTagsRequest.include_referrers", "ListTagsRequest.include_dates", "ListTagsRequest.include_epochs"}
	// answers has the responses of operations without their own response message.
	answers = map[string]string{
		"GetArchitectures": "Architectures", "GetSize": "Size", "AcceptGroupInvite": "RoleBinding",
		"VerifyIdentityProvider": "IdentityProvider", "TestSubscription": "TestSubscriptionResponse",
	}
)

func TestTheProtosEqualTheReference(t *testing.T) {
	t.Parallel()
	for _, file := range wiretest.Files(t) {
		found, err := protoregistry.GlobalFiles.FindFileByPath(file.Path)
		if err != nil {
			t.Errorf("%s: %v", file.Path, err)
			continue
		}
		if string(found.Package()) != file.Package {
			t.Errorf("%s has the package %s, want %s", file.Path, found.Package(), file.Package)
		}
		checkService(t, file, found)
		checkTypes(t, file, found)
	}
}

func checkService(t *testing.T, file wiretest.File, found protoreflect.FileDescriptor) {
	t.Helper()
	service := found.Services().ByName(protoreflect.Name(file.Service))
	if service == nil || found.Services().Len() != 1 {
		t.Errorf("%s has not the service %s alone", file.Path, file.Service)
		return
	}
	var names []string
	for _, r := range file.RPCs {
		if names = append(names, r.Name); service.Methods().ByName(protoreflect.Name(r.Name)) == nil {
			t.Errorf("%s lacks %s", file.Service, r.Name)
		}
	}
	for i := range service.Methods().Len() {
		m := service.Methods().Get(i)
		name := string(m.Name())
		if !slices.Contains(names, name) && !slices.Contains(ourRPCs, name) {
			t.Errorf("%s has %s, which nobody knows", file.Service, name)
		}
		if got := string(m.Input().Name()); got != name+"Request" {
			t.Errorf("%s takes %s", name, got)
		}
		if got, want := string(m.Output().Name()), answerOf(file, name); got != want {
			t.Errorf("%s answers %s, want %s", name, got, want)
		}
	}
}

// answerOf returns the name of the response message of an operation.
func answerOf(file wiretest.File, name string) string {
	if slices.ContainsFunc(file.Types, func(t wiretest.Type) bool { return t.Name == name+"Response" }) {
		return name + "Response"
	}
	if answer, ok := answers[name]; ok {
		return answer
	}
	for _, verb := range []string{"Get", "Create", "Update"} {
		if kind, ok := strings.CutPrefix(name, verb); ok {
			return kind
		}
	}
	return "Empty"
}

func checkTypes(t *testing.T, file wiretest.File, found protoreflect.FileDescriptor) {
	t.Helper()
	messages, enums := map[string]protoreflect.MessageDescriptor{}, map[string]protoreflect.EnumDescriptor{}
	collect(found, messages, enums)
	for _, want := range file.Types {
		switch {
		case want.IsEnum && enums[want.Name] != nil:
			checkEnum(t, want, enums[want.Name])
			delete(enums, want.Name)
		case !want.IsEnum && messages[want.Name] != nil:
			checkMessage(t, want, messages[want.Name])
			delete(messages, want.Name)
		default:
			t.Errorf("%s lacks %s", file.Path, want.Name)
		}
	}
	for name := range messages {
		if !slices.Contains(ourMessages, name) {
			t.Errorf("%s has %s, which nobody knows", file.Path, name)
		}
	}
	for name := range enums {
		if slices.Contains(ourMessages, name) {
			continue
		}
		t.Errorf("%s has %s, which nobody knows", file.Path, name)
	}
}

// collect maps names to types, including nested types. Each type named Type also has the
// name of its message.
func collect(in interface {
	Messages() protoreflect.MessageDescriptors
	Enums() protoreflect.EnumDescriptors
}, messages map[string]protoreflect.MessageDescriptor, enums map[string]protoreflect.EnumDescriptor,
) {
	for i := range in.Enums().Len() {
		e := in.Enums().Get(i)
		name := string(e.Name())
		if name == "Type" {
			name = string(e.Parent().Name()) + ".Type"
		}
		enums[name] = e
	}
	for i := range in.Messages().Len() {
		if m := in.Messages().Get(i); !m.IsMapEntry() {
			messages[string(m.Name())] = m
			collect(m, messages, enums)
		}
	}
}

func checkEnum(t *testing.T, want wiretest.Type, found protoreflect.EnumDescriptor) {
	t.Helper()
	for i := range found.Values().Len() {
		if v := found.Values().Get(i); newerValues[string(v.Name())] != "" {
			want.Fields = append(slices.Clip(want.Fields), wiretest.Field{Name: string(v.Name()), Number: newerValues[string(v.Name())]})
		}
	}
	if found.Values().Len() != len(want.Fields) {
		t.Errorf("%s has %d values, want %d", want.Name, found.Values().Len(), len(want.Fields))
	}
	for _, f := range want.Fields {
		v := found.Values().ByName(protoreflect.Name(f.Name))
		if v == nil || itoa(v.Number()) != f.Number {
			t.Errorf("%s: %s is %v, want %s", want.Name, f.Name, v, f.Number)
		}
	}
}

func checkMessage(t *testing.T, want wiretest.Type, found protoreflect.MessageDescriptor) {
	t.Helper()
	known := map[protoreflect.Name]bool{}
	for _, f := range want.Fields {
		at := want.Name + "." + f.Name
		got := found.Fields().ByName(protoreflect.Name(f.Name))
		if got == nil {
			t.Errorf("%s is missing", at)
			continue
		}
		known[got.Name()] = true
		oneof := ""
		if o := got.ContainingOneof(); o != nil && !o.IsSynthetic() {
			oneof = string(o.Name())
		}
		kind := kindOf(got)
		if slices.Contains(ourPresence, at) {
			kind = strings.TrimPrefix(kind, "optional ")
		}
		f.JSON = cmp.Or(f.JSON, jsonName(f.Name))
		if gotten := (wiretest.Field{Number: itoa(got.Number()), Name: f.Name, Kind: kind, Oneof: oneof, JSON: got.JSONName()}); gotten != f {
			t.Errorf("%s is %v, want %v", at, gotten, f)
		}
	}
	for i := range found.Fields().Len() {
		f := found.Fields().Get(i)
		if at := want.Name + "." + string(f.Name()); !known[f.Name()] && (!slices.Contains(ourFields, at) || f.Number() < 100) {
			t.Errorf("%s = %d is not in the ledger", at, f.Number())
		}
	}
}

// kindOf returns the type of a field in the notation of the reference.
func kindOf(f protoreflect.FieldDescriptor) string {
	switch {
	case f.IsMap():
		return "map<" + kindOf(f.MapKey()) + ", " + kindOf(f.MapValue()) + ">"
	case f.IsList():
		return "repeated " + nameOf(f)
	case f.HasOptionalKeyword():
		return "optional " + nameOf(f)
	default:
		return nameOf(f)
	}
}

func nameOf(f protoreflect.FieldDescriptor) string {
	switch {
	case f.Enum() != nil:
		return string(f.Enum().Name())
	case f.Message() != nil && f.Message().ParentFile().Package() == "google.protobuf":
		return string(f.Message().FullName())
	case f.Message() != nil:
		return string(f.Message().Name())
	default:
		return f.Kind().String()
	}
}

func jsonName(s string) string {
	words := strings.Split(s, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

func TestTheUIDFilterIsThatOfTheWire(t *testing.T) {
	t.Parallel()
	found, err := protoregistry.GlobalFiles.FindDescriptorByName("platform.uidp.v2.UIDPFilter")
	if err != nil {
		t.Fatal(err)
	}
	checkMessage(t, wiretest.Type{Name: "UIDPFilter", Fields: []wiretest.Field{
		{Number: "1", Name: "ancestors_of", Kind: "string"}, {Number: "2", Name: "descendants_of", Kind: "string"},
		{Number: "3", Name: "children_of", Kind: "string"}, {Number: "4", Name: "in_root", Kind: "bool"},
		{Number: "5", Name: "ids", Kind: "repeated string"},
	}}, found.(protoreflect.MessageDescriptor))
}

func TestCapabilitiesHaveTheNumbersOfTheCore(t *testing.T) {
	t.Parallel()
	all := core.Capabilities()
	if len(iamv2.Capability_name) != len(all)+1 {
		t.Errorf("there are %d, and one that says nothing; the core has %d", len(iamv2.Capability_name), len(all))
	}
	for _, c := range all {
		if got := iamv2.Capability_value[c.WireName()]; got != int32(c.Number()) {
			t.Errorf("%s is %d, want %d", c.WireName(), got, c.Number())
		}
	}
}

func TestEveryServiceOfTheLedgerIsServed(t *testing.T) {
	t.Parallel()
	var served []string
	for _, s := range services(newWorld(t).p, withNothing) {
		served = append(served, strings.Trim(s.path, "/"))
	}
	for _, file := range wiretest.Files(t) {
		name := file.Package + "." + file.Service
		if !slices.Contains(served, name) {
			t.Errorf("%s is not served", name)
		}
	}
}

// Queries and bodies of REST take enums by the positions of their values.
func TestTheValuesOfEnumsHaveTheirNumbers(t *testing.T) {
	t.Parallel()
	for _, e := range []struct {
		values []string
		number func(string) int32
	}{
		{core.CatalogTier("").Values(), func(s string) int32 { return registryv2.CatalogTier_value[s] }},
		{iam.RelationshipType("").Values(), func(s string) int32 { return iamv2.RelationshipType_value[s] }},
		{iam.OrgKind("").Values(), func(s string) int32 { return iamv2.OrgKind_value[s] }},
		{iam.OrgStatus("").Values(), func(s string) int32 { return iamv2.OrgStatus_value[s] }},
		{libraries.Ecosystem("").Values(), func(s string) int32 { return librariesv2.Ecosystem_value[s] }},
		{inventory.ReviewState("").Values(), func(s string) int32 { return vulnerabilitiesv2.ReviewState_value[s] }},
		{inventory.EventType("").Values(), func(s string) int32 { return vulnerabilitiesv2.EventTypeFilter_value[s] }},
		{core.SeverityRating("").Values(), func(s string) int32 { return vulnerabilitiesv2.SeverityRating_value[s] }},
		{inventory.AdvisoryState("").Values(), func(s string) int32 { return vulnerabilitiesv2.AdvisoryState_value[s] }},
	} {
		for i, name := range e.values {
			if got := e.number(name); got != int32(i)+1 {
				t.Errorf("%s is number %d here, and %d in the contract", name, i+1, got)
			}
		}
	}
}
