package skill_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"org-agent/kernel/skill"
)

// grantHome is a person's directory with a home in it, whose notes may be granted capabilities.
type grantHome struct {
	t          testing.TB
	user, home string
	registry   *skill.Registry
	network    skill.Network
}

func newGrantHome(t testing.TB) *grantHome {
	t.Helper()
	return newNetworkHome(t, nil)
}

// newNetworkHome is newGrantHome with a network.
func newNetworkHome(t testing.TB, network skill.Network) *grantHome {
	t.Helper()
	user, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &grantHome{t: t, user: user, home: filepath.Join(user, "home"), network: network}
	h.put("home/skills/.keep", "")
	h.put("notes/a.txt", "the text")
	h.put("state/token", "secret")
	h.registry = skill.New(skill.Config{Home: filepath.Join(h.home, "skills"), Shipped: fstest.MapFS{}, Grants: h.grants(), Specs: kernelSpecs})
	return h
}

func (h *grantHome) grants() *skill.Grants {
	under := func(path, directory string) bool {
		return strings.HasPrefix(path+"/", filepath.Join(h.user, directory)+"/")
	}
	return skill.NewGrants(skill.GrantsConfig{
		File: filepath.Join(h.home, "policy.org"), Home: h.home, User: h.user, Secrets: func() []string { return []string{"HIDDEN"} },
		Protected: func(path string) bool {
			return under(path, "home/skills") || filepath.Base(path) == "policy.org"
		},
		Closed:  func(path string) bool { return under(path, "state") },
		Network: h.network,
		Now:     func() time.Time { return time.Date(2026, 11, 22, 4, 5, 0, 0, time.UTC) },
	})
}

func (h *grantHome) put(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.user, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		h.t.Fatal(err)
	}
}

