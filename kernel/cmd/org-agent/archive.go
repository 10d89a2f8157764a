package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"org-agent/kernel/archive"
)

// exportCommand is "org-agent export". It needs no kernel and may run beside one.
type exportCommand struct {
	JSON bool   `help:"Print JSON."`
	File string `arg:"" optional:"" help:"The archive to write, or - for stdout (default: org-agent-DATE.tar.gz here)."`
}

func (c *exportCommand) Run(ctx context.Context, w *world) (err error) {
	paths, err := w.paths()
	if err != nil {
		return err
	}
	var out io.Writer = w.out
	done := func() error { return nil }
	if c.File != "-" {
		if c.File == "" {
			c.File = "org-agent-" + time.Now().Format("2006-01-02") + ".tar.gz"
		}
		file, failure := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // only for the owner: the archive contains the conversations
		if errors.Is(failure, os.ErrExist) {
			return fmt.Errorf("%s is there already: give another name", c.File)
		}
		if failure != nil {
			return fmt.Errorf("write the archive: %w", failure)
		}
		out, done = file, func() error { return errors.Join(file.Sync(), file.Close()) }
		defer func() {
			if err != nil {
				err = errors.Join(err, os.Remove(c.File)) // a partial archive is useless
			}
		}()
	}
	exported, err := archive.Export(ctx, paths, version, out)
	if err = errors.Join(err, done()); err != nil {
		return err
	}
	for _, path := range exported.Unsupported {
		fmt.Fprintf(w.err, "org-agent: left out: %s, which is neither a file nor a directory\n", filepath.Join(paths.Home, path))
	}
	switch {
	case c.File == "-":
		return nil
	case c.JSON:
		return w.printJSON(exported)
	}
	fmt.Fprintf(w.err, "org-agent: %s\n", summary(exported.Contents))
	_, err = fmt.Fprintln(w.out, c.File)
	return err
}

// summary describes the contents of an archive in one line.
func summary(c archive.Contents) string {
	text := fmt.Sprintf("%d files and directories, %d kB", c.Files, (c.Bytes+1023)>>10)
	if c.Journal {
		text += ", with the journal"
	}
	return text
}

// importCommand is "org-agent import".
type importCommand struct {
	Skip      bool   `xor:"existing" help:"Where a file here differs from the archive's, keep the file here."`
	Replace   bool   `xor:"existing" help:"Where a file here differs from the archive's, take the archive's; the replaced files move to a directory beside the home."`
	Merge     bool   `xor:"existing" help:"Where a file here differs from the archive's, write the archive's beside it, as NAME.imported."`
	Megabytes int64  `help:"The most megabytes that the archive may unpack to." default:"2048"`
	JSON      bool   `help:"Print JSON."`
	File      string `arg:"" help:"The archive. Use only your own: its files, including settings and skills, count as written by you."`
}

func (c *importCommand) Run(ctx context.Context, w *world) error {
	paths, err := w.paths()
	if err != nil {
		return err
	}
	if c.Megabytes <= 0 || c.Megabytes > 1<<30 {
		return usagef("--megabytes takes a number from 1 up")
	}
	file, err := os.Open(c.File)
	if err != nil {
		return fmt.Errorf("read the archive: %w", err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: an archive is checked before anything is written, so it cannot come through a pipe", c.File)
	}
	done, err := archive.Import(ctx, paths, file, archive.Options{Existing: c.existing(), Limit: c.Megabytes << 20})
	if err != nil {
		return err
	}
	if c.JSON {
		return w.printJSON(done)
	}
	return tell(w.out, w.err, paths.Home, done)
}

func (c *importCommand) existing() archive.Existing {
	switch {
	case c.Skip:
		return archive.Skip
	case c.Replace:
		return archive.Replace
	case c.Merge:
		return archive.Merge
	}
	return archive.Refuse
}

// tell prints what an import did.
func tell(out, people io.Writer, home string, done archive.ImportResult) error {
	for _, of := range []struct {
		what  string
		paths []string
	}{{"kept", done.Skipped}, {"replaced", done.Replaced}, {"put beside", done.Merged}} {
		for _, path := range of.paths {
			fmt.Fprintf(people, "org-agent: %s: %s\n", of.what, filepath.Join(home, path))
		}
	}
	var more []string
	if done.ReplacedDirectory != "" {
		more = append(more, "what was replaced is in "+filepath.Join(home, done.ReplacedDirectory))
	}
	switch {
	case done.JournalBackup != "":
		more = append(more, "the journal that was here is "+done.JournalBackup)
	case done.JournalKept:
		more = append(more, "the journal that is here stays: the archive's conversations are restored as files, and models are not shown them")
	}
	for _, line := range more {
		fmt.Fprintln(people, "org-agent: "+line)
	}
	_, err := fmt.Fprintf(out, "%s: %d files written, %d the same, from org-agent %s of %s\n",
		home, done.Added+len(done.Replaced)+len(done.Merged), done.Same, oneLine(done.Version), oneLine(done.ExportedAt))
	return err
}

// oneLine makes text from an archive safe for one line of a terminal.
func oneLine(text string) string {
	return strings.Trim(fmt.Sprintf("%.60q", text), `"`)
}
