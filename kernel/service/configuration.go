package service

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"

	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/settings"
)

// Greeting holds what clients are told of this kernel when they connect. All fields but Former are
// required.
type Greeting struct {
	Home     string
	Models   greetedModels
	Settings func() config.Settings
	Env      func(string) string
	Speech   Speech
	Token    string // that clients must know
	// Former is how many actions were always allowed before such decisions became rules.
	Former int
	// Replaced reports whether there is another program now where this one was started from. nil: never.
	Replaced func() bool
	// Unread returns how many items of the inbox are unread.
	Unread func() int
}

// greetedModels are the models of a kernel, as a [route.Router] has them.
type greetedModels interface {
	Model() string
	Notice() string
	ConsentNeeded() string
}

// Info describes the kernel as it is now to a client.
func (g Greeting) Info() protocol.ServerInfo {
	info := protocol.ServerInfo{
		Home: g.Home, Model: g.Models.Model(), Notice: g.notice(), Consent: g.Models.ConsentNeeded(),
		TranscriptionHost: g.Speech.Transcription.Host(), VoiceHost: g.Speech.Voice.Host(), Unread: g.Unread(),
	}
	for _, name := range config.ModelVariables(g.Settings()) {
		info.Variables = append(info.Variables, protocol.Variable{Name: name, Digest: protocol.VariableDigest(g.Token, name, g.Env(name))})
	}
	return info
}

// notice returns the notice for a client that connects: which model was detected, how many actions were
// always allowed before such decisions became rules, and that an update waits for a new start.
func (g Greeting) notice() string {
	var notices []string
	if found := g.Models.Notice(); found != "" {
		notices = append(notices, found)
	}
	if g.Former > 0 {
		actions := "1 action"
		if g.Former > 1 {
			actions = fmt.Sprintf("%d actions", g.Former)
		}
		notices = append(notices, actions+" that you always allowed are asked about again: M-x org-agent-policy keeps them as rules or drops them")
	}
	if g.Replaced != nil && g.Replaced() {
		notices = append(notices, "the kernel's program was replaced since it was started: M-x org-agent-stop, and your next message starts the new one")
	}
	return strings.Join(notices, "; ")
}

// Part makes settings count in one part of the kernel, from the next use of the part on. What runs ends
// as it began. If nothing of the part has changed it does nothing. Its error is a fault for people: it
// says what stays as it was.
type Part func(ctx context.Context, settings config.Settings) error

// ModelsPart returns the part that reloads models.
func ModelsPart(models reloadedModels) Part {
	return func(ctx context.Context, settings config.Settings) error {
		if err := models.Reload(ctx, settings); err != nil {
			return fmt.Errorf("the models stay as they were: %w", err)
		}
		return nil
	}
}

// PartOf returns a part that is set to a value of the settings whenever that has another one. Its first
// one is that of the settings started.
func PartOf[T any](started config.Settings, value func(config.Settings) T, set func(T)) Part {
	last := value(started)
	return func(_ context.Context, settings config.Settings) error {
		if now := value(settings); !reflect.DeepEqual(now, last) {
			last = now
			set(now)
		}
		return nil
	}
}

// reloadedModels are the models of a kernel, as a [route.Router] has them.
type reloadedModels interface {
	Reload(context.Context, config.Settings) error
}

// ConfigurationConfig configures a [Configuration]. All fields are required.
type ConfigurationConfig struct {
	Settings *settings.Live
	Parts    []Part         // in the order in which they get new settings
	Level    *slog.LevelVar // of the log
	Info     func() protocol.ServerInfo
	Notify   func(method string, params any) // notifies every client
	Faults   *Faults
}

// Configuration makes changes of config.org count while the kernel runs. It is safe for use by several
// goroutines.
type Configuration struct {
	config ConfigurationConfig

	mu        sync.Mutex
	announced protocol.ServerInfo // what clients were told of this kernel
}

// NewConfiguration returns the configuration of a kernel.
func NewConfiguration(c ConfigurationConfig) *Configuration {
	return &Configuration{config: c, announced: c.Info()}
}

// Reload makes config.org count as it is now, in all parts but those that cannot use it, and tells people
// why these cannot.
func (c *Configuration) Reload(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.config.Settings.Now()
	faults := c.config.Settings.Faults()
	c.config.Level.Set(now.LogLevel)
	for _, part := range c.config.Parts {
		if err := part(ctx, now); err != nil {
			faults = append(faults, err.Error())
		}
	}
	if info := c.config.Info(); !reflect.DeepEqual(info, c.announced) {
		c.announced = info
		c.config.Notify(protocol.MethodServerChanged, info)
	}
	c.config.Faults.Report("the settings", faults)
}
