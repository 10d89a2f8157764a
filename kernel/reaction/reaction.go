// Package reaction decides which skills react to what happened in the person's Org files.
//
// A client reports an event with the headings that it is about, and for each heading the turn that
// changed it, if the agent did. A skill whose trigger is true reacts in a conversation of its own, unless
//
//   - all that changed was changed by this skill itself, or by the kernel;
//   - the event is the end of a chain of reactions to reactions that is too long;
//   - it has reacted as often within the last hour as the settings allow.
//
// The journal has what this is decided by, so that it holds across restarts. Reactions is safe for many
// goroutines; one event after the other is decided and submitted, so that the limits hold for many at once.
package reaction

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// chainLimit is how many reactions may follow from one another.
const chainLimit = 3

// kernelChanged stands for what the agent changed in no turn that is known, such as the log of a task.
const kernelChanged = "kernel"

// Matcher returns the skills whose triggers are true for an event.
type Matcher interface {
	Matching(ctx context.Context, event protocol.Event) []string
}

// Turns are those of the journal. The error for an unknown turn has the code [protocol.CodeNotFound].
type Turns interface {
	Turn(ctx context.Context, id string) (journal.Turn, error)
	CountSince(ctx context.Context, session string, since time.Time) (int, error)
}

// Config is what Reactions need.
type Config struct {
	Matcher Matcher
	Turns   Turns
	PerHour func() int // how often an hour a skill may react
	Now     func() time.Time
	Logger  *slog.Logger
}

// Reactions are those of one home. Make one with [New].
type Reactions struct {
	config Config
	mu     sync.Mutex
}

// New returns the Reactions with a configuration. A Now that is nil is time.Now.
func New(config Config) *Reactions {
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Reactions{config: config}
}

// Plan is what an event leads to: the event as skills see it, and each skill whose trigger is true.
type Plan struct {
	Event  protocol.Event
	Skills []protocol.EventSkill
}

// Submit submits an event to a skill.
type Submit func(ctx context.Context, event protocol.Event, skill string) (protocol.EventResult, error)

// React submits an event to each skill that reacts to it, in the conversation of its reactions. The result
// is that of the last one, and has no turn if there is none. An event that is reported again is
// acknowledged again.
func (r *Reactions) React(ctx context.Context, event protocol.Event, submit Submit) (protocol.EventResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	result := protocol.EventResult{Event: event.ID}
	plan, err := r.Plan(ctx, event)
	if err != nil {
		return result, err
	}
	for _, s := range plan.Skills {
		if s.Refused != "" {
			r.config.Logger.Warn("a skill does not react", "skill", s.Name, "sensor", event.Sensor, "event", event.ID, "reason", s.Refused)
			continue
		}
		one := plan.Event
		one.Session = s.Session
		one.ID = fmt.Sprintf("%.*s+%.*s", protocol.IDLimit/2, event.ID, protocol.IDLimit/2-1, word(s.Name))
		if result, err = submit(ctx, one, s.Name); err != nil {
			return result, err
		}
	}
	return result, nil
}

// Plan decides what an event leads to, and does nothing.
func (r *Reactions) Plan(ctx context.Context, event protocol.Event) (Plan, error) {
	changers, err := r.attribute(ctx, &event)
	if err != nil {
		return Plan{}, err
	}
	event.Route = protocol.Route{Kind: protocol.RouteReaction, Channel: protocol.ChannelEmacs}
	plan := Plan{Event: event}
	for _, name := range r.config.Matcher.Matching(ctx, event) {
		s := protocol.EventSkill{Name: name, Session: session(name)}
		if s.Refused, err = r.refusal(ctx, event, s, changers); err != nil {
			return plan, err
		}
		plan.Skills = append(plan.Skills, s)
	}
	return plan, nil
}

// refusal says why a skill does not react, "" if it does.
func (r *Reactions) refusal(ctx context.Context, event protocol.Event, s protocol.EventSkill, changers []string) (string, error) {
	if !slices.ContainsFunc(changers, func(by string) bool { return by != s.Name && by != kernelChanged }) {
		return "the agent made this change itself", nil
	}
	if chain, _ := event.Payload.Get(protocol.PayloadChain).(int64); chain > chainLimit {
		return fmt.Sprintf("%d reactions led to this one, more than %d", chain, chainLimit), nil
	}
	limit := r.config.PerHour()
	if limit == 0 {
		return "REACTIONS is off in config.org", nil
	}
	count, err := r.config.Turns.CountSince(ctx, s.Session, r.config.Now().Add(-time.Hour))
	if err != nil {
		return "", err
	}
	if count >= limit {
		return fmt.Sprintf("it has reacted %d times within an hour, as often as REACTIONS in config.org allows", count), nil
	}
	return "", nil
}

// attribute replaces the turns that changed headings by the names of their skills, and sets how many
// reactions led to the event: none if the person changed anything. It returns who changed something, ""
// for the person. An event without headings is the person's.
func (r *Reactions) attribute(ctx context.Context, event *protocol.Event) (changers []string, err error) {
	headings, _ := event.Payload.Get(protocol.PayloadHeadings).([]any)
	shown := make([]any, len(headings))
	var longest int64
	for i, one := range headings {
		heading, ok := one.(protocol.Object)
		if shown[i] = one; !ok {
			continue
		}
		by, chain := "", int64(0)
		if turn := heading.Text(protocol.PayloadBy); turn != "" {
			if by, chain, err = r.changer(ctx, turn); err != nil {
				return nil, err
			}
			heading = slices.Clone(heading)
			heading.Set(protocol.PayloadBy, by)
			shown[i] = heading
		}
		if longest = max(longest, chain); !slices.Contains(changers, by) {
			changers = append(changers, by)
		}
	}
	event.Payload = slices.Clone(event.Payload)
	if len(shown) > 0 {
		event.Payload.Set(protocol.PayloadHeadings, shown)
	}
	if len(changers) == 0 {
		changers = []string{""}
	}
	if slices.Contains(changers, "") {
		longest = 0
	}
	event.Payload.Set(protocol.PayloadChain, longest)
	return changers, nil
}

// changer returns the skill of a turn, and how long a chain of reactions is that has the turn at its end.
func (r *Reactions) changer(ctx context.Context, id string) (skill string, chain int64, err error) {
	turn, err := r.config.Turns.Turn(ctx, id)
	switch {
	case err != nil && protocol.ErrorCode(err) == protocol.CodeNotFound, err == nil && turn.Skill == "":
		return kernelChanged, 0, nil
	case err != nil:
		return "", 0, err
	}
	chain, _ = turn.Question.Payload.Get(protocol.PayloadChain).(int64)
	name, _, _ := strings.Cut(turn.Skill, "@")
	return name, chain + 1, nil
}

// session returns the name of the conversation in which a skill reacts.
func session(skill string) string {
	name := []rune("reactions-of-" + word(skill))
	return string(name[:min(len(name), protocol.SessionLimit)])
}

// word returns a skill's name with a hyphen for each character that is neither a letter, a digit, a dot nor an
// underscore.
func word(name string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r) {
			return '-'
		}
		return r
	}, name)
}
