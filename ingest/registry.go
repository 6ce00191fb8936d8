package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"atrium/platform"
)

// Registry imports repos, tags and images from a file of JSON lines, plain or
// gzip. Each line is an object of one kind:
//
//	{"kind": "repo", "name": "golang", "description": "...", "readme": "..."}
//	{"kind": "tag", "repo": "golang", "name": "1.26", "digest": "sha256:...", "deprecated": false}
//	{"kind": "image", "repo": "golang", "digest": "sha256:...", "architectures": ["amd64"], "packages": ["bash"]}
//
// Architectures are names, or objects {"name", "size"} where the size in bytes
// is known. Tags and images name a repo of this file, wherever it stands in
// it, or one that the group has already.
func Registry(ctx context.Context, p *platform.Platform, file string, o Options) (Summary, error) {
	return importRegistry(ctx, into(p, o, platform.ImportOptions{}), file, o)
}

func importRegistry(ctx context.Context, to sink, file string, o Options) (Summary, error) {
	r := newRegistry(to, file, o)
	// Two readings instead of keeping lines that wait for their repo.
	err := r.read(ctx, r.repoLine)
	if err == nil {
		err = r.repos.flush(ctx)
	}
	if err == nil {
		r.second = true
		err = r.read(ctx, r.otherLine)
	}
	if err == nil {
		err = r.tags.flush(ctx)
	}
	if err == nil {
		err = r.images.flush(ctx)
	}
	return Summary{Kinds: []Kind{r.repos.kind, r.tags.kind, r.images.kind}, Unreadable: r.log.unreadable}, err
}

// A registry is the import of one file.
type registry struct {
	to     sink
	file   string
	log    *log
	repos  *batch[platform.ImportedRepo]
	tags   *batch[platform.ImportedTag]
	images *batch[platform.Image]
	uids   map[string]platform.UID // of repos by name; "" for a name that no repo has
	second bool                    // what the first reading could not read is reported already
}

func newRegistry(to sink, file string, o Options) *registry {
	r := &registry{to: to, file: file, log: &log{options: o}, uids: map[string]platform.UID{}}
	r.repos = newBatch("repos", r.log, r.importRepos, func(repo *platform.ImportedRepo) any { return repo.Name })
	r.tags = newBatch("tags", r.log, to.tags, func(t *platform.ImportedTag) any { return [2]string{string(t.Repo), t.Name} })
	r.images = newBatch("images", r.log, to.images, func(i *platform.Image) any {
		return platform.ImageKey{Repo: i.Repo, Digest: i.Digest}
	})
	return r
}

func (r *registry) importRepos(ctx context.Context, repos []*platform.ImportedRepo) (platform.Imported, error) {
	done, err := r.to.repos(ctx, repos)
	for i, repo := range repos {
		if err == nil && done.Rejected[i] == nil {
			r.uids[repo.Name] = repo.UID
		}
	}
	return done, err
}

// read calls each with every line, and with the kind that it says it has.
func (r *registry) read(ctx context.Context, each func(ctx context.Context, at Place, kind string, line []byte) error) error {
	return r.log.lines(ctx, r.file, 2, r.unread, func(at Place, line []byte) error { return r.line(ctx, at, line, each) })
}

func (r *registry) line(ctx context.Context, at Place, line []byte, each func(context.Context, Place, string, []byte) error) error {
	var of struct {
		Kind string `json:"kind"`
	}
	switch err := json.Unmarshal(line, &of); {
	case line == nil:
		r.unread(at, errTooLarge)
	case err != nil:
		r.unread(at, jsonFault(err))
	case of.Kind != "repo" && of.Kind != "tag" && of.Kind != "image":
		r.unread(at, errors.New(`kind: must be "repo", "tag" or "image"`))
	default:
		return each(ctx, at, of.Kind, line)
	}
	return nil
}

func (r *registry) unread(at Place, why error) {
	if !r.second {
		r.log.unread(at, why)
	}
}

