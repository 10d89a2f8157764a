package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"org-agent/kernel/config"
	"org-agent/kernel/memory"
	"org-agent/kernel/persona"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/skills"
)

// grants returns what the person granted to notes. It returns nil if there is no home.
func (proc *process) grants() (*skill.Grants, error) {
	paths, err := proc.paths()
	if err != nil {
		return nil, nil
	}
	settings, err := config.Load(paths)
	if err != nil {
		return nil, err
	}
	return proc.instance(paths).GrantsWith(settings), nil
}

// persona returns the function that reads a value of IDENTITY.org for notes, or nil if there is no home.
func (proc *process) persona() func(name string) string {
	paths, err := proc.paths()
	if err != nil {
		return nil
	}
	return persona.Field(&memory.Home{Directory: paths.Home})
}

// capabilityLine describes in one line what a note requests and what it was granted. It returns "" if the
// note requests nothing.
func capabilityLine(s skill.Status) string {
	requested := strings.Join(s.Capabilities, " ")
	switch {
	case requested == "":
		return ""
	case s.Withheld != "":
		return fmt.Sprintf("asks for %s: not granted (%s)", requested, s.Withheld)
	case s.Since != "":
		return fmt.Sprintf("asks for %s: granted %s since %s", requested, strings.Join(s.Granted, " "), s.Since)
	}
	return fmt.Sprintf("asks for %s: granted %s", requested, strings.Join(s.Granted, " "))
}

// skillGrant is "org-agent skill grant".
type skillGrant struct {
	Note   string `arg:"" help:"The note: its file, or the file's name without .org."`
	Yes    bool   `help:"Do not ask."`
	Revoke bool   `help:"Withdraw what was granted."`
	JSON   bool   `help:"Print JSON."`
}

func (c *skillGrant) Run(ctx context.Context, proc *process) error {
	file, err := c.file(proc)
	if err != nil {
		return err
	}
	conn, err := proc.connect(ctx, connection{start: true})
	if err != nil {
		return err
	}
	defer conn.Close()
	grant := func(p protocol.SkillGrantParams) (result protocol.SkillGrantResult, err error) {
		p.File = file
		return result, conn.Call(ctx, protocol.MethodSkillGrant, p, &result)
	}
	request, err := grant(protocol.SkillGrantParams{})
	if err != nil {
		return err
	}
	params := protocol.SkillGrantParams{Revoke: c.Revoke}
	if !c.Revoke {
		params.Blocks, params.Capabilities = request.Blocks, showGrant(proc, request)
		if len(params.Capabilities) == 0 {
			return fmt.Errorf("%s asks for nothing that can be granted; a note asks with a line such as \"#+CAPABILITIES: read:~/notes\"", file)
		}
	}
	if !c.Yes && !c.Revoke && !request.Granted {
		yes, err := proc.confirm(ctx, "grant this?")
		if err != nil {
			return err
		}
		if !yes {
			return errors.New("nothing was granted")
		}
	}
	result, err := grant(params)
	if err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(result)
	}
	state := "granted"
	if !result.Granted {
		state = "not granted"
	}
	_, err = fmt.Fprintf(proc.stdout, "%s %s\n", state, result.Note)
	return err
}

// showGrant prints what the note requests, and returns the capabilities that can be granted.
func showGrant(proc *process, request protocol.SkillGrantResult) (names []string) {
	fmt.Fprintf(proc.stderr, "%s\nasks to\n", request.Note)
	for _, c := range request.Capabilities {
		if c.Refused != "" {
			fmt.Fprintf(proc.stderr, "  (%s cannot be granted: %s)\n", c.Requested, c.Refused)
			continue
		}
		names = append(names, c.Name)
		fmt.Fprintf(proc.stderr, "  %s\n", c.Meaning)
	}
	state := request.Withheld
	if request.Granted {
		state = "granted already"
	}
	fmt.Fprintf(proc.stderr, "its Lisp has the SHA-256 %s (%s)\n", request.Blocks, state)
	return names
}

// file returns the path of the note that the person named.
func (c *skillGrant) file(proc *process) (string, error) {
	if strings.ContainsRune(c.Note, '/') || strings.HasSuffix(c.Note, ".org") {
		if _, err := os.Stat(c.Note); err == nil {
			return filepath.Abs(c.Note)
		}
	}
	paths, err := proc.paths()
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(filepath.Base(c.Note), ".org")
	for _, file := range []string{name, "org-skill-" + name} {
		path := filepath.Join(paths.Skills, file+".org")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	if _, err := fs.Stat(skills.Notes(), name+".org"); err == nil {
		return "", fmt.Errorf("%s came with the program, and such notes cannot be granted anything; \"org-agent skill copy %s\" makes it yours", name, name)
	}
	return "", fmt.Errorf("there is no note %s in %s", c.Note, paths.Skills)
}
