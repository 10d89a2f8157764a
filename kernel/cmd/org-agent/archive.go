package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"org-agent/kernel/archive"
	"org-agent/kernel/text"
)

// exportCommand is "org-agent export". It needs no kernel and may run beside one.
type exportCommand struct {
	JSON bool   `help:"Print JSON."`
	File string `arg:"" optional:"" help:"The archive to write, or - for stdout (default: org-agent-DATE.tar.gz here)."`
}

func (c *exportCommand) Run(ctx context.Context, proc *process) (err error) {
	paths, err := proc.paths()
	if err != nil {
		return err
	}
	var out io.Writer = proc.stdout
	closeFile := func() error { return nil }
	if c.File != "-" {
		if c.File == "" {
			c.File = "org-agent-" + time.Now().Format("2006-01-02") + ".tar.gz"
		}
		file, openErr := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // only the owner may read the conversations in it
		if errors.Is(openErr, os.ErrExist) {
			return fmt.Errorf("%s already exists: give another name", c.File)
		}
		if openErr != nil {
			return fmt.Errorf("write the archive: %w", openErr)
		}
		out, closeFile = file, func() error { return errors.Join(file.Sync(), file.Close()) }
		defer func() {
			if err != nil {
				err = errors.Join(err, os.Remove(c.File)) // a partial archive is useless
			}
		}()
	}
	waiting := newWaiting(proc.stderr)
	waiting.during(func() string {
		if info, err := os.Stat(c.File); err == nil && info.Size()>>20 > 0 {
			return fmt.Sprintf("exporting, %d MB are written", info.Size()>>20)
		}
		return "exporting"
	})
	exported, err := archive.Export(ctx, paths, version, out)
	waiting.end()
	if err = errors.Join(err, closeFile()); err != nil {
		return err
	}
	for _, path := range exported.Unsupported {
		fmt.Fprintf(proc.stderr, "org-agent: omitted: %s, which is neither a file nor a directory\n", filepath.Join(paths.Home, path))
	}
	switch {
	case c.File == "-":
		return nil
	case c.JSON:
		return proc.printJSON(exported)
	}
	fmt.Fprintf(proc.stderr, "org-agent: %s\n", summary(exported.Contents))
	_, err = fmt.Fprintln(proc.stdout, c.File)
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
	Megabytes int64  `help:"The maximum size of the unpacked archive, in megabytes." default:"2048"`
	JSON      bool   `help:"Print JSON."`
	File      string `arg:"" help:"The archive. Use only your own: its files, including settings and skills, count as written by you."`
}

func (c *importCommand) Run(ctx context.Context, proc *process) error {
	paths, err := proc.paths()
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
	waiting := newWaiting(proc.stderr)
	waiting.during(func() string { return "importing" })
	imported, err := archive.Import(ctx, paths, file, archive.Options{Existing: c.existing(), Limit: c.Megabytes << 20})
	waiting.end()
	if err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(imported)
	}
	return printImport(proc.stdout, proc.stderr, paths.Home, imported)
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

// printImport prints what an import did.
func printImport(stdout, stderr io.Writer, home string, imported archive.ImportResult) error {
	for _, group := range []struct {
		label string
		paths []string
	}{{"kept", imported.Skipped}, {"replaced", imported.Replaced}, {"put beside", imported.Merged}} {
		for _, path := range group.paths {
			fmt.Fprintf(stderr, "org-agent: %s: %s\n", group.label, filepath.Join(home, path))
		}
	}
	var notices []string
	if imported.ReplacedDirectory != "" {
		notices = append(notices, "the replaced files are in "+filepath.Join(home, imported.ReplacedDirectory))
	}
	switch {
	case imported.JournalBackup != "":
		notices = append(notices, "the previous journal is now "+imported.JournalBackup)
	case imported.JournalKept:
		notices = append(notices, "the existing journal stays: the archive's conversations are restored as files, and models do not see them")
	}
	for _, line := range notices {
		fmt.Fprintln(stderr, "org-agent: "+line)
	}
	_, err := fmt.Fprintf(stdout, "%s: %s written, %d the same, from org-agent %s of %s\n",
		home, text.Count(imported.Added+len(imported.Replaced)+len(imported.Merged), "file"), imported.Same, text.PlainLine(imported.Version, 60), text.PlainLine(imported.ExportedAt, 60))
	return err
}
