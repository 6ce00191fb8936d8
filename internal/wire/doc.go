// Package wire has the operations of REST and gRPC that are neither those of a kind nor documented by the reference: what they are
// asked and what they answer, in the JSON form that both show.
//
// An operation is a method with a request that is a plain object. REST fills it from the parameters of the query or from the body, and
// gRPC from the JSON form of its message. So both protocols ask the same and answer the same, field by field.
//
//	findings.go  findings, and what is decided about them
//	activity.go  counts by interval
//	packages.go  packages that images hold, and what vulnerabilities affect
//	images.go    comparison of images
//	access.go    who may do what now and at a time, reviews, and the search
//	events.go    the audit log and deliveries
//	batches.go   changes of many resources at once
package wire

import (
	"atrium/platform"
	"atrium/platform/core"
)

// Operations are the operations on a platform.
type Operations struct{ p *platform.Platform }

// New returns the operations on p.
func New(p *platform.Platform) Operations { return Operations{p} }

// A Place names the group or repo that a question is about. "" means all that the caller may see, where the question allows it.
type Place struct {
	Within core.UID `json:"within,omitempty"`
}
