// Command osvcompare compares our matching of packages and advisories with that of osv-scanner, record for record: which
// vulnerability affects which package of a document. Both read the same documents (SPDX and CycloneDX, in folders and
// .tar.gz archives) and the same records of OSV. osv-scanner runs offline, with databases made of the records.
//
// Differences for a known reason are counted; others are printed, and make it fail.
//
//	osvcompare [-modules N] [-made] [-keep FOLDER] FEED... -- DOCUMENTS...
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	log.SetFlags(0)
	modules := flag.Int("modules", 0, "also compare documents made of so many modules of the module cache, those with most requirements")
	made := flag.Bool("made", false, "also compare records that are made around the versions of every package of the documents")
	keep := flag.String("keep", "", "keep the documents and databases in this `folder`")
	flag.Parse()
	feeds, paths := split(flag.Args())
	if len(feeds) == 0 || len(paths) == 0 {
		log.Fatal("Name at least one feed and one folder or archive of documents: osvcompare FEED... -- DOCUMENTS...")
	}
	if err := compare(context.Background(), feeds, paths, *modules, *made, *keep); err != nil {
		fmt.Fprintln(os.Stderr, err) // osv-scanner takes the log for itself
		os.Exit(1)
	}
}

// split divides arguments at "--".
func split(arguments []string) (before, after []string) {
	i := slices.Index(arguments, "--")
	if i < 0 {
		return arguments, nil
	}
	return arguments[:i], arguments[i+1:]
}

func compare(ctx context.Context, feeds, paths []string, modules int, made bool, folder string) error {
	if folder == "" {
		var err error
		if folder, err = os.MkdirTemp("", "osvcompare"); err != nil {
			return err
		}
		defer os.RemoveAll(folder)
	}
	documents, err := readDocuments(paths)
	if err != nil {
		return err
	}
	ofModules, err := documentsOfModules(modules)
	if err != nil {
		return err
	}
	documents = append(documents, ofModules...)
	if made {
		into := filepath.Join(folder, "made")
		if err := writeMade(into, documents); err != nil {
			return err
		}
		feeds = append(feeds, into)
	}
	records, err := readFeeds(ctx, feeds)
	if err != nil {
		return err
	}
	theirs, err := newScanner(folder, records, documents)
	if err != nil {
		return err
	}
	report := report{differences: map[string]int{}, ecosystems: map[string]int{}}
	for _, d := range documents {
		found, err := theirs.scan(d)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s is left out: osv-scanner: %v\n", d.name, err)
			continue
		}
		report.add(d, records.match(d), found)
	}
	report.print(len(records.documents))
	if len(report.unexplained) > 0 {
		return errors.New("there are differences without a known reason")
	}
	return nil
}

// A report counts what was compared.
type report struct {
	documents, packages, equal int
	ecosystems                 map[string]int // equal matches
	differences                map[string]int // by reason
	unexplained                []string
}

// add compares the matches of a document.
func (r *report) add(d document, ours map[key]match, theirs map[key]bool) {
	r.documents++
	r.packages += len(d.Packages)
	for k, m := range ours {
		switch {
		case theirs[k]:
			r.equal++
			r.ecosystems[m.ecosystem]++
		case m.reason != "":
			r.differences["only ours: "+m.reason]++
		default:
			r.unexplained = append(r.unexplained, fmt.Sprintf("%s: only ours: %s %s", d.name, k.purl, k.vulnerability))
		}
	}
	for k := range theirs {
		if _, found := ours[k]; found {
			continue
		}
		if reason := d.whyNot(k); reason != "" {
			r.differences["only osv-scanner's: "+reason]++
		} else {
			r.unexplained = append(r.unexplained, fmt.Sprintf("%s: only osv-scanner's: %s %s", d.name, k.purl, k.vulnerability))
		}
	}
}

func (r *report) print(records int) {
	fmt.Printf("%d documents with %d packages, %d records: %d matches are equal\n", r.documents, r.packages, records, r.equal)
	for _, name := range slices.Sorted(maps.Keys(r.ecosystems)) {
		fmt.Printf("%8d of %s\n", r.ecosystems[name], name)
	}
	for _, reason := range slices.Sorted(maps.Keys(r.differences)) {
		fmt.Printf("%8d %s\n", r.differences[reason], reason)
	}
	slices.Sort(r.unexplained)
	for _, difference := range r.unexplained {
		fmt.Println(difference)
	}
}
