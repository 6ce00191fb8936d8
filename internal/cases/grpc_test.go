package cases

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"atrium/platform/core"
)

// grpc makes calls with messages that it derives from the services, over HTTP/2 without
// TLS.
type grpc struct {
	t       *testing.T // The calls use the context of this test.
	client  *http.Client
	url     string
	methods map[string]protoreflect.MethodDescriptor
}

// newGRPC serves the handler until the test ends.
func newGRPC(t *testing.T, handler http.Handler) grpc {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	server := httptest.NewUnstartedServer(handler)
	server.Config.Protocols = protocols
	server.Start()
	transport := &http.Transport{Protocols: protocols}
	t.Cleanup(func() { transport.CloseIdleConnections(); server.Close() })
	return grpc{t, &http.Client{Transport: transport}, server.URL, methods()}
}

// methods returns the methods of all services, by their names in the reference.
func methods() map[string]protoreflect.MethodDescriptor {
	all := map[string]protoreflect.MethodDescriptor{}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if !strings.HasPrefix(string(file.Package()), "platform.") {
			return true
		}
		for i := range file.Services().Len() {
			served := file.Services().Get(i).Methods()
			for n := range served.Len() {
				all[string(served.Get(n).Name())] = served.Get(n)
			}
		}
		return true
	})
	return all
}

func (grpc) name() string { return "grpc" }

func (p grpc) do(token string, c call) answer {
	method, known := p.methods[c.rpc]
	if !known {
		return answer{brokenRule: "no service has " + c.rpc}
	}
	message, err := p.message(method, c)
	if err != nil { // A typed client cannot express such a call.
		return answer{raw: err.Error(), failure: &failure{code: core.CodeInvalidArgument}}
	}
	request := connect.NewRequest(message)
	if token != "" {
		request.Header().Set("Authorization", "Bearer "+token)
	}
	for name, value := range c.headers() {
		request.Header().Set(name, value)
	}
	if c.validateOnly {
		request.Header().Set("Validate-Only", "true")
	}
	procedure := fmt.Sprintf("%s/%s/%s", p.url, method.Parent().FullName(), method.Name())
	empty := func(_ connect.Spec, answer any) error {
		*answer.(*dynamicpb.Message) = *dynamicpb.NewMessage(method.Output())
		return nil
	}
	client := connect.NewClient[dynamicpb.Message, dynamicpb.Message](p.client, procedure,
		connect.WithGRPC(), connect.WithSchema(method), connect.WithResponseInitializer(empty))
	got, err := client.CallUnary(p.t.Context(), request)
	if err != nil {
		return readRefusal(err)
	}
	read := readMessage(c, got.Msg)
	read.etag = got.Header().Get("ETag")
	return read
}

func readRefusal(err error) answer {
	var refused *connect.Error
	if !errors.As(err, &refused) {
		return answer{brokenRule: err.Error()}
	}
	details := []fields{}
	for _, d := range refused.Details() {
		message, err := d.Value()
		if err != nil {
			return answer{brokenRule: err.Error()}
		}
		details = append(details, showMessage(message.ProtoReflect()).with(fields{"@type": "type.googleapis.com/" + d.Type()}))
	}
	raw := asJSON(fields{"code": refused.Code(), "message": refused.Message(), "details": details})
	var sent struct{ Details []map[string]any }
	if err := json.Unmarshal([]byte(raw), &sent); err != nil {
		return answer{brokenRule: err.Error()}
	}
	return answer{raw: raw, failure: parseStatus(float64(refused.Code()), sent.Details, nil)}
}

func readMessage(c call, message *dynamicpb.Message) answer {
	shown := showMessage(message)
	got := answer{raw: asJSON(shown)}
	if message.Descriptor().FullName() == "google.protobuf.Empty" {
		return got
	}
	if !strings.HasPrefix(c.rpc, "List") {
		got.resource = asFields(shown)
		return got
	}
	got.items = []fields{}
	for _, member := range shown {
		items, _ := member.([]any)
		for _, item := range items {
			got.items = append(got.items, asFields(item))
		}
	}
	got.next, _ = shown["nextPageToken"].(string)
	got.total, _ = shown["totalCount"].(string)
	got.skipped = fmt.Sprint(valueOr(shown["skipped"], 0))
	return got
}

