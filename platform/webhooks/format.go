package webhooks

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A Format says for whom events are written: for programs, or for people who read a chat or their mail.
type Format string

// The formats.
const (
	FormatCloudEvents Format = "SUBSCRIPTION_FORMAT_CLOUDEVENTS"
	FormatSlack       Format = "SUBSCRIPTION_FORMAT_SLACK" // also of Mattermost and Rocket.Chat
	FormatTeams       Format = "SUBSCRIPTION_FORMAT_TEAMS"
	FormatEmail       Format = "SUBSCRIPTION_FORMAT_EMAIL"
)

var formats = []Format{FormatCloudEvents, FormatSlack, FormatTeams, FormatEmail}

// UnmarshalJSON reads the name or the number of a format.
func (f *Format) UnmarshalJSON(b []byte) error { return fieldmask.UnmarshalEnum(b, f, formats) }

// Values lists the formats.
func (Format) Values() []string { return fieldmask.Texts(formats) }

// A Digest says how long events are collected for a message.
type Digest string

// The digests.
const (
	DigestImmediate Digest = "SUBSCRIPTION_DIGEST_IMMEDIATE"
	DigestHourly    Digest = "SUBSCRIPTION_DIGEST_HOURLY"
	DigestDaily     Digest = "SUBSCRIPTION_DIGEST_DAILY"
)

var digests = []Digest{DigestImmediate, DigestHourly, DigestDaily}

// UnmarshalJSON reads the name or the number of a digest.
func (d *Digest) UnmarshalJSON(b []byte) error { return fieldmask.UnmarshalEnum(b, d, digests) }

// Values lists the digests.
func (Digest) Values() []string { return fieldmask.Texts(digests) }

const (
	// chatPause is how long events are collected for a chat that gets them at once. One import changes
	// many images within seconds, and chats refuse more than about one message a second.
	chatPause = 5 * time.Second
	// dayBegins is the hour of the day, in UTC, at which daily messages are sent. docs/events.md and schema/ name it.
	dayBegins = 6 * time.Hour
	// LongestDigest is the longest time for which events are collected.
	LongestDigest = core.Day
)

// digestEnd returns until when events are collected for a message that begins now. Times are multiplied by the
// scale of the options.
func (s *Subscription) digestEnd(now core.Time, o *Options) core.Time {
	scaled := func(d time.Duration) time.Duration { return time.Duration(float64(d) * o.DeliveryTimeScale) }
	next := func(interval, offset time.Duration) core.Time {
		return core.At(now.Add(-scaled(offset)).Truncate(scaled(interval)).Add(scaled(interval + offset)))
	}
	switch {
	case s.Digest == DigestHourly:
		return next(time.Hour, 0)
	case s.Digest == DigestDaily:
		return next(core.Day, dayBegins)
	case s.Format == FormatEmail:
		return core.At(now.Add(scaled(max(o.MailInterval, chatPause))))
	default:
		return core.At(now.Add(scaled(chatPause)))
	}
}

// isForPeople reports whether the subscription sends messages, which tell of several events.
func (s *Subscription) isForPeople() bool { return s.Format != "" }

// checkSink checks where a subscription sends to, and how.
func (s *Subscription) checkSink(v *core.Violations, o *Options) {
	core.CheckOneOf(v, "format", s.Format, formats)
	core.CheckOneOf(v, "digest", s.Digest, digests)
	switch {
	case s.Format == FormatEmail && !o.Mail:
		v.Add("format", "cannot be EMAIL: the operator of this service has set no mail server (--smtp-url)")
	case s.Format == FormatEmail:
		checkRecipients(v, s.Sink)
	case strings.HasPrefix(s.Sink, mailScheme):
		v.Add("sink", "must be an https URL, unless the format is EMAIL")
	default:
		checkSink(v, s.Sink, o)
	}
	if (s.Digest == DigestHourly || s.Digest == DigestDaily) && (s.Format == "" || s.Format == FormatCloudEvents) {
		v.Add("digest", "must be IMMEDIATE, because each event is sent on its own in the format CLOUDEVENTS")
	}
}

const (
	mailScheme    = "mailto:"
	maxRecipients = 20
	maxAddress    = 254 // characters that a path of SMTP has room for
)

// addressPattern matches the addresses that mail can be sent to, without quotes and comments.
var addressPattern = regexp.MustCompile(`^[A-Za-z0-9!#$&'*+/=^_{|}~-]+(\.[A-Za-z0-9!#$&'*+/=^_{|}~-]+)*@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$`)

// Recipients returns the addresses in a sink of the format EMAIL, such as mailto:a@example.com,b@example.com.
func Recipients(sink string) []string {
	return strings.Split(strings.TrimPrefix(sink, mailScheme), ",")
}

// checkRecipients rejects sinks that are not the addresses of few recipients.
func checkRecipients(v *core.Violations, sink string) {
	given := Recipients(sink)
	isBad := func(address string) bool { return len(address) > maxAddress || !addressPattern.MatchString(address) }
	sorted := slices.Sorted(slices.Values(given))
	switch {
	case sink == "":
		v.Add("sink", "is required")
	case !strings.HasPrefix(sink, mailScheme):
		v.Add("sink", "must be mailto: with the addresses of the recipients, such as mailto:security@example.com,ops@example.com")
	case len(given) > maxRecipients:
		v.Add("sink", "must have at most %d recipients", maxRecipients)
	case slices.ContainsFunc(given, isBad):
		v.Add("sink", "must have only addresses such as security@example.com, separated by commas; %.100q is none", given[slices.IndexFunc(given, isBad)])
	case len(slices.Compact(sorted)) < len(given):
		v.Add("sink", "must have each recipient once")
	}
}

// SinkHost returns the host of a sink, with its port if the URL has one, or the domain of its first recipient. The rest of
// the URL may be a secret, as with the webhooks of chats.
func SinkHost(sink string) string {
	if strings.HasPrefix(sink, mailScheme) {
		_, domain, _ := strings.Cut(Recipients(sink)[0], "@")
		return domain
	}
	u, err := url.Parse(sink)
	if err != nil {
		return ""
	}
	return u.Host
}
