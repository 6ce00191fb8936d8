//go:build !unix

package dbfile

import (
	"io/fs"
	"os"
)

// lockFile does nothing: only Unix has locks that end with their process and do not
// affect readers. SQLite itself makes writers wait, but for a limited time.
func lockFile(*os.File, bool) error { return nil }

func unlockFile(*os.File) error { return nil }

// shareOwner does nothing: a file has the rights of its folder.
func shareOwner(*os.File, fs.FileInfo) error { return nil }

// countNames cannot count the names of a file.
func countNames(fs.FileInfo) uint64 { return 1 }
