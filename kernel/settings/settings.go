// Package settings decides what holds for a message: which model and skill answer, as whom, how
// much of the conversation a model is shown, what the turn may take. Settings come from
// config.org and its presets, the headings and the file that the question stands in, what was
// chosen for the conversation, and the message's own words; the nearest counts.
//
// They are resolved once, when the message comes, and journalled with the turn; whoever
// answers, shows or explains the turn reads them there. What headings set is Org text, which a
// client sends with the message because its buffer may not be saved; for a client that sends
// none the conversation's file is read.
package settings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
)

// Resolver decides what holds for messages. All of its fields are required. It is safe for use
// by several goroutines.
type Resolver struct {
	Live      *Live
	Directory string // of the conversations' files
	Names     Names
	Chosen    Chosen
	Models    Models
	Skills    Skills
	Profiles  Profiles

	drafts drafts
}

// Names knows what conversations are called.
type Names interface {
	// NameNow is the name that a conversation has, which may have been renamed.
	NameNow(ctx context.Context, session string) (string, error)
}

// Chosen knows what a person chose for a conversation; "" for nothing.
type Chosen interface {
	SessionModel(ctx context.Context, session string) (string, error)
	SessionPreset(ctx context.Context, session string) (string, error)
}

// Models knows which models can be asked for. Its errors name what was probably meant.
type Models interface {
	// Find fails where no server could be asked for a model of that name.
	Find(name string) error
	// Check fails also where the server says that it has none.
	Check(ctx context.Context, name string) error
}

// Skills knows the live skills of either kind.
type Skills interface {
	Has(name string) bool
	Names() []string
}

// Profiles knows the files of profiles.
type Profiles interface {
	// CheckProfile fails where there is none of that name, or it is at fault.
	CheckProfile(name string) error
}

// Resolve decides what holds for a message, and writes it into the event. It fails where something is set that cannot be
// had, and names what was probably meant.
func (r *Resolver) Resolve(ctx context.Context, event *protocol.Event) (err error) {
	if !event.Said() {
		return nil
	}
	// Who has not heard that it was renamed gets what it sets, too.
	if event.Session, err = r.Names.NameNow(ctx, event.Session); err != nil {
		return err
	}
	settings := r.Live.Now()
	if event.Sensor == protocol.SensorChatMessage {
		event.Presets = protocol.Mentioned(event.Text, settings.KnowsPreset)
		if strings.TrimSpace(event.Words()) == "" {
			return protocol.Errorf(protocol.CodeInvalidParams,
				"nothing to send: the message only names a preset; M-x org-agent-preset chooses one for the conversation")
		}
	}
	if event.Above == "" {
		above, err := r.above(event.Session, event.Parent)
		if err != nil {
			return err
		}
		event.Above = above + strings.Repeat("*", max(1, event.Level)) + " .\n"
	}
	sources := sourcesOf(event.Above)
	event.Properties = ownProperties(append(orgProperties(event.Properties), sources[0].Properties...))
	if len(event.Properties) > protocol.PropertiesLimit {
		return protocol.Errorf(protocol.CodeTooLarge, "the question has %d properties, more than the %d that it can", len(event.Properties), protocol.PropertiesLimit)
	}
	sources[0].Properties = orgProperties(event.Properties)
	places, err := r.places(ctx, *event, sources)
	if err != nil {
		return err
	}
	event.Settings, err = r.resolve(ctx, event, places, settings)
	return err
}

// ResolveAgain decides what holds for a turn that is answered once more: what its question's
// heading and those above it set now.
func (r *Resolver) ResolveAgain(ctx context.Context, record journal.Turn, above string) (protocol.TurnSettings, error) {
	event := record.Question
	if !event.Said() {
		return nil, nil
	}
	if above == "" {
		text, err := r.conversation(record.Session)
		if err != nil {
			return nil, err
		}
		above, _ = org.Above(text, record.Event)
	}
	sources := sourcesOf(above)
	if above == "" || len(sources) == 2 && len(sources[0].Properties) == 0 { // its heading is gone
		sources[0].Properties = orgProperties(event.Properties)
	}
	event.Session = record.Session
	places, err := r.places(ctx, event, sources)
	if err != nil {
		return nil, err
	}
	return r.resolve(ctx, &event, places, r.Live.Now())
}

// sourcesOf is what [org.Sources] finds, with the question's own heading even if the text
// has none.
func sourcesOf(above string) []org.Source {
	sources := org.Sources(above)
	if !sources[0].Own {
		sources = append([]org.Source{{Own: true}}, sources...)
	}
	return sources
}

// headBytes is how much of a conversation's file is read to see what it sets for all of it.
const headBytes = 64 << 10

// above is what the conversation's file sets for a question below the heading with that
// id, or for one at its end.
func (r *Resolver) above(session, parent string) (string, error) {
	if parent != "" {
		text, err := r.conversation(session)
		above, _ := org.Above(text, parent)
		return above, err
	}
	file, err := os.Open(r.conversationFile(session))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read what the conversation sets: %w", err)
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, headBytes))
	if err != nil && !errors.Is(err, syscall.EISDIR) { // what is no file sets nothing
		return "", fmt.Errorf("read what the conversation sets: %w", err)
	}
	text, _ := org.Above(string(head), "")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text, nil
}

func (r *Resolver) conversation(session string) (string, error) {
	text, err := os.ReadFile(r.conversationFile(session))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.EISDIR) {
		return "", fmt.Errorf("read what the conversation sets: %w", err)
	}
	return string(text), nil
}

func (r *Resolver) conversationFile(session string) string {
	return filepath.Join(r.Directory, session+".org")
}

// ownProperties are those of a question's heading that the person gave it, the first of
// each name.
func ownProperties(found []org.Property) []protocol.Property {
	var own []protocol.Property
	for _, p := range found {
		name := strings.ToUpper(p.Key)
		if name == "ID" || name == "INSTEAD" || slices.ContainsFunc(own, func(o protocol.Property) bool { return o.Name == name }) {
			continue
		}
		own = append(own, protocol.Property{Name: name, Value: strings.TrimSpace(p.Value)})
	}
	return own
}

func orgProperties(properties []protocol.Property) []org.Property {
	var list []org.Property
	for _, p := range properties {
		list = append(list, org.Property{Key: p.Name, Value: p.Value})
	}
	return list
}
