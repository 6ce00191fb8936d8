package ingest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// gzipMagic is how gzip begins.
var gzipMagic = []byte{0x1f, 0x8b}

// decompress returns a reader of the content of r, which may be gzip or plain.
func decompress(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	magic, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(magic, gzipMagic) {
		return buffered, nil
	}
	return gzip.NewReader(buffered)
}

// forEachLine calls f with every line that is not blank and its number, counted
// from 1. A line that is too large is passed as nil. The line is valid until f
// returns. forEachLine returns the error of f, or the error of reading with the
// number of the line where it happened.
func forEachLine(r io.Reader, f func(number int, line []byte) error) (number int, err error) {
	reader := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	tooLarge := false
	for number = 1; ; {
		part, err := reader.ReadSlice('\n')
		if tooLarge = tooLarge || len(line)+len(part) > MaxRecord; tooLarge {
			line = nil
		} else {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return number, err
		}
		line = bytes.TrimPrefix(line, byteOrderMark)
		if tooLarge || len(bytes.TrimSpace(line)) > 0 {
			if err := f(number, line); err != nil {
				return number, err
			}
		}
		if last {
			return number, nil
		}
		number, line, tooLarge = number+1, line[:0], false
	}
}

// byteOrderMark is what some programs of Windows write before a text in UTF-8.
var byteOrderMark = []byte("\ufeff")

// readLines calls f with every line of a file that is not blank. passes is how
// often the import reads the file in all. Lines that cannot be read are passed to
// reportUnreadable. readLines returns the error of f, or an error if the file cannot
// be opened.
func (l *reporter) readLines(ctx context.Context, name string, passes int64, reportUnreadable func(Place, error), f func(at Place, line []byte) error) error {
	file, err := l.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	size, err := l.sizeOfLines(name, passes)
	if err != nil {
		return err
	}
	l.progress.Total = passes * size
	lines, err := decompress(l.countReads(file))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	found := false
	var failed error // the error of f, which ends the import
	number, err := forEachLine(lines, func(number int, line []byte) error {
		found = true
		l.reading = Place{File: name, Line: number}
		if failed = ctx.Err(); failed == nil {
			failed = f(l.reading, line)
		}
		return failed
	})
	switch {
	case failed != nil:
	case err != nil:
		reportUnreadable(Place{File: name, Line: number}, err)
	case !found:
		reportUnreadable(Place{File: name}, errors.New("contains no records: looked for one on each line"))
	}
	return failed
}

// sizeOfLines returns the size of a file of lines that is read a number of times.
func (l *reporter) sizeOfLines(name string, passes int64) (int64, error) {
	if l.isUpload(name) {
		return l.options.Upload.Size, nil
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return 0, err
	case info.IsDir():
		return 0, fmt.Errorf("%s: is a folder; name a file of JSON lines", name)
	case passes > 1 && !info.Mode().IsRegular(): // a pipe would be empty the second time
		return 0, fmt.Errorf("%s: must be a file and not a pipe, because it is read several times", name)
	}
	return info.Size(), nil
}

// readLimited reads a document of at most limit bytes. A longer one has a sizeError.
func readLimited(r io.Reader, limit int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err == nil && len(b) > limit {
		return nil, sizeError(limit)
	}
	return b, err
}

// containsNUL reports whether a text of the JSON document contains U+0000.
// PostgreSQL cannot store such a text, so one record would end the whole import.
func containsNUL(document []byte) bool {
	for rest := document; ; {
		i := bytes.Index(rest, []byte(`\u0000`))
		if i < 0 {
			return false
		}
		backslashes := 1
		for backslashes <= i && rest[i-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 1 { // this one starts the escape: those before it form pairs
			return true
		}
		rest = rest[i+1:]
	}
}
