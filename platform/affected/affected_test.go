package affected

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// parseSet reads a set from JSON. A text that is no set has the events of one range.
func parseSet(t *testing.T, text string) (s Set) {
	t.Helper()
	if text != "{}" && !strings.HasPrefix(text, `{"ranges"`) && !strings.HasPrefix(text, `{"versions"`) {
		text = `{"ranges": [{"type": "ECOSYSTEM", "events": [` + text + `]}]}`
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// Events in short.
const (
	fromStart = `{"introduced": "0"}`
	endless   = `{"limit": "*"}`
)

func TestAVersionIsAffectedAsTheSchemaSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set       string
		ecosystem string
		in, out   string // versions that are affected, and others
	}{
		"until the fix":              {fromStart + `, {"fixed": "1.2"}`, "npm", "0 0.0.0-alpha 1.1.9 1.2.0-rc.1", "1.2 1.2.0 1.2.1 2"},
		"never fixed":                {fromStart, "npm", "0.0.1 9", ""},
		"from the first version on":  {`{"introduced": "1.0"}`, "npm", "1.0 9", "0.9 1.0.0-rc1"},
		"the last affected version":  {`{"introduced": "1.0"}, {"last_affected": "1.5"}`, "npm", "1.0 1.5 1.5.0", "1.5.1 2"},
		"one version":                {`{"last_affected": "2.0"}, {"introduced": "2.0"}`, "npm", "2.0.0", "1.9 2.0.1"},
		"several branches":           {`{"introduced": "1"}, {"fixed": "1.5"}, {"introduced": "2"}, {"fixed": "2.3"}`, "npm", "1.4 2.0 2.2.9", "0.9 1.5 1.9 2.3"},
		"unsorted":                   {`{"fixed": "2.3"}, {"introduced": "10"}, {"introduced": "2"}, {"fixed": "1.5"}, {"introduced": "0"}`, "npm", "1.4 2.0 2.2.9 10.1", "1.5 1.9 2.3 9"},
		"introduced twice":           {fromStart + `, {"introduced": "1.0"}, {"fixed": "2"}`, "npm", "0.1 1.5", "2"},
		"fixed twice":                {fromStart + `, {"fixed": "1"}, {"fixed": "2"}`, "npm", "0.1", "1 1.5 2"},
		"both in one event":          {`{"introduced": "1.0", "fixed": "2.0"}`, "npm", "1.0 1.9", "0.9 2.0"},
		"no introduction":            {`{"fixed": "2.0"}`, "npm", "0.1 1.9", "2.0"},
		"no event":                   {``, "npm", "0.1 9", ""},
		"an empty range":             {`{"introduced": "2.0"}, {"fixed": "2.0"}`, "npm", "", "1 2 3"},
		"never affected":             {fromStart + `, {"fixed": "0"}`, "Debian:12", "", "0 1.0-1"},
		"a limit":                    {fromStart + `, {"limit": "3.0"}`, "npm", "2.9", "3.0 4"},
		"a limit before the fix":     {`{"introduced": "1"}, {"fixed": "5"}, {"limit": "3"}`, "npm", "2.9", "3 4 5"},
		"two limits":                 {fromStart + `, {"limit": "4.0"}, {"limit": "3.0"}`, "npm", "3.5", "4.0"},
		"no limit":                   {fromStart + `, {"limit": "3.0"}, {"limit": "*"}`, "npm", "3.5 9", ""},
		"any version before a limit": {`{"introduced": "2"}, ` + endless + `, {"fixed": "3"}`, "npm", "2.5", "1 3"},
		"listed":                     {`{"versions": ["1.0", "v1.2", "latest"]}`, "npm", "1.0 v1.0 1.2 v1.2 latest", "1.0.0 1.1 v v2"},
		"listed beside a range":      {`{"versions": ["3.0"], "ranges": [{"type": "SEMVER", "events": [{"introduced": "1"}, {"fixed": "2"}]}]}`, "npm", "1.5 3.0", "2 3.1"},
		"another range":              {`{"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}, {"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1"}]}, {"type": "ECOSYSTEM", "events": [{"introduced": "3"}]}]}`, "npm", "0.5 3", "1 2"},
		"commits only":               {`{"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]}`, "npm", "", "0 1 c0ffee"},
		"no type":                    {`{"ranges": [{"events": [{"introduced": "0"}, {"fixed": "1-2"}]}]}`, "Debian", "1-1", "1-2 1-10"},
		"semantic versioning":        {`{"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.0.0"}]}]}`, "Android", "0.9 1.0.0-1", "1.0 1.0.1"},
		"a revision of Bitnami":      {`{"ranges": [{"type": "SEMVER", "events": [{"introduced": "2.0.0-0"}, {"fixed": "2.4.58"}]}]}`, "Bitnami", "2.0.0 2.4.57-9 2.4.58-rc1", "2.4.58 2.4.58-0 2.4.58-1 2.4.59"},
		"nothing":                    {`{}`, "npm", "", "1.0"},
		"an unknown ecosystem":       {`{"versions": ["13"], "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}]}`, "Android", "13", "12 14"},
		"an unreadable event":        {`{"introduced": "0"}, {"fixed": "<unfixed>"}`, "Debian", "", "1.0"},
		"unreadable versions":        {fromStart, "Go", "1.0 v1.0 1.22rc1", "(devel) unknown go1.20 =1.0 ^1.0 v " + strings.Repeat("9", maxVersion+1)},
		"unreadable versions, Maven": {fromStart, "Maven", "1.0 r09 Finchley.SR1", "unspecified ${project.version}"},
		"a version of any length":    {fromStart + `, {"fixed": "2"}`, "npm", "1." + strings.Repeat("9", maxVersion-2), strings.Repeat("9", maxVersion)},
	} {
		s := parseSet(t, c.set)
		for _, form := range []Set{s, s.Normalize(c.ecosystem), s.Normalize(c.ecosystem).Normalize(c.ecosystem)} {
			for _, version := range strings.Fields(c.in) {
				if !form.Affects(c.ecosystem, version) {
					t.Errorf("%s: %+v does not affect %.40s, want it to", name, form, version)
				}
			}
			for _, version := range append(strings.Fields(c.out), "") {
				if form.Affects(c.ecosystem, version) {
					t.Errorf("%s: %+v affects %.40q, want it not to", name, form, version)
				}
			}
		}
	}
}

