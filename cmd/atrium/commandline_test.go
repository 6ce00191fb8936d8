package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestEveryFaultOfTheConfigurationIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	_, _, err := atrium(t, map[string]string{"ATRIUM_ALLOW_SIGNUP": "perhaps", "ATRIUM_ENCRYPTION_KEY": "c2VjcmV0", "ATRIUM_ADDR": "8080"},
		"serve", "--database-url", "mysql://u:secret@h/d", "--audience=", "--trust-issuer", "ftp://x", "--trust-issuer", "https://good.example",
		"--graphql-limit=dept=3", "--graphql-timeout=1h", "--graphql-body=-1", "--trusted-documents", "/nowhere", "--private-issuer", "https://h", "--private-sink", "h", "--trusted-proxy", "0.0.0.0/0", "--service-domain", "A b", "--log-level", "loud", "--dev=maybe",
		"--cors-origin", "*", "--rate-limit=-1", "--rate-burst=0", "--max-in-flight=-1", "--max-concurrent=-2", "--v1-upstream", "https://u:secret@v1.example.com/base", "--v1-timeout=0s", "--grpc-package-alias", "Acme", "--tls-cert", "cert.pem")
	var usage usageError
	if !errors.As(err, &usage) || exitCode(err) != 2 {
		t.Fatalf("error %v, want exit code 2", err)
	}
	text := err.Error()
	for _, flag := range []string{
		"database-url", "audience", "trust-issuer", "graphql-limit", "graphql-timeout", "graphql-body", "trusted-documents", "private-issuer", "private-sink", "trusted-proxy", "service-domain", "log-level", "dev", "allow-signup", "encryption-key", "addr",
		"cors-origin", "rate-limit", "rate-burst", "max-in-flight", "max-concurrent", "v1-upstream", "v1-timeout", "grpc-package-alias", "tls-key",
	} {
		if !strings.Contains(text, "--"+flag+" ("+variable(flag)+"): ") {
			t.Errorf("no fault of --%s in\n%s", flag, text)
		}
	}
	if strings.Contains(text, "secret") || strings.Contains(text, "c2VjcmV0") || strings.Contains(text, "good.example") {
		t.Errorf("the faults show what they must not:\n%s", text)
	}
}

// Every flag that is no text has a value of the wrong type.
func TestEveryValueOfAWrongTypeIsReportedWithItsVariable(t *testing.T) {
	t.Parallel()
	f := &faults{}
	parser, err := newParser(program{stdout: io.Discard, stderr: io.Discard}, f, newSources(variables(nil), f), allKinds()[:1])
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(false) {
		env, wrong := map[string]string{}, []string{}
		for _, flag := range command.Flags {
			if kind := flag.Target.Type(); kind.Kind() != reflect.String && kind != reflect.TypeFor[[]string]() && kind != reflect.TypeFor[*string]() && !isUnset(flag) {
				env[variable(flag.Name)], wrong = "wrong", append(wrong, flag.Name)
			}
		}
		args := wordsOf(command)
		for range command.Positional {
			args = append(args, "x")
		}
		_, err := parse(args, program{lookup: variables(env), environ: list(env), stdout: io.Discard, stderr: io.Discard})
		for _, flag := range wrong {
			if exitCode(err) != 2 || strings.Count(err.Error(), "--"+flag+" ("+variable(flag)+"): must be ") != 1 {
				t.Errorf("%s: %v, want one fault of --%s", command.FullPath(), err, flag)
			}
		}
	}
	_, _, err = atrium(t, nil, "serve", "--config", writeFile(t, "c.yaml", "rate-limit: [1, 2]\nslow: fast\ndatabase-url: [hunter2]\nlog-level: loud"))
	for _, want := range []string{`--rate-limit (ATRIUM_RATE_LIMIT): must be a number, not "[1 2]"`, `--slow (ATRIUM_SLOW): must be a duration such as 90s, 15m or 2h, not "fast"`, "--database-url (ATRIUM_DATABASE_URL): must be one text\n", "--log-level (ATRIUM_LOG_LEVEL): must be debug"} {
		if exitCode(err) != 2 || !strings.Contains(err.Error()+"\n", want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("from a file: %v, want a fault %q", err, want)
		}
	}
}

