package house

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Compiling everything takes minutes. Go does it again for other flags, and whoever sees nothing for minutes gives up.
func TestTheProgramIsCompiledOnceAndVisibly(t *testing.T) {
	t.Parallel()
	const image = "image"
	outputs := map[string]string{image: read(t, "Dockerfile")}
	show := exec.CommandContext(t.Context(), "make", "--no-print-directory", "--eval=settings:; @echo CGO_ENABLED=$$CGO_ENABLED $$GOFLAGS", "settings")
	show.Dir, show.Env = root, slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "GOFLAGS=") })
	settings, err := show.Output()
	if err != nil {
		t.Fatalf("make settings: %v", err)
	}
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
			with := line
			if target != image {
				with = strings.TrimSpace(string(settings)) + " " + line
			}
			for _, flag := range []string{"CGO_ENABLED=0 ", " -trimpath ", " -buildvcs=false "} {
				if !strings.Contains(with, flag) {
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
		if target == "run" && strings.Contains(out, "licenses") {
			t.Errorf("make run collects licenses, which only releases need:\n%s", out)
		}
	}
	for _, silent := range regexp.MustCompile(`(?m)^\t@.*\bgo (build|run|test|tool) .*`).FindAllString(read(t, "Makefile"), -1) {
		t.Errorf("this step compiles for minutes and does not say so: %s", silent)
	}
}