// ordered has versions of every ecosystem of OSV with an order, in that order. Those between
// commas are equal.
var ordered = map[string]string{
	"AlmaLinux:9":                     "1.0~rc1-1.el9 1.0-1.el9 1.0-1.el9_2 1.0-10.el9 1:0.5-1.el9",
	"Alpaquita:23":                    "1.2.3_rc1-r0 1.2.3-r0 1.2.3-r1 1.2.3_p1-r0 1.2.10-r0",
	"Alpine:v3.18":                    "1.2.3_alpha-r0 1.2.3-r0 1.2.3-r10 1.2.3a-r0 1.10-r0",
	"Azure Linux:3":                   "1.0-1.azl3 1.0-10.azl3 1.1-1.azl3",
	"BellSoft Hardened Containers:23": "1.0-r0 1.0-r1",
	"Bioconductor":                    "1.9.0 1.10.0",
	"Bitnami":                         "1.9.0-rc1 1.9.0,1.9.0-0,v1.9.0 1.9.0-1 1.9.0-2 1.9.0-10 1.10.0",
	"Chainguard":                      "1.9-r0 1.10-r0 1.10-r2",
	"CleanStart":                      "1.9-r0 1.10-r0",
	"ConanCenter":                     "1.9.0 1.10.0",
	"CRAN":                            "1.2,1-2 1.2.3 1.10",
	"crates.io":                       "1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0,1.0.0+build 1.0.10",
	"Debian:12":                       "1.0~beta1-1 1.0-1 1.0-1+deb12u1 1.0-1+deb12u10 1.0-2 1:0.1-1",
	"Docker Hardened Images":          "1.9.0 1.10.0",
	"Echo":                            "1.0~rc1-1 1.0-1",
	"GHC":                             "9.2.1 9.10.1",
	"GitHub Actions":                  "v1.9.0 v1.10.0",
	"Go":                              "v0.0.0-20200101000000-abcdefabcdef 1.2.3-pre v1.2.3,1.2.3,1.2.3+incompatible 1.2.10",
	"Hackage":                         "1.9 1.9.0 1.10",
	"Hex":                             "1.0.0-rc.1 1.0.0 1.0.1",
	"Julia":                           "1.9.0 1.10.0",
	"Kubernetes":                      "v1.9.0 v1.10.0-alpha.1 v1.10.0",
	"Mageia:9":                        "1.0-1.mga9 1.0-1.1.mga9 1.0-2.mga9",
	"Maven":                           "1.0-alpha-1 1.0-beta1 1.0-SNAPSHOT 1.0,1.0.0,1.0-ga 1.0-sp 1.0-jre 1.0.1 1.10",
	"Maven:https://repo.spring.io":    "1.9 1.10",
	"MinimOS":                         "1.9-r0 1.10-r0",
	"npm":                             "1.0.0-rc.9 1.0.0-rc.10 1.0.0 1.0.10",
	"NuGet":                           "1.0.0-Beta,1.0.0-beta 1.0,1.0.0.0 1.0.0.1 1.0.10",
	"opam":                            "1.0~beta 1.0 1.0+ocaml",
	"openEuler:22.03-LTS":             "1.0-1.oe2203 1.0-2.oe2203",
	"openSUSE:Leap 15.5":              "1.0-150500.1.1 1.0-150500.10.1",
	"Packagist":                       "1.0.0-beta1 1.0.0-RC1 v1.0.0,1.0.0 1.0.10",
	"Photon OS:5.0":                   "1.0-1.ph5 1.0-2.ph5",
	"Pub":                             "1.0.0-dev 1.0.0 1.0.0+1 1.0.1",
	"PyPI":                            "1.0.dev1 1.0a1 1.0rc1,1.0c1 1.0,1.0.0 1.0+local 1.0.post1,1.0-1 1.10 1!0.1",
	"Red Hat:enterprise_linux:9::crb": "1.0-1.el9 1.0-1.el9_2.1 1.0-2.el9 2:0.1-1.el9",
	"Rocky Linux:9":                   "1.0-1.el9 1.0-2.el9",
	"Root:Alpine:3.18":                "1.0-r1 1.0-r10",
	"Root:PyPI":                       "1.0rc1 1.0",
	"RubyGems":                        "1.0.0.pre1 1.0.0 1.0.0.1 1.0.10",
	"SUSE:Linux Enterprise Server 15": "1.0-150000.1.1 1.0-150000.3.1",
	"SwiftURL":                        "1.9.0 1.10.0",
	"Ubuntu:22.04:LTS":                "1.0-1ubuntu1~22.04 1.0-1ubuntu1 1.0-1ubuntu1.1 1.0-1ubuntu1.10",
	"VSCode":                          "1.9.0 1.10.0",
	"Wolfi":                           "1.9-r0 1.10-r0",
}

