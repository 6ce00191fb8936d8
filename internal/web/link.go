package web

import (
	"crypto/rand"
	"crypto/subtle"
	"io"
	"net/http"
	"sync"
)

// A SignInLink signs one browser in to the demonstration, wherever the browser is: a server in a container sees no browser as
// local. The link has a code after its #, which browsers send to no server. The script of the console posts the code, once, for a
// cookie with which the pages contain tokens. Both secrets are only in memory, so they end with the process.
type SignInLink struct {
	lock   sync.Mutex
	code   string // "" after its use
	cookie string
}

// The path takes the code, and browsers keep the cookie under the name.
const (
	linkPath   = "/console/~demonstration"
	linkCookie = "atrium-demonstration"
)

// NewSignInLink returns a link with a code of its own.
func NewSignInLink() *SignInLink {
	return &SignInLink{code: rand.Text(), cookie: rand.Text()}
}

// URL returns the link to the console of a server with this URL.
func (l *SignInLink) URL(server string) string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return server + "/console#demonstration=" + l.code
}

// mayHoldToken reports whether a page for the request may contain a token: its browser is local, or has used the link, which may
// be nil.
func (l *SignInLink) mayHoldToken(r *http.Request) bool {
	if isLocal(r) {
		return true
	}
	given, err := r.Cookie(linkCookie)
	return l != nil && err == nil && isEqual(given.Value, l.cookie)
}

func isEqual(given, secret string) bool {
	return secret != "" && subtle.ConstantTimeCompare([]byte(given), []byte(secret)) == 1
}

// ServeHTTP takes the code of the link and gives the cookie for it.
func (l *SignInLink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	given, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 100))
	if err != nil || !l.use(string(given)) {
		http.Error(w, "the link was used before, or the server has restarted since it was made", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: linkCookie, Value: l.cookie, Path: "/", HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode})
	w.WriteHeader(http.StatusNoContent)
}

// use reports whether a code is right, and makes it useless then.
func (l *SignInLink) use(code string) bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	if !isEqual(code, l.code) {
		return false
	}
	l.code = ""
	return true
}
