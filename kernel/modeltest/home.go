package modeltest

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/config"
)

// rules is the policy.org of a task's home. Reading there needs no row. What is not allowed here asks, and
// the answer is no.
const rules = `* Rules

| rule             | matches | verdict | why                         | since |
|------------------+---------+---------+-----------------------------+-------|
| writes           | **      | allow   | these files are the task's  |       |
| tool memory_save |         | allow   | this memory is the task's   |       |
| fetches          | *       | refuse  | no task needs another place |       |
`

// person is who the tasks' agent works for, so that no model is told to ask.
const person = "#+TITLE: User\n\n- Name :: Sam\n"

// home is the home of one task, with the environment of its kernel.
type home struct {
	root  string // see makeRoot
	paths config.Paths
	env   func(string) string
}

// makeRoot makes the directory in which the homes of a test are, one after another. They have one name, so
// that servers find the beginning of what they are sent among what they have kept.
func makeRoot() (string, error) {
	root, err := os.MkdirTemp("", "oat")
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(root)
	return real, err
}

// makeHome makes a home for a task. settings is its config.org, and secret returns the variables that it
// names.
func makeHome(root string, t *Task, settings string, secret func(string) string) (h *home, err error) {
	h = &home{root: root}
	variables := map[string]string{
		"HOME": root, "ORG_AGENT_HOME": filepath.Join(root, "notes"),
		"XDG_STATE_HOME": filepath.Join(root, "state"), "XDG_RUNTIME_DIR": filepath.Join(root, "run"),
	}
	h.env = func(name string) string {
		if value, set := variables[name]; set {
			return value
		}
		return secret(name)
	}
	if h.paths, err = config.FindPaths("", h.env); err != nil {
		return nil, err
	}
	written := map[string]string{"config.org": settings, "policy.org": rules, "USER.org": person}
	if note := t.note(); note != "" {
		written["skills/task.org"] = note
	}
	maps.Copy(written, t.files)
	for name, text := range written {
		path := filepath.Join(h.paths.Home, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	}
	return h, err
}

// remove removes the home, and what its kernel kept.
func (h *home) remove() error {
	return errors.Join(os.RemoveAll(h.paths.Home), os.RemoveAll(filepath.Join(h.root, "state")), os.RemoveAll(h.paths.Run))
}

// files returns the files of a task as they are now.
func (h *home) files(t *Task) (map[string]string, error) {
	now := map[string]string{}
	names := slices.Concat(slices.Collect(maps.Keys(t.files)), slices.Collect(maps.Keys(t.after)))
	for _, e := range t.expect {
		if e.file != "" {
			names = append(names, e.file)
		}
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(h.paths.Home, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		now[name] = string(text)
	}
	return now, nil
}

// relative returns the name of a file of the home as a task has it. Any other text stays as it is.
func (h *home) relative(text string) string {
	for _, prefix := range []string{h.paths.Home + "/", "~/notes/", "./"} {
		if rest, below := strings.CutPrefix(text, prefix); below {
			return rest
		}
	}
	return text
}
