package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"atrium/internal/export"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

// exportFlags are the flags that all exports share.
type exportFlags struct {
	placeFlags
	networkFlags
	Group  string `placeholder:"PATH|UID" help:"Group or repo, as a UID or as a path such as acme/shop. Required."`
	Format string `default:"ndjson" help:"Format of the output: ndjson (one JSON object per line), csv, json, and for findings sarif."`
}

func (c *exportFlags) check(f *faults, formats []export.Format) {
	c.databaseFlags.check(f)
	c.checkServer(f, c.placeFlags)
	f.require("group", c.Group)
	if !slices.Contains(formats, export.Format(c.Format)) {
		f.add("format", "must be one of %s", strings.ReplaceAll(strings.Trim(fmt.Sprint(formats), "[]"), " ", ", "))
	}
}

type exportFindingsCommand struct {
	exportFlags
	Severity       []string `placeholder:"RATING" help:"Only findings with this severity: critical, high, medium, low, none or unknown; may be repeated."`
	State          []string `placeholder:"STATE" help:"Only findings in this state: open, in_triage, accepted, not_affected or resolved; may be repeated. Without it, all but resolved."`
	KnownExploited bool     `help:"Only findings in the KEV catalog (known exploited vulnerabilities)."`
	Fixable        bool     `help:"Only findings that have a fixed version."`
	UpdatedSince   string   `placeholder:"TIME" help:"Only findings that changed at or after this time, such as 2026-11-21T00:00:00Z."`
	FirstSeenSince string   `placeholder:"TIME" help:"Only findings that were first seen at or after this time."`
}

func (c *exportFindingsCommand) check(f *faults) {
	c.exportFlags.check(f, export.Findings.Formats)
	checkWords(f, "severity", c.Severity, severityPrefix, core.SeverityRatings())
	checkWords(f, "state", c.State, statePrefix, inventory.FindingStates())
	checkTime(f, "updated-since", c.UpdatedSince)
	checkTime(f, "first-seen-since", c.FirstSeenSince)
}

// The flags have the last words of the values, such as high for SEVERITY_RATING_HIGH.
const (
	severityPrefix = "SEVERITY_RATING_"
	statePrefix    = "FINDING_STATE_"
)

// checkWords reports words that stand for none of the values.
func checkWords[E ~string](f *faults, flag string, words []string, prefix string, values []E) {
	for _, value := range valuesOf[E](words, prefix) {
		if !slices.Contains(values, value) {
			names := make([]string, len(values))
			for i, v := range values {
				names[i] = strings.ToLower(strings.TrimPrefix(string(v), prefix))
			}
			f.add(flag, "must be one of %s", strings.Join(names, ", "))
			return
		}
	}
}

// valuesOf returns the values that words stand for.
func valuesOf[E ~string](words []string, prefix string) []E {
	var values []E
	for _, word := range words {
		values = append(values, E(prefix+strings.ToUpper(word)))
	}
	return values
}

// Help returns the detailed help.
func (c *exportFindingsCommand) Help() string {
	return `Prints findings: which advisories affect which packages of which images. From a server ('atrium login' or --url), you get the findings that you may
see. From a database, you get all of them, and servers may use it meanwhile. The memory does not depend on the number of findings. In CSV, an
apostrophe precedes cells that a spreadsheet would run. In SARIF, accepted findings and findings that do not affect the image are suppressed.
Links lead to advisories; in files from a server, they lead to its console. If the exit status is not 0, the output is not complete.

Examples:
  atrium export findings --group acme/shop --format csv --severity critical --severity high > findings.csv
  atrium export findings --group acme --updated-since 2026-11-21T00:00:00Z | jq -r .vulnerabilityId
  atrium export findings --group UID --format sarif > findings.sarif`
}

