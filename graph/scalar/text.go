package scalar

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"atrium/internal/graphql/execute"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// Each scalar has one function that appends it to a response. Its Marshal function, which
// the executor of gqlgen calls, writes the same bytes.

// A marshaler marshals a scalar whose JSON depends on its field.
type marshaler func(b []byte, nullable bool) []byte

// MarshalGQLContext writes the scalar.
func (m marshaler) MarshalGQLContext(ctx context.Context, w io.Writer) error {
	_, err := w.Write(m(nil, isInNullableField(ctx)))
	return err
}

func isInNullableField(ctx context.Context) bool {
	fc := graphql.GetFieldContext(ctx)
	return fc != nil && fc.Field.Field != nil && fc.Field.Definition != nil && !fc.Field.Definition.Type.NonNull
}

// marshal returns the marshaler of a scalar whose JSON is the same in every field.
func marshal(text []byte) graphql.Marshaler {
	if string(text) == "null" { // gqlgen compares the result with this value
		return graphql.Null
	}
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(text) }) // w is a buffer, so writing cannot fail
}

// malformedError returns the error for an input of the wrong type. It names the field as the
// core does: without the argument that contains all inputs.
func malformedError(ctx context.Context, description string) error {
	var field []string
	index := "" // the index belongs to the list whose name comes next
	for path := graphql.GetPathContext(ctx); path != nil; path = path.Parent {
		switch {
		case path.Index != nil:
			index = fmt.Sprintf("[%d]%s", *path.Index, index)
		case path.Field != nil:
			field, index = append(field, *path.Field+index), ""
		}
	}
	slices.Reverse(field)
	if len(field) > 1 && (field[0] == "input" || field[0] == "where") {
		field = field[1:]
	}
	return core.Invalid(fieldmask.Violation{Field: strings.Join(field, "."), Description: description})
}

// AppendString appends text as JSON. In a nullable field, "" becomes null.
func AppendString(b []byte, s string, nullable bool) []byte {
	if s == "" && nullable {
		return execute.AppendNull(b)
	}
	return execute.AppendString(b, s)
}

// MarshalString returns the marshaler of text.
func MarshalString(s string) graphql.ContextMarshaler {
	return marshaler(func(b []byte, nullable bool) []byte { return AppendString(b, s, nullable) })
}

// UnmarshalString reads text.
func UnmarshalString(ctx context.Context, v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", malformedError(ctx, "must be a string")
	}
}

// AppendInt appends a whole number.
func AppendInt(b []byte, n int, _ bool) []byte { return execute.AppendInt64(b, int64(n)) }

// MarshalInt returns the marshaler of a whole number.
func MarshalInt(n int) graphql.ContextMarshaler {
	return marshaler(func(b []byte, nullable bool) []byte { return AppendInt(b, n, nullable) })
}

// UnmarshalInt reads a whole number of 32 bits; the GraphQL specification allows no larger
// ones.
func UnmarshalInt(ctx context.Context, v any) (int, error) {
	n, err := graphql.UnmarshalInt32(v)
	if err != nil {
		return 0, malformedError(ctx, "must be a whole number of 32 bits")
	}
	return int(n), nil
}

// AppendInt32 appends a whole number; in a nullable field 0 is null.
func AppendInt32(b []byte, n int32, nullable bool) []byte {
	if n == 0 && nullable {
		return execute.AppendNull(b)
	}
	return execute.AppendInt64(b, int64(n))
}

// MarshalInt32 returns the marshaler of a whole number.
func MarshalInt32(n int32) graphql.ContextMarshaler {
	return marshaler(func(b []byte, nullable bool) []byte { return AppendInt32(b, n, nullable) })
}

// UnmarshalInt32 reads a whole number of 32 bits; no input has this scalar so far.
func UnmarshalInt32(ctx context.Context, v any) (int32, error) {
	n, err := UnmarshalInt(ctx, v)
	return int32(n), err //nolint:gosec // it has 32 bits
}

// AppendFloat appends a number.
func AppendFloat(b []byte, n float64, _ bool) []byte { return execute.AppendFloat(b, n) }

// MarshalFloat returns the marshaler of a number.
func MarshalFloat(n float64) graphql.ContextMarshaler {
	return marshaler(func(b []byte, nullable bool) []byte { return AppendFloat(b, n, nullable) })
}

// UnmarshalFloat reads a number. It rejects values that JSON does not have.
func UnmarshalFloat(ctx context.Context, v any) (float64, error) {
	n, err := graphql.UnmarshalFloat(v)
	if _, isText := v.(string); err != nil || isText || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, malformedError(ctx, "must be a number")
	}
	return n, nil
}

// AppendDateTime appends a time, always with three decimals. In a nullable field, the zero
// time is null; otherwise it is an empty text.
func AppendDateTime(b []byte, t core.Time, nullable bool) []byte {
	if t.IsZero() {
		return AppendString(b, "", nullable)
	}
	return append(t.Append(append(b, '"')), '"')
}

