// Package agreement compares the answers of two executors of GraphQL: that of
// Atrium and that of gqlgen, which is the oracle. Tests send every document that
// they have to both, and random documents too.
//
// # Intended differences
//
// The data of both answers must be equal byte by byte, and both must have the same
// errors. Only these differences are intended, and Difference ignores them:
//
//   - Errors are in the order of the document. gqlgen's are in the order in which its
//     goroutines end. So of too many errors, each shows the first in its own order.
//   - A cursor contains the time at which it was sealed.
//   - The errors of fields below the root have locations. gqlgen omits those of fields
//     that are resolved for several objects together, and those of panics.
//   - Errors of events have the whole path. gqlgen omits the root field, which WithRoot
//     puts in front.
//   - A missing entity is null. gqlgen gives it to batches of resolvers as nil, and
//     they panic: MustIgnore reports such an answer.
//   - A malformed representation fails alone, at its index. With gqlgen, all of its type fail:
//     MustIgnore reports such an answer, too.
//   - A type that cannot have fields, values and the like has null for them. gqlgen gives an
//     empty list.
//   - An object has each name once. gqlgen repeats __typename if it is selected of a union
//     and of its member. No document that is compared selects both.
//   - The schema for gateways has what the server counts as its cost. gqlgen answers the
//     source: MustIgnore reports such an answer.
//   - A variable that is null where null is not allowed is an error of its field. gqlgen
//     gives the null to the resolver. No document that is compared has such a variable.
//   - The answer to a mutation says whether findings are pending, which depends on the moment. gqlgen's does not.
//
// A mutation cannot run twice on the same data. Mask makes the answers of two
// databases comparable.
package agreement

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An answer is the answer to a document. Its data stays as it was sent.
type answer struct {
	Data       json.RawMessage
	Errors     []map[string]any
	Extensions json.RawMessage
}

// pending is the extension that says that findings are pending. It is the last one.
var pending = regexp.MustCompile(`,"findingsPending":true`)

// Difference describes the difference of two answers to one document. It is "" if they
// agree.
func Difference(tested, wanted []byte) string {
	if bytes.Equal(tested, wanted) {
		return ""
	}
	var a, b answer
	if json.Unmarshal(tested, &a) != nil || json.Unmarshal(wanted, &b) != nil {
		return describe(string(tested), string(wanted))
	}
	a.Extensions, b.Extensions = pending.ReplaceAll(a.Extensions, nil), pending.ReplaceAll(b.Extensions, nil)
	data, want := withoutCursors(noMembers.ReplaceAll(a.Data, []byte("${1}null")), noMembers.ReplaceAll(b.Data, []byte("${1}null")))
	if data == want && sortedErrors(a.Errors) == sortedErrors(b.Errors) && bytes.Equal(a.Extensions, b.Extensions) {
		return ""
	}
	return describe(data+" "+sortedErrors(a.Errors)+string(a.Extensions), want+" "+sortedErrors(b.Errors)+string(b.Extensions))
}

// WithRoot puts the root field in front of the paths of errors.
func WithRoot(sent []byte, root string) []byte {
	var a answer
	if err := json.Unmarshal(sent, &a); err != nil || len(a.Errors) == 0 {
		return sent
	}
	for _, err := range a.Errors {
		path, _ := err["path"].([]any)
		err["path"] = append([]any{root}, path...)
	}
	errs, _ := json.Marshal(a.Errors) // They were JSON before.
	if a.Extensions == nil {
		return fmt.Appendf(nil, `{"errors":%s,"data":%s}`, errs, a.Data)
	}
	return fmt.Appendf(nil, `{"errors":%s,"data":%s,"extensions":%s}`, errs, a.Data, a.Extensions)
}

func describe(tested, wanted string) string { return "ours:   " + tested + "\noracle: " + wanted }