func (c *exportFindingsCommand) run(ctx context.Context, p program) error {
	if c.URL != "" {
		query := queryOf("updatedSince", c.UpdatedSince, "firstSeenSince", c.FirstSeenSince)
		for _, word := range c.Severity {
			query.Add("severities", strings.ToUpper(word))
		}
		for _, word := range c.State {
			query.Add("states", strings.ToUpper(word))
		}
		for name, isSet := range map[string]bool{"knownExploited": c.KnownExploited, "fixable": c.Fixable} {
			if isSet {
				query.Set(name, "true")
			}
		}
		return c.downloadList(ctx, p, export.Findings.Name, query)
	}
	filter := &inventory.FindingFilter{
		Severities: valuesOf[core.SeverityRating](c.Severity, severityPrefix), States: valuesOf[inventory.FindingState](c.State, statePrefix),
	}
	filter.UpdatedSince, _ = parseTime(c.UpdatedSince) // check has parsed them before
	filter.FirstSeenSince, _ = parseTime(c.FirstSeenSince)
	if c.KnownExploited {
		filter.KnownExploited = &c.KnownExploited
	}
	if c.Fixable {
		filter.Fixable = &c.Fixable
	}
	return runExport(ctx, p, c.exportFlags, export.Findings, filter, func(db *database) exporter[*reports.ExportedFinding, *inventory.FindingFilter] {
		return db.Exports.ReadFindings
	})
}

type exportPackagesCommand struct {
	exportFlags
	Name      []string `placeholder:"NAME" help:"Only packages with this name; may be repeated."`
	Ecosystem []string `placeholder:"NAME" help:"Only packages of this ecosystem, such as npm, Debian or Debian:12; may be repeated."`
}

func (c *exportPackagesCommand) check(f *faults) { c.exportFlags.check(f, export.Packages.Formats) }

// Help returns the detailed help.
func (c *exportPackagesCommand) Help() string {
	return `Prints the packages in images, one line for each version: its package, ecosystem, version, purl and licenses. From a server ('atrium login' or
--url), you get the packages that you may see. From a database, you get all of them, and servers may use it meanwhile. If the exit status is not 0,
the output is not complete.

Examples:
  atrium export packages --group acme --format csv > packages.csv
  atrium export packages --group UID --ecosystem npm | jq -r .purl`
}

func (c *exportPackagesCommand) run(ctx context.Context, p program) error {
	if c.URL != "" {
		return c.downloadList(ctx, p, export.Packages.Name, url.Values{"names": c.Name, "ecosystems": c.Ecosystem})
	}
	filter := &inventory.PackageFilter{Names: c.Name, Ecosystems: c.Ecosystem}
	return runExport(ctx, p, c.exportFlags, export.Packages, filter, func(db *database) exporter[*reports.ExportedVersion, *inventory.PackageFilter] {
		return db.Exports.ReadPackages
	})
}

// downloadList prints a list of a server.
func (c *exportFlags) downloadList(ctx context.Context, p program, name string, query url.Values) error {
	client, err := c.client.client(ctx)
	if err != nil {
		return err
	}
	within, err := findGroup(ctx, resourceClient{client}, c.Group)
	if err != nil {
		return err
	}
	query.Set("within", within)
	query.Set("format", c.Format)
	return client.download(ctx, p, "export/"+name, query)
}

// An exporter is an operation that yields all rows of a list.
type exporter[T, F any] func(context.Context, reports.ExportRequest[F], func([]T) error) error

// runExport prints a list.
func runExport[T, F any](ctx context.Context, p program, c exportFlags, list export.List[T], filter F, from func(*database) exporter[T, F]) error {
	db, err := c.openExisting(ctx, platform.Options{NoSecrets: true})
	if err != nil {
		return err
	}
	defer db.close()
	ctx = core.WithActor(ctx, core.NewOperator("export"))
	within, err := findScope(ctx, db, c.Group)
	if err != nil {
		return err
	}
	buffer := bufio.NewWriter(p.stdout)
	file := list.NewWriter(buffer, export.Format(c.Format), "")
	err = from(db)(ctx, reports.ExportRequest[F]{Within: within, Filter: filter}, file.Write)
	if err == nil {
		err = file.Close()
	}
	if err = errors.Join(err, buffer.Flush()); errors.Is(err, syscall.EPIPE) { // the reader of the output has closed it
		return nil
	}
	return err
}

// findScope returns the UID of a group or a repo that is named by its UID or its path.
func findScope(ctx context.Context, db *database, named string) (core.UID, error) {
	if uid := core.UID(named); uid.Valid() {
		return uid, nil
	}
	group, err := db.Groups.GetByPath(ctx, named)
	if err == nil {
		return group.UID, nil
	}
	if repo, err := db.Repos.GetByPath(ctx, named); err == nil {
		return repo.UID, nil
	}
	return "", err
}
