package message

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// A document is what a message says, without markup.
type document struct {
	title  string
	intro  line
	blocks []block
	foot   line
	link   string // to the group in the console; "" if there is no console
	hook   string // to the subscription in the console, where somebody ends it
}

// A block tells of an image, or of the other changes.
type block struct {
	head  line
	lines []line
}

type line []span

// A span is a piece of text.
type span struct {
	text string
	url  string // "" for a text that is no link
	look look
}

type look int

const (
	plain look = iota
	bold
	code // a name or version of others, which readers copy
)

// maxName limits a name in a message, in characters.
const maxName = 200

// clean makes a text of others fit for one line: control characters, and those that turn the direction of what follows, are no
// part of names.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.In(r, unicode.Cf), r == utf8.RuneError:
			return -1
		default:
			return r
		}
	}, text)
	return shorten(strings.Join(strings.Fields(text), " "), maxName)
}

// shorten cuts a text after a number of characters.
func shorten(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

// newDocument writes a message, with links to the console at a URL, such as https://atrium.example.com/console; "" if there is none.
func newDocument(m *webhooks.Message, console string) *document {
	d := &document{title: titleOf(m), link: address(console, m.GroupNames, "", nil)}
	d.hook = address(console, m.GroupNames, "webhooks", url.Values{"hook": {string(m.Subscription)}})
	if m.IsTest {
		d.intro = line{{text: "This is a test. The rest of this message is an example: nothing has happened."}}
	} else {
		d.intro = line{{text: fmt.Sprintf("%s in ", count(m.Events, "event"))}, {text: path(m.GroupNames), url: d.link, look: bold}, {text: " and below, " + formatPeriod(m.First, m.Last)}}
	}
	for _, image := range m.Images {
		d.blocks = append(d.blocks, imageBlock(image, console, m.IsTest))
	}
	if m.More > 0 {
		d.blocks = append(d.blocks, block{head: line{{text: fmt.Sprintf("Findings of %s more have changed.", count(m.More, "image"))}}})
	}
	if len(m.Changes) > 0 {
		d.blocks = append(d.blocks, changesBlock(m, console))
	}
	d.foot = line{{text: "Atrium sent this for a subscription of "}, {text: path(m.GroupNames)}, {text: ". "}}
	if d.hook != "" {
		d.foot = append(d.foot, span{text: "Show or delete the subscription", url: d.hook})
	} else {
		d.foot = append(d.foot, span{text: "Its uid is "}, span{text: string(m.Subscription), look: code})
	}
	return d
}

// path returns names on the way to something as one text.
func path(names []string) string {
	if len(names) == 0 {
		return "a group"
	}
	cleaned := make([]string, len(names))
	for i, name := range names {
		cleaned[i] = clean(name)
	}
	return strings.Join(cleaned, "/")
}

// formatPeriod tells the time of the first and of the last event.
func formatPeriod(first, last core.Time) string {
	const form = "2006-01-02 15:04 UTC"
	from, to := first.UTC().Format(form), last.UTC().Format(form)
	if from == to {
		return from
	}
	return from + " to " + to
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// titleOf names the worst that a message tells.
func titleOf(m *webhooks.Message) string {
	opened, resolved, changed, exploited := 0, 0, 0, 0
	var worst core.SeverityRating
	for _, image := range m.Images {
		opened, resolved, changed = opened+image.Opened, resolved+image.Resolved, changed+image.Changed
		for _, c := range image.Counts {
			if c.KnownExploited {
				exploited += c.Count
			}
			if worst == "" || c.Rating.Rank() > worst.Rank() {
				worst = c.Rating
			}
		}
	}
	where := path(m.GroupNames)
	if len(m.Images) == 1 && m.More == 0 {
		where = imageName(m.Images[0])
	}
	var parts []string
	if opened > 0 {
		parts = append(parts, count(opened, "new finding"))
	}
	if changed > 0 {
		parts = append(parts, fmt.Sprintf("%d changed", changed))
	}
	if resolved > 0 {
		parts = append(parts, fmt.Sprintf("%d resolved", resolved))
	}
	if len(m.Images) > 0 && m.More > 0 {
		parts = []string{"findings of " + count(len(m.Images)+m.More, "image")}
	}
	if others := len(m.Changes) + m.Others; others > 0 {
		parts = append(parts, count(others, "change"))
	}
	title := strings.Join(parts, ", ") + " in " + where
	if exploited > 0 {
		title = "Known exploited: " + title
	} else if worst.Rank() >= core.SeverityHigh.Rank() {
		title = rating(worst) + ": " + title
	}
	if m.IsTest {
		title = "Test: " + title
	}
	return strings.ToUpper(title[:1]) + title[1:]
}

// imageName returns the path and the first tag of an image, or the start of its digest.
func imageName(image *webhooks.ImageNews) string {
	name := path(append(slices.Clone(image.GroupNames), cmp.Or(image.RepoName, "a repo")))
	if len(image.Tags) > 0 {
		return name + ":" + clean(image.Tags[0])
	}
	return name + "@" + shorten(clean(image.Key.Digest), 20)
}

func rating(r core.SeverityRating) string {
	name := strings.ToLower(strings.TrimPrefix(string(r), "SEVERITY_RATING_"))
	if name == "" || name == "unknown" {
		return "Severity not known"
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// imageBlock tells what has happened to the findings of an image, and which are the worst.
func imageBlock(image *webhooks.ImageNews, console string, made bool) block {
	to := ""
	if names := image.GroupNames; !made && len(names) > 0 {
		to = address(console, append(slices.Clone(names), image.RepoName), "", url.Values{"tab": {"findings"}, "digest": {image.Key.Digest}})
	}
	b := block{head: line{{text: imageName(image), url: to, look: bold}}}
	if len(image.Tags) > 1 {
		b.head = append(b.head, span{text: " and the tags "})
		for i, tag := range image.Tags[1:] {
			if i > 0 {
				b.head = append(b.head, span{text: ", "})
			}
			b.head = append(b.head, span{text: clean(tag), look: code})
		}
	}
	var happened []string
	if image.Opened > 0 {
		happened = append(happened, fmt.Sprintf("%d opened", image.Opened))
	}
	if image.Changed > 0 {
		happened = append(happened, fmt.Sprintf("%d changed", image.Changed))
	}
	if classes := classesOf(image.Counts); classes != "" {
		happened = []string{strings.Join(happened, " and ") + " (" + classes + ")"}
	}
	if image.Resolved > 0 {
		happened = append(happened, fmt.Sprintf("%d resolved", image.Resolved))
	}
	b.lines = append(b.lines, line{{text: "Findings: " + strings.Join(happened, ", ")}})
	for _, f := range image.Worst {
		b.lines = append(b.lines, findingLine(f, image, console, made))
	}
	if rest := image.Opened + image.Changed - len(image.Worst); rest > 0 && len(image.Worst) > 0 {
		b.lines = append(b.lines, line{{text: fmt.Sprintf("and %d more", rest)}})
	}
	return b
}

// classesOf counts findings by their ratings, the worst first.
func classesOf(counts []inventory.FindingClassCount) string {
	var parts []string
	for _, c := range counts {
		part := fmt.Sprintf("%d %s", c.Count, strings.ToLower(rating(c.Rating)))
		if c.KnownExploited {
			part += " known exploited"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// findingLine tells how bad a finding is, in which package, and what fixes it.
func findingLine(f *inventory.Finding, image *webhooks.ImageNews, console string, made bool) line {
	to := ""
	if !made && len(image.GroupNames) > 0 {
		to = address(console, image.GroupNames, "advisories", url.Values{"id": {f.VulnerabilityID}})
	}
	l := line{{text: "• "}, {text: rating(f.Severity.Rating), look: bold}, {text: " "}, {text: clean(f.VulnerabilityID), url: to}}
	if f.KnownExploited {
		l = append(l, span{text: ", "}, span{text: "known exploited", look: bold})
	}
	l = append(l, span{text: " in "}, span{text: clean(f.Package), look: code})
	if f.InstalledVersion != "" {
		l = append(l, span{text: " "}, span{text: clean(f.InstalledVersion), look: code})
	} else {
		l = append(l, span{text: ", version not known"})
	}
	if f.IsFixable() {
		return append(l, span{text: ": fixed in "}, span{text: clean(f.FixedVersions[0]), look: code})
	}
	return append(l, span{text: ": no fix is known"})
}

// changesBlock tells of the changes that are not about findings.
func changesBlock(m *webhooks.Message, console string) block {
	b := block{head: line{{text: "Changes", look: bold}}}
	for i := range m.Changes {
		b.lines = append(b.lines, changeLine(&m.Changes[i], console))
	}
	if m.Others > 0 {
		b.lines = append(b.lines, line{{text: fmt.Sprintf("and %d more", m.Others)}})
	}
	return b
}

// views are the pages of a group that show the resources of a kind.
var views = map[string]string{
	"Identity": "identities", "Role": "roles", "RoleBinding": "access", "GroupInvite": "identities", "IdentityProvider": "identities",
	"EventSubscription": "webhooks", "Subscription": "webhooks", "Advisory": "advisories", "Repo": "repos",
}

func changeLine(c *webhooks.ChangeNews, console string) line {
	l := line{{text: "• "}, {text: kindName(c.Kind) + " " + c.Verb}}
	if name := clean(c.Name); name != "" {
		l = append(l, span{text: ": "}, span{text: name, look: code})
	}
	l = append(l, span{text: " in "}, span{text: path(c.GroupNames), url: address(console, c.GroupNames, views[c.Kind], nil)})
	if actor := clean(c.Actor); actor != "" {
		l = append(l, span{text: " by "}, span{text: actor, look: code})
	}
	if c.Denied != "" {
		l = append(l, span{text: ": denied, " + clean(c.Denied)})
	}
	return l
}

// kindName returns the name of a kind in words: Role binding for RoleBinding.
func kindName(kind string) string {
	var b strings.Builder
	for i, r := range cmp.Or(kind, "Resource") {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// address returns the address of a page of the console, or "" if there is no console or the names are not known: see router.ts
// and places.ts of the console.
func address(console string, names []string, view string, query url.Values) string {
	if console == "" || len(names) == 0 {
		return ""
	}
	to := console
	for _, name := range names {
		for part := range strings.SplitSeq(name, "/") {
			if part = url.PathEscape(part); part == "." || part == ".." {
				part = "=" + part
			}
			to += "/" + part
		}
	}
	if view != "" {
		to += "/~" + view
	}
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	return to
}
