package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// A Message tells people what one or several events say.
type Message struct {
	Event        *core.Event // the first one
	Subscription core.UID
	GroupNames   []string // names on the way to the group of the subscription
	IsTest       bool     // whether somebody has asked for a sample; what it tells is made up
	Events       int      // number of events
	First, Last  core.Time

	Images  []*ImageNews // those whose findings have changed, the worst first; at most messageImages
	More    int          // how many others there are
	Changes []ChangeNews // everything else that has changed, the oldest first; at most messageChanges
	Others  int          // how many others there are
}

// An ImageNews tells what has happened to the findings of an image.
type ImageNews struct {
	Key        core.ImageKey
	GroupNames []string
	RepoName   string
	Tags       []string // which point to it now; at most messageTags

	Opened, Resolved, Changed int                           // numbers of findings
	Counts                    []inventory.FindingClassCount // those that opened or changed
	Worst                     []*inventory.Finding          // the worst of these; at most messageFindings
}

// A ChangeNews tells of another change.
type ChangeNews struct {
	Kind       string // of the resource, such as RoleBinding
	Verb       string // what was done to it, such as created
	Subject    core.UID
	Name       string   // "" if it has none
	GroupNames []string // names on the way to its group
	Group      core.UID
	Actor      string // who did it; "" if nobody did
	Time       core.Time
	Denied     string // why the change was denied; "" if it was made
}

// What a message shows at most. It says how much more there is.
const (
	messageImages   = 20
	messageFindings = 5
	messageTags     = 3
	messageChanges  = 20
	// digestPage is how many events of a digest are in memory at the same time.
	digestPage = 500
)

// A messageBuilder makes a message of events, which it gets in pages.
type messageBuilder struct {
	area    *Area
	message *Message
	images  map[core.ImageKey]*ImageNews
}

// composeMessage makes the message of a delivery, or returns nil if its events have been deleted.
func (area *Area) composeMessage(ctx context.Context, s *Subscription, d *Delivery) (*Message, error) {
	b := &messageBuilder{area, &Message{Subscription: s.UID}, map[core.ImageKey]*ImageNews{}}
	for after := ""; ; {
		page, err := area.messageEvents(ctx, d, after)
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			b.add(s, e)
		}
		if len(page) < digestPage {
			break
		}
		after = page[len(page)-1].ID
	}
	if b.message.Events == 0 {
		return nil, nil
	}
	b.rank()
	return b.message, b.findNames(ctx, s.UID.Parent())
}

// messageEvents reads the next events of a delivery: those of a digest, or the only one.
func (area *Area) messageEvents(ctx context.Context, d *Delivery, after string) ([]*core.Event, error) {
	if d.Events > 0 {
		return area.store.DigestEvents(ctx, d.UID, after, digestPage)
	}
	e, err := area.Events.Store.Event(ctx, d.EventID)
	if e == nil {
		return nil, err
	}
	return []*core.Event{e}, err
}

// add adds an event.
func (b *messageBuilder) add(s *Subscription, e *core.Event) {
	m := b.message
	m.Events++
	if m.Event == nil {
		m.Event, m.First = e, e.Time
	}
	m.Last = e.Time
	if e.Type == testEventType && e.Subject == s.UID && e.Denied == "" {
		m.IsTest = true
		b.addSample(s)
		return
	}
	if b.addFindings(e) {
		return
	}
	if len(m.Changes) == messageChanges {
		m.Others++
		return
	}
	kind, _ := b.area.Events.Types.ResourceOf(e)
	words := strings.Split(strings.TrimSuffix(events.ShortEventType(e.Type), ".batch"), ".")
	m.Changes = append(m.Changes, ChangeNews{
		Kind: kind, Verb: words[len(words)-1], Subject: e.Subject, Name: nameIn(e.Body), Group: e.Group, Actor: actorOf(e), Time: e.Time, Denied: e.Denied,
	})
}

