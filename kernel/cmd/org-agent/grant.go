package main

import (
	"bufio"
	"context"
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

// grants returns what the person let notes access. Without a home nothing is granted.
func (w *world) grants() (*skill.Grants, error) {
	paths, err := w.paths()
	if err != nil {
		return nil, nil
	}
	settings, err := config.Load(paths)
	if err != nil {
		return nil, err
	}
	return w.instance(paths).Grants(settings), nil
}

// persona returns the values that notes read from IDENTITY.org; without a home all are "".
func (w *world) persona() func(name string) string {
	paths, err := w.paths()
	if err != nil {
		return nil
	}
	return persona.Field(&memory.Home{Directory: paths.Home})
}

// capabilitiesOf describes in one line what a note asks for and what it was granted; "" if it asks
// for nothing.
func capabilitiesOf(s skill.Status) string {
	wanted := strings.Join(s.Capabilities, " ")
	switch {
	case wanted == "":
		return ""
	case s.Withheld != "":
		return fmt.Sprintf("asks for %s: not granted (%s)", wanted, s.Withheld)
	case s.Since != "":
		return fmt.Sprintf("asks for %s: granted %s since %s", wanted, strings.Join(s.Granted, " "), s.Since)
	}
	return fmt.Sprintf("asks for %s: granted %s", wanted, strings.Join(s.Granted, " "))
}

// skillGrant is "org-agent skill grant".
type skillGrant struct {
	Note   string `arg:"" help:"The note: its file, or the file's name without .org."`
	Yes    bool   `help:"Do not ask."`
	Revoke bool   `help:"Withdraw what was granted."`
	JSON   bool   `help:"Print JSON."`
}

func (c *skillGrant) Run(ctx context.Context, w *world) error {
	file, err := c.file(w)
	if err != nil {
		return err
	}
	conn, err := w.connect(ctx, connection{start: true})
	if err != nil {
		return err
	}
	defer conn.Close()
	grant := func(p protocol.SkillGrantParams) (result protocol.SkillGrantResult, err error) {
		p.File = file
		return result, conn.Call(ctx, protocol.MethodSkillGrant, p, &result)
	}
	shown, err := grant(protocol.SkillGrantParams{})
	if err != nil {
		return err
	}
	params := protocol.SkillGrantParams{Revoke: c.Revoke}
	if !c.Revoke {
		params.Blocks, params.Capabilities = shown.Blocks, showGrant(w, shown)
		if len(params.Capabilities) == 0 {
			return fmt.Errorf("%s asks for nothing that can be granted; a note asks with a line such as \"#+CAPABILITIES: read:~/notes\"", file)
		}
	}
	if !c.Yes && !c.Revoke && !shown.Granted {
		if err := c.ask(w); err != nil {
			return err
		}
	}
	result, err := grant(params)
	if err != nil {
		return err
	}
	if c.JSON {
		return w.printJSON(result)
	}
	state := "granted"
	if !result.Granted {
		state = "not granted"
	}
	_, err = fmt.Fprintf(w.out, "%s %s\n", state, result.Note)
	return err
}

// ask has the person confirm.
func (c *skillGrant) ask(w *world) error {
	fmt.Fprint(w.err, "grant this? [y/N] ")
	answer, _ := bufio.NewReader(w.in).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return fmt.Errorf("nothing was granted")
	}
	return nil
}

// showGrant prints what the note asks for, and returns the capabilities that can be granted.
func showGrant(w *world, shown protocol.SkillGrantResult) (names []string) {
	fmt.Fprintf(w.err, "%s\nasks to\n", shown.Note)
	for _, c := range shown.Capabilities {
		if c.Refused != "" {
			fmt.Fprintf(w.err, "  (%s cannot be granted: %s)\n", c.Requested, c.Refused)
			continue
		}
		names = append(names, c.Name)
		fmt.Fprintf(w.err, "  %s\n", c.Meaning)
	}
	state := shown.Withheld
	if shown.Granted {
		state = "granted already"
	}
	fmt.Fprintf(w.err, "its Lisp has the SHA-256 %s (%s)\n", shown.Blocks, state)
	return names
}

// file returns the path of the note that the person named.
func (c *skillGrant) file(w *world) (string, error) {
	if strings.ContainsRune(c.Note, '/') || strings.HasSuffix(c.Note, ".org") {
		if _, err := os.Stat(c.Note); err == nil {
			return filepath.Abs(c.Note)
		}
	}
	paths, err := w.paths()
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
