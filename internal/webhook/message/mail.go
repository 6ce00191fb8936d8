package message

import (
	"html"
	"strings"

	"atrium/platform/webhooks"
)

// A Mail is a message as mail.
type Mail struct {
	Subject     string // one line, in which nothing is an encoded word of RFC 2047
	Text        string
	HTML        string
	Unsubscribe string // address of the page where the subscription is ended; "" if there is no console
}

// maxSubject limits a subject, in characters: RFC 5322 allows lines of 998 bytes, and readers see about 100.
const maxSubject = 150

// NewMail writes a message as mail.
func NewMail(m *webhooks.Message, console string) Mail {
	d := newDocument(m, console)
	d.title = withoutAddress(d.title)
	text := []string{d.title, strings.Repeat("=", min(len([]rune(d.title)), 72)), textLine(d.intro)}
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>` + html.EscapeString(d.title) + `</title></head>` +
		`<body style="font-family:sans-serif;font-size:14px;line-height:1.5;color:#1c1c1c"><h1 style="font-size:18px">` + html.EscapeString(d.title) + "</h1><p>" + htmlLine(d.intro) + "</p>")
	for _, block := range d.blocks {
		text = append(text, "", textLine(block.head))
		b.WriteString(`<h2 style="font-size:15px;font-weight:normal;margin:16px 0 4px">` + htmlLine(block.head) + "</h2>")
		for _, l := range block.lines {
			text = append(text, textLine(l))
			b.WriteString(`<div>` + htmlLine(l) + "</div>\n")
		}
	}
	if d.link != "" {
		text = append(text, "", "Open in Atrium: "+d.link)
		b.WriteString(`<p><a href="` + html.EscapeString(d.link) + `">Open in Atrium</a></p>`)
	}
	text = append(text, "", "-- ", textLine(d.foot))
	b.WriteString(`<p style="color:#666;font-size:12px">` + htmlLine(d.foot) + "</p></body></html>\n")
	return Mail{Subject: shorten("[Atrium] "+strings.ReplaceAll(d.title, "=?", "="+noSpace+"?"), maxSubject), Text: strings.Join(text, "\n") + "\n", HTML: b.String(), Unsubscribe: d.hook}
}

// textLine writes a line without markup. Addresses follow the texts of the links.
func textLine(l line) string {
	var b strings.Builder
	for _, s := range l {
		if b.WriteString(withoutAddress(s.text)); s.url != "" {
			b.WriteString(" <" + s.url + ">")
		}
	}
	return b.String()
}

func htmlLine(l line) string {
	var b strings.Builder
	for _, s := range l {
		text := html.EscapeString(withoutAddress(s.text))
		switch s.look {
		case bold:
			text = "<b>" + text + "</b>"
		case code:
			text = `<code style="font-family:monospace">` + text + "</code>"
		}
		if s.url != "" {
			text = `<a href="` + html.EscapeString(s.url) + `">` + text + "</a>"
		}
		b.WriteString(text)
	}
	return b.String()
}

// withoutAddress separates what programs that show mail turn into a link by themselves.
func withoutAddress(text string) string {
	text = strings.ReplaceAll(text, "://", ":"+noSpace+"//")
	return strings.ReplaceAll(text, "www.", "www"+noSpace+".")
}
