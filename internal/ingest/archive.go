package ingest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// A documentReader reads every JSON and YAML document of files, folders and
// archives.
type documentReader struct {
	reporter *reporter
	handle   func(at Place, document []byte) error // receives JSON; its error ends the import
	onlyJSON bool                                  // JSON lines are documents, and YAML is not
	limit    int                                   // bytes of a document; 0 means MaxRecord
	unpacked int64                                 // bytes of the documents of an upload so far
}

// A format is the format of a file that contains documents.
type format int

const (
	noDocuments format = iota
	jsonDocument
	jsonLines
	yamlDocument
	tarArchive
	zipArchive
	gzipDocument
)

// detectFormat returns the format that the extension of a file name stands for.
func detectFormat(name string) format {
	name = strings.ToLower(name)
	for suffix, f := range map[string]format{
		".json": jsonDocument, ".jsonl": jsonLines, ".yaml": yamlDocument, ".yml": yamlDocument, ".tar": tarArchive, ".tar.gz": tarArchive, ".tgz": tarArchive, ".zip": zipArchive,
	} {
		if strings.HasSuffix(name, suffix) {
			return f
		}
	}
	return noDocuments
}

// IsArchive reports whether a file is an archive by its name.
func IsArchive(name string) bool {
	f := detectFormat(name)
	return f == tarArchive || f == zipArchive
}

// detectFormat returns the format of a file, or of an upload, that is read.
func (d *documentReader) detectFormat(path string) format {
	if !d.reporter.isUpload(path) {
		return d.formatOf(path)
	}
	if f := d.reporter.options.Upload.format; f != yamlDocument || !d.onlyJSON {
		return f
	}
	return jsonLines // which says that it is none
}

// formatOf returns the format of a file or of a member of an archive.
func (d *documentReader) formatOf(name string) format {
	f := detectFormat(name)
	if f == yamlDocument && d.onlyJSON || f == jsonLines && !d.onlyJSON {
		return noDocuments
	}
	return f
}

func (d *documentReader) isDocument(name string) bool {
	f := d.formatOf(name)
	return f == jsonDocument || f == jsonLines || f == yamlDocument
}

// listExtensions lists the extensions of documents.
func (d *documentReader) listExtensions() string {
	if d.onlyJSON {
		return ".json and .jsonl"
	}
	return ".json, .yaml and .yml"
}

