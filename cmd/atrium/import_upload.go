package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"atrium/internal/ingest"
	"atrium/platform/core"
	"atrium/platform/operations"
)

// An upload is an import that goes to a server: files, folders and archives, or the standard input.
type upload struct {
	kind  ingest.DeliveryKind
	query url.Values
	paths []string
}

// queryOf returns the parameters that are not "".
func queryOf(pairs ...string) url.Values {
	query := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return query
}

const (
	// maxUploadWait is longer than a server takes for an import whose answer is waited for.
	maxUploadWait = 12 * time.Minute
	// uploadTries is how often an upload is sent that a server could not take at that moment. Repeating it is safe.
	uploadTries = 5
	// maxRetryWait limits how long a server may ask to wait.
	maxRetryWait = time.Minute
	// refusalWait is how long the server may take to refuse an upload before it is sent.
	refusalWait = 5 * time.Second
)

// send hands in the upload, and prints what came of it as an import into a database does.
func (u *upload) send(ctx context.Context, p program, flags *networkFlags) error {
	client, err := flags.client.client(ctx)
	if err != nil {
		return err
	}
	if flags.client.chosen != nil {
		if _, err := fmt.Fprintf(p.stderr, "importing into %s\n", client.server); err != nil {
			return err
		}
	}
	transport, _ := client.http.Transport.(*http.Transport)
	transport.ResponseHeaderTimeout, transport.ExpectContinueTimeout = maxUploadWait, refusalWait
	var report *ingest.Report
	for try := 1; ; try++ {
		var wait time.Duration
		report, wait, err = u.sendOnce(ctx, p, client)
		if err == nil || !isTemporary(err) || try == uploadTries || u.paths[0] == "-" || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(max(wait, time.Second<<try), maxRetryWait)):
		}
	}
	if err != nil {
		return err
	}
	m := newMeter(p.stderr)
	file := "-"
	if len(u.paths) == 1 {
		file = u.paths[0]
	}
	for _, problem := range append(report.Refused, report.Ignored...) {
		m.print(problem.String(file))
	}
	if report.Untold > 0 {
		m.print(fmt.Sprintf("%d further problems are not listed", report.Untold))
	}
	if err := writeSummary(p.stdout, report.Summary); err != nil {
		return err
	}
	if failed := report.Failed(); failed > 0 {
		return fmt.Errorf("%d records were not imported; see the messages above", failed)
	}
	return nil
}

// sendOnce sends the upload. After an error it returns how long the server asks to wait.
func (u *upload) sendOnce(ctx context.Context, p program, client *graphqlClient) (report *ingest.Report, wait time.Duration, err error) {
	body, size, err := u.open(p.stdin)
	if err != nil {
		return nil, 0, err
	}
	defer body.Close()
	target := client.server.JoinPath("import", string(u.kind))
	target.RawQuery = u.query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), body)
	if err != nil {
		return nil, 0, err
	}
	request.ContentLength = size
	request.Header.Set("Content-Type", "application/octet-stream")
	request.Header.Set("Expect", "100-continue") // so that a refusal comes before the upload
	response, err := client.do(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusAccepted {
		var operation operations.Operation
		if err := json.NewDecoder(response.Body).Decode(&operation); err != nil {
			return nil, 0, connectionLostError(err)
		}
		report, err := client.awaitOperation(ctx, &operation)
		return report, 0, err
	}
	if response.StatusCode != http.StatusOK {
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return nil, time.Duration(seconds) * time.Second, client.refusal(response)
	}
	report = &ingest.Report{}
	if err := json.NewDecoder(response.Body).Decode(report); err != nil {
		return nil, 0, connectionLostError(err)
	}
	return report, 0, nil
}

// pollEvery is how often the state of an operation is asked for.
const pollEvery = time.Second

// awaitOperation waits until an operation has ended.
func (c *graphqlClient) awaitOperation(ctx context.Context, o *operations.Operation) (*ingest.Report, error) {
	for !o.Done {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("interrupted; the server continues the import as the operation %s", o.UID)
		case <-time.After(pollEvery):
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.server.JoinPath("operations/v2", string(o.UID)).String(), http.NoBody)
		if err != nil {
			return nil, err
		}
		response, err := c.do(request)
		switch {
		case isTemporary(err):
			continue // the import goes on meanwhile
		case err != nil:
			return nil, err
		}
		if response.StatusCode == http.StatusOK {
			err = json.NewDecoder(response.Body).Decode(o)
		} else if refused := c.refusal(response); !isTemporary(refused) {
			err = refused
		}
		_ = response.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	if o.Error != nil {
		return nil, &core.Error{Code: o.Error.Code, Message: escapeLine(o.Error.Message)}
	}
	report := &ingest.Report{}
	return report, json.Unmarshal(o.Response, report)
}

// open opens what is sent, and returns its size; -1 means that it is not known. A file is sent as it is, and folders and several files as
// an archive.
func (u *upload) open(stdin io.Reader) (io.ReadCloser, int64, error) {
	if len(u.paths) == 1 {
		if u.paths[0] == "-" {
			return io.NopCloser(stdin), -1, nil
		}
		info, err := os.Stat(u.paths[0])
		if err != nil {
			return nil, 0, err
		}
		if !info.IsDir() {
			file, err := os.Open(u.paths[0])
			return file, info.Size(), err
		}
	}
	for _, path := range u.paths {
		if path == "-" {
			return nil, 0, errors.New("-: cannot be given together with files")
		}
		if _, err := os.Stat(path); err != nil {
			return nil, 0, err
		}
	}
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(u.pack(writer)) }()
	return reader, -1, nil
}

// pack writes an archive of the files.
func (u *upload) pack(to io.Writer) error {
	compressed := gzip.NewWriter(to)
	archive := tar.NewWriter(compressed)
	for _, path := range u.paths {
		err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			if ingest.IsArchive(name) {
				return fmt.Errorf("%s: is an archive, which --url sends only if it is the only file; import it with a separate command", name)
			}
			return packFile(archive, name)
		})
		if err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

func packFile(archive *tar.Writer, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := archive.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.CopyN(archive, file, info.Size())
	return err
}
