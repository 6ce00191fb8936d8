package dbfile

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// CheckNames fails if a database that exists has, or may have, another name than this one. SQLite keeps the newest changes and its
// locks in files beside the database, under its name. Whoever used it under another name would not see them, and changes would
// be lost. A symbolic link is no such name.
func CheckNames(path string) error {
	path = Resolve(path)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // for the caller to explain
		return nil
	}
	if n := countNames(info); n > 1 {
		return fmt.Errorf("the database %s has %d names (hard links), and changes that are made under one would be lost under another; "+
			"remove the other names, which `find / -xdev -samefile %[1]s` lists, or give it a file of its own with `cp` while no process uses it", path, n)
	}
	mounts, err := os.Open("/proc/self/mountinfo") // only Linux has it
	if err != nil {
		return nil
	}
	defer mounts.Close()
	if isMountPoint(mounts, path) {
		return fmt.Errorf("the database %s is mounted as a single file, but its newest changes are in files beside it, which would be lost; "+
			"mount the folder that contains it instead", path)
	}
	return nil
}

// isMountPoint reports whether a list of mounts, as in /proc/self/mountinfo, has one at a path.
func isMountPoint(mounts io.Reader, path string) bool {
	const column = 4
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > column && unescapeMount(fields[column]) == path {
			return true
		}
	}
	return false
}

// unescapeMount replaces escapes such as \040 by the bytes that they stand for.
func unescapeMount(path string) string {
	var plain strings.Builder
	for i := 0; i < len(path); i++ {
		const octal, digits = 8, 3
		if path[i] == '\\' && i+digits < len(path) {
			if b, err := strconv.ParseUint(path[i+1:i+1+digits], octal, 8); err == nil {
				plain.WriteByte(byte(b))
				i += digits
				continue
			}
		}
		plain.WriteByte(path[i])
	}
	return plain.String()
}
