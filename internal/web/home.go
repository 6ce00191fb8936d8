package web

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
)

//go:embed home
var homeFiles embed.FS

// HomeOptions configures the page at /.
type HomeOptions struct {
	Links

	// Version is the version of the program; empty means that the page does not name it.
	Version string

	// Endpoint is the path of GraphQL.
	Endpoint string

	// If Demonstration is set, the page says that local browsers are signed in to a demonstration.
	Demonstration bool

	// GuideFiles and GuideNames are the pages of the guide, as Guide has them.
	GuideFiles fs.FS
	GuideNames []string

	// Pictures has console.png, the picture of the console, which the page shows if there is a console.
	Pictures fs.FS
}

// Home serves the page at /, which says what the server is and leads to the other pages, its style sheet and its picture. Every other path is
// not found. The page needs a style sheet of the playground. Home panics if a page of the guide or the picture is missing,
// because they are embedded.
func Home(opts HomeOptions) http.Handler {
	view := struct {
		HomeOptions
		Guide []*guidePage
	}{HomeOptions: opts}
	for _, name := range opts.GuideNames {
		view.Guide = append(view.Guide, newGuidePage(opts.GuideFiles, name))
	}
	var text bytes.Buffer
	if err := template.Must(template.ParseFS(homeFiles, "home/home.html")).Execute(&text, view); err != nil {
		panic(err) // cannot fail with the embedded template
	}
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", newGuideHandler(text.Bytes()))
	if opts.Console {
		mux.Handle("GET /home.png", newAsset(opts.Pictures, "console.png"))
	}
	mux.Handle("GET /home.css", newAsset(homeFiles, "home/home.css"))
	return addSecurityHeaders(mux)
}
