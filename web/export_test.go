package web

import (
	"io/fs"
	"net/http"
)

// PlaygroundFrom is like Playground, with other files than the embedded ones.
func PlaygroundFrom(opts Options, files fs.FS) http.Handler { return newPlayground(opts, files) }
