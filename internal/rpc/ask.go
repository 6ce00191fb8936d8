package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	uidpv2 "atrium/gen/platform/uidp/v2"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// ask calls an operation of package wire: the message has the fields of its request, and the answer those of its result, by the same
// names in JSON.
func ask[M any, Q, A any, P interface {
	*M
	proto.Message
}](ctx context.Context, r proto.Message, call func(context.Context, *Q) (A, error),
) (*M, error) {
	var asked Q
	if err := decodeMessage(r, &asked); err != nil {
		return nil, err
	}
	return encodeMessage[M, A, P](call(ctx, &asked))
}

// decodeMessage fills a request with the fields of a message.
func decodeMessage(r proto.Message, asked any) error {
	if empty := emptyTexts(r); len(empty) > 0 {
		return core.Invalid(empty...)
	}
	body, err := protojson.Marshal(r)
	if err == nil {
		err = json.Unmarshal(body, asked)
	}
	if err != nil {
		return core.Invalid(fieldmask.Violation{Field: "body", Description: "contains a value that this operation cannot read"})
	}
	return nil
}

// encodeMessage returns the message that has the fields of a result.
func encodeMessage[M, A any, P interface {
	*M
	proto.Message
}](result A, err error) (*M, error) {
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(result)
	if err != nil {
		return nil, fmt.Errorf("an answer has no JSON form: %w", err)
	}
	message := new(M)
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(body, P(message)); err != nil {
		return nil, fmt.Errorf("%T does not fit its message: %w", result, err)
	}
	return message, nil
}

// emptyTexts returns the violations of optional fields that are set to an empty text. The operation would treat them as absent.
func emptyTexts(r proto.Message) (found []fieldmask.Violation) {
	r.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.HasOptionalKeyword() && f.Kind() == protoreflect.StringKind && v.String() == "" {
			found = append(found, *checkNotEmpty(string(f.Name()), new(string)))
		}
		return true
	})
	return found
}

// notConditions are the fields of requests of lists that are no conditions.
var notConditions = []string{"uidp", "pageSize", "pageToken", "orderBy", "skip", "by", "first", "within", "facets"}

// listBy returns the request of a list whose conditions are the fields of a message.
func listBy[F any](r proto.Message) core.ListRequest[*F] {
	body, _ := protojson.Marshal(r) // the codec has rejected values without a JSON form
	var members map[string]json.RawMessage
	_ = json.Unmarshal(body, &members)
	for _, name := range notConditions {
		delete(members, name)
	}
	body, _ = json.Marshal(members)
	request := core.ListRequest[*F]{Filter: new(F), NamedMustExist: true, Malformed: emptyTexts(r)}
	if paged, ok := r.(listing); ok {
		request.PageSize, request.PageToken, request.OrderBy, request.Skip = int(paged.GetPageSize()), paged.GetPageToken(), paged.GetOrderBy(), int(paged.GetSkip())
	}
	if scoped, ok := r.(interface{ GetUidp() *uidpv2.UIDPFilter }); ok {
		request.UIDP = scopeOf(scoped.GetUidp())
	}
	if err := json.Unmarshal(body, request.Filter); err != nil {
		request.Malformed = append(request.Malformed, fieldmask.Violation{Field: "body", Description: strings.TrimSpace(err.Error())})
	}
	return request
}

func scopeOf(f *uidpv2.UIDPFilter) core.UIDFilter {
	return core.UIDFilter{
		AncestorsOf: core.UID(f.GetAncestorsOf()), DescendantsOf: core.UID(f.GetDescendantsOf()),
		ChildrenOf: core.UID(f.GetChildrenOf()), InRoot: f.GetInRoot(), IDs: texts[core.UID](f.GetIds()),
	}
}
