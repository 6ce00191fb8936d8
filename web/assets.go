package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// GraphiQL's bundle is embedded gzipped, the files of the small page are embedded as they are.
const (
	bundle = "dist"
	packed = ".gz"
)

// hasGraphiQL reports whether the bundle is there: this is the file that its build writes last.
func hasGraphiQL(files fs.FS) bool {
	_, err := fs.Stat(files, bundle+"/main.js"+packed)
	return err == nil
}

// mediaTypes are the files that are served, by extension. The system's own table differs between machines.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".txt": "text/plain; charset=utf-8",
}

// assets are the files that the pages name, by the name they have there.
func assets(files fs.FS) map[string]http.Handler {
	served := map[string]http.Handler{}
	for _, folder := range []string{bundle, "builtin"} {
		entries, err := fs.ReadDir(files, folder)
		if err != nil {
			panic(err) // a folder that is not embedded: the build is broken
		}
		for _, entry := range entries {
			name, gzipped := strings.CutSuffix(entry.Name(), packed)
			if mediaTypes[path.Ext(name)] == "" {
				continue
			}
			content, err := fs.ReadFile(files, folder+"/"+entry.Name())
			if err != nil {
				panic(err)
			}
			served[name] = asset{name: name, content: content, gzipped: gzipped, sum: sha256.Sum256(content)}
		}
	}
	return served
}

// An asset is a file of a page. Browsers ask for it again each time, so that a new version of the program is
// never shown with an old script; the tag makes that cheap.
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
	content, form := a.content, ""
	if a.gzipped {
		header.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			header.Set("Content-Encoding", "gzip")
			form = "-gzip"
		} else {
			content = unpacked(a.content)
		}
	}
	header.Set("ETag", fmt.Sprintf(`"%x%s"`, a.sum[:16], form)) // of two forms of a file, each has its own
	http.ServeContent(w, r, a.name, time.Time{}, bytes.NewReader(content))
}

// acceptsGzip reports whether a client takes gzip. All browsers do, and say so plainly.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.ReplaceAll(weight, " ", "") != "q=0"
		}
	}
	return false
}

func unpacked(content []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		panic(err) // not what the build wrote
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		panic(err)
	}
	return plain
}
