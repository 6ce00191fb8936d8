package core

import (
	"slices"

	"atrium/platform/fieldmask"
)

// A SeverityRating is the severity of a vulnerability in one word.
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

// SeverityCount is the number of ratings.
const SeverityCount = 6

// RatingOfRank returns the rating of a Rank.
func RatingOfRank(rank int) SeverityRating { return severityRatings[rank] }

// SeverityRatings lists the ratings from the least to the worst.
func SeverityRatings() []SeverityRating { return slices.Clone(severityRatings) }

// Values lists the ratings.
func (SeverityRating) Values() []string { return fieldmask.Texts(severityRatings) }

// Rank returns the position of a rating, from 0 (unknown) to the worst. It returns
// -1 for an unknown value.
func (r SeverityRating) Rank() int { return slices.Index(severityRatings, r) }
