package rest

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"atrium/internal/ingest"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// Uploads are the settings of what callers hand in. The zero value is valid.
type Uploads struct {
	MaxBytes int64  // of one upload, after its Content-Encoding; 0 means DefaultUpload
	Folder   string // for large uploads; "" means that of the system for temporary files

	// LeaveWork is called when a request has been accepted and its body is to be read: from then on the limits here hold for
	// it, and not those of requests. Charge is called with the size of the body. Both may be nil.
	LeaveWork func(http.ResponseWriter)
	Charge    func(http.ResponseWriter, int64)
}

// DefaultUpload is the largest upload, in bytes, unless the operator says otherwise.
const DefaultUpload = 256 << 20

// Limits of uploads. The largest SBOM has 64 MiB, and a client may be slow.
const (
	uploadTime  = 10 * time.Minute // for receiving the body
	importTime  = 30 * time.Minute // for the import, also of an operation; rights that end meanwhile end at the latest after it
	uploadStall = 20 * time.Second // for each part of the body
	maxUploads  = 100              // that are received, wait or are imported at the same time
	heldUploads = 4                // how many of the largest ones may be kept at the same time, in all
	// smallUpload is the size up to which an upload waits only for others like it.
	smallUpload = 4 << 20
	// zstdWindow is the memory that a zstd body may need, as RFC 9659 says.
	zstdWindow = 8 << 20
)

// An uploadLimiter limits the uploads of all callers together. Imports are work for the processor, so that they share half of it, and
// requests keep the other half. A large import does not keep the small ones from their turn.
type uploadLimiter struct {
	Uploads
	open         atomic.Int64
	held         atomic.Int64 // bytes
	small, large chan struct{}
}

func newUploadLimiter(u Uploads) *uploadLimiter {
	if u.MaxBytes == 0 {
		u.MaxBytes = DefaultUpload
	}
	return &uploadLimiter{Uploads: u, small: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), large: make(chan struct{}, 1)}
}

// enter counts an upload until leave is called.
func (u *uploadLimiter) enter() (leave func(), err error) {
	leave = func() { u.open.Add(-1) }
	if u.open.Add(1) > maxUploads {
		leave()
		return nil, tooManyUploads()
	}
	return leave, nil
}

func tooManyUploads() error {
	return &core.Error{
		Code: core.CodeResourceExhausted, Reason: "RESOURCE_EXHAUSTED", RetryAfter: 5 * time.Second,
		Message: "Resource exhausted: too many uploads are being imported; try again",
	}
}

