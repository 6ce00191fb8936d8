package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/store/storetest"
)

// writeFile creates a file for the test.
func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// parseServe returns the flags of serve as the program parses them.
func parseServe(t *testing.T, env map[string]string, args ...string) *serveCommand {
	t.Helper()
	picked, err := parse(append([]string{"serve"}, args...), program{lookup: variables(env), environ: list(env)})
	if err != nil {
		t.Fatal(err)
	}
	return picked.(*serveCommand)
}

func TestAConfigurationFileIsUsedAfterFlagsAndVariables(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "atrium.yaml", `
addr: 127.0.0.1:7   # replaced by the flag
service-domain: from.file
log-level: debug    # replaced by the variable
rate-limit: 7
dev: true
migrate: false
audience: [a, "b,c"]
shared-issuer:
  - https://ci.example.com=repo:[^/:,]+/
graphql-limit: {depth: 4, sockets: 5}
graphql-timeout: 7s
encryption-key: ~
group: for another command
`)
	c := parseServe(t, map[string]string{"ATRIUM_CONFIG": file, "ATRIUM_LOG_LEVEL": "warn"}, "--addr", "127.0.0.1:8")
	if c.Addr != "127.0.0.1:8" || c.ServiceDomain != "from.file" || c.LogLevel != "warn" || *c.RateLimit != 7 || !c.Dev || c.Migrate ||
		!slices.Equal(c.Audience, []string{"a", "b,c"}) || len(c.shared) != 1 || c.GraphqlLimit["depth"] != 4 || c.GraphqlLimit["sockets"] != 5 ||
		c.GraphqlTimeout != 7*time.Second || c.EncryptionKey != "" {
		t.Errorf("parsed %+v", c)
	}
	if c := parseServe(t, nil, "--config", file); c.LogLevel != "debug" || c.Addr != "127.0.0.1:7" {
		t.Errorf("by the flag: %+v, want LogLevel 'debug' and Addr '127.0.0.1:7'", c)
	}
}

// The attack is a setting of the file that a deployment cannot take back in its environment.
func TestAnEmptyVariableOverridesTheConfigurationFile(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "atrium.yaml", "metrics-addr: 127.0.0.1:9\nrate-limit: 7\nmigrate: false\naudience: [a, b]\nlog-level: debug\n")
	empty := map[string]string{"ATRIUM_CONFIG": file, "ATRIUM_METRICS_ADDR": "", "ATRIUM_RATE_LIMIT": "", "ATRIUM_MIGRATE": "", "ATRIUM_AUDIENCE": ""}
	c := parseServe(t, empty)
	if c.MetricsAddr != nil || c.RateLimit != nil || !c.Migrate || !slices.Equal(c.Audience, []string{defaultAudience}) || c.LogLevel != "debug" {
		t.Errorf("parsed %+v, want the defaults and LogLevel 'debug'", c)
	}
	key := strings.Repeat("ab", 32)
	if c := parseServe(t, map[string]string{"ATRIUM_ENCRYPTION_KEY": "", "ATRIUM_ENCRYPTION_KEY_FILE": writeFile(t, "key", key)}); c.EncryptionKey != key {
		t.Errorf("the key is %q, want that of the file that its _FILE variable names", c.EncryptionKey)
	}
	out, _, err := atrium(t, empty, "admin", "config")
	if err != nil || !strings.Contains(out, "audience: [atrium] # default, since $ATRIUM_AUDIENCE is empty\n") || !strings.Contains(out, "log-level: debug # "+file) {
		t.Errorf("%v: printed\n%s", err, out)
	}
	// An empty database URL would mean another database, so it is no default of a secret.
	secret := map[string]string{"ATRIUM_CONFIG": writeFile(t, "atrium.yaml", "database-url: postgres://u:p@db.example.com/atrium\n"), "ATRIUM_DATABASE_URL": ""}
	if _, _, err := atrium(t, secret, "admin", "config"); err == nil || !strings.Contains(err.Error(), "is set and empty") {
		t.Errorf("an empty database URL: %v, want an error", err)
	}
}

// There is a flag --no-migrate. A server that ignored this variable would migrate the database.
func TestTheVariableOfANegatedFlagIsRefused(t *testing.T) {
	t.Parallel()
	_, _, err := atrium(t, map[string]string{"ATRIUM_NO_MIGRATE": "true"}, "serve")
	if exitCode(err) != 2 || !strings.Contains(err.Error(), "ATRIUM_NO_MIGRATE is not a variable; set ATRIUM_MIGRATE to false") {
		t.Errorf("error %v, want one that names the right variable", err)
	}
	if c := parseServe(t, map[string]string{"ATRIUM_MIGRATE": "false"}); c.Migrate {
		t.Error("ATRIUM_MIGRATE=false migrates")
	}
}