func TestVersionsAreComparedInTheOrderOfTheirEcosystem(t *testing.T) {
	t.Parallel()
	for ecosystem, versions := range ordered {
		places := strings.Fields(versions)
		for i, earlier := range places {
			for j, later := range places {
				for _, a := range strings.Split(earlier, ",") {
					for _, b := range strings.Split(later, ",") {
						checkOrder(t, ecosystem, a, b, i-j)
					}
				}
			}
		}
	}
}

// checkOrder checks that Compare and ranges agree about two versions.
func checkOrder(t *testing.T, ecosystem, a, b string, want int) {
	t.Helper()
	got, err := Compare(ecosystem, a, b)
	if err != nil || got < 0 != (want < 0) || got > 0 != (want > 0) {
		t.Errorf("%s: compared %s and %s: %d, %v, want %d", ecosystem, a, b, got, err, want)
	}
	fixedInB := parseSet(t, fmt.Sprintf(`{"introduced": "0"}, {"fixed": %q}`, b))
	if affects := fixedInB.Affects(ecosystem, a); affects != (want < 0) {
		t.Errorf("%s: %s is affected before %s: %t, want %t", ecosystem, a, b, affects, want < 0)
	}
}

// Nothing can be compared in these.
func TestEcosystemsWithoutAnOrderAreNotCompared(t *testing.T) {
	t.Parallel()
	for _, ecosystem := range []string{"", ":", "Android", "FreeBSD", "Linux", "OSS-Fuzz", "TuxCare", "npm ", "debian:12", "Root", "Root:", "GIT"} {
		if c, err := Compare(ecosystem, "1", "2"); err == nil {
			t.Errorf("%q: compared 1 and 2: %d, want an error", ecosystem, c)
		}
	}
	for _, version := range []string{"", "latest", strings.Repeat("1", maxVersion+1)} {
		for _, pair := range [][2]string{{version, "1"}, {"1", version}} {
			if c, err := Compare("npm", pair[0], pair[1]); err == nil {
				t.Errorf("npm: compared %.20q and %.20q: %d, want an error", pair[0], pair[1], c)
			}
		}
	}
}

