package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// instance returns the paths of a new instance.
func instance(t *testing.T) config.Paths {
	t.Helper()
	directory := t.TempDir()
	env := map[string]string{"HOME": directory, "XDG_STATE_HOME": filepath.Join(directory, "state"), "XDG_RUNTIME_DIR": directory}
	paths, err := config.FindPaths("", func(name string) string { return env[name] })
	must(t, err)
	return paths
}

// instanceWith returns an instance whose journal has one question.
func instanceWith(t *testing.T, words string) config.Paths {
	t.Helper()
	paths := instance(t)
	must(t, paths.EnsureHome())
	must(t, paths.EnsureState())
	ask(t, paths, words)
	return paths
}

func ask(t *testing.T, paths config.Paths, words string) {
	t.Helper()
	j, err := journal.Open(t.Context(), paths.Journal)
	must(t, err)
	_, _, err = j.Turns.Accept(t.Context(), protocol.Event{ID: words, Session: "main", Sensor: protocol.SensorChatMessage, Text: words}, "t-"+words)
	must(t, err)
	must(t, j.Close())
}

func write(t *testing.T, paths config.Paths, name, text string) {
	t.Helper()
	path := filepath.Join(paths.Home, name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

// tree lists every path below a directory with its mode, its time and its content.
func tree(t *testing.T, directory string) string {
	t.Helper()
	var all strings.Builder
	must(t, filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		must(t, err)
		info, err := entry.Info()
		must(t, err)
		below, err := filepath.Rel(directory, path)
		must(t, err)
		fmt.Fprintf(&all, "%s %v", below, info.Mode())
		if entry.Type().IsRegular() {
			text, err := os.ReadFile(path)
			must(t, err)
			fmt.Fprintf(&all, " %s %q", info.ModTime().UTC().Format(time.RFC3339Nano), text)
		}
		all.WriteString("\n")
		return nil
	}))
	return all.String()
}

func export(t *testing.T, paths config.Paths) ([]byte, ExportResult) {
	t.Helper()
	var out bytes.Buffer
	done, err := Export(t.Context(), paths, "7", &out)
	must(t, err)
	return out.Bytes(), done
}

func unpack(t *testing.T, paths config.Paths, archive []byte, existing Existing) (ImportResult, error) {
	t.Helper()
	return Import(t.Context(), paths, bytes.NewReader(archive), Options{Existing: existing})
}

// questions returns the ids of the questions in a journal.
func questions(t *testing.T, paths config.Paths) string {
	t.Helper()
	j, err := journal.OpenToRead(t.Context(), paths.Journal)
	must(t, err)
	rows, err := j.Records.Entries(t.Context(), journal.Query{Kinds: []journal.Kind{journal.KindEvent}})
	must(t, errors.Join(err, j.Close()))
	var all []string
	for _, row := range rows {
		all = append(all, row.ID)
	}
	return strings.Join(all, " ")
}

