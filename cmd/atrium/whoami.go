package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"atrium/internal/login"
)

type whoamiCommand struct {
	clientFlags
	Output string `default:"text" help:"Output format: text or json."`
}

func (c *whoamiCommand) check(f *faults) {
	c.clientFlags.check(f)
	if c.Output != "text" && c.Output != "json" {
		f.add("output", "must be text or json")
	}
}

// Help returns the detailed help.
func (c *whoamiCommand) Help() string {
	return `Prints the server, the issuer and the subject of the token, until when it is valid, the identities that it stands for, and their
roles with the groups on which they apply. If no identity matches the token, give the issuer and the subject to an owner, who can let you in.`
}

// A viewer is what a server says about the caller.
type viewer struct {
	Identities []struct {
		UID   string       `json:"uid"`
		Name  string       `json:"name"`
		Group *viewerGroup `json:"group"`
	} `json:"identities"`
	RoleBindings struct {
		Nodes []struct {
			Role *struct {
				Name string `json:"name"`
			} `json:"role"`
			Group *viewerGroup `json:"group"`
		} `json:"nodes"`
	} `json:"roleBindings"`
}

type viewerGroup struct {
	UID  string `json:"uid"`
	Name string `json:"name"`
}

const viewerQuery = `{ viewer {
  identities { uid name group { uid name } }
  roleBindings(first: 200) { nodes { role { name } group { uid name } } }
} }`

// askViewer asks who the caller is. A caller whom the server does not know has no identities. One without a role may not see the group of
// its identity: that is an error beside the rest of the answer.
func (c *graphqlClient) askViewer(ctx context.Context) (*viewer, error) {
	a, err := c.ask(ctx, question{Query: viewerQuery})
	if err != nil {
		return nil, err
	}
	if err := a.failure(); err != nil {
		return nil, err
	}
	var data struct{ Viewer *viewer }
	if err := json.Unmarshal(a.Data, &data); err != nil {
		return nil, err
	}
	return cmp.Or(data.Viewer, &viewer{}), nil
}

// names returns what the caller is called: the identities, or the subject of the token.
func (v *viewer) names(token string) string {
	names := make([]string, len(v.Identities))
	for i, identity := range v.Identities {
		names[i] = identity.Name
	}
	if len(names) > 0 {
		return strings.Join(names, ", ")
	}
	claims := login.ReadClaims(token)
	return fmt.Sprintf("%s, who has no identity there yet: ask an owner to let in the subject %[1]s of the issuer %[2]s", cmp.Or(claims.Subject, "somebody"), claims.Issuer)
}

func (c *whoamiCommand) run(ctx context.Context, p program) error {
	client, err := c.client(ctx)
	if err != nil {
		return err
	}
	caller, err := client.askViewer(ctx)
	if err != nil {
		return err
	}
	claims := login.ReadClaims(client.sent)
	end := "unknown"
	switch {
	case c.chosen != nil && c.chosen.RefreshToken != "":
		end = "the end of the session; the token is renewed"
	case !claims.Expires.IsZero():
		end = formatTime(claims.Expires)
	}
	if c.Output == "json" {
		lines := json.NewEncoder(p.stdout)
		lines.SetEscapeHTML(false)
		return lines.Encode(struct {
			Server  string    `json:"server"`
			Context string    `json:"context,omitempty"`
			Issuer  string    `json:"issuer"`
			Subject string    `json:"subject"`
			Expires time.Time `json:"expires,omitzero"`
			*viewer
		}{client.server.String(), c.contextName(), claims.Issuer, claims.Subject, claims.Expires, caller})
	}
	rows := [][]string{{"server", client.server.String()}}
	if name := c.contextName(); name != "" {
		rows = append(rows, []string{"context", name})
	}
	rows = append(rows, []string{"issuer", claims.Issuer}, []string{"subject", claims.Subject}, []string{"until", end})
	for _, identity := range caller.Identities {
		rows = append(rows, []string{"identity", identity.Name + identity.Group.suffix("of")})
	}
	for _, binding := range caller.RoleBindings.Nodes {
		if binding.Role != nil {
			rows = append(rows, []string{"role", binding.Role.Name + binding.Group.suffix("on")})
		}
	}
	if len(caller.Identities) == 0 {
		rows = append(rows, []string{"identity", "none; ask an owner to let in this issuer and subject"})
	}
	return writeColumns(p.stdout, rows)
}

func (c *contextFlags) contextName() string {
	if c.chosen == nil {
		return ""
	}
	return c.chosen.Name
}

// suffix names a group behind another word; nil is one that the caller may not see.
func (g *viewerGroup) suffix(word string) string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf(" %s %s (%s)", word, g.Name, g.UID)
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// writeColumns writes rows of cells as lines, whose columns are as wide as their widest cell.
func writeColumns(out io.Writer, rows [][]string) error {
	widths := map[int]int{}
	for _, row := range rows {
		for i := range row {
			row[i] = escapeLine(row[i])
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		if _, err := fmt.Fprintln(out, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
