package house

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// readNames returns what project.env says.
func readNames(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^([A-Z]+)=(.*)$`).FindAllStringSubmatch(read(t, "project.env"), -1) {
		names[line[1]] = strings.Trim(line[2], `"`)
	}
	return names
}

// bearers lists the files that publish names, with the lines in which each must have them. ${NAME} is a name of project.env.
var bearers = map[string][]string{
	"go.mod": {"module ${MODULE}"},
	"Dockerfile": {
		"SOURCE=${HOMEPAGE}", `image.title="${TITLE}"`, `image.description="${DESCRIPTION}"`, `image.licenses="${LICENSE}"`, `image.vendor="${MAINTAINER}"`,
	},
	".goreleaser.yaml": {
		"vendor: ${MAINTAINER}", "maintainer: ${MAINTAINER} <${ADDRESS}>", "homepage: ${HOMEPAGE}", "license: ${LICENSE}",
		"      ${DESCRIPTION}\n", "description: ${DESCRIPTION}\n", "name: ${TAP#}\n",
	},
	"deploy/helm/atrium/Chart.yaml": {
		"description: ${DESCRIPTION}\n", "home: ${HOMEPAGE}\n", "icon: https://raw.githubusercontent.com/${REPOSITORY}/main/deploy/icon.svg\n", "sources: [${HOMEPAGE}]",
		"  - name: ${MAINTAINER}\n    url: ${HOMEPAGE}\n", "artifacthub.io/license: ${LICENSE}\n", "url: ${HOMEPAGE}/tree/main/docs\n", "url: ${HOMEPAGE}/issues\n",
	},
	"deploy/helm/atrium/README.md":           {"oci://${CHART} ", "cosign verify ${CHART}:", "${HOMEPAGE}/.github/workflows/release.yaml@"},
	"deploy/systemd/atrium.service":          {"Description=${TITLE}, "},
	"docs/from-ci.md":                        {"uses: ${REPOSITORY}/ci/github@v", "remote: https://raw.githubusercontent.com/${REPOSITORY}/v"},
	"ci/github/action.yml":                   {"author: ${MAINTAINER}\n", "default: ${HOMEPAGE}/releases\n"},
	"ci/gitlab/templates/check.yml":          {"default: ${HOMEPAGE}/releases\n"},
	"docs/install.md":                        {"oci://${CHART} ", "brew install --cask ${TAP%}/atrium`"},
	"docs/secure.md":                         {"cosign verify ${IMAGE}:", "oci://${IMAGE}:", "--repo ${REPOSITORY}\n", "${HOMEPAGE}/.github/workflows/release.yaml@"},
	".github/ISSUE_TEMPLATE/config.yml":      {"${HOMEPAGE}/security/advisories/new"},
	".github/CODEOWNERS":                     {"* @${OWNER}/maintainers\n"},
	"SECURITY.md":                            {"${HOMEPAGE}/security/advisories/new"},
	"LICENSE":                                {"Apache License\n"},
	"internal/web/package.json":              {`"license": "${LICENSE}"`},
	"e2e/package.json":                       {`"license": "${LICENSE}"`},
	"examples/package.json":                  {`"license": "${LICENSE}"`},
	"examples/backstage/package.json":        {`"license": "${LICENSE}"`},
	"examples/dashboard/package.json":        {`"license": "${LICENSE}"`},
	"examples/gateway/package.json":          {`"license": "${LICENSE}"`},
	"examples/grafana/package.json":          {`"license": "${LICENSE}"`},
	"internal/rest/openapi_document_test.go": {`Contact: &openapi3.Contact{Name: "${MAINTAINER}", URL: "${HOMEPAGE}"}`, `License: &openapi3.License{Name: "${LICENSE}", Identifier: "${LICENSE}"}`},
}

// Whoever publishes Atrium under other names changes them in project.env, and this test says where else.
func TestThePublishedNamesAreThoseOfTheProject(t *testing.T) {
	t.Parallel()
	names := readNames(t)
	names["TAP#"] = names["TAP"][strings.LastIndexByte(names["TAP"], '/')+1:]
	names["TAP%"] = strings.Replace(names["TAP"], "/homebrew-", "/", 1)
	names["OWNER"], _, _ = strings.Cut(names["REPOSITORY"], "/")
	for file, lines := range bearers {
		text := read(t, file)
		for _, line := range lines {
			want := regexp.MustCompile(`\$\{([A-Z]+[#%]?)\}`).ReplaceAllStringFunc(line, func(name string) string {
				value, known := names[strings.Trim(name, "${}")]
				if !known || value == "" {
					t.Errorf("project.env has no %s", name)
				}
				return value
			})
			if !strings.Contains(text, want) {
				t.Errorf("%s does not contain %q, which project.env says", file, want)
			}
		}
	}
	walk(t, func(file string) {
		if !slices.Contains(append([]string{".json", ".env"}, texts...), filepath.Ext(file)) || strings.HasPrefix(file, "internal/house/") {
			return
		}
		for _, fault := range foreignNames(read(t, file), names) {
			t.Errorf("%s:%s, and project.env has %s", file, fault, names["HOMEPAGE"])
		}
	})
}

// place matches a place in which somebody publishes something of this name.
var place = regexp.MustCompile(`(?:\b(?:github\.com|raw\.githubusercontent\.com|ghcr\.io)/)([\w.-]+(?:/charts)?/atrium)\b`)

// foreignNames finds the lines of a text that name a place which is not this project's.
func foreignNames(text string, names map[string]string) (faults []string) {
	own := []string{names["REPOSITORY"], strings.TrimPrefix(names["IMAGE"], "ghcr.io/"), strings.TrimPrefix(names["CHART"], "ghcr.io/")}
	n := 0
	for line := range strings.Lines(text) {
		n++
		for _, found := range place.FindAllStringSubmatch(line, -1) {
			if !slices.Contains(own, found[1]) && !strings.HasPrefix(found[1], "acme/") { // acme is the organization of examples
				faults = append(faults, fmt.Sprintf("%d names %s", n, found[0]))
			}
		}
	}
	return faults
}

func TestForeignNamesAreFound(t *testing.T) {
	t.Parallel()
	names := map[string]string{"REPOSITORY": "new/atrium", "IMAGE": "ghcr.io/new/atrium", "CHART": "ghcr.io/new/charts/atrium"}
	text := "https://github.com/new/atrium/issues\noci://ghcr.io/old/charts/atrium\nghcr.io/acme/atrium\nhttps://github.com/old/atrium\n"
	if got := foreignNames(text, names); !slices.Equal(got, []string{"2 names ghcr.io/old/charts/atrium", "4 names github.com/old/atrium"}) {
		t.Errorf("found %q", got)
	}
}
