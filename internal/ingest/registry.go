package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"atrium/internal/sbom"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// ImportRegistry imports repos, tags and images from a file of JSON lines, plain or
// gzip. Each line is an object of one kind:
//
//	{"kind": "repo", "name": "golang", "description": "...", "readme": "..."}
//	{"kind": "tag", "repo": "golang", "name": "1.26", "digest": "sha256:...", "deprecated": false}
//	{"kind": "image", "repo": "golang", "digest": "sha256:...", "architectures": ["amd64"], "packages": ["bash"]}
//
// Architectures are names, or objects {"name", "size"} if the size in bytes is
// known. Packages are names or package URLs, such as pkg:npm/left-pad@1.3.0. If one of them has a
// version, the packages become an SBOM of the image. Tags and images name a repo that is anywhere in this file or already in
// the group.
func ImportRegistry(ctx context.Context, p *platform.Platform, file string, o Options) (Summary, error) {
	return importRegistry(ctx, newDestination(p, o, core.ImportOptions{}), file, o)
}

// importRegistry is ImportRegistry with a destination.
func importRegistry(ctx context.Context, d destination, file string, o Options) (Summary, error) {
	r := newRegistryImport(d, file, o)
	remove, err := r.reporter.readPipe(file)
	if err != nil {
		return Summary{}, err
	}
	defer remove()
	err = r.reporter.finish(r.readPasses(ctx))
	var stopped *StoppedError
	if errors.As(err, &stopped) {
		for _, first := range r.unread {
			if first.Line < stopped.At.Line {
				stopped.At = first
			}
		}
	}
	return Summary{Kinds: append([]KindCounts{r.repos.kind, r.tags.kind, r.images.kind}, countsOf(r.sboms)...), Unreadable: r.reporter.unreadable}, err
}

// A registryImport is the import of one file of repos, tags and images.
type registryImport struct {
	destination destination
	file        string
	reporter    *reporter
	repos       *batch[registry.ImportedRepo, string]
	tags        *batch[registry.ImportedTag, inventory.TagName]
	images      *batch[listedImage, core.ImageKey]
	sboms       KindCounts
	uids        map[string]core.UID // uids of repos by name; "" if no repo has the name
	isLaterPass bool                // whether the first pass has reported unreadable lines already
	unread      map[string]Place    // the first lines of those kinds whose pass has not begun
}

// registryPasses is how often the file is read: for repos, images and tags. So no line must be kept until its repo is known, and
// no tag points to an image before the packages of the image are stored: nothing is found by the name of the repo meanwhile.
const registryPasses = 3

// readPasses reads the file as often as registryPasses says.
func (r *registryImport) readPasses(ctx context.Context) error {
	if err := r.readFile(ctx, r.importRepo); err != nil {
		return err
	}
	if err := r.repos.flush(ctx); err != nil {
		return err
	}
	r.isLaterPass = true
	if err := r.readFile(ctx, r.linesOf("image", r.importImage)); err != nil {
		return err
	}
	if err := r.images.flush(ctx); err != nil {
		return err
	}
	if err := r.readFile(ctx, r.linesOf("tag", r.importTag)); err != nil {
		return err
	}
	return r.tags.flush(ctx)
}

func newRegistryImport(d destination, file string, o Options) *registryImport {
	r := &registryImport{destination: d, file: file, reporter: &reporter{options: o}, uids: map[string]core.UID{}, unread: map[string]Place{}}
	r.repos = newBatch("repos", r.reporter, r.writeRepos, func(repo *registry.ImportedRepo) string { return repo.Name })
	r.tags = newBatch("tags", r.reporter, d.tags, (*registry.ImportedTag).Key)
	if d.writesAtOnce {
		r.tags.atOnce = 2 // While a batch is being stored, the next one is prepared.
	}
	r.images = newBatch("images", r.reporter, r.writeImages, func(i *listedImage) core.ImageKey { return i.Key() })
	r.sboms.Name = sbomKind
	return r
}

// writeRepos imports repos, and records their UIDs.
func (r *registryImport) writeRepos(ctx context.Context, repos []*registry.ImportedRepo) (core.Imported, error) {
	done, err := r.destination.repos(ctx, repos)
	for i, repo := range repos {
		if err == nil && done.Rejected[i] == nil {
			r.uids[repo.Name] = repo.UID
		}
	}
	return done, err
}

// A listedImage is an image with what its packages say if some have versions.
type listedImage struct {
	inventory.Image
	sbom *registry.ImportedSBOM // nil if only names are known
}

