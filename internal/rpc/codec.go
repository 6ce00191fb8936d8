package rpc

import (
	"encoding/json"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// codecs returns the codecs for both forms of messages. They reject unknown fields: a
// field that is silently ignored could extend a list, or create a resource that the
// caller did not intend.
//
// connect reports errors of codecs without details. Therefore these codecs return no
// errors. They store the violations in the message (see setViolations), where the
// interceptor finds them.
func codecs() connect.HandlerOption {
	return connect.WithHandlerOptions(
		connect.WithCodec(binaryCodec{}), connect.WithCodec(jsonCodec{"json"}), connect.WithCodec(jsonCodec{"json; charset=utf-8"}))
}

// binaryCodec is the binary form of protocol buffers.
type binaryCodec struct{}

func (binaryCodec) Name() string   { return "proto" }
func (binaryCodec) IsBinary() bool { return true }

func (binaryCodec) Marshal(m any) ([]byte, error) { return proto.Marshal(messageOf(m)) }

func (binaryCodec) MarshalAppend(b []byte, m any) ([]byte, error) {
	return proto.MarshalOptions{}.MarshalAppend(b, messageOf(m))
}

func (binaryCodec) MarshalStable(m any) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(messageOf(m))
}

func (binaryCodec) Unmarshal(b []byte, m any) error {
	message := messageOf(m)
	found := []fieldmask.Violation{{Field: "body", Description: "must be the request of this procedure in the binary form of protocol buffers, with text in UTF-8"}}
	if proto.Unmarshal(b, message) == nil {
		found = unknownFields(message.ProtoReflect())
	}
	if len(found) > 0 {
		setViolations(message, found...)
	}
	return nil
}

// messageOf converts the argument of a codec, which connect guarantees to be a message.
func messageOf(m any) proto.Message {
	return m.(proto.Message) //nolint:forcetypeassert // the generated services have no other
}

// jsonCodec is the JSON form of protocol buffers. It accepts a mask in every spelling that
// REST accepts.
type jsonCodec struct{ name string }

func (c jsonCodec) Name() string { return c.name }
func (jsonCodec) IsBinary() bool { return false }

func (jsonCodec) Marshal(m any) ([]byte, error) { return protojson.Marshal(messageOf(m)) }

func (jsonCodec) MarshalAppend(b []byte, m any) ([]byte, error) {
	return protojson.MarshalOptions{}.MarshalAppend(b, messageOf(m))
}

func (c jsonCodec) MarshalStable(m any) ([]byte, error) { return c.Marshal(m) }

func (jsonCodec) Unmarshal(b []byte, m any) error {
	message := messageOf(m)
	var found []fieldmask.Violation
	if err := fieldmask.CheckJSON(b); err != nil {
		found = []fieldmask.Violation{{Field: "body", Description: err.Error()}}
	} else {
		found = readJSON(b, message)
	}
	if len(found) > 0 {
		setViolations(message, found...)
	}
	return nil
}

// violationsField is the number of the field that holds the violations of a message. It is
// the largest possible number. Clients cannot set it, because unknown fields are
// violations.
const violationsField = protowire.MaxValidNumber

// setViolations replaces the content of a message by its violations.
func setViolations(m proto.Message, found ...fieldmask.Violation) {
	text, _ := json.Marshal(found) // cannot fail: strings only
	proto.Reset(m)
	m.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, violationsField, protowire.BytesType), text))
}

// violationsIn returns the violations of a message that a codec has read.
func violationsIn(m any) (found []fieldmask.Violation) {
	message, ok := m.(proto.Message)
	if !ok {
		return nil
	}
	number, kind, n := protowire.ConsumeTag(message.ProtoReflect().GetUnknown())
	if n <= 0 || number != violationsField || kind != protowire.BytesType {
		return nil
	}
	text, _ := protowire.ConsumeBytes(message.ProtoReflect().GetUnknown()[n:])
	_ = json.Unmarshal(text, &found) // setViolations has written it
	return found
}

