package rpc

import (
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"atrium/platform/core"
)

// convert converts the result of an operation into a message.
func convert[T, M any](message func(*T) *M) func(*T, error) (*M, error) {
	return func(resource *T, err error) (*M, error) {
		if err != nil {
			return nil, err
		}
		return message(resource), nil
	}
}

// emptyResult returns the response of an operation without a result.
func emptyResult(err error) (*emptypb.Empty, error) { return &emptypb.Empty{}, err }

// convertEach converts items into messages.
func convertEach[T, M any](items []*T, message func(*T) *M) []*M {
	messages := make([]*M, len(items))
	for i, item := range items {
		messages[i] = message(item)
	}
	return messages
}

// convertValues is convertEach for items that are values.
func convertValues[T, M any](items []T, message func(*T) *M) []*M {
	messages := make([]*M, len(items))
	for i := range items {
		messages[i] = message(&items[i])
	}
	return messages
}

// timestamp converts a time; it returns nil for the zero time.
func timestamp(t core.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t.Time)
}

// optional returns nil for an empty text, and otherwise a pointer to it.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// enumValue returns the number of an enum name. It returns the unspecified number for
// an empty or unknown name.
func enumValue[E ~int32, S ~string](numbers map[string]int32, name S) E {
	return E(numbers[string(name)])
}