// GitHub and others write the range of a manifest where a version should be. It decides nothing.
func TestARangeIsNoVersion(t *testing.T) {
	t.Parallel()
	for _, ecosystem := range []string{"PyPI", "npm", "RubyGems", "Maven", "Packagist", "NuGet", "Go", "Debian:12", "GitHub Actions"} {
		for _, version := range []string{">= 1.0", "^1.0.0", "~> 1.0", "~1.0", "=1.0", "!=1.0", "1.*", "4.*.*", "[1.0,2.0)", "1.0.0 - 2.0.0", "1.0||2.0", "1.0,<2.0"} {
			if s := parseSet(t, fromStart); s.Matcher(ecosystem).Decides(version) {
				t.Errorf("%s decides by %q", ecosystem, version)
			}
		}
		if s := parseSet(t, fromStart); !s.Matcher(ecosystem).Decides("1.0~rc1") && ecosystem == "Debian:12" || !s.Matcher(ecosystem).Decides("1.0") {
			t.Errorf("%s does not decide by 1.0", ecosystem)
		}
	}
}

func TestASetThatCannotDecideSaysSo(t *testing.T) {
	t.Parallel()
	listed := `{"versions": ["13"], "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "15"}]}]}`
	for _, c := range []struct {
		set, ecosystem, version string
		known, decides          bool
	}{
		{`{}`, "npm", "1", false, false},
		{`{"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]}`, "npm", "1", false, false},
		{`{"versions": ["1"]}`, "Android", "2", true, true},
		{`{"versions": ["1"]}`, "npm", "", true, true},
		{fromStart, "npm", "1", true, true},
		{fromStart, "npm", "", true, false},
		{fromStart, "Go", "(devel)", true, false},
		{fromStart, "Android", "1", true, false},
		{`{"fixed": "<unfixed>"}`, "Debian", "1", true, false},
		{listed, "Android", "13", true, true},
		{listed, "Android", "14", true, false},
		{`{"versions": ["13"], "ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]}`, "Android", "14", true, true},
	} {
		s := parseSet(t, c.set)
		if got := s.IsKnown(); got != c.known {
			t.Errorf("%s is known: %t, want %t", c.set, got, c.known)
		}
		if got := s.Matcher(c.ecosystem).Decides(c.version); got != c.decides {
			t.Errorf("%s of %s decides %q: %t, want %t", c.set, c.ecosystem, c.version, got, c.decides)
		}
	}
}

