package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	// feedTimeout limits how long a follower may take to read the last event.
	feedTimeout = 2 * time.Minute
	// deliveryTimeout limits how long a sink may wait for the next delivery. A job whose result
	// could not be stored, because the database was away, runs again after two minutes.
	deliveryTimeout = 4 * time.Minute
)

// judgeSoak checks what came of the load.
func (s *soak) judgeSoak(ctx context.Context) error {
	var faults []string
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	feed, err := s.readFeeds(ctx)
	if err != nil {
		return err
	}
	faults = append(faults, s.judgeFollowers(feed)...)
	faults = append(faults, s.judgeEvents(feed)...)
	faults = append(faults, s.judgeSinks(ctx, feed)...)
	faults = append(faults, s.judgeState()...)
	if said, err := s.run(ctx, "admin", "recount"); err != nil || !strings.HasPrefix(said, "0 ") {
		add("recount: %s (%v)", said, err)
	}
	faults = append(faults, s.judgeHistory()...)
	faults = append(faults, s.judgeSamples()...)
	for n, one := range s.running {
		if text, _ := os.ReadFile(one.log.Name()); trouble.Match(text) {
			add("process %d has logged %q", n, trouble.Find(text))
		}
	}
	s.report(feed)
	return joinFaults(faults)
}

var trouble = regexp.MustCompile(`(?m)^.*(panic: |fatal error: |"msg":"panic|DATA RACE).*$`)

// readFeeds reads the whole feed twice from each process, and returns it.
func (s *soak) readFeeds(ctx context.Context) ([]event, error) {
	last, err := s.create("/registry/v2/repos/"+s.group, map[string]any{"name": "the-last"}, "/registry/v2/repos?name=the-last&uidp.children_of="+s.group)
	if err != nil {
		return nil, err
	}
	for _, f := range s.followers {
		if err := f.await(last, feedTimeout); err != nil {
			return nil, err
		}
	}
	var feed []event
	for n := range 2 * processes {
		reading, end := context.WithCancel(ctx)
		f := s.newFollower(fmt.Sprintf("reading %d of the feed", n), n%processes, func(f *follower) { f.fixed = true })
		go f.follow(reading)
		err := f.await(last, feedTimeout)
		end()
		if err != nil {
			return nil, err
		}
		read := upTo(f.read(), last)
		if n > 0 && !slices.Equal(read, feed) {
			return nil, fmt.Errorf("%s differs from the first %s", f.name, describeDifference(read, feed))
		}
		feed = read
	}
	return feed, nil
}

// upTo returns the events up to the one about a subject.
func upTo(events []event, subject string) []event {
	return events[:1+slices.IndexFunc(events, func(e event) bool { return e.Subject == subject })]
}

// describeDifference names what one of two lists of events lacks, and the first difference.
func describeDifference(got, want []event) string {
	n := 0
	for n < min(len(got), len(want)) && got[n] == want[n] {
		n++
	}
	lacks := func(one, other []event) []event {
		known := map[string]bool{}
		for _, e := range other {
			known[e.ID] = true
		}
		return slices.DeleteFunc(slices.Clone(one), func(e event) bool { return known[e.ID] })
	}
	extra, missing := lacks(got, want), lacks(want, got)
	return fmt.Sprintf("from event %d of %d on; it lacks %d events, such as %+v, and has %d others, such as %+v",
		n, len(want), len(missing), missing[:min(len(missing), 2)], len(extra), extra[:min(len(extra), 2)])
}

