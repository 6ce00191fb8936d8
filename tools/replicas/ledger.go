package main

import "sync"

// A ledger holds the writes whose result is known.
type ledger struct {
	lock         *sync.Mutex
	created      map[string]bool           // UIDs
	deleted      map[string]bool           // UIDs
	values       map[string]map[string]int // how often a value was sent, by the UID of its repo
	current      map[string]string         // the last value of a repo
	tags         map[string]int            // the number of tags of a repo
	tries        map[string]int            // how often a tag was sent
	advisories   int
	acknowledged [processes]int // how many writes each process has acknowledged
}

func newLedger() ledger {
	return ledger{lock: new(sync.Mutex), created: map[string]bool{}, deleted: map[string]bool{}, values: map[string]map[string]int{}, current: map[string]string{}, tags: map[string]int{}, tries: map[string]int{}}
}

func (l *ledger) acknowledge(process int) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.acknowledged[process]++
}

// counts returns how many writes each process has acknowledged.
func (l *ledger) counts() [processes]int {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.acknowledged
}

func (l *ledger) noteCreated(uid string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.created[uid] = true
}

func (l *ledger) noteDeleted(uid string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.deleted[uid] = true
}

func (l *ledger) noteValue(repo, value string, tries int) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.values[repo] == nil {
		l.values[repo] = map[string]int{}
	}
	l.values[repo][value], l.current[repo] = tries, value
}

func (l *ledger) noteTag(repo, uid string, tries int) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.tags[repo]++
	l.tries[uid] = tries
}

func (l *ledger) noteAdvisories(count int) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.advisories += count
}
