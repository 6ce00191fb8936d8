package rpc

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"atrium/platform/core"
	"atrium/platform/iam"
)

func itoa[N ~int32](n N) string { return strconv.Itoa(int(n)) }

// A conversion is a function that converts resources into messages.
type conversion struct {
	message  proto.Message // This message is empty.
	coreType reflect.Type
	// roundTrip reads a message as a request and converts the result into a
	// message.
	roundTrip func(t *testing.T, m proto.Message) proto.Message
}

func newConversion[T, M any, P interface {
	*M
	proto.Message
}](convert func(*T) P) conversion {
	return conversion{P(new(M)), reflect.TypeFor[T](), func(t *testing.T, m proto.Message) proto.Message {
		text, err := protojson.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		resource := new(T)
		if err := json.Unmarshal(text, resource); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return convert(resource)
	}}
}

var conversions = []conversion{
	newConversion(group), newConversion(identity), newConversion(role), newConversion(roleBinding),
	newConversion(identityProvider), newConversion(externalGroupRoleMapping), newConversion(groupInvite),
	newConversion(acceptedTerms), newConversion(termsAcceptance), newConversion(accountAssociation),
	newConversion(repo), newConversion(readme), newConversion(tag), newConversion(imageSize),
	newConversion(advisory), newConversion(vulnerability), newConversion(document), newConversion(resolvedReport), newConversion(subscription),
	newConversion(artifact), newConversion(artifactVersion), newConversion(ecosystemCount), newConversion(operation),
}

// unfilledFields lists the fields that a round trip does not keep.
var unfilledFields = map[protoreflect.FullName]string{
	"platform.iam.v2.GroupInvite.ttl":                     "no answer has it",
	"platform.iam.v2.IdentityProvider.OIDC.client_secret": "no answer has it",
	"platform.operations.v2.Operation.response":           "it can be any object; internal/cases compares it",
}

// A message with all fields set is read as a request and converted into a response. It must
// not change: a difference is a field that one of the directions forgets.
func TestEveryFieldSurvivesARoundTrip(t *testing.T) {
	t.Parallel()
	for _, c := range conversions {
		for variant := range 8 { // The largest oneof has 8 fields.
			sent := c.message.ProtoReflect().New()
			fillMessage(sent, variant)
			if got := c.roundTrip(t, sent.Interface()); !proto.Equal(got, sent.Interface()) {
				t.Errorf("%s, variant %d:\n got %v\nwant %v", sent.Descriptor().FullName(), variant, got, sent)
			}
		}
	}
}

// fillMessage sets every field of a message. variant selects the field of each oneof.
func fillMessage(m protoreflect.Message, variant int) {
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() && o.Fields().Get(variant%o.Fields().Len()) != f {
			continue
		}
		if unfilledFields[f.FullName()] != "" {
			continue
		}
		switch {
		case f.IsMap():
			m.Mutable(f).Map().Set(fillScalar(f.MapKey()).MapKey(), fillValue(m.NewField(f).Map().NewValue(), f.MapValue(), variant))
		case f.IsList():
			list := m.Mutable(f).List()
			for range 2 {
				list.Append(fillValue(list.NewElement(), f, variant))
			}
		default:
			m.Set(f, fillValue(m.NewField(f), f, variant))
		}
	}
}

func fillValue(empty protoreflect.Value, f protoreflect.FieldDescriptor, variant int) protoreflect.Value {
	if f.Message() == nil {
		return fillScalar(f)
	}
	if at, ok := empty.Message().Interface().(*timestamppb.Timestamp); ok {
		at.Seconds, at.Nanos = 1_774_619_700+int64(f.Number()), 785_000_000
		return empty
	}
	fillMessage(empty.Message(), variant)
	return empty
}

func fillScalar(f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString("a " + string(f.Name()))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte("a " + string(f.Name())))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(f.Enum().Values().Get(1).Number())
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(f.Number()))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(f.Number()))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(f.Number()))
	default:
		panic(fmt.Sprintf("%s is of a kind that no message had", f.FullName()))
	}
}

// Every field of REST must exist in gRPC.
func TestEveryFieldOfTheCoreIsInItsMessage(t *testing.T) {
	t.Parallel()
	for _, c := range conversions {
		compareFields(t, c.coreType, c.message.ProtoReflect().Descriptor())
	}
}

func compareFields(t *testing.T, coreType reflect.Type, message protoreflect.MessageDescriptor) {
	t.Helper()
	for i := range coreType.NumField() {
		name, _, _ := strings.Cut(coreType.Field(i).Tag.Get("json"), ",")
		if name == "-" || !coreType.Field(i).IsExported() {
			continue
		}
		field := message.Fields().ByJSONName(name)
		if field == nil {
			t.Errorf("%s shows %s, %s does not", coreType, name, message.FullName())
			continue
		}
		inner := coreType.Field(i).Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map {
			inner = inner.Elem()
		}
		if field.IsMap() {
			field = field.MapValue()
		}
		if field.Message() != nil && inner.Kind() == reflect.Struct && inner != reflect.TypeFor[core.Time]() {
			compareFields(t, inner, field.Message())
		}
	}
}

func TestBuiltInRolesShowWhatTheSpecificationShows(t *testing.T) {
	t.Parallel()
	got := role(&iam.Role{
		UID: iam.ViewerRole, Name: "viewer", Description: "Reads.", Capabilities: core.Capabilities(), CreateTime: core.Time{},
	})
	if got.GetName() != "viewer" || got.GetDescription() != "Reads." || len(got.GetCapabilities()) > 0 {
		t.Errorf("it shows %v, want Name 'viewer', Description 'Reads.' and no Capabilities", got)
	}
}
