package source

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"atrium/internal/ingest"
	"atrium/platform/core"
	"atrium/platform/intake"
)

// A run reads a source once.
type run struct {
	reader *Reader
	claim  *intake.Claim
	source *intake.Source
	folder string // of this run, which has what was fetched

	marks   map[string]*intake.Mark // what is known of what was read, which is that of the run before until something is read
	names   map[string]string       // what the files of the folder are called in reports
	result  intake.SourceRun
	fetched int // documents that had something new
	err     error
}

// read reads a source. It stores nothing of the run itself.
func (r *Reader) read(ctx context.Context, claim *intake.Claim) *run {
	u := &run{reader: r, claim: claim, source: claim.Source, marks: maps.Clone(claim.Source.Marks), names: map[string]string{}}
	if u.marks == nil {
		u.marks = map[string]*intake.Mark{}
	}
	if u.err = u.prepare(); u.err != nil {
		return u
	}
	defer func() { _ = os.RemoveAll(u.folder) }()
	ctx = core.WithActor(ctx, core.NewOperator("sources"))
	u.err = u.readAll(ctx)
	return u
}

// prepare makes the folder of the run.
func (u *run) prepare() (err error) {
	if u.claim.Fault != "" {
		return errors.New(u.claim.Fault)
	}
	u.folder, err = os.MkdirTemp(u.reader.options.Folder, "atrium-source-*")
	return err
}

// readAll fetches and imports what the source has.
func (u *run) readAll(ctx context.Context) error {
	switch u.source.Type {
	case intake.OSV:
		return u.readOSV(ctx)
	case intake.KEV:
		return u.readCatalog(ctx, func(path string, o ingest.Options) (ingest.Summary, error) {
			return ingest.ImportKEV(ctx, u.reader.platform, path, o)
		})
	case intake.EPSS:
		return u.readCatalog(ctx, func(path string, o ingest.Options) (ingest.Summary, error) {
			return ingest.ImportEPSS(ctx, u.reader.platform, path, o)
		})
	case intake.VEX:
		return u.readDocuments(ctx, func(paths []string, o ingest.Options) (ingest.Summary, error) {
			return ingest.ImportVEX(ctx, u.reader.platform, paths, o)
		})
	case intake.SBOM:
		return u.readDocuments(ctx, func(paths []string, o ingest.Options) (ingest.Summary, error) {
			return ingest.ImportSBOM(ctx, u.reader.platform, ingest.SBOMSource{Paths: paths}, o)
		})
	case intake.OCI:
		return u.readRegistry(ctx)
	default:
		return fmt.Errorf("this version of the service cannot read sources of the type %s", u.source.Type)
	}
}

// readCatalog fetches one file and imports it.
func (u *run) readCatalog(ctx context.Context, read func(path string, o ingest.Options) (ingest.Summary, error)) error {
	file, err := u.fetch(ctx, u.source.URL)
	if err != nil || file.isUnchanged {
		return err
	}
	sum, err := read(file.path, u.importOptions())
	return u.addImport(sum, err, file)
}

// importOptions returns the options of an import into the group of the source, which is "" for one of the operator.
func (u *run) importOptions() ingest.Options {
	return ingest.Options{
		Group: u.source.UID.Parent(), OwnOnly: !u.source.UID.IsRoot(), TemporaryFolder: u.folder,
		ReportProblem: func(at ingest.Place, reason error) {
			if name := u.names[at.File]; name != "" {
				at.File = name
			}
			if !errors.Is(reason, ingest.ErrSharedMetadata) { // It is so in every run.
				u.result.AddProblem(at.String() + ": " + ingest.ExplainWithoutCause(reason))
			}
		},
	}
}

// addImport adds what came of an import to the report. If it has read all that some files have, these are not read again until they change.
func (u *run) addImport(sum ingest.Summary, err error, files ...*file) error {
	for _, k := range sum.Kinds {
		u.addRecords(k)
	}
	u.result.Unreadable += int32(sum.Unreadable) //nolint:gosec // records of a source
	if err != nil {
		return err
	}
	if sum.IsUseless() {
		return errNothingUsable
	}
	for _, f := range files {
		u.marks[f.url] = f.mark
	}
	return nil
}

// errNothingUsable is the error of a source of which no record can be used, such as a page in place of an archive.
var errNothingUsable = errors.New("none of the source's records can be used; the problems say why")

// addRecords adds counts of records of a kind to those before.
func (u *run) addRecords(k ingest.KindCounts) {
	i := 0
	for i < len(u.result.Records) && u.result.Records[i].Kind != k.Name {
		i++
	}
	if i == len(u.result.Records) {
		u.result.Records = append(u.result.Records, intake.SourceRunRecords{Kind: k.Name})
	}
	to := &u.result.Records[i]
	for _, add := range []struct {
		to *int32
		n  int
	}{{&to.Added, k.Added}, {&to.Updated, k.Updated}, {&to.Unchanged, k.Unchanged}, {&to.Failed, k.Failed}, {&to.Removed, k.Removed}} {
		*add.to += int32(add.n) //nolint:gosec // records of a source
	}
}

// report returns the report of the run. cause is why it was stopped.
func (u *run) report(cause error) intake.SourceRun {
	done := u.result
	done.IsUnchanged = u.err == nil && u.fetched == 0
	switch {
	case u.err == nil:
		done.State = intake.Succeeded
	case errors.Is(cause, errCancelled):
		done.State = intake.Cancelled
	case errors.Is(cause, errTooLong):
		done.State, done.Error = intake.Failed, fmt.Sprintf("reading took longer than %s; the imported records stay, and the next run continues", u.reader.options.RunTimeout)
	default:
		done.State, done.Error = intake.Failed, intake.Shorten(strings.ReplaceAll(u.explain(), "\n", "; "))
	}
	return done
}

// explain returns why the run has failed, for whoever may see the source. What the report hides is in the log.
func (u *run) explain() string {
	if e := new(core.Error); errors.As(u.err, &e) && errors.Unwrap(e) != nil {
		u.reader.options.Logger.Warn("a source could not be read", "source", u.source.UID, "error", u.err)
	}
	return ingest.ExplainWithoutCause(u.err)
}