// MustIgnore reports whether the oracle has failed because an entity is missing, or because a
// representation is malformed, or has answered its own schema for gateways.
func MustIgnore(request, wanted []byte) bool {
	return bytes.Contains(wanted, []byte(`"sdl":`)) || bytes.Contains(request, []byte("_entities")) && (bytes.Contains(wanted, []byte(`"INTERNAL"`)) || malformed.Match(wanted))
}

// malformed matches the error of the oracle for a malformed representation.
var malformed = regexp.MustCompile(`"field":"(representations|uid)"`)

// noMembers matches the members of a type in introspection that the type cannot have. An alias ends with _ and the name.
var noMembers = regexp.MustCompile(`("(?:\w+_)?(?:fields|interfaces|possibleTypes|enumValues|inputFields)":)\[\]`)

// sortedErrors returns errors as sorted texts, or their number if not all are shown.
func sortedErrors(errs []map[string]any) string {
	if len(errs) > 0 {
		hidden := 0
		if last, _ := errs[len(errs)-1]["message"].(string); strings.HasSuffix(last, " more errors are not shown.") {
			_, _ = fmt.Sscan(last, &hidden)
			return fmt.Sprintf("%d errors", len(errs)-1+hidden)
		}
	}
	texts := make([]string, len(errs))
	for i, err := range errs {
		extensions, _ := err["extensions"].(map[string]any)
		if path, _ := err["path"].([]any); len(path) > 1 || extensions["code"] == "INTERNAL" {
			delete(err, "locations")
		}
		if message, _ := err["message"].(string); strings.HasPrefix(message, `Variable "$`) {
			err = map[string]any{"message": "a variable has a wrong value"} // which one of several is found first is random
		}
		text, _ := json.Marshal(err) // It was JSON before.
		texts[i] = string(text)
	}
	slices.Sort(texts)
	return strings.Join(texts, "\n")
}

var sealed = regexp.MustCompile(`"[A-Za-z0-9_-]{60,}"`)

// withoutCursors blanks the sealed texts that both answers have at the same place.
func withoutCursors(a, b []byte) (string, string) {
	sealedA, sealedB := sealed.FindAll(a, -1), sealed.FindAll(b, -1)
	if len(sealedA) != len(sealedB) {
		return string(a), string(b)
	}
	mask := func(text []byte) string {
		i := -1
		return string(sealed.ReplaceAllFunc(text, func(found []byte) []byte {
			if i++; bytes.Equal(sealedA[i], sealedB[i]) {
				return found
			}
			return []byte(`"cursor"`)
		}))
	}
	return mask(a), mask(b)
}

// random matches what every database makes for itself: times, webhook secrets, codes of
// invites, UIDs and IDs of events.
var random = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|whsec_[A-Za-z0-9+/]{43}=|[0-9a-f]{16}\.[0-9a-f]{48}|[0-9a-f]{40}(/[0-9a-f]{16})*|\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{16}\b`)

// encoded matches texts in base64, which may be global IDs. Messages quote them too.
var encoded = regexp.MustCompile(`[A-Za-z0-9_-]{20,}`)

// etag matches ETags, which are hashes of what a database makes for itself.
var etag = regexp.MustCompile(`\\"[\w-]+\.[\w-]{8}\\"`)

// Mask replaces what a database makes for itself by a number for each value.
func Mask(sent []byte) []byte {
	sent = etag.ReplaceAll(sent, []byte("<etag>"))
	sent = encoded.ReplaceAllFunc(sent, func(found []byte) []byte {
		decoded, err := base64.RawURLEncoding.DecodeString(string(found))
		if err != nil || !bytes.ContainsRune(decoded, ':') || !random.Match(decoded) {
			return found
		}
		quoted := strconv.AppendQuote(nil, string(decoded))
		return quoted[1 : len(quoted)-1]
	})
	var known []string
	return random.ReplaceAllFunc(sent, func(found []byte) []byte {
		if found[4] == '-' {
			return []byte("<time>")
		}
		i := slices.Index(known, string(found))
		if i < 0 {
			i = len(known)
			known = append(known, string(found))
		}
		return fmt.Appendf(nil, "<%d>", i)
	})
}