func TestFixesComeInTheOrderInWhichTheyHelp(t *testing.T) {
	t.Parallel()
	branches := `{"introduced": "1"}, {"fixed": "1.10"}, {"introduced": "2"}, {"fixed": "2.3"}, {"introduced": "3"}, {"last_affected": "3.5"}, {"introduced": "4"}, {"fixed": "4.1"}`
	twoRanges := `{"ranges": [{"type": "SEMVER", "events": [{"introduced": "2.0"}, {"fixed": "2.9"}]}, {"type": "SEMVER", "events": [{"introduced": "1.0"}, {"fixed": "1.7"}]}]}`
	overlapping := `{"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.5"}]}, {"type": "SEMVER", "events": [{"introduced": "1.4"}, {"fixed": "1.7"}]}]}`
	ownLater := `{"ranges": [{"type": "SEMVER", "events": [{"introduced": "1.5"}, {"fixed": "1.6"}]}, {"type": "SEMVER", "events": [{"introduced": "1.0"}, {"fixed": "1.9"}]}]}`
	for _, c := range []struct{ set, ecosystem, version, want string }{
		{branches, "npm", "1.2", "1.10 2.3 4.1"},
		{branches, "npm", "2.2", "2.3 4.1"},
		{branches, "npm", "3.1", "4.1"},
		{branches, "npm", "4.1", ""},
		{branches, "npm", "0.1", "1.10 2.3 4.1"},
		{branches, "npm", "", "1.10 2.3 4.1"},
		{branches, "Android", "1.2", "1.10 2.3 4.1"}, // as the feed has them
		{twoRanges, "npm", "1.1", "1.7 2.9"},
		{twoRanges, "npm", "2.1", "2.9"},
		{overlapping, "npm", "1.0", "1.7"},
		{ownLater, "npm", "1.2", "1.9"},
		{`{"ranges": [{"type": "SEMVER", "events": [{"introduced": "2"}, {"fixed": "2.9"}]}, {"type": "SEMVER", "events": [{"introduced": "2.1"}, {"fixed": "3.9"}]}, {"type": "SEMVER", "events": [{"introduced": "3"}, {"fixed": "3.5"}]}]}`, "npm", "2.2", "3.9"},
		{`{"fixed": "1.5"}, {"fixed": "1.5"}`, "npm", "1.0", "1.5"},
		{`{"introduced": "0"}, {"fixed": "1.0-1"}, {"fixed": "1.0-1+deb12u1"}`, "Debian:12", "0.9-1", "1.0-1 1.0-1+deb12u1"},
		{`{"versions": ["1.5"], "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.5"}, {"fixed": "1.6"}]}, {"type": "GIT", "events": [{"introduced": "0"}, {"fixed": "c0ffee"}]}]}`, "npm", "1.0", "1.6"},
		{fromStart, "npm", "1.0", ""},
	} {
		s := parseSet(t, c.set)
		if got := strings.Join(s.FixedVersions(c.ecosystem, c.version), " "); got != c.want {
			t.Errorf("%s: %s %s is fixed in %q, want %q", c.set, c.ecosystem, c.version, got, c.want)
		}
	}
}

func TestTheNormalFormIsSortedAndDistinct(t *testing.T) {
	t.Parallel()
	s := parseSet(t, `{"versions": ["1.10", "1.9", "1.10"], "ranges": [
		{"type": "ECOSYSTEM", "events": [{"fixed": "1.10-1"}, {"limit": "*"}, {"fixed": "1.9-1"}, {"introduced": "1.10", "last_affected": "1.10"}, {"introduced": "0"}]},
		{"type": "GIT", "events": [{"introduced": "0"}]}, {"type": "SEMVER", "events": [{"fixed": "2"}]}, {"type": "ECOSYSTEM", "events": []},
		{"type": "ECOSYSTEM", "events": [{"fixed": "<unfixed>"}, {"introduced": "2"}, {"introduced": "0"}]}]}`)
	before, _ := json.Marshal(s)
	want := Set{Versions: []string{"1.10", "1.9"}, Ranges: []Range{
		{"ECOSYSTEM", []Event{{Introduced: "0"}, {Fixed: "1.9-1"}, {Introduced: "1.10"}, {LastAffected: "1.10"}, {Fixed: "1.10-1"}, {Limit: "*"}}},
		{"SEMVER", []Event{{Introduced: "0"}, {Fixed: "2"}}}, {"ECOSYSTEM", []Event{{Introduced: "0"}}},
		{"ECOSYSTEM", []Event{{Introduced: "0"}, {Fixed: "<unfixed>"}, {Introduced: "2"}}},
	}}
	got := s.Normalize("Debian:12")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("normalized to\n%+v\nwant\n%+v", got, want)
	}
	if after, _ := json.Marshal(s); string(after) != string(before) {
		t.Errorf("Normalize changed the set to %s, want it as it was: %s", after, before)
	}
	if again := got.Normalize("Debian:12"); !reflect.DeepEqual(again, got) {
		t.Errorf("normalized again, it is %+v, want %+v", again, got)
	}
	ends := map[bool]string{true: "without", false: "with"}
	for i, noEnd := range []bool{false, false, true, true} {
		if got.Ranges[i].HasNoEnd() != noEnd {
			t.Errorf("%+v is a range %s an end, want one %s", got.Ranges[i], ends[!noEnd], ends[noEnd])
		}
	}
}

