package main

import (
	"fmt"
	"slices"
	"strings"

	"atrium/platform/intake"
)

// feedFlags are the settings of what the server reads by itself.
type feedFlags struct {
	Feeds         []string `sep:"none" placeholder:"TYPE" help:"Feed that the server keeps current for all organizations: osv=ECOSYSTEM,..., kev or epss. Add @URL to read it from another address, such as osv=Go,npm@https://mirror.example.com/osv/. May be repeated; in a variable, semicolons separate feeds. The feeds replace the stored ones, and none removes them all. Without this flag, the stored feeds stay."`
	PrivateSource []string `placeholder:"HOST:PORT" help:"Host and port of sources that may have a private address, use plain http, or use a port other than 443; may be repeated."`
	Sources       bool     `default:"true" negatable:"" help:"Read sources: the operator's feeds and the sources of organizations."`

	feeds []intake.Feed
}

// noFeeds is the value of --feeds that removes all feeds.
const noFeeds = "none"

// feedTypes are the types of feeds by their names.
var feedTypes = map[string]intake.SourceType{"osv": intake.OSV, "kev": intake.KEV, "epss": intake.EPSS}

func (c *feedFlags) check(f *faults) {
	texts := strings.FieldsFunc(strings.Join(c.Feeds, ";"), func(r rune) bool { return r == ';' || r == '\n' })
	for _, text := range texts {
		text = strings.TrimSpace(text)
		switch feed, fault := parseFeed(text, c.PrivateSource); {
		case text == "":
		case text == noFeeds && len(texts) > 1:
			f.add("feeds", "%s must not be given together with feeds", noFeeds)
		case text == noFeeds:
		case fault != "":
			f.add("feeds", "%.200q: %s", text, fault)
		case slices.ContainsFunc(c.feeds, func(other intake.Feed) bool { return fmt.Sprint(other) == fmt.Sprint(feed) }):
			f.add("feeds", "%.200q is given twice", text)
		default:
			c.feeds = append(c.feeds, feed)
		}
	}
}

// parseFeed reads TYPE, TYPE=ECOSYSTEM,... and TYPE@URL. fault says what is wrong with it.
func parseFeed(text string, private []string) (feed intake.Feed, fault string) {
	what, url, hasURL := strings.Cut(text, "@")
	name, ecosystems, hasEcosystems := strings.Cut(what, "=")
	of, known := feedTypes[name]
	switch {
	case !known:
		return feed, "must be osv=ECOSYSTEM,... such as osv=Go,npm,Debian:12, or kev or epss"
	case hasURL && url == "":
		return feed, "must have a URL after the @"
	case hasEcosystems && (of != intake.OSV || ecosystems == ""):
		return feed, "must name ecosystems after the equals sign, such as osv=Go,npm; only osv has them"
	}
	feed = intake.Feed{Type: of, URL: url}
	if ecosystems != "" {
		feed.Ecosystems = strings.Split(ecosystems, ",")
	}
	return feed, intake.CheckFeed(feed, private)
}
