package skill_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/plist"
	"org-agent/kernel/skill"
)

// commanding returns a note whose skill answers the command with text.
func commanding(skill, command, text string) []byte {
	return note(fmt.Sprintf(`(defskill :%s :commands ((%q "Does %s.")) :neuro (lambda (c) (declare (ignore c)) %q))`, skill, command, command, text))
}

func command(t testing.TB, name, text string) string {
	t.Helper()
	return fmt.Sprintf("(:type :event :payload (:sensor :user-command :command %s :text %s :channel :emacs))",
		plist.Print(plist.String(name)), plist.Print(plist.String(text)))
}

func TestCommandDeclarations(t *testing.T) {
	tests := []struct{ commands, want string }{
		{`(("sum-up" "Sums up." :wants (:buffer)))`, "sum-up Sums up. [buffer]"},
		{`'(("sum-up" "Sums up." :wants :buffer))`, "sum-up Sums up. [buffer]"},
		{`(list (list :Sum-Up (format nil "Sums~%  up.")))`, "sum-up Sums up. []"},
		{`((sum-up "Sums up.") ("b2" "B"   :wants (:agenda :buffer)))`, "sum-up Sums up. [], b2 B [agenda buffer]"},
		{`nil`, ""},
		{`"sum-up"`, "not a list of"},
		{`("sum-up" "Sums up.")`, "each is a list"},
		{`(("sum-up"))`, "each is a list"},
		{`(("sum-up" "x" :wants))`, "each is a list"},
		{`(("sum up" "x"))`, `such as "sum-up"`},
		{`(("a/b" "x"))`, `such as "a-b"`},
		{`(("æøå" "x"))`, `such as "my-command"`},
		{`(("a
b" "x"))`, `such as "a-b"`},
		{`(("` + strings.Repeat("a", 33) + `" "x"))`, "32 at most"},
		{`((5 "x"))`, "the name of a command"},
		{`(("a" 5))`, "not said in a string"},
		{`(("a" "  "))`, "is not said"},
		{`(("a" "x" :want (:buffer)))`, "only :wants"},
		{`(("a" "x" :wants (:files)))`, "a list of :agenda and :buffer"},
		{`(("a" "x" :wants (:a :b :c)))`, "a list of :agenda and :buffer"},
		{`(("a" "x") ("A" "y"))`, "name /a twice"},
		{`(let ((l (list (list "a" "x")))) (setf (cdr l) l) l)`, "not a list of"},
	}
	for _, test := range tests {
		n, err := skill.LoadNote(t.Context(), "a.org", note("(defskill :s :commands "+test.commands+" :neuro (lambda (c) c nil) :trigger (lambda (c) c nil))"), skill.Options{})
		got := ""
		if err != nil {
			got = err.Error()
			if !strings.Contains(got, test.want) || test.want == "" || !strings.HasPrefix(got, "a.org:4:1: error: ") {
				t.Errorf("%s: %s", test.commands, got)
			}
			continue
		}
		for i, c := range n.Skills()[0].Commands {
			if i > 0 {
				got += ", "
			}
			got += fmt.Sprint(c.Name, " ", c.Description, " ", c.Wants)
		}
		if got != test.want {
			t.Errorf("%s: %q", test.commands, got)
		}
	}
	for lines, want := range map[string]string{
		`(defskill :s :commands (("a" "x")))`: "no :neuro function",
		`(defskill :s :commands (("a" "x")) :neuro (lambda (c) c)) (defskill :t :commands (("a" "y")) :neuro (lambda (c) c))`: "that of the skill s already",
	} {
		if _, err := skill.LoadNote(t.Context(), "a.org", note(lines), skill.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", lines, err)
		}
	}
}