func TestCommasAndSemicolonsSeparateNumbers(t *testing.T) {
	t.Parallel()
	want := map[string]int{"cost": 10, "depth": 5, "sockets": 7}
	for _, text := range []string{"cost=10,depth=5", "cost=10;depth=5", "cost=10, depth=5,"} {
		if got := parseServe(t, nil, "--graphql-limit", text, "--graphql-limit=sockets=7").GraphqlLimit; !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if got := parseServe(t, map[string]string{"ATRIUM_GRAPHQL_LIMIT": "cost=10,depth=5,sockets=7"}).GraphqlLimit; !maps.Equal(got, want) {
		t.Errorf("in a variable: %v, want %v", got, want)
	}
	if _, _, err := atrium(t, map[string]string{"ATRIUM_GRAPHQL_LIMIT": "cost:10"}, "serve"); exitCode(err) != 2 || !strings.Contains(err.Error(), `--graphql-limit (ATRIUM_GRAPHQL_LIMIT): must be NAME=N, with commas between several, not "cost:10"`) {
		t.Errorf("an invalid map: %v, want an error that names the form", err)
	}
}

func TestAllMissingFlagsOfACommandAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	for args, flags := range map[string][]string{
		"admin bootstrap":                                       {"org", "issuer", "subject"},
		"import osv x --group x --database-url x":               {"group", "database-url"},
		"import registry x --group 0 --no-events=x":             {"group", "no-events"},
		"admin import oci x.io --concurrency 65 --prune=x":      {"group", "concurrency", "prune"},
		"version -o yaml":                                       {"output"},
		"admin status -o wide --database-url x:y":               {"output", "database-url"},
		"token --as king --ttl 25h --issuer x":                  {"as", "ttl", "issuer"},
		"events tail --url x --group 0 --first=-1 --output xml": {"url", "group", "first", "output"},
		"query {x} --url https://h.example --variables []":      {"token", "variables"},
		"query {x} --url http://u:p@h --token=\x00":             {"token", "url"},
		"admin recount --database-url sqlite:":                  {"database-url"},
		"admin rotate-keys --database-url sqlite::memory:":      {"database-url"},
		"admin change-encryption-key --encryption-key x":        {"encryption-key", "new-encryption-key"},
		"admin migrate status --database-url postgresql:/x/":    {"database-url"},
	} {
		_, _, err := atrium(t, nil, strings.Fields(args)...)
		if exitCode(err) != 2 {
			t.Errorf("%s: error %v, want exit code 2", args, err)
			continue
		}
		for _, flag := range flags {
			if !strings.Contains(err.Error(), "--"+flag+" (") {
				t.Errorf("%s: no fault of --%s in %v", args, flag, err)
			}
		}
	}
}

func TestOnlyImportsThatRecordEventsCanBeSilent(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{"registry": true, "oci": true, "osv": false, "artifacts": false} {
		help, _, err := atrium(t, nil, append(importWords(command), "--help")...)
		if got := strings.Contains(help, "--no-events"); err != nil || got != want {
			t.Errorf("import %s has --no-events: %v, want %v (%v)", command, got, want, err)
		}
	}
}