// repoLine is the first reading.
func (r *registry) repoLine(ctx context.Context, at Place, kind string, line []byte) error {
	if kind != "repo" {
		r.log.tell()
		return nil
	}
	r.log.record()
	var repo struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Readme      string `json:"readme"`
	}
	if err := decodeLine(line, &repo); err != nil {
		r.repos.fail(at, err)
		return nil
	}
	record := &platform.ImportedRepo{Readme: repo.Readme}
	record.Name, record.Description = repo.Name, repo.Description
	return r.repos.add(ctx, record, at, len(line))
}

// otherLine is the second reading.
func (r *registry) otherLine(ctx context.Context, at Place, kind string, line []byte) error {
	switch kind {
	case "tag":
		return r.tagLine(ctx, at, line)
	case "image":
		return r.imageLine(ctx, at, line)
	default:
		return nil
	}
}

func (r *registry) tagLine(ctx context.Context, at Place, line []byte) error {
	r.log.record()
	var tag struct {
		Repo       string `json:"repo"`
		Name       string `json:"name"`
		Digest     string `json:"digest"`
		Deprecated bool   `json:"deprecated"`
	}
	if err := decodeLine(line, &tag); err != nil {
		r.tags.fail(at, err)
		return nil
	}
	repo, err := r.repo(ctx, tag.Repo)
	if err != nil {
		return err
	}
	if repo == "" {
		r.tags.fail(at, unknownRepo(tag.Repo))
		return nil
	}
	record := &platform.ImportedTag{Repo: repo, Tag: platform.Tag{Name: tag.Name, Digest: tag.Digest, Deprecated: tag.Deprecated}}
	return r.tags.add(ctx, record, at, len(line))
}

func (r *registry) imageLine(ctx context.Context, at Place, line []byte) error {
	r.log.record()
	var image struct {
		Repo          string         `json:"repo"`
		Digest        string         `json:"digest"`
		Architectures []architecture `json:"architectures"`
		Packages      []string       `json:"packages"`
	}
	if err := decodeLine(line, &image); err != nil {
		r.images.fail(at, err)
		return nil
	}
	repo, err := r.repo(ctx, image.Repo)
	if err != nil {
		return err
	}
	if repo == "" {
		r.images.fail(at, unknownRepo(image.Repo))
		return nil
	}
	record := &platform.Image{Repo: repo, Digest: image.Digest, Packages: image.Packages}
	for _, a := range image.Architectures {
		record.Architectures = append(record.Architectures, platform.Architecture(a))
	}
	return r.images.add(ctx, record, at, len(line))
}

// repo finds a repo of the file or of the group; "" where there is none.
func (r *registry) repo(ctx context.Context, name string) (platform.UID, error) {
	if uid, known := r.uids[name]; known {
		return uid, nil
	}
	uid, err := r.to.repoNamed(ctx, name)
	if err != nil {
		return "", fmt.Errorf("find repo: %w", err)
	}
	r.uids[name] = uid
	return uid, nil
}

func unknownRepo(name string) error {
	if name == "" {
		return errors.New("repo: is required")
	}
	return fmt.Errorf("repo: neither this file nor the group has one named %.100q", name)
}

func decodeLine(line []byte, into any) error {
	if holdsNUL(line) {
		return errNUL
	}
	if err := json.Unmarshal(line, into); err != nil {
		return jsonFault(err)
	}
	return nil
}

// An architecture is written as its name, or as an object with its size.
type architecture platform.Architecture

func (a *architecture) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, &a.Name)
	}
	var full struct {
		Name string `json:"name"`
		Size int64  `json:"size"`
	}
	if err := json.Unmarshal(b, &full); err != nil || full.Name == "" || full.Size < 0 {
		return errors.New(`architectures: must be names or {"name", "size"}`)
	}
	a.Name, a.Size = full.Name, full.Size
	return nil
}
