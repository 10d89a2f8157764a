package skill_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/chewxy/sexp"
	"pgregory.net/rapid"

	"org-agent/kernel/plist"
	"org-agent/kernel/skill"
	"org-agent/skills"
)

// shippedRegistry returns a registry with the shipped notes.
func shippedRegistry(t testing.TB, homeDirectory string) *skill.Registry {
	t.Helper()
	r := skill.New(skill.Config{Specs: kernelSpecs, Shipped: skills.Notes(), Home: homeDirectory})
	r.Load(t.Context())
	return r
}

// TestShippedNotes checks that the shipped notes are live, which means that their tests pass, and
// have no warnings.
func TestShippedNotes(t *testing.T) {
	r := shippedRegistry(t, "")
	for _, s := range r.Statuses() {
		if s.State != skill.Live || len(s.Diagnostics) > 0 || s.Title == "" || s.Description == "" || s.Version == "" {
			t.Errorf("%+v", s)
		}
	}
	best, faults := r.Current().Best(t.Context(), chatMessage(t, "Hello"))
	if best == nil || best.Name != "chat" || best.Priority != 50 || faults != nil {
		t.Errorf("a message is answered by %v, %v", best, faults)
	}
	heartbeat := list(t, `(:type :event :payload (:sensor :heartbeat))`)
	if best, _ := r.Current().Best(t.Context(), heartbeat); best != nil {
		t.Errorf("a heartbeat is answered by %s", best.Name)
	}
	if text := r.Current().Augments(t.Context()); !strings.HasPrefix(text, "You are called Org-agent.\nYou work for") {
		t.Errorf("the persona is %q", text)
	}
}

