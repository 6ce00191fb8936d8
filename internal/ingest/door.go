package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// A Delivery is an upload that a caller hands in over the network: what it is, and where it goes.
type Delivery struct {
	Kind         DeliveryKind
	Group        core.UID // "" if Image names a repo by its path or its uid
	Image        string   // that the SBOMs are about, as ImageName; "" if each names its image
	Architecture string   // that the SBOMs are about; "" means the one of their packages
	Create       bool     // makes the repos and the tags that are missing
	NoEvents     bool     // records no events for repos and tags
}

// A DeliveryKind is what an upload is.
type DeliveryKind string

// The kinds of deliveries. They are named as the commands.
const (
	DeliverSBOM     DeliveryKind = "sbom"
	DeliverVEX      DeliveryKind = "vex"
	DeliverOSV      DeliveryKind = "osv"
	DeliverRegistry DeliveryKind = "registry"
)

// Needed lists the capabilities that a delivery of a kind needs on its group or repo.
func (k DeliveryKind) Needed() []core.Capability {
	switch k {
	case DeliverVEX:
		return []core.Capability{core.CapVEXImport}
	case DeliverOSV:
		return []core.Capability{core.CapAdvisoriesImport}
	case DeliverRegistry:
		return []core.Capability{core.CapRegistryImport, core.CapSBOMsImport} // packages with versions are SBOMs
	default:
		return []core.Capability{core.CapSBOMsImport}
	}
}

// A Job is a delivery that was accepted: its caller may import where it goes.
type Job struct {
	delivery Delivery
	platform *platform.Platform
	image    ImagePlace
	on       core.UID // the group or the repo
}

// Kind returns what is delivered, as the command is named.
func (j *Job) Kind() string { return string(j.delivery.Kind) }

// Place returns the group or the repo into which the job imports.
func (j *Job) Place() core.UID { return j.on }

// Accept finds where a delivery goes. It fails unless the caller may import there, so it is called before anything of the upload is
// read.
func Accept(ctx context.Context, p *platform.Platform, d Delivery) (*Job, error) {
	j := &Job{delivery: d, platform: p, on: d.Group}
	if err := core.RequireAuthenticated(ctx); err != nil {
		return nil, err
	}
	named, err := d.check()
	if err != nil {
		return nil, err
	}
	needed := d.Kind.Needed()
	if d.Image == "" {
		if d.Create {
			needed = append(needed, core.CapRepoCreate, core.CapTagCreate)
		}
		return j, p.Registry.AuthorizeImport(ctx, j.on, needed...)
	}
	if d.Group != "" { // before anything is looked for in the group
		if err := p.Registry.AuthorizeImport(ctx, d.Group, needed...); err != nil {
			return nil, err
		}
	}
	if j.image, err = FindImage(ctx, p, d.Group, named, d.Create); err != nil {
		return nil, err
	}
	if j.on = j.image.repoOrGroup(); j.image.Repo == "" {
		needed = append(needed, core.CapRepoCreate)
	}
	if j.image.Tag != "" {
		needed = append(needed, core.CapTagCreate)
	}
	return j, p.Registry.AuthorizeImport(ctx, j.on, needed...)
}

// check checks what the caller says of a delivery.
func (d *Delivery) check() (named ImageName, err error) {
	var v core.Violations
	switch {
	case d.Group != "":
		v.CheckUID("group", d.Group)
	case d.Image == "" && d.Kind == DeliverSBOM:
		v.Add("group", "is required, unless image names the repo by its path")
	case d.Image == "":
		v.Add("group", "is required")
	}
	if d.Image != "" {
		if named, err = ParseImageName(d.Image); err != nil {
			v.Add("image", "%s", err)
		}
	}
	v.CheckLine("architecture", d.Architecture)
	return named, v.Err()
}

// maxProblems limits the problems that a report lists. The others are counted.
const maxProblems = 1000

// maxDescribed is the number of images whose findings a report tells.
const maxDescribed = 20

// A Report says what came of a delivery.
type Report struct {
	Records int `json:"records"` // documents and lines that were read
	Summary
	Refused []Problem `json:"refused"`                     // what was not imported
	Ignored []Problem `json:"ignored"`                     // what was left out, and what documents do not say
	Untold  int       `json:"problemsNotListed,omitempty"` // of both
}

// A Problem is what is wrong with a record.
type Problem struct {
	Place  string `json:"place"` // the member of an archive and the line; "" for a single document
	Reason string `json:"reason"`
}

// String returns the problem as the commands print it, with the name of the file.
func (p Problem) String(file string) string {
	switch {
	case p.Place == "":
		return file + ": " + p.Reason
	case strings.HasPrefix(p.Place, ":"):
		return file + p.Place + ": " + p.Reason
	}
	return file + ": " + p.Place + ": " + p.Reason
}

// ImageFindings says what an SBOM means for an image.
type ImageFindings struct {
	Opened      int            `json:"opened"`   // by this import
	Resolved    int            `json:"resolved"` // by this import
	Open        FindingsByRank `json:"open"`     // all that are to be looked after
	Accepted    int            `json:"accepted"`
	NotAffected int            `json:"notAffected"`
}

// FindingsByRank counts findings by severity.
type FindingsByRank struct {
	Total          int `json:"total"`
	Critical       int `json:"critical"`
	High           int `json:"high"`
	Medium         int `json:"medium"`
	Low            int `json:"low"`
	None           int `json:"none"`
	Unknown        int `json:"unknown"`
	Fixable        int `json:"fixable"`
	KnownExploited int `json:"knownExploited"`
}

