package server

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/store/storetest"
)

const (
	testAlias   = "acme.platform"
	listRepos   = "/platform.registry.v2.ReposService/ListRepos"
	aliasedList = "/" + testAlias + ".registry.v2.ReposService/ListRepos"
)

// An aliasedServer is a server with an alias, and the token of an owner.
type aliasedServer struct {
	*httptest.Server
	issuer *auth.Issuer
	token  string
	org    string
	logs   *bytes.Buffer
}

func newAliasedServer(t *testing.T, c Config) *aliasedServer {
	t.Helper()
	s := &aliasedServer{logs: new(bytes.Buffer)}
	p := check(platform.New(t.Context(), storetest.Open(t, storetest.SQLite(t)), platform.Options{}))(t)
	issuer := check(newDevelopmentIssuer())(t)
	s.issuer = issuer
	operator := core.WithActor(t.Context(), core.NewOperator("test"))
	s.org = string(check(p.Groups.Bootstrap(operator, "acme", auth.DevelopmentIssuer, "owner"))(t).Group.UID)
	s.token = check(issuer.Mint("owner", "atrium", time.Hour, nil))(t)
	c.Logger, c.GraphQL, c.Audience, c.PackageAliases = slog.New(slog.NewTextHandler(s.logs, nil)), DefaultGraphQL(), []string{"atrium"}, []string{"other", testAlias}
	s.Server = httptest.NewUnstartedServer(Handler(p, c, issuer))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// readStubs returns our own contract as clients know it that were generated in another package
// and version.
func readStubs(t *testing.T, alias, version string) *protoregistry.Files {
	t.Helper()
	set := &descriptorpb.FileDescriptorSet{}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
		return true
	})
	set.File = slices.DeleteFunc(set.File, func(f *descriptorpb.FileDescriptorProto) bool {
		return !strings.HasPrefix(f.GetPackage(), "platform.") && !strings.HasPrefix(f.GetPackage(), "google.")
	})
	text := check(protojson.Marshal(set))(t)
	for own, theirs := range map[string]string{`"platform.`: `"` + alias + `.`, `".platform.`: `".` + alias + `.`} {
		text = bytes.ReplaceAll(text, []byte(own), []byte(theirs))
	}
	for _, area := range []string{"iam", "registry", "advisory", "events", "libraries", "operations", "ping", "vulnerabilities", "uidp"} {
		text = bytes.ReplaceAll(text, []byte(alias+"."+area+".v2"), []byte(alias+"."+area+"."+version))
	}
	set.Reset()
	if err := protojson.Unmarshal(text, set); err != nil {
		t.Fatal(err)
	}
	return check(protodesc.NewFiles(set))(t)
}

// methodsOf lists the methods of all services of a package.
func methodsOf(files *protoregistry.Files, prefix string) (methods []protoreflect.MethodDescriptor) {
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			for j := range file.Services().Get(i).Methods().Len() {
				if strings.HasPrefix(string(file.Package()), prefix+".") {
					methods = append(methods, file.Services().Get(i).Methods().Get(j))
				}
			}
		}
		return true
	})
	return methods
}

// callStub calls a method with a request in JSON, as a generated client would.
func (s *aliasedServer) callStub(ctx context.Context, method protoreflect.MethodDescriptor, token, request string, options ...connect.ClientOption) (*dynamicpb.Message, error) {
	sent := dynamicpb.NewMessage(method.Input())
	if err := protojson.Unmarshal([]byte(request), sent); err != nil {
		return nil, err
	}
	options = append(options, connect.WithSchema(method), connect.WithResponseInitializer(func(_ connect.Spec, message any) error {
		*message.(*dynamicpb.Message) = *dynamicpb.NewMessage(method.Output())
		return nil
	}))
	path := "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
	client := connect.NewClient[dynamicpb.Message, dynamicpb.Message](protocols()["HTTP/2.0"], s.URL+path, options...)
	call := connect.NewRequest(sent)
	call.Header().Set("Authorization", "Bearer "+token)
	answer, err := client.CallUnary(ctx, call)
	if err != nil {
		return nil, err
	}
	return answer.Msg, nil
}

