package cases

import (
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// This file converts cases to messages, and finds what messages cannot express.

// places lists the fields that identify the resource of a call, unless they are part of
// the resource.
var places = []string{"uid", "repo_uid", "artifact_id", "parent"}

// message converts a call to the request of a method. It omits fields that the type does
// not have, and fails for a value that a field cannot hold.
func (p grpc) message(method protoreflect.MethodDescriptor, c call) (*dynamicpb.Message, error) {
	asked, resource := fields{}, resourceOf(method)
	if resource == nil {
		asked = asked.with(c.fields)
	} else {
		asked[resource.JSONName()] = fields{}.with(c.fields)
	}
	uidp := fields{}
	for name, value := range c.params {
		if scope, ok := strings.CutPrefix(name, "uidp."); ok {
			uidp[scope], asked["uidp"] = value, uidp
			continue
		}
		asked[name] = value
		if name == "imageRefs" {
			asked[name] = imageRefs(normalize(value))
		}
	}
	if c.target != "" && strings.HasPrefix(c.rpc, "Update") && resource != nil {
		asked[resource.JSONName()].(fields)["uid"] = c.target
	} else if c.target != "" {
		about := places
		if strings.Contains(c.rpc, "Terms") || c.rpc == "ListEffectiveRoleBindings" { // In other operations, a group is a filter.
			about = []string{"group"}
		}
		for _, place := range about {
			if f := method.Input().Fields().ByTextName(place); f != nil {
				asked[f.JSONName()] = c.target
				break
			}
		}
	}
	message := dynamicpb.NewMessage(method.Input())
	known, _ := selectKnown(asked, method.Input())
	if err := protojson.Unmarshal([]byte(asJSON(known)), message); err != nil {
		return nil, err
	}
	if c.mask != nil { // The JSON form does not allow every spelling of a mask.
		mask := message.Mutable(method.Input().Fields().ByName("update_mask")).Message()
		paths := mask.Mutable(mask.Descriptor().Fields().ByName("paths")).List()
		for _, path := range c.mask {
			paths.Append(protoreflect.ValueOfString(path))
		}
	}
	return message, nil
}

// resourceOf returns the field of a creation or an update that contains the resource.
func resourceOf(method protoreflect.MethodDescriptor) protoreflect.FieldDescriptor {
	for _, verb := range []string{"Create", "Update"} {
		if kind, ok := strings.CutPrefix(string(method.Name()), verb); ok {
			return method.Input().Fields().ByTextName(strings.TrimPrefix(snakeCase(kind), "_"))
		}
	}
	return nil
}

// selectKnown returns the part of f for which a message has fields, and whether it omits
// anything. Messages have no null: such a field is not set.
func selectKnown(f fields, descriptor protoreflect.MessageDescriptor) (selected fields, omits bool) {
	selected = fields{}
	for name, value := range f {
		field := descriptor.Fields().ByJSONName(name)
		if field == nil {
			field = descriptor.Fields().ByTextName(name)
		}
		switch {
		case field == nil:
			omits = true
		case value != nil && field.Message() != nil && !field.IsMap():
			inner, losing := selectKnownValue(value, field.Message())
			selected[name], omits = inner, omits || losing
		case value != nil:
			selected[name] = value
		}
	}
	return selected, omits
}

func selectKnownValue(value any, descriptor protoreflect.MessageDescriptor) (selected any, omits bool) {
	switch value := normalize(value).(type) {
	case fields:
		return selectKnown(value, descriptor)
	case []any:
		all := make([]any, len(value))
		for i := range value {
			inner, losing := selectKnownValue(value[i], descriptor)
			all[i], omits = inner, omits || losing
		}
		return all, omits
	default:
		return value, false
	}
}

// instead returns the answer of gRPC to a call that its messages cannot express completely.
func (p grpc) instead(token string, c call) (other otherAnswer, differs bool) {
	method, known := p.methods[c.rpc]
	if !known {
		return otherAnswer{}, false
	}
	message, err := p.message(method, c)
	if err != nil {
		return otherAnswer{"the types of the messages have no room for it", rejectedInput{}}, true
	}
	if c.mask != nil {
		return otherAnswer{}, false // An absent field means the same as null.
	}
	resource := resourceOf(method)
	if kind, updates := strings.CutPrefix(c.rpc, "Update"); updates && resource != nil && len(c.fields) > 0 {
		changes := message.Mutable(resource).Message()
		changes.Clear(changes.Descriptor().Fields().ByName("uid"))
		before := p.do(token, call{rpc: "Get" + kind, target: c.target})
		if isEmptyMessage(changes) && before.failure == nil {
			return otherAnswer{"without a mask only what is not empty is changed: nothing is", expectedResource{with: before.resource}}, true
		}
	}
	input, given := method.Input(), c.fields.with(c.params)
	if resource != nil {
		input = resource.Message()
	}
	for name := range given {
		if strings.HasPrefix(name, "uidp.") {
			delete(given, name)
		}
	}
	if _, lost := selectKnown(given, input); lost {
		return otherAnswer{"fields that a message does not have are ignored, which is how old servers get on with new clients", anySuccess{}}, true
	}
	return otherAnswer{}, false
}

func isEmptyMessage(m protoreflect.Message) bool {
	none := true
	m.Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool {
		none = false
		return false
	})
	return none
}
