package config

import "reflect"

// SameModels reports whether the same models would be asked in the same way with other settings.
func (s Settings) SameModels(other Settings) bool {
	models := func(s Settings) Settings {
		return Settings{LLM: s.LLM, Models: s.Models, Known: s.Known, Off: s.Off, IdleTimeout: s.IdleTimeout, TurnTimeout: s.TurnTimeout, refused: s.refused}
	}
	return reflect.DeepEqual(models(s), models(other))
}
