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
		TranscriptionHost: g.Speech.Transcription.Host(), VoiceHost: g.Speech.Voice.Host(),
	}
	for _, name := range config.ModelVariables(g.Settings()) {
		info.Variables = append(info.Variables, protocol.Variable{Name: name, Digest: protocol.VariableDigest(g.Token, name, g.Env(name))})
	}
	return info
}

// notice returns the notice for a client that connects: which model was detected, and how many actions
// were always allowed before such decisions became rules.
func (g Greeting) notice() string {
	if g.Former == 0 {
		return g.Models.Notice()
	}
	actions := "1 action"
	if g.Former > 1 {
		actions = fmt.Sprintf("%d actions", g.Former)
	}
	rules := actions + " that you always allowed are asked about again: M-x org-agent-policy keeps them as rules or drops them"
	return strings.TrimPrefix(g.Models.Notice()+"; "+rules, "; ")
}

// ConfigurationConfig configures a [Configuration]. All fields are required.
type ConfigurationConfig struct {
	Settings *settings.Live
	Models   reloadedModels
	Level    *slog.LevelVar // of the log
	Path     string         // of config.org, as it is shown to people
	Info     func() protocol.ServerInfo
	Notify   func(method string, params any) // notifies every client
	Faults   *Faults
	Logger   *slog.Logger
}

// reloadedModels are the models of a kernel, as a [route.Router] has them.
type reloadedModels interface {
	Reload(context.Context, config.Settings) error
	Model() string
}

// Configuration makes changes of config.org count while the kernel runs. It is safe for use by several
// goroutines.
type Configuration struct {
	config ConfigurationConfig

	mu        sync.Mutex
	routed    config.Settings     // that the models have
	announced protocol.ServerInfo // what clients were told of this kernel
}

// NewConfiguration returns the configuration of a kernel whose models were made from the settings
// routed.
func NewConfiguration(c ConfigurationConfig, routed config.Settings) *Configuration {
	return &Configuration{config: c, routed: routed, announced: c.Info()}
}

// Reload makes config.org count as it is now, and tells people what of it cannot be used or counts only
// from the next start on.
func (c *Configuration) Reload(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.config.Settings.Now()
	c.config.Level.Set(now.LogLevel)
	faults := c.config.Settings.Faults(c.config.Path)
	if !now.SameModels(c.routed) {
		if err := c.config.Models.Reload(ctx, now); err != nil {
			faults = append(faults, fmt.Sprintf("the models stay as they were: %v", err))
		} else {
			c.routed = now
			c.config.Logger.Info("models changed", "model", c.config.Models.Model())
		}
	}
	if info := c.config.Info(); !reflect.DeepEqual(info, c.announced) {
		c.announced = info
		c.config.Notify(protocol.MethodServerChanged, info)
	}
	c.config.Faults.Report("the settings", faults)
}
