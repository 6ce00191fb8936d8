package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"atrium/internal/auth"
	"atrium/internal/ingest"
	"atrium/internal/server"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/store"
)

// A world is a store with a server in this process.
type world struct {
	p      *platform.Platform
	folder string // for the documents that are imported
	url    string
	mint   func() (string, error)
	close  func()
}

const (
	audience = "atrium"
	owner    = "osvcompare"
	// tokenLife is how long a token is valid; each organization gets a new one.
	tokenLife = 12 * time.Hour
)

// openWorld prepares an empty database, by default a SQLite file in the folder, and starts a server on it.
func openWorld(ctx context.Context, folder, url string) (*world, error) {
	if url == "" {
		url = "sqlite:" + filepath.Join(folder, "atrium.db")
	}
	if err := server.Migrate(ctx, url, "", nil); err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, url, store.Options{})
	if err != nil {
		return nil, err
	}
	w := &world{folder: folder, close: func() { _ = s.Close() }}
	if w.p, err = platform.New(ctx, s, platform.Options{}); err != nil {
		w.close()
		return nil, err
	}
	if isEmpty, err := w.p.Groups.IsEmpty(operator(ctx)); err != nil || !isEmpty {
		w.close()
		return nil, errors.Join(err, errors.New("the database has organizations already: the comparison fills a database that can be thrown away, so name an empty one"))
	}
	// An organization that is there keeps the server from creating the one for demonstrations.
	if _, err := w.p.Groups.Bootstrap(operator(ctx), "first", auth.DevelopmentIssuer, owner); err != nil {
		w.close()
		return nil, err
	}
	if err := w.serve(ctx, url, s.Close); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// serve starts the server, and waits until it serves.
func (w *world) serve(ctx context.Context, url string, closeStore func() error) error {
	ctx, stop := context.WithCancel(ctx)
	started, ended := make(chan string, 1), make(chan error, 1)
	w.close = func() {
		stop()
		<-ended
		_ = closeStore()
	}
	go func() {
		ended <- server.Run(ctx, server.Config{
			Address: "127.0.0.1:0", DatabaseURL: url, Development: true, Audience: []string{audience}, ServiceDomain: "atrium.dev",
			GraphQL: server.DefaultGraphQL(), Logger: slog.New(slog.DiscardHandler), NoConsole: true,
			Core: platform.Options{AuditRetention: 24 * time.Hour, DeliveryRetention: time.Hour}, Started: func(s server.Start) error { started <- s.URL; return nil },
		})
	}()
	select {
	case w.url = <-started:
	case err := <-ended:
		ended <- err
		return fmt.Errorf("the server did not start: %w", err)
	}
	issuer, err := server.DevelopmentIssuer(ctx, w.p)
	w.mint = func() (string, error) { return issuer.Mint(owner, audience, tokenLife, nil) }
	return err
}

func operator(ctx context.Context) context.Context {
	return core.WithActor(ctx, core.NewOperator("osvcompare"))
}

// An organization is one of the world with what was imported into it.
type organization struct {
	*world
	name  string
	uid   core.UID
	token string
}

// newOrganization creates an organization.
func (w *world) newOrganization(ctx context.Context, name string) (*organization, error) {
	made, err := w.p.Groups.Bootstrap(operator(ctx), name, auth.DevelopmentIssuer, owner)
	if err != nil {
		return nil, err
	}
	token, err := w.mint()
	return &organization{w, name, made.Group.UID, token}, err
}

// An image is where a document was imported.
type image struct{ repo, tag core.UID }

// importAll imports documents in a random order, and the records after some of them. It returns the images of the documents,
// and why the others could not be imported.
func (o *organization) importAll(ctx context.Context, random *rand.Rand, feeds []string, documents []*document) (map[*document]image, map[*document]string, error) {
	images, refused := map[*document]image{}, map[*document]string{}
	order := random.Perm(len(documents))
	feedsAt := random.IntN(len(order) + 1)
	for i := range len(order) + 1 {
		if i == feedsAt {
			if err := o.importFeeds(ctx, feeds); err != nil {
				return nil, nil, err
			}
		}
		if i == len(order) {
			break
		}
		d := documents[order[i]]
		at, reason, err := o.importDocument(ctx, d, fmt.Sprintf("d%04d", order[i]))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", d.name, err)
		}
		if reason != "" {
			refused[d] = reason
		} else {
			images[d] = at
		}
	}
	return images, refused, nil
}

func (o *organization) importFeeds(ctx context.Context, feeds []string) error {
	sum, err := ingest.ImportOSV(operator(ctx), o.p, feeds, ingest.Options{Group: o.uid})
	if err == nil && sum.Failed() > 0 {
		err = fmt.Errorf("%d records of the feeds were not imported", sum.Failed())
	}
	if err != nil {
		return err
	}
	return o.p.Findings.Settle(operator(ctx)) // as the commands do before they end
}

