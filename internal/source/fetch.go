package source

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"atrium/platform/core"
	"atrium/platform/intake"
)

// A file has what was fetched of a URL.
type file struct {
	url, path   string
	isUnchanged bool // it is as it was when it was read last, and there is no file
	mark        *intake.Mark
}

// fetch fetches a URL into a file, unless it is as the mark of the URL says.
func (u *run) fetch(ctx context.Context, from string) (*file, error) {
	got, err := u.fetchFile(ctx, from)
	switch {
	case err == nil && !got.isUnchanged:
		u.fetched++
	case err != nil && ctx.Err() == nil:
		var status statusError
		if errors.As(err, &status) {
			return nil, fmt.Errorf("%s: %w", shownURL(from), err)
		}
	}
	return got, err
}

// shownURL returns a URL as reports show it: without a query, which may have a secret.
func shownURL(from string) string {
	shown, err := url.Parse(from)
	if err != nil {
		return ""
	}
	shown.RawQuery, shown.User = "", nil
	return shown.String()
}

func (u *run) fetchFile(ctx context.Context, from string) (*file, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	idle := idleError(u.reader.options.IdleTimeout)
	timer := time.AfterFunc(time.Duration(idle), func() { stop(idle) })
	defer timer.Stop()
	known := u.marks[from]
	response, err := u.send(ctx, from, known)
	if err != nil {
		return nil, u.failure(ctx, from, err)
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.StatusCode == http.StatusNotModified && known != nil:
		return &file{url: from, isUnchanged: true, mark: known}, nil
	case response.StatusCode != http.StatusOK:
		return nil, statusError(response.StatusCode)
	case response.ContentLength > u.reader.options.MostBytes:
		return nil, fetchError{shownURL(from), tooLarge(u.reader.options.MostBytes)}
	}
	path, err := u.store(response, from, func() { timer.Reset(time.Duration(idle)) })
	if err != nil {
		return nil, u.failure(ctx, from, err)
	}
	mark := &intake.Mark{ETag: header(response, "ETag"), LastModified: header(response, "Last-Modified")}
	u.names[path] = shownURL(from)
	return &file{url: from, path: path, mark: mark}, nil
}

func tooLarge(most int64) string { return fmt.Sprintf("it has more than %d MiB", most>>20) }

// maxHeader is the longest header that is kept.
const maxHeader = 500

// header returns a header that is sent back with the next request.
func header(response *http.Response, name string) string {
	if value := response.Header.Get(name); len(value) <= maxHeader && !core.IsUnstorable(value) {
		return value
	}
	return ""
}

// maxRedirects is how often a source may redirect.
const maxRedirects = 5

// send sends the request for a URL. The client checks each address that it is redirected to, and net/http sends credentials to no
// other host.
func (u *run) send(ctx context.Context, from string, known *intake.Mark) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", u.reader.options.UserAgent)
	if c := u.source.Credentials; c != nil && u.isOwnHost(from) {
		switch {
		case c.Username != "":
			request.SetBasicAuth(c.Username, u.claim.Password)
		case c.HasPassword:
			request.Header.Set("Authorization", "Bearer "+u.claim.Password)
		}
	}
	if known != nil && known.ETag != "" {
		request.Header.Set("If-None-Match", known.ETag)
	}
	if known != nil && known.LastModified != "" {
		request.Header.Set("If-Modified-Since", known.LastModified)
	}
	client := *u.reader.options.Client
	client.CheckRedirect = func(_ *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errManyRedirects
		}
		return nil
	}
	return client.Do(request)
}

// isOwnHost reports whether a URL has the host of the source.
func (u *run) isOwnHost(from string) bool {
	one, err := url.Parse(from)
	other, otherErr := url.Parse(u.source.URL)
	return err == nil && otherErr == nil && one.Scheme == other.Scheme && strings.EqualFold(one.Host, other.Host)
}

// failure returns the error of a request that had no answer, or not all of it.
func (u *run) failure(ctx context.Context, from string, err error) error {
	var known fetchError
	if errors.As(err, &known) {
		return err
	}
	var idle idleError
	if errors.As(context.Cause(ctx), &idle) {
		err = idle
	} else if ctx.Err() != nil {
		return ctx.Err()
	}
	return fetchError{shownURL(from), reasonOf(err)}
}

