package cvss

import "testing"

func TestVectorsOfEveryVersionAreScored(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		vector  string
		score   float64
		version string
	}{
		{"AV:N/AC:L/Au:N/C:C/I:C/A:C", 10, "2.0"},
		{"(AV:N/AC:L/Au:N/C:P/I:P/A:P)", 7.5, "2.0"},
		{"AV:N/AC:L/Au:N/C:P/I:P/A:P/E:U/RL:OF/RC:C", 7.5, "2.0"},
		{"CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", 9.8, "3.0"},
		{"CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H", 8.1, "3.1"},
		{"CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H/E:P/RL:O", 8.1, "3.1"},
		{"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N", 0, "3.1"},
		{"CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H", 10, "4.0"},
		{"CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/SA:N", 8.7, "4.0"}, // CVE-2014-0160, in FIRST's examples
		{"CVSS:4.0/AV:L/AC:L/AT:P/PR:L/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", 7.3, "4.0"}, // CVE-2022-41741, in FIRST's examples
	} {
		score, version, ok := Score(x.vector)
		if !ok || score != x.score || version != x.version {
			t.Errorf("%s: %v by %s (%v), want %v by %s", x.vector, score, version, ok, x.score, x.version)
		}
	}
}

func TestInvalidVectorsHaveNoScore(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "high", "7.5", "CVSS:3.1/AV:N", "CVSS:4.0/AV:N", "CVSS:3.0/AV:N", "CVSS:5.0/AV:N", "AV:N", "cvss:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N"} {
		if score, version, ok := Score(text); ok {
			t.Errorf("%q: %v by %s", text, score, version)
		}
	}
}
