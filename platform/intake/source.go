package intake

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/webhooks"
)

// A Source is a place that the server reads by itself, at intervals, and imports what it has. One of an organization is in the group that
// the records are imported into. One of the operator has a UID without a group, and is for all organizations.
type Source struct {
	UID        core.UID      `json:"uid"`
	Name       string        `json:"name"` // unique in its group
	Type       SourceType    `json:"type"`
	URL        string        `json:"url"`
	Ecosystems []string      `json:"ecosystems,omitempty"` // whose OSV records are read; none means all that the URL has
	Patterns   []string      `json:"patterns,omitempty"`   // of the repos of a registry that are read, such as shop/*; none means all
	Prune      bool          `json:"prune"`                // whether tags are removed that the registry no longer has
	Interval   core.Duration `json:"interval"`             // between two runs
	// Credentials sign requests in; nil means that they are anonymous.
	Credentials *SourceCredentials `json:"credentials,omitempty"`
	Paused      bool               `json:"paused"` // whether it is read only when somebody asks for it
	CreateTime  core.Time          `json:"createTime,omitzero"`
	UpdateTime  core.Time          `json:"updateTime,omitzero"` // of the last change by a caller; runs do not change it

	State           SourceState `json:"state"`
	NextRunTime     core.Time   `json:"nextRunTime,omitzero"` // zero while it is paused
	LastRunTime     core.Time   `json:"lastRunTime,omitzero"` // when the last run began
	LastSuccessTime core.Time   `json:"lastSuccessTime,omitzero"`
	FailingSince    core.Time   `json:"failingSince,omitzero"` // time of the first failure after the last success
	Failures        int32       `json:"failures"`              // in a row
	LastRun         *SourceRun  `json:"lastRun,omitempty"`     // the report of the last run that has ended

	EncryptedPassword []byte           `json:"-"`
	Marks             map[string]*Mark `json:"-"` // what is known of what was read, by URL
	Ticket            int64            `json:"-"` // number of the valid ticket, which is that of the last run
	Lease             core.Time        `json:"-"` // time until which a process holds the source; zero if none does
	CancelAsked       bool             `json:"-"` // whether the process that holds it must end the run
}

// SourceCredentials sign requests in. Without a user name, the password is a token.
type SourceCredentials struct {
	Username string     `json:"username,omitempty"`
	Password iam.Secret `json:"password,omitzero"` // input only; no response contains it
	// HasPassword is output only.
	HasPassword bool `json:"hasPassword"`
}

// UnmarshalJSON decodes credentials. Unknown members are an error.
func (c *SourceCredentials) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalObject(b, map[string]any{"username": &c.Username, "password": &c.Password, "hasPassword": &c.HasPassword})
}

// A Mark says what was read of a URL, so that only what has changed is read again.
type Mark struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
	// Since is the newest time of a record in an index, and Recent has the records with times shortly before it.
	Since  core.Time            `json:"since,omitzero"`
	Recent map[string]core.Time `json:"recent,omitempty"`
}

// SourceFilter restricts a list of sources.
type SourceFilter struct {
	core.ChangeFilter

	Name  string      `json:",omitempty"` // exact name
	Type  SourceType  `json:",omitempty"`
	State SourceState `json:",omitempty"`
}

// Check adds the violations of the conditions.
func (f *SourceFilter) Check(v *core.Violations) {
	v.CheckFilter("name", f.Name)
	core.CheckOneOf(v, "type", f.Type, sourceTypes)
	core.CheckOneOf(v, "state", f.State, sourceStates)
}