// nameIn returns the name of the resource in the body of an event, or "".
func nameIn(body json.RawMessage) string {
	var named struct {
		Name, AdvisoryID, Email string
	}
	_ = json.Unmarshal(body, &named) // a body without these has no name
	return cmp.Or(named.Name, named.AdvisoryID, named.Email)
}

// actorOf returns who made a change: the email address or the subject of a token, or the name of an operator's command. The
// names of identities can change, and those who read a message may not be permitted to read them.
func actorOf(e *core.Event) string {
	return cmp.Or(e.Actor.Act["email"], e.Actor.Act["sub"], e.Actor.Subject)
}

// addFindings adds an event about findings of an image, and reports whether it is one.
func (b *messageBuilder) addFindings(e *core.Event) bool {
	verb := slices.IndexFunc(inventory.FindingKind.Verbs, func(verb string) bool {
		return e.Type == core.EventTypeOf(inventory.FindingKind.Event, verb)
	})
	var change inventory.FindingChange
	if verb < 0 || e.Denied != "" || json.Unmarshal(e.Body, &change) != nil {
		return false
	}
	b.addChange(inventory.FindingKind.Verbs[verb], &change)
	return true
}

// addChange adds what has happened to the findings of an image. A finding that is resolved is not told of as one of the worst.
func (b *messageBuilder) addChange(verb string, change *inventory.FindingChange) {
	key := core.ImageKey{Repo: change.Repo, Digest: change.Digest}
	image := b.images[key]
	if image == nil {
		image = &ImageNews{Key: key, RepoName: change.RepoName}
		b.images[key] = image
	}
	isChanged := func(f *inventory.Finding) bool {
		return slices.ContainsFunc(change.Findings, func(changed *inventory.Finding) bool { return changed.UID == f.UID })
	}
	image.Worst = slices.DeleteFunc(image.Worst, isChanged)
	switch verb {
	case "resolved":
		image.Resolved += change.Count
		return
	case "opened":
		image.Opened += change.Count
	default:
		image.Changed += change.Count
	}
	for _, count := range change.Counts {
		image.count(count)
	}
	for _, f := range change.Findings {
		if f.IsOpen() {
			image.Worst = append(image.Worst, f)
		}
	}
	slices.SortStableFunc(image.Worst, compareBadness)
	image.Worst = image.Worst[:min(len(image.Worst), messageFindings)]
}

func (image *ImageNews) count(c inventory.FindingClassCount) {
	at := slices.IndexFunc(image.Counts, func(have inventory.FindingClassCount) bool {
		return have.Rating == c.Rating && have.KnownExploited == c.KnownExploited
	})
	if at < 0 {
		image.Counts = append(image.Counts, c)
		return
	}
	image.Counts[at].Count += c.Count
}

// compareBadness orders findings, the worst first: what is known to be exploited is worse than any rating.
func compareBadness(a, b *inventory.Finding) int {
	return cmp.Or(compareTruth(b.KnownExploited, a.KnownExploited), core.CompareTexts(b.Severity.SortKey(), a.Severity.SortKey()), core.CompareTexts(a.VulnerabilityID, b.VulnerabilityID))
}

