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

// shop has models and presets, and what is chosen of them.
type shop struct {
	chosen []string
	gone   error // what a preset sets is not there any more
}

func (s *shop) Find(name string) error {
	if name != "large" {
		return protocol.Errorf(protocol.CodeNotFound, "there is no model %s", name)
	}
	return nil
}
func (s *shop) List(_ context.Context, chosen string) protocol.ModelListResult {
	return protocol.ModelListResult{Models: []protocol.ModelInfo{{Name: "large", Chosen: chosen == "large"}}}
}
func (s *shop) SessionModel(context.Context, string) (string, error)  { return "large", nil }
func (s *shop) SessionPreset(context.Context, string) (string, error) { return "brief", nil }
func (s *shop) SetModel(_ context.Context, p protocol.SessionModelParams) error {
	s.chosen = append(s.chosen, "model "+p.Model)
	return nil
}
func (s *shop) SetPreset(_ context.Context, p protocol.SessionPresetParams) error {
	s.chosen = append(s.chosen, "preset "+p.Preset)
	return nil
}
func (s *shop) ResolveDraft(_ context.Context, event *protocol.Event) error {
	event.Settings = protocol.TurnSettings{{Name: protocol.SettingModel, Value: "large", From: event.Text}}
	return nil
}
func (s *shop) Preset(_ context.Context, name, _ string) (config.Preset, error) {
	if name != "brief" && name != "Brief" {
		return config.Preset{}, protocol.Errorf(protocol.CodeNotFound, "there is no preset %s", name)
	}
	return config.Preset{Name: "brief", Model: "large"}, s.gone
}

// TestModels: the models are listed with the one that is chosen, and one that is none is not chosen.
func TestModels(t *testing.T) {
	s := &shop{}
	conn := served(t, service.Models{Router: s, Chosen: s, Chooser: s}.Methods())("a shell")
	for conversation, chosen := range map[string]bool{"main": true, "": false} {
		var list protocol.ModelListResult
		if err := conn.Call(within(t), protocol.MethodModelList, protocol.ModelListParams{Session: conversation}, &list); err != nil || len(list.Models) != 1 || list.Models[0].Chosen != chosen {
			t.Errorf("of %q: %+v, %v", conversation, list, err)
		}
	}
	choose := func(model string) error {
		return conn.Call(within(t), protocol.MethodSessionModel, protocol.SessionModelParams{Session: "main", Model: model}, nil)
	}
	refused(t, "a model that is none", choose("small"), protocol.CodeNotFound, "small")
	for _, model := range []string{"large", ""} {
		if err := choose(model); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"model large", "model "}; !slices.Equal(s.chosen, want) {
		t.Errorf("chosen: %v and not %v", s.chosen, want)
	}
}

// TestPresets: what would hold for a draft is told, and a preset is chosen only if all that it sets is
// there. A model that it sets takes the place of one that was chosen.
func TestPresets(t *testing.T) {
	s, skills := &shop{}, shelf(t)
	live := settings.NewLive(config.Paths{}, config.Settings{Presets: []config.Preset{{Name: "brief", Line: 3, Model: "large"}}})
	conn := served(t, service.Settings{
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
	refused(t, "a preset that is none", err, protocol.CodeNotFound, "loud")
	s.gone = protocol.Errorf(protocol.CodeNotFound, "its skill is gone")
	_, err = choose("brief")
	refused(t, "one that sets what is gone", err, protocol.CodeNotFound, "its skill is gone")
	if want := []string{"model ", "preset brief", "preset "}; !slices.Equal(s.chosen, want) {
		t.Errorf("chosen: %v and not %v", s.chosen, want)
	}
}
