package house

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// englishRules find what is wrong wherever it stands. What is a matter of taste is in CONTRIBUTING, "Style".
var englishRules = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"American spelling", regexp.MustCompile(`(?i)\b(?:organis|licenc|recognis|summaris|normalis|authoris|serialis|initialis|optimis(?:e|ing|ation)|minimis(?:e|ing)|behaviour|colour|centre|favour|honour|neighbour|artefact|judgement|analyse|cancelled|labelled|grey)\w*`)}, //nolint:misspell // It finds these spellings.
	{"say who does it: `X reports`, `you see`", regexp.MustCompile(`(?i)\b(?:is|are|was|were) (?:not |never |also )?told\b`)},
	{"begin with the verb: `Use X to ...`", regexp.MustCompile(`(?:^|[.:;] )What (?:is|are|was) (?:new|left|missing|gone|known|to [a-z]+) (?:is|are) `)},
	{"say `you`, or who it is", regexp.MustCompile(`(?i)\bone whom\b|\bthose whom\b|\bof whom\b|\bwhoever\b|^whom\b`)},
	{"leave the word out", regexp.MustCompile(`(?i)\b(?:simply|obviously|easily|of course|please note)\b`)},
	{"say what it shows, has or says", regexp.MustCompile(`(?i)\b(?:Atrium|(?:server|service|page|command|answer|event|log|database|catalog|source|SBOM|console|message)s?) tells?\b`)},
	{"a severity is `at least` or `at most` a rating", regexp.MustCompile(`(?i)\bor (?:a )?(?:worse|better)\b`)},
	{"say `ignoring case`", regexp.MustCompile(`(?i)\bwhatever the case\b`)},
	{"say `including`", regexp.MustCompile(`(?i)\balso (?:those|ones?) (?:that|who|of)\b`)},
	{"say `must be`", regexp.MustCompile(`(?i)\b(?:is|are) to be (?:fixed|set|sent|read|given|decided)\b`)},
	{"say `fix` or `remove`", regexp.MustCompile(`(?i)\b(?:do|does|did|done|doing) away with\b`)},
	{"say `unknown`", regexp.MustCompile(`(?i)\bof which (?:it is not|nothing is) known\b`)},
	{"the word of the field is `acceptance rule`", regexp.MustCompile(`(?i)\brules? of acceptance\b`)},
	{"two words that are one", regexp.MustCompile(`(?i)\b(?:a lot of times|for ever|in order that)\b`)},
}

// maxSentence is the number of words that a sentence may have.
const maxSentence = 45

// Every page that people read is in plain American English, as far as a program can see.
func TestTheEnglishOfPages(t *testing.T) {
	t.Parallel()
	pages := 0
	walk(t, func(file string) {
		if filepath.Ext(file) != ".md" || slices.Contains(laterEnglish, file) {
			return
		}
		pages++
		for _, fault := range englishFaults(read(t, file)) {
			t.Errorf("%s: %s", file, fault)
		}
	})
	if pages < 20 {
		t.Fatalf("%d pages are found", pages)
	}
}

// descriptions find what people read in other files: descriptions of GraphQL, REST and gRPC, and the help of commands.
var descriptions = map[string]*regexp.Regexp{
	"schema/*.graphqls":                  regexp.MustCompile(`(?s)""".*?"""|(?m:^\s*"(?:[^"\\\n]|\\.)+"$)`),
	"schema/proto/platform/*/v2/*.proto": regexp.MustCompile(`(?m)(?:^[ \t]*//.*\n)+`),
	"internal/rest/texts/*.txt":          regexp.MustCompile(`(?m)^[^#\n].*`),
	"cmd/atrium/*.go":                    regexp.MustCompile(`help:"[^"]+"`),
}

var markOfDescription = regexp.MustCompile(`(?m)^\s*(?:"+|//)|^help:"|"+$`)

func TestTheEnglishOfDescriptions(t *testing.T) {
	t.Parallel()
	for pattern, description := range descriptions {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range description.FindAllString(string(text), -1) {
				found++
				for _, fault := range englishFaults(markOfDescription.ReplaceAllString(one, "")) {
					t.Errorf("%s: %s", file, fault)
				}
			}
		}
		if found < 200 {
			t.Errorf("%s has %d descriptions", pattern, found)
		}
	}
}

