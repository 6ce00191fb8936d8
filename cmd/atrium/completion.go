package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"atrium/internal/login"
)

// completionCommand prints a script for a shell. The script calls the program to find
// completions, so it works with later versions too.
type completionCommand struct {
	Shell string `arg:"" help:"Shell: bash, zsh, fish or powershell."`
}

func (c *completionCommand) check(f *faults) {
	if completionScripts[c.Shell] == "" {
		*f = append(*f, fmt.Sprintf("the shell must be bash, zsh, fish or powershell, not %.20q", c.Shell))
	}
}

// Help returns the detailed help.
func (c *completionCommand) Help() string {
	return `Examples:
  source <(atrium completion bash)                                    in ~/.bashrc
  source <(atrium completion zsh)                                     in ~/.zshrc, after compinit
  atrium completion fish > ~/.config/fish/completions/atrium.fish
  atrium completion powershell | Out-String | Invoke-Expression      in $PROFILE

Names of resources and groups come from the server of 'atrium login'.`
}

var completionScripts = map[string]string{
	"bash": `_atrium() {
	local words
	words=$("${COMP_WORDS[0]}" complete-words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _atrium atrium
`,
	"zsh": `_atrium() {
	local -a found
	found=(${(f)"$("${words[1]}" complete-words -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
	(( ${#found} )) && compadd -a found || _files
}
compdef _atrium atrium
`,
	"fish": `complete -c atrium -a '(set -l typed (commandline -opc) (commandline -ct); $typed[1] complete-words -- $typed[2..-1] 2>/dev/null)'
`,
	"powershell": `Register-ArgumentCompleter -Native -CommandName atrium -ScriptBlock {
	param($word, $ast, $at)
	$typed = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $at -or $_.Extent.Text -ne $word } | ForEach-Object { $_.Extent.Text })
	$words = @($typed | Select-Object -Skip 1)
	& $typed[0] complete-words '--' @words $(if ($word) { $word } else { '""' }) 2>$null | ForEach-Object {
		[System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
	}
}
`,
}

func (c *completionCommand) run(_ context.Context, p program) error {
	_, err := io.WriteString(p.stdout, completionScripts[c.Shell])
	return err
}

// completeCommand lists the possible next words of a command line.
type completeCommand struct {
	Words []string `arg:"" optional:"" help:"Words that were typed so far; the last one may be incomplete."`
}

func (*completeCommand) check(*faults) {}

func (c *completeCommand) run(ctx context.Context, p program) error {
	f := &faults{}
	parser, err := newParser(p, f, newSources(p.lookup, f), kindsFor(c.Words))
	if err != nil {
		return err
	}
	if len(c.Words) > 0 && c.Words[len(c.Words)-1] == `""` { // PowerShell passes no empty words.
		c.Words[len(c.Words)-1] = ""
	}
	for _, word := range slices.Concat(completions(parser.Model.Node, c.Words), completeContexts(p, c.Words), completeValues(ctx, p, parser.Model.Node, c.Words)) {
		if _, err := fmt.Fprintln(p.stdout, word); err != nil {
			return err
		}
	}
	return nil
}

// completions lists the commands that begin with the last word, or the flags if it begins
// with a dash.
func completions(node *kong.Node, words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	flags := slices.Clone(node.Flags)
	for _, word := range words[:len(words)-1] {
		at := slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == word })
		if at >= 0 {
			node = node.Children[at]
			flags = append(flags, node.Flags...)
		}
	}
	var found []string
	for _, child := range node.Children {
		if !child.Hidden && strings.HasPrefix(child.Name, last) && !strings.HasPrefix(last, "-") {
			found = append(found, child.Name)
		}
	}
	for _, flag := range flags {
		if name := "--" + flag.Name; strings.HasPrefix(last, "-") && strings.HasPrefix(name, last) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// completeContexts lists the contexts that begin with the last word, where one is expected.
func completeContexts(p program, words []string) (found []string) {
	before := strings.Join(words[:max(len(words)-1, 0)], " ")
	if before != "context use" && before != "context remove" && !strings.HasSuffix(before, "--context") {
		return nil
	}
	folder, err := login.FindFolder(p.env)
	if err != nil {
		return nil
	}
	names, _ := folder.List() // Nobody reads errors while typing.
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, words[len(words)-1]) })
}
