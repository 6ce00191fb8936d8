// Package fieldmask decodes what a request sets of a resource. It reads a body of JSON in either
// spelling of its names (json.go), decides from the modes of the fields and from a field mask
// (AIP-134, AIP-161) what a create or an update writes (mask.go), and merges parts of nested
// objects with the stored object (mask_part.go). It reports everything that is wrong with a body at
// once, as violations (violation.go).
//
// It must know no kind, no rule of a value, and no caller. Which values are valid, and who may set
// them, is decided by package core afterwards.
package fieldmask
