package daemon

import (
	"cmp"
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

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/suggest"
	"org-agent/kernel/text"
)

// What holds for a message is decided here, once, when it comes; it is journalled with the
// turn, and whoever answers, shows or explains the turn reads it there. What sets something
// is Org text, which a client sends with the message because its buffer may not be saved;
// for who sends none the conversation's file is read.

// settle decides what holds for a message. It fails where something is set that cannot be
// had, and names what was probably meant.
func (d *daemon) settle(ctx context.Context, event *protocol.Event) (err error) {
	if !event.Said() {
		return nil
	}
	// Who has not heard that it was renamed gets what it sets, too.
	if event.Session, err = d.sessions.NameNow(ctx, event.Session); err != nil {
		return err
	}
	settings := d.live()
	if event.Sensor == protocol.SensorChatMessage {
		event.Presets = protocol.Mentioned(event.Text, settings.KnowsPreset)
		if strings.TrimSpace(event.Words()) == "" {
			return protocol.Errorf(protocol.CodeInvalidParams,
				"nothing to send: the message only names a preset; M-x org-agent-preset chooses one for the conversation")
		}
	}
	if event.Above == "" {
		above, err := d.above(event.Session, event.Parent)
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
	places, err := d.places(ctx, *event, sources)
	if err != nil {
		return err
	}
	event.Settings, err = d.resolve(ctx, event, places, settings)
	return err
}

// settleAgain decides what holds for a turn that is answered once more: what its question's
// heading and those above it set now.
func (d *daemon) settleAgain(ctx context.Context, record journal.Turn, above string) (protocol.TurnSettings, error) {
	event := record.Question
	if !event.Said() {
		return nil, nil
	}
	if above == "" {
		text, err := d.conversation(record.Session)
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
	places, err := d.places(ctx, event, sources)
	if err != nil {
		return nil, err
	}
	return d.resolve(ctx, &event, places, d.live())
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

// live is what config.org says now; while it cannot be read, what it said before.
func (d *daemon) live() config.Settings {
	if settings, err := config.Load(d.paths); err == nil {
		d.settings.Store(&settings)
	}
	return *d.settings.Load()
}

// headBytes is how much of a conversation's file is read to see what it sets for all of it.
const headBytes = 64 << 10

// above is what the conversation's file sets for a question below the heading with that
// id, or for one at its end.
func (d *daemon) above(session, parent string) (string, error) {
	if parent != "" {
		text, err := d.conversation(session)
		above, _ := org.Above(text, parent)
		return above, err
	}
	file, err := os.Open(d.conversationFile(session))
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

func (d *daemon) conversation(session string) (string, error) {
	text, err := os.ReadFile(d.conversationFile(session))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.EISDIR) {
		return "", fmt.Errorf("read what the conversation sets: %w", err)
	}
	return string(text), nil
}

func (d *daemon) conversationFile(session string) string {
	return filepath.Join(d.paths.Sessions, session+".org")
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

// setter is somewhere that sets something, as people are told of it.
type setter struct {
	from       string
	properties []org.Property
	presets    []string // names, the last counts first
	ends       bool     // presets of places further away do not count
	typed      bool     // a person chose it by name: any model will do
}

// places are all that can set something for the message, the nearest first.
func (d *daemon) places(ctx context.Context, event protocol.Event, sources []org.Source) ([]setter, error) {
	var places []setter
	for _, source := range sources {
		p := setter{from: "the file", properties: source.Properties}
		switch {
		case source.Own:
			p.from = "the question's heading"
		case source.Heading != "":
			p.from = fmt.Sprintf("the heading %q", text.Prefix(source.Heading, 60))
		case len(places) < len(sources)-1:
			p.from = "a heading above"
		}
		value, _, found := ownValue(source.Properties, protocol.SettingPreset)
		p.presets, p.ends = strings.Fields(value), found && unset(value)
		if p.ends {
			p.presets = nil
		}
		if source.Own {
			// What the words name is nearer than the drawer's preset, and not than its other rows.
			p.presets = append(p.presets, event.Presets...)
		}
		places = append(places, p)
	}
	model, err := d.journal.SessionModel(ctx, event.Session)
	if err != nil {
		return nil, err
	}
	preset, err := d.journal.SessionPreset(ctx, event.Session)
	if err != nil {
		return nil, err
	}
	chosen := setter{from: "the conversation", typed: true}
	if model != "" {
		chosen.properties = []org.Property{{Key: protocol.SettingModel, Value: model}}
	}
	if preset != "" {
		chosen.presets = []string{preset}
	}
	return append(places, chosen), nil
}

// unset reports whether a value says that nothing is set: Org's nil, or nothing.
func unset(value string) bool { return value == "" || value == "nil" }

// ownValue is the value of a property at one place. With NAME+ rows only, it adds to what is
// set further away, and whole is false.
func ownValue(properties []org.Property, name string) (value string, whole, found bool) {
	var parts []string
	for _, p := range properties {
		switch strings.ToUpper(p.Key) {
		case name:
			parts, whole, found = append([]string{p.Value}, parts...), true, true
		case name + "+":
			parts, found = append(parts, p.Value), true
		}
	}
	return strings.TrimSpace(strings.Join(parts, " ")), whole, found
}

// resolve finds the value of each setting and checks it.
func (d *daemon) resolve(ctx context.Context, event *protocol.Event, places []setter, settings config.Settings) (protocol.TurnSettings, error) {
	for _, p := range places {
		for _, name := range p.presets {
			if settings.Preset(name) == nil {
				return nil, noPreset(settings, p.from, name)
			}
		}
	}
	var held protocol.TurnSettings
	for _, name := range protocol.SettingNames {
		if name == protocol.SettingPreset || name == protocol.SettingSkill && event.Command != "" {
			continue // a command has its skill
		}
		value, from, typed := lookUp(places, settings, name)
		if name == protocol.SettingHistory && value == "" && from == "" && settings.History != "" {
			value, from = settings.History, "config.org"
		}
		if said := settings.Budget[name]; value == "" && from == "" && said != "" {
			value, from = said, "config.org"
		}
		if unset(value) {
			continue
		}
		value, err := d.checkSetting(ctx, name, value, typed)
		if err != nil {
			return nil, protocol.Errorf(protocol.ErrorCode(err), "%s sets %s: %w", from, name, err)
		}
		held = append(held, protocol.TurnSetting{Name: name, Value: value, From: from})
	}
	return held, nil
}

// lookUp is the value of a setting at the nearest place that has it, and what that is. A
// preset is as near as the place that names it.
func lookUp(places []setter, settings config.Settings, name string) (value, from string, typed bool) {
	var added []string // by NAME+ rows nearer than the value, the nearest last
	found := func(value, from string, typed bool) (string, string, bool) {
		if unset(value) && len(added) > 0 {
			value = ""
		}
		return strings.TrimSpace(strings.Join(append([]string{value}, added...), " ")), from, typed
	}
	presets := true
	nearestFrom := ""
	for _, p := range places {
		value, whole, there := ownValue(p.properties, name)
		switch {
		case whole:
			return found(value, cmp.Or(nearestFrom, p.from), p.typed)
		case there:
			added = append([]string{value}, added...)
			nearestFrom = cmp.Or(nearestFrom, p.from)
		}
		if presets {
			for _, preset := range slices.Backward(p.presets) {
				if value := presetValue(settings.Preset(preset), name); value != "" {
					return found(value, cmp.Or(nearestFrom, fmt.Sprintf("the preset %s, by %s", preset, p.from)), false)
				}
			}
		}
		presets = presets && !p.ends
	}
	return found("", nearestFrom, false)
}

// presetValue is what a preset sets under a name.
func presetValue(p *config.Preset, name string) string {
	switch name {
	case protocol.SettingModel:
		return p.Model
	case protocol.SettingSkill:
		return p.Skill
	case protocol.SettingProfile:
		return p.Profile
	case protocol.SettingSystem:
		return p.System
	case protocol.SettingHistory:
		return p.History
	case protocol.SettingTemperature:
		return p.Temperature
	case protocol.SettingMaxTokens:
		return p.MaxTokens
	}
	return p.Budget[name]
}

func noPreset(settings config.Settings, from, name string) error {
	if fault, ok := settings.PresetFault(name); ok {
		return protocol.Errorf(protocol.CodeNotFound, "%s names the preset %s, which is at fault: %s", from, name, fault)
	}
	if near := settings.NearPreset(name); near != "" {
		return protocol.Errorf(protocol.CodeNotFound, "%s names the preset %q, and there is none: did you mean %q?", from, name, near)
	}
	return protocol.Errorf(protocol.CodeNotFound, "%s names the preset %q, and config.org has none of that name below \"Presets\"", from, name)
}

// systemLimit is how much a person can have a model told, in bytes.
const systemLimit = 128 << 10

// checkSetting returns the value as it holds, or what is wrong with it.
func (d *daemon) checkSetting(ctx context.Context, name, value string, typed bool) (string, error) {
	var err error
	switch name {
	case protocol.SettingModel:
		if typed {
			err = d.models.Find(value)
		} else {
			err = d.models.Check(ctx, value)
		}
	case protocol.SettingSkill:
		value, _, _ = strings.Cut(value, "@") // as an answer's drawer has it
		err = d.checkSkillName(value)
	case protocol.SettingProfile:
		_, err = d.profile(value)
	case protocol.SettingHistory:
		err = config.CheckHistory(value)
	case protocol.SettingTemperature:
		err = config.CheckTemperature(value)
	case protocol.SettingMaxTokens:
		err = config.CheckMaxTokens(value)
	case protocol.SettingBudgetRounds, protocol.SettingBudgetTokens, protocol.SettingBudgetTime, protocol.SettingBudgetCost:
		err = config.CheckBudget(name, value)
	case protocol.SettingSystem:
		if len(value) > systemLimit {
			err = protocol.Errorf(protocol.CodeTooLarge, "it has %d bytes, more than the %d that it can", len(value), systemLimit)
		}
	}
	if err != nil && protocol.ErrorCode(err) == protocol.CodeInternal {
		err = protocol.Errorf(protocol.CodeInvalidParams, "%w", err)
	}
	return value, err
}

// checkSkillName says that there is no skill of that name, of either kind.
func (d *daemon) checkSkillName(name string) error {
	notes, prompts := d.skills.Current(), d.prompts.Current()
	if notes.Named(name) != nil || prompts.Command(name) != nil {
		return nil
	}
	var names []string
	for _, k := range notes.Skills() {
		names = append(names, k.Name)
	}
	for _, k := range prompts.Commands() {
		names = append(names, k.Name)
	}
	if near := suggest.Of(name, names); near != "" {
		return protocol.Errorf(protocol.CodeNotFound, "no live skill is named %q: did you mean %q?", name, near)
	}
	return protocol.Errorf(protocol.CodeNotFound, "no live skill is named %q: M-x org-agent-skills lists them", name)
}

// getSettings answers settings/get.
func (d *daemon) getSettings(ctx context.Context, client *rpc.Client, params *protocol.Object) (protocol.SettingsGetResult, error) {
	rpc.Release(ctx)
	event, err := d.readShown(client, params)
	if err == nil {
		err = d.settle(ctx, &event)
	}
	return protocol.SettingsGetResult{Settings: event.Settings}, err
}

// listPresets answers preset/list.
func (d *daemon) listPresets(ctx context.Context, _ *rpc.Client, p *protocol.PresetListParams) (result protocol.PresetListResult, err error) {
	settings := d.live()
	for _, preset := range settings.Presets {
		info := protocol.PresetInfo{Name: preset.Name, Line: preset.Line}
		for _, name := range protocol.SettingNames {
			if value := presetValue(&preset, name); value != "" {
				info.Settings = append(info.Settings, protocol.TurnSetting{Name: name, Value: value})
			}
		}
		result.Presets = append(result.Presets, info)
	}
	for _, fault := range settings.Diagnostics {
		result.Faults = append(result.Faults, fault.String())
	}
	result.Profiles, _ = d.home.Profiles() // what is wrong with one is told when it is to answer
	if p.Session != "" {
		result.Chosen, err = d.journal.SessionPreset(ctx, p.Session)
	}
	return result, err
}

// choosePreset answers session/preset. A preset that brings a model is chosen with it: what
// was chosen before would be nearer.
func (d *daemon) choosePreset(ctx context.Context, _ *rpc.Client, p *protocol.SessionPresetParams) (protocol.SessionPresetParams, error) {
	if p.Preset == "" {
		return *p, d.sessions.ChoosePreset(ctx, *p)
	}
	settings := d.live()
	preset := settings.Preset(p.Preset)
	if preset == nil {
		return *p, noPreset(settings, "the command", p.Preset)
	}
	p.Preset = preset.Name
	// What cannot be had is said now rather than with the next message.
	chosen := []setter{{from: "the command", presets: []string{preset.Name}}}
	if _, err := d.resolve(ctx, &protocol.Event{Sensor: protocol.SensorChatMessage}, chosen, settings); err != nil {
		return *p, err
	}
	if preset.Model != "" {
		if err := d.sessions.Choose(ctx, protocol.SessionModelParams{Session: p.Session}); err != nil {
			return *p, err
		}
	}
	return *p, d.sessions.ChoosePreset(ctx, *p)
}
