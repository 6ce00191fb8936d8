package scalar

import (
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// ByUID is the part that the filters of all kinds share. Most filters are generated;
// filters with special fields, such as those of findings, are in this file.
type ByUID struct {
	UIDs []core.UID
}

// FindingFilter is the filter of a list of findings.
type FindingFilter struct {
	inventory.FindingFilter
	ByUID
	Or  []*FindingFilter
	Not *FindingFilter
}

// Findings returns the filter of the core. Its own UIDs are those of the request.
func (f FindingFilter) Findings() *inventory.FindingFilter {
	filter := f.FindingFilter
	if f.Or != nil {
		filter.Or = make([]*inventory.FindingFilter, len(f.Or))
	}
	for i, part := range f.Or {
		filter.Or[i] = part.inside()
	}
	if f.Not != nil {
		filter.Not = f.Not.inside()
	}
	return &filter
}

// inside returns the filter of the core for one that is inside another.
func (f FindingFilter) inside() *inventory.FindingFilter {
	filter := f.Findings()
	filter.Among = f.UIDs
	return filter
}

// VulnerabilityMetadataFilter is the filter of a list of vulnerability metadata.
type VulnerabilityMetadataFilter struct {
	VulnerabilityIDs []string
}

// AdvisoryDocumentFilter is the filter of a list of documents.
type AdvisoryDocumentFilter struct {
	DocumentID string
	CVEs       []string
}

// An Order is a field of `orderBy`, in the spelling of the core. Without a direction the field has its natural one.
type Order struct{ Field, Direction string }

// orderBy returns the order_by of the core. For no fields it returns "", the default order of
// the kind.
func orderBy(fields []*Order) string {
	all := make([]string, len(fields))
	for i, o := range fields {
		all[i] = strings.TrimSuffix(o.Field+" "+o.Direction, " ")
	}
	return strings.Join(all, ", ")
}

// MarshalOrderField writes a field or direction of a sort order.
func MarshalOrderField(field string) graphql.Marshaler {
	return graphql.MarshalString(strings.ToUpper(field))
}

// UnmarshalOrderField reads a field or direction of a sort order.
func UnmarshalOrderField(v any) (string, error) {
	field, err := graphql.UnmarshalString(v)
	return strings.ToLower(field), err
}
