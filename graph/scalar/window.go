package scalar

import (
	"fmt"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A Window holds the arguments that all lists have: the order, and the part of the list that the client requests.
type Window struct {
	OrderBy []*Order
	First   *int
	After   *string
	Last    *int
	Before  *string
	Skip    *int
}

// Page returns the size of the page, the cursor it starts at, and whether it is
// read backward. Paging forward and backward exclude each other. A page that is larger than the
// largest is refused: a client that got fewer rows than it asked for would take them for all.
func (w Window) Page() (size int, cursor string, isBackward bool, malformed []fieldmask.Violation) {
	forward, backward := givenArgument(w.First, "first", w.After, "after"), givenArgument(w.Last, "last", w.Before, "before")
	if forward != "" && backward != "" {
		return 0, "", false, []fieldmask.Violation{{Field: forward, Description: "cannot be given together with " + backward}}
	}
	name, rows, token := "first", valueOrZero(w.First), valueOrZero(w.After)
	if isBackward = backward != ""; isBackward {
		name, rows, token = "last", valueOrZero(w.Last), valueOrZero(w.Before)
	}
	if rows > core.MaxPageSize {
		return 0, token, isBackward, []fieldmask.Violation{{Field: name, Description: fmt.Sprintf("must be at most %d", core.MaxPageSize)}}
	}
	return rows, token, isBackward, nil
}

// Order returns the order_by of the core.
func (w Window) Order() string { return orderBy(w.OrderBy) }

// IsEmpty reports whether a page without items is requested, for example to read the total.
func (w Window) IsEmpty() bool {
	return w.First != nil && *w.First == 0 || w.Last != nil && *w.Last == 0
}

// givenArgument returns the name of the first argument that was given, or "".
func givenArgument(size *int, sizeName string, token *string, tokenName string) string {
	switch {
	case size != nil:
		return sizeName
	case valueOrZero(token) != "":
		return tokenName
	default:
		return ""
	}
}

func valueOrZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
