package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

// The bundles are embedded in gzip form. The files of the small page are embedded uncompressed.
const (
	bundleFolder  = "dist"
	gzipExtension = ".gz"
)

// hasGraphiQL reports whether files contains the bundle. The build of the bundle writes main.js last.
func hasGraphiQL(files fs.FS) bool {
	_, err := fs.Stat(files, bundleFolder+"/main.js"+gzipExtension)
	return err == nil
}

// mediaTypes has the media types of the files that are served, by extension. It is not read from the system, whose
// table differs between machines.
var mediaTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".png":  "image/png",
	".txt":  "text/plain; charset=utf-8",
}

// loadAssets returns the files of the pages by name.
func loadAssets(files fs.FS) map[string]http.Handler {
	served := loadFolder(files, bundleFolder)
	maps.Copy(served, loadFolder(files, "builtin"))
	return served
}

// loadFolder returns the files of one folder by name.
func loadFolder(files fs.FS, folder string) map[string]http.Handler {
	served := map[string]http.Handler{}
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		panic(err) // the folder is not embedded, so the build is broken
	}
	for _, entry := range entries {
		if mediaTypes[path.Ext(strings.TrimSuffix(entry.Name(), gzipExtension))] != "" {
			file := newAsset(files, path.Join(folder, entry.Name()))
			served[file.name] = file
		}
	}
	return served
}

// An asset is a file of a page. Browsers must validate it each time, so that a new version of the program is never
// shown with an old script. The ETag makes that cheap.
type asset struct {
	name    string
	files   fs.FS
	path    string // of the file in files
	gzipped bool
	sum     [sha256.Size]byte
}

func newAsset(files fs.FS, path string) asset {
	content, err := fs.ReadFile(files, path) // a copy, which is not kept
	if err != nil {
		panic(err) // the file is not embedded, so the build is broken
	}
	name, gzipped := strings.CutSuffix(path[strings.LastIndexByte(path, '/')+1:], gzipExtension)
	return asset{name: name, files: files, path: path, gzipped: gzipped, sum: sha256.Sum256(content)}
}

func (a asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	file, err := a.files.Open(a.path)
	if err != nil {
		panic(err) // it was there when the server started
	}
	defer func() { _ = file.Close() }()
	content, seekable := file.(io.ReadSeeker) // as embedded files are, without a copy
	if !seekable {
		content = bytes.NewReader(readAll(file)) // a file of an archive
	}
	header := w.Header()
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Type", mediaTypes[path.Ext(a.name)])
	suffix := ""
	if a.gzipped {
		header.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			header.Set("Content-Encoding", "gzip")
			suffix = "-gzip"
		} else {
			content = bytes.NewReader(unzip(content))
		}
	}
	header.Set("ETag", fmt.Sprintf(`"%x%s"`, a.sum[:16], suffix)) // the two encodings of a file have different tags
	http.ServeContent(w, r, a.name, time.Time{}, content)
}

// acceptsGzip reports whether the client accepts gzip.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, parameter, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			_, weight, isWeighed := strings.Cut(parameter, "=")
			n, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
			return !isWeighed || err == nil && n > 0
		}
	}
	return false
}

func unzip(content io.Reader) []byte {
	reader, err := gzip.NewReader(content)
	if err != nil {
		panic(err) // the build did not write this file
	}
	return readAll(reader)
}

// readAll reads a file that was read before, when the server started.
func readAll(file io.Reader) []byte {
	content, err := io.ReadAll(file)
	if err != nil {
		panic(err)
	}
	return content
}
