package main

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"syscall"

	"atrium/internal/demo"
	"atrium/internal/server"
)

// greet prints how to reach a server in development mode. The server continues if nobody reads that.
func (c *serveCommand) greet(p program, at server.Start) error {
	if !c.Dev { // the log contains it
		return nil
	}
	url := at.URL
	text := "Atrium serves  " + url + "\n"
	if c.Playground {
		text += "Playground     " + url + "/playground\n"
	}
	if c.Console {
		text += "Console        " + url + "/console\n"
	}
	if c.Console && at.SignIn != "" {
		text += "Sign in        " + at.SignIn + " (works once, in a browser on any machine that reaches this one)\n"
	}
	text += "Guide          " + url + "/guide\nReference      " + url + "/docs\n"
	token := c.tokenCommand(p.name)
	if at.Organization == "" {
		text += "Demonstration  none, because the database was not empty\n" +
			"Token          " + token + " --issuer URL --subject SUB, of an identity in the database\n"
	} else {
		text += "Token          " + token + " [--as owner|editor|viewer]\n" +
			"Try            curl -H \"Authorization: Bearer $(" + token + ")\" '" + url + "/registry/v2/repos?page_size=3'\n" +
			"Organization   " + demo.Name + " is " + string(at.Organization) + "\n"
	}
	_, err := io.WriteString(p.stdout, text)
	if errors.Is(err, syscall.EPIPE) { // the reader of the output has ended
		return nil
	}
	return err
}

// tokenCommand returns a command that prints a token for this server, in any folder.
func (c *serveCommand) tokenCommand(program string) string {
	if strings.Contains(program, "/") {
		program = absolute(program)
	}
	command := shellWord(program) + " token"
	if path, embedded := c.file(); embedded {
		command += " --database-url " + shellWord("sqlite:"+absolute(path))
	} else { // the URL may contain a password
		command += " --database-url ..."
	}
	if c.Audience[0] != defaultAudience {
		command += " --audience " + shellWord(c.Audience[0])
	}
	return command
}

// absolute returns the absolute form of a path, or the path if the working folder is not known.
func absolute(path string) string {
	if found, err := filepath.Abs(path); err == nil {
		return found
	}
	return path
}

// shellWord returns a text as one word of a command line.
func shellWord(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
