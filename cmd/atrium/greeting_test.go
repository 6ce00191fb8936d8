package main

import (
	"path/filepath"
	"testing"
)

// Whoever copies the command is often in another folder than the server.
func TestTheCommandForATokenWorksInAnyFolder(t *testing.T) {
	t.Parallel()
	folder, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ program, url, audience, want string }{
		{"atrium", defaultDatabaseURL, defaultAudience, "atrium token --database-url sqlite:" + folder + "/atrium.db"},
		{"bin/atrium", "sqlite:data/a.db", defaultAudience, folder + "/bin/atrium token --database-url sqlite:" + folder + "/data/a.db"},
		{"/my bin/atrium", "sqlite:/it's/a.db", "https://api.example.com", `'/my bin/atrium' token --database-url 'sqlite:/it'\''s/a.db' --audience https://api.example.com`},
		{"atrium", "postgres://atrium:hush@db/atrium", defaultAudience, "atrium token --database-url ..."},
	} {
		command := serveCommand{Audience: []string{c.audience}}
		command.DatabaseURL = c.url
		if got := command.tokenCommand(c.program); got != c.want {
			t.Errorf("%s on %s: %s, want %s", c.program, c.url, got, c.want)
		}
	}
}