// TestShippedCriteria checks that every heading under Success Criteria has a test, and that every
// test's criterion is a heading.
func TestShippedCriteria(t *testing.T) {
	for _, name := range []string{"chat.org", "identity.org", "days.org", "howto.org", "summarise.org", "rewrite.org", "capture.org", "review.org", "morning.org", "weekly-review.org", "gardener.org", "heartbeat.org"} {
		source, err := fs.ReadFile(skills.Notes(), name)
		if err != nil {
			t.Fatal(err)
		}
		n, err := skill.LoadNote(t.Context(), name, source, skill.Options{Specs: kernelSpecs})
		if err != nil {
			t.Fatal(err)
		}
		results, err := n.Test(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		proven := map[string]bool{}
		for _, result := range results {
			proven[result.Criterion] = len(result.Faults) == 0
		}
		headings := 0
		for line := range strings.Lines(string(source)) {
			if criterion, ok := strings.CutPrefix(strings.TrimSpace(line), "** DONE "); ok {
				headings++
				if !proven[criterion] {
					t.Errorf("%s: nothing proves %q", name, criterion)
				}
			}
		}
		if headings != len(proven) {
			t.Errorf("%s has %d criteria, and tests for %d", name, headings, len(proven))
		}
	}
}

// TestPersonaCanBeReplaced checks that a copy of the persona in the home changes it.
func TestPersonaCanBeReplaced(t *testing.T) {
	source, err := fs.ReadFile(skills.Notes(), "identity.org")
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	h.write("identity.org", []byte(strings.Replace(string(source), `:name "Org-agent"`, `:name "Ada"`, 1)))
	if text := shippedRegistry(t, h.dir).Current().Augments(t.Context()); !strings.HasPrefix(text, "You are called Ada.") {
		t.Errorf("the persona is %q", text)
	}
}

// tree draws any data: plists, lists of odd length, dotted pairs, atoms.
func tree(depth int) *rapid.Generator[sexp.Sexp] {
	atoms := []*rapid.Generator[sexp.Sexp]{
		rapid.Custom(func(t *rapid.T) sexp.Sexp {
			return plist.Keyword(rapid.SampledFrom([]string{"type", "target", "action", "payload", "text", "buffer", "chat-id", "room-id", "cmd",
				"request", "response", "log", "emacs", "telegram", "matrix", "tool", "shell", "insert-at-end", "channel", "sensor", "chat-message"}).Draw(t, "keyword"))
		}),
		rapid.Custom(func(t *rapid.T) sexp.Sexp {
			return plist.String(rapid.OneOf(rapid.String(), rapid.Just("*org-agent-chat*"), rapid.Just("*org-agent-chat: x*")).Draw(t, "string"))
		}),
		rapid.Custom(func(t *rapid.T) sexp.Sexp { return plist.Int(rapid.Int64().Draw(t, "int")) }),
		rapid.Just[sexp.Sexp](plist.Float(1.5)), rapid.Just[sexp.Sexp](sexp.List(nil)), rapid.Just[sexp.Sexp](plist.T), rapid.Just[sexp.Sexp](sexp.Symbol("word")),
	}
	if depth == 0 {
		return rapid.OneOf(atoms...)
	}
	return rapid.OneOf(append(atoms,
		rapid.Custom(func(t *rapid.T) sexp.Sexp {
			return sexp.List(rapid.SliceOfN(tree(depth-1), 1, 8).Draw(t, "list"))
		}),
		rapid.Custom(func(t *rapid.T) sexp.Sexp {
			return plist.Cons(tree(depth-1).Draw(t, "car"), rapid.OneOf(atoms...).Draw(t, "cdr"))
		}))...)
}

// proposal draws proposals, most of them close to valid ones.
func proposal() *rapid.Generator[sexp.List] {
	return rapid.Custom(func(t *rapid.T) sexp.List {
		var l sexp.List
		for _, field := range []struct {
			key    string
			values []string
		}{
			{"type", []string{"request", "response", "log", "event"}},
			{"target", []string{"emacs", "telegram", "matrix", "tool", "shell", "system"}},
			{"action", []string{"insert-at-end", "eval"}},
		} {
			if rapid.IntRange(0, 9).Draw(t, "has "+field.key) > 0 {
				l = append(l, plist.Keyword(field.key), plist.Keyword(rapid.SampledFrom(field.values).Draw(t, field.key)))
			}
		}
		for _, key := range []string{"text", "buffer", "chat-id", "room-id", "cmd", "payload"} {
			if rapid.Bool().Draw(t, "has "+key) {
				l = append(l, plist.Keyword(key), tree(2).Draw(t, key))
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
			l = append(l, tree(2).Draw(t, "last"))
		}
		return l
	})
}

// TestChatVerifiesEverything checks that the chat note lets any proposal through or says in words
// why not, and never signals an error. A proposal that it lets through names a conversation.
func TestChatVerifiesEverything(t *testing.T) {
	k := shippedRegistry(t, "").Current().Named("chat")
	// This proposal passes, so the test does not only see refusals.
	good := `(:type :request :target :emacs :action :insert-at-end :buffer "*org-agent-chat*" :text "Hello")`
	proposed, err := plist.Read(good)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := k.Symbolic(t.Context(), proposed.(sexp.List), nil); err != nil || !plist.Equal(got, proposed) {
		t.Errorf("%s becomes %v, %v", good, got, err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		action := proposal().Draw(rt, "action")
		context, _ := tree(3).Draw(rt, "context").(sexp.List)
		got, err := k.Symbolic(t.Context(), action, context)
		if err != nil {
			rt.Fatalf("it signals for %s: %v", plist.Print(action), err)
		}
		if plist.Equal(got, action) {
			if target, _ := plist.KeywordValue(action, "target"); target == "system" {
				if kind, _ := plist.KeywordValue(action, "type"); kind == "request" {
					rt.Errorf("it lets %s through", plist.Print(action))
				}
			}
			return
		}
		text, _ := plist.Text(got, "text")
		if !strings.HasPrefix(text, "* Nothing was done\n") || strings.Contains(text, "(") {
			rt.Errorf("for %s it says %q", plist.Print(action), text)
		}
		if again, err := k.Symbolic(t.Context(), got, context); err != nil || !plist.Equal(again, got) {
			rt.Errorf("its own answer does not pass: %s, %v", plist.Print(again), err)
		}
	})
}

// TestChatAnswersEverything checks that the chat note asks or answers for any event.
func TestChatAnswersEverything(t *testing.T) {
	k := shippedRegistry(t, "").Current().Named("chat")
	m := &model{reply: "R"}
	rapid.Check(t, func(rt *rapid.T) {
		event, _ := tree(3).Draw(rt, "event").(sexp.List)
		if rapid.Bool().Draw(rt, "message") {
			event = sexp.List{plist.Keyword("payload"), sexp.List{
				plist.Keyword("text"), plist.String(rapid.String().Draw(rt, "text")),
				plist.Keyword("channel"), tree(0).Draw(rt, "channel"), plist.Keyword("chat-id"), tree(1).Draw(rt, "id")}}
		}
		out, err := k.Neuro(t.Context(), event, m)
		if err != nil || out.Kind != skill.Reply && out.Kind != skill.Proposal {
			rt.Errorf("%v %v for %s", out.Kind, err, plist.Print(event))
		}
	})
}
