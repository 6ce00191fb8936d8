package main

import (
	"atrium/platform/core"
)

// memoryFlags limit the memory that answers use.
type memoryFlags struct {
	AnswerBytes  int64 `default:"${answer_bytes}" placeholder:"BYTES" help:"Largest size of one answer, both of its body and of the data read for it; 0 is no limit."`
	AnswerMemory int64 `default:"${answer_memory}" placeholder:"BYTES" help:"Memory that all concurrent answers may use together; the answers of one caller may use half of it. 0 is no limit."`
}

// minResponses is the number of largest answers that must fit into the memory of all,
// so that a single answer always fits.
const minResponses = 10

func (a *memoryFlags) check(f *faults) {
	if a.AnswerBytes < 0 {
		f.add("answer-bytes", "must not be negative")
	}
	if a.AnswerMemory != 0 && a.AnswerMemory < minResponses*a.AnswerBytes {
		f.add("answer-memory", "must be 0, or at least %d times --answer-bytes", minResponses)
	}
}

// memory returns the limits that the flags set.
func (a *memoryFlags) memory() core.MemoryLimits {
	return core.MemoryLimits{PerResponse: a.AnswerBytes, Total: a.AnswerMemory}
}