func TestAnInvalidConfigurationFileIsNamed(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"no-such: x":                 `there is no setting "no-such"`,
		"- addr":                     "line 1",
		"addr: [":                    "line 2",
		"graphql-limit: {depth: []}": "graphql-limit (line 1): must be a text",
		"log-level: loud":            "--log-level (ATRIUM_LOG_LEVEL): must be debug",
	} {
		_, _, err := atrium(t, nil, "serve", "--config", writeFile(t, "c.yaml", content))
		if exitCode(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", content, err, want)
		}
	}
	if _, _, err := atrium(t, map[string]string{"ATRIUM_CONFIG": "/nowhere.yaml"}, "token"); exitCode(err) != 2 || !strings.Contains(err.Error(), "there is no file /nowhere.yaml") {
		t.Errorf("error %v, want an error with 'there is no file /nowhere.yaml'", err)
	}
}

func TestSecretsComeFromFilesThatVariablesName(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("ab", 32)
	c := parseServe(t, map[string]string{"ATRIUM_ENCRYPTION_KEY_FILE": writeFile(t, "key", key+"\n"), "ATRIUM_DATABASE_URL_FILE": writeFile(t, "url", "sqlite:other.db\n")})
	if len(c.key) != 32 || c.DatabaseURL != "sqlite:other.db" {
		t.Errorf("parsed %+v, want 32 key and DatabaseURL 'sqlite:other.db'", c)
	}
	for name, env := range map[string]map[string]string{
		"are both set":      {"ATRIUM_ENCRYPTION_KEY": key, "ATRIUM_ENCRYPTION_KEY_FILE": "x"},
		"there is no file":  {"ATRIUM_ENCRYPTION_KEY_FILE": "/nowhere"},
		"must contain only": {"ATRIUM_ENCRYPTION_KEY_FILE": writeFile(t, "empty", "\n")},
	} {
		_, _, err := atrium(t, env, "admin", "rotate-keys")
		if exitCode(err) != 2 || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v, want exit code 2", name, err)
		}
	}
}

