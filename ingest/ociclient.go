package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// callTimeout bounds one call with all its tries: a registry that stays silent
// must not hold the import for ever.
const callTimeout = 3 * time.Minute

// An ociClient reads from registries. It signs in with what the container
// tools of this machine have stored (docker login), or as nobody.
type ociClient struct {
	puller *remote.Puller
	naming []name.Option
}

func newOCIClient(from OCISource, pause time.Duration) (*ociClient, error) {
	c := &ociClient{}
	if from.Insecure {
		c.naming = append(c.naming, name.Insecure)
	}
	var err error
	c.puller, err = remote.NewPuller(
		remote.WithTransport(&patient{remote.DefaultTransport, pause}),
		// Tried again below, where the context is known.
		remote.WithRetryStatusCodes(), remote.WithRetryBackoff(remote.Backoff{Steps: 1}),
		remote.WithAuthFromKeychain(authn.DefaultKeychain),
		remote.WithUserAgent("atrium"), remote.WithJobs(from.Concurrency),
	)
	return c, err
}

// target reads REGISTRY or REGISTRY/REPO; one is the repo, if any.
func (c *ociClient) target(text string) (registry name.Registry, one *name.Repository, err error) {
	host, repo, named := strings.Cut(text, "/")
	switch {
	case strings.Contains(text, "://"):
		return registry, nil, fmt.Errorf("%.300q: must be a registry without a scheme, such as ghcr.io or localhost:5000/repo", text)
	case host != "localhost" && !strings.ContainsAny(host, ".:"):
		return registry, nil, fmt.Errorf("%.300q: must begin with the host of a registry, such as docker.io/%s", text, text)
	}
	if registry, err = name.NewRegistry(host, c.naming...); err != nil || !named {
		return registry, nil, err
	}
	full, err := name.NewRepository(host+"/"+repo, c.naming...)
	return registry, &full, err
}

// repos lists the catalogue of a registry. With an error come those that were
// read until then.
func (c *ociClient) repos(ctx context.Context, registry name.Registry) ([]string, error) {
	return everyPage(ctx, c, func(ctx context.Context) (*remote.Catalogger, error) { return c.puller.Catalogger(ctx, registry) },
		func(page *remote.Catalogs) ([]string, string) { return page.Repos, page.Next })
}

// tags lists the tags of a repo, as repos does.
func (c *ociClient) tags(ctx context.Context, repo name.Repository) ([]string, error) {
	return everyPage(ctx, c, func(ctx context.Context) (*remote.Lister, error) { return c.puller.Lister(ctx, repo) },
		func(page *remote.Tags) ([]string, string) { return page.Tags, page.Next })
}

// pages is a list of a registry under way.
type pages[P any] interface {
	HasNext() bool
	Next(ctx context.Context) (*P, error)
}

// everyPage reads a list to its end. of takes a page apart: what it holds, and
// where the next one is.
func everyPage[P any, L pages[P]](ctx context.Context, c *ociClient, open func(context.Context) (L, error), of func(*P) ([]string, string)) (all []string, err error) {
	var list L
	err = c.call(ctx, func(ctx context.Context) (err error) {
		list, err = open(ctx)
		return err
	})
	for at := ""; err == nil && list.HasNext(); {
		err = c.call(ctx, func(ctx context.Context) error {
			page, err := list.Next(ctx)
			if err != nil {
				return err
			}
			held, next := of(page)
			all = append(all, held...)
			return advanced(&at, next)
		})
	}
	return all, err
}

// advanced refuses a page that leads to itself.
func advanced(at *string, next string) error {
	if next != "" && next == *at {
		return errors.New("the registry's list has no end: a page leads to itself")
	}
	*at = next
	return nil
}

// digest finds what a tag points to.
func (c *ociClient) digest(ctx context.Context, repo name.Repository, tag string) (digest v1.Hash, err error) {
	ref, err := name.NewTag(repo.Name()+":"+tag, c.naming...)
	if err != nil {
		return digest, err
	}
	err = c.call(ctx, func(ctx context.Context) error {
		head, err := c.puller.Head(ctx, ref)
		if err == nil {
			digest = head.Digest
			return nil
		}
		if passing(err) || ctx.Err() != nil {
			return err
		}
		// Not every registry answers HEAD with a digest, and none with a reason.
		got, err := c.puller.Get(ctx, ref)
		if err == nil {
			digest = got.Digest
		}
		return err
	})
	return digest, err
}

// manifest reads one, and who it runs on if it does not say so itself and
// platform asks for it.
func (c *ociClient) manifest(ctx context.Context, key manifestKey) (m manifest, err error) {
	err = c.call(ctx, func(ctx context.Context) error {
		got, err := c.puller.Get(ctx, key.repo.Digest(key.digest.String()))
		if err != nil {
			return err
		}
		if m, err = readManifest(got.Manifest); err != nil || !m.image || !key.platform {
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
		m.platform = new(v1.Platform) // whose fields a config has too
		if err := json.Unmarshal(config, m.platform); err != nil {
			return fmt.Errorf("config: %w", jsonFault(err))
		}
		return nil
	})
	return m, err
}

func (c *ociClient) call(ctx context.Context, f func(context.Context) error) error {
	ctx, stop := context.WithTimeout(ctx, callTimeout)
	defer stop()
	if err := f(ctx); err != nil {
		return registryError{err}
	}
	return nil
}

// A registryError may hold what a registry says, which can be a whole page of
// HTML, or do something to a terminal.
type registryError struct{ error }

const maxSaid = 500 // bytes

// Error is one line that is not too long.
func (e registryError) Error() string {
	line := strings.Join(strings.FieldsFunc(e.error.Error(), func(r rune) bool { return !unicode.IsPrint(r) }), " ")
	if len(line) > maxSaid {
		line = strings.ToValidUTF8(line[:maxSaid], "") + " ..."
	}
	return line
}

// Unwrap gives the error itself.
func (e registryError) Unwrap() error { return e.error }

// passing reports whether the same call may succeed later.
func passing(err error) bool {
	var status *transport.Error
	if errors.As(err, &status) {
		return passingStatus(status.StatusCode)
	}
	return outage(err)
}

// unknownToRegistry reports whether a registry says that it has no such repo.
// A 404 that does not say so may come from anything on the way there.
func unknownToRegistry(err error) bool {
	var status *transport.Error
	return absent(err) && errors.As(err, &status) && slices.ContainsFunc(status.Errors, func(d transport.Diagnostic) bool {
		return d.Code == transport.NameUnknownErrorCode || d.Code == "NOT_FOUND" // as Harbor has it
	})
}

// absent reports whether a registry does not have what was asked for.
func absent(err error) bool {
	var status *transport.Error
	return errors.As(err, &status) && status.StatusCode == http.StatusNotFound
}
