package execute

import "strconv"

// The functions of this file write scalars as JSON.

const null = "null"

// AppendNull writes null.
func AppendNull(b []byte) []byte { return append(b, null...) }

const hexadecimal = "0123456789ABCDEF"

// AppendString writes a string as JSON.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '\\' && c != '"' {
			continue
		}
		b = append(b, s[start:i]...)
		b = appendEscaped(b, c)
		start = i + 1
	}
	return append(append(b, s[start:]...), '"')
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
