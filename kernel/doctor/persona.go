package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/memory"
	"org-agent/kernel/prompt"
	"org-agent/kernel/skill"
	"org-agent/kernel/text"
)

// persona checks the files of the agent's identity and the notes of the prompt.
func persona(ctx context.Context, c Config) []Finding {
	var found []Finding
	home := memory.Home{Directory: c.Paths.Home}
	said := home.Persona(time.Now())
	for _, fault := range said.Faults {
		found = append(found, warn("mend the file; changes count from the next turn on", "%s", fault))
	}
	profiles, wrong := home.Profiles()
	for _, fault := range wrong {
		found = append(found, warn("mend the file, or move it away; changes count from the next turn on", "%s", fault))
	}
	directory := filepath.Join(c.Paths.Home, "prompt")
	library, faults := prompt.Load(directory)
	for _, fault := range faults {
		found = append(found, warn("correct the note, or remove it to have the shipped section back", "%s", fault))
	}
	found = append(found, names(ctx, c, said.File("IDENTITY"))...)
	if library != nil {
		notes, _ := filepath.Glob(filepath.Join(directory, "*.org")) // the pattern is well-formed
		var files []string
		for _, file := range said.Files {
			if file.Role != "MEMORY" { // the memory is data and may mention any name
				files = append(files, file.Path)
			}
		}
		for _, note := range notes {
			if name := filepath.Base(note); name[0] != '.' && name[0] != '#' { // the other files belong to editors
				files = append(files, note)
			}
		}
		found = append(found, toolsNamed(c.Tools, library, files)...)
	}
	if len(found) == 0 {
		found = append(found, ok("%s of the persona and %s can be read", text.Count(len(said.Files), "file"), text.Count(len(profiles), "profile")))
	}
	return found[:min(findingLimit, len(found))]
}

// names looks for names of the agent that have no effect, or that are not used as they are written.
func names(ctx context.Context, c Config, identity memory.File) (found []Finding) {
	written := identity.Field("name")
	name := prompt.Name(written)
	if name != written {
		found = append(found, warn("write a name that is one line of at most 80 characters",
			"%s: the prompt uses the name as %q", identity.Path, name))
	}
	if name == "" {
		return found
	}
	paths, _ := filepath.Glob(filepath.Join(c.Paths.Skills, "*.org")) // the pattern is well-formed
	for _, path := range paths {
		source, err := skill.Read(path)
		if err != nil || !strings.Contains(strings.ToLower(string(source)), "defidentity") {
			continue // the check notes reports an unreadable note
		}
		note, err := skill.LoadNote(ctx, path, source, skill.Options{Specs: c.Specs})
		if err != nil || note.Identity.Name() == "" || note.Identity.Name() == name {
			continue
		}
		found = append(found, warn("remove one of the names", "%s:%d: the agent is called %s here and %s in %s, which takes precedence",
			path, note.Identity.Line, note.Identity.Name(), name, identity.Path))
	}
	return found
}

// toolsNamed looks for names of tools that do not exist.
func toolsNamed(there []string, library *prompt.Library, files []string) (found []Finding) {
	if there == nil {
		return nil
	}
	known := slices.Concat(library.ToolsNamed(), there)
	for _, file := range files {
		text, err := os.ReadFile(file) // the library has just read the file within its size limit
		if err != nil {
			continue
		}
		for _, fault := range prompt.LintFile(file, string(text), known, there) {
			found = append(found, warn("remove it, because the prompt must not name a tool that does not exist",
				"%s", fmt.Sprintf("%s:%d:%d: %s", fault.File, fault.Line, fault.Column, fault.Message)))
		}
	}
	return found
}