func TestAReleaseIsForItsOwnPackages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		advisory, installed string
		want                bool
	}{
		{"npm", "npm", true},
		{"npm", "PyPI", false},
		{"npm", "", false},
		{"Debian:12", "Debian:12", true},
		{"Debian:12", "Debian:11", false},
		{"Debian:12", "Debian:1", false},
		{"Debian", "Debian:12", true},
		{"Debian:12", "Debian", true},
		{"Debian:12", "Ubuntu:12", false},
		{"Alpine:v3.18", "Alpine:v3.18", true},
		{"Alpine:v3.18", "Alpine:v3.1", false},
		{"Ubuntu:22.04:LTS", "Ubuntu:22.04", true},
		{"Ubuntu:22.04:LTS", "Ubuntu:22.04:LTS", true},
		{"Ubuntu:23.10", "Ubuntu:23.10", true},
		{"Ubuntu:22.04:LTS", "Ubuntu:20.04", false},
		{"Ubuntu:Pro:22.04:LTS", "Ubuntu:22.04", false},
		{"Ubuntu:Pro:22.04:LTS", "Ubuntu:22.04:LTS", false},
		{"Ubuntu:Pro:22.04:LTS", "Ubuntu:Pro:22.04:LTS", true},
		{"Ubuntu:Pro:FIPS:22.04:LTS", "Ubuntu:Pro:22.04:LTS", false},
		{"Maven:https://repo.spring.io", "Maven", true},
		{"Red Hat:enterprise_linux:9::baseos", "Red Hat", true},
		{"Red Hat:enterprise_linux:9::baseos", "Red Hat:enterprise_linux:8::baseos", false},
		{"Red Hat:enterprise_linux:9::baseos", "Red Hat:enterprise_linux:9", true},
		{"Red Hat:enterprise_linux:10.0", "Red Hat:enterprise_linux:9", false},
		{"Red Hat:rhel_eus:9.2::appstream", "Red Hat:enterprise_linux:9", true},
		{"Red Hat:openshift:4.14::el8", "Red Hat:enterprise_linux:9", false},
		{"Red Hat:rhel_software_collections:3::el7", "Red Hat:enterprise_linux:7", true},
		{"Red Hat:jboss_core_services:1", "Red Hat:enterprise_linux:9", true},
		{"SUSE:Linux Enterprise Module for Basesystem 15 SP4", "SUSE:Linux Enterprise Server 15 SP4", true},
		{"SUSE:Linux Enterprise Server 15 SP4-LTSS", "SUSE:Linux Enterprise Server 15 SP4", true},
		{"SUSE:Linux Enterprise Server 15 SP3", "SUSE:Linux Enterprise Server 15 SP4", false},
		{"SUSE:Linux Enterprise Server 15-LTSS", "SUSE:Linux Enterprise Server 15 SP4", false},
		{"SUSE:Linux Enterprise Server 12 SP5", "SUSE:Linux Enterprise Server 15 SP4", false},
		{"SUSE:Linux Enterprise Module for Python 3 15 SP5", "SUSE:Linux Enterprise Server 15 SP5", true},
		{"SUSE:Linux Enterprise Module for Containers 12", "SUSE:Linux Enterprise Server 12 SP5", true},
		{"SUSE:Linux Enterprise Micro 5.3", "SUSE:Linux Enterprise Server 15 SP4", false},
		{"SUSE:Linux Enterprise Micro 5.3", "SUSE:Linux Enterprise Micro 5.3", true},
		{"SUSE:Manager Server 4.3", "SUSE:Linux Enterprise Server 15 SP4", true},
		{"openSUSE:Leap 15.5", "openSUSE:Leap 15.6", false},
		{"openEuler:22.03-LTS", "openEuler:22.03", false},
		{"debian:12", "Debian:12", false},
	} {
		if got := SameEcosystem(c.advisory, c.installed); got != c.want {
			t.Errorf("an advisory of %s is for a package of %s: %t, want %t", c.advisory, c.installed, got, c.want)
		}
	}
}

