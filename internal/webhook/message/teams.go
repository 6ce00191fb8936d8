package message

import (
	"encoding/json"
	"strings"

	"atrium/platform/webhooks"
)

// teamsBytes is the longest message that an incoming webhook or a workflow of Microsoft Teams takes: 28 KB.
const teamsBytes = 28_000

// Teams writes a message as an adaptive card. If the card becomes too large, it shows fewer blocks and says so.
func Teams(m *webhooks.Message, console string) ([]byte, error) {
	d := newDocument(m, console)
	for shown := len(d.blocks); ; shown-- {
		encoded, err := json.Marshal(newTeamsMessage(d, shown))
		if err != nil || len(encoded) <= teamsBytes || shown == 0 {
			return encoded, err
		}
	}
}

type teamsMessage struct {
	Type        string            `json:"type"`
	Attachments []teamsAttachment `json:"attachments"`
}

type teamsAttachment struct {
	ContentType string    `json:"contentType"`
	ContentURL  *string   `json:"contentUrl"`
	Content     teamsCard `json:"content"`
}

type teamsCard struct {
	Schema  string         `json:"$schema"`
	Type    string         `json:"type"`
	Version string         `json:"version"`
	Body    []teamsElement `json:"body"`
	Actions []teamsAction  `json:"actions,omitempty"`
}

// A teamsElement is a RichTextBlock or a Container. Only a RichTextBlock has texts, because those of a TextBlock are Markdown.
type teamsElement struct {
	Type      string         `json:"type"`
	Items     []teamsElement `json:"items,omitempty"`
	Inlines   []teamsRun     `json:"inlines,omitempty"`
	Separator bool           `json:"separator,omitempty"`
	Spacing   string         `json:"spacing,omitempty"`
}

type teamsRun struct {
	Type         string       `json:"type"`
	Text         string       `json:"text"`
	Size         string       `json:"size,omitempty"`
	Weight       string       `json:"weight,omitempty"`
	FontType     string       `json:"fontType,omitempty"`
	IsSubtle     bool         `json:"isSubtle,omitempty"`
	SelectAction *teamsAction `json:"selectAction,omitempty"`
}

type teamsAction struct {
	Type  string `json:"type"`
	Title string `json:"title,omitempty"`
	URL   string `json:"url"`
}

const openURL = "Action.OpenUrl"

func newTeamsMessage(d *document, shown int) teamsMessage {
	title := teamsLine(line{{text: d.title, look: bold}})
	title.Inlines[0].Size = "Large"
	body := []teamsElement{title, teamsLine(d.intro)}
	for _, b := range d.blocks[:shown] {
		container := teamsElement{Type: "Container", Separator: true, Items: []teamsElement{teamsLine(b.head)}}
		for _, l := range b.lines {
			container.Items = append(container.Items, teamsLine(l))
		}
		body = append(body, container)
	}
	if shown < len(d.blocks) {
		body = append(body, teamsLine(line{{text: "There is more than fits into a card."}}))
	}
	foot := teamsLine(d.foot)
	foot.Separator = true
	for i := range foot.Inlines {
		foot.Inlines[i].IsSubtle = true
	}
	card := teamsCard{Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: "1.5", Body: append(body, foot)}
	if d.link != "" {
		card.Actions = []teamsAction{{openURL, "Open in Atrium", d.link}}
	}
	return teamsMessage{"message", []teamsAttachment{{ContentType: "application/vnd.microsoft.card.adaptive", Content: card}}}
}

func teamsLine(l line) teamsElement {
	block := teamsElement{Type: "RichTextBlock", Spacing: "Small"}
	for _, s := range l {
		if s.text == "" {
			continue
		}
		run := teamsRun{Type: "TextRun", Text: escapeTeams(s.text)}
		switch s.look {
		case bold:
			run.Weight = "Bolder"
		case code:
			run.FontType = "Monospace"
		}
		if s.url != "" {
			run.SelectAction = &teamsAction{Type: openURL, URL: s.url}
		}
		block.Inlines = append(block.Inlines, run)
	}
	return block
}

// escapeTeams separates what a card, or a workflow that passes it on, replaces in texts: functions such as {{DATE(...)}} and
// ${...}, expressions such as @{...}, and mentions such as <at>...</at>.
func escapeTeams(text string) string {
	return strings.NewReplacer("{", "{"+noSpace, "<", "<"+noSpace).Replace(text)
}