// TestExportWipeImport checks that an export and an import restore a removed instance, that the
// home may have another name, and that a second import changes nothing.
func TestExportWipeImport(t *testing.T) {
	paths := instanceWith(t, "hello")
	for name, text := range map[string]string{
		"sessions/main.org": "* hello :user:\n", "sessions/images/a b.png": "\x00\x01\xff", "MEMORY.org": "* known\n", "notes/größer.org": "", ".git/HEAD": "ref",
		"name with\nline and \"quotes\".org": "x", "config.org": "* Models\n",
	} {
		write(t, paths, name, text)
	}
	must(t, os.MkdirAll(filepath.Join(paths.Home, "empty", "within"), 0o700))
	must(t, os.Chmod(filepath.Join(paths.Home, "MEMORY.org"), 0o600))
	must(t, os.Chtimes(filepath.Join(paths.Home, "MEMORY.org"), time.Time{}, time.Unix(1_700_000_000, 123_000_000)))
	want := tree(t, paths.Home)
	archive, exported := export(t, paths)
	if !exported.Journal || len(exported.Unsupported) > 0 {
		t.Errorf("%+v", exported)
	}
	must(t, os.RemoveAll(paths.Home))
	must(t, os.RemoveAll(paths.State))
	for _, to := range []config.Paths{paths, instance(t)} {
		for range 2 {
			done, err := unpack(t, to, archive, Refuse)
			must(t, err)
			if got := tree(t, to.Home); got != want {
				t.Errorf("the home is\n%s\nand was\n%s", got, want)
			}
			if got := questions(t, to); got != "hello" || done.JournalKept {
				t.Errorf("the journal has %q, %+v", got, done)
			}
		}
	}
	if left, _ := filepath.Glob(paths.Journal + ".*~*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestImportIntoANewHome checks that the unchanged files of a new home do not conflict with those
// of an archive.
func TestImportIntoANewHome(t *testing.T) {
	from := instanceWith(t, "hello")
	write(t, from, "config.org", "* Models\n")
	archive, _ := export(t, from)
	to := instance(t)
	must(t, to.EnsureHome())
	if _, err := unpack(t, to, archive, Refuse); err != nil || tree(t, to.Home) != tree(t, from.Home) {
		t.Errorf("%v\n%s", err, tree(t, to.Home))
	}
}

// TestImportOverOthers checks that nothing is changed if files differ and no option says what to
// do, and that no option loses a file.
func TestImportOverOthers(t *testing.T) {
	from := instanceWith(t, "there")
	for _, name := range []string{"a.org", "b.org", "deep/c.org"} {
		write(t, from, name, "there "+name)
	}
	archive, _ := export(t, from)
	for existing, want := range map[Existing]map[string]string{
		Skip:    {"a.org": "here a.org", "b.org": "there b.org", "deep/c.org": "here deep/c.org"},
		Replace: {"a.org": "there a.org", "b.org": "there b.org", "deep/c.org": "there deep/c.org"},
		Merge:   {"a.org": "here a.org", "b.org": "there b.org", "a.org.imported": "there a.org", "a.org.imported.2": "", "deep/c.org.imported": "there deep/c.org"},
	} {
		to := instanceWith(t, "here")
		for _, name := range []string{"a.org", "deep/c.org", "own.org"} {
			write(t, to, name, "here "+name)
		}
		before := tree(t, to.Home)
		_, err := unpack(t, to, archive, Refuse)
		if !errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), "a.org, deep/c.org, the journal,") || !strings.Contains(err.Error(), "--merge") {
			t.Errorf("the error is %v", err)
		}
		if got := tree(t, to.Home); got != before || questions(t, to) != "here" {
			t.Errorf("a refused import changed the home:\n%s", got)
		}
		done, err := unpack(t, to, archive, existing)
		must(t, err)
		want["own.org"] = "here own.org"
		for name, text := range want {
			if got, _ := os.ReadFile(filepath.Join(to.Home, name)); string(got) != text {
				t.Errorf("%s: %s has %q, want %q", existing, name, got, text)
			}
		}
		journal, aside := "here", ""
		if existing == Replace {
			journal, aside = "there", "here a.org"
			if to.Journal = done.JournalBackup; questions(t, to) != "here" {
				t.Error("the journal that was here is gone")
			}
			to.Journal = filepath.Join(to.State, "journal.db")
		}
		if got := questions(t, to); got != journal {
			t.Errorf("%s: the journal has %q, want %q", existing, got, journal)
		}
		if got, _ := os.ReadFile(filepath.Join(to.Home, done.ReplacedDirectory, "a.org")); done.ReplacedDirectory != "" && string(got) != aside {
			t.Errorf("%s: the replaced file has %q, want %q", existing, got, aside)
		}
	}
}

// pack returns an archive with these entries. If whole is true, it adds the table of contents.
func pack(t *testing.T, entries []tar.Header, content map[string]string, whole bool) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	to := tar.NewWriter(packed)
	listed := Contents{Format: format, Files: len(entries)}
	for _, header := range entries {
		header.Size, header.Mode = int64(len(content[header.Name])), 0o644
		if header.Typeflag == 0 {
			header.Typeflag = tar.TypeReg
		}
		listed.Bytes += header.Size
		listed.Journal = listed.Journal || header.Name == journalName
		must(t, to.WriteHeader(&header))
		_, err := io.WriteString(to, content[header.Name])
		must(t, err)
	}
	if whole {
		text, err := json.Marshal(listed)
		must(t, err)
		must(t, to.WriteHeader(&tar.Header{Name: contentsName, Typeflag: tar.TypeReg, Size: int64(len(text))}))
		_, err = to.Write(text)
		must(t, err)
	}
	must(t, to.Close())
	must(t, packed.Close())
	return out.Bytes()
}

