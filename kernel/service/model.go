package service

import (
	"context"

	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/settings"
)

// Models lists the models and chooses one for a conversation.
type Models struct {
	Router  ModelRouter
	Chosen  ChosenModel
	Chooser ModelChooser
}

// ModelRouter finds the models that can be asked.
type ModelRouter interface {
	ModelFinder
	// List asks every server for its models. The chosen one is marked.
	List(ctx context.Context, chosen string) protocol.ModelListResult
}

// ChosenModel returns the model that is chosen for a conversation, or "".
type ChosenModel interface {
	SessionModel(ctx context.Context, session string) (string, error)
}

// ModelChooser makes a model answer in a conversation from now on, and notifies its clients.
type ModelChooser interface {
	SetModel(ctx context.Context, p protocol.SessionModelParams) error
}

// Methods returns the methods of this service.
func (m Models) Methods() []Method {
	return []Method{
		{protocol.MethodModelList, For(m.list)},
		{protocol.MethodSessionModel, For(m.choose)},
	}
}

func (m Models) list(ctx context.Context, p protocol.ModelListParams) (protocol.ModelListResult, error) {
	chosen := ""
	if p.Session != "" {
		var err error
		if chosen, err = m.Chosen.SessionModel(ctx, p.Session); err != nil {
			return protocol.ModelListResult{}, err
		}
	}
	return m.Router.List(ctx, chosen), nil
}

func (m Models) choose(ctx context.Context, p protocol.SessionModelParams) (protocol.SessionModelParams, error) {
	if p.Model != "" {
		if err := m.Router.Find(p.Model); err != nil {
			return p, err
		}
	}
	return p, m.Chooser.SetModel(ctx, p)
}

// Settings answers which settings would apply to a message, and which presets exist.
type Settings struct {
	Reader   EventReader
	Live     *settings.Live
	Resolver PresetResolver
	Chosen   ChosenPreset
	Chooser  PresetChooser
	Profiles func() []string
}

// PresetResolver resolves the settings of a message, and checks whether everything that a preset
// sets is available.
type PresetResolver interface {
	ResolveDraft(ctx context.Context, event *protocol.Event) error
	Preset(ctx context.Context, name, from string) (config.Preset, error)
}

// ChosenPreset returns the preset that is chosen for a conversation, or "".
type ChosenPreset interface {
	SessionPreset(ctx context.Context, session string) (string, error)
}

// PresetChooser applies a preset to a conversation from now on, and notifies its clients.
type PresetChooser interface {
	ModelChooser
	SetPreset(ctx context.Context, p protocol.SessionPresetParams) error
}

// Methods returns the methods of this service.
func (s Settings) Methods() []Method {
	return []Method{
		{protocol.MethodSettingsGet, Concurrent(ForClient(s.get))},
		{protocol.MethodPresetList, For(s.presets)},
		{protocol.MethodSessionPreset, For(s.choose)},
	}
}

func (s Settings) get(ctx context.Context, client *rpc.Client, params protocol.Object) (protocol.SettingsGetResult, error) {
	event, err := s.Reader.ReadDraft(client, params)
	if err == nil {
		err = s.Resolver.ResolveDraft(ctx, &event)
	}
	return protocol.SettingsGetResult{Settings: event.Settings}, err
}

func (s Settings) presets(ctx context.Context, p protocol.PresetListParams) (result protocol.PresetListResult, err error) {
	now := s.Live.Now()
	for _, preset := range now.Presets {
		result.Presets = append(result.Presets, protocol.PresetInfo{Name: preset.Name, Line: preset.Line, Settings: settings.PresetSettings(preset)})
	}
	for _, fault := range now.Diagnostics {
		result.Faults = append(result.Faults, fault.String())
	}
	result.Profiles = s.Profiles()
	if p.Session != "" {
		result.Chosen, err = s.Chosen.SessionPreset(ctx, p.Session)
	}
	return result, err
}

// choose chooses a preset after checking that everything it sets is available, so that an error
// appears now and not with the next message. If the preset sets a model, that model is chosen too,
// because an earlier choice of a model would take precedence.
func (s Settings) choose(ctx context.Context, p protocol.SessionPresetParams) (protocol.SessionPresetParams, error) {
	if p.Preset == "" {
		return p, s.Chooser.SetPreset(ctx, p)
	}
	preset, err := s.Resolver.Preset(ctx, p.Preset, "the command")
	if preset.Name != "" {
		p.Preset = preset.Name
	}
	if err != nil {
		return p, err
	}
	if preset.Model != "" {
		if err := s.Chooser.SetModel(ctx, protocol.SessionModelParams{Session: p.Session}); err != nil {
			return p, err
		}
	}
	return p, s.Chooser.SetPreset(ctx, p)
}
