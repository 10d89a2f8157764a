package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"org-agent/kernel/config"
	"org-agent/kernel/llm/drivers"
)

// modelsCommands are the commands about models.
type modelsCommands struct {
	List    modelList    `cmd:"" default:"1" help:"List the models, and in which dialect each is asked and why."`
	Test    modelTest    `cmd:"" help:"Have a model do small tasks in each dialect, and print what worked."`
	Dialect modelDialect `cmd:"" help:"Write into config.org in which dialect a model is asked."`
}

// modelDialect is "org-agent models dialect".
type modelDialect struct {
	Name    string `arg:"" help:"The heading of the model in config.org."`
	Dialect string `arg:"" help:"native, plist, constrained or auto." enum:"native,plist,constrained,auto"`
}

func (c *modelDialect) Run(proc *process) error {
	paths, err := proc.paths()
	if err != nil {
		return err
	}
	return writeDialect(proc, paths, c.Name, c.Dialect)
}

// writeDialect writes the dialect of a model into config.org. A kernel that runs reads the file again by itself.
func writeDialect(proc *process, paths config.Paths, model, dialect string) error {
	changed, line, err := config.WriteDialect(paths.Config, model, dialect)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s is asked in the dialect %s from now on: line %d of %s", model, dialect, line, proc.abbreviate(paths.Config))
	if !changed {
		text = fmt.Sprintf("%s has the dialect %s already: line %d of %s", model, dialect, line, proc.abbreviate(paths.Config))
	}
	_, err = fmt.Fprintln(proc.stdout, text)
	return err
}

// readConfig returns the text of config.org, "" if there is none, and its settings.
func readConfig(paths config.Paths) (string, config.Settings, error) {
	text, err := os.ReadFile(paths.Config)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", config.Settings{}, fmt.Errorf("read config.org: %w", err)
	}
	return string(text), config.Parse(paths.Config, string(text)), nil
}

// chooseModel returns the model with that name: a heading of config.org, HEADING:MODEL for another model of its
// server, or one that environment variables name. "" is the model that answers. A server of this machine is looked
// for if nothing else names one.
func chooseModel(ctx context.Context, settings config.Settings, env func(string) string, name string) (config.Choice, error) {
	choices, err := config.Choices(settings, env)
	if err != nil {
		return config.Choice{}, err
	}
	if name == "" {
		return firstServer(ctx, choices)
	}
	var names []string
	for _, choice := range slices.Concat(config.Configured(settings), choices) {
		if choice.Kind != config.ChoiceServer {
			continue
		}
		if choice.Name == name || choice.Model.Model == name {
			return choice, nil
		}
		if model, other := strings.CutPrefix(name, choice.Name+":"); other && model != "" {
			choice.Model.Model = model
			return choice, nil
		}
		if !slices.Contains(names, choice.Name) {
			names = append(names, choice.Name)
		}
	}
	if len(names) == 0 {
		return config.Choice{}, errNoModel
	}
	return config.Choice{}, fmt.Errorf("there is no model %q: there is %s; NAME:MODEL is another model of a server", name, strings.Join(names, ", "))
}

// errNoModel says what to do where no model is set up.
var errNoModel = errors.New("no model is set up here: M-x org-agent-setup finds or adds one, and config.org says how to write one")

// firstServer returns the first choice that is a server.
func firstServer(ctx context.Context, choices []config.Choice) (config.Choice, error) {
	for _, choice := range choices {
		switch choice.Kind {
		case config.ChoiceServer:
			return choice, nil
		case config.ChoiceDiscover:
			found, drivers := drivers.All().Discover(ctx)
			if len(found) == 0 {
				continue
			}
			choice.Name, choice.BaseURL, choice.Driver = found[0].Name, found[0].BaseURL, drivers[0]
			if choice.Model.Model == "" && len(found[0].Models) > 0 {
				choice.Model.Model = found[0].Models[0]
			}
			return choice, nil
		}
	}
	return config.Choice{}, errNoModel
}