// TestHostileArchives checks that a hostile or damaged archive is refused with a reason, and that
// nothing is written.
func TestHostileArchives(t *testing.T) {
	file := func(name string) tar.Header { return tar.Header{Name: name} }
	directory := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeDir} }
	paths := instanceWith(t, "here")
	before, journal := tree(t, paths.Home), questions(t, paths)
	good, _ := export(t, paths)
	for name, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"above":           {pack(t, []tar.Header{file("home/../../evil")}, nil, true), "lead out of the home"},
		"above, within":   {pack(t, []tar.Header{directory("home/a/"), file("home/a/../../../evil")}, nil, true), "lead out of the home"},
		"absolute":        {pack(t, []tar.Header{file("/etc/evil")}, nil, true), "not part of a home"},
		"absolute below":  {pack(t, []tar.Header{file("home//etc/evil")}, nil, true), "lead out of the home"},
		"dot":             {pack(t, []tar.Header{file("home/./evil")}, nil, true), "lead out of the home"},
		"backslash":       {pack(t, []tar.Header{file(`home/..\evil`)}, nil, true), "lead out of the home"},
		"elsewhere":       {pack(t, []tar.Header{file("token")}, nil, true), "not part of a home"},
		"the home itself": {pack(t, []tar.Header{directory("home/")}, nil, true), "the home itself"},
		"link":            {pack(t, []tar.Header{{Name: "home/l", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, file("home/l/passwd")}, nil, true), "a link"},
		"hard link":       {pack(t, []tar.Header{{Name: "home/l", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}}, nil, true), "a link"},
		"pipe":            {pack(t, []tar.Header{{Name: "home/p", Typeflag: tar.TypeFifo}}, nil, true), "neither a file nor a directory"},
		"device":          {pack(t, []tar.Header{{Name: "home/p", Typeflag: tar.TypeChar}}, nil, true), "neither a file nor a directory"},
		"twice":           {pack(t, []tar.Header{file("home/a"), file("home/a")}, nil, true), "twice"},
		"file as parent":  {pack(t, []tar.Header{file("home/a"), file("home/a/b")}, nil, true), "but not its directory"},
		"no parent":       {pack(t, []tar.Header{file("home/a/b")}, nil, true), "but not its directory"},
		"no journal":      {pack(t, []tar.Header{file("journal.db")}, map[string]string{"journal.db": strings.Repeat("no database ", 1000)}, true), "its journal cannot be used"},
		"no end":          {pack(t, []tar.Header{file("home/a")}, nil, false), "cut off"},
		"cut off":         {good[:len(good)/2], "cut off"},
		"empty":           {nil, "cut off"},
		"text":            {[]byte("* An Org file\n"), "not an archive"},
		"bomb":            {pack(t, []tar.Header{file("home/bomb")}, map[string]string{"home/bomb": strings.Repeat("0", 20<<20)}, true), "unpacks to more than 1 MB"},
		"wrong count":     {pack(t, []tar.Header{file("home/a"), file(contentsName)}, map[string]string{contentsName: `{"format":1,"files":7}`}, false), "its contents list 7 files"},
		"later format":    {pack(t, []tar.Header{file(contentsName)}, map[string]string{contentsName: `{"format":2,"version":"99"}`}, false), "the format 2 of org-agent 99"},
	} {
		_, err := Import(t.Context(), paths, bytes.NewReader(c.archive), Options{Existing: Replace, Limit: 1 << 20})
		if !errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q in it", name, err, c.want)
		}
		if after := tree(t, paths.Home); after != before || questions(t, paths) != journal {
			t.Errorf("%s: the home is now\n%s", name, after)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(paths.Home), "evil")); err == nil {
			t.Errorf("%s: it wrote outside", name)
		}
		if left, _ := filepath.Glob(paths.Journal + ".*"); len(left) > 0 {
			t.Errorf("%s left %v", name, left)
		}
	}
}

