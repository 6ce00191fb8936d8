package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"atrium/internal/gate"
	"atrium/platform/core"
)

type checkCommand struct {
	clientFlags
	FailOn         string        `placeholder:"RATING" help:"Only findings with at least this severity fail an image: critical, high, medium, low, none or unknown. Default: all."`
	Fixable        bool          `help:"Only findings that have a fixed version fail an image."`
	KnownExploited bool          `help:"Only findings in the CISA KEV catalog (known exploited vulnerabilities) fail an image."`
	NewSince       string        `placeholder:"TAG|TIME" help:"Only new findings fail an image: findings that the image of this tag of the repo does not have, or that images have brought into the repo since this time (RFC 3339)."`
	SBOM           string        `name:"sbom" placeholder:"FILE" help:"SBOM of an image that the server does not have: an SPDX or CycloneDX document in JSON, or - for standard input. The server checks it, and stores nothing."`
	Wait           time.Duration `help:"How long to wait for the SBOMs of the images, such as 2m."`
	Group          string        `placeholder:"UID" help:"Group that contains the repos; IMAGE then names a repo in it."`
	Format         string        `default:"table" enum:"table,json,sarif,junit,github,markdown" help:"Format: table, json, sarif, junit, github (annotations of GitHub Actions) or markdown."`
	Report         []string      `sep:"none" placeholder:"FORMAT=FILE" help:"Also write the results into a file, in one of the formats; may be repeated."`
	Image          []string      `arg:"" optional:"" help:"Images: the path of a repo with a digest or a tag (acme/shop/checkout:1.4). With --sbom, name at most one image, or its repo alone."`
}

// Help returns the detailed help.
func (c *checkCommand) Help() string {
	return `Checks whether images may be released. A finding fails an image if it is open or in triage and meets all conditions that the flags name.
Accepted findings, and findings that do not affect the image, never fail it. The output lists the findings, the versions that fix them, and the
upgrades to make.

The exit status is 0 if all images pass, 1 if one fails, 2 if the command line is wrong, and 3 if none fails and one could not be checked, because
it has no usable SBOM or the server did not answer.

Examples:
  atrium check --report sarif=check.sarif --report junit=check.xml acme/shop/checkout:1.4
  atrium check --fail-on high --fixable acme/shop/checkout:1.4
  atrium check --new-since latest --format github acme/shop/checkout@sha256:1111111111111111111111111111111111111111111111111111111111111111
  syft -o cyclonedx-json checkout | atrium check --group UID --fail-on critical --sbom - checkout`
}

func (c *checkCommand) check(f *faults) {
	c.clientFlags.check(f)
	if c.FailOn != "" && !slices.Contains(core.SeverityRatings(), c.rating()) {
		f.add("fail-on", "must be critical, high, medium, low, none or unknown")
	}
	if c.Group != "" {
		checkUID(f, "group", c.Group)
	}
	for _, report := range c.Report {
		if format, file, _ := strings.Cut(report, "="); !gate.Format(format).IsKnown() || file == "" {
			f.add("report", "must be a format (table, json, sarif, junit, github or markdown) and a file, such as sarif=check.sarif")
		}
	}
	switch {
	case c.Wait < 0:
		f.add("wait", "must not be negative")
	case c.SBOM != "" && c.Wait > 0:
		f.add("wait", "cannot be given with --sbom, which already describes the image")
	case c.SBOM != "" && len(c.Image) > 1:
		f.add("sbom", "describes one image, and the command line names %d", len(c.Image))
	case c.SBOM != "" && len(c.Image) == 0 && c.Group == "":
		f.add("group", "is required with --sbom, unless IMAGE names the repo by its path")
	case c.SBOM == "" && len(c.Image) == 0:
		f.add("sbom", "is required, unless images are named")
	}
}

func (c *checkCommand) rating() core.SeverityRating {
	return core.SeverityRating("SEVERITY_RATING_" + strings.ToUpper(c.FailOn))
}

// An undecidedError is the error of a gate about which nothing could be decided.
type undecidedError struct{ error }

// Unwrap returns the error.
func (e undecidedError) Unwrap() error { return e.error }

var errGateFailed = errors.New("the gate has failed; see the findings above")

func (c *checkCommand) run(ctx context.Context, p program) error {
	client, err := c.client(ctx)
	if err != nil {
		return undecidedError{err}
	}
	var results []gate.Result
	images := c.Image
	if c.SBOM != "" && len(images) == 0 {
		images = []string{""}
	}
	for _, image := range images {
		result, err := c.decide(ctx, p, client, image)
		if err != nil {
			result = gate.Result{Image: image, Error: explain(err)}
		}
		results = append(results, result)
	}
	if err := errors.Join(gate.Write(p.stdout, gate.Format(c.Format), results), c.writeReports(results)); err != nil {
		return undecidedError{err}
	}
	if slices.ContainsFunc(results, gate.Result.HasFailed) {
		return errGateFailed
	}
	for _, r := range results {
		if !r.IsDecided() {
			return undecidedError{fmt.Errorf("%s could not be checked: %s", r.Image, escapeLine(r.Reason()))}
		}
	}
	return nil
}

// writeReports writes the files of --report.
func (c *checkCommand) writeReports(results []gate.Result) error {
	for _, report := range c.Report {
		format, name, _ := strings.Cut(report, "=")
		file, err := os.Create(name)
		if err != nil {
			return err
		}
		if err := errors.Join(gate.Write(file, gate.Format(format), results), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// pollChecks is how often a server is asked about an image that it does not know yet.
const pollChecks = 2 * time.Second

// decide asks about an image, until something is known of it or the time to wait is over.
func (c *checkCommand) decide(ctx context.Context, p program, client *graphqlClient, image string) (gate.Result, error) {
	if c.SBOM != "" {
		return c.decideSBOM(ctx, p, client, image)
	}
	end := time.Now().Add(c.Wait)
	for {
		result, err := c.ask(ctx, client, image, http.MethodGet, "vulnerabilities/v2/images:check", nil)
		isOpen := err == nil && !result.IsDecided() || isTemporary(err) || core.AsError(err).Code == core.CodeNotFound
		if !isOpen || time.Until(end) < pollChecks {
			return result, err
		}
		select {
		case <-ctx.Done():
			return result, ctx.Err()
		case <-time.After(pollChecks):
		}
	}
}

func (c *checkCommand) decideSBOM(ctx context.Context, p program, client *graphqlClient, image string) (gate.Result, error) {
	body := p.stdin
	if c.SBOM != "-" {
		file, err := os.Open(c.SBOM)
		if err != nil {
			return gate.Result{}, err
		}
		defer file.Close()
		body = file
	}
	return c.ask(ctx, client, image, http.MethodPost, "check/sbom", body)
}

// ask sends one request about an image, and reads the answer.
func (c *checkCommand) ask(ctx context.Context, client *graphqlClient, image, method, path string, body io.Reader) (gate.Result, error) {
	answer, err := client.read(ctx, method, path, c.query(image), body)
	if err != nil {
		return gate.Result{}, err
	}
	return gate.NewResult(cmp.Or(image, c.SBOM), answer)
}

func (c *checkCommand) query(image string) url.Values {
	query := queryOf("image", image, "group", c.Group, "failOn", strings.ToUpper(c.FailOn), "newSince", c.NewSince)
	if c.Fixable {
		query.Set("fixableOnly", "true")
	}
	if c.KnownExploited {
		query.Set("knownExploitedOnly", "true")
	}
	return query
}