// shownEmpty lists the fields that REST shows even if they are false or empty. Messages
// omit them.
var shownEmpty = map[protoreflect.FullName]bool{
	"platform.iam.v2.Group.verified": true, "platform.iam.v2.IdentityProvider.issuer_verified": true, "platform.iam.v2.GroupInvite.single_use": true, "platform.iam.v2.IdentityProvider.OIDC.pkce_enabled": true,
	"google.rpc.ResourceInfo.resource_name": true,
	"platform.operations.v2.Operation.done": true, "platform.operations.v2.Operation.records": true, "platform.operations.v2.Operation.progress_percent": true,
	"platform.libraries.v2.Artifact.version_count": true, "platform.libraries.v2.GetArtifactCountResponse.EcosystemCount.total_count": true,
	"platform.libraries.v2.ListArtifactsResponse.total_count": true, "platform.libraries.v2.ListArtifactVersionsResponse.total_count": true,
	"platform.registry.v2.Tag.deprecated": true, "platform.registry.v2.SyncConfig.unique_tags": true, "platform.registry.v2.SyncConfig.grace_period": true,
	"platform.sources.v2.Source.prune": true, "platform.sources.v2.Source.paused": true, "platform.sources.v2.Source.failures": true,
	"platform.sources.v2.SourceCredentials.has_password": true,
}

// isShownEmpty reports whether a field is a number or a flag of an answer of package wire, all of which REST shows.
func isShownEmpty(f protoreflect.FieldDescriptor) bool {
	_, isOurs := ownFiles[path.Base(f.ParentFile().Path())]
	if of := f.Parent().Name(); f.Name() == "value" && (of == "StringFacet" || of == "UIDFacet") {
		return true
	}
	isPlain := f.Kind() == protoreflect.Int32Kind || f.Kind() == protoreflect.BoolKind || f.Kind() == protoreflect.DoubleKind
	return isOurs && isPlain && !f.IsList() && !f.HasOptionalKeyword() && f.Name() != "skipped" && f.Parent().Name() != "FindingPattern"
}

// ownFiles are the files of the operations of package wire.
var ownFiles = map[string]bool{"findings.proto": true, "packages.proto": true, "exposures.proto": true, "events.proto": true, "access.proto": true, "batches.proto": true}

// showMessage converts a message to the form of REST.
func showMessage(m protoreflect.Message) fields {
	shown := fields{}
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		if m.Has(f) || shownEmpty[f.FullName()] || isShownEmpty(f) {
			shown[f.JSONName()] = showField(f, m.Get(f))
		}
	}
	return shown
}

func showField(f protoreflect.FieldDescriptor, value protoreflect.Value) any {
	switch {
	case f.IsList():
		all := make([]any, value.List().Len())
		for i := range all {
			all[i] = showValue(f, value.List().Get(i))
		}
		return all
	case f.IsMap():
		all := fields{}
		value.Map().Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
			all[key.String()] = showValue(f.MapValue(), value)
			return true
		})
		return all
	default:
		return showValue(f, value)
	}
}

func showValue(f protoreflect.FieldDescriptor, value protoreflect.Value) any {
	switch f.Kind() {
	case protoreflect.EnumKind:
		return string(f.Enum().Values().ByNumber(value.Enum()).Name())
	case protoreflect.Int64Kind:
		return strconv.FormatInt(value.Int(), 10)
	case protoreflect.Int32Kind:
		return float64(value.Int())
	case protoreflect.BytesKind:
		return base64.StdEncoding.EncodeToString(value.Bytes())
	case protoreflect.MessageKind:
		return showKnownType(value.Message())
	default:
		return value.Interface()
	}
}

// showKnownType converts times and JSON to the form of REST, and other messages like showMessage.
func showKnownType(m protoreflect.Message) any {
	if m.Descriptor().FullName() == (*structpb.Struct)(nil).ProtoReflect().Descriptor().FullName() {
		var object map[string]any
		text, _ := protojson.Marshal(m.Interface()) // a message that was received
		_ = json.Unmarshal(text, &object)
		return normalize(object)
	}
	seconds, nanos := m.Descriptor().Fields().ByName("seconds"), m.Descriptor().Fields().ByName("nanos")
	switch m.Descriptor().FullName() {
	case (*timestamppb.Timestamp)(nil).ProtoReflect().Descriptor().FullName():
		return time.Unix(m.Get(seconds).Int(), m.Get(nanos).Int()).UTC().Format("2006-01-02T15:04:05.000Z")
	case (*durationpb.Duration)(nil).ProtoReflect().Descriptor().FullName():
		return strconv.FormatFloat(float64(m.Get(seconds).Int())+float64(m.Get(nanos).Int())/1e9, 'f', -1, 64) + "s"
	default:
		return showMessage(m)
	}
}
