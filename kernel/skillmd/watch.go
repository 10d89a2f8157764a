package skillmd

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"org-agent/kernel/watch"
)

// A changed directory is read when it has been unchanged for quietTime, or at the latest after
// maxDelay, because it is copied file by file.
const (
	quietTime = 50 * time.Millisecond
	maxDelay  = 500 * time.Millisecond
)

// Watch updates the effective skills when the home's skills or its config.org change. It blocks
// until the context ends and then returns nil. The home's skills may be missing, but their parent
// directory must exist. An error means that changes are not seen; the caller must then call Load
// after each change.
func (r *Registry) Watch(ctx context.Context) error {
	if r.config.Home == "" {
		<-ctx.Done()
		return nil
	}
	home, err := filepath.Abs(r.config.Home)
	if err != nil {
		return fmt.Errorf("watch the skills: %w", err)
	}
	w := watch.Watch{
		Of:          "the skills",
		Above:       filepath.Dir(home),
		Directories: func() []string { return directoriesIn(home) },
		Concerns:    func(path string) bool { return concerns(home, path) },
		CatchUp: func(ctx context.Context) (again time.Duration) {
			r.Load(ctx)
			return 0
		},
		Quiet:    quietTime,
		MaxDelay: maxDelay,
		Logger:   r.config.Logger,
		Watcher:  r.config.Watcher,
	}
	return w.Follow(ctx)
}

// directoriesIn returns the home's skills directory and the directory of each skill.
func directoriesIn(home string) []string {
	directories := []string{home}
	names, _ := origin{directory: home}.list() // Load has logged why they cannot be listed
	for _, name := range names {
		directories = append(directories, filepath.Join(home, name))
	}
	return directories
}

// concerns reports whether a change of a file may change the effective skills. In the directory
// above the skills, only the skills directory and the settings matter.
func concerns(home, path string) bool {
	switch filepath.Dir(path) {
	case filepath.Dir(home):
		return path == home || filepath.Base(path) == "config.org"
	case home:
		return mayBeSkill(filepath.Base(path))
	}
	return filepath.Base(path) == FileName
}