// Run imports the upload. It returns an error if the import cannot go on, or if nothing of the upload can be used; then the report
// says what was imported before.
func (j *Job) Run(ctx context.Context, u *Upload, progress func(Progress)) (*Report, error) {
	r := &Report{Refused: []Problem{}, Ignored: []Problem{}}
	begun := j.platform.Now()
	o := Options{Group: j.delivery.Group, NoEvents: j.delivery.NoEvents, Upload: u,
		ReportProblem: func(at Place, reason error) { r.note(&r.Refused, at, reason) },
		ReportRemark:  func(at Place, remark error) { r.note(&r.Ignored, at, remark) },
		ReportProgress: func(so Progress) {
			r.Records = so.Records
			if progress != nil {
				progress(so)
			}
		},
	}
	var err error
	r.Summary, err = j.read(ctx, o)
	if err != nil {
		return r, err
	}
	if err := j.platform.Findings.SettleIn(ctx, j.on.Root()); err != nil {
		return r, err
	}
	if err := j.describe(ctx, r, begun); err != nil {
		return r, err
	}
	return r, r.refusal()
}

// read imports the upload.
func (j *Job) read(ctx context.Context, o Options) (Summary, error) {
	switch j.delivery.Kind {
	case DeliverVEX:
		return ImportVEX(ctx, j.platform, []string{pipeName}, o)
	case DeliverOSV:
		o.OwnOnly = true
		return ImportOSV(ctx, j.platform, []string{pipeName}, o)
	case DeliverRegistry:
		return ImportRegistry(ctx, j.platform, pipeName, o)
	default:
		return ImportSBOM(ctx, j.platform, SBOMSource{Paths: []string{pipeName}, Image: j.image, Architecture: j.delivery.Architecture, Create: j.delivery.Create}, o)
	}
}

// note notes a problem.
func (r *Report) note(list *[]Problem, at Place, reason error) {
	if len(r.Refused)+len(r.Ignored) >= maxProblems {
		r.Untold++
		return
	}
	at.File = ""
	place := strings.TrimPrefix(at.String(), ": ")
	*list = append(*list, Problem{place, ExplainWithoutCause(reason)})
}

// refusal returns an error if nothing of the upload could be used.
func (r *Report) refusal() error {
	if !r.IsUseless() {
		return nil
	}
	var v core.Violations
	for _, problem := range r.Refused[:min(len(r.Refused), maxViolations)] {
		field := "body"
		if problem.Place != "" {
			field = "body: " + problem.Place
		}
		v.Add(field, "%s", problem.Reason)
	}
	return v.Err()
}

// maxViolations limits the violations of an upload of which nothing can be used.
const maxViolations = 20

// describe adds what the SBOMs mean for their images, if the caller may see findings.
func (j *Job) describe(ctx context.Context, r *Report, begun core.Time) error {
	if len(r.Images) > maxDescribed {
		return nil
	}
	for i := range r.Images {
		image := &r.Images[i]
		summaries, errs := j.platform.Findings.SummarizeImages(ctx, []core.ImageKey{{Repo: image.Repo, Digest: image.Digest}})
		switch {
		case errors.Is(errs[0], &core.Error{Code: core.CodePermissionDenied}):
			continue // The caller may hand in, and not see.
		case errs[0] != nil:
			return errs[0]
		}
		open := summaries[0].Open
		found := &ImageFindings{
			Open:     FindingsByRank{int(open.Total), int(open.Critical), int(open.High), int(open.Medium), int(open.Low), int(open.None), int(open.Unknown), int(open.Fixable), int(open.KnownExploited)},
			Accepted: int(summaries[0].Accepted.Total), NotAffected: int(summaries[0].NotAffected.Total),
		}
		of := inventory.FindingFilter{Digests: []string{image.Digest}, WithoutLiveTags: true}
		opened, resolved := of, of
		opened.FirstSeenSince, resolved.ResolvedSince = begun, begun
		for _, count := range []struct {
			filter inventory.FindingFilter
			to     *int
		}{{opened, &found.Opened}, {resolved, &found.Resolved}} {
			page, err := j.platform.Findings.List(ctx, core.ListRequest[*inventory.FindingFilter]{
				UIDP: core.UIDFilter{ChildrenOf: image.Repo}, Filter: &count.filter, PageSize: 1, Parts: core.PartTotal,
			})
			if err != nil {
				return err
			}
			*count.to = int(page.TotalCount)
		}
		image.Findings = found
	}
	return nil
}

// Explain returns the text of an error with all of its violations. It leaves out the middle of a long text, which repeats input: a
// document can have a number of megabytes.
func Explain(err error) string {
	return shorten(listViolations(err))
}

// ExplainWithoutCause does the same for a caller, who must not see the cause of a failure: it can name hosts and users of the database.
func ExplainWithoutCause(err error) string {
	var e *core.Error
	if errors.As(err, &e) && errors.Unwrap(e) != nil {
		return shorten(strings.ReplaceAll(err.Error(), e.Error(), e.Message))
	}
	return Explain(err)
}

// shorten leaves out the middle of a long text.
func shorten(text string) string {
	if len(text) <= maxExplained {
		return text
	}
	begin, end := text[:maxExplained/2], text[len(text)-maxExplained/2:]
	return fmt.Sprintf("%s ... (%d bytes) ... %s", strings.ToValidUTF8(begin, ""), len(text)-len(begin)-len(end), strings.ToValidUTF8(end, ""))
}

// maxExplained is the largest number of bytes of a text that is shown as a whole.
const maxExplained = 4000

func listViolations(err error) string {
	var e *core.Error
	if !errors.As(err, &e) || len(e.Violations) < 2 {
		return err.Error()
	}
	all := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		all[i] = v.Field + ": " + v.Description
	}
	return "Invalid argument: " + strings.Join(all, "; ")
}