func TestEveryProcedureAnswersTheSameUnderAnAlias(t *testing.T) {
	t.Parallel()
	s := newAliasedServer(t, Config{})
	own := map[string]string{}
	outcome := func(m protoreflect.MethodDescriptor, token string) string {
		answer, err := s.callStub(t.Context(), m, token, `{}`, connect.WithGRPC())
		if err != nil {
			return err.Error()
		}
		return string(answer.ProtoReflect().Descriptor().Name())
	}
	for _, alias := range []string{"platform", testAlias, "other"} {
		for _, version := range []string{"v2", "v2beta1"} {
			methods := methodsOf(readStubs(t, alias, version), alias)
			if len(methods) < 50 {
				t.Fatalf("%s %s has %d methods, want those of all services", alias, version, len(methods))
			}
			for _, m := range methods {
				name := string(m.Parent().Name()) + "/" + string(m.Name())
				for who, token := range map[string]string{"the owner": s.token, "nobody": "no.such.token"} {
					got := outcome(m, token)
					if want, known := own[who+name]; known && got != want {
						t.Errorf("%s as %s gets %q, want %q", m.FullName(), who, got, want)
					}
					own[who+name] = got
				}
			}
		}
	}
	if got := own["nobodyReposService/ListRepos"]; !strings.Contains(got, "unauthenticated") {
		t.Errorf("nobody gets %q, want unauthenticated", got)
	}
}

func TestStubsOfAnotherPackageWorkInEveryProtocol(t *testing.T) {
	t.Parallel()
	s := newAliasedServer(t, Config{})
	for _, version := range []string{"v2", "v2beta1"} {
		service := check(readStubs(t, testAlias, version).FindDescriptorByName(protoreflect.FullName(testAlias + ".registry." + version + ".ReposService")))(t)
		methods := service.(protoreflect.ServiceDescriptor).Methods()
		for protocol, option := range map[string]connect.ClientOption{
			"grpc": connect.WithGRPC(), "grpc-web": connect.WithGRPCWeb(), "connect": connect.WithClientOptions(), "connect-json": connect.WithProtoJSON(),
		} {
			name := protocol + "-" + version
			check(s.callStub(t.Context(), methods.ByName("CreateRepo"), s.token, `{"parent": "`+s.org+`", "repo": {"name": "`+name+`", "catalogTier": "CATALOG_TIER_FIPS"}}`, option))(t)
			got := protojson.Format(check(s.callStub(t.Context(), methods.ByName("ListRepos"), s.token, `{"name": "`+name+`", "uidp": {"descendantsOf": "`+s.org+`"}}`, option))(t))
			if !strings.Contains(got, name) || !strings.Contains(got, "CATALOG_TIER_FIPS") {
				t.Errorf("%s: listed %s", name, got)
			}
		}
	}
}

func TestReflectionDescribesTheServicesOfAnAlias(t *testing.T) {
	t.Parallel()
	s := newAliasedServer(t, Config{})
	client := grpcreflect.NewClient(protocols()["HTTP/2.0"], s.URL, connect.WithGRPC())
	describe := func(name protoreflect.FullName) ([]*descriptorpb.FileDescriptorProto, error) {
		stream := client.NewStream(t.Context()) // a stream sends no file twice
		defer func() { _, _ = stream.Close() }()
		return stream.FileContainingSymbol(name)
	}
	stream := client.NewStream(t.Context())
	defer func() { _, _ = stream.Close() }()
	listed := check(stream.ListServices())(t)
	for _, name := range []protoreflect.FullName{"platform.iam.v2.GroupsService", testAlias + ".iam.v2.GroupsService", "other.ping.v2.PingService", "grpc.health.v1.Health"} {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is not listed in %v", name, listed)
		}
	}
	for _, version := range []string{"v2", "v2beta1"} {
		for _, alias := range []string{"platform", testAlias} {
			stubs := readStubs(t, alias, version)
			for _, service := range []string{"registry.v2.ReposService", "iam.v2.RolesService", "events.v2.SubscriptionsService"} {
				name := protoreflect.FullName(alias + "." + strings.Replace(service, ".v2.", "."+version+".", 1))
				described := check(protodesc.NewFiles(&descriptorpb.FileDescriptorSet{File: check(describe(name))(t)}))(t)
				got, want := serviceProto(check(described.FindDescriptorByName(name))(t)), serviceProto(check(stubs.FindDescriptorByName(name))(t))
				if !proto.Equal(got, want) {
					t.Errorf("%s is described as %v, want %v", name, got, want)
				}
			}
		}
	}
	if _, err := describe("unknown.platform.iam.v2.GroupsService"); err == nil {
		t.Error("a package that is no alias is described")
	}
}

