package main

import (
	"encoding/json"
	"io"
)

// outputFlags choose the form of the output of commands that print one page. What JSON has is described in the help of each command, and stays.
type outputFlags struct {
	Output string `short:"o" default:"table" placeholder:"FORMAT" help:"Format of the output: table for people, or json for programs."`
}

func (c *outputFlags) check(f *faults) {
	if c.Output != "table" && c.Output != "json" {
		f.add("output", "must be table or json")
	}
}

func (c *outputFlags) isJSON() bool { return c.Output == "json" }

// writeJSON writes a value as JSON, as people read it too.
func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
