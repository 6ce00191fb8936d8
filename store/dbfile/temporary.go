package dbfile

import (
	"os"
	"path/filepath"
)

// TemporaryFolder returns the folder of a database if there is no other one for temporary files, as in a container whose only
// folder that can be written is that of the database. It returns "" if SQLite and Go find one themselves.
func TemporaryFolder(path string) string {
	for _, folder := range []string{os.Getenv("SQLITE_TMPDIR"), os.TempDir(), "/var/tmp", "/usr/tmp", "/tmp", "."} {
		if folder != "" && isWritable(folder) {
			return ""
		}
	}
	return filepath.Dir(Resolve(path))
}

// isWritable reports whether files can be created in a folder.
func isWritable(folder string) bool {
	probe, err := os.CreateTemp(folder, ".atrium-*")
	if err != nil {
		return false
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	return true
}