func TestAnIssuerWithPlainHTTPMustBeNamed(t *testing.T) {
	t.Parallel()
	check := func(args ...string) error {
		_, err := parse(append([]string{"serve", "--console-client-id", "console"}, args...), program{lookup: variables(nil), environ: list(nil), stdout: io.Discard, stderr: io.Discard})
		return err
	}
	const plain = "http://127.0.0.1:3010"
	err := check("--console-issuer", plain, "--trust-issuer", plain, "--private-issuer", "127.0.0.1:3011", "--private-sink", "127.0.0.1:3010")
	if exitCode(err) != 2 || !strings.Contains(err.Error(), "--console-issuer (") || !strings.Contains(err.Error(), "--trust-issuer (") || !strings.Contains(err.Error(), "--private-issuer must name its host and port") {
		t.Errorf("without the host: %v, want faults of --console-issuer and --trust-issuer", err)
	}
	for _, own := range [][]string{{"--addr", "127.0.0.1:3010"}, {"--metrics-addr", "127.0.0.1:3010"}} {
		if err := check(append(own, "--private-sink", "127.0.0.1:3010")...); exitCode(err) != 2 || !strings.Contains(err.Error(), "--private-sink (ATRIUM_PRIVATE_SINK): \"127.0.0.1:3010\" is an address of this server itself") {
			t.Errorf("%v: %v, want a fault of --private-sink", own, err)
		}
	}
	for _, args := range [][]string{{plain, "--private-issuer", "127.0.0.1:3010"}, {"https://login.example.com"}} {
		if err := check(append([]string{"--console-issuer"}, args...)...); err != nil {
			t.Errorf("%v: %v, want no error", args, err)
		}
	}
}

func TestAFlagOverridesItsVariableAndAnEmptyVariableIsUnset(t *testing.T) {
	t.Parallel()
	env := map[string]string{"ATRIUM_ADDR": "127.0.0.1:1", "ATRIUM_DEV": "true", "ATRIUM_AUDIENCE": "a,b", "ATRIUM_MIGRATE": "false", "ATRIUM_LOG_LEVEL": ""}
	picked, err := parse([]string{"serve", "--addr", "127.0.0.1:2"}, program{lookup: variables(env), environ: list(env), stdout: io.Discard, stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	c := picked.(*serveCommand)
	if c.Addr != "127.0.0.1:2" || !c.Dev || c.Migrate || c.LogLevel != "info" || !slices.Equal(c.Audience, []string{"a", "b"}) {
		t.Errorf("parsed %+v, want Addr '127.0.0.1:2', LogLevel 'info' and Audience %v", c, []string{"a", "b"})
	}
}

func TestEveryFlagNamesItsVariableInTheHelp(t *testing.T) {
	t.Parallel()
	f := &faults{}
	parser, err := newParser(program{lookup: os.LookupEnv, stdout: io.Discard, stderr: io.Discard}, f, newSources(os.LookupEnv, f), allKinds()[:1])
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(false) {
		help, _, err := atrium(t, nil, append(wordsOf(command), "--help")...)
		if err != nil {
			t.Errorf("%s --help: %v", command.FullPath(), err)
		}
		for _, flag := range command.Flags {
			checkHelp(t, flag, help)
		}
	}
}

// wordsOf returns the words of a command, without the other names that stand in brackets.
func wordsOf(command *kong.Node) []string {
	return slices.DeleteFunc(strings.Fields(command.FullPath())[1:], func(word string) bool { return strings.HasPrefix(word, "(") })
}

func checkHelp(t *testing.T, flag *kong.Flag, help string) {
	t.Helper()
	if !isUnset(flag) && !strings.Contains(help, "($"+variable(flag.Name)+")") {
		t.Errorf("--%s is without its variable", flag.Name)
	}
}

func TestHelpIsPrintedWithoutArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  []string
		usage string
	}{{nil, "<command>"}, {[]string{"--help"}, "<command>"}, {[]string{"help"}, "<command>"}, {[]string{"serve", "-h"}, "serve"}, {[]string{"help", "import", "osv"}, "import osv"}} {
		if out, _, err := atrium(t, nil, c.args...); err != nil || !strings.Contains(out, "Usage: atrium "+c.usage) {
			t.Errorf("%v: %v\n%s, want the usage of %s", c.args, err, out, c.usage)
		}
	}
	if _, _, err := atrium(t, nil, "sreve"); exitCode(err) != 2 {
		t.Errorf("error %v, want exit code 2", err)
	}
}