// SourceKind has the facts about sources.
var SourceKind = core.Kind[*Source]{
	Name: "Source", Plural: "sources", Area: core.AreaSources, Number: 24, Own: true, Event: "sources.source", Parent: core.GroupRef,
	Verbs: []string{"created", "updated", "deleted", "failed", "recovered"},
	List:  core.CapSourcesList, Create: core.CapSourcesCreate, Update: core.CapSourcesUpdate, Delete: core.CapSourcesDelete, Hidden: core.SourceMarks,
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "name", Mode: fieldmask.Updatable}, {Name: "type", Mode: fieldmask.AtCreation},
		{Name: "url", Mode: fieldmask.Updatable}, {Name: "ecosystems", Mode: fieldmask.Updatable}, {Name: "patterns", Mode: fieldmask.Updatable},
		{Name: "prune", Mode: fieldmask.Updatable}, {Name: "interval", Mode: fieldmask.Updatable}, {Name: "credentials", Mode: fieldmask.Updatable},
		{Name: "paused", Mode: fieldmask.Updatable}, {Name: "createTime", Mode: fieldmask.OutputOnly}, {Name: "updateTime", Mode: fieldmask.Volatile},
		{Name: "state", Mode: fieldmask.Volatile}, {Name: "nextRunTime", Mode: fieldmask.Volatile}, {Name: "lastRunTime", Mode: fieldmask.Volatile},
		{Name: "lastSuccessTime", Mode: fieldmask.Volatile}, {Name: "failingSince", Mode: fieldmask.Volatile}, {Name: "failures", Mode: fieldmask.Volatile},
		{Name: "lastRun", Mode: fieldmask.Volatile},
	},
	Required: []string{"name", "type"},
	Unique:   []string{"name"},
	Orders: []core.OrderField[*Source]{
		{Name: "name", Value: func(s *Source) any { return s.Name }},
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(s *Source) any { return s.CreateTime }},
		{Name: "update_time", Spellings: core.UpdateTimeSpellings, Value: func(s *Source) any { return s.UpdateTime }},
		{Name: "uid", Value: func(s *Source) any { return string(s.UID) }},
	},
	DefaultOrder: core.Order{Field: "name"},
	UID:          func(s *Source) core.UID { return s.UID },
	Group:        core.ParentOf(func(s *Source) core.UID { return s.UID }),
	Stamp: func(s *Source, uid core.UID, now core.Time) {
		s.UID, s.CreateTime, s.UpdateTime = uid, now, now
	},
	Check: func(s *Source, changed func(string) bool, v *core.Violations) {
		if changed("name") {
			v.CheckName(s.Name, core.NamePattern, core.MaxNameBytes)
		}
		if changed("ecosystems") {
			v.CheckRequiredLines("ecosystems", s.Ecosystems, maxEcosystems)
		}
		if changed("patterns") {
			v.CheckRequiredLines("patterns", s.Patterns, maxPatterns)
			if i := slices.IndexFunc(s.Patterns, func(pattern string) bool { _, err := path.Match(pattern, ""); return err != nil }); i >= 0 {
				v.Add(fmt.Sprintf("patterns[%d]", i), "must be a pattern such as shop/*, with every [ closed")
			}
		}
		if wait := time.Duration(s.Interval); changed("interval") && wait != 0 && (wait < minInterval || wait > maxInterval) {
			v.Add("interval", "must be between %s and %s", core.Duration(minInterval), core.Duration(maxInterval))
		}
		if changed("credentials") && s.Credentials != nil {
			v.CheckLine("credentials.username", s.Credentials.Username)
			v.CheckText("credentials.password", s.Credentials.Password.Text, maxPasswordBytes)
			if s.Credentials.HasPassword {
				v.Add("credentials.hasPassword", "must be absent, because only the service sets it")
			}
		}
	},
	IsBuiltIn: core.UID.IsRoot,
}

// maxPasswordBytes is enough for a token of any cloud.
const maxPasswordBytes = 16 << 10

// sourceKind returns the kind, whose check of a new source follows the options.
func (area *Area) sourceKind() *core.Kind[*Source] {
	kind := SourceKind
	kind.Check = func(s *Source, changed func(string) bool, v *core.Violations) {
		SourceKind.Check(s, changed, v)
		if changed("url") && s.URL != "" {
			webhooks.CheckURL(v, "url", s.URL, area.options.Private, nil)
		}
		if !changed("type") { // an update cannot change it, and checks the whole
			return
		}
		s.complete()
		if n, known := natures[s.Type]; known && !n.forOrganizations {
			v.Add("type", "must be one of OSV, OCI, VEX and SBOM: %s is the same for all organizations, and the operator of the service imports it", strings.ToUpper(s.Type.Short()))
		} else {
			s.checkReading(v)
		}
	}
	return &kind
}

// complete sets what a source has by its type.
func (s *Source) complete() {
	if s.URL == "" {
		s.URL = natures[s.Type].url
	}
	if s.Interval == 0 {
		s.Interval = core.Duration(natures[s.Type].interval)
	}
	if s.State == "" {
		s.State = Waiting
	}
}

// Sources are the operations on sources.
type Sources struct {
	core.Resources[*Source, *SourceFilter]
	rows *core.Collection[*Source, *SourceFilter]
	area *Area
}

func sourceKeyFilter(s *Source) *SourceFilter { return &SourceFilter{Name: s.Name} }

// isHeld reports whether a process reads the source.
func (s *Source) isHeld(now core.Time) bool { return s.Lease.After(now.Time) }

// host returns the host of the URL, with its port.
func (s *Source) host() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// Create makes a source. It is read as soon as a server is free. The caller must hold what importing the same needs, besides
// sources.create.
func (s Sources) Create(ctx context.Context, parent core.UID, in fieldmask.Input[*Source]) (*Source, error) {
	made, err := s.rows.AuthorizeCreate(ctx, parent, in)
	if err == nil {
		_, err = core.Require(ctx, parent, natures[made.Type].imports...)
	}
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "created", parent, err)
	}
	given := made.Credentials
	return s.rows.Insert(ctx, parent, made, func(tx core.Tx) (err error) {
		made.Credentials = given // with the password, also if the transaction is retried
		if !made.Paused {
			if made.NextRunTime, err = tx.Now(ctx); err != nil {
				return err
			}
		}
		return s.encryptPassword(ctx, tx, made, false)
	})
}

