package rpc

import (
	"strings"
	"sync"

	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// newReflector returns what reflection tells clients. It lists the services by their own names
// and by those of the aliases, and describes them by every name at which they answer.
func newReflector(served []string, aliases Aliases) *grpcreflect.Reflector {
	listed := listServices(served, aliases)
	return grpcreflect.NewReflector(grpcreflect.NamerFunc(func() []string { return listed }),
		grpcreflect.WithDescriptorResolver(&descriptors{all: sync.OnceValues(func() (*protoregistry.Files, error) { return describe(aliases) })}))
}

// listServices lists the services that reflection names.
func listServices(served []string, aliases Aliases) []string {
	listed := append([]string{grpchealth.HealthV1ServiceName}, served...)
	for _, alias := range aliases {
		for _, name := range served {
			listed = append(listed, contract{alias, "v2"}.rename(name))
		}
	}
	return listed
}

// descriptors finds the descriptors of all contracts. They are made when the first client asks.
type descriptors struct {
	all func() (*protoregistry.Files, error)
}

// FindFileByPath finds a file by its path.
func (d *descriptors) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	files, err := d.all()
	if err != nil {
		return nil, err
	}
	return files.FindFileByPath(path)
}

// FindDescriptorByName finds a descriptor by its full name.
func (d *descriptors) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	files, err := d.all()
	if err != nil {
		return nil, err
	}
	return files.FindDescriptorByName(name)
}

// describe returns the descriptors of this program, and those of its services in the packages
// of the aliases and of v2beta1.
func describe(aliases Aliases) (*protoregistry.Files, error) {
	contracts := []contract{{ownPackage, "v2beta1"}}
	for _, alias := range aliases {
		contracts = append(contracts, contract{alias, "v2"}, contract{alias, "v2beta1"})
	}
	all := &descriptorpb.FileDescriptorSet{}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		own := protodesc.ToFileDescriptorProto(file)
		all.File = append(all.File, own)
		if own.GetPackage() == "connectext."+healthPackage {
			all.File = append(all.File, restoreHealth(own))
		}
		if strings.HasPrefix(own.GetPackage(), ownPackage+".") {
			for _, c := range contracts {
				all.File = append(all.File, c.renameFile(own))
			}
		}
		return true
	})
	return protodesc.NewFiles(all)
}

const healthPackage = "grpc.health.v1"

// restoreHealth returns the file of the health service with the names at which it is served. grpchealth registers it
// in a package of its own, so as not to collide with the one of gRPC for Go.
func restoreHealth(registered *descriptorpb.FileDescriptorProto) *descriptorpb.FileDescriptorProto {
	text := strings.NewReplacer("connectext.grpc.", "grpc.", "connectext/grpc/", "grpc/").Replace(prototext.Format(registered))
	file := new(descriptorpb.FileDescriptorProto)
	if err := prototext.Unmarshal([]byte(text), file); err != nil {
		panic(err) // cannot happen: it was written just now
	}
	return file
}

// A contract is the contract of v2 under other names.
type contract struct {
	prefix  string // in place of platform
	version string // in place of v2
}

// rename returns the name of a package, a type or a service in the contract. The name may begin
// with a dot.
func (c contract) rename(name string) string {
	rest, own := strings.CutPrefix(strings.TrimPrefix(name, "."), ownPackage+".")
	if !own {
		return name
	}
	area, rest, _ := strings.Cut(rest, ".v2")
	return name[:len(name)-len(strings.TrimPrefix(name, "."))] + c.prefix + "." + area + "." + c.version + rest
}

// renamePath returns the path of a file of the contract.
func (c contract) renamePath(path string) string {
	directory, file, _ := strings.Cut(path, "/v2/")
	area, own := strings.CutPrefix(directory, ownPackage+"/")
	if !own {
		return path
	}
	return strings.ReplaceAll(c.prefix, ".", "/") + "/" + area + "/" + c.version + "/" + file
}

// renameFile returns a copy of a file with the names of the contract.
func (c contract) renameFile(own *descriptorpb.FileDescriptorProto) *descriptorpb.FileDescriptorProto {
	file := proto.CloneOf(own)
	file.Name, file.Package = new(c.renamePath(own.GetName())), new(c.rename(own.GetPackage()))
	for i, path := range file.GetDependency() {
		file.Dependency[i] = c.renamePath(path)
	}
	for _, message := range file.GetMessageType() {
		c.renameTypes(message)
	}
	for _, service := range file.GetService() {
		for _, method := range service.GetMethod() {
			method.InputType, method.OutputType = new(c.rename(method.GetInputType())), new(c.rename(method.GetOutputType()))
		}
	}
	return file
}

// renameTypes renames the types of the fields of a message, and of the messages in it.
func (c contract) renameTypes(message *descriptorpb.DescriptorProto) {
	for _, field := range message.GetField() {
		if field.TypeName != nil {
			field.TypeName = new(c.rename(field.GetTypeName()))
		}
	}
	for _, nested := range message.GetNestedType() {
		c.renameTypes(nested)
	}
}
