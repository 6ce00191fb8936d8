package house

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// Compiling everything takes minutes. Go does it again for other flags, and whoever sees nothing for minutes gives up.
func TestTheProgramIsCompiledOnceAndVisibly(t *testing.T) {
	t.Parallel()
	outputs := map[string]string{"the image of Dockerfile": read(t, "Dockerfile")}
	for _, target := range []string{"run", "build", "images"} {
		command := exec.CommandContext(t.Context(), "make", "--dry-run", "--always-make", target)
		command.Dir = root
		out, err := command.Output()
		if err != nil {
			t.Fatalf("make --dry-run %s: %v", target, err)
		}
		outputs[target] = string(out)
	}
	for target, out := range outputs {
		compiles := 0
		for line := range strings.Lines(out) {
			if !regexp.MustCompile(`\bgo (build|run) `).MatchString(line) {
				continue
			}
			compiles++
			for _, flag := range []string{"CGO_ENABLED=0 ", " -trimpath ", " -buildvcs=false "} {
				if !strings.Contains(line, flag) {
					t.Errorf("make %s compiles packages that another step needs too, without%s: %s", target, flag, line)
				}
			}
			if target == "run" && !strings.Contains(line, " -v ") {
				t.Errorf("make run does not show which packages it compiles: %s", line)
			}
		}
		if compiles == 0 {
			t.Errorf("make %s compiles nothing:\n%s", target, out)
		}
		if target == "run" && strings.Contains(out, "licences") {
			t.Errorf("make run collects licences, which only releases need:\n%s", out)
		}
	}
	for _, silent := range regexp.MustCompile(`(?m)^\t@.*\bgo (build|run|test|tool) .*`).FindAllString(read(t, "Makefile"), -1) {
		t.Errorf("this step compiles for minutes and does not say so: %s", silent)
	}
}