// writeImages imports SBOMs, and then the images whose SBOMs were not rejected: a tag may point to one already, and its packages have no
// versions without the SBOM.
func (r *registryImport) writeImages(ctx context.Context, images []*listedImage) (core.Imported, error) {
	rejected, err := r.writeSBOMs(ctx, images)
	if err != nil {
		return core.Imported{}, err
	}
	var rows []*inventory.Image
	var of []int // their places among the images
	for i, image := range images {
		if rejected[i] == nil {
			rows, of = append(rows, &image.Image), append(of, i)
		}
	}
	done, err := r.destination.images(ctx, rows)
	for i, reason := range done.Rejected {
		rejected[of[i]] = reason
	}
	done.Rejected = rejected
	return done, err
}

// writeSBOMs imports the SBOMs of valid images, and returns why some were rejected, by the places of their images.
func (r *registryImport) writeSBOMs(ctx context.Context, images []*listedImage) (rejected map[int]error, err error) {
	rejected = map[int]error{}
	var sboms []*registry.ImportedSBOM
	var of []int
	for i, image := range images {
		var v core.Violations
		if image.Check(&v); image.sbom != nil && len(v) == 0 {
			sboms, of = append(sboms, image.sbom), append(of, i)
		}
	}
	if len(sboms) == 0 {
		return rejected, nil
	}
	stored, err := r.destination.sboms(ctx, sboms)
	r.sboms.Added += stored.Added
	r.sboms.Updated += stored.Updated
	r.sboms.Unchanged += stored.Unchanged
	for i, reason := range stored.Rejected {
		rejected[of[i]] = reason
	}
	return rejected, err
}

func (r *registryImport) readFile(ctx context.Context, importLine func(ctx context.Context, at Place, line []byte) error) error {
	return r.reporter.readLines(ctx, r.file, registryPasses, r.reportUnreadable, func(at Place, line []byte) error { return importLine(ctx, at, line) })
}

// A lineHeader is what lines of all kinds contain.
type lineHeader struct {
	Kind string `json:"kind"`
}

func (h *lineHeader) kind() string { return h.Kind }

// leadingKind returns the kind of a line that begins with it, as most lines do, without
// decoding the line. It returns "" for other lines.
func leadingKind(line []byte) string {
	rest := line
	for _, token := range []string{"{", `"kind"`, ":"} {
		var found bool
		if rest, found = bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte(token)); !found {
			return ""
		}
	}
	rest = bytes.TrimLeft(rest, " \t")
	for _, kind := range []string{"tag", "image"} {
		if bytes.HasPrefix(rest, []byte(`"`+kind+`"`)) {
			return kind
		}
	}
	return ""
}

// kindOf returns the kind of a line, which it decodes if it must.
func (r *registryImport) kindOf(at Place, line []byte) string {
	if kind := leadingKind(line); kind != "" {
		return kind
	}
	return r.decodeKind(at, line)
}

// decodeKind returns the kind of a line. If it cannot be read, decodeKind reports the line in
// the first pass, and returns "".
func (r *registryImport) decodeKind(at Place, line []byte) string {
	var header lineHeader
	switch err := json.Unmarshal(line, &header); {
	case line == nil:
		r.reportUnreadable(at, errTooLarge)
	case err != nil:
		r.reportUnreadable(at, describeJSONError(err))
	case header.Kind != "repo" && header.Kind != "tag" && header.Kind != "image":
		r.reportUnreadable(at, errors.New(`kind: must be "repo", "tag" or "image"`))
	default:
		return header.Kind
	}
	return ""
}

func (r *registryImport) reportUnreadable(at Place, reason error) {
	if !r.isLaterPass {
		r.reporter.reportUnreadable(at, reason)
	}
}

// importRepo handles a line of the first pass. It leaves a line that begins as that of a tag
// or an image to the later passes.
func (r *registryImport) importRepo(ctx context.Context, at Place, line []byte) error {
	if kind := r.kindOf(at, line); kind != "repo" {
		if _, known := r.unread[kind]; !known && kind != "" {
			r.unread[kind] = at
		}
		r.reporter.reportProgress()
		return nil
	}
	r.reporter.countRecord()
	var repo struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Readme      string `json:"readme"`
	}
	if err := decodeJSON(line, &repo); err != nil {
		r.repos.fail(at, err)
		return nil
	}
	record := &registry.ImportedRepo{Readme: repo.Readme}
	record.Name, record.Description = repo.Name, repo.Description
	return r.repos.add(ctx, record, at, len(line))
}