// judgeFollowers expects that each follower has read each event of the feed once, in order.
func (s *soak) judgeFollowers(feed []event) (faults []string) {
	for _, f := range s.followers {
		want := feed
		if f.types != nil {
			want = slices.DeleteFunc(slices.Clone(feed), func(e event) bool { return !slices.Contains(f.types, e.Type) })
		}
		got := upTo(f.read(), feed[len(feed)-1].Subject)
		if !slices.Equal(got, want) {
			faults = append(faults, fmt.Sprintf("%s differs from the feed %s", f.name, describeDifference(got, want)))
		}
		fmt.Printf("%-48s %6d events in %d streams, and %d that were lost\n", f.name, len(got), f.streams, len(f.dropped))
		if len(f.dropped) > 0 && s.inflicted[aPromotion] == 0 {
			faults = append(faults, fmt.Sprintf("%s has read events that are not stored, such as %+v", f.name, f.dropped[0]))
		}
	}
	return faults
}

// judgeEvents expects an event for each acknowledged write, and no second one. It leaves out the demonstration data, which are
// older than the group of the load, and whose tags move.
func (s *soak) judgeEvents(feed []event) (faults []string) {
	feed = feed[slices.IndexFunc(feed, func(e event) bool { return e.Subject == s.group }):]
	verbs, values, ids := map[string]map[string]int{}, map[string]map[string]int{}, map[string]bool{}
	for _, e := range feed {
		if ids[e.ID] {
			faults = append(faults, "the feed has "+e.ID+" twice")
		}
		ids[e.ID] = true
		words := strings.Split(e.Type, ".")
		verb := words[len(words)-2]
		if verbs[verb] == nil {
			verbs[verb] = map[string]int{}
		}
		verbs[verb][e.Subject]++
		if verb == "updated" {
			if values[e.Subject] == nil {
				values[e.Subject] = map[string]int{}
			}
			values[e.Subject][e.Body.Description]++
		}
	}
	expectOne := func(what string, n int) {
		if n != 1 && len(faults) < 10 {
			faults = append(faults, fmt.Sprintf("%s has %d events, want 1", what, n))
		}
	}
	l := &s.ledger
	for uid := range l.created {
		expectOne("the creation of "+uid, verbs["created"][uid])
	}
	for uid := range l.deleted {
		expectOne("the deletion of "+uid, verbs["deleted"][uid])
	}
	for subject, n := range verbs["created"] {
		if n > max(1, l.tries[subject]) { // a tag that is sent again is moved
			expectOne("the creation of "+subject, n)
		}
	}
	for uid := range l.tries {
		if verbs["created"][uid] == 0 {
			expectOne("the creation of "+uid, 0)
		}
	}
	writes := len(l.created) + len(l.deleted)
	for repo, sent := range l.values {
		for value, tries := range sent {
			writes++
			if n := values[repo][value]; n < 1 || n > tries {
				expectOne(fmt.Sprintf("the change of %s to %s, which was sent %d times,", repo, value, tries), n)
			}
		}
	}
	fmt.Printf("%-48s %6d writes: %d without their events, or with others\n", "what was acknowledged", writes, len(faults))
	return faults
}

// judgeSinks waits until the sinks have received the events of their subscriptions, each
// under the id and with the type and the subject of the feed.
func (s *soak) judgeSinks(ctx context.Context, feed []event) (faults []string) {
	inside := func(e event) bool { return e.Subject == s.group || strings.HasPrefix(e.Subject, s.group+"/") }
	byID := map[string]event{}
	for _, e := range feed {
		byID[e.ID] = e
	}
	began := slices.IndexFunc(feed, func(e event) bool { return strings.Contains(e.Type, ".subscription.created.") && inside(e) })
	for began < len(feed) && strings.Contains(feed[began].Type, ".subscription.created.") { // the others follow
		began++
	}
	for path, types := range subscribed {
		want := slices.DeleteFunc(slices.Clone(feed[began:]), func(e event) bool {
			return !inside(e) || types != nil && !slices.Contains(types, e.Type)
		})
		waiting := time.Now()
		for len(s.sink.missing(path, want)) > 0 && ctx.Err() == nil {
			if from := s.sink.last(); time.Since(from) > deliveryTimeout && time.Since(waiting) > deliveryTimeout {
				break
			}
			pause(ctx, 50*time.Millisecond)
		}
		if missing := s.sink.missing(path, want); len(missing) > 0 {
			faults = append(faults, fmt.Sprintf("%s has not received %d of %d events, such as %+v", path, len(missing), len(want), missing[0]))
		}
		s.sink.lock.Lock()
		for id, d := range s.sink.received[path] {
			if e, known := byID[id]; known && (e.Type != d.kind || e.Subject != d.subject) || !known && d.kind == repoCreated {
				faults = append(faults, fmt.Sprintf("%s has received %+v as %s, which is %+v in the feed", path, d, id, e))
			}
		}
		s.sink.lock.Unlock()
		fmt.Printf("%-48s %6d events, delivered at least once\n", "the sink "+path, len(want))
	}
	return faults
}

