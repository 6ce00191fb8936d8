package rpc

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"atrium/platform"
	uidpv2 "atrium/rpc/gen/platform/uidp/v2"
)

// input is what a message gives: with a mask its fields, without one those
// that are not empty.
func input[T any](message proto.Message, mask *fieldmaskpb.FieldMask) platform.Input[T] {
	body, err := protojson.Marshal(message)
	in := platform.JSONInput[T](body, mask.GetPaths())
	if err != nil { // the codec has refused what JSON cannot say
		return platform.JSONInput[T]([]byte("{}"), mask.GetPaths()).Malformed(platform.Violation{Field: "body", Description: "holds a value that has no form in JSON"})
	}
	return in
}

// A listing is the message that asks for a page.
type listing interface {
	GetPageSize() int32
	GetPageToken() string
	GetOrderBy() string
	GetSkip() int32
}

// list is the request for a page. Each of found is what one field could not be
// decoded for, or nil.
func list[F any](r listing, filter F, found ...*platform.Violation) platform.ListRequest[F] {
	request := platform.ListRequest[F]{
		Filter: filter, PageSize: int(r.GetPageSize()), PageToken: r.GetPageToken(), OrderBy: r.GetOrderBy(), Skip: int(r.GetSkip()),
		Malformed: violationsOf(found...),
	}
	if scoped, ok := r.(interface{ GetUidp() *uidpv2.UIDPFilter }); ok {
		f := scoped.GetUidp()
		request.UIDP = platform.UIDFilter{
			AncestorsOf: platform.UID(f.GetAncestorsOf()), DescendantsOf: platform.UID(f.GetDescendantsOf()),
			ChildrenOf: platform.UID(f.GetChildrenOf()), InRoot: f.GetInRoot(), IDs: texts[platform.UID](f.GetIds()),
		}
	}
	return request
}

// violationsOf are the violations that were found.
func violationsOf(found ...*platform.Violation) (all []platform.Violation) {
	for _, v := range found {
		if v != nil {
			all = append(all, *v)
		}
	}
	return all
}

// notEmpty refuses an optional field that is given without a value: the
// operation would take it for none, and so list everything.
func notEmpty(field string, given *string) *platform.Violation {
	if given == nil || *given != "" {
		return nil
	}
	return &platform.Violation{Field: field, Description: "must not be empty"}
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

// parseMoment is the time that a field gives, if it gives one.
func parseMoment(field string, t *timestamppb.Timestamp) (platform.Time, *platform.Violation) {
	if t == nil {
		return platform.Time{}, nil
	}
	if err := t.CheckValid(); err != nil {
		return platform.Time{}, &platform.Violation{Field: field, Description: "must be a time of the years 1 to 9999"}
	}
	return platform.At(t.AsTime()), nil
}

// An enum of a message. Its number 0 says nothing.
type enum interface {
	~int32
	fmt.Stringer
}

// name is that of an enum's value, as the core has it; "" for none.
func name[S ~string, E enum](value E) S {
	if value == 0 {
		return ""
	}
	return S(value.String())
}

// names are those of values that are asked for; one that says nothing is
// named too, for the operation to refuse it. gRPC cannot tell an empty list
// from an absent one.
func names[S ~string, E enum](values []E) []S {
	var all []S
	for _, v := range values {
		all = append(all, S(v.String()))
	}
	return all
}
