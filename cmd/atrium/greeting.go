package main

import (
	"fmt"
	"io"
	"net"
)

// greet tells the person who started the server where it is.
func (c *serveCommand) greet(p program, dev *development, address net.Addr) error {
	url := c.scheme() + "://" + browsable(address)
	text := "Atrium serves  " + url + "\nPlayground     " + url + "/\nReference      " + url + "/docs\n"
	if dev != nil {
		token := c.tokenCommand(p.name)
		text += "Token          " + token + " [--as owner|editor|viewer]\n" +
			"Try            curl -H \"Authorization: Bearer $(" + token + ")\" '" + url + "/registry/v2/repos?page_size=3'\n"
		if dev.organisation != "" {
			text += "Organisation   " + demoName + " is " + string(dev.organisation) + "\n"
		}
	}
	_, err := io.WriteString(p.stdout, text)
	return err
}

// tokenCommand is what to type for a token that this server takes.
func (c *serveCommand) tokenCommand(program string) string {
	command := program + " token"
	switch path, embedded := c.file(); {
	case !embedded: // the URL may hold a password
		command += " --database-url ..."
	case c.DatabaseURL != defaultDatabaseURL:
		command += " --database-url sqlite:" + path
	}
	if c.Audience[0] != defaultAudience {
		command += " --audience " + c.Audience[0]
	}
	return command
}

// browsable is an address as a browser on this machine reaches it.
func browsable(address net.Addr) string {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return address.String()
	}
	return fmt.Sprintf("localhost:%d", tcp.Port)
}
