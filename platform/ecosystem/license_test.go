package ecosystem

import (
	"strings"
	"testing"
)

func TestLicensesOfAnExpressionAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"MIT":                             "MIT",
		"MIT OR Apache-2.0":               "MIT|Apache-2.0",
		"(MIT or (BSD-3-Clause AND MIT))": "MIT|BSD-3-Clause",
		"GPL-2.0-only WITH Classpath-exception-2.0": "GPL-2.0-only|Classpath-exception-2.0",
		"GPL-2.0+":                            "GPL-2.0+|GPL-2.0",
		"MIT/Apache-2.0":                      "MIT|Apache-2.0",
		"LicenseRef-acme":                     "LicenseRef-acme",
		"DocumentRef-a:LicenseRef-b AND MIT":  "DocumentRef-a:LicenseRef-b|MIT",
		"The MIT License":                     "The MIT License",
		"BSD or similar license":              "BSD or similar license",
		"https://opensource.org/licenses/MIT": "https://opensource.org/licenses/MIT",
		"MIT OR":                              "MIT OR",
		"OR":                                  "OR",
		"()":                                  "()",
		"Apache License, Version 2.0":         "Apache License, Version 2.0",
	} {
		if got := strings.Join(LicenseIDs(text), "|"); got != want {
			t.Errorf("LicenseIDs(%q) = %s, want %s", text, got, want)
		}
	}
}
