// Package licenses contains the licenses of everything that is part of the program: Atrium, the Go modules, the
// standard library, and the packages in the pages. Most of them require that their texts go with the program.
package licenses

import (
	"compress/gzip"
	"embed"
	"errors"
	"io"
	"io/fs"
)

// dist contains only a placeholder until `make build` has filled it.
//
//go:embed all:dist
var embedded embed.FS

// ErrMissing means that the program was built without `make build`.
var ErrMissing = errors.New("this program does not contain the licenses; build it with `make build`, or use a released program or image")

// Write writes the licenses, as plain text. It fails with ErrMissing if the program does not contain them.
func Write(to io.Writer) error {
	file, err := embedded.Open("dist/licenses.txt.gz")
	if errors.Is(err, fs.ErrNotExist) {
		return ErrMissing
	} else if err != nil {
		return err
	}
	text, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, text) //nolint:gosec // the build has written the file
	return err
}
