package skill_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"org-agent/kernel/skill"
	"org-agent/skills"
)

func BenchmarkLoadChat(b *testing.B) {
	source, err := fs.ReadFile(skills.Notes(), "chat.org")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := skill.LoadNote(b.Context(), "chat.org", source, skill.Options{Specs: kernelSpecs}); err != nil {
			b.Fatal(err)
		}
	}
}

// smallNote returns a note of the size that a person writes: prose around the functions of
// kernel/lisp's benchmarks, each in a block of its own.
func smallNote(b *testing.B) []byte {
	code, err := os.ReadFile("../lisp/testdata/chat.lisp")
	if err != nil {
		b.Fatal(err)
	}
	var note strings.Builder
	note.WriteString("#+TITLE: Greet\n#+DESCRIPTION: Answers what a person says.\n\n* Purpose\n")
	prose := strings.Repeat("A person says a word, and gets one back: never two, and *none* that the room does not allow.\n", 4)
	note.WriteString(prose + "\n* Success Criteria\n** TODO It answers\n** TODO It refuses what the room does not allow\n\n* Build\n")
	for form := range strings.SplitSeq(string(code), "\n\n(def") {
		if note.Len() > 0 && !strings.HasPrefix(form, ";") {
			form = "(def" + form
		}
		note.WriteString("** A function\n" + prose + "#+begin_src lisp\n" + strings.TrimSpace(form) + "\n#+end_src\n\n")
	}
	return []byte(note.String())
}

// BenchmarkLoadNote measures all that is done to a note before it may be published: its Org text is
// scanned, its blocks are tangled, read, compiled and evaluated in a new environment, the names
// that they use are checked, and its trigger is probed.
func BenchmarkLoadNote(b *testing.B) {
	source := smallNote(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := skill.LoadNote(b.Context(), "greet.org", source, skill.Options{Specs: kernelSpecs}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoadAndTestChat(b *testing.B) {
	for b.Loop() {
		skill.New(skill.Config{Specs: kernelSpecs, Shipped: skills.Notes()}).Load(b.Context())
	}
}

func BenchmarkChatVerify(b *testing.B) {
	k := shippedRegistry(b, "").Current().Named("chat")
	action := list(b, `(:type :request :target :emacs :action :insert-at-end :buffer "*org-agent-chat*" :text "* Heading\nSome words of an answer.")`)
	event := chatMessage(b, "Hello")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Preview(b.Context(), action, event); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChatNeuro(b *testing.B) {
	k := shippedRegistry(b, "").Current().Named("chat")
	event := chatMessage(b, "Which notes mention Samarkand?")
	m := &model{reply: "R"}
	b.ReportAllocs()
	for b.Loop() {
		m.questions = m.questions[:0]
		if _, err := k.Neuro(b.Context(), event, m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBest(b *testing.B) {
	set := shippedRegistry(b, "").Current()
	event := chatMessage(b, "Hello")
	b.ReportAllocs()
	for b.Loop() {
		set.Best(b.Context(), event)
	}
}

// BenchmarkThousandNotes loads a home of a thousand notes, each with the shipped chat
// note's code, with and without its tests.
func BenchmarkThousandNotes(b *testing.B) {
	source, err := fs.ReadFile(skills.Notes(), "chat.org")
	if err != nil {
		b.Fatal(err)
	}
	for name, source := range map[string][]byte{
		"tested":   source,
		"untested": bytes.ReplaceAll(source, []byte(":test yes"), []byte(":tangle no")),
	} {
		b.Run(name, func(b *testing.B) {
			h := newHome(b)
			for i := range 1000 {
				h.write(fmt.Sprintf("n%d.org", i), renamed(source, fmt.Sprintf("n%d", i)))
			}
			for b.Loop() {
				r := skill.New(skill.Config{Home: h.dir, Specs: kernelSpecs})
				r.Load(b.Context())
				if got := len(r.Current().Skills()); got != 1000 {
					b.Fatalf("%d skills", got)
				}
			}
		})
	}
}

// BenchmarkOneOfAThousand makes one changed note of a thousand live.
func BenchmarkOneOfAThousand(b *testing.B) {
	h := newHome(b)
	for i := range 1000 {
		h.write(fmt.Sprintf("n%d.org", i), answers(fmt.Sprintf("n%d", i), "x"))
	}
	r := skill.New(skill.Config{Home: h.dir, Specs: kernelSpecs})
	r.Load(b.Context())
	for i := 0; b.Loop(); i++ {
		h.write("n500.org", answers("n500", fmt.Sprint(i)))
		r.CatchUp(b.Context())
	}
}

// renamed gives the chat note's skill another name.
func renamed(source []byte, name string) []byte {
	return bytes.Replace(source, []byte("(defskill :chat"), []byte("(defskill :"+name), 1)
}
