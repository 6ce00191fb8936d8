package message_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atrium/internal/webhook/message"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

const (
	org     = core.UID("0123456789abcdef0123456789abcdef01234567")
	group   = org + "/00000000000000aa"
	hook    = group + "/00000000000000bb"
	repo    = group + "/00000000000000cc"
	console = "https://atrium.example.com/console"
)

// newMessage returns a message with images and changes, in which each text of others is name.
func newMessage(images, findings, changes int, name func(string) string) *webhooks.Message {
	at := core.At(time.Date(2026, 11, 29, 19, 0, 0, 0, time.UTC))
	m := &webhooks.Message{Event: &core.Event{ID: "1"}, Subscription: hook, GroupNames: []string{name("acme"), name("shop")}, Events: images + changes, First: at, Last: at}
	for i := range images {
		image := &webhooks.ImageNews{
			Key: core.ImageKey{Repo: repo, Digest: fmt.Sprintf("sha256:%064x", i)}, GroupNames: m.GroupNames, RepoName: name("checkout"), Tags: []string{name("1.0"), name("latest")},
			Opened: findings, Resolved: 1, Counts: []inventory.FindingClassCount{{Rating: core.SeverityCritical, KnownExploited: true, Count: 1}, {Rating: core.SeverityHigh, Count: findings - 1}},
		}
		for range min(findings, 5) {
			image.Worst = append(image.Worst, &inventory.Finding{
				VulnerabilityID: name("CVE-2021-44228"), Package: name("log4j-core"), InstalledVersion: name("2.14.1"), FixedVersions: []string{name("2.15.0")},
				Severity: inventory.AdvisorySeverity{Rating: core.SeverityCritical}, KnownExploited: true, State: inventory.FindingOpen,
			})
		}
		m.Images = append(m.Images, image)
	}
	for range changes {
		m.Changes = append(m.Changes, webhooks.ChangeNews{Kind: "RoleBinding", Verb: "created", Name: name("n"), GroupNames: m.GroupNames, Group: group, Actor: name("ada@example.com"), Time: at})
	}
	return m
}

func same(text string) string { return text }

// A slackMessage is what Slack documents of a message with blocks.
type slackMessage struct {
	Text      string
	Blocks    []slackBlock
	Parse     string
	LinkNames bool `json:"link_names"`
	Mrkdwn    bool
	Links     bool `json:"unfurl_links"`
	Media     bool `json:"unfurl_media"`
}

type slackBlock struct {
	Type     string
	Text     *slackText
	Elements []slackText
}

type slackText struct {
	Type, Text string
	Verbatim   bool
}

