package web

import (
	"io/fs"
	"net/http"
)

// PlaygroundFrom is like Playground, but serves other files than the embedded ones.
func PlaygroundFrom(opts Options, files fs.FS) http.Handler { return newPlayground(opts, files) }

// ReferenceFrom is like Reference, but serves another bundle than the embedded one.
func ReferenceFrom(opts ReferenceOptions, files fs.FS) http.Handler { return newReference(opts, files) }

// ConsoleFrom is like Console, but serves another bundle than the embedded one.
func ConsoleFrom(opts ConsoleOptions, files fs.FS) http.Handler { return newConsole(opts, files) }
