package skillmd

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"org-agent/kernel/watch"
)

// A directory is taken up when it has been quiet for quietTime, at the latest after
// patience: it is copied file by file.
const (
	quietTime = 50 * time.Millisecond
	patience  = 500 * time.Millisecond
)

// Watch keeps what counts as the home's skills and its config.org are: it blocks until the
// context ends and then returns nil. The home's skills may be absent; the directory they
// are in must not be. An error means that changes are not seen: call Load after one.
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
		Patience: patience,
		Logger:   r.config.Logger,
	}
	return w.Follow(ctx)
}

// directoriesIn are the home's skills and the directory of each.
func directoriesIn(home string) []string {
	directories := []string{home}
	names, _ := origin{directory: home}.list() // Load has told why they cannot be listed
	for _, name := range names {
		directories = append(directories, filepath.Join(home, name))
	}
	return directories
}

// concerns reports whether a change of a file may change what counts: of the directory above
// the skills, only they themselves and the settings do.
func concerns(home, path string) bool {
	switch filepath.Dir(path) {
	case filepath.Dir(home):
		return path == home || filepath.Base(path) == "config.org"
	case home:
		return mayBeSkill(filepath.Base(path))
	}
	return filepath.Base(path) == FileName
}