// serviceProto returns the names and types of a service.
func serviceProto(d protoreflect.Descriptor) *descriptorpb.ServiceDescriptorProto {
	service, _ := d.(protoreflect.ServiceDescriptor)
	return protodesc.ToServiceDescriptorProto(service)
}

func TestHealthKnowsTheServicesOfAnAlias(t *testing.T) {
	t.Parallel()
	s := newAliasedServer(t, Config{})
	for service, want := range map[string]int{
		"": 200, testAlias + ".iam.v2.GroupsService": 200, testAlias + ".iam.v2beta1.GroupsService": 200, "other.iam.v2.GroupsService": 200,
		"unknown.iam.v2.GroupsService": 404, testAlias + ".iam.v2.NoService": 404, testAlias: 404,
	} {
		answer, body := send(t, http.MethodPost, s.URL+"/grpc.health.v1.Health/Check", `{"service": "`+service+`"}`, http.Header{"Content-Type": {"application/json"}})
		if answer.StatusCode != want {
			t.Errorf("%q: status %d, want %d: %s", service, answer.StatusCode, want, body)
		}
	}
}

func TestAnAliasHasTheQuotaAndTheLogOfTheProcedure(t *testing.T) {
	t.Parallel()
	s := newAliasedServer(t, Config{MaxInFlight: 9, RateLimit: 1, RateBurst: 2})
	var statuses []int
	var refusal string
	for _, path := range []string{listRepos, aliasedList, aliasedList} {
		answer, body := send(t, http.MethodPost, s.URL+path, `{}`, http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + s.token}})
		statuses, refusal = append(statuses, answer.StatusCode), body
	}
	if !slices.Equal(statuses, []int{200, 200, 429}) || !strings.Contains(refusal, `"code":"resource_exhausted"`) {
		t.Errorf("answered %v and %s, want the third to be refused in the form of Connect", statuses, refusal)
	}
	if logs := s.logs.String(); strings.Count(logs, "protocol=connect") != 2 || strings.Count(logs, "path="+listRepos) != 2 {
		t.Errorf("the log is %s, want two lines with the name of the service", logs)
	}
}

func TestOnlyAliasesAreResolved(t *testing.T) {
	t.Parallel()
	s := newAliasedServer(t, Config{})
	for path, want := range map[string]int{
		listRepos: 200, aliasedList: 200, "/other.registry.v2.ReposService/ListRepos": 200,
		"/unknown.registry.v2.ReposService/ListRepos": 404, "/acme.registry.v2.ReposService/ListRepos": 404, "/" + testAlias + "/ListRepos": 404,
		"/acme%2Eplatform.registry.v2.ReposService/ListRepos": 404, "/" + testAlias + ".registry.v3.ReposService/ListRepos": 501,
		"/" + testAlias + ".registry.Registry/ListTags": 501, "/" + testAlias + ".platform.registry.v2.ReposService/ListRepos": 501,
	} {
		answer, body := send(t, http.MethodPost, s.URL+path, `{}`, http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + s.token}})
		if answer.StatusCode != want {
			t.Errorf("%s: status %d, want %d: %s", path, answer.StatusCode, want, body)
		}
	}
}
