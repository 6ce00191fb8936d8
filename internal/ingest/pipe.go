package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// maxPipe limits the bytes that a pipe may have, because they are copied to a file.
const maxPipe = 4 << 30

// copyPipe replaces the path "-" by the path of a file with what the pipe has. That is one or more documents in
// JSON, a zip archive or a tar archive, plain or gzip. remove deletes the file.
func (l *reporter) copyPipe(paths []string, pipe io.Reader) (replaced []string, remove func(), err error) {
	at := slices.Index(paths, "-")
	if at < 0 {
		return paths, func() {}, nil
	}
	if slices.Contains(paths[at+1:], "-") {
		return nil, nil, errors.New("-: is given twice, and the standard input can be read once")
	}
	content := bufio.NewReader(pipe)
	start, err := content.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("-: %w", err)
	}
	extension := ".jsonl" // also for one document
	switch {
	case bytes.Equal(start, []byte("PK\x03\x04")):
		extension = ".zip"
	case len(start) > 0 && !bytes.ContainsAny(start[:1], "{[ \t\r\n\xef"): // the last one begins a byte order mark
		extension = ".tar"
	}
	file, err := os.CreateTemp(l.options.TemporaryFolder, "atrium-*"+extension)
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = os.Remove(file.Name()) }
	n, err := io.Copy(file, io.LimitReader(content, maxPipe+1))
	if err = errors.Join(err, file.Close()); err == nil && n > maxPipe {
		err = sizeError(maxPipe)
	}
	if err != nil {
		remove()
		return nil, nil, fmt.Errorf("-: %w", err)
	}
	replaced = slices.Clone(paths)
	replaced[at], l.pipe = file.Name(), file.Name()
	return replaced, remove, nil
}