// store copies an answer into a file whose name says what it is. It calls came whenever something has come.
func (u *run) store(response *http.Response, from string, came func()) (path string, err error) {
	most := u.reader.options.MostBytes
	body := &arriving{Reader: io.LimitReader(response.Body, most+1), came: came}
	begin := make([]byte, 4)
	n, err := io.ReadFull(body, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	path = filepath.Join(u.folder, strconv.Itoa(len(u.names))+extensionOf(begin[:n], from))
	target, err := os.Create(path)
	if err != nil {
		return "", err
	}
	_, err = target.Write(begin[:n])
	if err == nil {
		_, err = io.Copy(target, body)
	}
	err = errors.Join(err, target.Close())
	u.result.Bytes += core.Int64(body.read)
	switch {
	case err != nil && response.ContentLength > 0 && errors.Is(err, io.ErrUnexpectedEOF):
		return "", fetchError{shownURL(from), fmt.Sprintf("it announced %d bytes, and the connection ended after %d", response.ContentLength, body.read)}
	case err != nil:
		return "", err
	case body.read > most:
		return "", fetchError{shownURL(from), tooLarge(most)}
	case response.ContentLength > body.read: // an empty answer of a wrong length
		return "", fetchError{shownURL(from), fmt.Sprintf("it announced %d bytes, and has %d", response.ContentLength, body.read)}
	}
	if err := checkUnpacked(path, max(u.reader.options.MostUnpacked, body.read*unpackRatio)); err != nil {
		return "", fetchError{shownURL(from), err.Error()}
	}
	return path, nil
}

// An arriving reader calls came whenever something has come.
type arriving struct {
	io.Reader
	came func()
	read int64
}

func (a *arriving) Read(b []byte) (int, error) {
	n, err := a.Reader.Read(b)
	if n > 0 {
		a.read += int64(n)
		a.came()
	}
	return n, err
}

// extensionOf returns the extension of a file that begins with some bytes, by which imports know what it is.
func extensionOf(begin []byte, from string) string {
	at, err := url.Parse(from)
	if err != nil {
		return ".json"
	}
	name := strings.ToLower(at.Path)
	switch {
	case bytes.Equal(begin, []byte("PK\x03\x04")), bytes.Equal(begin, []byte("PK\x05\x06")):
		return ".zip"
	case bytes.HasPrefix(begin, []byte{0x1f, 0x8b}):
		return ".tar.gz"
	case strings.HasSuffix(name, ".tar"):
		return ".tar"
	case strings.HasSuffix(name, ".yaml"), strings.HasSuffix(name, ".yml"):
		return ".yaml"
	case strings.HasSuffix(name, ".jsonl"), strings.HasSuffix(name, ".ndjson"):
		return ".jsonl"
	default:
		return ".json"
	}
}

const (
	// mostUnpacked is what an archive may unpack to, whatever its size. Larger ones may unpack to unpackRatio times their size: archives of
	// records have less than a tenth of that.
	mostUnpacked = 1 << 30
	unpackRatio  = 100
)

// checkUnpacked fails if an archive unpacks to much more than honest ones do.
func checkUnpacked(path string, most int64) error {
	var err error
	switch {
	case strings.HasSuffix(path, ".zip"):
		err = checkZip(path, most)
	case strings.HasSuffix(path, ".gz"):
		err = checkGzip(path, most)
	}
	return err
}

func unpacksToMore(most int64) error {
	return fmt.Errorf("it unpacks to more than %d MiB, much more than its size", most>>20)
}

// checkZip adds the sizes that the directory of a zip archive has. Reading a member fails if it has more.
func checkZip(path string, most int64) error {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return errors.New("it is not a readable zip archive: " + err.Error())
	}
	defer func() { _ = archive.Close() }()
	var total uint64
	for _, member := range archive.File {
		total += min(member.UncompressedSize64, uint64(most)+1) //nolint:gosec // it is positive
		if total > uint64(most) {                               //nolint:gosec // it is positive
			return unpacksToMore(most)
		}
	}
	return nil
}

// checkGzip unpacks a file, and keeps nothing of it.
func checkGzip(path string, most int64) error {
	packed, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = packed.Close() }()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return errors.New("it is not a readable gzip file: " + err.Error())
	}
	n, err := io.Copy(io.Discard, io.LimitReader(unpacked, most+1))
	switch {
	case err != nil:
		return errors.New("it cannot be unpacked: " + err.Error())
	case n > most:
		return unpacksToMore(most)
	}
	return nil
}
