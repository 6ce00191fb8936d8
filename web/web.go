// Package web holds the page a person meets first: the playground, where GraphQL queries are written and run.
//
// It serves the built-in page: one HTML file, one style sheet, one script, embedded in the program. It needs
// nothing beyond its own host, and keeps to a content security policy that allows no inline script.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

//go:embed playground.html playground.css playground.js
var files embed.FS

// policy lets the page load its own files and talk to its own host, and nothing else. What the built-in page
// does not use (styles in attributes, blob workers, fonts in data URLs) is what code editors need.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; " +
	"worker-src 'self' blob:; font-src 'self' data:; img-src 'self' data:"

// Options says what the playground shows. The zero value is a playground without examples for /graphql.
type Options struct {
	// Endpoint is the path, on the page's own host, that queries are posted to. Empty means /graphql.
	Endpoint string

	// Token returns a bearer token to fill in, or "" for none. It is for development mode only. It is asked
	// only when the request came over the loopback interface and for a loopback host: anyone who can read
	// the page has the token. May be nil.
	Token func(*http.Request) string

	// Examples are shown as tabs, in this order; the first is open at the start.
	Examples []Example
}

// Example is a query to start from.
type Example struct {
	Name      string `json:"name"`      // on the tab
	Query     string `json:"query"`     // a GraphQL document
	Variables string `json:"variables"` // a JSON object, or "" for none
}

// settings is what the page's script reads from the data block in the HTML.
type settings struct {
	Endpoint string    `json:"endpoint"`
	Token    string    `json:"token"`
	Examples []Example `json:"examples"`
}

// Playground serves the page at / and its files below /playground/; every other path is not found.
//
// In the page's URL, ?query= and ?variables= open a tab of their own with what they hold. They run only when
// the reader says so.
func Playground(opts Options) http.Handler {
	if opts.Endpoint == "" {
		opts.Endpoint = "/graphql"
	}
	page := template.Must(template.ParseFS(files, "playground.html"))

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		shown := settings{Endpoint: opts.Endpoint, Examples: opts.Examples}
		if opts.Token != nil && isLocal(r) {
			shown.Token = opts.Token(r)
		}
		var html bytes.Buffer
		if err := page.Execute(&html, shown); err != nil {
			http.Error(w, "the playground page could not be written", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Cache-Control", "no-store") // the page may hold a token
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(html.Bytes())
	})
	for _, name := range []string{"playground.css", "playground.js"} {
		mux.Handle("GET /playground/"+name, asset(name))
	}
	return secured(mux)
}

// asset serves an embedded file. Browsers ask again each time, so that a new version of the program is never
// shown with an old script; the tag makes that cheap.
func asset(name string) http.Handler {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(err) // a file that is not embedded: the build is broken
	}
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(content))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	})
}

// secured puts the headers on every answer that keep the page to itself.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Frame-Options", "DENY") // in a frame, another site could steer clicks to the run button
		next.ServeHTTP(w, r)
	})
}

// isLocal reports whether a browser on this machine asked for a name of this machine.
//
// The host is checked because a site can give its own name a loopback address and read the page as its own.
// The address is checked because anyone but a browser can send any host.
func isLocal(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback() && isLoopbackHost(r.Host)
}

// isLoopbackHost reports whether a Host header, with or without a port, is localhost or a loopback address.
func isLoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else {
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