// linesOf returns a function that handles a line of a later pass if it is of a kind.
func (r *registryImport) linesOf(wanted string, importLine func(ctx context.Context, at Place, line []byte) error) func(ctx context.Context, at Place, line []byte) error {
	return func(ctx context.Context, at Place, line []byte) error {
		delete(r.unread, wanted)
		if r.kindOf(at, line) != wanted {
			r.reporter.reportProgress()
			return nil
		}
		return importLine(ctx, at, line)
	}
}

// decodeRecord decodes a line that seems to be of a kind. Otherwise it reports what is wrong
// with the line, and returns false.
func (r *registryImport) decodeRecord(at Place, line []byte, kind string, record interface{ kind() string }, fail func(Place, error)) bool {
	err := decodeJSON(line, record)
	if err == nil && record.kind() == kind {
		r.reporter.countRecord()
		return true
	}
	var header lineHeader
	switch unreadable := json.Unmarshal(line, &header); {
	case unreadable != nil:
		r.reporter.reportUnreadable(at, describeJSONError(unreadable))
	case header.Kind != kind:
		r.reporter.reportUnreadable(at, errors.New("kind: is given twice"))
	default:
		r.reporter.countRecord()
		fail(at, err)
	}
	return false
}

// importTag adds a tag to its batch, or reports what is wrong with it.
func (r *registryImport) importTag(ctx context.Context, at Place, line []byte) error {
	var tag struct {
		lineHeader
		Repo       string `json:"repo"`
		Name       string `json:"name"`
		Digest     string `json:"digest"`
		Deprecated bool   `json:"deprecated"`
	}
	if !r.decodeRecord(at, line, "tag", &tag, r.tags.fail) {
		return nil
	}
	repo, err := r.findRepo(ctx, tag.Repo)
	if err != nil {
		return err
	}
	if repo == "" {
		r.tags.fail(at, unknownRepoError(tag.Repo))
		return nil
	}
	record := &registry.ImportedTag{Repo: repo, Tag: inventory.Tag{Name: tag.Name, Digest: tag.Digest, Deprecated: tag.Deprecated}}
	return r.tags.add(ctx, record, at, len(line))
}

// importImage adds an image to its batch, or reports what is wrong with it.
func (r *registryImport) importImage(ctx context.Context, at Place, line []byte) error {
	var image struct {
		lineHeader
		Repo          string         `json:"repo"`
		Digest        string         `json:"digest"`
		Architectures []architecture `json:"architectures"`
		Packages      []string       `json:"packages"`
		BaseName      string         `json:"baseName"`
		BaseDigest    string         `json:"baseDigest"`
	}
	if !r.decodeRecord(at, line, "image", &image, r.images.fail) {
		return nil
	}
	repo, err := r.findRepo(ctx, image.Repo)
	if err != nil {
		return err
	}
	if repo == "" {
		r.images.fail(at, unknownRepoError(image.Repo))
		return nil
	}
	packages, names, err := sbom.ParsePURLs(image.Packages)
	if err != nil {
		r.images.fail(at, err)
		return nil
	}
	record := &listedImage{Image: inventory.Image{Repo: repo, Digest: image.Digest, Packages: names, BaseName: image.BaseName, BaseDigest: image.BaseDigest}}
	for _, a := range image.Architectures {
		record.Architectures = append(record.Architectures, inventory.Architecture(a))
	}
	if packages != nil {
		record.sbom = newSBOM(packages, record.Key(), "")
	}
	return r.images.add(ctx, record, at, len(line))
}

// findRepo finds a repo of the file or of the group; "" if there is none.
func (r *registryImport) findRepo(ctx context.Context, name string) (core.UID, error) {
	if uid, known := r.uids[name]; known || name == "" { // an empty name would find any repo
		return uid, nil
	}
	uid, err := r.destination.findRepo(ctx, name)
	if err != nil {
		return "", fmt.Errorf("find repo: %w", err)
	}
	r.uids[name] = uid
	return uid, nil
}

func unknownRepoError(name string) error {
	if name == "" {
		return errors.New("repo: is required")
	}
	return fmt.Errorf("repo: neither this file nor the group has one named %.100q", name)
}

func decodeJSON(data []byte, target any) error {
	if containsNUL(data) {
		return errNUL
	}
	if err := json.Unmarshal(data, target); err != nil {
		return describeJSONError(err)
	}
	return nil
}

// An architecture is given as its name, or as an object with its size.
type architecture inventory.Architecture

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
