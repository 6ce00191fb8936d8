package main

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	// restMemory is how much of the heap everything except answers may use before the
	// garbage collector works harder. `make memory` shows that the process then stays below
	// 512 MB.
	restMemory = 64 << 20
	// importMemory is the memory limit of an import, which needs a small part of it.
	importMemory = 512 << 20
	// These are the values of GOGC of a server and of an import. They are higher than the
	// default, because the memory limit bounds the heap anyway, and fewer collections take
	// less time. With 400 a server under load uses 60 MB beside the file of the program, and 3 % of its
	// CPU time for collections; with 100 it would be 40 MB and 10 %.
	serverGCPercent = 400
	importGCPercent = 800
	// groupShare is the percentage of the memory of its control group that the process may
	// use as heap. Other memory counts in the group too.
	groupShare = 90
)

// limitMemory sets the memory limit of the process, or a lower one for its control group,
// and the percentage of the garbage collector, so that it works harder only when the process
// approaches the limit. GOMEMLIMIT and GOGC take precedence.
func limitMemory(limit int64, gcPercent int) {
	limit = withinGroup(limit, groupMemory(os.DirFS("/")))
	if os.Getenv("GOMEMLIMIT") == "" && limit < math.MaxInt64 {
		debug.SetMemoryLimit(limit)
	}
	if os.Getenv("GOGC") == "" && debug.SetMemoryLimit(-1) < math.MaxInt64 {
		debug.SetGCPercent(gcPercent)
	}
}

// memoryLimit returns the memory limit of a server.
func (a *memoryFlags) memoryLimit() int64 {
	if a.AnswerMemory > 0 {
		return a.AnswerMemory + restMemory
	}
	return math.MaxInt64
}

// withinGroup returns the memory limit of a process whose control group has a limit too.
func withinGroup(limit, group int64) int64 {
	if group < math.MaxInt64 {
		return min(limit, group/100*groupShare)
	}
	return limit
}

// groupMemory returns the lowest memory limit of the control group of the process and of
// its parents, or math.MaxInt64 if there is none.
func groupMemory(root fs.FS) int64 {
	limit := int64(math.MaxInt64)
	groups, _ := fs.ReadFile(root, "proc/self/cgroup") // other systems have no control groups
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[0] == "0": // cgroup version 2
			limit = min(limit, lowestLimit(root, "sys/fs/cgroup", parts[2], "memory.max"))
		case parts[1] == "memory":
			limit = min(limit, lowestLimit(root, "sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"))
		}
	}
	return limit
}

// lowestLimit returns the lowest limit in a file of a control group and of its parents.
// If the process sees only its own group, that one is mounted at the top.
func lowestLimit(root fs.FS, mount, group, file string) int64 {
	limit := int64(math.MaxInt64)
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		text, err := fs.ReadFile(root, path.Join(mount, at, file))
		if n, wrong := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && wrong == nil && n > 0 { // otherwise the file contains "max"
			limit = min(limit, n)
		}
		if at == "/" {
			return limit
		}
	}
}