func compareTruth(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

// rank chooses the images that the message shows: those with the worst findings first.
func (b *messageBuilder) rank() {
	for _, image := range b.images {
		slices.SortFunc(image.Counts, func(a, b inventory.FindingClassCount) int {
			return cmp.Or(cmp.Compare(b.Rating.Rank(), a.Rating.Rank()), compareTruth(b.KnownExploited, a.KnownExploited))
		})
		b.message.Images = append(b.message.Images, image)
	}
	slices.SortFunc(b.message.Images, func(a, b *ImageNews) int {
		byWorst := cmp.Compare(len(b.Worst), len(a.Worst))
		if len(a.Worst) > 0 && len(b.Worst) > 0 {
			byWorst = compareBadness(a.Worst[0], b.Worst[0])
		}
		return cmp.Or(byWorst, cmp.Compare(b.Opened, a.Opened), core.CompareTexts(a.RepoName, b.RepoName), core.CompareTexts(a.Key.Repo, b.Key.Repo), core.CompareTexts(a.Key.Digest, b.Key.Digest))
	})
	b.message.More = max(len(b.message.Images)-messageImages, 0)
	b.message.Images = b.message.Images[:len(b.message.Images)-b.message.More]
}

// findNames reads the names of groups, and the tags of the images, with one read each. What does not exist any more has
// no name.
func (b *messageBuilder) findNames(ctx context.Context, group core.UID) error {
	ctx = core.WithActor(ctx, core.NewOperator("webhooks"))
	var keys []core.ImageKey
	groups := append(group.Ancestors(), group)
	for _, image := range b.message.Images {
		if !b.message.IsTest {
			keys, groups = append(keys, image.Key), append(groups, image.Key.Repo.Ancestors()...)
		}
	}
	for _, change := range b.message.Changes {
		groups = append(append(groups, change.Group.Ancestors()...), change.Group)
	}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	names := map[core.UID]string{}
	found, groupErrs := b.area.iam.Groups.GetManyWithout(ctx, groups, 0)
	live := core.ListRequest[*inventory.TagFilter]{PageSize: messageTags, Parts: core.PartItems, Filter: &inventory.TagFilter{Deprecated: new(bool), Without: []inventory.TagClass{inventory.TagClassReferrer}}}
	tags, tagErrs := b.area.inventory.Tags.ListOfImages(ctx, live, keys)
	err := errors.Join(
		eachFound(found, groupErrs, func(_ int, g *iam.Group) { names[g.UID] = g.Name }),
		eachFound(tags, tagErrs, func(i int, page core.Page[*inventory.Tag]) {
			for _, tag := range page.Items {
				b.message.Images[i].Tags = append(b.message.Images[i].Tags, tag.Name)
			}
		}))
	for i := range keys {
		b.message.Images[i].GroupNames = namesOn(keys[i].Repo.Parent(), names)
	}
	for i := range b.message.Changes {
		b.message.Changes[i].GroupNames = namesOn(b.message.Changes[i].Group, names)
	}
	b.message.GroupNames = namesOn(group, names)
	return err
}

// namesOn returns the names on the way to a group, or nil if one of them is not known.
func namesOn(group core.UID, names map[core.UID]string) (path []string) {
	for _, uid := range append(group.Ancestors(), group) {
		if names[uid] == "" {
			return nil
		}
		path = append(path, names[uid])
	}
	return path
}

// eachFound calls show for what was found, and returns the first error that says more than that something does not exist.
func eachFound[T any](rows []T, errs []error, show func(i int, row T)) error {
	for i, err := range errs {
		if err == nil {
			show(i, rows[i])
		} else if core.AsError(err).Code != core.CodeNotFound {
			return err
		}
	}
	return nil
}

// addSample adds a finding that is made up.
func (b *messageBuilder) addSample(s *Subscription) {
	f := &inventory.Finding{
		VulnerabilityID: "CVE-2021-44228", Package: "org.apache.logging.log4j:log4j-core", Ecosystem: "Maven", InstalledVersion: "2.14.1", FixedVersions: []string{"2.15.0"},
		Severity: inventory.AdvisorySeverity{Rating: core.SeverityCritical}, KnownExploited: true, State: inventory.FindingOpen,
	}
	b.addChange("opened", &inventory.FindingChange{
		Repo: s.UID.Parent().NewChild(), RepoName: "checkout", Digest: "sha256:" + strings.Repeat("0", 64), Count: 1, Findings: []*inventory.Finding{f},
		Counts: []inventory.FindingClassCount{{Rating: core.SeverityCritical, KnownExploited: true, Count: 1}},
	})
	for _, image := range b.images {
		image.GroupNames, image.Tags = []string{"example", "shop"}, []string{"1.0"}
	}
}