// Nobody who has a token looks for the flags of a database first.
func TestTheHelpBeginsWithWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   string
		titles []string // in their order
	}{
		{"--help", []string{"Sign in:", "Look and decide:", "Gate a build:", "Import and export:", "Serve:", "This program:", "Flags:"}},
		{"list findings --help", []string{"Flags:", "Filters:", "Server:", "Database:", "All commands:"}},
		{"admin --help", []string{"Commands:", "All commands:"}},
		{"admin status --help", []string{"Flags:", "Database:", "All commands:"}},
	} {
		help, _, err := atrium(t, nil, strings.Fields(c.args)...)
		if titles := regexp.MustCompile(`(?m)^[A-Z][a-z ]+:$`).FindAllString(help, -1); err != nil || !slices.Equal(titles, c.titles) {
			t.Errorf("%s: %q (%v), want %q", c.args, titles, err, c.titles)
		}
	}
}

func TestTheOldNameOfACommandLeadsToIt(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{"backup x.db": "operators: atrium admin backup", "import kev x.json": "operators: atrium admin import kev", "sreve": "", "import nothing": ""} {
		_, _, err := atrium(t, nil, strings.Fields(args)...)
		_, led, _ := strings.Cut(fmt.Sprint(err), "; it is a command of ")
		if exitCode(err) != 2 || led != want {
			t.Errorf("%s: %v, want exit code 2 and %q", args, err, want)
		}
	}
}

// Whoever has only a token can run every command outside of admin, but those that serve.
func TestOnlyCommandsOfOperatorsNeedTheDatabase(t *testing.T) {
	t.Parallel()
	f := &faults{}
	parser, err := newParser(program{stdout: io.Discard, stderr: io.Discard}, f, newSources(variables(nil), f), allKinds()[:1])
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(false) {
		has := func(name string) bool {
			return slices.ContainsFunc(command.Flags, func(flag *kong.Flag) bool { return flag.Name == name })
		}
		words := wordsOf(command)
		switch isAdmin, serves := words[0] == "admin", slices.Contains([]string{"serve", "demo", "token"}, words[0]); {
		case isAdmin && has("url"):
			t.Errorf("%q goes to a server: it is no command of operators alone", words)
		case !isAdmin && !serves && has("database-url") && !has("url"):
			t.Errorf("%q needs the database: it belongs below admin", words)
		}
	}
}

func TestAnEncryptionKeyIsHexOrBase64Of32Bytes(t *testing.T) {
	t.Parallel()
	key := bytes.Repeat([]byte{0xfb, 0xff}, 16) // In base64 this key contains + and /.
	for _, good := range []string{
		hex.EncodeToString(key), base64.StdEncoding.EncodeToString(key), base64.RawURLEncoding.EncodeToString(key) + "\n",
	} {
		f := faults{}
		if got := encryptionKey(&f, "encryption-key", good); !bytes.Equal(got, key) || len(f) > 0 {
			t.Errorf("%s: %x, want %x, %v", good, got, key, f)
		}
	}
	for _, bad := range []string{"00", strings.Repeat("0", 62), "!"} {
		f := faults{}
		if encryptionKey(&f, "encryption-key", bad); len(f) != 1 {
			t.Errorf("%q: %v, want 1 of them", bad, f)
		}
	}
}

func TestCommandsDoNotCreateADatabaseForAMistypedPath(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "typo.db")
	for _, args := range []string{"token", "admin recount", "admin rotate-keys", "admin change-encryption-key --new-encryption-key " + strings.Repeat("0", 64), "admin migrate status", "import osv . --group " + strings.Repeat("0", 40)} {
		_, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": "sqlite:" + path}, strings.Fields(args)...)
		if err == nil || !strings.Contains(err.Error(), "there is no database "+path) {
			t.Errorf("%s: %v", args, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("%s: made the file", args)
		}
	}
}
