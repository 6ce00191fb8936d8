package rpc

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	uidpv2 "atrium/gen/platform/uidp/v2"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// input returns the input of an operation: the fields that the mask lists, or without a
// mask the fields that are not empty.
func input[T any](message proto.Message, mask *fieldmaskpb.FieldMask) fieldmask.Input[T] {
	body, err := protojson.Marshal(message)
	in := fieldmask.JSONInput[T](body, mask.GetPaths())
	if err != nil { // the codec has rejected values without a JSON form
		return fieldmask.JSONInput[T]([]byte("{}"), mask.GetPaths()).Malformed(fieldmask.Violation{Field: "body", Description: "contains a value that JSON cannot represent"})
	}
	return in
}

// A listing is a message that requests a page of a list.
type listing interface {
	GetPageSize() int32
	GetPageToken() string
	GetOrderBy() string
	GetSkip() int32
}

// list returns the request for a page. found are violations of fields that could not be
// decoded; each may be nil.
func list[F any](r listing, filter F, found ...*fieldmask.Violation) core.ListRequest[F] {
	request := core.ListRequest[F]{
		Filter: filter, PageSize: int(r.GetPageSize()), PageToken: r.GetPageToken(), OrderBy: r.GetOrderBy(), Skip: int(r.GetSkip()),
		NamedMustExist: true, Malformed: violationsOf(found...),
	}
	if scoped, ok := r.(interface{ GetUidp() *uidpv2.UIDPFilter }); ok {
		request.UIDP = scopeOf(scoped.GetUidp())
	}
	return request
}

// violationsOf returns the violations that are not nil.
func violationsOf(found ...*fieldmask.Violation) (all []fieldmask.Violation) {
	for _, v := range found {
		if v != nil {
			all = append(all, *v)
		}
	}
	return all
}

// checkNotEmpty rejects an optional field that is set to an empty text. The operation
// would treat it as absent, and list everything.
func checkNotEmpty(field string, given *string) *fieldmask.Violation {
	if given == nil || *given != "" {
		return nil
	}
	return &fieldmask.Violation{Field: field, Description: "must not be empty"}
}

func texts[S ~string](values []string) []S {
	if len(values) == 0 {
		return nil
	}
	all := make([]S, len(values))
	for i, s := range values {
		all[i] = S(s)
	}
	return all
}

// parseTime converts the time in a field. It returns the zero time for an absent one.
func parseTime(field string, t *timestamppb.Timestamp) (core.Time, *fieldmask.Violation) {
	if t == nil {
		return core.Time{}, nil
	}
	if err := t.CheckValid(); err != nil {
		return core.Time{}, &fieldmask.Violation{Field: field, Description: "must be a time of the years 1 to 9999"}
	}
	return core.At(t.AsTime()), nil
}

// An enum is an enum of a message. Its number 0 means unspecified.
type enum interface {
	~int32
	fmt.Stringer
}

// name returns the name of an enum value in the core, or "" for an unspecified one.
func name[S ~string, E enum](value E) S {
	if value == 0 {
		return ""
	}
	return S(value.String())
}

// labelFilter returns the filter by labels.
func labelFilter(conditions []string) (f core.LabelFilter) {
	for _, text := range conditions {
		f.Labels = append(f.Labels, core.ParseLabelCondition(text))
	}
	return f
}

// names returns the names of the requested values. It includes unspecified values, which
// the operation rejects. gRPC does not distinguish an empty list from an absent one.
func names[S ~string, E enum](values []E) []S {
	var all []S
	for _, v := range values {
		all = append(all, S(v.String()))
	}
	return all
}
