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
	// restMemory is what the heap may hold beside answers before the collector
	// works harder. `make memory` shows that the process then stays below 512 MB.
	restMemory = 64 << 20
	// gcPercent is how much garbage may lie beside what is in use. It trades
	// memory, of which there is a bound, for less collecting.
	gcPercent = 400
	// groupShare is how much of the memory of its control group a process takes,
	// in hundredths: the heap is not all that counts there.
	groupShare = 90
)

// boundMemory makes the garbage collector work harder before the process takes
// more than its answers or its control group may, and less below that. GOMEMLIMIT
// and GOGC say otherwise where they are given.
func (a *answerFlags) boundMemory() {
	limit := a.memoryLimit(groupMemory(os.DirFS("/")))
	if os.Getenv("GOMEMLIMIT") == "" && limit < math.MaxInt64 {
		debug.SetMemoryLimit(limit)
	}
	if os.Getenv("GOGC") == "" && debug.SetMemoryLimit(-1) < math.MaxInt64 {
		debug.SetGCPercent(gcPercent)
	}
}

// memoryLimit is what the process may take in a group that may take so much.
func (a *answerFlags) memoryLimit(group int64) int64 {
	limit := int64(math.MaxInt64)
	if a.AnswerMemory > 0 {
		limit = a.AnswerMemory + restMemory
	}
	if group < math.MaxInt64 {
		limit = min(limit, group/100*groupShare)
	}
	return limit
}

// groupMemory is what the control group of the process and those around it
// allow; math.MaxInt64 where none is bounded.
func groupMemory(root fs.FS) int64 {
	limit := int64(math.MaxInt64)
	groups, _ := fs.ReadFile(root, "proc/self/cgroup") // there is none on other systems
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[0] == "0": // version 2
			limit = min(limit, lowest(root, "sys/fs/cgroup", parts[2], "memory.max"))
		case parts[1] == "memory":
			limit = min(limit, lowest(root, "sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"))
		}
	}
	return limit
}

// lowest is the lowest limit in a file of a group and of those around it. A
// group is mounted at the top where the process sees no others.
func lowest(root fs.FS, mount, group, file string) int64 {
	limit := int64(math.MaxInt64)
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		text, err := fs.ReadFile(root, path.Join(mount, at, file))
		if n, wrong := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && wrong == nil && n > 0 { // else it says max
			limit = min(limit, n)
		}
		if at == "/" {
			return limit
		}
	}
}
