package scalar

import "atrium/platform/fieldmask"

// A Window holds the arguments that all lists have: the order, and the part of the list that the client requests.
type Window struct {
	OrderBy *Order
	First   *int
	After   *string
	Last    *int
	Before  *string
	Skip    *int
}

// Page returns the size of the page, the cursor it starts at, and whether it is
// read backward. Paging forward and backward exclude each other.
func (w Window) Page() (size int, cursor string, isBackward bool, malformed []fieldmask.Violation) {
	forward, backward := givenArgument(w.First, "first", w.After, "after"), givenArgument(w.Last, "last", w.Before, "before")
	switch {
	case forward != "" && backward != "":
		return 0, "", false, []fieldmask.Violation{{Field: forward, Description: "cannot be given together with " + backward}}
	case backward != "":
		return valueOrZero(w.Last), valueOrZero(w.Before), true, nil
	default:
		return valueOrZero(w.First), valueOrZero(w.After), false, nil
	}
}

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
