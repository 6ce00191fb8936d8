package scalar

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"atrium/platform"
)

type marshaler func(ctx context.Context, w io.Writer)

func (m marshaler) MarshalGQLContext(ctx context.Context, w io.Writer) error {
	m(ctx, w)
	return nil
}

// writeText writes s; in a nullable field "" is null.
func writeText(ctx context.Context, w io.Writer, s string) {
	if s == "" && inNullableField(ctx) {
		graphql.Null.MarshalGQL(w)
		return
	}
	graphql.MarshalString(s).MarshalGQL(w)
}

func inNullableField(ctx context.Context) bool {
	fc := graphql.GetFieldContext(ctx)
	return fc != nil && fc.Field.Field != nil && fc.Field.Definition != nil && !fc.Field.Definition.Type.NonNull
}

// malformed is the error of an input that is not of its type. It names the
// input as the core would: without the argument that all inputs lie in.
func malformed(ctx context.Context, description string) error {
	var field []string
	index := "" // of the list whose name comes next
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
	return platform.Invalid(platform.Violation{Field: strings.Join(field, "."), Description: description})
}

// MarshalString writes text.
func MarshalString(s string) graphql.ContextMarshaler {
	return marshaler(func(ctx context.Context, w io.Writer) { writeText(ctx, w, s) })
}

// UnmarshalString reads text.
func UnmarshalString(ctx context.Context, v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", malformed(ctx, "must be a string")
	}
}

// MarshalInt writes a whole number.
func MarshalInt(n int) graphql.ContextMarshaler {
	return marshaler(func(_ context.Context, w io.Writer) { graphql.MarshalInt(n).MarshalGQL(w) })
}

// UnmarshalInt reads a whole number of 32 bits: the GraphQL specification
// leaves no larger ones.
func UnmarshalInt(ctx context.Context, v any) (int, error) {
	n, err := graphql.UnmarshalInt32(v)
	if err != nil {
		return 0, malformed(ctx, "must be a whole number of 32 bits")
	}
	return int(n), nil
}

// MarshalInt32 writes a whole number; in a nullable field 0 is null.
func MarshalInt32(n int32) graphql.ContextMarshaler {
	return marshaler(func(ctx context.Context, w io.Writer) {
		if n == 0 && inNullableField(ctx) {
			graphql.Null.MarshalGQL(w)
			return
		}
		graphql.MarshalInt32(n).MarshalGQL(w)
	})
}

// UnmarshalInt32 reads a whole number of 32 bits; no input has one so far.
func UnmarshalInt32(ctx context.Context, v any) (int32, error) {
	n, err := UnmarshalInt(ctx, v)
	return int32(n), err //nolint:gosec // it has 32 bits
}

// MarshalDateTime writes a moment, always with three decimals.
func MarshalDateTime(t platform.Time) graphql.ContextMarshaler {
	if t.IsZero() {
		return MarshalString("")
	}
	return MarshalString(t.String())
}

// UnmarshalDateTime reads RFC 3339 in any zone.
func UnmarshalDateTime(ctx context.Context, v any) (platform.Time, error) {
	s, err := UnmarshalString(ctx, v)
	if err != nil || v == nil {
		return platform.Time{}, err
	}
	t, err := platform.ParseTime(s)
	if err != nil {
		return platform.Time{}, malformed(ctx, err.Error())
	}
	return t, nil
}

// MarshalByteCount writes a number of bytes; 0 is not known.
func MarshalByteCount(n int64) graphql.Marshaler {
	if n == 0 {
		return graphql.Null
	}
	return graphql.MarshalInt64(n)
}

// UnmarshalByteCount reads a number of bytes; no input has one so far.
func UnmarshalByteCount(v any) (int64, error) { return graphql.UnmarshalInt64(v) }

// MarshalBase64 writes bytes; none is null.
func MarshalBase64(b []byte) graphql.ContextMarshaler {
	return MarshalString(base64.StdEncoding.EncodeToString(b))
}

// UnmarshalBase64 reads bytes; no input has some so far.
func UnmarshalBase64(ctx context.Context, v any) ([]byte, error) {
	s, err := UnmarshalString(ctx, v)
	if err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, malformed(ctx, "must be base64")
	}
	return b, nil
}

// MarshalJSON writes JSON as it is; none is null.
func MarshalJSON(raw json.RawMessage) graphql.Marshaler {
	if len(raw) == 0 {
		return graphql.Null
	}
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(raw) }) // w is a buffer
}

// UnmarshalJSON reads any value; no input has one so far.
func UnmarshalJSON(v any) (json.RawMessage, error) { return json.Marshal(v) }

// MarshalDuration writes a length of time.
func MarshalDuration(d platform.Duration) graphql.ContextMarshaler { return MarshalString(d.String()) }

// UnmarshalDuration reads seconds.
func UnmarshalDuration(ctx context.Context, v any) (platform.Duration, error) {
	s, err := UnmarshalString(ctx, v)
	if err != nil || v == nil {
		return 0, err
	}
	d, err := platform.ParseDuration(s)
	if err != nil {
		return 0, malformed(ctx, err.Error())
	}
	return d, nil
}

// MarshalInt64 writes a whole number as text.
func MarshalInt64(n platform.Int64) graphql.ContextMarshaler {
	return MarshalString(strconv.FormatInt(int64(n), 10))
}

// UnmarshalInt64 reads text, or a number.
func UnmarshalInt64(ctx context.Context, v any) (platform.Int64, error) {
	text, err := UnmarshalKey(ctx, v)
	if err != nil || v == nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, malformed(ctx, "must be a whole number of 64 bits")
	}
	return platform.Int64(n), nil
}

// MarshalStringMap writes a JSON object of strings.
func MarshalStringMap(m map[string]string) graphql.ContextMarshaler {
	return marshaler(func(_ context.Context, w io.Writer) {
		b, _ := json.Marshal(m) // strings, or null: it cannot fail,
		_, _ = w.Write(b)       // and w is a buffer
	})
}

// UnmarshalStringMap reads a JSON object of strings.
func UnmarshalStringMap(ctx context.Context, v any) (map[string]string, error) {
	object, ok := v.(map[string]any)
	if !ok && v != nil {
		return nil, malformed(ctx, "must be an object whose values are strings")
	}
	m := make(map[string]string, len(object))
	for name, value := range object {
		if m[name], ok = value.(string); !ok {
			return nil, malformed(ctx, "must be an object whose values are strings")
		}
	}
	return m, nil
}