// The schema, the code and its messages are in American spelling too. CANCELLED is a code of gRPC, and names with it follow.
func TestTheSpellingIsAmerican(t *testing.T) {
	t.Parallel()
	files := 0
	walk(t, func(file string) {
		if !slices.Contains([]string{".go", ".graphqls", ".proto", ".ts", ".tsx", ".mjs", ".sql", ".css", ".html", ".yaml"}, filepath.Ext(file)) || file == "internal/house/english_test.go" {
			return
		}
		files++
		text := ofProtocol.ReplaceAllString(read(t, file), "")
		for _, word := range britishWord.FindAllString(text, -1) {
			t.Errorf("%s: %s", file, word)
		}
	})
	if files < 500 {
		t.Fatalf("%d files are found", files)
	}
}

var (
	britishWord = regexp.MustCompile(`(?i)organisa|licenc|recognis|summaris|normalis|authoris|(?:\b|de)serialis|initialis|behaviour|colour|\bcentre|favour|honour|neighbour|artefact|judgement|labelled`) //nolint:misspell // It finds these spellings.
	ofProtocol  = regexp.MustCompile(`Connection initialisation timeout|Too many initialisation requests|aria-labelledby`)                                                                                //nolint:misspell // graphql-transport-ws and ARIA say so.
)

// laterEnglish lists pages that are not mended yet.
var laterEnglish = []string{
	"CHANGELOG.md",
}

var (
	codeOfMarkdown = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")
	targetOfLink   = regexp.MustCompile(`\]\([^)]*\)`)
	startOfItem    = regexp.MustCompile(`(?m)^(?:\s*[-*]|\s*\d+\.|#+|>)\s|\|`)
	endOfSentence  = regexp.MustCompile(`[.!?:;](?:\s|$)`)
	anyWord        = regexp.MustCompile(`[\pL\pN][\pL\pN'’-]*`)
)

// englishFaults finds faults in the prose of a page: code, targets of links and quotes of what is wrong are left out.
func englishFaults(page string) (faults []string) {
	page, _, _ = strings.Cut(page, "\n| not | but |\n") // The table of the style page names faults.
	page = targetOfLink.ReplaceAllString(codeOfMarkdown.ReplaceAllString(page, "X"), "]")
	for _, paragraph := range strings.Split(startOfItem.ReplaceAllString(page, "\n\n"), "\n\n") {
		paragraph = strings.Join(strings.Fields(paragraph), " ")
		for _, rule := range englishRules {
			if found := rule.pattern.FindString(paragraph); found != "" {
				faults = append(faults, `"`+found+`": `+rule.name)
			}
		}
		for _, sentence := range endOfSentence.Split(paragraph, -1) {
			words := anyWord.FindAllString(sentence, -1)
			if len(words) > maxSentence {
				faults = append(faults, "one idea a sentence: "+sentence)
			}
			for i := 1; i < len(words); i++ {
				if doubled := words[i-1] + " " + words[i]; words[i-1] == words[i] && words[i] != "X" && strings.Contains(sentence, doubled) && words[i][0] > '9' {
					faults = append(faults, `"`+doubled+`": a word stands there twice`)
				}
			}
		}
	}
	return faults
}

func TestFaultsOfEnglishAreFound(t *testing.T) {
	t.Parallel()
	bad := "The organisation is told of it. What is new is here; whoever asks simply asks the the server for ever.\n\n" +
		"The page tells of findings that are rated so or worse, also those that are to be fixed.\n\n" + strings.Repeat("word and ", 25) + "end.\n"
	if got := englishFaults(bad); len(got) != 12 {
		t.Errorf("%d faults are found: %q", len(got), got)
	}
	good := "# Organizations\n\nYou see `the organisation`, and [a link](organisation.md). Numbers: 1 1.\n\n```sh\ncolour colour\n```\n| a b | a b |\n"
	if got := englishFaults(good); len(got) != 0 {
		t.Errorf("these are no faults: %q", got)
	}
}
