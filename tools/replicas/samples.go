package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A sample is what the process that is never killed used at one time.
type sample struct {
	at                                 time.Duration
	goroutines, descriptors, heap, rss float64
}

const sampleInterval = 2 * time.Second

// sample measures the process that is never killed until ctx ends.
func (s *soak) sample(ctx context.Context) {
	for ; ctx.Err() == nil; pause(ctx, sampleInterval) {
		s.servers.client.CloseIdleConnections() // how many there are depends on how many requests waited for a fault to end
		// This profile is asked for because it collects garbage first.
		if _, err := s.get(s.spared, "/debug/pprof/heap?gc=1"); err != nil {
			continue
		}
		text, err := s.get(s.spared, "/metrics")
		if err != nil {
			continue
		}
		one := sample{at: time.Since(s.began)}
		for _, found := range gauge.FindAllStringSubmatch(text, -1) {
			value, _ := strconv.ParseFloat(found[2], 64)
			if found[1] == "go_goroutines" {
				one.goroutines = value
			} else {
				one.heap = value / (1 << 20)
			}
		}
		process := fmt.Sprintf("/proc/%d", s.running[s.spared].command.Process.Pid)
		files, _ := os.ReadDir(process + "/fd")
		one.descriptors = float64(len(files))
		status, _ := os.ReadFile(process + "/status")
		if _, rest, found := strings.Cut(string(status), "VmRSS:"); found {
			kilobytes, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			one.rss = kilobytes / 1024
		}
		s.lock.Lock()
		s.samples = append(s.samples, one)
		s.lock.Unlock()
	}
}

// A limit says by how much a resource may be higher in the last third than in the first. A
// leak of one goroutine or descriptor for each fault, or of 1 KB for each request, exceeds it in
// a soak of 15 minutes: there are some 100 faults and 50,000 requests. Without a leak, the
// difference is what requests use that happen to run during a sample: the lower quartile of a
// third contains few of them.
type limit struct {
	name  string
	value func(sample) float64
	share float64 // of the first third
	more  float64
}

var resourceLimits = []limit{
	{"goroutines", func(s sample) float64 { return s.goroutines }, 0.15, 15},
	{"descriptors", func(s sample) float64 { return s.descriptors }, 0.15, 15},
	{"heap after a collection, MiB", func(s sample) float64 { return s.heap }, 0.25, 6},
	{"resident memory, MiB", func(s sample) float64 { return s.rss }, 0.25, 24},
}

// minThird is the smallest third that is judged. In a shorter soak, each of the few faults is a
// large part of a third.
const minThird = 20

// judgeSamples compares the first third of the time after the warm-up with the last third. The
// warm-up is the first tenth.
func (s *soak) judgeSamples() (faults []string) {
	warm := s.samples[len(s.samples)/10:]
	third := len(warm) / 3
	if third < minThird {
		fmt.Printf("resources were not judged: %d samples are too few\n", len(s.samples))
		return nil
	}
	for _, l := range resourceLimits {
		first, last := lowerQuartile(warm[:third], l.value), lowerQuartile(warm[len(warm)-third:], l.value)
		fmt.Printf("%-48s %6.1f in the first third, %.1f in the last, of %d samples\n", l.name, first, last, len(warm))
		if limit := first*(1+l.share) + l.more; last > limit {
			faults = append(faults, fmt.Sprintf("%s grew from %.1f to %.1f, more than %.1f", l.name, first, last, limit))
		}
	}
	return faults
}

func lowerQuartile(samples []sample, value func(sample) float64) float64 {
	values := make([]float64, len(samples))
	for n, one := range samples {
		values[n] = value(one)
	}
	slices.Sort(values)
	return values[len(values)/4]
}
