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

// exportCommand is "org-agent export". It needs no kernel, and runs beside one.
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
		file, failure := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // it has all that was said
		if errors.Is(failure, os.ErrExist) {
			return fmt.Errorf("%s is there already: give another name", c.File)
		}
		if failure != nil {
			return fmt.Errorf("write the archive: %w", failure)
		}
		out, done = file, func() error { return errors.Join(file.Sync(), file.Close()) }
		defer func() {
			if err != nil {
				err = errors.Join(err, os.Remove(c.File)) // half an archive is none
			}
		}()
	}
	exported, err := archive.Export(ctx, paths, version, out)
	if err = errors.Join(err, done()); err != nil {
		return err
	}
	for _, path := range exported.Left {
		fmt.Fprintf(w.err, "org-agent: not taken along: %s, which is no file and no directory\n", filepath.Join(paths.Home, path))
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

// summary is what an archive holds.
func summary(c archive.Contents) string {
	text := fmt.Sprintf("%d files and directories, %d kB", c.Files, (c.Bytes+1023)>>10)
	if c.Journal {
		text += ", with the journal"
	}
	return text
}

// importCommand is "org-agent import".
type importCommand struct {
	Skip      bool   `xor:"existing" help:"Keep files that are here and are others in the archive."`
	Replace   bool   `xor:"existing" help:"Take those of the archive; what is here is kept in a directory beside."`
	Merge     bool   `xor:"existing" help:"Put those of the archive beside them, as NAME.imported."`
	Megabytes int64  `help:"How much the archive may unpack to." default:"2048"`
	JSON      bool   `help:"Print JSON."`
	File      string `arg:"" help:"The archive, one of yours: what is in it, settings and skills too, counts as written by you."`
}

func (c *importCommand) Run(ctx context.Context, w *world) error {
	paths, err := w.paths()
	if err != nil {
		return err
	}
	if c.Megabytes <= 0 || c.Megabytes > 1<<30 {
		return usagef("--megabytes is a number from 1 up")
	}
	file, err := os.Open(c.File)
	if err != nil {
		return fmt.Errorf("read the archive: %w", err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file: an archive is looked through before anything is written, so it cannot come through a pipe", c.File)
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

// tell says what an import did.
func tell(out, people io.Writer, home string, done archive.Imported) error {
	for _, of := range []struct {
		what  string
		paths []string
	}{{"kept", done.Skipped}, {"replaced", done.Replaced}, {"put beside", done.Beside}} {
		for _, path := range of.paths {
			fmt.Fprintf(people, "org-agent: %s: %s\n", of.what, filepath.Join(home, path))
		}
	}
	var more []string
	if done.Aside != "" {
		more = append(more, "what was replaced is in "+filepath.Join(home, done.Aside))
	}
	switch {
	case done.JournalAside != "":
		more = append(more, "the journal that was here is "+done.JournalAside)
	case done.JournalKept:
		more = append(more, "the journal that is here stays: of the archive's conversations there are the files, and models are not told of them")
	}
	for _, line := range more {
		fmt.Fprintln(people, "org-agent: "+line)
	}
	_, err := fmt.Fprintf(out, "%s: %d files written, %d the same, from org-agent %s of %s\n",
		home, done.Added+len(done.Replaced)+len(done.Beside), done.Same, oneLine(done.Version), oneLine(done.Exported))
	return err
}

// oneLine is what an archive says of itself, fit for a terminal.
func oneLine(text string) string {
	return strings.Trim(fmt.Sprintf("%.60q", text), `"`)
}
