package web

import (
	"io/fs"
	"net/http"
)

// PlaygroundFrom is Playground with other files than the embedded ones.
func PlaygroundFrom(opts Options, files fs.FS) http.Handler { return playground(opts, files) }
