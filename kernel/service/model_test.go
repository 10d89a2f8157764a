package service_test

import (
	"context"
	"slices"
	"testing"

	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
	"org-agent/kernel/settings"
)

// fakeModels has one model and one preset, and records the choices.
type fakeModels struct {
	chosen      []string
	unavailable error // the error of a preset whose settings are not available
}

func (s *fakeModels) Find(name string) error {
	if name != "large" {
		return protocol.Errorf(protocol.CodeNotFound, "there is no model %s", name)
	}
	return nil
}
func (s *fakeModels) List(_ context.Context, chosen string) protocol.ModelListResult {
	return protocol.ModelListResult{Models: []protocol.ModelInfo{{Name: "large", Chosen: chosen == "large"}}}
}
func (s *fakeModels) SessionModel(context.Context, string) (string, error)  { return "large", nil }
func (s *fakeModels) SessionPreset(context.Context, string) (string, error) { return "brief", nil }
func (s *fakeModels) SetModel(_ context.Context, p protocol.SessionModelParams) error {
	s.chosen = append(s.chosen, "model "+p.Model)
	return nil
}
func (s *fakeModels) SetPreset(_ context.Context, p protocol.SessionPresetParams) error {
	s.chosen = append(s.chosen, "preset "+p.Preset)
	return nil
}
func (s *fakeModels) ResolveDraft(_ context.Context, event *protocol.Event) error {
	event.Settings = protocol.TurnSettings{{Name: protocol.SettingModel, Value: "large", From: event.Text}}
	return nil
}
func (s *fakeModels) Preset(_ context.Context, name, _ string) (config.Preset, error) {
	if name != "brief" && name != "Brief" {
		return config.Preset{}, protocol.Errorf(protocol.CodeNotFound, "there is no preset %s", name)
	}
	return config.Preset{Name: "brief", Model: "large"}, s.unavailable
}

// The models are listed with the chosen one, and an unknown model cannot be chosen.
func TestModels(t *testing.T) {
	s := &fakeModels{}
	conn := serve(t, service.Models{Router: s, Chosen: s, Chooser: s}.Methods())("a shell")
	for conversation, chosen := range map[string]bool{"main": true, "": false} {
		var list protocol.ModelListResult
		if err := conn.Call(within(t), protocol.MethodModelList, protocol.ModelListParams{Session: conversation}, &list); err != nil || len(list.Models) != 1 || list.Models[0].Chosen != chosen {
			t.Errorf("of %q: %+v, %v", conversation, list, err)
		}
	}
	choose := func(model string) error {
		return conn.Call(within(t), protocol.MethodSessionModel, protocol.SessionModelParams{Session: "main", Model: model}, nil)
	}
	wantError(t, "a model that is none", choose("small"), protocol.CodeNotFound, "small")
	for _, model := range []string{"large", ""} {
		if err := choose(model); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"model large", "model "}; !slices.Equal(s.chosen, want) {
		t.Errorf("chosen: %v and not %v", s.chosen, want)
	}
}

// The settings of a draft are returned. A preset can be chosen only if everything that it sets is
// available, and its model replaces the chosen one.
func TestPresets(t *testing.T) {
	s, skills := &fakeModels{}, newSkills(t)
	live := settings.NewLive(config.Paths{}, config.Settings{Presets: []config.Preset{{Name: "brief", Line: 3, Model: "large"}}})
	conn := serve(t, service.Settings{
		Reader: service.EventReader{Notes: skills.Notes.Current, Prompts: skills.Prompts.Current}, Live: live, Resolver: s, Chosen: s, Chooser: s,
		Profiles: func() []string { return []string{"finnish"} },
	}.Methods())("a shell")
	var got protocol.SettingsGetResult
	if err := conn.Call(within(t), protocol.MethodSettingsGet, protocol.Object{}, &got); err != nil || got.Settings.Value(protocol.SettingModel) != "large" {
		t.Errorf("%+v, %v", got, err)
	}
	var list protocol.PresetListResult
	if err := conn.Call(within(t), protocol.MethodPresetList, protocol.PresetListParams{Session: "main"}, &list); err != nil || list.Chosen != "brief" || !slices.Equal(list.Profiles, []string{"finnish"}) {
		t.Errorf("%+v, %v", list, err)
	}
	choose := func(preset string) (p protocol.SessionPresetParams, err error) {
		err = conn.Call(within(t), protocol.MethodSessionPreset, protocol.SessionPresetParams{Session: "main", Preset: preset}, &p)
		return p, err
	}
	if p, err := choose("Brief"); err != nil || p.Preset != "brief" {
		t.Errorf("chosen: %+v, %v", p, err)
	}
	if _, err := choose(""); err != nil {
		t.Error(err)
	}
	_, err := choose("loud")
	wantError(t, "a preset that is none", err, protocol.CodeNotFound, "loud")
	s.unavailable = protocol.Errorf(protocol.CodeNotFound, "its skill is gone")
	_, err = choose("brief")
	wantError(t, "one that sets what is gone", err, protocol.CodeNotFound, "its skill is gone")
	if want := []string{"model ", "preset brief", "preset "}; !slices.Equal(s.chosen, want) {
		t.Errorf("chosen: %v and not %v", s.chosen, want)
	}
}
