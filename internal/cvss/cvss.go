// Package cvss computes the scores of CVSS vectors with a maintained library. It must not
// decide what a score means for an advisory: package platform does.
package cvss

import (
	"strings"

	gocvss20 "github.com/pandatix/go-cvss/20"
	gocvss30 "github.com/pandatix/go-cvss/30"
	gocvss31 "github.com/pandatix/go-cvss/31"
	gocvss40 "github.com/pandatix/go-cvss/40"
)

// Score returns the base score of a vector and its version of CVSS: 2.0, 3.0, 3.1 or
// 4.0. It ignores temporal and environmental metrics, except in version 4.0, whose only
// score counts all metrics. ok is false if the text is not a vector.
func Score(vector string) (score float64, version string, ok bool) {
	switch {
	case strings.HasPrefix(vector, "CVSS:4.0/"):
		parsed, err := gocvss40.ParseVector(vector)
		if err != nil {
			return 0, "", false
		}
		return parsed.Score(), "4.0", true
	case strings.HasPrefix(vector, "CVSS:3.1/"):
		parsed, err := gocvss31.ParseVector(vector)
		if err != nil {
			return 0, "", false
		}
		return parsed.BaseScore(), "3.1", true
	case strings.HasPrefix(vector, "CVSS:3.0/"):
		parsed, err := gocvss30.ParseVector(vector)
		if err != nil {
			return 0, "", false
		}
		return parsed.BaseScore(), "3.0", true
	default:
		return scoreVersion2(vector)
	}
}

// scoreVersion2 scores a vector of version 2, which has no prefix. Some sources
// put it into parentheses, as its specification does.
func scoreVersion2(vector string) (score float64, version string, ok bool) {
	vector = strings.TrimSuffix(strings.TrimPrefix(vector, "("), ")")
	parsed, err := gocvss20.ParseVector(vector)
	if err != nil {
		return 0, "", false
	}
	return parsed.BaseScore(), "2.0", true
}
