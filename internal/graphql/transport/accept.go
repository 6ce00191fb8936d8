package transport

import (
	"mime"
	"strconv"
	"strings"
)

// The media types of responses.
const (
	mediaJSON     = "application/json"
	mediaResponse = "application/graphql-response+json"
	mediaEvents   = "text/event-stream"
)

// acceptedTypes holds what an Accept header allows.
type acceptedTypes struct {
	bestType     string // the preferred media type; "" means that none is allowed
	allowsEvents bool   // whether the header allows a stream of events
}

// json returns the media type of a response that is not a stream.
func (a acceptedTypes) json() string {
	if a.bestType == mediaResponse {
		return mediaResponse
	}
	return mediaJSON
}

// An offer is a media type with the preference of the client.
type offer struct {
	media       string
	quality     float64
	specificity int // how the header names the type: 3 by its name, 2 by the part before the slash, 1 by */*, 0 not at all
	position    int // position of the name in the header
}

// negotiate evaluates Accept as RFC 9110 defines it: the highest quality wins, then
// the more specific media range, then the first one. Wildcards and a missing header
// mean application/json.
func negotiate(header []string) acceptedTypes {
	offers := []offer{{media: mediaJSON}, {media: mediaResponse}, {media: mediaEvents}}
	ranges := strings.Join(header, ",")
	if ranges = strings.TrimSpace(ranges); ranges == "" || ranges == "*/*" {
		return acceptedTypes{bestType: mediaJSON, allowsEvents: true}
	}
	position := 0
	for one := range strings.SplitSeq(ranges, ",") {
		if media, quality, ok := parseRange(one); ok {
			position++
			for i := range offers {
				offers[i].match(media, quality, position)
			}
		}
	}
	best := offer{}
	for _, o := range offers {
		if o.quality > 0 && o.isPreferred(best) {
			best = o
		}
	}
	return acceptedTypes{bestType: best.media, allowsEvents: offers[2].quality > 0}
}

// parseRange parses one element of Accept. It ignores elements with a charset other
// than UTF-8, because responses are always in UTF-8.
func parseRange(text string) (media string, quality float64, ok bool) {
	media, parameters, err := mime.ParseMediaType(text)
	charset := parameters["charset"]
	if err != nil || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return "", 0, false
	}
	quality = 1
	if q, given := parameters["q"]; given {
		quality, err = strconv.ParseFloat(q, 64)
	}
	return media, quality, err == nil && quality >= 0 && quality <= 1
}

// match applies a media range to o, unless an earlier one is as specific.
func (o *offer) match(media string, quality float64, position int) {
	specificity := 0
	switch kind, isWild := strings.CutSuffix(media, "/*"); {
	case media == o.media:
		specificity = 3
	case media == "*/*":
		specificity = 1
	case isWild && strings.HasPrefix(o.media, kind+"/"):
		specificity = 2
	}
	if specificity > o.specificity {
		o.quality, o.specificity, o.position = quality, specificity, position
	}
}

func (o offer) isPreferred(other offer) bool {
	switch {
	case o.quality != other.quality:
		return o.quality > other.quality
	case o.specificity != other.specificity:
		return o.specificity > other.specificity
	default:
		return o.position < other.position
	}
}
