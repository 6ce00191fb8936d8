package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// A checker compares the options of the contract, which generators read, with its comments, which people read.
// TestTheContractNamesTheRequestOfEveryProcedure in internal/rest compares google.api.http with the routes.
type checker struct {
	resources map[string]bool                         // the types that messages describe
	asked     map[protoreflect.MessageDescriptor]bool // the messages that requests can contain
	problems  []error
}

// checkOptions reports fields whose behavior is not what their comments say, resources that nothing describes, and signatures that
// leave out what a request must have.
func checkOptions(compiled []*descriptorpb.FileDescriptorProto) error {
	files, err := ownFiles(compiled)
	if err != nil {
		return err
	}
	c := checker{resources: map[string]bool{"*": true}, asked: map[protoreflect.MessageDescriptor]bool{}}
	for _, file := range files {
		for m := range iterate(file.Messages()) {
			if r, _ := proto.GetExtension(m.Options(), annotations.E_Resource).(*annotations.ResourceDescriptor); r != nil {
				c.resources[r.GetType()] = true
			}
		}
		for service := range iterate(file.Services()) {
			for method := range iterate(service.Methods()) {
				c.addAsked(method.Input())
			}
		}
	}
	for _, file := range files {
		for service := range iterate(file.Services()) {
			for method := range iterate(service.Methods()) {
				c.checkSignature(method)
				c.checkOrder(service, method)
			}
		}
		for message := range iterate(file.Messages()) {
			c.checkMessage(message)
		}
	}
	return errors.Join(c.problems...)
}

// ownFiles returns the files of the contract, with options in the types of package annotations: the compiler has made others.
func ownFiles(compiled []*descriptorpb.FileDescriptorProto) (own []protoreflect.FileDescriptor, err error) {
	encoded, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: compiled})
	if err != nil {
		return nil, err
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(encoded, &set); err != nil {
		return nil, err
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		return nil, err
	}
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if strings.HasPrefix(string(file.Package()), "platform.") {
			own = append(own, file)
		}
		return true
	})
	return own, nil
}

// addAsked notes a message that a request can contain, with all that it contains.
func (c *checker) addAsked(message protoreflect.MessageDescriptor) {
	if c.asked[message] {
		return
	}
	c.asked[message] = true
	for field := range iterate(message.Fields()) {
		if field.IsMap() {
			field = field.MapValue()
		}
		if field.Message() != nil && !slices.Contains(behaviorOf(field), annotations.FieldBehavior_OUTPUT_ONLY) {
			c.addAsked(field.Message())
		}
	}
}

func (c *checker) checkMessage(message protoreflect.MessageDescriptor) {
	if message.IsMapEntry() {
		return
	}
	for nested := range iterate(message.Messages()) {
		c.checkMessage(nested)
	}
	for field := range iterate(message.Fields()) {
		if want, got := c.behaviorByComments(field), behaviorOf(field); !slices.Equal(got, want) {
			c.report(field, "has the field_behavior %v, and %v by its comment", got, want)
		}
		reference, _ := proto.GetExtension(field.Options(), annotations.E_ResourceReference).(*annotations.ResourceReference)
		switch named := reference.GetType() + reference.GetChildType(); {
		case reference != nil && !c.resources[named]:
			c.report(field, "refers to %s, which no message describes", named)
		case reference == nil && c.asked[message] && isReference(field):
			c.report(field, "needs a resource_reference")
		}
	}
}

// isReference reports whether the name of a field says that it names a resource.
func isReference(field protoreflect.FieldDescriptor) bool {
	name := string(field.Name())
	isOwn := name == "uid" && proto.HasExtension(field.Parent().Options(), annotations.E_Resource)
	return field.Kind() == protoreflect.StringKind && !isOwn && !slices.Contains(behaviorOf(field), annotations.FieldBehavior_OUTPUT_ONLY) &&
		(name == "uid" || name == "parent" || name == "within" || strings.HasSuffix(name, "_uid"))
}