// measure adds the sizes of all files to the total of the progress. Its error
// names every path that cannot be read.
func (d *documentReader) measure(paths []string) error {
	var errs []error
	for _, path := range paths {
		err := d.walkFiles(path, func(_ string, size int64) error {
			d.reporter.progress.Total += size
			return nil
		})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// read reads the documents of all paths, and reports paths without any.
func (d *documentReader) read(ctx context.Context, paths []string) error {
	for _, path := range paths {
		records, unreadable := d.reporter.progress.Records, d.reporter.unreadable
		err := d.walkFiles(path, func(file string, _ int64) error { return d.readFile(ctx, file) })
		if err != nil {
			return err
		}
		if d.reporter.progress.Records == records && d.reporter.unreadable == unreadable {
			d.reporter.reportUnreadable(Place{File: path}, fmt.Errorf("contains no records: looked for %s files, in folders and in .zip, .tar, .tar.gz and .tgz archives", d.listExtensions()))
		}
	}
	return nil
}

// walkFiles calls f with path if it is a file, or with every file below it whose
// name says that it contains documents.
func (d *documentReader) walkFiles(path string, f func(path string, size int64) error) error {
	if d.reporter.isUpload(path) {
		return f(path, d.reporter.options.Upload.Size)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.Mode().IsRegular() && d.detectFormat(path) == noDocuments:
		return fmt.Errorf("%s: must be a folder or a %s, .zip, .tar, .tar.gz or .tgz file", path, strings.Replace(d.listExtensions(), " and ", ", ", 1))
	case info.Mode().IsRegular():
		return f(path, info.Size())
	case !info.IsDir():
		return fmt.Errorf("%s: must be a file or a folder", path)
	}
	return fs.WalkDir(os.DirFS(path), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !entry.Type().IsRegular() || d.formatOf(name) == noDocuments {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return f(filepath.Join(path, name), info.Size())
	})
}

// readFile reads one file and reports what is wrong with it. It returns an error
// only if the import must end.
func (d *documentReader) readFile(ctx context.Context, path string) error {
	file, err := d.reporter.open(path)
	if err != nil {
		d.reporter.reportUnreadable(Place{File: path}, err)
		return nil
	}
	defer file.Close()
	switch format := d.detectFormat(path); format {
	case tarArchive:
		return d.readTar(ctx, path, file)
	case zipArchive:
		return d.readZip(ctx, path, file)
	default:
		_, err := d.readDocument(ctx, Place{File: path}, format, d.reporter.countReads(file))
		return err
	}
}

// readTar reads the documents of a tar archive, like readFile.
func (d *documentReader) readTar(ctx context.Context, path string, file io.Reader) error {
	unpacked, err := decompress(d.reporter.countReads(file))
	if err != nil {
		d.reporter.reportUnreadable(Place{File: path}, err)
		return nil
	}
	if limit := d.limitOf(path); limit > 0 {
		unpacked = &limitedReader{unpacked, limit, limit}
	}
	for archive := tar.NewReader(unpacked); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil { // the rest of the archive cannot be read
			d.reporter.reportUnreadable(Place{File: path}, err)
			return nil
		}
		if header.Typeflag != tar.TypeReg || !d.isDocument(header.Name) {
			continue
		}
		if complete, err := d.readDocument(ctx, Place{File: path, Member: header.Name}, d.formatOf(header.Name), archive); err != nil || !complete {
			return err
		}
	}
}

// readZip reads the documents of a zip archive, like readFile.
func (d *documentReader) readZip(ctx context.Context, path string, file content) error {
	archive, err := d.openZip(path, file)
	if err != nil {
		d.reporter.reportUnreadable(Place{File: path}, err)
		return nil
	}
	for _, member := range archive.File {
		d.reporter.progress.Read += int64(member.CompressedSize64) // #nosec G115 -- for the progress display only
		if !member.Mode().IsRegular() || !d.isDocument(member.Name) {
			continue
		}
		if limit := d.limitOf(path); limit > 0 && d.unpacked >= limit {
			d.reporter.reportUnreadable(Place{File: path}, unpackedError(limit))
			return nil
		}
		if err := d.readMember(ctx, Place{File: path, Member: member.Name}, member); err != nil {
			return err
		}
	}
	return nil
}

// openZip reads the directory of a zip archive.
func (d *documentReader) openZip(path string, file content) (*zip.Reader, error) {
	if d.reporter.isUpload(path) {
		directory := &limitedReaderAt{file, maxDirectory, maxDirectory}
		archive, err := zip.NewReader(directory, d.reporter.options.Upload.Size)
		directory.left = math.MaxInt64 // the members have another limit
		return archive, err
	}
	on, isFile := file.(*os.File)
	if !isFile {
		return nil, fmt.Errorf("%s: must be a file", path)
	}
	info, err := on.Stat()
	if err != nil {
		return nil, err
	}
	return zip.NewReader(file, info.Size())
}

// limitOf returns how many bytes all documents of an upload may have together; 0 means that there is no limit.
func (d *documentReader) limitOf(path string) int64 {
	if !d.reporter.isUpload(path) {
		return 0
	}
	return d.reporter.options.Upload.limit
}

// An unpackedError is the error of an archive that unpacks to more bytes than this.
type unpackedError int64

func (most unpackedError) Error() string {
	return fmt.Sprintf("unpacks to more than %d MiB; divide the archive", int64(most)>>20)
}

// A limitedReader fails after a number of bytes.
type limitedReader struct {
	io.Reader
	left, limit int64
}

func (r *limitedReader) Read(b []byte) (int, error) {
	if r.left <= 0 {
		return 0, unpackedError(r.limit)
	}
	n, err := r.Reader.Read(b[:min(int64(len(b)), r.left)])
	r.left -= int64(n)
	return n, err
}

// A limitedReaderAt fails after a number of bytes.
type limitedReaderAt struct {
	io.ReaderAt
	left, limit int64
}

// ReadAt reads a part.
func (r *limitedReaderAt) ReadAt(b []byte, at int64) (int, error) {
	if r.left -= int64(len(b)); r.left < 0 {
		return 0, fmt.Errorf("has a directory of more than %d MiB; divide the archive", r.limit>>20)
	}
	return r.ReaderAt.ReadAt(b, at)
}

func (d *documentReader) readMember(ctx context.Context, at Place, member *zip.File) error {
	r, err := member.Open()
	if err != nil {
		d.reporter.reportUnreadable(at, err)
		return nil
	}
	defer r.Close()
	var from io.Reader = r
	if limit := d.limitOf(at.File); limit > 0 {
		from = &limitedReader{r, limit - d.unpacked, limit}
	}
	_, err = d.readDocument(ctx, at, d.formatOf(member.Name), from)
	return err
}

// readDocument passes one document to handle. It reports complete as false if r
// failed, so that nothing can be read after it.
func (d *documentReader) readDocument(ctx context.Context, at Place, of format, r io.Reader) (complete bool, err error) {
	d.reporter.reading = at
	if err := ctx.Err(); err != nil {
		return true, err
	}
	d.reporter.countRecord()
	b, err := readLimited(countedReader{r, &d.unpacked}, cmp.Or(d.limit, MaxRecord))
	if err != nil {
		d.reporter.reportUnreadable(at, err)
		return errors.As(err, new(sizeError)), nil
	}
	if of == yamlDocument {
		if b, err = yamlToJSON(b); err != nil {
			d.reporter.reportUnreadable(at, err)
			return true, nil
		}
	}
	b = bytes.TrimPrefix(b, byteOrderMark)
	if of == jsonLines {
		return true, d.handleLines(ctx, at, b)
	}
	return true, d.handle(at, b)
}

// handleLines passes each document of JSON lines to handle, with its line if there are several. A document may have
// several lines. What is no JSON is passed with all that follows it.
func (d *documentReader) handleLines(ctx context.Context, at Place, text []byte) error {
	for count, line, rest := 0, 1, text; ; count++ {
		trimmed := bytes.TrimLeft(rest, " \t\r\n")
		line += bytes.Count(rest[:len(rest)-len(trimmed)], []byte("\n"))
		if rest = trimmed; len(rest) == 0 && count > 0 {
			return nil
		}
		document, size := json.RawMessage(rest), len(rest)
		if decoder := json.NewDecoder(bytes.NewReader(rest)); decoder.Decode(&document) == nil {
			size = int(decoder.InputOffset())
		}
		if len(bytes.TrimSpace(rest[size:])) > 0 || count > 0 {
			at.Line = line
		}
		if d.reporter.reading = at; ctx.Err() != nil {
			return ctx.Err()
		}
		if err := d.handle(at, document); err != nil || size == len(rest) {
			return err
		}
		line += bytes.Count(rest[:size], []byte("\n"))
		rest = rest[size:]
	}
}

// countReads returns a reader of r that adds the bytes it reads to the progress.
func (l *reporter) countReads(r io.Reader) io.Reader { return countedReader{r, &l.progress.Read} }

// A countedReader adds the number of bytes that it reads to read.
type countedReader struct {
	io.Reader
	read *int64
}

func (c countedReader) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	*c.read += int64(n)
	return n, err
}
