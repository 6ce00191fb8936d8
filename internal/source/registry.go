package source

import (
	"context"
	"net/url"
	"strings"

	"atrium/internal/ingest"
)

// requestsAtOnce is how many requests a registry gets at the same time.
const requestsAtOnce = 4

// readRegistry imports what a registry has: one repo, if the URL has a path, or the repos that the patterns select.
func (u *run) readRegistry(ctx context.Context) error {
	at, err := url.Parse(u.source.URL)
	if err != nil {
		return err
	}
	from := ingest.OCISource{
		Names: namesOf(at, u.source.Patterns), Concurrency: requestsAtOnce, Prune: u.source.Prune, SBOMs: ingest.NewSBOMs, Insecure: at.Scheme == "http",
		Patterns: u.source.Patterns, Transport: u.reader.options.Client.Transport, Password: u.claim.Password,
	}
	if c := u.source.Credentials; c != nil {
		from.Username = c.Username
	}
	sum, err := ingest.ImportOCI(ctx, u.reader.platform, from, u.importOptions())
	u.fetched++ // a registry does not say that it has nothing new
	return u.addImport(sum, err)
}

// namesOf returns the registry and repos to read. Repos whose names are patterns without wildcards are read by their names, because not
// every registry has a catalog.
func namesOf(at *url.URL, patterns []string) []string {
	if path := strings.Trim(at.Path, "/"); path != "" {
		return []string{at.Host + "/" + path}
	}
	var names []string
	for _, pattern := range patterns {
		if strings.ContainsAny(pattern, `*?[\`) {
			return []string{at.Host}
		}
		names = append(names, at.Host+"/"+pattern)
	}
	if len(names) == 0 {
		return []string{at.Host}
	}
	return names
}
