package gate

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

func writeJSON(to io.Writer, results []Result) error {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Results []Result `json:"results"`
	}{results})
}

// markdownEscapes are the characters that mean something in Markdown or HTML.
var markdownEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "\\|", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "\\", "\\\\", "!", "\\!", "#", "\\#", "~", "\\~", "@", "&#64;")

func inMarkdown(text string) string { return markdownEscapes.Replace(oneLine(text)) }

func writeMarkdown(to io.Writer, results []Result) error {
	for _, r := range results {
		if _, err := fmt.Fprintf(to, "### %s\n\n%s\n\n", inMarkdown(r.Image), inMarkdown(r.summary())); err != nil {
			return err
		}
		if len(r.decoded.Findings) == 0 {
			continue
		}
		var b strings.Builder
		b.WriteString("| vulnerability | severity | package | installed | fix |\n|---|---|---|---|---|\n")
		for _, f := range r.decoded.Findings {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", inMarkdown(f.VulnerabilityID), f.rating(), inMarkdown(f.Package), inMarkdown(f.InstalledVersion), inMarkdown(f.fix()))
		}
		if more := r.decoded.more(); more > 0 {
			fmt.Fprintf(&b, "\nand %d more\n", more)
		}
		b.WriteByte('\n')
		for _, u := range r.decoded.Upgrades {
			fmt.Fprintf(&b, "- upgrade %s %s to %s: %d fewer\n", inMarkdown(u.Package), inMarkdown(u.From), inMarkdown(u.To), u.Findings)
		}
		b.WriteByte('\n')
		if _, err := io.WriteString(to, b.String()); err != nil {
			return err
		}
	}
	return nil
}

// annotationEscapes are those of the data of workflow commands; properties have two more.
var (
	annotationEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes   = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func writeGitHub(to io.Writer, results []Result) error {
	annotate := func(level, title, text string) error {
		_, err := fmt.Fprintf(to, "::%s title=%s::%s\n", level, propertyEscapes.Replace(oneLine(title)), annotationEscapes.Replace(oneLine(text)))
		return err
	}
	for _, r := range results {
		level := "error"
		if r.IsDecided() && !r.HasFailed() {
			level = "notice"
		}
		if err := annotate(level, r.Image, r.summary()); err != nil {
			return err
		}
		for _, f := range r.decoded.Findings {
			if err := annotate("error", f.VulnerabilityID+" in "+f.Package, f.text()); err != nil {
				return err
			}
		}
	}
	return nil
}

type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Failure *junitMessage `xml:"failure,omitempty"`
		Error   *junitMessage `xml:"error,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

func writeJUnit(to io.Writer, results []Result) error {
	var all junitSuites
	for _, r := range results {
		s := junitSuite{Name: r.Image}
		switch {
		case !r.IsDecided():
			s.Errors, s.Cases = 1, []junitCase{{Name: "check", Class: r.Image, Error: &junitMessage{r.summary(), r.Reason()}}}
		case !r.HasFailed():
			s.Cases = []junitCase{{Name: "check", Class: r.Image}}
		}
		for _, f := range r.decoded.Findings {
			s.Cases = append(s.Cases, junitCase{Name: f.VulnerabilityID + " in " + f.Package, Class: r.Image, Failure: &junitMessage{f.text(), f.text()}})
		}
		if more := r.decoded.more(); more > 0 {
			text := fmt.Sprintf("%d more findings fail the image", more)
			s.Cases = append(s.Cases, junitCase{Name: text, Class: r.Image, Failure: &junitMessage{text, text}})
		}
		if s.Tests = len(s.Cases); r.HasFailed() {
			s.Failures = s.Tests
		}
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(to, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(to)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(to, "\n")
	return err
}
