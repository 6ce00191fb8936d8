package web

import (
	"io/fs"
	"net/http"
)

// PlaygroundFrom is like Playground, with other files than the embedded ones.
func PlaygroundFrom(opts Options, files fs.FS) http.Handler { return newPlayground(opts, files) }

// ConsoleFrom is like Console, with another bundle than the embedded one.
func ConsoleFrom(opts ConsoleOptions, files fs.FS) http.Handler { return newConsole(opts, files) }
