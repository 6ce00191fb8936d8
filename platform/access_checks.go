package platform

import (
	"slices"
	"sync"
)

// accessChecks records the checks of the access of a caller on which an answer depends. The answer is the
// same for every caller for whom they have the same outcomes. Whoever takes the caller from the context by
// ActorOf may do anything with it, so that the answer is for this caller only. readEach records what it checks
// instead, so that what it reads by UID can be shared.
type accessChecks struct {
	lock      sync.Mutex
	isPrivate bool // whether the answer may depend on anything about the caller
	made      []accessCheck
}

// An accessCheck is the outcome of a check for a caller.
type accessCheck struct {
	check   func(*Actor) bool
	outcome bool
}

// addAny records that the answer may depend on anything about the caller.
func (c *accessChecks) addAny() {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.isPrivate = true
}

func (c *accessChecks) add(made accessCheck) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.made = append(c.made, made)
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