// isKnown reports whether a message has no unknown fields and no invalid times, at any
// depth. This costs less than finding out where they are.
func isKnown(m protoreflect.Message) bool {
	if len(m.GetUnknown()) > 0 {
		return false
	}
	if t, ok := m.Interface().(*timestamppb.Timestamp); ok {
		return t.CheckValid() == nil
	}
	known := true
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsMap():
			known = false // rare, and only its values can be messages
		case f.IsList():
			for i := 0; known && i < v.List().Len(); i++ {
				known = isKnown(v.List().Get(i).Message())
			}
		default:
			known = isKnown(v.Message())
		}
		return known
	})
	return known
}

// unknownFields finds unknown fields and invalid times in a message in binary form.
// What lies outside of the fields of a mask is ignored. It stops at core.MaxViolations.
func unknownFields(m protoreflect.Message) (found []fieldmask.Violation) {
	if isKnown(m) {
		return nil
	}
	listed := fieldsOfMask(maskOf(m))
	for _, below := range append([]nestedMessage{{"", m}}, nestedMessages("", m)...) {
		if len(found) >= core.MaxViolations {
			break
		}
		if below.message == m || listed.contain(below.path) {
			found = append(found, unknownIn(below)...)
		}
	}
	return found
}

// unknownIn finds unknown fields, or an invalid time, in one message without those inside
// it.
func unknownIn(p nestedMessage) (found []fieldmask.Violation) {
	if t, ok := p.message.Interface().(*timestamppb.Timestamp); ok {
		if t.CheckValid() != nil {
			found = append(found, fieldmask.Violation{Field: p.path[:max(len(p.path)-1, 0)], Description: "must be a time of the years 1 to 9999"})
		}
		return found
	}
	seen := map[protowire.Number]bool{}
	for rest := p.message.GetUnknown(); len(rest) > 0 && len(seen) < core.MaxViolations; {
		number, _, n := protowire.ConsumeField(rest)
		if n < 0 {
			return found
		}
		if rest = rest[n:]; !seen[number] {
			seen[number] = true
			found = append(found, fieldmask.Violation{
				Field: p.path + strconv.Itoa(int(number)), Description: "is not the number of a known field",
			})
		}
	}
	return found
}

// A nestedMessage is a message inside another one. path is its path with a separator at
// the end.
type nestedMessage struct {
	path    string
	message protoreflect.Message
}

// nestedMessages lists the messages inside a message, at any depth.
func nestedMessages(path string, m protoreflect.Message) (all []nestedMessage) {
	add := func(path string, v protoreflect.Value) {
		all = append(all, nestedMessage{path, v.Message()})
		all = append(all, nestedMessages(path, v.Message())...)
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		at := path + fieldName(f)
		switch {
		case f.IsMap() && f.MapValue().Message() != nil:
			v.Map().Range(func(key protoreflect.MapKey, v protoreflect.Value) bool {
				add(at+"."+key.String()+".", v)
				return true
			})
		case f.IsMap() || f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				add(at+"["+strconv.Itoa(i)+"].", v.List().Get(i))
			}
		case path == "" && isResource(f):
			add("", v)
		case strings.HasPrefix(string(f.ContainingMessage().Name()), "List"): // the operation rejects an invalid time
			if f.Message().FullName() != "google.protobuf.Timestamp" {
				add(at+".", v)
			}
		default:
			add(at+".", v)
		}
		return true
	})
	return all
}

// fieldName returns the name of a field in violations. It is the name in REST, which uses
// snake_case in queries.
func fieldName(f protoreflect.FieldDescriptor) string {
	message := string(f.ContainingMessage().Name())
	if message == "UIDPFilter" || strings.HasPrefix(message, "List") {
		return f.TextName()
	}
	return f.JSONName()
}

// isResource reports whether a field of a request is the resource that is created or
// updated. Violations name the fields of a resource without the name of this field, as REST
// does.
func isResource(f protoreflect.FieldDescriptor) bool {
	request := f.ContainingMessage()
	name := string(request.Name())
	return f.Message() != nil && !f.IsList() && !f.IsMap() && (name == "Create"+string(f.Message().Name())+"Request" || name == "Update"+string(f.Message().Name())+"Request")
}
