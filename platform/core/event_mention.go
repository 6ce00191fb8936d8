package core

import (
	"slices"
	"strings"
)

// maxMentions limits the resources that an event is found by, because clients can write UIDs
// into texts. Events of no kind name as many.
const maxMentions = 32

// Mentions lists the resources, other than the subject, whose UIDs stand in the body or in the
// changes of the event. The audit log finds the event by each of them. Who has only reviewed something is
// not among them: they did it, and it did not happen to them.
func (e *Event) Mentions() (found []UID) {
	texts := []string{string(e.Body)}
	for _, c := range e.Changes {
		texts = append(texts, string(c.Before), string(c.After))
	}
	for _, text := range texts {
		var member, colon string
		for part := range strings.SplitSeq(text, `"`) { // JSON escapes no character of a UID
			uid, isReviewer := UID(part), member == "reviewer"
			member, colon = colon, part
			if !isReviewer && uid.Valid() && uid != e.Subject && len(found) < maxMentions && !slices.Contains(found, uid) {
				found = append(found, uid)
			}
		}
	}
	return found
}
