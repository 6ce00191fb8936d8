package message

import (
	"encoding/json"
	"strings"
	"unicode"

	"atrium/platform/webhooks"
)

// The limits of Slack: https://docs.slack.dev/reference/block-kit/blocks, and of a message whose text is read by other chats.
const (
	slackBlocks  = 50
	slackHeader  = 150
	slackSection = 3000
	slackText    = 4000
)

// Slack writes a message for an incoming webhook of Slack. Mattermost and Rocket.Chat read its text, and ignore the blocks.
func Slack(m *webhooks.Message, console string) ([]byte, error) {
	d := newDocument(m, console)
	blocks := []slackBlock{
		{Type: "header", Text: &slackObject{Type: "plain_text", Text: shorten(slackPlain.Replace(withoutMentions(d.title)), slackHeader)}},
		{Type: "context", Elements: []slackObject{newMarkdown(fitLine(d.intro))}},
	}
	text := []string{"*" + escapeSlack(d.title) + "*", slackLine(d.intro)}
	for _, b := range d.blocks {
		section := slackLines(b, slackSection)
		text = append(text, "", section)
		if len(blocks) < slackBlocks-1 {
			markdown := newMarkdown(section)
			blocks = append(blocks, slackBlock{Type: "section", Text: &markdown})
		}
	}
	blocks = append(blocks, slackBlock{Type: "context", Elements: []slackObject{newMarkdown(fitLine(d.foot))}})
	return json.Marshal(slackMessage{
		Text: cutLines(append(text, "", slackLine(d.foot)), slackText), Blocks: blocks, Parse: "none", Markdown: true,
	})
}

// A slackMessage is the body of a request to an incoming webhook. Names are not turned into mentions, and links show no previews.
type slackMessage struct {
	Text        string       `json:"text"` // what a notification shows, and chats without blocks
	Blocks      []slackBlock `json:"blocks"`
	Parse       string       `json:"parse"`
	LinkNames   bool         `json:"link_names"`
	Markdown    bool         `json:"mrkdwn"`
	UnfurlLinks bool         `json:"unfurl_links"`
	UnfurlMedia bool         `json:"unfurl_media"`
}

type slackBlock struct {
	Type     string        `json:"type"`
	Text     *slackObject  `json:"text,omitempty"`
	Elements []slackObject `json:"elements,omitempty"`
}

type slackObject struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Verbatim *bool  `json:"verbatim,omitempty"`
}

// newMarkdown returns a text with the markup of Slack, in which addresses and names of channels are not turned into links.
func newMarkdown(text string) slackObject {
	verbatim := true
	return slackObject{"mrkdwn", text, &verbatim}
}

// slackLines returns the lines of a block that fit.
func slackLines(b block, most int) string {
	lines := []string{fitLine(b.head)}
	for _, l := range b.lines {
		lines = append(lines, slackLine(l))
	}
	return cutLines(lines, most)
}

// cutLines joins as many lines as fit.
func cutLines(lines []string, most int) string {
	text := strings.Join(lines, "\n")
	if len([]rune(text)) <= most {
		return text
	}
	for n := len(lines); n > 0; n-- {
		if text = strings.Join(lines[:n], "\n") + "\n…"; len([]rune(text)) <= most {
			return text
		}
	}
	return "…"
}

// fitLine writes a line of the names of many groups without its links, if a block has no room for these.
func fitLine(l line) string {
	text := slackLine(l)
	if len([]rune(text)) < slackSection {
		return text
	}
	var plain line
	for _, s := range l {
		plain = append(plain, span{text: s.text, look: s.look})
	}
	return cutLines([]string{slackLine(plain)}, slackSection)
}

func slackLine(l line) string {
	var b strings.Builder
	for _, s := range l {
		switch {
		case s.text == "":
		case s.url != "":
			text := "<" + escapeSlackURL(s.url) + "|" + strings.ReplaceAll(escapeSlack(s.text), "|", "¦") + ">"
			if s.look == bold {
				text = "*" + text + "*"
			}
			b.WriteString(text)
		case s.look == bold:
			b.WriteString("*" + escapeSlack(s.text) + "*")
		case s.look == code:
			b.WriteString("`" + slackEntities.Replace(withoutMentions(strings.ReplaceAll(s.text, "`", "ˋ"))) + "`")
		default:
			b.WriteString(escapeSlack(s.text))
		}
	}
	return b.String()
}

// slackEntities replaces the characters that begin mentions and links.
var slackEntities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// slackPlain replaces them in a text without markup, in which no escape is documented.
var slackPlain = strings.NewReplacer("<", "‹", ">", "›")

// escapeSlackURL replaces what would end a link.
func escapeSlackURL(to string) string {
	return strings.NewReplacer("&", "&amp;", "<", "%3C", ">", "%3E", "|", "%7C").Replace(to)
}

// noSpace separates two characters and shows nothing: U+200B.
const noSpace = "\u200b"

// withoutMentions separates what Mattermost and Rocket.Chat take for a mention or an address, also in a text without markup.
func withoutMentions(text string) string {
	text = strings.ReplaceAll(text, "@", "@"+noSpace)
	text = strings.ReplaceAll(text, "://", ":"+noSpace+"//")
	return strings.ReplaceAll(text, "www.", "www"+noSpace+".")
}

// escapeSlack makes a text that Slack, Mattermost and Rocket.Chat show as it is. They know no escape for the characters of
// markup, so one that could begin or end something is separated from what follows by nothing that is visible.
func escapeSlack(text string) string {
	text = slackEntities.Replace(withoutMentions(text))
	var b strings.Builder
	runes := []rune(text)
	isWord := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	for i, r := range runes {
		switch {
		case r == '_' && isWord(i-1) && isWord(i+1): // inside of a name it is no markup
			b.WriteRune(r)
		case strings.ContainsRune("*_~`[]!#\\", r):
			b.WriteString(noSpace + string(r) + noSpace)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
