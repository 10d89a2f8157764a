package files_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/files"
	"org-agent/kernel/protocol"
)

func directory(t *testing.T) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return real
}

func put(t *testing.T, path, content string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

func wantCode(t *testing.T, what string, err error, code protocol.ToolErrorCode, says string) {
	t.Helper()
	if err == nil || protocol.ToolErrorOf(err).Code != code || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: %v, want %s that says %q", what, err, code, says)
	}
}

func TestResolve(t *testing.T) {
	home, elsewhere := directory(t), directory(t)
	put(t, home+"/a/b.org", "x")
	put(t, elsewhere+"/c", "x")
	for link, to := range map[string]string{"out": elsewhere, "up": "a/../..", "dangling": "nowhere", "round": "round"} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	user, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	if user, err = filepath.EvalSymlinks(user); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a/b.org": home + "/a/b.org", "./a/../a/b.org": home + "/a/b.org", home + "/a/b.org": home + "/a/b.org", ".": home,
		"out/c": elsewhere + "/c", "out/new": elsewhere + "/new", "new/d/e": home + "/new/d/e", "~": user, "a/b.org~": home + "/a/b.org~",
	} {
		if got, _, err := files.Resolve(name, home); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", name, got, err, want)
		}
	}
	for name, code := range map[string]protocol.ToolErrorCode{
		"": protocol.ToolArguments, "a\x00b": protocol.ToolArguments, "/ssh:host:/etc/passwd": protocol.ToolArguments, "dangling": protocol.ToolNotFound,
		"dangling/x": protocol.ToolNotFound, "round": protocol.ToolFailed, "a/b.org/c": protocol.ToolNotFound, "/proc/self/environ": protocol.ToolUnfit,
		"/dev/zero": protocol.ToolUnfit, "/proc/self/cwd/../../proc/1/mem": protocol.ToolUnfit, strings.Repeat("x", 5000): protocol.ToolFailed,
	} {
		if got, _, err := files.Resolve(name, home); err == nil || protocol.ToolErrorOf(err).Code != code {
			t.Errorf("%.40q: %q, %v, want %s", name, got, err, code)
		}
	}
}

