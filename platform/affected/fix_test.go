package affected

import "testing"

func TestTheEarliestFixIsWithoutAllVulnerabilities(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		ecosystem, want string
		fixes           [][]string
	}{
		"one":                                   {"npm", "1.3.0", [][]string{{"1.3.0"}}},
		"the latest of several":                 {"npm", "1.10.0", [][]string{{"1.3.0"}, {"1.10.0"}, {"1.9.0"}}},
		"the branch that is installed":          {"npm", "1.9.9", [][]string{{"1.9.5", "2.5.0"}, {"1.9.9", "2.5.1"}}},
		"a later version of the same branch":    {"npm", "1.10.0", [][]string{{"1.9.5", "2.5.0"}, {"1.10.0"}}},
		"a version that another branch affects": {"npm", "2.0.1", [][]string{{"1.1.0", "2.0.1"}, {"2.0.0"}}},
		"branches of minor versions":            {"npm", "6.6.1", [][]string{{"6.5.3", "6.6.1"}, {"6.6.0"}}},
		"between branches of which it is none":  {"npm", "3.0.2", [][]string{{"1.9.5", "3.0.2"}, {"2.0.1"}}},
		"equal ones in different words":         {"Go", "v1.2.0", [][]string{{"v1.2.0"}, {"v1.1.0"}}},
		"of a distribution":                     {"Debian:12", "1.1.1n-0+deb11u5", [][]string{{"1.1.1n-0+deb11u3"}, {"1.1.1n-0+deb11u5"}}},
		"one that cannot be read":               {"npm", "1.3.0", [][]string{{"latest"}, {"1.3.0"}}},
		"of no known order":                     {"nowhere", "b", [][]string{{"b"}, {"a"}}},
		"none":                                  {"npm", "", nil},
		"of vulnerabilities without fixes":      {"npm", "1.0.0", [][]string{nil, {"1.0.0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := EarliestFix(x.ecosystem, x.fixes); got != x.want {
				t.Errorf("the earliest fix is %q, want %q", got, x.want)
			}
		})
	}
}