// MarshalDateTime returns the marshaler of a time.
func MarshalDateTime(t core.Time) graphql.ContextMarshaler {
	return marshaler(func(b []byte, nullable bool) []byte { return AppendDateTime(b, t, nullable) })
}

// UnmarshalDateTime reads a time in the form of RFC 3339, in any zone.
func UnmarshalDateTime(ctx context.Context, v any) (core.Time, error) {
	s, err := UnmarshalString(ctx, v)
	if err != nil || v == nil {
		return core.Time{}, err
	}
	t, err := core.ParseTime(s)
	if err != nil {
		return core.Time{}, malformedError(ctx, err.Error())
	}
	return t, nil
}

// AppendByteCount appends a number of bytes; 0 means unknown.
func AppendByteCount(b []byte, n int64, _ bool) []byte {
	if n == 0 {
		return execute.AppendNull(b)
	}
	return execute.AppendInt64(b, n)
}

// MarshalByteCount returns the marshaler of a number of bytes.
func MarshalByteCount(n int64) graphql.Marshaler { return marshal(AppendByteCount(nil, n, true)) }

// UnmarshalByteCount reads a number of bytes; no input has this scalar so far.
func UnmarshalByteCount(v any) (int64, error) { return graphql.UnmarshalInt64(v) }

// AppendBase64 appends bytes in base64; no bytes are an empty text.
func AppendBase64(b, data []byte, nullable bool) []byte {
	return AppendString(b, base64.StdEncoding.EncodeToString(data), nullable)
}

// MarshalBase64 returns the marshaler of bytes.
func MarshalBase64(data []byte) graphql.ContextMarshaler {
	return marshaler(func(b []byte, nullable bool) []byte { return AppendBase64(b, data, nullable) })
}

// UnmarshalBase64 reads bytes; no input has this scalar so far.
func UnmarshalBase64(ctx context.Context, v any) ([]byte, error) {
	s, err := UnmarshalString(ctx, v)
	if err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, malformedError(ctx, "must be base64")
	}
	return b, nil
}

// AppendJSON appends JSON as it is; none is null.
func AppendJSON(b []byte, raw json.RawMessage, _ bool) []byte {
	if len(raw) == 0 {
		return execute.AppendNull(b)
	}
	return append(b, raw...)
}

// MarshalJSON gives JSON.
func MarshalJSON(raw json.RawMessage) graphql.Marshaler { return marshal(AppendJSON(nil, raw, true)) }

// UnmarshalJSON reads any value; no input has one so far.
func UnmarshalJSON(v any) (json.RawMessage, error) { return json.Marshal(v) }

// AppendDuration appends a length of time as JSON.
func AppendDuration(b []byte, d core.Duration, nullable bool) []byte {
	return AppendString(b, d.String(), nullable)
}

// MarshalDuration gives a length of time.
func MarshalDuration(d core.Duration) graphql.ContextMarshaler { return MarshalString(d.String()) }

// UnmarshalDuration reads seconds.
func UnmarshalDuration(ctx context.Context, v any) (core.Duration, error) {
	s, err := UnmarshalString(ctx, v)
	if err != nil || v == nil {
		return 0, err
	}
	d, err := core.ParseDuration(s)
	if err != nil {
		return 0, malformedError(ctx, err.Error())
	}
	return d, nil
}

// AppendInt64 appends a whole number as text.
func AppendInt64(b []byte, n core.Int64, _ bool) []byte {
	return append(execute.AppendInt64(append(b, '"'), int64(n)), '"')
}

// MarshalInt64 gives a whole number as text.
func MarshalInt64(n core.Int64) graphql.ContextMarshaler {
	return marshaler(func(b []byte, nullable bool) []byte { return AppendInt64(b, n, nullable) })
}

// UnmarshalInt64 reads text, or a number.
func UnmarshalInt64(ctx context.Context, v any) (core.Int64, error) {
	text, err := UnmarshalKey(ctx, v)
	if err != nil || v == nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, malformedError(ctx, "must be a whole number of 64 bits")
	}
	return core.Int64(n), nil
}

// AppendStringMap appends a JSON object of strings, sorted by name.
func AppendStringMap(b []byte, m map[string]string, _ bool) []byte {
	text, _ := json.Marshal(m) // strings, or null: it cannot fail
	return append(b, text...)
}

// MarshalStringMap gives a JSON object of strings.
func MarshalStringMap(m map[string]string) graphql.ContextMarshaler {
	return marshaler(func(b []byte, nullable bool) []byte { return AppendStringMap(b, m, nullable) })
}

// UnmarshalStringMap reads a JSON object of strings.
func UnmarshalStringMap(ctx context.Context, v any) (map[string]string, error) {
	object, ok := v.(map[string]any)
	if !ok && v != nil {
		return nil, malformedError(ctx, "must be an object whose values are strings")
	}
	m := make(map[string]string, len(object))
	for name, value := range object {
		if m[name], ok = value.(string); !ok {
			return nil, malformedError(ctx, "must be an object whose values are strings")
		}
	}
	return m, nil
}