// encryptPassword replaces the password by its encrypted form, so that no response and no event contains it. has says whether the source
// has a password that stays unless it is given one.
func (s Sources) encryptPassword(ctx context.Context, tx core.Tx, source *Source, has bool) (err error) {
	source.EncryptedPassword = []byte{}
	given := source.Credentials
	if given == nil {
		return nil
	}
	if given.Password.Text != "" {
		source.EncryptedPassword, err = s.area.secrets.EncryptSecret(ctx, tx, given.Password.Text, source.UID)
	}
	source.Credentials = &SourceCredentials{Username: given.Username, HasPassword: given.Password.Text != "" || has && !given.Password.Given}
	if *source.Credentials == (SourceCredentials{}) {
		source.Credentials = nil
	}
	return err
}

// Update changes a source. An absent password stays as it is, unless the URL has another host then: whoever may change a source must not
// be able to send its password elsewhere. The caller must hold what importing the same needs, besides sources.update. A source that is read from another place is read as a whole.
func (s Sources) Update(ctx context.Context, uid core.UID, in fieldmask.Input[*Source]) (*Source, error) {
	return s.rows.UpdateChecked(ctx, uid, in, func(tx core.Tx, change *fieldmask.Change[*Source]) error {
		current, now, err := s.getLocked(ctx, tx, uid)
		if err != nil {
			return err
		}
		if _, err := core.Require(ctx, uid, natures[current.Type].imports...); err != nil {
			return err
		}
		merged := current.merge(change)
		var v core.Violations
		if merged.checkReading(&v); merged.host() != current.host() && len(current.EncryptedPassword) > 0 && !change.Row.givesPassword(change) {
			v.Add("credentials", "must be given again, or be null, because the url has a new host, which must not receive the password for the old one")
		}
		if err := v.SortByField(s.rows.Kind.FieldNames()).Err(); err != nil {
			return err
		}
		return s.completeUpdate(ctx, tx, current, merged, change, now)
	})
}

// getLocked reads a source and the time.
func (s Sources) getLocked(ctx context.Context, tx core.Tx, uid core.UID) (source *Source, now core.Time, err error) {
	err = tx.RunTogether(ctx,
		func(ctx context.Context) (err error) { source, err = s.rows.GetLocked(ctx, tx, uid); return err },
		func(ctx context.Context) (err error) { now, err = tx.Now(ctx); return err })
	return source, now, err
}

// givesPassword reports whether a change sets or removes the password.
func (s *Source) givesPassword(change *fieldmask.Change[*Source]) bool {
	return change.Writes("credentials") && (s.Credentials == nil || s.Credentials.Password.Given)
}

// merge returns the source after a change.
func (s *Source) merge(change *fieldmask.Change[*Source]) *Source {
	merged, to := *s, change.Row
	for field, set := range map[string]func(){
		"url": func() { merged.URL = to.URL }, "ecosystems": func() { merged.Ecosystems = to.Ecosystems }, "patterns": func() { merged.Patterns = to.Patterns },
		"prune": func() { merged.Prune = to.Prune }, "interval": func() { merged.Interval = to.Interval }, "paused": func() { merged.Paused = to.Paused },
	} {
		if change.Writes(field) {
			set()
		}
	}
	merged.complete()
	return &merged
}

// completeUpdate adds to a change what follows from it.
func (s Sources) completeUpdate(ctx context.Context, tx core.Tx, current, merged *Source, change *fieldmask.Change[*Source], now core.Time) error {
	row := change.Row
	row.UID = current.UID
	if change.Writes("url") {
		row.URL = merged.URL
	}
	if change.Writes("interval") {
		row.Interval = merged.Interval
	}
	next := current.NextRunTime
	isElsewhere := merged.URL != current.URL || !core.EqualJSON(merged.Ecosystems, current.Ecosystems) || !core.EqualJSON(merged.Patterns, current.Patterns)
	isDue := !current.isHeld(now) && !next.IsZero() && !next.After(now.Time)
	switch {
	case merged.Paused:
		next = core.Time{}
	case isDue:
	case isElsewhere || current.Paused:
		next = now
	case merged.Interval != current.Interval && current.Failures == 0 && !current.LastRunTime.IsZero():
		next = core.At(current.LastRunTime.Add(time.Duration(merged.Interval)))
	}
	if isElsewhere { // A run that goes on reads what it was told before.
		row.Marks, row.CancelAsked, change.Fields = nil, current.isHeld(now), append(change.Fields, "marks", "cancelAsked")
	}
	if !next.Equal(current.NextRunTime.Time) {
		row.NextRunTime, change.Fields = next, append(change.Fields, "nextRunTime")
	}
	if !change.Writes("credentials") {
		return nil
	}
	if row.Credentials == nil || row.Credentials.Password.Given {
		change.Fields = append(change.Fields, "password") // otherwise it keeps the stored one
	}
	return s.encryptPassword(ctx, tx, row, len(current.EncryptedPassword) > 0)
}

// Delete deletes a source. What was imported from it stays. A run of it ends.
func (s Sources) Delete(ctx context.Context, uid core.UID) error { return s.rows.Remove(ctx, uid) }
