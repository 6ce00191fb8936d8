package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// callTimeout limits one call with all its retries.
const callTimeout = 3 * time.Minute

// ociLimits limits what is read from the lists of a registry.
type ociLimits struct {
	pages int // of one list
	repos int // of a catalog
	tags  int // of the repos of a chunk together
}

var defaultOCILimits = ociLimits{pages: 10_000, repos: 100_000, tags: 1_000_000}

// maxListedName is how many bytes of a name in a list are kept. Longer names are invalid.
const maxListedName = 300

// An ociClient reads from registries. It signs in with the credentials that the
// container tools of this machine have stored (docker login), or anonymously.
type ociClient struct {
	puller      *remote.Puller
	nameOptions []name.Option
	limits      ociLimits
}

// newOCIClient returns a client with the pause before its first retry.
func newOCIClient(source OCISource, pause time.Duration) (*ociClient, error) {
	c := &ociClient{limits: cmp.Or(source.limits, defaultOCILimits)}
	if source.Insecure {
		c.nameOptions = append(c.nameOptions, name.Insecure)
	}
	inner, signIn := remote.DefaultTransport, remote.WithAuthFromKeychain(authn.DefaultKeychain)
	if source.Transport != nil {
		inner, signIn = source.Transport, remote.WithAuth(source.authenticator())
	}
	var err error
	c.puller, err = remote.NewPuller(
		remote.WithTransport(&retryTransport{inner, pause}),
		// retryTransport retries, not the puller.
		remote.WithRetryStatusCodes(), remote.WithRetryBackoff(remote.Backoff{Steps: 1}),
		signIn,
		remote.WithUserAgent("atrium"), remote.WithJobs(source.Concurrency),
	)
	return c, err
}

// authenticator returns the credentials of the source.
func (s *OCISource) authenticator() authn.Authenticator {
	switch {
	case s.Username != "":
		return &authn.Basic{Username: s.Username, Password: s.Password}
	case s.Password != "":
		return &authn.Bearer{Token: s.Password}
	default:
		return authn.Anonymous
	}
}

// parseName reads REGISTRY or REGISTRY/REPO. repo is nil for a whole registry.
func (c *ociClient) parseName(text string) (registry name.Registry, repo *name.Repository, err error) {
	host, path, hasPath := strings.Cut(text, "/")
	switch {
	case strings.Contains(text, "://"):
		return registry, nil, fmt.Errorf("%.300q: must be a registry without a scheme, such as ghcr.io or localhost:5000/repo", text)
	case host != "localhost" && !strings.ContainsAny(host, ".:"):
		return registry, nil, fmt.Errorf("%.300q: must begin with the host of a registry, such as docker.io/%s", text, text)
	}
	if registry, err = name.NewRegistry(host, c.nameOptions...); err != nil || !hasPath {
		return registry, nil, err
	}
	full, err := name.NewRepository(host+"/"+path, c.nameOptions...)
	return registry, &full, err
}

// listRepos lists the catalog of a registry. If it fails, it returns the repos
// read so far together with the error.
func (c *ociClient) listRepos(ctx context.Context, registry name.Registry) ([]string, error) {
	limit := newNameLimit(c.limits.repos, "the catalog lists more than %d repos; name the repos to import (REGISTRY/REPO)")
	return readPages(ctx, c, limit, func(ctx context.Context) (*remote.Catalogger, error) { return c.puller.Catalogger(ctx, registry) },
		func(page *remote.Catalogs) ([]string, string) { return page.Repos, page.Next })
}

// listTags lists the tags of a repo, like listRepos. The limit is shared by the repos of a
// chunk.
func (c *ociClient) listTags(ctx context.Context, repo name.Repository, limit *nameLimit) ([]string, error) {
	return readPages(ctx, c, limit, func(ctx context.Context) (*remote.Lister, error) { return c.puller.Lister(ctx, repo) },
		func(page *remote.Tags) ([]string, string) { return page.Tags, page.Next })
}

func (c *ociClient) newTagLimit() *nameLimit {
	return newNameLimit(c.limits.tags, "the repos that are read together list more than %d tags; import fewer repos at once")
}

// A nameLimit limits how many names lists have together, because they are kept in memory.
type nameLimit struct {
	left atomic.Int64
	err  error // when there are more
}

func newNameLimit(most int, message string) *nameLimit {
	l := &nameLimit{err: fmt.Errorf(message, most)}
	l.left.Store(int64(most))
	return l
}

// take counts n names, and fails if there are too many.
func (l *nameLimit) take(n int) error {
	if l.left.Add(-int64(n)) < 0 {
		return l.err
	}
	return nil
}

// A pager reads a list of a registry page by page.
type pager[P any] interface {
	HasNext() bool
	Next(ctx context.Context) (*P, error)
}

