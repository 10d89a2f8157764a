// Package settings decides what holds for a message: which model and skill answer, with which profile,
// how much of the conversation a model is shown, and what the turn may take. Settings come from
// config.org and its presets, from the file of the question and the headings above it, from the
// choices for the conversation, and from the message's own words. The nearest counts.
//
// A [Resolver] resolves them once, when the message comes, and they are journalled with the turn. When
// the turn begins, [Of] makes them one value of types, a [Turn], which is handed to everything that
// answers it. What headings set is Org text: a client sends it with the message, because its buffer
// may not be saved. For a client that sends none the conversation's file is read.
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

// Names knows the names of conversations.
type Names interface {
	// NameNow returns the present name of a conversation, which may have been renamed.
	NameNow(ctx context.Context, session string) (string, error)
}

// Chosen knows a person's choices for a conversation; "" is none.
type Chosen interface {
	SessionModel(ctx context.Context, session string) (string, error)
	SessionPreset(ctx context.Context, session string) (string, error)
}

// Models knows the models. Its errors suggest a similar name.
type Models interface {
	// Find fails if no server could have a model of that name.
	Find(name string) error
	// Check also fails if the server reports that it has no such model.
	Check(ctx context.Context, name string) error
}

// Skills knows the live skills of either kind.
type Skills interface {
	Has(name string) bool
	Names() []string
}

// Profiles knows the files of profiles.
type Profiles interface {
	// CheckProfile fails if there is no profile of that name, or if it has a fault.
	CheckProfile(name string) error
}

// Resolve decides the settings of a message, and writes them into the event. It fails if a value
// cannot be used. The error suggests a similar one.
func (r *Resolver) Resolve(ctx context.Context, event *protocol.Event) (err error) {
	if !event.Said() {
		return nil
	}
	// A client may use an old name of a renamed conversation.
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

// ResolveAgain decides the settings of a turn that is answered again, from the present properties
// of its question's heading and of those above it.
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

// sourcesOf returns the sources that [org.Sources] finds, and the question's own heading even if
// the text has none.
func sourcesOf(above string) []org.Source {
	sources := org.Sources(above)
	if !sources[0].Own {
		sources = append([]org.Source{{Own: true}}, sources...)
	}
	return sources
}

// headBytes is how much of a conversation's file is read for the settings of the whole file.
const headBytes = 64 << 10

// above returns the text of the conversation's file that sets something for a question below the
// heading with that id, or for one at the end of the file.
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
	if err != nil && !errors.Is(err, syscall.EISDIR) { // a directory sets nothing
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

// ownProperties returns the properties of a question's heading that the person set, the first of
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