// TestDamagedAnywhere checks that an archive is refused wherever bytes of it were exchanged: also
// where what is unpacked has the length and the form of an archive.
func TestDamagedAnywhere(t *testing.T) {
	paths := instanceWith(t, "here")
	before, journal := tree(t, paths.Home), questions(t, paths)
	good, _ := export(t, paths)
	const header = 10 // bytes of a gzip stream, which no checksum covers
	step := (len(good) - header) / 150
	for at := header; at < len(good); at += step {
		damaged := bytes.Clone(good)
		for i := at; i < min(at+5, len(good)); i++ {
			damaged[i] ^= '#'
		}
		if _, err := unpack(t, paths, damaged, Replace); !errors.Is(err, ErrUnfit) {
			t.Errorf("damaged at %d of %d: %v", at, len(good), err)
		}
	}
	if after := tree(t, paths.Home); after != before || questions(t, paths) != journal {
		t.Errorf("the home is now\n%s", after)
	}
	if _, err := unpack(t, paths, append(bytes.Clone(good), "more"...), Replace); !errors.Is(err, ErrUnfit) {
		t.Errorf("with more behind its end: %v", err)
	}
}

// TestImportThroughLinks checks that an import does not follow links of the home.
func TestImportThroughLinks(t *testing.T) {
	archive := pack(t, []tar.Header{{Name: "home/a/", Typeflag: tar.TypeDir}, {Name: "home/a/b"}, {Name: "home/c"}}, map[string]string{"home/a/b": "x", "home/c": "x"}, true)
	for _, link := range []string{"a", "c"} {
		paths, outside := instanceWith(t, "here"), t.TempDir()
		must(t, os.Symlink(outside, filepath.Join(paths.Home, link)))
		_, err := unpack(t, paths, archive, Replace)
		if !errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), "move it away") {
			t.Errorf("%s: the error is %v", link, err)
		}
		if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
			t.Errorf("%s: outside there is %v, %v", link, entries, err)
		}
	}
}

// TestExportOddFiles checks that an export reports links and pipes without waiting for them, fails
// if a file cannot be read, and leaves itself out if it is written into the home.
func TestExportOddFiles(t *testing.T) {
	paths := instanceWith(t, "x")
	must(t, os.Symlink("/etc/passwd", filepath.Join(paths.Home, "link.org")))
	must(t, syscall.Mkfifo(filepath.Join(paths.Home, "pipe"), 0o600))
	write(t, paths, ".#main.org", "a lock")
	write(t, paths, ".MEMORY.org.123.new~", "half")
	file, err := os.Create(filepath.Join(paths.Home, "own.tar.gz"))
	must(t, err)
	done, err := Export(t.Context(), paths, "7", file)
	must(t, errors.Join(err, file.Close()))
	if got := strings.Join(done.Unsupported, " "); got != "link.org pipe" {
		t.Errorf("the export reports %q", got)
	}
	text, err := os.ReadFile(file.Name())
	must(t, err)
	to := instance(t)
	_, err = unpack(t, to, text, Refuse)
	must(t, err)
	for _, name := range []string{"link.org", "pipe", ".#main.org", ".MEMORY.org.123.new~", "own.tar.gz"} {
		if _, err := os.Lstat(filepath.Join(to.Home, name)); err == nil {
			t.Errorf("%s was exported", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Export(ctx, paths, "7", io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	if os.Getuid() != 0 { // root can read every file
		must(t, os.Chmod(filepath.Join(paths.Home, "MEMORY.org"), 0))
		if _, err := Export(t.Context(), paths, "7", io.Discard); err == nil {
			t.Error("an export succeeded although a file could not be read")
		}
	}
}

// TestImportEndsAnywhere checks that an import that ended at any moment is completed by repeating
// it.
func TestImportEndsAnywhere(t *testing.T) {
	from := instanceWith(t, "hello")
	for n := range 20 {
		write(t, from, fmt.Sprintf("notes/%d.org", n), strings.Repeat("text ", 2000))
	}
	archive, _ := export(t, from)
	for _, n := range []int{1, 4, 9, 14} {
		to := instance(t)
		ctx, cancel := context.WithCancel(t.Context())
		reader := &endingReader{Reader: bytes.NewReader(archive), after: n, cancel: cancel}
		_, err := Import(ctx, to, reader, Options{})
		cancel()
		if _, again := unpack(t, to, archive, Refuse); again != nil || tree(t, to.Home) != tree(t, from.Home) || questions(t, to) != "hello" {
			t.Errorf("after %d reads (%v): %v\n%s", n, err, again, tree(t, to.Home))
		}
	}
}

// endingReader cancels the context after that many reads.
type endingReader struct {
	*bytes.Reader
	after  int
	cancel func()
}

func (e *endingReader) Read(p []byte) (int, error) {
	if e.after--; e.after < 0 {
		e.cancel()
	}
	return e.Reader.Read(p[:min(len(p), 512)])
}
