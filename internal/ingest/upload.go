package ingest

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// maxPipe limits the bytes that a pipe may have, because they are kept.
const maxPipe = 4 << 30

// maxInMemory is how much of an upload is kept in memory. A larger one is kept in a file.
const maxInMemory = 4 << 20

// maxUnpacked is how many times its size an uploaded archive may unpack to. Archives of documents unpack to about ten times.
const maxUnpacked = 30

// maxDirectory limits the directory of an uploaded zip archive, of which each entry takes several times its bytes in memory.
const maxDirectory = 16 << 20

// pipeName is the path that stands for an upload or a pipe.
const pipeName = "-"

// An Upload is what came over the network or a pipe: one or more documents in JSON, a document in YAML, a zip archive or a
// tar archive, plain or gzip.
type Upload struct {
	Size   int64 // in bytes
	format format
	text   []byte   // if it is small
	file   *os.File // otherwise
	limit  int64    // bytes that all of its documents may have together; 0 means no limit
}

// A Content is what an upload is, in words.
type Content string

// The contents of uploads.
const (
	ContentJSON Content = "JSON"
	ContentYAML Content = "YAML"
	ContentTar  Content = "a tar archive"
	ContentZip  Content = "a zip archive"
)

// Content returns what the upload is.
func (u *Upload) Content() Content {
	return map[format]Content{jsonLines: ContentJSON, yamlDocument: ContentYAML, tarArchive: ContentTar, zipArchive: ContentZip}[u.format]
}

// ReadUpload reads an upload of at most limit bytes, and keeps a large one in a file of the folder; "" means that of the
// system. The caller must close it.
func ReadUpload(from io.Reader, limit int64, folder string) (*Upload, error) {
	content := bufio.NewReaderSize(from, 64<<10)
	u := &Upload{}
	if err := u.detect(content); err != nil {
		return nil, err
	}
	var plain io.Reader = content
	if u.format == gzipDocument {
		unpacked, err := gzip.NewReader(content)
		if err != nil {
			return nil, err
		}
		plain, u.format = unpacked, jsonLines
	}
	if err := u.keep(io.LimitReader(plain, limit+1), folder); err != nil {
		return nil, errors.Join(err, u.Close())
	}
	if u.Size > limit {
		return nil, errors.Join(&TooLargeError{limit}, u.Close())
	}
	return u, nil
}

// A TooLargeError is the error of an upload that has more bytes than its limit.
type TooLargeError struct{ Limit int64 }

func (e *TooLargeError) Error() string { return sizeError(e.Limit).Error() }

// detect finds out what the content is by how it begins.
func (u *Upload) detect(content *bufio.Reader) error {
	start, err := content.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("PK\x05\x06")):
		u.format = zipArchive
	case bytes.HasPrefix(start, gzipMagic):
		start, err := content.Peek(32 << 10)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		plain, isGzip := unzipStart(start)
		switch {
		case !isGzip:
			u.format = jsonLines // which says what is wrong with it
		case isTar(plain):
			u.format = tarArchive
		default:
			u.format = gzipDocument
		}
	default:
		if start, err := content.Peek(tarHeader); err != nil && !errors.Is(err, io.EOF) {
			return err
		} else if isTar(start) {
			u.format = tarArchive
			break
		}
		u.format = jsonLines                                                  // also one document
		if len(start) > 0 && !bytes.ContainsAny(start[:1], "{[ \t\r\n\xef") { // the last one begins a byte order mark
			u.format = yamlDocument
		}
	}
	return nil
}

// tarHeader is the size of the header of a member of a tar archive.
const tarHeader = 512

// unzipStart returns the beginning of what is compressed, from its first bytes. isGzip is false if they are no gzip.
func unzipStart(packed []byte) (start []byte, isGzip bool) {
	start = make([]byte, tarHeader)
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, false
	}
	n, _ := io.ReadFull(unpacked, start) // the rest of it may be missing
	return start[:n], true
}

// isTar reports whether content begins with the header of a tar archive.
func isTar(start []byte) bool {
	if len(start) < tarHeader {
		return false
	}
	_, err := tar.NewReader(bytes.NewReader(start[:tarHeader])).Next()
	return err == nil || errors.Is(err, io.EOF) // an archive without members is zeros
}

// keep keeps the content.
func (u *Upload) keep(content io.Reader, folder string) (err error) {
	var start bytes.Buffer
	if u.Size, err = io.CopyN(&start, content, maxInMemory); errors.Is(err, io.EOF) {
		u.text = start.Bytes()
		return nil
	} else if err != nil {
		return err
	}
	if u.file, err = os.CreateTemp(folder, "atrium-*"); err != nil {
		return err
	}
	// The file has no name any longer where the system allows that, so that nothing stays of it if the program is killed.
	_ = os.Remove(u.file.Name())
	u.Size, err = io.Copy(u.file, io.MultiReader(&start, content))
	return err
}

// Limit limits the documents of the upload together to a number of times its size, and the directory of an archive.
func (u *Upload) Limit(least int64) { u.limit = max(least, u.Size) * maxUnpacked }

// Close deletes what is kept.
func (u *Upload) Close() error {
	if u == nil || u.file == nil {
		return nil
	}
	err := u.file.Close()
	if gone := os.Remove(u.file.Name()); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// open returns the content from its beginning.
func (u *Upload) open() *io.SectionReader {
	if u.file == nil {
		return io.NewSectionReader(bytes.NewReader(u.text), 0, u.Size)
	}
	return io.NewSectionReader(u.file, 0, u.Size)
}

// A content is what an import reads: a file or an upload.
type content interface {
	io.Reader
	io.ReaderAt
	io.Closer
}

// An openUpload is an upload that is read. Closing it does not delete it.
type openUpload struct{ *io.SectionReader }

// Close does nothing.
func (openUpload) Close() error { return nil }

// open opens a file, or the upload if that is named.
func (l *reporter) open(path string) (content, error) {
	if l.isUpload(path) {
		return openUpload{l.options.Upload.open()}, nil
	}
	return os.Open(path)
}

// isUpload reports whether a path stands for the upload.
func (l *reporter) isUpload(path string) bool { return path == pipeName && l.options.Upload != nil }

// readPipe reads the pipe if a path names it, unless there is an upload already. remove deletes what is kept of it.
func (l *reporter) readPipe(paths ...string) (remove func(), err error) {
	remove = func() {}
	at := slices.Index(paths, pipeName)
	if at < 0 || l.options.Upload != nil {
		return remove, nil
	}
	if slices.Contains(paths[at+1:], pipeName) {
		return nil, errors.New("-: is given twice, and the standard input can be read once")
	}
	if l.options.Pipe == nil {
		return nil, errors.New("-: there is no standard input")
	}
	upload, err := ReadUpload(l.options.Pipe, maxPipe, l.options.TemporaryFolder)
	if err != nil {
		return nil, fmt.Errorf("-: %w", err)
	}
	l.options.Upload = upload
	return func() { _ = upload.Close() }, nil
}
