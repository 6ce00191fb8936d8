package inventory

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A SeveritySource is the source of a rating.
type SeveritySource string

// The sources.
const (
	SeverityOfAdvisory      SeveritySource = "SEVERITY_SOURCE_ADVISORY"      // CVSS vector of the advisory
	SeverityOfVulnerability SeveritySource = "SEVERITY_SOURCE_VULNERABILITY" // CVSS vector of its vulnerability
	SeverityOfFeed          SeveritySource = "SEVERITY_SOURCE_FEED"          // rating of the feed in words
)

var severitySources = []SeveritySource{SeverityOfAdvisory, SeverityOfVulnerability, SeverityOfFeed}

// Values lists the sources.
func (SeveritySource) Values() []string { return fieldmask.Texts(severitySources) }

// An AdvisorySeverity is the resulting severity of an advisory. RateAdvisory
// computes it from the severities of the advisory and its vulnerabilities.
type AdvisorySeverity struct {
	Rating  core.SeverityRating `json:"rating,omitempty"`
	Score   *float64            `json:"score,omitempty"`   // score from 0 to 10; nil means that there is none
	Vector  string              `json:"vector,omitempty"`  // the vector of the score
	Version string              `json:"version,omitempty"` // CVSS version: 2.0, 3.0, 3.1 or 4.0; 2, 3 or 4 for a score without a vector
	Source  SeveritySource      `json:"source,omitempty"`
}

// A VectorScorer computes the score of a CVSS vector and returns the version of
// CVSS.
type VectorScorer func(vector string) (score float64, version string, ok bool)

// RateAdvisory computes the severity of an advisory. It uses the advisory's CVSS
// vector of the highest version, and of several such vectors the worst. If the
// advisory has none, it uses the inherited vectors of its vulnerabilities in the
// same way. If there are none either, it uses the rating of the feed in words.
func RateAdvisory(own, inherited []Severity, scorer VectorScorer) AdvisorySeverity {
	if s, ok := scoreBest(own, scorer); ok {
		s.Source = SeverityOfAdvisory
		return s
	}
	if s, ok := scoreBest(inherited, scorer); ok {
		s.Source = SeverityOfVulnerability
		return s
	}
	worst := core.SeverityUnknown
	for _, s := range slices.Concat(own, inherited) {
		if rating := feedRatings[strings.ToLower(s.Score)]; rating.Rank() > worst.Rank() {
			worst = rating
		}
	}
	if worst == core.SeverityUnknown {
		return AdvisorySeverity{Rating: core.SeverityUnknown}
	}
	return AdvisorySeverity{Rating: worst, Source: SeverityOfFeed}
}

// feedRatings maps the words that feeds use to ratings.
var feedRatings = map[string]core.SeverityRating{
	"critical": core.SeverityCritical,
	"high":     core.SeverityHigh, "important": core.SeverityHigh,
	"medium": core.SeverityMedium, "moderate": core.SeverityMedium,
	"low": core.SeverityLow, "negligible": core.SeverityLow, "unimportant": core.SeverityLow,
	"none": core.SeverityNone,
}

// scoreBest returns the score of the highest CVSS version, and of several such scores the
// highest.
func scoreBest(all []Severity, scorer VectorScorer) (best AdvisorySeverity, found bool) {
	for _, s := range all {
		one, ok := s.parseScore(scorer)
		better := one.Version > best.Version || one.Version == best.Version && ok && *one.Score > *best.Score
		if ok && (!found || better) {
			best, found = one, true
		}
	}
	return best, found
}

// parseScore rates one score: a CVSS vector, or a number with a CVSS version.
func (s Severity) parseScore(scorer VectorScorer) (AdvisorySeverity, bool) {
	if score, version, ok := scorer(s.Score); ok {
		return AdvisorySeverity{Rating: ratingOf(score, version), Score: &score, Vector: s.Score, Version: version}, true
	}
	version, isCVSS := strings.CutPrefix(s.Type, "TYPE_CVSS_V")
	score, err := strconv.ParseFloat(s.Score, 64)
	if score = math.Round(score*10) / 10; !isCVSS || err != nil || !(score >= 0 && score <= 10) {
		return AdvisorySeverity{}, false
	}
	return AdvisorySeverity{Rating: ratingOf(score, version), Score: &score, Version: version}, true
}

// ratingOf returns the rating of a score by the published ranges: those of CVSS 3
// and 4, and those of the National Vulnerability Database for CVSS 2.
func ratingOf(score float64, version string) core.SeverityRating {
	isVersion2 := strings.HasPrefix(version, "2")
	switch {
	case score >= 9 && !isVersion2:
		return core.SeverityCritical
	case score >= 7:
		return core.SeverityHigh
	case score >= 4:
		return core.SeverityMedium
	case score > 0 || isVersion2:
		return core.SeverityLow
	default:
		return core.SeverityNone
	}
}

// SortKey returns a text that sorts by rating, then by score. A rating without a
// score sorts before the same rating with one.
func (s AdvisorySeverity) SortKey() string {
	key := strconv.Itoa(max(s.Rating.Rank(), 0))
	if s.Score != nil {
		key += scoreKey(*s.Score)
	}
	return key
}

// scoreKey returns the part of a sort key for a score: its tenths.
func scoreKey(score float64) string { return fmt.Sprintf("%03d", int(math.Round(score*10))) }

// ScoreKey returns the smallest score part of sort keys for scores of at least s.
func ScoreKey(s float64) string { return scoreKey(math.Ceil(s*10) / 10) }

// ParseSeverityKey parses the rating and the score of a sort key.
func ParseSeverityKey(key string) (rating core.SeverityRating, score *float64) {
	rank, tenths := 0, ""
	if key != "" {
		rank, tenths = int(key[0]-'0'), key[1:]
	}
	if n, err := strconv.Atoi(tenths); err == nil {
		value := float64(n) / 10
		score = &value
	}
	return core.RatingOfRank(min(max(rank, 0), core.SeverityCount-1)), score
}

// CVSSSeverities returns only the severities of CVSS.
func CVSSSeverities(all []Severity) []Severity {
	return slices.DeleteFunc(slices.Clone(all), func(s Severity) bool { return !strings.HasPrefix(s.Type, "TYPE_CVSS_") })
}