func slack(t *testing.T, m *webhooks.Message, console string) slackMessage {
	t.Helper()
	encoded, err := message.Slack(m, console)
	var decoded slackMessage
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.DisallowUnknownFields()
	if err == nil {
		err = decoder.Decode(&decoded)
	}
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

func TestAMessageSaysWhatHasHappenedAndWhereToSeeMore(t *testing.T) {
	t.Parallel()
	m := newMessage(1, 2, 1, same)
	m.Images[0].Worst = m.Images[0].Worst[:1]
	text := slack(t, m, console).Text
	findings := console + "/acme/shop/checkout?digest=" + url.QueryEscape(m.Images[0].Key.Digest) + "&amp;tab=findings"
	for _, want := range []string{
		"*Known exploited: 2 new findings, 1 resolved, 1 change in acme/shop/checkout:1.0*",
		"*<" + findings + "|acme/shop/checkout:1.0>* and the tags `latest`",
		"Findings: 2 opened (1 critical known exploited, 1 high), 1 resolved",
		"*Critical* <" + console + "/acme/shop/~advisories?id=CVE-2021-44228|CVE-2021-44228>, *known exploited* in `log4j-core` `2.14.1`: fixed in `2.15.0`",
		"and 1 more",
		"Role binding created: `n` in <" + console + "/acme/shop/~access|acme/shop> by `ada@\u200bexample.com`",
		"<" + console + "/acme/shop/~webhooks?hook=" + url.QueryEscape(string(hook)) + "|Show or delete the subscription>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}

func TestAMessageSaysWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	m := newMessage(1, 1, 0, same)
	f := m.Images[0].Worst[0]
	f.InstalledVersion, f.FixedVersions, f.Severity.Rating, f.KnownExploited = "", nil, core.SeverityUnknown, false
	m.Images[0].Counts = []inventory.FindingClassCount{{Rating: core.SeverityUnknown, Count: 1}}
	m.Images[0].Tags = nil
	text := message.NewMail(m, "").Text
	for _, want := range []string{"Severity not known CVE-2021-44228 in log4j-core, version not known: no fix is known", "1 severity not known", "acme/shop/checkout@sha256:"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "console") || strings.Contains(text, "<http") {
		t.Errorf("without a console there are links:\n%s", text)
	}
}

// The limits are those of https://docs.slack.dev/reference/block-kit/blocks.
func TestSlackTakesMessagesOfAnySize(t *testing.T) {
	t.Parallel()
	long := func(text string) string { return text + strings.Repeat("ü", 300) }
	for name, m := range map[string]*webhooks.Message{
		"small": newMessage(1, 1, 0, same), "only changes": newMessage(0, 0, 20, same), "many": newMessage(20, 5, 20, same), "long names": newMessage(20, 5, 20, long), "more images than are shown": newMessage(60, 5, 20, long),
	} {
		sent := slack(t, m, console)
		if len(sent.Blocks) > 50 {
			t.Errorf("%s: %d blocks, want at most 50", name, len(sent.Blocks))
		}
		if n := len([]rune(sent.Text)); n == 0 || n > 4000 {
			t.Errorf("%s: the text has %d characters, want 1 to 4000", name, n)
		}
		for _, b := range sent.Blocks {
			texts, most := b.Elements, 3000
			switch {
			case b.Type == "header" && b.Text.Type == "plain_text":
				texts, most = []slackText{*b.Text}, 150
			case b.Type == "section" && b.Text.Type == "mrkdwn" && b.Text.Verbatim:
				texts = []slackText{*b.Text}
			case b.Type == "context" && len(b.Elements) <= 10 && b.Elements[0].Type == "mrkdwn" && b.Elements[0].Verbatim:
			default:
				t.Errorf("%s: block %+v", name, b)
			}
			for _, text := range texts {
				if n := len([]rune(text.Text)); n == 0 || n > most {
					t.Errorf("%s: a text of a %s has %d characters, want 1 to %d", name, b.Type, n, most)
				}
			}
		}
		if sent.Parse != "none" || sent.LinkNames || !sent.Mrkdwn || sent.Links || sent.Media {
			t.Errorf("%s: names become mentions, or links have previews: %+v", name, sent)
		}
	}
}

// The schema is that of https://adaptivecards.io/schemas/1.5.0/adaptive-card.json.
func TestTeamsTakesMessagesOfAnySize(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/adaptive-card-1.5.json")
	if err != nil {
		t.Fatal(err)
	}
	published, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("card.json", published); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("card.json")
	if err != nil {
		t.Fatal(err)
	}
	long := func(text string) string { return text + strings.Repeat("ü", 300) }
	for name, m := range map[string]*webhooks.Message{
		"small": newMessage(1, 1, 0, same), "only changes": newMessage(0, 0, 20, same), "many": newMessage(20, 5, 20, same), "long names": newMessage(20, 5, 20, long),
	} {
		encoded, err := message.Teams(m, console)
		if err != nil {
			t.Fatal(err)
		}
		if len(encoded) > 28_000 {
			t.Errorf("%s: %d bytes, want at most 28,000", name, len(encoded))
		}
		var sent struct {
			Type        string
			Attachments []struct {
				ContentType string
				Content     json.RawMessage
			}
		}
		if err := json.Unmarshal(encoded, &sent); err != nil || sent.Type != "message" || len(sent.Attachments) != 1 || sent.Attachments[0].ContentType != "application/vnd.microsoft.card.adaptive" {
			t.Fatalf("%s: %s, %v", name, encoded, err)
		}
		card, err := jsonschema.UnmarshalJSON(bytes.NewReader(sent.Attachments[0].Content))
		if err == nil {
			err = schema.Validate(card)
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, sent.Attachments[0].Content)
		}
	}
}

// attacks are names that are markup somewhere.
var attacks = []string{
	"<!channel>", "<!here|x>", "<@U123>", "<https://evil.example|click>", "&lt;!channel&gt;", "@channel @all @here", "*bold* _it_ ~no~", "`code` `x", "a|b>c", "[click](https://evil.example)",
	"![x](https://evil.example/track.png)", "# head", "{{DATE(2026-01-01T00:00:00Z)}}", "${secret}", "@{triggerBody()}", "<at>all</at>", "<script>alert(1)</script>", `" onclick="alert(1)`, "</h1><img src=x onerror=alert(1)>",
	"a\r\nBcc: evil@example.com\r\n\r\nbody", "a\nb", "\u202egnp.exe", "a\x00b\x1b[31m", "https://evil.example", "www.evil.example", "javascript:alert(1)", "%0d%0aBcc:evil@example.com", "=?utf-8?q?=0D=0ABcc:x?=",
	strings.Repeat("x", 5000), "\xff\xfe", "",
}

var (
	slackLink   = regexp.MustCompile(`<([^<>|]*)(\|[^<>|]*)?>`)
	slackCode   = regexp.MustCompile("`[^`\n]*`")
	tag         = regexp.MustCompile(`<[^>]*>`)
	anchor      = regexp.MustCompile(`^<a href="(` + regexp.QuoteMeta(console) + `[^"<>]*)">$`)
	anyAddress  = regexp.MustCompile(`(?i)[a-z]+://[^\s>|"]+|www\.[a-z]`)
	isMentioned = regexp.MustCompile(`(^|[^A-Za-z0-9])@[A-Za-z]`)
)

// isOurs reports whether a link leads to the console.
func isOurs(link string) bool { return link == console || strings.HasPrefix(link, console+"/") }

func TestNoNameIsMarkupAMentionOrALink(t *testing.T) {
	t.Parallel()
	for _, attack := range attacks {
		m := newMessage(2, 2, 2, func(string) string { return attack })
		checkSlack(t, attack, slack(t, m, console))
		checkTeams(t, attack, m)
		checkMail(t, attack, message.NewMail(m, console))
	}
}

func checkSlack(t *testing.T, attack string, sent slackMessage) {
	t.Helper()
	texts := []string{sent.Text}
	for _, b := range sent.Blocks {
		if b.Type == "header" { // it has no markup
			if title := b.Text.Text; strings.ContainsAny(title, "<>\r\n\x00\x1b\u202e") || isMentioned.MatchString(title) {
				t.Errorf("%.60q: the title for Slack is %q", attack, title)
			}
			continue
		}
		for _, e := range append(b.Elements, b.texts()...) {
			texts = append(texts, e.Text)
		}
	}
	for _, text := range texts {
		for _, link := range slackLink.FindAllStringSubmatch(text, -1) {
			if !isOurs(strings.ReplaceAll(link[1], "&amp;", "&")) {
				t.Errorf("%.60q: Slack gets the link or mention %q", attack, link[0])
			}
		}
		plain := slackCode.ReplaceAllString(slackLink.ReplaceAllString(text, ""), "")
		if strings.ContainsAny(plain, "<>") || anyAddress.MatchString(plain) || isMentioned.MatchString(plain) || strings.Contains(plain, "](") {
			t.Errorf("%.60q: Slack, or a chat that reads its messages, gets markup: %q", attack, plain)
		}
		if isMentioned.MatchString(slackLink.ReplaceAllString(text, "")) || strings.ContainsAny(text, "\r\x00\x1b\u202e") {
			t.Errorf("%.60q: Slack gets %q", attack, text)
		}
	}
}

func (b slackBlock) texts() []slackText {
	if b.Text == nil {
		return nil
	}
	return []slackText{*b.Text}
}

func checkTeams(t *testing.T, attack string, m *webhooks.Message) {
	t.Helper()
	encoded, err := message.Teams(m, console)
	if err != nil {
		t.Fatal(err)
	}
	var sent any
	if err := json.Unmarshal(encoded, &sent); err != nil {
		t.Fatal(err)
	}
	var visit func(at any)
	visit = func(at any) {
		switch at := at.(type) {
		case []any:
			for _, one := range at {
				visit(one)
			}
		case map[string]any:
			switch at["type"] {
			case "TextBlock", "FactSet":
				t.Errorf("%.60q: a %s, whose text is Markdown", attack, at["type"])
			case "TextRun":
				if text, _ := at["text"].(string); strings.Contains(text, "{{") || strings.Contains(text, "${"+"s") || strings.Contains(text, "<at>") || strings.Contains(text, "@{t") || strings.ContainsAny(text, "\r\n\x00\x1b\u202e") {
					t.Errorf("%.60q: Teams gets %q", attack, text)
				}
			case "Action.OpenUrl":
				if to, _ := at["url"].(string); !isOurs(to) {
					t.Errorf("%.60q: Teams gets a link to %q", attack, to)
				}
			}
			for _, one := range at {
				visit(one)
			}
		}
	}
	visit(sent)
}

func checkMail(t *testing.T, attack string, sent message.Mail) {
	t.Helper()
	if strings.ContainsAny(sent.Subject+sent.Unsubscribe, "\r\n\x00\x1b\u202e") || len([]rune(sent.Subject)) > 150 || sent.Subject == "" {
		t.Errorf("%.60q: the subject is %q", attack, sent.Subject)
	}
	known := map[string]bool{"html": true, "head": true, "meta": true, "title": true, "body": true, "h1": true, "h2": true, "p": true, "div": true, "b": true, "code": true, "!DOCTYPE": true}
	for _, one := range tag.FindAllString(sent.HTML, -1) {
		name, _, _ := strings.Cut(strings.Trim(one, "<>/"), " ")
		if link := anchor.FindStringSubmatch(one); !known[name] && one != "</a>" && (link == nil || !isOurs(html.UnescapeString(link[1]))) {
			t.Errorf("%.60q: the HTML has %q", attack, one)
		}
	}
	if visible := tag.ReplaceAllString(sent.HTML, ""); anyAddress.MatchString(visible) {
		t.Errorf("%.60q: the HTML has an address that becomes a link: %q", attack, visible)
	}
	for _, found := range anyAddress.FindAllString(sent.Text, -1) {
		if !isOurs(found) {
			t.Errorf("%.60q: the text has the address %q", attack, found)
		}
	}
	if strings.ContainsAny(sent.Text+sent.HTML, "\r\x00\x1b\u202e") {
		t.Errorf("%.60q: the mail has characters of control", attack)
	}
}
