package service

import (
	"context"

	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/settings"
)

// Models tells which models there are and has one chosen for a conversation.
type Models struct {
	Router  ModelRouter
	Chosen  ChosenModel
	Chooser ModelChooser
}

// ModelRouter knows the models that can be asked for.
type ModelRouter interface {
	ModelFinder
	// List asks every server which models it has; chosen is marked.
	List(ctx context.Context, chosen string) protocol.ModelListResult
}

// ChosenModel knows the model that is chosen for a conversation, "" for none.
type ChosenModel interface {
	SessionModel(ctx context.Context, session string) (string, error)
}

// ModelChooser has a model answer in a conversation from now on, and tells its clients.
type ModelChooser interface {
	Choose(ctx context.Context, p protocol.SessionModelParams) error
}

// Methods lists what is answered.
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
	return p, m.Chooser.Choose(ctx, p)
}

// Settings tells what would hold for a message, and which presets there are.
type Settings struct {
	Reader   EventReader
	Live     *settings.Live
	Resolver PresetResolver
	Chosen   ChosenPreset
	Chooser  PresetChooser
	Profiles func() []string
}

// PresetResolver decides what holds for a message, and whether all that a preset sets can be
// had.
type PresetResolver interface {
	ResolveDraft(ctx context.Context, event *protocol.Event) error
	Preset(ctx context.Context, name, from string) (config.Preset, error)
}

// ChosenPreset knows the preset that is chosen for a conversation, "" for none.
type ChosenPreset interface {
	SessionPreset(ctx context.Context, session string) (string, error)
}

// PresetChooser has a preset hold in a conversation from now on, and tells its clients.
type PresetChooser interface {
	ModelChooser
	ChoosePreset(ctx context.Context, p protocol.SessionPresetParams) error
}

// Methods lists what is answered.
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

// choose chooses a preset, after all that it sets was found to be there: what cannot be had is
// said now rather than with the next message. A preset that brings a model is chosen with it:
// what was chosen before would be nearer.
func (s Settings) choose(ctx context.Context, p protocol.SessionPresetParams) (protocol.SessionPresetParams, error) {
	if p.Preset == "" {
		return p, s.Chooser.ChoosePreset(ctx, p)
	}
	preset, err := s.Resolver.Preset(ctx, p.Preset, "the command")
	if preset.Name != "" {
		p.Preset = preset.Name
	}
	if err != nil {
		return p, err
	}
	if preset.Model != "" {
		if err := s.Chooser.Choose(ctx, protocol.SessionModelParams{Session: p.Session}); err != nil {
			return p, err
		}
	}
	return p, s.Chooser.ChoosePreset(ctx, p)
}