// importDocument makes a repo with a tag of the image of a document, and imports the document. The reason says why it cannot be
// imported.
func (o *organization) importDocument(ctx context.Context, d *document, name string) (at image, reason string, err error) {
	var repo struct {
		CreateRepo struct{ Repo struct{ UID core.UID } }
	}
	if err := o.ask(ctx, `mutation($in: CreateRepoInput!) { createRepo(input: $in) { repo { uid } } }`, map[string]any{"in": map[string]any{"parent": o.uid, "name": name}}, &repo); err != nil {
		return at, "", err
	}
	at.repo = repo.CreateRepo.Repo.UID
	var tag struct {
		CreateTag struct{ Tag struct{ UID core.UID } }
	}
	if err := o.ask(ctx, `mutation($in: CreateTagInput!) { createTag(input: $in) { tag { uid } } }`, map[string]any{"in": map[string]any{"parent": at.repo, "name": "1", "digest": d.digest()}}, &tag); err != nil {
		return at, "", err
	}
	at.tag = tag.CreateTag.Tag.UID
	path := filepath.Join(o.folder, "import"+filepath.Ext(d.name))
	if err := os.WriteFile(path, d.text, 0o600); err != nil {
		return at, "", err
	}
	source := ingest.SBOMSource{Paths: []string{path}, Image: ingest.ImagePlace{Repo: core.UID(at.repo), Digest: d.digest()}}
	sum, err := ingest.ImportSBOM(operator(ctx), o.p, source, ingest.Options{ReportProblem: func(_ ingest.Place, problem error) {
		if reason == "" {
			reason = problem.Error()
		}
	}})
	if err != nil || sum.Kinds[0].Added == 0 {
		return at, cmp.Or(reason, "has no SBOM"), err
	}
	return at, "", o.p.Findings.Settle(operator(ctx)) // what was reported are remarks
}

// ask sends a request to the GraphQL endpoint, and reads the data of its answer.
func (o *organization) ask(ctx context.Context, query string, variables map[string]any, into any) error {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, o.url+"/graphql", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+o.token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var answer struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if err := json.Unmarshal(text, &answer); err != nil || response.StatusCode != http.StatusOK || len(answer.Errors) > 0 {
		return fmt.Errorf("the endpoint answers %s: %.500s", response.Status, text)
	}
	return json.Unmarshal(answer.Data, into)
}

// A finding is what the endpoint says of one.
type finding struct {
	VulnerabilityID  string `json:"vulnerabilityId"`
	Package          string
	Ecosystem        string
	InstalledVersion string
	Basis            string
	Sources          []string
	BinaryPackages   []struct{ Name, Version string }
}

// An installed package is what the endpoint says of a package of an image.
type installed struct{ Name, Version, Ecosystem, PURL string }

// A page is a page of a list.
type page[T any] struct {
	Nodes    []T
	PageInfo struct {
		HasNextPage bool
		EndCursor   string
	}
}

const (
	findingsQuery = `query($uid: UID!, $after: String) { findings(within: $uid, directOnly: true, first: 200, after: $after) {
		nodes { vulnerabilityId package ecosystem installedVersion basis sources binaryPackages { name version } } pageInfo { hasNextPage endCursor } } }`
	packagesQuery = `query($uid: UID!, $after: String) { tag(uid: $uid) { image { packages(first: 200, after: $after) {
		nodes { name version ecosystem purl } pageInfo { hasNextPage endCursor } } } } }`
)

// readFindings reads the findings of an image, which is the only one of its repo.
func (o *organization) readFindings(ctx context.Context, at image) ([]finding, error) {
	return readPages(func(after any) (page[finding], error) {
		var answer struct{ Findings page[finding] }
		err := o.ask(ctx, findingsQuery, map[string]any{"uid": at.repo, "after": after}, &answer)
		return answer.Findings, err
	})
}

// readPackages reads the packages of an image.
func (o *organization) readPackages(ctx context.Context, at image) ([]installed, error) {
	return readPages(func(after any) (page[installed], error) {
		var answer struct {
			Tag struct {
				Image struct{ Packages page[installed] }
			}
		}
		err := o.ask(ctx, packagesQuery, map[string]any{"uid": at.tag, "after": after}, &answer)
		return answer.Tag.Image.Packages, err
	})
}

// readPages reads all pages of a list.
func readPages[T any](read func(after any) (page[T], error)) (all []T, err error) {
	for after := any(nil); ; {
		p, err := read(after)
		if err != nil {
			return nil, err
		}
		if all = append(all, p.Nodes...); !p.PageInfo.HasNextPage {
			return all, nil
		}
		after = p.PageInfo.EndCursor
	}
}

// shorten removes what differs between documents from the reason why one cannot be imported, so that equal reasons count
// together.
func shorten(reason string) string {
	if place, rest, found := strings.Cut(reason, ": "); found && !strings.Contains(place, " ") {
		reason = rest
	}
	parts := strings.Split(reason, `"`)
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "…"
	}
	return strings.Join(parts, `"`)
}