// checkSignature compares the signature of a method with the fields that its request must have.
func (c *checker) checkSignature(method protoreflect.MethodDescriptor) {
	var needed []string
	for field := range iterate(method.Input().Fields()) {
		name := string(field.Name())
		if name == "parent" || name == "update_mask" || slices.Contains(behaviorOf(field), annotations.FieldBehavior_REQUIRED) {
			needed = append(needed, name)
		}
	}
	got, _ := proto.GetExtension(method.Options(), annotations.E_MethodSignature).([]string)
	if want := []string{strings.Join(needed, ",")}; !slices.Equal(got, want) {
		c.report(method, "has the method_signature %q, and needs %q", got, want)
	}
}

// checkOrder reports procedures before a method whose paths a variable of its path matches too: of two that match, gateways take the
// later one.
func (c *checker) checkOrder(service protoreflect.ServiceDescriptor, method protoreflect.MethodDescriptor) {
	verb, path := requestOf(method)
	fixed, variable, _ := strings.Cut(path, "/{")
	if !strings.HasSuffix(variable, "=**}") {
		return
	}
	for i := range method.Index() {
		before := service.Methods().Get(i)
		if otherVerb, other := requestOf(before); otherVerb == verb && strings.HasPrefix(other+"/", fixed+"/") {
			c.report(method, "stands after %s, whose path %s it matches too", before.Name(), other)
		}
	}
}

// requestOf returns the request of HTTP that calls a method.
func requestOf(method protoreflect.MethodDescriptor) (verb, path string) {
	rule, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	switch pattern := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		return "GET", pattern.Get
	case *annotations.HttpRule_Post:
		return "POST", pattern.Post
	case *annotations.HttpRule_Patch:
		return "PATCH", pattern.Patch
	case *annotations.HttpRule_Delete:
		return "DELETE", pattern.Delete
	}
	return "", ""
}

// behaviorByComments returns what the comments of a field and of its message say.
func (c *checker) behaviorByComments(field protoreflect.FieldDescriptor) (behavior []annotations.FieldBehavior) {
	text := commentsOf(field)
	isOutput := strings.Contains(text, "Output only.") || strings.Contains(commentsOf(field.Parent()), "All fields are output only.")
	isRequired := strings.Contains(text, "Required.")
	for _, b := range []struct {
		value annotations.FieldBehavior
		holds bool
	}{
		{annotations.FieldBehavior_OPTIONAL, !isRequired && !isOutput && c.asked[field.ContainingMessage()]},
		{annotations.FieldBehavior_REQUIRED, isRequired},
		{annotations.FieldBehavior_OUTPUT_ONLY, isOutput},
		{annotations.FieldBehavior_INPUT_ONLY, strings.Contains(text, "Input only.")},
		{annotations.FieldBehavior_IMMUTABLE, strings.Contains(text, "Cannot be changed.")},
	} {
		if b.holds {
			behavior = append(behavior, b.value)
		}
	}
	return behavior
}

func behaviorOf(field protoreflect.FieldDescriptor) []annotations.FieldBehavior {
	behavior, _ := proto.GetExtension(field.Options(), annotations.E_FieldBehavior).([]annotations.FieldBehavior)
	return behavior
}

// commentsOf returns the comments before a descriptor, in one line.
func commentsOf(d protoreflect.Descriptor) string {
	return strings.Join(strings.Fields(d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments), " ")
}

func (c *checker) report(d protoreflect.Descriptor, format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf("%s "+format, append([]any{d.FullName()}, args...)...))
}

// iterate ranges over a list of descriptors.
func iterate[T protoreflect.Descriptor](list interface {
	Len() int
	Get(i int) T
},
) func(yield func(T) bool) {
	return func(yield func(T) bool) {
		for i := range list.Len() {
			if !yield(list.Get(i)) {
				return
			}
		}
	}
}
