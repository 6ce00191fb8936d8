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

// plain gives what r holds, decompressed where it is gzip.
func plain(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	magic, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return buffered, nil
	}
	return gzip.NewReader(buffered)
}

// eachLine calls f with every line that is not blank, and its number from 1.
// The line is good until f returns. One that is too large comes as nil. The
// error is that of reading, at the line where it happened, or that of f.
func eachLine(r io.Reader, f func(number int, line []byte) error) (number int, err error) {
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
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // some tools begin files so
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

// lines calls f with every line of a file that is not blank, of which there
// are several readings in all. What cannot be read is told to unread; the
// error is that of f, or of a file that is none.
func (l *log) lines(ctx context.Context, name string, readings int64, unread func(Place, error), f func(at Place, line []byte) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	l.progress.Total = readings * info.Size()
	lines, err := plain(l.counted(file))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	found := false
	var failed error // of f: it ends the import
	number, err := eachLine(lines, func(number int, line []byte) error {
		found = true
		if failed = ctx.Err(); failed == nil {
			failed = f(Place{File: name, Line: number}, line)
		}
		return failed
	})
	switch {
	case failed != nil:
	case err != nil:
		unread(Place{File: name, Line: number}, err)
	case !found:
		unread(Place{File: name}, errors.New("holds no records: looked for JSON objects, one a line"))
	}
	return failed
}

// readAll reads one document.
func readAll(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxRecord+1))
	if err == nil && len(b) > MaxRecord {
		return nil, errTooLarge
	}
	return b, err
}

// holdsNUL tells JSON that has U+0000 in a text. PostgreSQL keeps no such text,
// so one record would end the whole import there.
func holdsNUL(document []byte) bool {
	for rest := document; ; {
		i := bytes.Index(rest, []byte(`\u0000`))
		if i < 0 {
			return false
		}
		backslashes := 1
		for backslashes <= i && rest[i-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 1 { // an even number of them is text that says \u0000
			return true
		}
		rest = rest[i+1:]
	}
}
