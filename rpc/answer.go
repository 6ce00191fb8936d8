package rpc

import (
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"atrium/platform"
)

// convert makes the answer of an operation a message.
func convert[T, M any](message func(*T) *M) func(*T, error) (*M, error) {
	return func(resource *T, err error) (*M, error) {
		if err != nil {
			return nil, err
		}
		return message(resource), nil
	}
}

// emptyResult is the answer of an operation that gives nothing.
func emptyResult(err error) (*emptypb.Empty, error) { return &emptypb.Empty{}, err }

// convertEach makes messages of items.
func convertEach[T, M any](items []*T, message func(*T) *M) []*M {
	messages := make([]*M, len(items))
	for i, item := range items {
		messages[i] = message(item)
	}
	return messages
}

// convertValues is each for items that are values.
func convertValues[T, M any](items []T, message func(*T) *M) []*M {
	messages := make([]*M, len(items))
	for i := range items {
		messages[i] = message(&items[i])
	}
	return messages
}

// timestamp is nil for no time.
func timestamp(t platform.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t.Time)
}

// optional is nil for what an optional field leaves out.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// enumValue is the number of an enum's name; of no name, and of one that a newer
// core may bring, the unspecified one.
func enumValue[E ~int32, S ~string](of map[string]int32, name S) E { return E(of[string(name)]) }
