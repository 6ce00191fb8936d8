package cases

import (
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// What messages can say, and what of a case they cannot.

// places are the fields that say what a call is about, unless that is a part of
// the resource.
var places = []string{"uid", "repo_uid", "artifact_id", "parent"}

// message is a call as the request of a method. What its type does not have is
// not in it; a value that a field cannot hold is an error.
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
			asked[name] = imageRefs(normal(value))
		}
	}
	if c.on != "" && strings.HasPrefix(c.rpc, "Update") && resource != nil {
		asked[resource.JSONName()].(fields)["uid"] = c.on
	} else if c.on != "" {
		about := places
		if strings.Contains(c.rpc, "Terms") { // elsewhere a group is a filter
			about = []string{"group"}
		}
		for _, place := range about {
			if f := method.Input().Fields().ByTextName(place); f != nil {
				asked[f.JSONName()] = c.on
				break
			}
		}
	}
	message := dynamicpb.NewMessage(method.Input())
	known, _ := sayable(asked, method.Input())
	if err := protojson.Unmarshal([]byte(asJSON(known)), message); err != nil {
		return nil, err
	}
	if c.mask != nil { // in JSON a mask has not each spelling that a message has
		mask := message.Mutable(method.Input().Fields().ByName("update_mask")).Message()
		paths := mask.Mutable(mask.Descriptor().Fields().ByName("paths")).List()
		for _, path := range c.mask {
			paths.Append(protoreflect.ValueOfString(path))
		}
	}
	return message, nil
}

// resourceOf is the field of a creation or an update that holds the resource.
func resourceOf(method protoreflect.MethodDescriptor) protoreflect.FieldDescriptor {
	for _, verb := range []string{"Create", "Update"} {
		if kind, ok := strings.CutPrefix(string(method.Name()), verb); ok {
			return method.Input().Fields().ByTextName(strings.TrimPrefix(snake(kind), "_"))
		}
	}
	return nil
}

// sayable is what of f a message has fields for, and whether that leaves
// anything out. No message has a null: it is a field that is not set.
func sayable(f fields, of protoreflect.MessageDescriptor) (said fields, lost bool) {
	said = fields{}
	for name, value := range f {
		field := of.Fields().ByJSONName(name)
		if field == nil {
			field = of.Fields().ByTextName(name)
		}
		switch {
		case field == nil:
			lost = true
		case value != nil && field.Message() != nil && !field.IsMap():
			below, losing := sayableValue(value, field.Message())
			said[name], lost = below, lost || losing
		case value != nil:
			said[name] = value
		}
	}
	return said, lost
}

func sayableValue(value any, of protoreflect.MessageDescriptor) (said any, lost bool) {
	switch value := normal(value).(type) {
	case fields:
		return sayable(value, of)
	case []any:
		all := make([]any, len(value))
		for i := range value {
			below, losing := sayableValue(value[i], of)
			all[i], lost = below, lost || losing
		}
		return all, lost
	default:
		return value, false
	}
}

// instead is what gRPC answers to a call that its messages cannot say, or not
// all of.
func (p grpc) instead(token string, c call) (other instead, differs bool) {
	method, known := p.methods[c.rpc]
	if !known {
		return instead{}, false
	}
	message, err := p.message(method, c)
	if err != nil {
		return instead{"the types of the messages have no room for it", refused{}}, true
	}
	if c.mask != nil {
		return instead{}, false // what is not said is as empty as null
	}
	resource := resourceOf(method)
	if kind, updates := strings.CutPrefix(c.rpc, "Update"); updates && resource != nil && len(c.fields) > 0 {
		changes := message.Mutable(resource).Message()
		changes.Clear(changes.Descriptor().Fields().ByName("uid"))
		before := p.do(token, call{rpc: "Get" + kind, on: c.on})
		if empty(changes) && before.failed == nil {
			return instead{"without a mask only what is not empty is changed: nothing is", expected{with: before.resource}}, true
		}
	}
	of, given := method.Input(), c.fields.with(c.params)
	if resource != nil {
		of = resource.Message()
	}
	for name := range given {
		if strings.HasPrefix(name, "uidp.") {
			delete(given, name)
		}
	}
	if _, lost := sayable(given, of); lost {
		return instead{"fields that a message does not have are ignored, which is how old servers get on with new clients", done{}}, true
	}
	return instead{}, false
}

func empty(m protoreflect.Message) bool {
	none := true
	m.Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool {
		none = false
		return false
	})
	return none
}
