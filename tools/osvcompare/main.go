// Command osvcompare compares the findings of Atrium with those of osv-scanner, record for record: which vulnerability
// affects which package of a document. Both read the same documents (SPDX and CycloneDX, in folders and .tar.gz archives)
// and the same records of OSV.
//
// Atrium imports the documents into a store, some before the records and some after them, in a random order. Then it is asked
// at its GraphQL endpoint. osv-scanner runs offline, with databases made of the records.
//
// Each difference needs a reason that is proven: osv-scanner is asked again about the same package without what the reason
// says is its cause, or an oracle (dpkg, rpm, semantic versions) is asked. Differences without a reason make it fail.
//
// It also imports the images of the documents that name their source packages in the forms of several generators, in several
// orders, and compares their findings with those that dpkg and rpm expect.
//
//	osvcompare [-modules N] [-made] [-database URL] [-seed N] [-keep FOLDER] FEED... -- DOCUMENTS...
//
// The files:
//
//	documents.go   reads documents, and names their generators
//	made.go        makes records around the versions of the packages of documents
//	world.go       imports documents and records into a store, and asks the GraphQL endpoint
//	scanner.go     runs osv-scanner, and asks its matcher about a single package
//	compare.go     compares the results, and reports
//	reasons.go     the reasons of differences, with their proofs
//	oracle.go      evaluates records by the schema of OSV in the orders of dpkg, rpm and semantic versions
//	images.go      compares images in the forms of several generators with the oracle
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// Options are the settings of a comparison.
type options struct {
	feeds, documents []string
	modules          int
	made             bool
	database         string
	seed             uint64
	keep             string
}

func main() {
	log.SetFlags(0)
	var o options
	flag.IntVar(&o.modules, "modules", 0, "also compare documents made of so many modules of the module cache, those with most requirements")
	flag.BoolVar(&o.made, "made", false, "also compare records that are made around the versions of every package of the documents")
	flag.StringVar(&o.database, "database", "", "import into this empty PostgreSQL database (`URL`) instead of a temporary SQLite file")
	flag.Uint64Var(&o.seed, "seed", 0, "`number` that decides the orders of the imports; 0 means a random one")
	flag.StringVar(&o.keep, "keep", "", "keep the documents and databases in this `folder`")
	flag.Parse()
	o.feeds, o.documents = split(flag.Args())
	if len(o.feeds) == 0 || len(o.documents) == 0 {
		log.Fatal("Name at least one feed and one folder or archive of documents: osvcompare FEED... -- DOCUMENTS...")
	}
	if err := o.run(context.Background()); err != nil {
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

var errDifferences = errors.New("there are differences without a reason")

func (o options) run(ctx context.Context) error {
	if o.keep == "" {
		var err error
		if o.keep, err = os.MkdirTemp("", "osvcompare"); err != nil {
			return err
		}
		defer os.RemoveAll(o.keep)
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()
	}
	fmt.Printf("Orders of the imports: -seed=%d\n", o.seed)
	documents, err := readDocuments(o.documents)
	if err != nil {
		return err
	}
	ofModules, err := documentsOfModules(o.modules)
	if err != nil {
		return err
	}
	documents = append(documents, ofModules...)
	feeds := o.feeds
	if o.made {
		into := filepath.Join(o.keep, "made")
		if err := writeMade(into, "MADE", packagesOf(documents)); err != nil {
			return err
		}
		feeds = append(slices.Clone(feeds), into)
	}
	records, err := readFeeds(ctx, feeds)
	if err != nil {
		return err
	}
	oracle, err := newOracle()
	if err != nil {
		return err
	}
	defer oracle.close()
	w, err := openWorld(ctx, o.keep, o.database)
	if err != nil {
		return err
	}
	defer w.close()
	imagesErr := compareImages(ctx, o, w, oracle, documents)
	if imagesErr != nil && !errors.Is(imagesErr, errDifferences) {
		return imagesErr
	}
	err = compareDocuments(ctx, o, w, oracle, records, documents, feeds)
	if err == nil {
		err = imagesErr
	}
	return err
}