// readPages reads all pages of a list. split returns the items of a page and the
// address of the next one.
func readPages[P any, L pager[P]](ctx context.Context, c *ociClient, limit *nameLimit, open func(context.Context) (L, error), split func(*P) (items []string, next string)) (all []string, err error) {
	var list L
	err = c.call(ctx, func(ctx context.Context) (err error) {
		list, err = open(ctx)
		return err
	})
	for read := map[string]bool{}; err == nil && list.HasNext(); {
		err = c.call(ctx, func(ctx context.Context) error {
			page, err := list.Next(ctx)
			if err != nil {
				return err
			}
			items, next := split(page)
			if err := limit.take(len(items)); err != nil {
				return err
			}
			for _, item := range items { // not those of the page, which keep all of it in memory
				all = append(all, strings.Clone(item[:min(len(item), maxListedName)]))
			}
			return noteNext(read, next, c.limits.pages)
		})
	}
	return all, err
}

// noteNext adds the address of the next page to those that have been read. It refuses one
// that has been read already, and more than most of them.
func noteNext(read map[string]bool, next string, most int) error {
	switch {
	case next != "" && read[next]:
		return errors.New("the registry's list does not end: a page links to itself or to an earlier one")
	case len(read) == most:
		return fmt.Errorf("the registry's list does not end: it has more than %d pages", most)
	}
	read[next] = true
	return nil
}

// readDigest returns the digest that a tag points to.
func (c *ociClient) readDigest(ctx context.Context, repo name.Repository, tag string) (digest v1.Hash, err error) {
	ref, err := name.NewTag(repo.Name()+":"+tag, c.nameOptions...)
	if err != nil {
		return digest, err
	}
	err = c.call(ctx, func(ctx context.Context) error {
		head, err := c.puller.Head(ctx, ref)
		if err == nil {
			digest = head.Digest
			return nil
		}
		if isTransient(err) || ctx.Err() != nil {
			return err
		}
		// Some registries do not answer HEAD with a digest, and an answer to HEAD
		// has no error text.
		got, err := c.puller.Get(ctx, ref)
		if err == nil {
			digest = got.Digest
		}
		return err
	})
	return digest, err
}

// readManifest reads a manifest. If key asks for the platform and the manifest is
// one of an image, it reads the platform from the config of the image.
func (c *ociClient) readManifest(ctx context.Context, key manifestKey) (m manifest, err error) {
	err = c.call(ctx, func(ctx context.Context) error {
		got, err := c.puller.Get(ctx, key.repo.Digest(key.digest.String()))
		if err != nil {
			return err
		}
		if m, err = parseManifest(got.Manifest); err != nil || !m.isImage || !key.needsPlatform {
			return err
		}
		image, err := got.Image()
		if err != nil {
			return err
		}
		config, err := image.RawConfigFile()
		if err != nil {
			return fmt.Errorf("config: %w", err)
		}
		m.platform = new(v1.Platform) // a config has the same fields
		if err := json.Unmarshal(config, m.platform); err != nil {
			return contentError{fmt.Errorf("config: %w", describeJSONError(err))}
		}
		return nil
	})
	return m, err
}

// call calls f with a timeout and wraps its error in a registryError.
func (c *ociClient) call(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := f(ctx); err != nil {
		return registryError{err}
	}
	return nil
}

// A registryError wraps an error that can contain the text of a registry's answer.
// That can be a whole page of HTML, or have control characters.
type registryError struct{ error }

// maxErrorText is the largest number of bytes of a text of registryError.
const maxErrorText = 500

// Error returns the text as one printable line, shortened to maxErrorText.
func (e registryError) Error() string {
	line := strings.Join(strings.FieldsFunc(e.error.Error(), func(r rune) bool { return !unicode.IsPrint(r) }), " ")
	if len(line) > maxErrorText {
		line = strings.ToValidUTF8(line[:maxErrorText], "") + " ..."
	}
	return line
}

func (e registryError) Unwrap() error { return e.error }

// isTransient reports whether the same call may succeed later.
func isTransient(err error) bool {
	var status *transport.Error
	if errors.As(err, &status) {
		return isTransientStatus(status.StatusCode)
	}
	return isConnectionError(err)
}

// isRepoUnknown reports whether the registry says that it has no such repo. Another
// answer of status 404 is not enough, because it may come from a proxy.
func isRepoUnknown(err error) bool {
	var status *transport.Error
	return isNotFound(err) && errors.As(err, &status) && slices.ContainsFunc(status.Errors, func(d transport.Diagnostic) bool {
		return d.Code == transport.NameUnknownErrorCode || d.Code == "NOT_FOUND" // from Harbor
	})
}

// isNotFound reports whether the registry answered with status 404.
func isNotFound(err error) bool {
	var status *transport.Error
	return errors.As(err, &status) && status.StatusCode == http.StatusNotFound
}
