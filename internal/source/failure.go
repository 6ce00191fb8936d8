package source

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"atrium/internal/webhook"
)

// A fetchError says why something was not fetched, in words for the person who has chosen the source. They contain no address of an internal
// host.
type fetchError struct {
	url    string
	reason string
}

func (e fetchError) Error() string { return e.url + ": " + e.reason }

// A statusError is the error of an answer with another status than those that say that there is something.
type statusError int

func (e statusError) Error() string {
	return fmt.Sprintf("the source answered with status %d %s", int(e), http.StatusText(int(e)))
}

// isMissing reports whether an error says that the source has nothing at a URL.
func isMissing(err error) bool {
	var status statusError
	return errors.As(err, &status) && (status == http.StatusNotFound || status == http.StatusGone || status == http.StatusForbidden)
}

// An idleError is the error of a source of which nothing came for so long.
type idleError time.Duration

func (e idleError) Error() string { return fmt.Sprintf("received nothing for %s", time.Duration(e)) }

var errManyRedirects = errors.New("it has too many redirects")

// reasonOf returns why a request failed.
func reasonOf(err error) string {
	var idle idleError
	switch {
	case errors.As(err, &idle):
		return idle.Error()
	case errors.Is(err, errManyRedirects):
		return errManyRedirects.Error()
	}
	return webhook.FailureReason(err)
}
