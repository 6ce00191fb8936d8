package platform

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A SeverityRating says in a word how bad a vulnerability is.
type SeverityRating string

// The ratings.
const (
	SeverityCritical SeverityRating = "SEVERITY_RATING_CRITICAL"
	SeverityHigh     SeverityRating = "SEVERITY_RATING_HIGH"
	SeverityMedium   SeverityRating = "SEVERITY_RATING_MEDIUM"
	SeverityLow      SeverityRating = "SEVERITY_RATING_LOW"
	SeverityNone     SeverityRating = "SEVERITY_RATING_NONE"
	SeverityUnknown  SeverityRating = "SEVERITY_RATING_UNKNOWN"
)

// severityRatings lists the ratings from the least to the worst.
var severityRatings = []SeverityRating{SeverityUnknown, SeverityNone, SeverityLow, SeverityMedium, SeverityHigh, SeverityCritical}

// SeverityRatings lists the ratings from the least to the worst.
func SeverityRatings() []SeverityRating { return slices.Clone(severityRatings) }

// Values lists the ratings.
func (SeverityRating) Values() []string { return textsOf(severityRatings) }

// Rank counts from 0 (unknown) to the worst; -1 is no rating.
func (r SeverityRating) Rank() int { return slices.Index(severityRatings, r) }

// A SeveritySource says where a rating comes from.
type SeveritySource string

// The sources.
const (
	SeverityOfAdvisory      SeveritySource = "SEVERITY_SOURCE_ADVISORY"      // a vector of the advisory
	SeverityOfVulnerability SeveritySource = "SEVERITY_SOURCE_VULNERABILITY" // a vector of its vulnerability
	SeverityOfFeed          SeveritySource = "SEVERITY_SOURCE_FEED"          // a word of the feed
)

var severitySources = []SeveritySource{SeverityOfAdvisory, SeverityOfVulnerability, SeverityOfFeed}

// Values lists the sources.
func (SeveritySource) Values() []string { return textsOf(severitySources) }

// An AdvisorySeverity is how bad an advisory's vulnerability is, in one value. It
// follows from what the advisory and its vulnerabilities bring (RateAdvisory).
type AdvisorySeverity struct {
	Rating  SeverityRating `json:"rating,omitempty"`
	Score   *float64       `json:"score,omitempty"`   // 0 to 10; nil where there is a word only, or nothing
	Vector  string         `json:"vector,omitempty"`  // that the score is made of
	Version string         `json:"version,omitempty"` // of CVSS: 2.0, 3.0, 3.1 or 4.0; 2, 3 or 4 of a score without a vector
	Source  SeveritySource `json:"source,omitempty"`
}

// A VectorScorer gives the score of a CVSS vector, and the version of CVSS that
// it is of.
type VectorScorer func(vector string) (score float64, version string, ok bool)

// RateAdvisory decides how bad an advisory's vulnerability is. Of the advisory's
// vectors that of the highest version counts, of several the worst. Where it has
// none, those of its vulnerabilities (inherited) count in the same way; where
// these have none either, the word of the feed does.
func RateAdvisory(own, inherited []Severity, scorer VectorScorer) AdvisorySeverity {
	if s, ok := scoreBest(own, scorer); ok {
		s.Source = SeverityOfAdvisory
		return s
	}
	if s, ok := scoreBest(inherited, scorer); ok {
		s.Source = SeverityOfVulnerability
		return s
	}
	worst := SeverityUnknown
	for _, s := range slices.Concat(own, inherited) {
		if rating := feedRatings[strings.ToLower(s.Score)]; rating.Rank() > worst.Rank() {
			worst = rating
		}
	}
	if worst == SeverityUnknown {
		return AdvisorySeverity{Rating: SeverityUnknown}
	}
	return AdvisorySeverity{Rating: worst, Source: SeverityOfFeed}
}

// feedRatings are the words of feeds.
var feedRatings = map[string]SeverityRating{
	"critical": SeverityCritical,
	"high":     SeverityHigh, "important": SeverityHigh,
	"medium": SeverityMedium, "moderate": SeverityMedium,
	"low": SeverityLow, "negligible": SeverityLow, "unimportant": SeverityLow,
	"none": SeverityNone,
}

func scoreBest(all []Severity, scorer VectorScorer) (best AdvisorySeverity, found bool) {
	for _, s := range all {
		one, ok := s.scored(scorer)
		better := one.Version > best.Version || one.Version == best.Version && ok && *one.Score > *best.Score
		if ok && (!found || better) {
			best, found = one, true
		}
	}
	return best, found
}

// scored rates one score: a vector, or a number by one of the versions of CVSS.
func (s Severity) scored(scorer VectorScorer) (AdvisorySeverity, bool) {
	if score, version, ok := scorer(s.Score); ok {
		return AdvisorySeverity{Rating: rate(score, version), Score: &score, Vector: s.Score, Version: version}, true
	}
	version, isCVSS := strings.CutPrefix(s.Type, "TYPE_CVSS_V")
	score, err := strconv.ParseFloat(s.Score, 64)
	if score = math.Round(score*10) / 10; !isCVSS || err != nil || !(score >= 0 && score <= 10) {
		return AdvisorySeverity{}, false
	}
	return AdvisorySeverity{Rating: rate(score, version), Score: &score, Version: version}, true
}

// rate gives the rating of a score by the published bands: those of CVSS 3 and 4,
// and those of the National Vulnerability Database for CVSS 2, which had none.
func rate(score float64, version string) SeverityRating {
	isVersion2 := strings.HasPrefix(version, "2")
	switch {
	case score >= 9 && !isVersion2:
		return SeverityCritical
	case score >= 7:
		return SeverityHigh
	case score >= 4:
		return SeverityMedium
	case score > 0 || isVersion2:
		return SeverityLow
	default:
		return SeverityNone
	}
}

// SortKey is a text that sorts as severities do: by rating, then by score. A
// rating without a score comes before those of the same rating with one.
func (s AdvisorySeverity) SortKey() string {
	key := strconv.Itoa(max(s.Rating.Rank(), 0))
	if s.Score != nil {
		key += scoreKey(*s.Score)
	}
	return key
}

// scoreKey is the part of a sort key that a score makes: its tenths.
func scoreKey(score float64) string { return fmt.Sprintf("%03d", int(math.Round(score*10))) }

// ScoreKey is the part of sort keys that scores below s do not reach.
func ScoreKey(s float64) string { return scoreKey(math.Ceil(s*10) / 10) }

// ParseSeverityKey reads rating and score out of a sort key.
func ParseSeverityKey(key string) (rating SeverityRating, score *float64) {
	rank, tenths := 0, ""
	if key != "" {
		rank, tenths = int(key[0]-'0'), key[1:]
	}
	if n, err := strconv.Atoi(tenths); err == nil {
		value := float64(n) / 10
		score = &value
	}
	return severityRatings[min(max(rank, 0), len(severityRatings)-1)], score
}

// inherits reports whether the advisory says nothing of its own by CVSS, so that
// what its vulnerabilities say counts.
func (a *Advisory) inherits() bool {
	return !slices.ContainsFunc(a.Severities, func(s Severity) bool { return strings.HasPrefix(s.Type, "TYPE_CVSS") })
}
