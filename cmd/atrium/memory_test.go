package main

import (
	"math"
	"testing"
	"testing/fstest"
)

func TestTheMemoryOfAControlGroupBoundsTheProcess(t *testing.T) {
	t.Parallel()
	const none = int64(math.MaxInt64)
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, c := range []struct {
		name  string
		files fstest.MapFS
		want  int64
	}{
		{"no control groups", fstest.MapFS{}, none},
		{"in a container", fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("536870912\n")}, 512 << 20},
		{"no bound", fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("max\n")}, none},
		{"a group in a bounded one", fstest.MapFS{
			"proc/self/cgroup": file("0::/system.slice/atrium.service\n"),
			"sys/fs/cgroup/system.slice/atrium.service/memory.max": file("max\n"), "sys/fs/cgroup/system.slice/memory.max": file("1000\n"), "sys/fs/cgroup/memory.max": file("9000"),
		}, 1000},
		{"a container whose group is named from outside", fstest.MapFS{"proc/self/cgroup": file("0::/docker/0123\n"), "sys/fs/cgroup/memory.max": file("7000\n")}, 7000},
		{"version 1", fstest.MapFS{
			"proc/self/cgroup": file("5:cpu:/\n4:memory:/docker/0123\n"), "sys/fs/cgroup/memory/docker/0123/memory.limit_in_bytes": file("6000\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n"),
		}, 6000},
		{"nonsense", fstest.MapFS{"proc/self/cgroup": file("what\n0::\n"), "sys/fs/cgroup/memory.max": file("-1")}, none},
	} {
		if got := groupMemory(c.files); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestTheLowerBoundOfMemoryCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ answers, group, want int64 }{
		{0, math.MaxInt64, math.MaxInt64},
		{100 << 20, math.MaxInt64, 164 << 20},
		{100 << 20, 100 << 20, 90 << 20},
		{100 << 20, 1 << 30, 164 << 20},
		{0, 1000, 900},
	} {
		if got := withinGroup((&memoryFlags{AnswerMemory: c.answers}).memoryLimit(), c.group); got/100 != c.want/100 {
			t.Errorf("answers of %d in a group of %d: %d, want %d", c.answers, c.group, got, c.want)
		}
	}
}