func (h *grantHome) get(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.user, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

func (h *grantHome) note(name string) string { return filepath.Join(h.home, "skills", name) }

// asker returns a note that asks for capabilities, and whose skill answers with the value of a
// form.
func asker(name, asks, form string) string {
	return "#+TITLE: A note\n#+CAPABILITIES: " + asks + "\n\nProse.\n\n#+begin_src lisp\n" +
		"(defskill :" + name + " :trigger (lambda (c) (eq (getf (getf c :payload) :sensor) :chat-message))\n" +
		"  :neuro (lambda (c) (declare (ignorable c)) " + form + "))\n#+end_src\n"
}

// says returns the answer of the only skill, or why there is none.
func (h *grantHome) says() string {
	h.t.Helper()
	skills := h.registry.Current().Skills()
	if len(skills) != 1 {
		return fmt.Sprintf("%d skills: %v", len(skills), h.registry.Statuses())
	}
	return answerOf(h.t, skills[0])
}

func answerOf(t testing.TB, k *skill.Skill) string {
	t.Helper()
	out, err := k.Neuro(t.Context(), chatMessage(t, "x"), nil)
	if err != nil {
		return err.Error()
	}
	return out.Text
}

// grant grants a note what it asks for, as a person does who agrees to what is shown.
func (h *grantHome) grant(name string) {
	h.t.Helper()
	shown, err := h.registry.Requests(h.note(name))
	if err == nil {
		shown, err = h.registry.Grant(h.t.Context(), h.note(name), shown.Blocks, shown.Names())
	}
	if err != nil || !shown.Granted {
		h.t.Fatalf("grant %s: %+v, %v", name, shown, err)
	}
}

func (h *grantHome) wantSays(what, want string) {
	h.t.Helper()
	if got := h.says(); !strings.Contains(got, want) {
		h.t.Errorf("%s: it says %q, want %q", what, got, want)
	}
}

// TestGrant checks the life of a grant: missing, granted, unaffected by a change of prose, and lost
// by any other change.
func TestGrant(t *testing.T) {
	h := newGrantHome(t)
	ctx := t.Context()
	const form = `(uiop:read-file-string "~/notes/a.txt")`
	source := asker("reader", "read:~/notes", form)
	load := func() { t.Helper(); h.registry.CatchUp(ctx) }
	status := func() skill.Status { return h.registry.Statuses()[0] }
	h.put("home/skills/reader.org", source)
	load()
	h.wantSays("never granted", `uiop:read-file-string: read:~/notes is not granted (never granted); "org-agent skill grant reader" grants it`)
	if s := status(); s.State != skill.Live || s.Granted != nil || s.Withheld != "never granted" || len(s.Diagnostics) != 1 || !s.Diagnostics[0].Warning || s.Diagnostics[0].Line != 2 {
		t.Errorf("never granted: %+v", s)
	}
	h.grant("reader.org")
	h.wantSays("granted", "the text")
	if s := status(); s.Withheld != "" || len(s.Granted) != 1 || s.Granted[0] != "read:"+h.user+"/notes" || s.Since != "2026-11-22" || len(s.Diagnostics) != 0 {
		t.Errorf("granted: %+v", s)
	}
	h.put("home/skills/reader.org", strings.Replace(source, "Prose.", "Other prose, and more of it.\n* A heading\n", 1))
	load()
	h.wantSays("prose was edited", "the text")
	old := h.registry.Current().Skills()[0]
	h.put("home/skills/reader.org", asker("reader", "read:~/notes", "(concatenate 'string "+form+` "!")`))
	load()
	h.wantSays("a block was edited", "read:~/notes is not granted (blocks changed since 2026-11-22)")
	if got := answerOf(t, old); got != "the text" {
		t.Errorf("the version that was granted says %q", got)
	}
	h.grant("reader.org")
	h.wantSays("granted again", "the text!")
	if got := answerOf(t, old); !strings.Contains(got, "blocks changed since") {
		t.Errorf("the version that is granted no more says %q", got)
	}
	h.put("home/skills/reader.org", asker("reader", "read:~/notes env:LANG", "(concatenate 'string "+form+` "!")`))
	load()
	h.wantSays("the list was edited", "(capabilities changed since 2026-11-22)")
	h.put("home/skills/reader.org", asker("reader", "read:~/notes", "(concatenate 'string "+form+` "!")`))
	load()
	h.wantSays("all is as it was", "the text!")
	if _, err := h.registry.Revoke(ctx, h.note("reader.org")); err != nil {
		t.Fatal(err)
	}
	h.wantSays("revoked", "(never granted)")
	if strings.Contains(h.get("home/policy.org"), "reader.org") {
		t.Errorf("the row is still there:\n%s", h.get("home/policy.org"))
	}
}

// TestGrantIsOfAPath checks that the same text at another path has no grant, however it came there.
func TestGrantIsOfAPath(t *testing.T) {
	for name, move := range map[string]func(h *grantHome) error{
		"renamed": func(h *grantHome) error { return os.Rename(h.note("reader.org"), h.note("other.org")) },
		"copied": func(h *grantHome) error {
			h.put("home/skills/other.org", h.get("home/skills/reader.org"))
			return os.Remove(h.note("reader.org"))
		},
		"linked from outside": func(h *grantHome) error {
			return errors.Join(os.Rename(h.note("reader.org"), filepath.Join(h.user, "reader.org")),
				os.Symlink(filepath.Join(h.user, "reader.org"), h.note("reader.org")))
		},
		"hard link": func(h *grantHome) error {
			return errors.Join(os.Link(h.note("reader.org"), h.note("other.org")), os.Remove(h.note("reader.org")))
		},
		"directory moved": func(h *grantHome) error {
			return errors.Join(os.Rename(filepath.Join(h.home, "skills"), filepath.Join(h.user, "elsewhere")),
				os.Symlink(filepath.Join(h.user, "elsewhere"), filepath.Join(h.home, "skills")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newGrantHome(t)
			h.put("home/skills/reader.org", asker("reader", "read:~/notes", `(uiop:read-file-string "~/notes/a.txt")`))
			h.grant("reader.org")
			h.wantSays("granted", "the text")
			if err := move(h); err != nil {
				t.Fatal(err)
			}
			h.registry.Load(t.Context())
			h.wantSays(name, "(never granted)")
		})
	}
}

// TestGrantAfterChange checks that a person grants exactly what they agreed to, or nothing.
func TestGrantAfterChange(t *testing.T) {
	h := newGrantHome(t)
	h.put("home/skills/reader.org", asker("reader", "read:~/notes", `(uiop:read-file-string "~/notes/a.txt")`))
	shown, err := h.registry.Requests(h.note("reader.org"))
	if err != nil || shown.Capabilities[0].Meaning != "read the files in "+h.user+"/notes and below" {
		t.Fatal(shown, err)
	}
	if absent := h.registry.Understand("write", "out"); absent.Meaning != "make, change, rename and delete the files in "+h.home+"/out and below (there is no such directory yet)" {
		t.Error(absent)
	}
	refused := func(what string, want error) {
		t.Helper()
		if _, err := h.registry.Grant(t.Context(), h.note("reader.org"), shown.Blocks, shown.Names()); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
		if _, err := os.Stat(filepath.Join(h.home, "policy.org")); err == nil {
			t.Errorf("%s: policy.org was written", what)
		}
	}
	h.put("home/skills/reader.org", asker("reader", "read:~/notes", `(uiop:read-file-string "~/notes/b.txt")`))
	refused("the blocks are others", skill.ErrOtherBlocks)
	h.put("home/skills/reader.org", asker("reader", "read:~", `(uiop:read-file-string "~/notes/a.txt")`))
	refused("the list is another", skill.ErrOtherBlocks)
	h.put("home/skills/reader.org", asker("reader", "net:localhost net:10.0.0.1 exec:ls env:HIDDEN env:MY_API_KEY read:~/state read:/proc write:skills", `"x"`))
	refused("nothing can be granted", skill.ErrNotAsked)
	h.put("home/skills/reader.org", asker("reader", "read:~/notes", `(uiop:read-file-string "~/notes/a.txt")`))
	if err := errors.Join(os.Rename(filepath.Join(h.user, "notes"), filepath.Join(h.user, "mine")), os.Symlink("/etc", filepath.Join(h.user, "notes"))); err != nil {
		t.Fatal(err)
	}
	refused("the directory is another", skill.ErrOtherBlocks)
	for _, file := range []string{filepath.Join(h.user, "notes/a.txt"), "skills/chat.org", "/nowhere.org", h.note("none.org"), h.home} {
		if _, err := h.registry.Requests(file); !errors.Is(err, skill.ErrNoNote) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestReplacedDirectory checks that a link in place of a granted directory leads to
// nothing, neither for a running note nor for one that is loaded anew.
func TestReplacedDirectory(t *testing.T) {
	h := newGrantHome(t)
	h.put("home/skills/reader.org", asker("reader", "read:~/notes", `(uiop:read-file-string "~/notes/a.txt")`))
	h.put("other/a.txt", "other")
	h.grant("reader.org")
	if err := errors.Join(os.Rename(filepath.Join(h.user, "notes"), filepath.Join(h.user, "mine")), os.Symlink(filepath.Join(h.user, "other"), filepath.Join(h.user, "notes"))); err != nil {
		t.Fatal(err)
	}
	h.wantSays("while it runs", "outside of what was granted")
	h.registry.Load(t.Context())
	h.wantSays("loaded anew", "(capabilities changed since 2026-11-22)")
}

// TestPolicyIsFollowed checks that a change of policy.org counts at once, also for running notes.
func TestPolicyIsFollowed(t *testing.T) {
	h := newGrantHome(t)
	policy := filepath.Join(h.home, "policy.org")
	h.put("home/skills/reader.org", asker("reader", "read:~/notes", `(uiop:read-file-string "~/notes/a.txt")`))
	h.grant("reader.org")
	good := h.get("home/policy.org")
	running := h.registry.Current().Skills()[0]
	link := func(target string) error { return errors.Join(os.Remove(policy), os.Symlink(target, policy)) }
	for _, step := range []struct {
		name string
		do   func() error
		want string
	}{
		{"a row is broken", func() error { return os.WriteFile(policy, []byte(good+"| x | y |\n"), 0o644) }, "policy.org:13 is faulty, and voids all grants"},
		{"it is mended", func() error { return os.WriteFile(policy, []byte(good), 0o644) }, "the text"},
		{"it is empty", func() error { return os.WriteFile(policy, nil, 0o644) }, "never granted"},
		{"it is huge", func() error { return os.WriteFile(policy, []byte(good+strings.Repeat("x\n", 1<<20)), 0o644) }, "policy.org:1 is faulty"},
		{"it is not UTF-8", func() error { return os.WriteFile(policy, []byte(good+"\xe4\n"), 0o644) }, "policy.org:1 is faulty"},
		{"it is a pipe", func() error { return errors.Join(os.Remove(policy), syscall.Mkfifo(policy, 0o600)) }, "policy.org:1 is faulty"},
		{"it is a directory", func() error { return errors.Join(os.Remove(policy), os.Mkdir(policy, 0o700)) }, "policy.org:1 is faulty"},
		{"it leads nowhere", func() error { return link("nowhere") }, "policy.org:1 is faulty"},
		{"it leads in a circle", func() error { return link("policy.org") }, "policy.org:1 is faulty"},
		{"it is a link", func() error {
			h.put("dotfiles/policy.org", good)
			return link(filepath.Join(h.user, "dotfiles/policy.org"))
		}, "the text"},
		{"it is gone", func() error { return os.Remove(policy) }, "never granted"},
		{"a person wrote it", func() error {
			row := good[strings.LastIndex(good, "| /"):]
			return os.WriteFile(policy, []byte("* Mine\nWords.\n* COMMENT Grants\n| x |\n* GRANTS\n\n|note|capabilities|blocks|since\n"+
				"#+begin_example\n| broken |\n#+end_example\n| <20> | | | |\n"+strings.ReplaceAll(row, " ", "  ")+"|||||\n* More\n| a | table |\n"), 0o644)
		}, "the text"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(step.name, err)
		}
		h.registry.CatchUp(t.Context())
		h.wantSays(step.name, step.want)
		if got := answerOf(t, running); !strings.Contains(got, step.want) {
			t.Errorf("%s: what runs says %q, want %q", step.name, got, step.want)
		}
		faulty := strings.Contains(step.want, "faulty")
		if ds := h.registry.Grants().Diagnostics(); (len(ds) > 0) != faulty || faulty && ds[0].File != policy {
			t.Errorf("%s: diagnostics %v", step.name, ds)
		}
	}
}

// TestFaultyPolicyIsLeftAlone checks that nothing is written into a faulty table.
func TestFaultyPolicyIsLeftAlone(t *testing.T) {
	h := newGrantHome(t)
	h.put("home/policy.org", "* Grants\n| note | blocks |\n")
	h.put("home/skills/reader.org", asker("reader", "read:~/notes", `"x"`))
	shown, err := h.registry.Requests(h.note("reader.org"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.registry.Grant(t.Context(), h.note("reader.org"), shown.Blocks, shown.Names())
	if err == nil || !strings.Contains(err.Error(), "policy.org:2: ") || h.get("home/policy.org") != "* Grants\n| note | blocks |\n" {
		t.Errorf("%v; the file is\n%s", err, h.get("home/policy.org"))
	}
}

// TestManyGrantsAtOnce checks that no grant is lost, and that the rest of the file stays.
func TestManyGrantsAtOnce(t *testing.T) {
	h := newGrantHome(t)
	h.put("home/policy.org", "* Mine\nWords.\n")
	const many = 12
	for i := range many {
		h.put(fmt.Sprintf("home/skills/n%d.org", i), asker(fmt.Sprintf("n%d", i), "read:~/notes", `"x"`))
	}
	h.registry.Load(t.Context())
	var work sync.WaitGroup
	for i := range many {
		work.Go(func() { h.grant(fmt.Sprintf("n%d.org", i)) })
	}
	work.Wait()
	for _, s := range h.registry.Statuses() {
		if s.Withheld != "" || len(s.Granted) != 1 {
			t.Errorf("%s: %+v", s.File, s)
		}
	}
	text := h.get("home/policy.org")
	if !strings.HasPrefix(text, "* Mine\nWords.\n\n* Grants\n") || strings.Count(text, "\n| /") != many {
		t.Errorf("policy.org is\n%s", text)
	}
	if left, err := filepath.Glob(filepath.Join(h.home, ".policy*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
