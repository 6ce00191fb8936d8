//go:build !unix

package dbfile

import "os"

// lockFile does nothing: only Unix has locks that end with their process and do not
// affect readers.
func lockFile(*os.File) error { return nil }
