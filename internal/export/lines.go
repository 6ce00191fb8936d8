package export

import (
	"encoding/json"
	"io"
)

// A jsonWriter writes objects: one a line, or the elements of an array.
type jsonWriter[T any] struct {
	to      io.Writer
	encoder *json.Encoder // ends each object with a line break
	isLines bool
	object  func(T) any
	rows    int
}

func newJSONWriter[T any](to io.Writer, isLines bool, object func(T) any) *jsonWriter[T] {
	return &jsonWriter[T]{to: to, encoder: newEncoder(to), isLines: isLines, object: object}
}

func newEncoder(to io.Writer) *json.Encoder {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	return encoder
}

func (w *jsonWriter[T]) Write(rows []T) error {
	for _, row := range rows {
		if err := w.separate(); err != nil {
			return err
		}
		if err := w.encoder.Encode(w.object(row)); err != nil {
			return err
		}
		w.rows++
	}
	return nil
}

// separate writes what is before a row of an array.
func (w *jsonWriter[T]) separate() (err error) {
	switch {
	case w.isLines:
	case w.rows == 0:
		_, err = io.WriteString(w.to, "[")
	default:
		_, err = io.WriteString(w.to, ",")
	}
	return err
}

func (w *jsonWriter[T]) Close() (err error) {
	switch {
	case w.isLines:
	case w.rows == 0:
		_, err = io.WriteString(w.to, "[]\n")
	default:
		_, err = io.WriteString(w.to, "]\n")
	}
	return err
}

func (w *jsonWriter[T]) Fail(status any) error {
	if !w.isLines {
		return nil
	}
	return w.encoder.Encode(map[string]any{"error": status})
}
