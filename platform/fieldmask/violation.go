package fieldmask

import "fmt"

// A Violation describes one invalid field of a request.
type Violation struct {
	Field       string `json:"field"`
	Description string `json:"description"`
}

// violations collects the violations of an input.
type violations []Violation

func (v *violations) add(field, format string, args ...any) {
	*v = append(*v, Violation{Field: field, Description: fmt.Sprintf(format, args...)})
}
