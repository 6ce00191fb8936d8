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
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".txt": "text/plain; charset=utf-8",
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
		name, gzipped := strings.CutSuffix(entry.Name(), gzipExtension)
		if mediaTypes[path.Ext(name)] == "" {
			continue
		}
		content, err := fs.ReadFile(files, path.Join(folder, entry.Name()))
		if err != nil {
			panic(err)
		}
		served[name] = asset{name: name, content: content, gzipped: gzipped, sum: sha256.Sum256(content)}
	}
	return served
}

// An asset is a file of a page. Browsers must validate it each time, so that a new version of the program is never
// shown with an old script. The ETag makes that cheap.
type asset struct {
	name    string
	content []byte
	gzipped bool
	sum     [sha256.Size]byte
}

func (a asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Type", mediaTypes[path.Ext(a.name)])
	content, suffix := a.content, ""
	if a.gzipped {
		header.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			header.Set("Content-Encoding", "gzip")
			suffix = "-gzip"
		} else {
			content = unzip(a.content)
		}
	}
	header.Set("ETag", fmt.Sprintf(`"%x%s"`, a.sum[:16], suffix)) // the two encodings of a file have different tags
	http.ServeContent(w, r, a.name, time.Time{}, bytes.NewReader(content))
}

// acceptsGzip reports whether the client accepts gzip.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.ReplaceAll(weight, " ", "") != "q=0"
		}
	}
	return false
}

func unzip(content []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		panic(err) // the build did not write this file
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		panic(err)
	}
	return plain
}
