package main

import (
	"fmt"
	"os"
	"regexp"
)

// hasDigest matches an image with its version and its digest, so nobody can replace it.
var hasDigest = regexp.MustCompile(`^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$`)

// A stage has a name that later lines use in place of an image.
var from = regexp.MustCompile(`(?mi)^FROM +(?:--\S+ +)*(\S+)(?: +AS +(\S+))?`)

// checkDockerfile rejects base images that others could replace.
func checkDockerfile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	stages, images := map[string]bool{"scratch": true}, 0
	for _, line := range from.FindAllStringSubmatch(string(text), -1) {
		if !stages[line[1]] {
			if !hasDigest.MatchString(line[1]) {
				return fmt.Errorf("%s: %s must have a version and a digest", path, line[1])
			}
			images++
		}
		stages[line[2]] = true
	}
	fmt.Printf("%s: %d base images\n", path, images)
	return nil
}
