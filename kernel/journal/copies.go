package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// keptCopies is the number of copies from before updates of the schema that are kept, the newest ones.
const keptCopies = 2

// keepCopy writes a copy of the journal, which has an older schema, beside it before it is brought up to
// date, and removes older copies. An older program can read the copy.
func keepCopy(ctx context.Context, d *database, version int) error {
	name, err := freeName(d.path, fmt.Sprintf("schema-%d", version))
	if err != nil {
		return err
	}
	beside := copyName(d.path)
	file, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // SQLite would create a file that others can read
	if err == nil {
		err = file.Close()
	}
	if err == nil {
		_, err = d.writer.conn.ExecContext(ctx, "VACUUM INTO ?", beside)
	}
	if err == nil {
		err = syncFile(beside)
	}
	if err == nil {
		err = os.Rename(beside, name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("copy the journal before it is brought up to date: %w", err), os.Remove(beside))
	}
	copies, err := namesBeside(d.path, ".schema-")
	if err != nil || len(copies) <= keptCopies {
		return err
	}
	for _, old := range copies[:len(copies)-keptCopies] {
		err = errors.Join(err, os.Remove(old))
	}
	return err
}

// copyName is the name of a copy while it is written.
func copyName(path string) string { return fmt.Sprintf("%s.copying-%d", path, os.Getpid()) }

// namesBeside returns the files whose name begins with that of path and the prefix, the oldest first.
func namesBeside(path, prefix string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	type aged struct {
		name  string
		saved time.Time
	}
	var found []aged
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), filepath.Base(path)+prefix) {
			found = append(found, aged{filepath.Join(filepath.Dir(path), e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(found, func(a, b aged) int { return cmp.Or(a.saved.Compare(b.saved), cmp.Compare(a.name, b.name)) })
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = f.name
	}
	return names, nil
}

// freeName returns a name beside path, with what it is and the date, which no file's name begins with.
func freeName(path, what string) (string, error) {
	suffix := fmt.Sprintf(".%s-%s", what, time.Now().Format("2006-01-02-150405"))
	for n, name := 2, suffix; n < 1000; n++ {
		if beside, err := namesBeside(path, name); err != nil || len(beside) == 0 {
			return path + name, err
		}
		name = fmt.Sprintf("%s-%d", suffix, n)
	}
	return "", fmt.Errorf("there are too many files %s%s", path, suffix)
}