// takeTurn waits until an upload may be imported.
func (u *uploadLimiter) takeTurn(ctx context.Context, size int64) (end func(), err error) {
	turns := u.small
	if size > smallUpload {
		turns = u.large
	}
	select {
	case turns <- struct{}{}:
		return func() { <-turns }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// checkHeaders refuses a body whose headers say already that it cannot be imported.
func (u *uploadLimiter) checkHeaders(r *request) error {
	if r.ContentLength > u.MaxBytes {
		return u.tooLarge()
	}
	switch coding := contentCoding(r); coding {
	case "", "identity", "gzip", "x-gzip", "zstd":
	default:
		r.writer.Header().Set("Accept-Encoding", "gzip, zstd")
		return &statusError{http.StatusUnsupportedMediaType, core.Invalid(fieldmask.Violation{
			Field: "Content-Encoding", Description: "must be gzip, zstd, identity or absent",
		})}
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.Header.Get("Content-Type") != "" && (err != nil || !isUploadType(media)) {
		return &statusError{http.StatusUnsupportedMediaType, core.Invalid(fieldmask.Violation{
			Field: "Content-Type", Description: "must be application/json, application/x-ndjson, application/zip, application/gzip, application/x-tar, application/yaml, application/octet-stream or absent; send the file as the body, as curl --data-binary does",
		})}
	}
	return nil
}

func contentCoding(r *request) string {
	return strings.ToLower(strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ", ")))
}

// uploadTypes are the media types of uploads, with the contents that they promise; nil promises nothing.
var uploadTypes = map[string][]ingest.Content{
	"application/json": {ingest.ContentJSON}, "application/x-ndjson": {ingest.ContentJSON}, "application/ndjson": {ingest.ContentJSON},
	"application/jsonl": {ingest.ContentJSON}, "application/x-jsonlines": {ingest.ContentJSON}, "application/json-lines": {ingest.ContentJSON},
	"application/zip": {ingest.ContentZip}, "application/x-zip-compressed": {ingest.ContentZip},
	"application/x-tar": {ingest.ContentTar}, "application/tar": {ingest.ContentTar}, "application/gzip": {ingest.ContentTar, ingest.ContentJSON},
	"application/x-gzip": {ingest.ContentTar, ingest.ContentJSON}, "application/x-gtar": {ingest.ContentTar}, "application/tar+gzip": {ingest.ContentTar},
	"application/yaml": {ingest.ContentYAML, ingest.ContentJSON}, "application/x-yaml": {ingest.ContentYAML, ingest.ContentJSON}, "text/yaml": {ingest.ContentYAML, ingest.ContentJSON},
	"application/octet-stream": nil, "text/plain": nil,
	"application/x-www-form-urlencoded": nil, // which curl sends if nothing is said
}

func isUploadType(media string) bool {
	_, known := uploadTypes[media]
	return known || strings.HasSuffix(media, "+json")
}

// checkContent refuses a body that is something else than its Content-Type says.
func checkContent(r *request, is ingest.Content) error {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	promised := uploadTypes[media]
	if strings.HasSuffix(media, "+json") {
		promised = []ingest.Content{ingest.ContentJSON}
	}
	if promised == nil || slices.Contains(promised, is) {
		return nil
	}
	return core.Invalid(fieldmask.Violation{Field: "Content-Type", Description: fmt.Sprintf("is %s, and the body is %s", media, is)})
}

func (u *uploadLimiter) tooLarge() error {
	return &statusError{http.StatusRequestEntityTooLarge, core.Invalid(fieldmask.Violation{
		Field: "body", Description: fmt.Sprintf("must be at most %d MiB, without compression; divide it into several uploads", u.MaxBytes>>20),
	})}
}

// read receives a body. release deletes what is kept of it.
func (u *uploadLimiter) read(r *request) (upload *ingest.Upload, release func(), err error) {
	received := &uploadBody{
		from: http.MaxBytesReader(r.writer, r.Body, u.MaxBytes), control: http.NewResponseController(r.writer), until: time.Now().Add(uploadTime), ctx: r.Context(),
	}
	plain, err := decode(received, contentCoding(r))
	counted := &heldBody{Reader: plain, by: u}
	forget := func() { u.held.Add(-counted.bytes) }
	if err == nil {
		upload, err = ingest.ReadUpload(counted, u.MaxBytes, u.Folder)
	}
	_ = received.control.SetReadDeadline(time.Time{}) // what the client sends after it is read while the import runs
	if err == nil {
		upload.Limit(u.MaxBytes)
		u.held.Add(upload.Size - counted.bytes) // a gzip document is kept without compression
		counted.bytes = upload.Size
		return upload, func() { _ = upload.Close(); forget() }, nil
	}
	forget()
	var tooLarge *ingest.TooLargeError
	var tooMany *http.MaxBytesError
	var known *core.Error
	switch {
	case errors.As(err, &known):
		return nil, nil, err
	case errors.As(err, &tooLarge), errors.As(err, &tooMany):
		return nil, nil, u.tooLarge()
	case received.failed || errors.Is(err, context.Canceled):
		return nil, nil, BodyError(err)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF), counted.failed:
		return nil, nil, core.Invalid(fieldmask.Violation{Field: "body", Description: "cannot be decompressed: " + err.Error()})
	default:
		return nil, nil, err // the file could not be written
	}
}

// decode returns the content of a body.
func decode(body io.Reader, coding string) (io.Reader, error) {
	switch coding {
	case "gzip", "x-gzip":
		return &lazyReader{open: func() (io.Reader, error) { return gzip.NewReader(body) }}, nil
	case "zstd":
		d, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return d, nil
	default:
		return body, nil
	}
}

// A lazyReader is opened when it is read.
type lazyReader struct {
	open func() (io.Reader, error)
	from io.Reader
}

func (l *lazyReader) Read(b []byte) (n int, err error) {
	if l.from == nil {
		if l.from, err = l.open(); err != nil {
			return 0, err
		}
	}
	return l.from.Read(b)
}

// An uploadBody is a body that may come slowly, but not for ever.
type uploadBody struct {
	from    io.Reader
	control *http.ResponseController
	until   time.Time
	ctx     context.Context //nolint:containedctx // It is that of the request.
	failed  bool
}

// Read reads a part.
func (b *uploadBody) Read(to []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		b.failed = true
		return 0, err
	}
	deadline := time.Now().Add(uploadStall)
	if b.until.Before(deadline) {
		deadline = b.until
	}
	_ = b.control.SetReadDeadline(deadline)
	n, err := b.from.Read(to)
	var tooLarge *http.MaxBytesError
	b.failed = b.failed || err != nil && !errors.Is(err, io.EOF) && !errors.As(err, &tooLarge)
	return n, err
}

// A heldBody counts what is kept of a body.
type heldBody struct {
	io.Reader
	by     *uploadLimiter
	bytes  int64
	failed bool // whether it could not be decompressed
}

// Read reads a part.
func (b *heldBody) Read(to []byte) (int, error) {
	n, err := b.Reader.Read(to)
	b.bytes += int64(n)
	if b.by.held.Add(int64(n)) > heldUploads*b.by.MaxBytes {
		return n, tooManyUploads()
	}
	b.failed = b.failed || err != nil && !errors.Is(err, io.EOF)
	return n, err
}
