package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
)

//go:embed console/console.html console/missing.html console/missing.css console/generated/documents.json.gz
var consoleFiles embed.FS

// consoleBundle is the folder of the bundle that `make build` makes if Node is installed.
const consoleBundle = bundleFolder + "/console"

// consoleAssets is the path of the files of the console. No name of a group contains a tilde, so no group has this path.
const consoleAssets = "/console/~assets/"

// ConsoleOptions configures the console.
type ConsoleOptions struct {
	// Endpoint is the path, on the same host, to which documents are posted.
	Endpoint string

	// Token returns a bearer token to start with, as in Options.
	Token func(*http.Request) string

	// Roles returns bearer tokens of the people of the demonstration, by the names of their roles. It may be nil. It is
	// called as Token is.
	Roles func(*http.Request) map[string]string

	// Link signs in browsers of other machines, to whose pages Token and Roles apply too; nil means that there is none.
	Link *SignInLink

	// Providers are the OpenID providers at which people can sign in. If there are none, they enter a token.
	Providers []SignInProvider

	// Audience has the audiences of the tokens that the server accepts.
	Audience []string

	// If Playground is set, the console links to the playground.
	Playground bool
}

// A SignInProvider is an OpenID provider at which people sign in to the console.
type SignInProvider struct {
	Name     string `json:"name"`     // what the page calls it; "" means the host of its issuer
	Issuer   string `json:"issuer"`   // its URL
	ClientID string `json:"clientId"` // the name of the console there

	// Scope and Parameters are what the console asks it for.
	Scope      string            `json:"scope"`
	Parameters map[string]string `json:"parameters"`

	// LoginClientID is the name of `atrium login` there; "" means that it is ClientID.
	LoginClientID string `json:"loginClientId,omitempty"`
}

// consoleSettings has the values that the script of the console reads from a data block in the HTML.
type consoleSettings struct {
	Endpoint   string `json:"endpoint"`
	Token      string `json:"token"`
	Playground bool   `json:"playground"`

	Roles     map[string]string `json:"roles"`
	Providers []SignInProvider  `json:"providers"`
	Audience  []string          `json:"audience"`
}

// Console serves one page for /console and every path below it, and the files of the page. Without a bundle the page says
// that the program was built without the console.
func Console(opts ConsoleOptions) http.Handler { return newConsole(opts, embedded) }

func newConsole(opts ConsoleOptions, files fs.FS) http.Handler {
	mux := http.NewServeMux()
	page, status := "console/console.html", http.StatusOK
	var modules []string
	if _, err := fs.Stat(files, consoleBundle+"/main.js"+gzipExtension); err != nil {
		page, status = "console/missing.html", http.StatusNotImplemented
		mux.Handle("GET "+consoleAssets+"missing.css", newAsset(consoleFiles, "console/missing.css"))
	} else {
		for name, file := range loadFolder(files, consoleBundle) {
			mux.Handle("GET "+consoleAssets+name, file)
		}
		modules = readModules(files)
	}
	serve := newConsolePage(opts, page, modules, status)
	mux.Handle("GET /console", serve)
	mux.Handle("GET /console/", serve)
	mux.Handle("GET "+consoleAssets, http.NotFoundHandler())
	if opts.Link != nil {
		mux.Handle("POST "+linkPath, opts.Link)
	}
	return addSecurityHeaders(restrictConsole(mux, opts.Providers))
}

// restrictConsole replaces the policy of the other pages with a stricter one: the console has no styles in attributes of its
// HTML and no workers. It sends requests to its own host and to the providers at which people sign in.
func restrictConsole(next http.Handler, providers []SignInProvider) http.Handler {
	connect := "'self'"
	for _, provider := range providers {
		if issuer, err := url.Parse(provider.Issuer); err == nil && issuer.Host != "" {
			connect += " " + issuer.Scheme + "://" + issuer.Host
		}
	}
	policy := "default-src 'none'; script-src 'self'; style-src 'self'; connect-src " + connect +
		"; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		next.ServeHTTP(w, r)
	})
}

// readModules returns the names of the scripts that all pages of the console need. The HTML names them, so that browsers do
// not ask for one after the other.
func readModules(files fs.FS) []string {
	packed, err := fs.ReadFile(files, consoleBundle+"/modules.json"+gzipExtension)
	if err != nil {
		return nil // the bundle is one script
	}
	var modules []string
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		err = json.NewDecoder(unpacked).Decode(&modules)
	}
	if err != nil {
		panic(fmt.Sprintf("the modules of the console: %v", err)) // the build wrote another file
	}
	return modules
}

// A consoleName is the name of a group or repo with its address.
type consoleName struct{ Name, Address string }

// namesOfAddress returns the names in a path such as /console/acme/shop/~repos. The HTML shows them as the script will, so that
// readers see where they are before it has loaded.
func namesOfAddress(address string) []consoleName {
	var names []consoleName
	at := "/console"
	for name := range strings.SplitSeq(strings.TrimPrefix(address, at), "/") {
		if name == "~signed-in" { // what follows is the issuer of a provider
			break
		}
		if name == "" || strings.HasPrefix(name, "~") {
			continue
		}
		at += "/" + url.PathEscape(name)
		if name == "=." || name == "=.." {
			name = name[1:] // browsers take the parts . and .. for steps
		}
		names = append(names, consoleName{name, at})
	}
	return names
}

// newConsolePage serves the named template with the settings. It adds the token for a local browser, and for one that has used the link.
func newConsolePage(opts ConsoleOptions, name string, modules []string, status int) http.Handler {
	parsed := template.Must(template.ParseFS(consoleFiles, name))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := consoleSettings{Endpoint: opts.Endpoint, Providers: append([]SignInProvider{}, opts.Providers...), Audience: opts.Audience, Playground: opts.Playground}
		if opts.Token != nil && opts.Link.mayHoldToken(r) {
			s.Token = opts.Token(r)
		}
		if opts.Roles != nil && opts.Link.mayHoldToken(r) {
			s.Roles = opts.Roles(r)
		}
		var html bytes.Buffer
		values := struct {
			Settings consoleSettings
			Modules  []string
			Names    []consoleName
		}{s, modules, namesOfAddress(r.URL.Path)}
		if err := parsed.ExecuteTemplate(&html, path.Base(name), values); err != nil {
			http.Error(w, "the page of the console could not be generated", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Cache-Control", "no-store") // the page may hold a token
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write(html.Bytes())
	})
}

// ConsoleDocuments returns the documents of the console by their hashes.
func ConsoleDocuments() map[string]string {
	var documents map[string]string
	text, err := gzip.NewReader(bytes.NewReader(readEmbedded(consoleFiles, "console/generated/documents.json.gz")))
	if err == nil {
		err = json.NewDecoder(text).Decode(&documents)
	}
	if err != nil {
		panic(fmt.Sprintf("the documents of the console: %v", err)) // the build did not write this file
	}
	return documents
}
