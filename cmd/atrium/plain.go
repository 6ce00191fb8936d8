package main

import (
	"errors"
	"io/fs"
)

// plain says what is wrong with a file in words that need no knowledge of
// system calls.
func plain(err error) string {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return err.Error()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no file " + at.Path
	case errors.Is(err, fs.ErrPermission):
		return "this user may not read " + at.Path
	default:
		return at.Path + ": " + at.Err.Error()
	}
}