// TestLines checks that reading returns all of a text and nothing else, whatever the text contains.
func TestLines(t *testing.T) {
	path := filepath.Join(directory(t), "x")
	rapid.Check(t, func(r *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-zé漢 \t]{0,12}`), 0, 30).Draw(r, "lines")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "end")
		mark := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(r, "mark")
		text := mark + strings.Join(lines, end)
		limit := rapid.IntRange(1, 40).Draw(r, "limit")
		put(t, path, text)
		want := strings.Split(strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), mark), "\n")
		if last := len(want) - 1; want[last] == "" {
			want = want[:last]
		}
		var got []string
		for from := 1; from > 0; {
			p, err := files.Lines(t.Context(), path, from, limit)
			if err != nil || p.Hash != files.Hash([]byte(text)) || p.Total != len(want) || p.Mark != (mark != "") {
				r.Fatalf("%q from %d: %+v, %v", text, from, p, err)
			}
			if got, from = append(got, p.Lines...), p.Next; from == 0 && len(want) > 0 && p.Open == strings.HasSuffix(text, "\n") {
				r.Fatalf("%q: open %v", text, p.Open)
			}
		}
		if !slices.Equal(got, want) {
			r.Fatalf("%q: %q, want %q", text, got, want)
		}
	})
}

func TestLinesOfOddFiles(t *testing.T) {
	home := directory(t)
	read := func(name, content string, from, limit int) (files.Part, error) {
		return files.Lines(t.Context(), put(t, home+"/"+name, content), from, limit)
	}
	p, err := read("invalid", "a\xff\xfeb\nok\n", 0, 0)
	if err != nil || !p.Escaped || p.Lines[0] != `a\xff\xfeb` || p.Lines[1] != "ok" {
		t.Errorf("what is no UTF-8: %+v, %v", p, err)
	}
	p, err = read("long", strings.Repeat("é", 1<<20)+"\nnext", 0, 0)
	if err != nil || !p.Cut || len(p.Lines) != 2 || len(p.Lines[0]) > 5000 || !strings.Contains(p.Lines[0], fmt.Sprintf("[… %d bytes", 2<<20-4096)) || p.Lines[1] != "next" {
		t.Errorf("a long line: %+v, %v", p.Lines[1:], err)
	}
	p, err = read("many", strings.Repeat("0123456789\n", 10_000), 0, 0)
	if err != nil || len(p.Lines) != files.PartLines || p.Next != files.PartLines+1 || p.Total != 10_000 {
		t.Errorf("many lines: %d, %v", len(p.Lines), err)
	}
	p, err = read("wide", strings.Repeat(strings.Repeat("x", 999)+"\n", 1000), 0, 0)
	if err != nil || len(p.Lines) != 50 || p.Next != 51 {
		t.Errorf("wide lines: %d, next %d, %v", len(p.Lines), p.Next, err)
	}
	for name, content := range map[string]string{"binary": "ab\x00c", "picture": "\x89PNG\r\n\x1a\n", "utf16": "\xff\xfea\x00b\x00"} {
		_, err := read(name, content, 0, 0)
		wantCode(t, name, err, protocol.ToolUnfit, "is not shown")
	}
	_, err = read("short", "a\n", 3, 0)
	wantCode(t, "behind the end", err, protocol.ToolArguments, "has 1 lines")
	_, err = read("short", "a\n", -3, 0)
	wantCode(t, "before the beginning", err, protocol.ToolArguments, "from 1")
	if err := errors.Join(syscall.Mkfifo(home+"/pipe", 0o600), os.Symlink("short", home+"/link"), os.WriteFile(home+"/closed", nil, 0)); err != nil {
		t.Fatal(err)
	}
	_, err = files.Lines(t.Context(), home+"/pipe", 0, 0)
	wantCode(t, "a pipe", err, protocol.ToolUnfit, "is a pipe")
	_, err = files.Lines(t.Context(), home+"/link", 0, 0)
	wantCode(t, "what has become a link", err, protocol.ToolChanged, "again")
	_, err = files.Lines(t.Context(), home+"/gone", 0, 0)
	wantCode(t, "nothing", err, protocol.ToolNotFound, "there is no file")
	if os.Getuid() != 0 {
		_, err = files.Lines(t.Context(), home+"/closed", 0, 0)
		wantCode(t, "not ours", err, protocol.ToolDenied, "does not let")
	}
	file, err := os.Create(home + "/huge")
	if err != nil || errors.Join(file.Truncate(1<<40), file.Close()) != nil {
		t.Fatal(err)
	}
	_, err = files.Whole(t.Context(), home+"/huge")
	wantCode(t, "a huge file", err, protocol.ToolTooLarge, "16 MiB")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, err = files.Lines(stopped, home+"/short", 0, 0)
	wantCode(t, "cancelled", err, protocol.ToolCancelled, "")
}

// TestEdit checks that an edit changes only the bytes that it names, and that the inverse edit
// restores the text.
func TestEdit(t *testing.T) {
	path := filepath.Join(directory(t), "x")
	rapid.Check(t, func(r *rapid.T) {
		piece := rapid.StringMatching("[ab \\t\\r\\né\ufeff]{0,8}")
		before, old, after := piece.Draw(r, "before"), "<"+piece.Draw(r, "old")+">", piece.Draw(r, "after")
		new := "{" + piece.Draw(r, "new") + "}"
		text := before + old + after
		put(t, path, text)
		c, count, err := files.Editing(t.Context(), path, files.Hash([]byte(text)), old, new, false)
		if err != nil || count != 1 {
			r.Fatalf("%q: %d, %v", text, count, err)
		}
		if err := c.Make(); err != nil {
			r.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != before+new+after {
			r.Fatalf("%q: %q", text, got)
		}
		c, _, err = files.Editing(t.Context(), path, "", new, old, true)
		if err != nil || string(c.After) != text {
			r.Fatalf("back: %q, %v", c.After, err)
		}
	})
}

func TestRefusedEdits(t *testing.T) {
	home := directory(t)
	path := put(t, home+"/x", "one\n  two (a, b)\none\naaa\n")
	edit := func(hash, old, new string, all bool) error {
		_, _, err := files.Editing(t.Context(), path, hash, old, new, all)
		return err
	}
	wantCode(t, "twice", edit("", "one", "x", false), protocol.ToolNotUnique, "more than once, in the lines 1, 3:")
	wantCode(t, "overlapping", edit("", "aa", "x", false), protocol.ToolNotUnique, "in the lines 4, 4")
	wantCode(t, "other blanks", edit("", "two (a,  b)\n", "x", false), protocol.ToolNotFound, "the lines 2 to 2, which are, to the character:\n  two (a, b)")
	wantCode(t, "not there", edit("", "zzz", "x", false), protocol.ToolNotFound, "read the file")
	wantCode(t, "the same", edit("", "one", "one", true), protocol.ToolArguments, "the same")
	wantCode(t, "nothing", edit("", "", "one", true), protocol.ToolArguments, ":old is missing")
	wantCode(t, "another hash", edit("0123", "one", "x", true), protocol.ToolChanged, "read it again")
	wantCode(t, "too large", edit("", "a", strings.Repeat("x", 8<<20), true), protocol.ToolTooLarge, "16 MiB")
	put(t, path, "one\xff")
	wantCode(t, "no UTF-8", edit("", "one", "x", false), protocol.ToolUnfit, "UTF-8")
	put(t, path, "one\r\ntwo\r\nthree\r\n")
	if c, _, err := files.Editing(t.Context(), path, "", "one\ntwo", "1\n2\n", false); err != nil || string(c.After) != "1\r\n2\r\n\r\nthree\r\n" {
		t.Errorf("returns: %q, %v", c.After, err)
	}
	put(t, path, "one\r\ntwo\n")
	wantCode(t, "mixed ends", edit("", "one\ntwo", "x", false), protocol.ToolNotFound, "lines 1 to 2")
	host, _ := os.Hostname()
	if err := os.Symlink(fmt.Sprintf("me@%s.%d:1", host, os.Getpid()), home+"/.#x"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "open in Emacs", edit("", "one", "x", false), protocol.ToolChanged, "ask the person to save it")
	if err := errors.Join(os.Remove(home+"/.#x"), os.Symlink("me@"+host+".99999999:1", home+"/.#x")); err != nil {
		t.Fatal(err)
	}
	if err := edit("", "one", "x", false); err != nil {
		t.Errorf("the lock of a dead Emacs: %v", err)
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "read-only", edit("", "one", "x", false), protocol.ToolDenied, "read-only")
}

// TestWrite checks that a file gets exactly the written bytes, keeps its mode, and is overwritten
// only with the hash of its content.
func TestWrite(t *testing.T) {
	home := directory(t)
	path := home + "/a/b/x.org"
	rapid.Check(t, func(r *rapid.T) {
		content := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(r, "content")
		if err := os.RemoveAll(home + "/a"); err != nil {
			r.Fatal(err)
		}
		c, err := files.Rewriting(t.Context(), path, "", content)
		if err != nil || !slices.Equal(c.Directories(), []string{home + "/a", home + "/a/b"}) {
			r.Fatalf("%v, %v", c.Directories(), err)
		}
		if err := c.Make(); err != nil {
			r.Fatal(err)
		}
		if err := os.Chmod(path, 0o751); err != nil {
			r.Fatal(err)
		}
		_, err = files.Rewriting(t.Context(), path, "", content)
		if protocol.ToolErrorOf(err).Code != protocol.ToolExists {
			r.Fatalf("without a hash: %v", err)
		}
		c, err = files.Rewriting(t.Context(), path, files.Hash(content), append(content, '!'))
		if err == nil {
			err = c.Make()
		}
		got, _ := os.ReadFile(path)
		info, failed := os.Stat(path)
		if err != nil || failed != nil || !bytes.Equal(got, append(content, '!')) || info.Mode().Perm() != 0o751 {
			r.Fatalf("%q, %v, %v", got, info, err)
		}
	})
	wantCode(t, "made again", second(files.Rewriting(t.Context(), home+"/new", "0123", nil)), protocol.ToolNotFound, "without :hash")
	left, _ := filepath.Glob(home + "/a/b/.*")
	if len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

func second(_ files.Change, err error) error { return err }

// TestRaces checks that a change between reading a file and changing it is not lost, and that
// nothing is written through what replaced a file or a directory.
func TestRaces(t *testing.T) {
	home, elsewhere := directory(t), directory(t)
	path, victim := put(t, home+"/d/x", "one"), put(t, elsewhere+"/x", "one")
	change := func() files.Change {
		t.Helper()
		c, _, err := files.Editing(t.Context(), path, "", "one", "two", false)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := change()
	put(t, path, "one more")
	wantCode(t, "changed meanwhile", c.Make(), protocol.ToolChanged, "read it again")
	put(t, path, "one")
	c = change()
	if err := errors.Join(os.Remove(path), os.Symlink(victim, path)); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "a link in its place", c.Make(), protocol.ToolChanged, "link")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "gone", c.Make(), protocol.ToolNotFound, "no file")
	put(t, path, "one")
	c = change()
	if err := errors.Join(os.Rename(home+"/d", home+"/e"), os.Symlink(elsewhere, home+"/d")); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "a link in the place of its directory", c.Make(), protocol.ToolChanged, "another file")
	_, err := files.Lines(t.Context(), path, 0, 0)
	wantCode(t, "reading through it", err, protocol.ToolChanged, "another file")
	n, err := files.Rewriting(t.Context(), home+"/new", "", []byte("mine"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, home+"/new", "theirs")
	wantCode(t, "made meanwhile", n.Make(), protocol.ToolExists, "meanwhile")
	for file, want := range map[string]string{victim: "one", home + "/e/x": "one", home + "/new": "theirs"} {
		if got, _ := os.ReadFile(file); string(got) != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, yes, no string
	}{
		{"*.go", "a.go b/c/d.go .x.go", "a.gox go b/a.go/c"},
		{"**/*.go", "a.go b/c/d.go", "a.md"},
		{"src/**/x.{go,md}", "src/x.go src/a/b/x.md", "x.go src/x.txt a/src/x.go"},
		{"src/*", "src/a src/.b", "src/a/b"},
		{"src/**", "src/a src/a/b", "srca/b"},
		{"[!a-c]?.org", "d1.org x/zz.org", "a1.org d.org d11.org"},
		{"a+b(1).txt", "a+b(1).txt", "aab1.txt"},
		{`\*`, "*", "a"},
	} {
		p, err := files.ParsePattern(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for _, name := range strings.Fields(c.yes) {
			if !p.Matches(name) {
				t.Errorf("%s does not match %s", c.pattern, name)
			}
		}
		for _, name := range strings.Fields(c.no) {
			if p.Matches(name) {
				t.Errorf("%s matches %s", c.pattern, name)
			}
		}
	}
	for _, pattern := range []string{"", "/etc/*", "../x", "a/../../x", "[ab", "{a,b", "[z-a]", strings.Repeat("{a,", 400)} {
		if _, err := files.ParsePattern(pattern); err == nil || protocol.ToolErrorOf(err).Code != protocol.ToolArguments {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		p, err := files.ParsePattern(rapid.StringMatching(`[ab*?/{},!\[\]\\é.^-]{0,12}`).Draw(r, "pattern"))
		if err == nil {
			p.Matches("a/b/é")
		}
	})
}

// garden returns a tree with everything that a tree can contain.
func garden(t *testing.T) files.Tree {
	t.Helper()
	home, elsewhere := directory(t), directory(t)
	put(t, elsewhere+"/secret.go", "needle elsewhere")
	for name, content := range map[string]string{
		"a.go": "one\ntwo needle\nthree\nfour\nfive\nsix Needle\n", "b/c.go": "needle\r\n", "b/.hidden.go": "needle at its end", ".git/x.go": "needle",
		"node_modules/y.go": "needle", "bin.go": "needle\x00", "kept/z.go": "needle", "long.go": strings.Repeat("x", 200_000) + "\n" + strings.Repeat("y", 5000) + "needle" + strings.Repeat("é", 5000) + "\n",
	} {
		put(t, filepath.Join(home, name), content)
	}
	if err := errors.Join(os.Symlink(elsewhere, home+"/out"), os.Symlink(elsewhere+"/secret.go", home+"/link.go"), syscall.Mkfifo(home+"/pipe.go", 0o600)); err != nil {
		t.Fatal(err)
	}
	return files.Tree{Root: home, Unread: func(path string) bool { return path == home+"/kept" }}
}

func TestFind(t *testing.T) {
	tree := garden(t)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(tree.Root, "a.go"), old, old); err != nil {
		t.Fatal(err)
	}
	pattern, err := files.ParsePattern("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := func(limit int) (names []string, total int) {
		found, total, whole, err := tree.Find(t.Context(), pattern, limit)
		if err != nil || !whole {
			t.Fatal(whole, err)
		}
		for _, f := range found {
			names = append(names, f.Name)
		}
		return names, total
	}
	got, total := names(100)
	if len(got) != 5 || total != 5 || got[4] != "a.go" || slices.Contains(got, "out/secret.go") || !slices.Contains(got, "b/.hidden.go") {
		t.Errorf("%d: %q", total, got)
	}
	if got, total := names(2); len(got) != 2 || total != 5 {
		t.Errorf("%d: %q", total, got)
	}
	tree.All = true
	if got, total := names(100); total != 7 || !slices.Contains(got, ".git/x.go") {
		t.Errorf("all: %d: %q", total, got)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, _, _, err = tree.Find(stopped, pattern, 1)
	wantCode(t, "cancelled", err, protocol.ToolCancelled, "")
}

func TestSearch(t *testing.T) {
	tree := garden(t)
	search := func(s files.Search) files.Matches {
		t.Helper()
		m, err := tree.Search(t.Context(), s, func(name string) string { return name })
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := search(files.Search{Text: regexp.MustCompile("needle"), Limit: 100})
	for _, line := range []string{"a.go:2:two needle\n", "b/c.go:1:needle\n", "b/.hidden.go:1:needle at its end\n", "long.go:2:…y", "yneedleé"} {
		if !strings.Contains(m.Text, line) {
			t.Errorf("there is no %q in\n%s", line, m.Text)
		}
	}
	if m.Lines != 4 || m.Files != 4 || m.Full || len(m.Text) > 1000 || strings.Contains(m.Text, "elsewhere") || strings.Contains(m.Text, "kept") {
		t.Errorf("%+v", m)
	}
	only, err := files.ParsePattern("a.*")
	if err != nil {
		t.Fatal(err)
	}
	m = search(files.Search{Text: regexp.MustCompile("(?i)needle"), Files: &only, Context: 1, Limit: 100})
	if m.Text != "a.go-1-one\na.go:2:two needle\na.go-3-three\n--\na.go-5-five\na.go:6:six Needle\n" {
		t.Errorf("around:\n%s", m.Text)
	}
	if m = search(files.Search{Text: regexp.MustCompile("."), Limit: 3}); m.Lines != 3 || !m.Full {
		t.Errorf("a bound: %+v", m)
	}
	if m = search(files.Search{Text: regexp.MustCompile("nowhere at all"), Limit: 3}); m.Lines != 0 || m.Full || m.Files != 4 {
		t.Errorf("nothing: %+v", m)
	}
	_, err = files.SearchFile(t.Context(), filepath.Join(tree.Root, "bin.go"), files.Search{Text: regexp.MustCompile("n"), Limit: 1}, "bin.go")
	wantCode(t, "a binary file", err, protocol.ToolUnfit, "no text")
	_, err = files.SearchFile(t.Context(), filepath.Join(tree.Root, "pipe.go"), files.Search{Text: regexp.MustCompile("n"), Limit: 1}, "pipe.go")
	wantCode(t, "a pipe", err, protocol.ToolUnfit, "pipe")
}
