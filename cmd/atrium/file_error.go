package main

import (
	"errors"
	"io/fs"
)

// explainFileError returns the text of an error of a file in plain words, without the name
// of a system call.
func explainFileError(err error) string {
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
