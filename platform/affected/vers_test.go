package affected_test

import (
	"testing"

	"atrium/platform/affected"
)

func TestARangeOfVERSContainsVersions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		versions, ecosystem string
		in, out             []string
	}{
		{"1.2.3", "npm", []string{"1.2.3"}, []string{"1.2.4", ""}},
		{"vers:npm/*", "npm", []string{"1.0.0"}, []string{""}},
		{"vers:npm/1.0.0|2.0.0", "npm", []string{"1.0.0", "2.0.0"}, []string{"1.5.0", "3.0.0"}},
		{"vers:npm/!=1.0.0", "npm", []string{"2.0.0"}, []string{"1.0.0"}},
		{"vers:semver/>=2.2.0|<=2.4.0", "npm", []string{"2.2.0", "2.4.0", "2.3.9"}, []string{"2.1.9", "2.4.1"}},
		{"vers:semver/<7.0.0|>=1.5.0", "npm", []string{"1.5.0", "6.9.9"}, []string{"1.4.9", "7.0.0"}},
		{"vers:semver/<1.5.0|>=7.0.0", "npm", []string{"1.4.9", "7.0.0", "9.0.0"}, []string{"1.5.0", "6.9.9"}},
		{"vers:maven/>=1.0|<2.0|>=3.0|<4.0|3.5|!=3.6", "Maven", []string{"1.5", "3.1", "3.5"}, []string{"2.0", "2.5", "3.6", "4.0"}},
		{"vers:deb/>=1:1.0-1|<1:2.0-1", "Debian:12", []string{"1:1.5-1"}, []string{"2.0-1", "1:2.0-1"}},
		{"vers:npm/>1.0.0%2Bbuild", "npm", []string{"1.0.1"}, []string{"1.0.0"}},
		{"vers:npm/", "npm", nil, []string{"1.0.0"}},
		{"vers:npm/>=", "npm", nil, []string{"1.0.0"}},
		{"vers:generic/>=1.0", "no such ecosystem", nil, []string{"2.0"}},
	} {
		for _, version := range test.in {
			if !affected.InVersions(test.ecosystem, test.versions, version) {
				t.Errorf("%s does not contain %q", test.versions, version)
			}
		}
		for _, version := range test.out {
			if affected.InVersions(test.ecosystem, test.versions, version) {
				t.Errorf("%s contains %q", test.versions, version)
			}
		}
	}
	for versions, valid := range map[string]bool{"1.0": true, "vers:npm/>=1.0": true, "vers:npm/*": true, "vers:npm": false, "vers:npm/": false, "vers:npm/>=|<2": false, "vers:npm/%zz": false} {
		if err := affected.CheckVersions(versions); (err == nil) != valid {
			t.Errorf("%s: got %v", versions, err)
		}
	}
}
