package execute

import (
	"math/bits"
	"strconv"
)

// The functions of this file write scalars as JSON.

const null = "null"

// AppendNull writes null.
func AppendNull(b []byte) []byte { return append(b, null...) }

const hexadecimal = "0123456789ABCDEF"

// AppendString writes a string as JSON.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	for {
		n := findEscape(s)
		b = append(b, s[:n]...)
		if n == len(s) {
			return append(b, '"')
		}
		b = appendEscaped(b, s[n])
		s = s[n+1:]
	}
}

// findEscape returns the index of the first byte of s that JSON escapes, or the length of s.
// It looks at eight bytes at a time. In each of the differences, the highest bit of the first
// such byte is set, and none before it.
func findEscape(s string) int {
	const ones, highest = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		t := s[i : i+8]
		eight := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 | uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
		quote, backslash := eight^ones*'"', eight^ones*'\\'
		escapes := ((eight-ones*' ')&^eight | (quote-ones)&^quote | (backslash-ones)&^backslash) & highest
		if escapes != 0 {
			return i + bits.TrailingZeros64(escapes)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '\\' || c == '"' {
			return i
		}
	}
	return i
}

func appendEscaped(b []byte, c byte) []byte {
	switch c {
	case '\t':
		return append(b, `\t`...)
	case '\r':
		return append(b, `\r`...)
	case '\n':
		return append(b, `\n`...)
	case '\\', '"':
		return append(b, '\\', c)
	default:
		return append(b, '\\', 'u', '0', '0', hexadecimal[c>>4], hexadecimal[c&15])
	}
}

// AppendBoolean writes true or false.
func AppendBoolean(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

// AppendInt64 writes an integer.
func AppendInt64(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// AppendFloat writes a number without an exponent.
func AppendFloat(b []byte, n float64) []byte { return strconv.AppendFloat(b, n, 'f', -1, 64) }

// AppendPointer writes what v points to, or null if v is nil.
func AppendPointer[T any](b []byte, v *T, write func([]byte, T) []byte) []byte {
	if v == nil {
		return AppendNull(b)
	}
	return write(b, *v)
}

// AppendList writes a list of scalars.
func AppendList[T any](b []byte, list []T, write func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = write(b, v)
	}
	return append(b, ']')
}

// AppendNullableList writes a list of scalars, or null if the list is nil.
func AppendNullableList[T any](b []byte, list []T, write func([]byte, T) []byte) []byte {
	if list == nil {
		return AppendNull(b)
	}
	return AppendList(b, list, write)
}