// If one version were looked up in time that grows with the number of events, this test would take minutes.
func TestASetMayHaveVeryManyEvents(t *testing.T) {
	t.Parallel()
	const fixes = 50_000
	var s Set
	s.Ranges = []Range{{Type: "SEMVER"}, {Type: "SEMVER", Events: []Event{{Introduced: "0"}}}}
	for i := range fixes {
		s.Ranges[0].Events = append(s.Ranges[0].Events, Event{Fixed: fmt.Sprint("1.", i)}, Event{Introduced: fmt.Sprint("1.", i, ".5")})
		s.Versions = append(s.Versions, fmt.Sprint("1.", i, ".9"))
	}
	if got := s.FixedVersions("npm", "1.7.9"); got != nil {
		t.Errorf("%d fixes, want none, because the other range affects them", len(got))
	}
	s.Ranges = s.Ranges[:1]
	if got := s.FixedVersions("npm", "1.7.9"); len(got) != fixes-8 || !slices.Equal(got[:2], []string{"1.8", "1.9"}) {
		t.Errorf("%d fixes, want %d from 1.8 on", len(got), fixes-8)
	}
}

// containsByTheSchema is the algorithm of the schema, word for word, over sorted events.
func containsByTheSchema(events []Event, isAtLeast, isMoreThan func(string) bool) bool {
	vulnerable, limited, isBeforeLimit := false, false, false
	for _, e := range events {
		switch {
		case e.Introduced == "0", e.Introduced != "" && isAtLeast(e.Introduced):
			vulnerable = true
		case e.Fixed != "" && isAtLeast(e.Fixed), e.LastAffected != "" && isMoreThan(e.LastAffected):
			vulnerable = false
		case e.Limit != "":
			limited = true
			isBeforeLimit = isBeforeLimit || e.Limit == "*" || !isAtLeast(e.Limit)
		}
	}
	return vulnerable && (!limited || isBeforeLimit)
}

// isOrdered reports whether versions have one order. The order of versions that are against the rules of their
// ecosystem, such as A0 of Alpine, is not transitive. Other texts are left out.
func isOrdered(versions []string, compare func(a, b string) int) bool {
	versions = slices.DeleteFunc(versions, func(v string) bool { return v == "" || v == noLimit })
	slices.SortStableFunc(versions, compare)
	for i, earlier := range versions {
		for _, later := range versions[i+1:] {
			if compare(earlier, later) > 0 || compare(later, earlier) < 0 {
				return false
			}
		}
	}
	return true
}

