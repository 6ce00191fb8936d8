package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"
)

// An oracle knows what is affected without the code of Atrium and of osv-scanner: by the schema of OSV, in the orders of the
// package managers themselves.
type oracle struct {
	known map[[3]string]int // results of comparisons, by order and versions
	rpm   *exec.Cmd
	to    io.WriteCloser
	from  *bufio.Reader
}

// compareRPM compares the versions of each line, in a process that answers as many lines as it is asked.
const compareRPM = `%{lua:
for line in io.lines() do
	local at = line:find(" ", 1, true)
	io.stdout:write(rpm.vercmp(line:sub(1, at - 1), line:sub(at + 1)), "\n")
	io.stdout:flush()
end
}`

func newOracle() (*oracle, error) {
	for _, program := range []string{"dpkg", "rpm"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("the oracle needs dpkg and rpm; install the package %s: %w", program, err)
		}
	}
	o := &oracle{known: map[[3]string]int{}, rpm: exec.Command("rpm", "--eval", compareRPM)}
	var err error
	if o.to, err = o.rpm.StdinPipe(); err != nil {
		return nil, err
	}
	from, err := o.rpm.StdoutPipe()
	if err != nil {
		return nil, err
	}
	o.from = bufio.NewReader(from)
	if err := o.rpm.Start(); err != nil {
		return nil, err
	}
	if c, err := o.compareRPM("1:1-1", "2-1"); err != nil || c <= 0 {
		return nil, errors.Join(err, errors.New("this version of rpm does not compare epochs"))
	}
	return o, nil
}

func (o *oracle) close() {
	_ = o.to.Close()
	_ = o.rpm.Wait()
}

// The orders that the oracle knows.
const (
	byDpkg   = "dpkg"
	byRPM    = "rpm"
	bySemver = "semantic versions (golang.org/x/mod/semver)"
	// A number after a hyphen is a revision of Bitnami, which is later than the version.
	byRevision = "semantic versions with revisions"
)

// nameOf returns the order of an ecosystem that the oracle knows, or "".
func (o *oracle) nameOf(ecosystem string) string {
	switch withoutRelease(ecosystem) {
	case "Debian", "Ubuntu":
		return byDpkg
	case "Red Hat", "AlmaLinux", "Rocky Linux", "Fedora", "CentOS", "Amazon Linux", "SUSE", "openSUSE", "Mageia", "openEuler", "Oracle Linux", "Photon OS", "Azure Linux":
		return byRPM
	case "Go", "npm", "crates.io", "GitHub Actions":
		return bySemver
	case "Bitnami":
		return byRevision
	default:
		return ""
	}
}

// affects reports whether a record affects a version of a package. It knows nothing if it cannot compare the versions.
func (o *oracle) affects(r *record, ecosystem, name, version string) (is, isKnown bool) {
	order := o.nameOf(ecosystem)
	if order == "" || version == "" {
		return false, false
	}
	var text struct {
		Affected []struct {
			Package  struct{ Ecosystem, Name string }
			Versions []string
			Ranges   []struct {
				Type   string
				Events []map[string]string
			}
		}
	}
	if json.Unmarshal(r.text, &text) != nil {
		return false, false
	}
	isKnown = false
	for _, a := range text.Affected {
		if nameOf(a.Package.Ecosystem, a.Package.Name) != nameOf(ecosystem, name) || !sameRelease(a.Package.Ecosystem, ecosystem) {
			continue
		}
		isListed := slices.ContainsFunc(a.Versions, func(v string) bool { return strings.TrimPrefix(v, "v") == strings.TrimPrefix(version, "v") })
		isKnown, is = isKnown || len(a.Versions) > 0, is || isListed
		for _, events := range a.Ranges {
			if events.Type == "GIT" {
				continue
			}
			in, err := o.contains(order, events.Events, version)
			if err != nil {
				return false, false
			}
			isKnown, is = true, is || in
		}
	}
	return is, isKnown
}

// An event is the version at which a range begins or ends.
type event struct{ kind, version string }

// contains evaluates the events of a range, as the schema of OSV says.
func (o *oracle) contains(order string, all []map[string]string, version string) (is bool, failed error) {
	var events []event
	for _, one := range all {
		for kind, v := range one {
			if kind == "limit" {
				return false, errors.New("limits are not evaluated")
			}
			events = append(events, event{kind, v})
		}
	}
	compare := func(a, b string) int {
		switch {
		case a == b:
			return 0
		case a == "0":
			return -1
		case b == "0":
			return 1
		}
		c, err := o.compare(order, a, b)
		if err != nil {
			failed = err
		}
		return c
	}
	slices.SortStableFunc(events, func(a, b event) int { return compare(a.version, b.version) })
	for _, e := range events {
		switch c := compare(version, e.version); {
		case e.kind == "introduced" && (c >= 0 || e.version == "0"):
			is = true
		case e.kind == "fixed" && c >= 0, e.kind == "last_affected" && c > 0:
			is = false
		}
	}
	return is, failed
}

// compare compares two versions in an order.
func (o *oracle) compare(order, a, b string) (c int, err error) {
	key := [3]string{order, a, b}
	if c, found := o.known[key]; found {
		return c, nil
	}
	switch order {
	case byDpkg:
		c, err = compareDpkg(a, b)
	case byRPM:
		c, err = o.compareRPM(a, b)
	case byRevision:
		c, err = compareRevisions(a, b)
	default:
		c, err = compareSemver(a, b)
	}
	if err == nil {
		o.known[key] = c
	}
	return c, err
}

func compareDpkg(a, b string) (int, error) {
	for relation, result := range map[string]int{"lt": -1, "eq": 0, "gt": 1} {
		err := exec.Command("dpkg", "--compare-versions", a, relation, b).Run()
		if err == nil {
			return result, nil
		}
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
			return 0, err
		}
	}
	return 0, fmt.Errorf("dpkg does not compare %q and %q", a, b)
}

func (o *oracle) compareRPM(a, b string) (int, error) {
	if strings.ContainsAny(a+b, " \n") || a == "" || b == "" {
		return 0, errors.New("no version")
	}
	if _, err := fmt.Fprintf(o.to, "%s %s\n", a, b); err != nil {
		return 0, err
	}
	line, err := o.from.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(line))
}

func compareSemver(a, b string) (int, error) {
	a, b = "v"+strings.TrimPrefix(a, "v"), "v"+strings.TrimPrefix(b, "v")
	if !semver.IsValid(a) || !semver.IsValid(b) {
		return 0, errors.New("no semantic version")
	}
	return semver.Compare(a, b), nil
}

func compareRevisions(a, b string) (int, error) {
	a, first := cutRevision(a)
	b, second := cutRevision(b)
	c, err := compareSemver(a, b)
	return cmp.Or(c, cmp.Compare(first, second)), err
}

// cutRevision divides a version into that of the program and its revision, which is -1 if there is none.
func cutRevision(version string) (string, int) {
	if before, after, found := strings.Cut(version, "-"); found {
		if revision, err := strconv.Atoi(after); err == nil {
			return before, revision
		}
	}
	return version, -1
}
