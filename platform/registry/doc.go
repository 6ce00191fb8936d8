// Package registry imports what is in registries: repos, tags and images by name, and SBOMs by image. Operators import, and callers with the capabilities for it.
// It imports core, inventory and ecosystem.
//
// Begin with ImportTags (import.go), which imports tags into repos:
//
//	registry.go    Registry, which has the operations, and what it needs of the database
//	import.go      imports repos, tags and images
//	sbom.go        imports SBOMs
//	prune.go       removes the tags that vanished from a registry
package registry