// Any text may come from a feed or a document.
func FuzzAffects(f *testing.F) {
	f.Add(uint8(0), "1.0", "0", "1.0", "2", "3", "4")
	f.Add(uint8(7), "1.0-1", "1.0~rc1", "1.0+deb12u1", "*", "", "1:2")
	f.Add(uint8(20), "1.0-sp", "1-ga", "-", ".", "1..a", "final")
	ecosystems := make([]string, 0, len(ordered))
	for name := range ordered {
		ecosystems = append(ecosystems, name)
	}
	slices.Sort(ecosystems)
	f.Fuzz(func(t *testing.T, n uint8, version, introduced, fixed, last, limit, again string) {
		ecosystem := ecosystems[int(n)%len(ecosystems)]
		s := Set{Ranges: []Range{{"ECOSYSTEM", []Event{{Introduced: introduced}, {Fixed: fixed}, {LastAffected: last}, {Limit: limit}, {Introduced: again}}}}}
		m, normal := s.Matcher(ecosystem), s.Normalize(ecosystem)
		s.FixedVersions(ecosystem, version)
		if normal.Affects(ecosystem, version) != m.Affects(version) {
			t.Errorf("%s %q: %+v affects it differently when it is normalized: %+v", ecosystem, version, s, normal)
		}
		if !m.Decides(version) {
			return
		}
		compare := func(a, b string) int {
			c, err := Compare(ecosystem, a, b)
			if err != nil {
				t.Errorf("%s: %q and %q: %v, want them compared", ecosystem, a, b, err)
			}
			return c
		}
		if !isOrdered([]string{version, introduced, fixed, last, limit, again}, compare) {
			return
		}
		isAtLeast, isMoreThan := func(v string) bool { return compare(version, v) >= 0 }, func(v string) bool { return compare(version, v) > 0 }
		if want := containsByTheSchema(normal.Ranges[0].Events, isAtLeast, isMoreThan); m.Affects(version) != want {
			t.Errorf("%s %q: %+v affects it: %t, want %t", ecosystem, version, s, !want, want)
		}
	})
}

// What only lists versions, or says which one was the last, does not say that there is no fix.
func TestAVersionLacksAFixIfAllLaterOnesAreAffected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set, ecosystem, version string
		want                    bool
	}{
		"all versions":          {fromStart, "npm", "1.0.0", true},
		"before the first one":  {`{"introduced": "2"}`, "npm", "1.0.0", false},
		"a fix":                 {fromStart + `, {"fixed": "1.2"}`, "npm", "1.0.0", false},
		"after the fix":         {fromStart + `, {"fixed": "0.2"}`, "npm", "1.0.0", false},
		"back after the fix":    {fromStart + `, {"fixed": "0.2"}, {"introduced": "0.5"}`, "npm", "1.0.0", true},
		"a fix in between":      {fromStart + `, {"fixed": "1.2"}, {"introduced": "2"}`, "npm", "1.0.0", false},
		"the last affected one": {fromStart + `, {"last_affected": "1.2"}`, "npm", "1.0.0", false},
		"a limit":               {fromStart + `, {"limit": "3.0"}`, "npm", "1.0.0", false},
		"no limit":              {fromStart + `, ` + endless, "npm", "1.0.0", true},
		"a limit and none":      {fromStart + `, {"limit": "3.0"}, ` + endless, "npm", "1.0.0", true},
		"listed":                {`{"versions": ["1.0.0"]}`, "npm", "1.0.0", false},
		"listed in a range":     {`{"versions": ["1.0.0"], "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}]}`, "npm", "1.0.0", true},
		"a range with a fix":    {`{"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}, {"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2"}]}]}`, "npm", "1.0.0", false},
		"a range elsewhere":     {`{"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}, {"type": "ECOSYSTEM", "events": [{"introduced": "5"}, {"fixed": "6"}]}]}`, "npm", "1.0.0", true},
		"a range of commits":    {`{"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]}`, "npm", "1.0.0", false},
		"no version":            {fromStart, "npm", "", false},
		"an unreadable version": {fromStart + `, {"introduced": "?"}`, "Debian:12", "latest of all", false},
		"an unknown ecosystem":  {`{"introduced": "0.5"}`, "", "1.0.0", false},
	} {
		if got := parseSet(t, c.set).Matcher(c.ecosystem).LacksFix(c.version); got != c.want {
			t.Errorf("%s: %s lacks a fix: %t, want %t", name, c.version, got, c.want)
		}
	}
}
