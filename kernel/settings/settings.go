// Package settings decides the settings of a turn: the model and the skill that answer, the
// profile, how much of the conversation the model receives, and the budget of the turn. Settings
// come from config.org and its presets, from the file and the headings above the question, from the
// choices for the conversation, and from the words of the message. The place nearest to the
// question takes precedence.
//
// A [Resolver] decides once, when the message arrives, and the settings are journalled with the
// turn. When the turn begins, [Of] converts them to typed values, a [Turn].
//
// Headings and files set properties as Org text. A client sends that text with the message, because
// its buffer may not be saved. If it sends none, the file of the conversation is read. Resolving
// blocks while files are read and models are looked up.
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

// Resolver decides the settings of messages. All of its exported fields are required. It is safe
// for many goroutines.
type Resolver struct {
	Live      *Live
	Directory string // the directory of the conversations' files
	Names     Names
	Chosen    Chosen
	Models    Models
	Skills    Skills
	Profiles  Profiles

	drafts drafts
}

// Names resolves the names of conversations.
type Names interface {
	// CurrentName returns the current name of a conversation, which may have been renamed.
	CurrentName(ctx context.Context, session string) (string, error)
}

// Chosen returns a person's choices for a conversation, or "" if there is none.
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

// Resolve decides the settings of a message and stores them in the event. It fails if a value
// cannot be used. If a similar value exists, the error suggests it.
func (r *Resolver) Resolve(ctx context.Context, event *protocol.Event) (err error) {
	if !event.HasHeading() {
		return nil
	}
	// A client may use an old name of a renamed conversation.
	if event.Session, err = r.Names.CurrentName(ctx, event.Session); err != nil {
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
		return protocol.Errorf(protocol.CodeTooLarge, "the question has %d properties, more than the %d allowed", len(event.Properties), protocol.PropertiesLimit)
	}
	sources[0].Properties = orgProperties(event.Properties)
	places, err := r.places(ctx, *event, sources)
	if err != nil {
		return err
	}
	event.Settings, err = r.resolve(ctx, event, places, settings)
	return err
}

// ResolveAgain decides the settings of a turn that is answered again. It uses the current
// properties of its question's heading and of the headings above it.
func (r *Resolver) ResolveAgain(ctx context.Context, record journal.Turn, above string) (protocol.TurnSettings, error) {
	event := record.Question
	if !event.HasHeading() {
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
	if above == "" || len(sources) == 2 && len(sources[0].Properties) == 0 { // the heading no longer exists
		sources[0].Properties = orgProperties(event.Properties)
	}
	event.Session = record.Session
	places, err := r.places(ctx, event, sources)
	if err != nil {
		return nil, err
	}
	return r.resolve(ctx, &event, places, r.Live.Now())
}

// sourcesOf returns the sources that [org.Sources] finds. The first is always the question's own
// heading, even if the text does not contain it.
func sourcesOf(above string) []org.Source {
	sources := org.Sources(above)
	if !sources[0].Own {
		sources = append([]org.Source{{Own: true}}, sources...)
	}
	return sources
}

// headBytes is how much of a conversation's file is read to find the settings of the whole file.
const headBytes = 64 << 10

// above returns the part of the conversation's file that sets something for a question below the
// heading with the id parent. If parent is "", it is the part for a question at the end of the
// file.
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
		return "", fmt.Errorf("read the settings of the conversation: %w", err)
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, headBytes))
	if err != nil && !errors.Is(err, syscall.EISDIR) { // a directory sets nothing
		return "", fmt.Errorf("read the settings of the conversation: %w", err)
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
		return "", fmt.Errorf("read the settings of the conversation: %w", err)
	}
	return string(text), nil
}

func (r *Resolver) conversationFile(session string) string {
	return filepath.Join(r.Directory, session+".org")
}

// ownProperties returns the properties that the person set at the question's heading. Of properties
// with the same name it returns the first.
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
