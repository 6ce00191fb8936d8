package main

import "atrium/platform"

// answerFlags limit the memory that answers use.
type answerFlags struct {
	AnswerBytes  int64 `default:"${answer_bytes}" placeholder:"BYTES" help:"Largest size of one answer, both of its body and of what is read for it; 0 is no limit."`
	AnswerMemory int64 `default:"${answer_memory}" placeholder:"BYTES" help:"Memory that all concurrent answers may use together; those of one caller may use half of it. 0 is no limit."`
}

// minAnswers is the number of largest answers that must fit into the memory of all,
// so that a single answer always fits.
const minAnswers = 10

func (a *answerFlags) check(f *faults) {
	if a.AnswerBytes < 0 {
		f.add("answer-bytes", "must not be negative")
	}
	if a.AnswerMemory != 0 && a.AnswerMemory < minAnswers*a.AnswerBytes {
		f.add("answer-memory", "must be 0, or at least %d times --answer-bytes", minAnswers)
	}
}

// answers returns the limits that the flags set.
func (a *answerFlags) answers() platform.AnswerLimits {
	return platform.AnswerLimits{PerAnswer: a.AnswerBytes, Total: a.AnswerMemory}
}
