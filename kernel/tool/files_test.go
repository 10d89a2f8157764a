package tool_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/files"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

// shed returns the tools for files of a home with some in it.
func shed(t *testing.T) (r *tool.Registry, home string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r, err = tool.BuiltIn(tool.Deps{
		Skills: func() *skillmd.Set { return nil },
		Files:  tool.Files{Home: home, Unread: func(path string) bool { return strings.HasPrefix(path, home+"/kept") }},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"notes.org": "* One\n  two", "src/a.go": "package a\n", "kept/key": "package key"} {
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return r, home
}

func plain(pairs ...any) (o protocol.Object) {
	for i := 0; i < len(pairs); i += 2 {
		o = append(o, protocol.Field{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return o
}

// done makes a call as the agent does: it performs what Reach leaves in the arguments.
func done(t *testing.T, r *tool.Registry, name string, pairs ...any) (string, error) {
	t.Helper()
	resolved, reach, err := r.Reach(t.Context(), name, plain(pairs...))
	if err != nil {
		return "", err
	}
	last := reach[len(reach)-1]
	if len(reach) > 1 && (name == "read" || len(reach) > 2 || reach[0] != protocol.Reach{Kind: protocol.ReachReads, Path: last.Path}) || !filepath.IsAbs(last.Path) || resolved.Text("path") != last.Path {
		t.Errorf("%s %v reaches %v with %v", name, pairs, reach, resolved)
	}
	text, _, err := r.Call(t.Context(), name, resolved)
	return text, err
}

func TestFiles(t *testing.T) {
	r, home := shed(t)
	if got, err := done(t, r, "read", "path", "notes.org"); err != nil || !strings.HasSuffix(got, "lines 1 to 2 of 2\n     1\t* One\n     2\t  two\n[The last line has no newline at its end.]\n") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := done(t, r, "read", "path", "."); err != nil || got != "The directory "+home+":\nkept/\nnotes.org\nsrc/\n" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := done(t, r, "read", "path", "src/a.go", "from", int64(2)); err == nil || protocol.ToolErrorOf(err).Code != protocol.ToolArguments {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := done(t, r, "glob", "pattern", "**/*"); err != nil || !strings.Contains(got, "2 files") || !strings.Contains(got, "\nsrc/a.go\n") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := done(t, r, "grep", "pattern", "package"); err != nil || got != "1 line in the 2 files that were searched:\nsrc/a.go:1:package a\n" {
		t.Errorf("%q, %v", got, err)
	}
	for _, path := range []string{"kept", "kept/key"} {
		for _, name := range []string{"grep", "glob"} {
			if got, err := done(t, r, name, "pattern", "*e*", "path", path, "all", true); err == nil || protocol.ToolErrorOf(err).Code != protocol.ToolRefused {
				t.Errorf("%s of what is passed over: %q, %v", name, got, err)
			}
		}
	}
	if got, err := done(t, r, "grep", "pattern", "(", "path", "notes.org"); err == nil || protocol.ToolErrorOf(err).Code != protocol.ToolArguments {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := done(t, r, "write", "path", "new/empty", "content", ""); err != nil || !strings.HasPrefix(got, "Wrote new/empty: 0 bytes, hash ") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := done(t, r, "edit", "path", "src/a.go", "old", "package a\n", "new", ""); err != nil || !strings.HasPrefix(got, "Replaced 1 place in src/a.go: 0 bytes") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := done(t, r, "edit", "path", "src/b.go", "old", "x", "new", "y"); err == nil || !strings.Contains(err.Error(), `did you mean "src/a.go"?`) {
		t.Errorf("%q, %v", got, err)
	}
	if p, known, err := r.Preview(t.Context(), "read", plain("path", filepath.Join(home, "notes.org"))); err != nil || !known ||
		!slices.Equal(p.Effects, []string{"it reads " + filepath.Join(home, "notes.org"), "it changes nothing"}) {
		t.Errorf("%v, %v, %v", p, known, err)
	}
	// Who is asked sees what is read, and not the name of a tool.
	if p, _, err := r.Preview(t.Context(), "read", plain("path", "notes.org", "from", int64(3), "limit", int64(9))); err != nil ||
		!strings.HasSuffix(p.Summary, "notes.org") || !strings.HasPrefix(p.Summary, "Read ") || p.Text != filepath.Join(home, "notes.org")+", 9 lines from line 3" {
		t.Errorf("%q, %v", p, err)
	}
	for tool, c := range map[string]struct {
		call          protocol.Object
		summary, does string
	}{
		"glob": {plain("pattern", "*.go", "path", "src"), "Look for *.go in ", "it reads the names of the files in " + filepath.Join(home, "src")},
		"grep": {plain("pattern", "Tod(o|ay)", "path", "notes.org"), "Search ", "it reads " + filepath.Join(home, "notes.org")},
	} {
		if p, _, err := r.Preview(t.Context(), tool, c.call); err != nil || !strings.HasPrefix(p.Summary, c.summary) || p.Effects[0] != c.does || p.Text != "" || p.File != "" {
			t.Errorf("%s: %+v, %v", tool, p, err)
		}
	}
	resolved, _, err := r.Reach(t.Context(), "edit", plain("path", "notes.org", "old", "One", "new", "1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "notes.org"), []byte("* One\n  two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Stale(t.Context(), "edit", resolved); err == nil || err.Error() != "notes.org is not the text that this was proposed for" {
		t.Errorf("the person who decides about it is told %v", err)
	}
	if _, _, err := r.Reach(t.Context(), "edit", resolved); err != nil {
		t.Errorf("who makes the call is told %v", err)
	}
	if got, _, err := r.Call(t.Context(), "edit", resolved); protocol.ToolErrorOf(err).Code != protocol.ToolChanged {
		t.Errorf("an edit of what is another text since it was judged: %q, %v", got, err)
	}
	if got, err := done(t, r, "edit", "path", "notes.org", "old", "two\n", "new", "two"); err != nil {
		t.Errorf("%q, %v", got, err)
	}
	text, err := done(t, r, "read", "path", "notes.org")
	if err != nil {
		t.Fatal(err)
	}
	_, hash, _ := strings.Cut(text, "hash ")
	hash, _, _ = strings.Cut(hash, ",")
	if got, err := done(t, r, "write", "path", "notes.org", "content", "\ufeffnew\r\n", "hash", hash); err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := os.ReadFile(filepath.Join(home, "notes.org")); err != nil || string(got) != "\ufeffnew\r\n" {
		t.Errorf("%q, %v", got, err)
	}
	path := filepath.Join(home, "notes.org")
	for _, c := range []struct {
		name, want string
		arguments  protocol.Object
	}{
		{"edit", "<nil>", plain("path", path, "old", "new", "new", "old")},
		{"edit", "the text that this would replace is not in notes.org exactly once", plain("path", path, "old", "newer", "new", "x")},
		{"edit", "there is no file " + path + "x", plain("path", path+"x", "old", "newer", "new", "x", "hash", hash)},
		{"write", "notes.org is not the text that this was proposed for", plain("path", path, "content", "x", "hash", hash)},
		{"write", path + " is there already", plain("path", path, "content", "x")},
		{"write", "<nil>", plain("path", path+"x", "content", "x")},
		{"read", "<nil>", plain("path", path)},
	} {
		if err := r.Stale(t.Context(), c.name, c.arguments); !strings.HasPrefix(fmt.Sprint(err), c.want) {
			t.Errorf("the person is told of %s %v: %v", c.name, c.arguments, err)
		}
	}
	if err := r.Check(t.Context(), "write", plain("path", filepath.Join(home, "notes.org"), "content", "x", "hash", hash)); protocol.ToolErrorOf(err).Code != protocol.ToolChanged {
		t.Errorf("an old hash: %v", err)
	}
}

// TestFilesWhereOthersListen checks that nothing of the person's files is shown in a conversation
// with others.
func TestFilesWhereOthersListen(t *testing.T) {
	r, _ := shed(t)
	for alone, code := range map[bool]protocol.ToolErrorCode{true: "", false: protocol.ToolRefused} {
		r := r.For(&tool.Caller{Conversation: tool.Conversation{Alone: alone, Name: "a group"}})
		for name, arguments := range map[string]protocol.Object{
			"read": plain("path", "notes.org"), "glob": plain("pattern", "*"), "grep": plain("pattern", "x"),
			"edit": plain("path", "notes.org", "old", "x", "new", "y"), "write": plain("path", "x", "content", "y"),
		} {
			_, _, err := r.Reach(t.Context(), name, arguments)
			if (err != nil) == alone || err != nil && protocol.ToolErrorOf(err).Code != code {
				t.Errorf("%s, alone %v: %v", name, alone, err)
			}
		}
	}
}

// TestRetry checks that a reading call is made again only while its error promises that it may
// succeed. For any other call the model decides.
func TestRetry(t *testing.T) {
	for name, c := range map[string]struct {
		failures, made int
		retryable      bool
		effect         protocol.ToolEffect
	}{
		"goes through": {2, 3, true, protocol.ToolReads}, "never": {9, 3, true, protocol.ToolReads},
		"not to be made again": {9, 1, false, protocol.ToolReads}, "keeps": {9, 1, true, protocol.ToolKeeps}, "acts": {9, 1, true, ""},
	} {
		made := 0
		r, err := tool.NewRegistry(tool.New(tool.Definition[struct{}]{Name: "it", Manual: "Does.", Effect: c.effect, Perform: func(context.Context, *tool.Caller, struct{}) (string, error) {
			if made++; made <= c.failures {
				err := protocol.ToolErrorf(protocol.ToolTimeout, "it was slow")
				err.Retryable = c.retryable
				return "", err
			}
			return "done", nil
		}}))
		if err != nil {
			t.Fatal(err)
		}
		text, _, err := r.Call(t.Context(), "it", nil)
		if err != nil && (protocol.ToolErrorOf(err).Code != protocol.ToolTimeout || strings.Contains(err.Error(), "tried 3 times") != (c.made == 3)) {
			t.Errorf("%s: %v", name, err)
		}
		if made != c.made || (err == nil) != (text == "done") || (err == nil) != (c.failures < c.made) {
			t.Errorf("%s: made %d times: %q, %v", name, made, text, err)
		}
	}
}

// TestRetryAfter checks that the pause that a server demands is respected, unless it exceeds the
// limit, and that slow calls are not repeated beyond the limit.
func TestRetryAfter(t *testing.T) {
	for name, c := range map[string]struct {
		takes, after, over time.Duration
		made               int
	}{
		"at once": {0, 0, 500 * time.Millisecond, 3}, "soon": {0, 2 * time.Second, 4 * time.Second, 3}, "too late": {0, time.Minute, 0, 1},
		"slow": {30 * time.Second, 0, time.Minute + 100*time.Millisecond, 2}, "slower": {time.Minute, 0, time.Minute, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			made, began := 0, time.Now()
			r, err := tool.NewRegistry(tool.New(tool.Definition[struct{}]{Name: "it", Manual: "Does.", Effect: protocol.ToolReads, Perform: func(context.Context, *tool.Caller, struct{}) (string, error) {
				made++
				time.Sleep(c.takes)
				err := protocol.ToolErrorf(protocol.ToolBusy, "there is no room")
				err.Retryable, err.After = true, c.after
				return "", err
			}}))
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = r.Call(t.Context(), "it", nil)
			if over := time.Since(began); err == nil || made != c.made || over != c.over || strings.Contains(err.Error(), "tried") != (made > 1) {
				t.Errorf("%s: made %d times in %v: %v", name, made, over, err)
			}
		})
	}
}

// secretive is an Org text of which lines 3 to 5 and 8 are withheld from every model.
const secretive = "* Garden\nTwo cans of water.\n** Safe :noagent:\nThe key is CANARY-1 under a can of water.\n*** Deep\n** Roses\nwater\n* TODO Mine :@private:\n* Trip\r\nlast water"

func TestWithheldIsNotShown(t *testing.T) {
	r, home := shed(t)
	for name, text := range map[string]string{"plan.org": secretive, "plan.org~": secretive, "all.org": "x\n#+FILETAGS: :noagent:\nCANARY-2 water\n"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := ""
	call := func(name string, pairs ...any) string {
		text, err := done(t, r, name, pairs...)
		all += text
		if err != nil {
			all += err.Error()
			return err.Error()
		}
		return text
	}
	text := call("read", "path", "plan.org")
	_, body, _ := strings.Cut(text, "\n")
	want := "[1 of these lines end in \\r\\n, which is not shown.]\n" +
		"     1\t* Garden\n     2\tTwo cans of water.\n[Lines 3 to 5 are not shown: what is tagged :noagent:, :@private: or :crypt:.]\n     6\t** Roses\n     7\twater\n[Line 8 is not shown: it is tagged :noagent:, :@private: or :crypt:.]\n     9\t* Trip\n    10\tlast water\n[The last line has no newline at its end.]\n"
	if body != want || !strings.Contains(text, "lines 1 to 10 of 10") {
		t.Errorf("read:\n%s", text)
	}
	// It begins in a withheld part, and goes no further than asked.
	if text := call("read", "path", "plan.org", "from", int64(4), "limit", int64(1)); !strings.HasSuffix(text, "lines 4 to 6 of 10\n[Lines 4 to 5 are not shown: what is tagged :noagent:, :@private: or :crypt:.]\n     6\t** Roses\n[More follows: go on with :from 7.]\n") {
		t.Errorf("read from within:\n%s", text)
	}
	if text := call("read", "path", "all.org"); !strings.HasSuffix(text, "lines 1 to 3 of 3\n[Lines 1 to 3 are not shown: what is tagged :noagent:, :@private: or :crypt:.]\n") {
		t.Errorf("a file that is kept:\n%s", text)
	}
	call("read", "path", "plan.org~")
	for _, around := range []int64{0, 10} {
		if text := call("grep", "pattern", "water", "context", around); !strings.HasPrefix(text, "6 lines in the") || !strings.Contains(text, "plan.org:7:water\n") ||
			!strings.Contains(text, "[What is tagged :noagent:, :@private: or :crypt: was not searched, in 3 files.]") {
			t.Errorf("grep:\n%s", text)
		}
	}
	call("grep", "pattern", "Deep|CANARY", "path", "plan.org")
	call("edit", "path", "plan.org", "old", "the key is under a can of", "new", "x")
	if strings.Contains(all, "CANARY") || strings.Contains(all, "Safe") || strings.Contains(all, "Deep") {
		t.Errorf("what is kept is told:\n%s", all)
	}
}

func TestWithheldIsNotChanged(t *testing.T) {
	r, home := shed(t)
	path := filepath.Join(home, "plan.org")
	put := func() {
		if err := os.WriteFile(path, []byte(secretive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	now := func() string {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	put()
	hash := files.Hash([]byte(secretive))
	for _, c := range []struct {
		says  string
		pairs []any
	}{
		{"not in what is shown of", []any{"old", "CANARY-1", "new", "x"}},
		{"not in what is shown of", []any{"old", "nowhere", "new", "x"}},
		{"not in what is shown of", []any{"old", "Two cans of water.\n** Safe :noagent:\n", "new", "x"}},
		{"only the person does that", []any{"old", "Two cans of water.\n", "new", "Two cans of water."}},
		{"only the person does that", []any{"old", "** Roses", "new", "*** Roses"}},
		{"only the person does that", []any{"old", "* Trip", "new", "#+FILETAGS: :noagent:\n* Trip"}},
		{"more than once, in the lines 2, 7, 10:", []any{"old", "water", "new", "x"}},
	} {
		if _, err := done(t, r, "edit", append([]any{"path", "plan.org"}, c.pairs...)...); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%v: %v", c.pairs, err)
		}
	}
	for _, content := range []string{"* Garden\n", secretive + "\n* TODO Mine :@private:\n", strings.Replace(secretive, "CANARY", "canary", 1)} {
		if _, err := done(t, r, "write", "path", "plan.org", "hash", hash, "content", content); err == nil || !strings.Contains(err.Error(), "only the person does that") {
			t.Errorf("write %q: %v", content, err)
		}
	}
	if now() != secretive {
		t.Fatalf("it was changed: %q", now())
	}
	// Everything else is changed, and no other byte.
	if text, err := done(t, r, "edit", "path", "plan.org", "old", "water", "new", "wine", "all", true); err != nil || !strings.Contains(text, "3 places") {
		t.Errorf("%s %v", text, err)
	}
	if want := strings.Replace(strings.ReplaceAll(secretive, "water", "wine"), "can of wine", "can of water", 1); now() != want {
		t.Errorf("%q, want %q", now(), want)
	}
}
