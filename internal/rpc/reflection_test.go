package rpc

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Clients such as grpcurl can only call what reflection describes.
func TestReflectionDescribesEveryServiceThatItLists(t *testing.T) {
	t.Parallel()
	aliases := Aliases{"chainguard.platform"}
	files, err := describe(aliases)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range listServices([]string{"platform.registry.v2.ReposService", "platform.advisory.v2.SecurityAdvisoryService"}, aliases) {
		found, err := files.FindDescriptorByName(protoreflect.FullName(name))
		if err != nil {
			t.Errorf("%s is listed: %s", name, err)
			continue
		}
		if service, ok := found.(protoreflect.ServiceDescriptor); !ok || service.Methods().Len() == 0 {
			t.Errorf("%s is listed, and is %v", name, found)
		}
	}
}
