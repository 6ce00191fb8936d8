package main

import (
	"cmp"
	"slices"

	"github.com/alecthomas/kong"
)

// The groups of flags in the help, in their order. Flags of no group come first: they are what a command is about.
const (
	filterGroup   = "Filters:"
	serverGroup   = "Server:"
	databaseGroup = "Database:"
	generalGroup  = "All commands:"
	commandsGroup = "Commands:"
)

// printHelp prints the help of a command. What is asked for comes first, and what all commands have comes last.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	shown := ctx.Model.Node
	if picked := ctx.Selected(); picked != nil {
		shown = picked
		for _, child := range shown.Children {
			child.Group = cmp.Or(child.Group, &kong.Group{Key: commandsGroup, Title: commandsGroup})
		}
	}
	// kong begins with the flags of the program, and orders groups by their first flags.
	var all []*kong.Flag
	for node := shown; node != nil; node = node.Parent {
		all, node.Flags = append(all, node.Flags...), nil
	}
	for _, flag := range all {
		if isGeneral := slices.Contains([]string{"help", configFlag, "version"}, flag.Name); isGeneral && shown.Parent != nil {
			flag.Group = &kong.Group{Key: generalGroup, Title: generalGroup}
		}
	}
	slices.SortStableFunc(all, func(a, b *kong.Flag) int { return cmp.Compare(rankFlag(a), rankFlag(b)) })
	shown.Flags = all
	return kong.DefaultHelpPrinter(options, ctx)
}

// rankFlag returns where the group of a flag stands in the help.
func rankFlag(flag *kong.Flag) int {
	if flag.Group == nil {
		return -1
	}
	return slices.Index([]string{filterGroup, serverGroup, databaseGroup, generalGroup}, flag.Group.Key)
}
