package rpc

import "strings"

// Aliases are names that stand for platform in the packages of services. With the alias
// acme.platform, acme.platform.registry.v2.ReposService is platform.registry.v2.ReposService.
type Aliases []string

// ownPackage is the first word of the packages of all services.
const ownPackage = "platform"

// Resolve returns the path of a procedure by the name that the service has itself. It returns
// other paths as they are.
func (a Aliases) Resolve(path string) string {
	for _, alias := range a {
		if rest, found := strings.CutPrefix(path, "/"+alias+"."); found {
			return "/" + ownPackage + "." + rest
		}
	}
	return path
}

// resolveName returns the name that a service has itself, for a name in any package and version.
func (a Aliases) resolveName(name string) string {
	return currentName(strings.TrimPrefix(a.Resolve("/"+name), "/"))
}

// currentName returns the v2 name of a service of v2beta1. Both behave the same.
func currentName(name string) string {
	if strings.HasPrefix(strings.TrimPrefix(name, "/"), ownPackage+".") {
		return strings.Replace(name, ".v2beta1.", ".v2.", 1)
	}
	return name
}

// IsV1 reports whether a resolved path is that of a procedure of v1, whose package has no version
// or ends in v1. This program does not serve them.
func IsV1(path string) bool {
	name, isOwn := strings.CutPrefix(path, "/"+ownPackage+".")
	service, method, _ := strings.Cut(name, "/")
	_, service, _ = strings.Cut(service, ".") // without the area
	service = strings.TrimPrefix(service, "v1.")
	return isOwn && method != "" && !strings.ContainsAny(service+method, "./") && service != "" && service[0] >= 'A' && service[0] <= 'Z'
}
