package core

import (
	"slices"
	"sync"
)

// accessChecks records the checks whether a caller may read an object with a UID, on which an answer depends. An
// answer that depends on nothing else about the caller is the same for every caller for whom they have the same outcomes.
type accessChecks struct {
	lock      sync.Mutex
	isPrivate bool // whether a read has recorded no check of one of its keys
	made      []accessCheck
}

// An accessCheck is the outcome of a check for a caller.
type accessCheck struct {
	check   func(*Actor) bool
	outcome bool
}

func (c *accessChecks) add(made accessCheck) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.made = append(c.made, made)
}

// addRead adds the checks of a read of n keys.
func (c *accessChecks) addRead(read *accessChecks, n int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.made = append(c.made, read.made...)
	c.isPrivate = c.isPrivate || read.isPrivate || len(read.made) < n
}

// soFar returns the checks that were made so far.
func (c *accessChecks) soFar() *accessChecks {
	c.lock.Lock()
	defer c.lock.Unlock()
	return &accessChecks{isPrivate: c.isPrivate, made: slices.Clip(c.made)}
}

// haveSameOutcomes reports whether an answer that depends on these checks is the same for another caller.
func (c *accessChecks) haveSameOutcomes(a *Actor) bool {
	return !c.isPrivate && !slices.ContainsFunc(c.made, func(made accessCheck) bool { return made.check(a) != made.outcome })
}
