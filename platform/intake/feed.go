package intake

import (
	"context"
	"slices"
	"strconv"

	"atrium/platform/core"
	"atrium/platform/webhooks"
)

// A Feed is a source of the operator, as a server is told it.
type Feed struct {
	Type       SourceType
	Ecosystems []string
	URL        string // "" means where everybody reads
}

// CheckFeed returns what is wrong with a feed, or "". private is what Options has.
func CheckFeed(f Feed, private []string) string {
	var v core.Violations
	source := f.source()
	if n := natures[f.Type]; !n.forAll {
		return "only osv, kev and epss are the same for all organizations"
	}
	v.CheckRequiredLines("ecosystems", f.Ecosystems, maxEcosystems)
	webhooks.CheckURL(&v, "url", source.URL, private, nil)
	if source.checkReading(&v); len(v) == 0 {
		return ""
	}
	return v[0].Field + " " + v[0].Description
}

// source returns the source of a feed.
func (f Feed) source() *Source {
	s := &Source{Type: f.Type, URL: f.URL, Ecosystems: slices.Clone(f.Ecosystems)}
	slices.Sort(s.Ecosystems)
	s.Ecosystems = slices.Compact(s.Ecosystems)
	s.complete()
	return s
}

// feedLock serializes servers that start at the same time.
const feedLock core.UID = "feeds"

// SetFeeds makes the sources of the operator those of some feeds. It changes nothing of those that are there already, so that servers with
// the same feeds can start at any time. Only an operator can call it.
func (s Sources) SetFeeds(ctx context.Context, feeds []Feed) error {
	if err := core.RequireOperator(ctx); err != nil {
		return err
	}
	return s.area.Store.Write(ctx, func(tx core.Tx) error {
		tx.Lock(feedLock)
		stored, err := s.area.tables.OperatorSources(ctx, tx)
		if err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		kept, names := map[core.UID]bool{}, map[string]bool{}
		var added []*Source
		for _, feed := range feeds {
			wanted := feed.source()
			at := slices.IndexFunc(stored, func(known *Source) bool {
				return !kept[known.UID] && known.Type == wanted.Type && known.URL == wanted.URL && slices.Equal(known.Ecosystems, wanted.Ecosystems)
			})
			if at >= 0 {
				kept[stored[at].UID], names[stored[at].Name] = true, true
				continue
			}
			SourceKind.Stamp(wanted, core.NewRootUID(), now)
			wanted.NextRunTime, wanted.EncryptedPassword = now, []byte{}
			added = append(added, wanted)
		}
		for _, source := range added {
			source.Name = freeName(source.Type.Short(), names)
		}
		for _, source := range stored {
			if !kept[source.UID] {
				if _, err := s.area.tables.Sources.Delete(ctx, tx, source.UID); err != nil {
					return err
				}
			}
		}
		if len(added) == 0 {
			return nil
		}
		return s.area.tables.Sources.Insert(ctx, tx, added...)
	})
}

// freeName returns a name that no other source has, and takes it.
func freeName(name string, taken map[string]bool) string {
	free := name
	for n := 2; taken[free]; n++ {
		free = name + " " + strconv.Itoa(n)
	}
	taken[free] = true
	return free
}

// Feeds returns the sources of the operator. Only an operator can read them so; others list sources.
func (s Sources) Feeds(ctx context.Context) ([]*Source, error) {
	if err := core.RequireOperator(ctx); err != nil {
		return nil, err
	}
	return s.area.tables.OperatorSources(ctx, s.area.Store)
}

// All returns up to limit sources of everybody, those that fail before the others, and the time. Only an operator can read them.
func (s Sources) All(ctx context.Context, limit int) (all []*Source, now core.Time, err error) {
	if err := core.RequireOperator(ctx); err != nil {
		return nil, core.Time{}, err
	}
	if now, err = s.area.Store.Now(ctx); err != nil {
		return nil, core.Time{}, err
	}
	all, err = s.area.tables.AllSources(ctx, s.area.Store, limit)
	return all, now, err
}

// FeedsAsOf returns the time as of which all feeds of the operator are known: that of the feed that was read least recently. It is zero if
// there are no feeds, or if one has never been read. Whoever may see findings may know it.
func (s Sources) FeedsAsOf(ctx context.Context) (asOf core.Time, err error) {
	if err := core.RequireIdentity(ctx); err != nil {
		return core.Time{}, err
	}
	feeds, err := s.area.tables.OperatorSources(ctx, s.area.Store)
	for i, f := range feeds {
		if i == 0 || f.LastSuccessTime.Before(asOf.Time) {
			asOf = f.LastSuccessTime
		}
	}
	return asOf, err
}