// judgeState expects that the last values are stored, with nothing else.
func (s *soak) judgeState() (faults []string) {
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	l := &s.ledger
	for repo, value := range l.current {
		if answer, err := s.read("/registry/v2/repos/" + repo); err != nil || textOf(answer, "description") != value {
			add("%s is %q (%v), want %q", repo, textOf(answer, "description"), err, value)
		}
	}
	total := func(query, uid, root string) int {
		answer, err := s.send(s.spared, s.owner, http.MethodPost, "/graphql", map[string]any{"query": query, "variables": map[string]any{"uid": uid}})
		if err != nil {
			add("%v", err)
			return -1
		}
		data, _ := answer["data"].(map[string]any)
		found, _ := data[root].(map[string]any)
		if tags, nested := found["tags"].(map[string]any); nested {
			found = tags
		}
		n, _ := found["totalCount"].(float64)
		return int(n)
	}
	for repo, want := range l.tags {
		if n := total(`query ($uid: UID!) { repo(uid: $uid) { tags(first: 1) { totalCount } } }`, repo, "repo"); n != want {
			add("%s has %d tags, want %d", repo, n, want)
		}
	}
	if n := total(`query ($uid: UID!) { advisories(within: $uid, directOnly: true, first: 1) { totalCount } }`, s.imported, "advisories"); n != l.advisories {
		add("%d advisories were imported, want %d", n, l.advisories)
	}
	want := map[string]bool{}
	for uid := range l.created {
		if strings.HasPrefix(uid, s.group+"/") && !l.deleted[uid] {
			want[uid] = true
		}
	}
	for token, first := "", true; first || token != ""; first = false {
		page, err := s.read("/registry/v2/repos?page_size=200&uidp.children_of=" + s.group + "&page_token=" + token)
		if err != nil {
			add("%v", err)
			return faults
		}
		for _, item := range items(page) {
			if uid := textOf(item, "uid"); !want[uid] {
				add("%s is stored and was not created", uid)
			} else {
				delete(want, uid)
			}
		}
		token = textOf(page, "nextPageToken")
	}
	for uid := range want {
		if !s.isRepo(uid) {
			continue
		}
		add("%s was created and is not stored", uid)
	}
	return faults
}

// isRepo reports whether the load created a UID of the group as a repo. Subscriptions are the
// only other children that stay.
func (s *soak) isRepo(uid string) bool {
	_, err := s.read("/events/v2/subscriptions/" + uid)
	return err != nil
}

// report prints what the soak consisted of.
func (s *soak) report(feed []event) {
	fmt.Printf("%-48s %6d requests, %d events, %d deliveries, %d tags, %d advisories\n", "all", s.requests, len(feed), s.sink.deliveries, sum(s.ledger.tags), s.ledger.advisories)
	for _, name := range slices.Sorted(maps.Keys(s.inflicted)) {
		fmt.Printf("%-48s %6d times, writes again after %.2f s at most\n", name, s.inflicted[name], s.recovery[name].Seconds())
	}
	for _, name := range slices.Sorted(maps.Keys(s.interrupted)) {
		fmt.Printf("interrupted %d times: %s\n", s.interrupted[name], name)
	}
}

func sum(counts map[string]int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}
