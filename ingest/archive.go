package ingest

import (
	"archive/tar"
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A source reads every JSON or YAML document of files, folders and archives.
type source struct {
	log  *log
	each func(at Place, document []byte) error // takes JSON; its error ends the import
}

// A format says how documents lie in a file.
type format int

const (
	noDocuments format = iota
	jsonDocument
	yamlDocument
	tarArchive
	zipArchive
)

func formatOf(name string) format {
	name = strings.ToLower(name)
	for suffix, f := range map[string]format{
		".json": jsonDocument, ".yaml": yamlDocument, ".yml": yamlDocument, ".tar": tarArchive, ".tar.gz": tarArchive, ".tgz": tarArchive, ".zip": zipArchive,
	} {
		if strings.HasSuffix(name, suffix) {
			return f
		}
	}
	return noDocuments
}

func isDocument(name string) bool {
	f := formatOf(name)
	return f == jsonDocument || f == yamlDocument
}

// measure adds up what there is to read. It reports every path that cannot be
// read before anything is imported.
func (s *source) measure(paths []string) error {
	var faults []error
	for _, path := range paths {
		err := eachFile(path, func(_ string, size int64) error {
			s.log.progress.Total += size
			return nil
		})
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// errNothing tells what was looked for in a path that holds none of it.
var errNothing = errors.New("holds no records: looked for .json, .yaml and .yml files, in folders and in .zip, .tar, .tar.gz and .tgz archives")

func (s *source) read(ctx context.Context, paths []string) error {
	for _, path := range paths {
		records, unreadable := s.log.progress.Records, s.log.unreadable
		err := eachFile(path, func(file string, _ int64) error { return s.readFile(ctx, file) })
		if err != nil {
			return err
		}
		if s.log.progress.Records == records && s.log.unreadable == unreadable {
			s.log.unread(Place{File: path}, errNothing)
		}
	}
	return nil
}

// eachFile calls f with path, or with every file below it that can hold
// documents.
func eachFile(path string, f func(path string, size int64) error) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.Mode().IsRegular() && formatOf(path) == noDocuments:
		return fmt.Errorf("%s: must be a folder or a .json, .yaml, .yml, .zip, .tar, .tar.gz or .tgz file", path)
	case info.Mode().IsRegular():
		return f(path, info.Size())
	case !info.IsDir():
		return fmt.Errorf("%s: must be a file or a folder", path)
	}
	return fs.WalkDir(os.DirFS(path), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !entry.Type().IsRegular() || formatOf(name) == noDocuments {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return f(filepath.Join(path, name), info.Size())
	})
}

// readFile reads one file. What is wrong with it is reported; only each ends
// the import.
func (s *source) readFile(ctx context.Context, path string) error {
	file, err := os.Open(path)
	if err != nil {
		s.log.unread(Place{File: path}, err)
		return nil
	}
	defer file.Close()
	switch formatOf(path) {
	case tarArchive:
		return s.readTar(ctx, path, file)
	case zipArchive:
		return s.readZip(ctx, path, file)
	default:
		_, err := s.document(ctx, Place{File: path}, s.log.counted(file))
		return err
	}
}

func (s *source) readTar(ctx context.Context, path string, file io.Reader) error {
	unpacked, err := plain(s.log.counted(file))
	if err != nil {
		s.log.unread(Place{File: path}, err)
		return nil
	}
	for archive := tar.NewReader(unpacked); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil { // nothing behind it can be found
			s.log.unread(Place{File: path}, err)
			return nil
		}
		if header.Typeflag != tar.TypeReg || !isDocument(header.Name) {
			continue
		}
		if whole, err := s.document(ctx, Place{File: path, Member: header.Name}, archive); err != nil || !whole {
			return err
		}
	}
}

func (s *source) readZip(ctx context.Context, path string, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		s.log.unread(Place{File: path}, err)
		return nil
	}
	archive, err := zip.NewReader(file, info.Size())
	if err != nil {
		s.log.unread(Place{File: path}, err)
		return nil
	}
	for _, member := range archive.File {
		s.log.progress.Read += int64(member.CompressedSize64) // #nosec G115 -- a figure to show
		if !member.Mode().IsRegular() || !isDocument(member.Name) {
			continue
		}
		if err := s.readMember(ctx, Place{File: path, Member: member.Name}, member); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) readMember(ctx context.Context, at Place, member *zip.File) error {
	r, err := member.Open()
	if err != nil {
		s.log.unread(at, err)
		return nil
	}
	defer r.Close()
	_, err = s.document(ctx, at, r)
	return err
}

// document hands one document on; whole is false where r broke off.
func (s *source) document(ctx context.Context, at Place, r io.Reader) (whole bool, err error) {
	if err := ctx.Err(); err != nil {
		return true, err
	}
	s.log.record()
	b, err := readAll(r)
	if err != nil {
		s.log.unread(at, err)
		return errors.Is(err, errTooLarge), nil
	}
	if formatOf(at.document()) == yamlDocument {
		if b, err = jsonOfYAML(b); err != nil {
			s.log.unread(at, err)
			return true, nil
		}
	}
	return true, s.each(at, b)
}

// counted counts what is read of an input file.
func (l *log) counted(r io.Reader) io.Reader { return countedReader{r, &l.progress.Read} }

type countedReader struct {
	io.Reader
	read *int64
}

func (c countedReader) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	*c.read += int64(n)
	return n, err
}