func TestTheConfigurationIsPrintedWithoutSecretsAsAUsableFile(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("ab", 32)
	out, _, err := atrium(t, map[string]string{"ATRIUM_ENCRYPTION_KEY": key, "ATRIUM_AUDIENCE": "a,b"}, "admin", "config", "--dev",
		"--database-url", "postgres://user:hunter2@db/atrium?sslpassword=hunter3", "--graphql-limit", "depth=4")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"encryption-key: (hidden) # $ATRIUM_ENCRYPTION_KEY\n", "audience: [a, b] # $ATRIUM_AUDIENCE\n", "dev: true # --dev\n",
		"rate-limit: 0 # default\n", "graphql-limit: {depth: 4} # --graphql-limit\n", "drain-timeout: 10s # default\n", "@db/atrium",
	} {
		if !strings.Contains(out, line) {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
	if strings.Contains(out, key) || strings.Contains(out, "hunter") {
		t.Errorf("secrets are shown:\n%s", out)
	}
	for _, url := range []string{"postgres://user:1?hunter2@db/atrium", "postgres://user:1#hunter2@db/atrium", "postgres://db/atrium?a=;&password=hunter2;", "postgres://user:1/hunter2@db"} {
		if out, _, err := atrium(t, nil, "admin", "config", "--database-url", url); err != nil || strings.Contains(out, "hunter") {
			t.Errorf("%s is shown as %s (%v)", url, out, err)
		}
	}
	file := writeFile(t, "c.yaml", strings.Replace(out, "(hidden)", key, 1))
	if c := parseServe(t, nil, "--config", file); !c.Dev || c.GraphqlLimit["depth"] != 4 || len(c.key) != 32 {
		t.Errorf("parsed %+v, want depth 4 and 32 key", c)
	}
	standbys := map[string]string{"ATRIUM_DATABASE_URL": "postgres://a", "ATRIUM_READ_DATABASE_URL": "postgres://u:p@b,c/d\npostgres://u:p@e/f"}
	if out, _, err := atrium(t, standbys, "admin", "config"); err != nil || !strings.Contains(out, "read-database-url: [(hidden)] # $ATRIUM_READ_DATABASE_URL\n") {
		t.Errorf("the URLs of standbys are shown as %s (%v)", out, err)
	}
	for read, want := range map[string]string{"postgres://b": "needs a PostgreSQL database", "sqlite:b": "needs a PostgreSQL database"} {
		if _, said, err := atrium(t, nil, "admin", "config", "--read-database-url", read); exitCode(err) != 2 || !strings.Contains(said+fmt.Sprint(err), want) {
			t.Errorf("with SQLite, %s is answered %s %v", read, said, err)
		}
	}
	if _, said, err := atrium(t, nil, "admin", "config", "--database-url", "postgres://a", "--read-database-url", "mysql://u:p@b"); exitCode(err) != 2 || !strings.Contains(said+fmt.Sprint(err), "must start with postgres://") || strings.Contains(said, "u:p") {
		t.Errorf("a URL of another database is answered %s %v", said, err)
	}
	if _, _, err := atrium(t, nil, "admin", "config", "--log-level", "loud"); exitCode(err) != 2 {
		t.Errorf("a faulty configuration: %v, want exit code 2", err)
	}
}

// All commands share the file of --config.
func TestEveryCommandTakesTheConfigurationThatIsPrinted(t *testing.T) {
	t.Parallel()
	out, _, err := atrium(t, nil, "admin", "config", "--audience", "a", "--audience", "b", "--metrics-addr", "127.0.0.1:9464")
	if err != nil {
		t.Fatal(err)
	}
	file, f := writeFile(t, "c.yaml", out), &faults{}
	p := program{lookup: variables(nil), environ: list(nil), stdout: io.Discard, stderr: io.Discard}
	parser, err := newParser(p, f, newSources(p.lookup, f), allKinds()[:1])
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(false) {
		args := wordsOf(command)
		for range command.Positional {
			args = append(args, "x")
		}
		_, without := parse(args, p)
		if _, with := parse(append(args, "--config", file), p); fmt.Sprint(with) != fmt.Sprint(without) {
			t.Errorf("%s: with the file: %v; without it: %v", command.FullPath(), with, without)
		}
	}
}

func TestTheVersionIsAFlagToo(t *testing.T) {
	t.Parallel()
	flag, _, err := atrium(t, map[string]string{"ATRIUM_VERSION": "x"}, "--version")
	command, _, _ := atrium(t, nil, "version")
	if err != nil || flag != command || !strings.HasPrefix(flag, "atrium dev (go") {
		t.Errorf("%v: %q, want it to begin with 'atrium dev (go', %q", err, flag, command)
	}
	var described map[string]string
	out, _, err := atrium(t, nil, "version", "-o", "json")
	if err != nil || json.Unmarshal([]byte(out), &described) != nil || described["version"] != "dev" || !strings.HasPrefix(described["goVersion"], "go1.") || described["os"] == "" || described["arch"] == "" {
		t.Errorf("as JSON: %v %s", err, out)
	}
}

func TestShellsCompleteCommandsAndFlags(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"":                "admin\ncheck\ncompletion\n", // These are the first commands.
		"admin|mig":       "migrate\n",
		"admin|migrate|":  "status\nup\n",
		"admin|migrate|s": "status\n",
		"serve|--drain":   "--drain-delay\n--drain-timeout\n",
		"serve|--dev|--d": "--database-direct-url\n--database-password-command\n--database-url\n--delivery-retention\n--dev\n--domains\n--drain-delay\n--drain-timeout\n",
		"nothing|--conf":  "--config\n",
	} {
		out, _, err := atrium(t, nil, append([]string{"complete-words", "--"}, strings.Split(words, "|")...)...)
		if err != nil || !strings.HasPrefix(out, want) || words != "" && out != want {
			t.Errorf("%s: %v %q, want it to begin with %q", words, err, out, want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out, _, err := atrium(t, nil, "completion", shell); err != nil || !strings.Contains(strings.ReplaceAll(out, "'--'", "--"), "complete-words -- ") {
			t.Errorf("%s: %v\n%s, want it to contain 'complete-words -- '", shell, err, out)
		}
	}
	if _, _, err := atrium(t, nil, "completion", "cmd"); exitCode(err) != 2 {
		t.Errorf("an unknown shell: %v, want exit code 2", err)
	}
}

func TestErrorsOfOpeningADatabaseAreInPlainWords(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"sqlite:" + writeFile(t, "text", strings.Repeat("no database ", 200)): "is not a SQLite database",
		"sqlite:" + t.TempDir():             "it is a folder",
		"sqlite:/no/such/folder/atrium.db":  "the folder /no/such/folder does not exist",
		"postgres://127.0.0.1:1/x":          "nothing listens at 127.0.0.1:1",
		"postgres://h/x?host=/no/such/path": "there is no socket of PostgreSQL in /no/such/path",
	} {
		_, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, "admin", "migrate", "up")
		if exitCode(err) != 1 || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "dial") {
			t.Errorf("%s: %v, want an error with %q", url, err, want)
		}
	}
	storetest.EachURL(t, func(t *testing.T, url string) {
		if strings.HasPrefix(url, "sqlite:") {
			return
		}
		for from, want := range map[string]string{":": "does not let user", "/": "has no database"} {
			at := strings.LastIndex(url, from) + 1
			if from == ":" {
				at = strings.Index(url[len("postgres://"):], ":") + len("postgres://") + 1
			}
			_, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url[:at] + "x" + url[at:]}, "admin", "migrate", "up")
			if exitCode(err) != 1 || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "FATAL") {
				t.Errorf("%s: %v, want exit code 1", want, err)
			}
		}
	})
}

func TestMigrationsAreListedWithNamesAndDates(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		out := mustRun(t, url, "admin", "migrate", "status")
		if !strings.Contains(out, "00001 schema         applied "+time.Now().UTC().Format("2006-")) || strings.Contains(out, "pending") {
			t.Errorf("status:\n%s, want it without 'pending'", out)
		}
	})
}
