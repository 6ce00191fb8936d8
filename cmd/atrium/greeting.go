package main

import (
	"errors"
	"io"
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
	text += "Guide          " + url + "/guide\nReference      " + url + "/docs\n"
	token := c.tokenCommand(p.name)
	if at.Organisation == "" {
		text += "Demonstration  none, because the database was not empty\n" +
			"Token          " + token + " --issuer URL --subject SUB, of an identity in the database\n"
	} else {
		text += "Token          " + token + " [--as owner|editor|viewer]\n" +
			"Try            curl -H \"Authorization: Bearer $(" + token + ")\" '" + url + "/registry/v2/repos?page_size=3'\n" +
			"Organisation   " + demo.Name + " is " + string(at.Organisation) + "\n"
	}
	_, err := io.WriteString(p.stdout, text)
	if errors.Is(err, syscall.EPIPE) { // the reader of the output has ended
		return nil
	}
	return err
}

// tokenCommand returns a command that prints a token for this server.
func (c *serveCommand) tokenCommand(program string) string {
	command := program + " token"
	switch path, embedded := c.file(); {
	case !embedded: // the URL may contain a password
		command += " --database-url ..."
	case c.DatabaseURL != defaultDatabaseURL:
		command += " --database-url sqlite:" + path
	}
	if c.Audience[0] != defaultAudience {
		command += " --audience " + c.Audience[0]
	}
	return command
}