// TestCommandsBelongToOneNote checks that a command is answered without triggers, and that of two
// notes with one command the home's has it, while the other says so and stays live.
func TestCommandsBelongToOneNote(t *testing.T) {
	h := newHome(t)
	h.write("greedy.org", note(`(defskill :greedy :priority 1000 :trigger (lambda (c) (getf (getf c :payload) :text)) :neuro (lambda (c) (declare (ignore c)) "greedy"))`))
	h.write("b.org", commanding("b", "look", "home"))
	h.write("c.org", commanding("c", "look", "too late"))
	r := skill.New(skill.Config{Home: h.dir, Shipped: shipped(map[string][]byte{"a.org": commanding("a", "look", "shipped"), "d.org": commanding("d", "listen", "heard")})})
	r.Load(t.Context())
	for name, want := range map[string]string{"look": "b", "listen": "d", "lok": "greedy"} {
		if best, _ := r.Current().Best(t.Context(), list(t, command(t, name, "x"))); best == nil || best.Name != want {
			t.Errorf("/%s is answered by %v", name, best)
		}
	}
	var names []string
	for _, c := range r.Current().Commands() {
		names = append(names, c.Name+"="+c.Skill)
	}
	if got := strings.Join(names, " "); got != "listen=d look=b" {
		t.Errorf("the commands are %s", got)
	}
	for _, s := range r.Statuses() {
		diagnostics := fmt.Sprint(s.Diagnostics)
		if doubled := s.Skill == "a" || s.Skill == "c"; s.State != skill.Live || doubled != strings.Contains(diagnostics, "4:1: warning: the command /look is that of "+h.dir) {
			t.Errorf("%s is %s: %s", s.Skill, s.State, diagnostics)
		}
	}
	h.write("b.org", commanding("b", "see", "home"))
	r.Load(t.Context())
	if c, _ := r.Current().Command("look"); c.Skill != "c" {
		t.Errorf("/look is now %+v", c)
	}
}

func TestSplitCommand(t *testing.T) {
	commandName := regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	for text, want := range map[string]string{
		"/look": "look|", "/Look  at me\nnow ": "look|at me\nnow", "/look\nx": "look|x", "/a-1\tx": "a-1|x",
		"": "", "/": "", "/ look": "", "look": "", " /look": "", "//": "", "/home/me is full": "", "/a_b": "", "/æ": "",
		"/" + strings.Repeat("a", 33): "",
	} {
		name, arguments, ok := skill.SplitCommand(text)
		if got := name + "|" + arguments; ok && got != want || !ok && want != "" {
			t.Errorf("%q: %q %v", text, got, ok)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if name, _, ok := skill.SplitCommand(rapid.String().Draw(t, "text")); ok && !commandName.MatchString(name) {
			t.Errorf("a command %q", name)
		}
	})
}

// TestCommandsInTests checks that in tests a string that begins with one of the note's commands is
// that command.
func TestCommandsInTests(t *testing.T) {
	source := append(note(`(defskill :s :priority 9 :trigger (lambda (c) (eq (getf (getf c :payload) :sensor) :chat-message))`,
		`  :neuro (lambda (c) (list :type :response :text (format nil "message ~a" (getf (getf c :payload) :text)))))`,
		`(defskill :t :commands (("look" "Looks."))`,
		`  :neuro (lambda (c) (list :type :response :text (format nil "~a of ~a" (getf (getf c :payload) :text) (getf (getf c :payload) :command)))))`),
		`
#+begin_src lisp :test yes
(deftest commands
  (proposes "/look there" '(:text "there of look"))
  (proposes "/LOOK" '(:text " of look"))
  (proposes "/lok there" '(:text "message /lok there"))
  (proposes '(:sensor :user-command :command "look" :text "x") '(:text "x of look"))
  (proposes '(:sensor :user-command :command :look :text "x") '(:text "x of LOOK"))
  (proposes '(:sensor :user-command :command "other" :text "x") nil))
#+end_src
`...)
	n, err := skill.LoadNote(t.Context(), "a.org", source, skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	results, err := n.Test(t.Context())
	if err != nil || len(results) != 1 || len(results[0].Faults) > 0 {
		t.Errorf("%+v, %v", results, err)
	}
}
