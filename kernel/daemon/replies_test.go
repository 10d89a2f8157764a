package daemon_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/rpc/rpctest"
)

// insertion is a reply as the shipped note asks for it.
func insertion(text string) string {
	return `(:type :request :target :emacs :action :insert-at-end :buffer "*org-agent-chat*" :text "` + text + `")`
}

// Every shape of reply is an answer in the end, and no plist is ever shown raw.
func TestReplies(t *testing.T) {
	tests := []struct{ name, reply, want string }{
		{"flat", insertion("Hello"), "** Hello\n"},
		{"nested", `(:type :request :target :emacs :payload (:action :insert-at-end :text "Hello"))`, "** Hello\n"},
		{"response", `(:type :response :text "Hello")`, "** Hello\n"},
		{"upper case", `(:TYPE :REQUEST :TARGET :EMACS :ACTION :INSERT-AT-END :TEXT "Hello")`, "** Hello\n"},
		{"heading and body", insertion(`* Two of them\nBoth are here.`), "** Two of them\nBoth are here.\n"},
		{"fence", "Sure:\n```lisp\n" + insertion("Hello") + "\n```\n", "** Hello\n"},
		{"think", "<think>secret (:type</think>\n" + insertion("Hello"), "** Hello\n"},
		{"think never opened", "secret</think>" + insertion("Hello"), "** Hello\n"},
		{"json", `{"type": "request", "target": "emacs", "action": "insert-at-end", "text": "Hello"}`, "** Hello\n"},
		{"bare", `(type request target emacs action insert-at-end text "Hello")`, "** Hello\n"},
		{"quoted", `'(:type :response :text "Hello")`, "** Hello\n"},
		{"list call", `(list :type :response :text "Hello")`, "** Hello\n"},
		{"embedded", "I will say:\n\n" + insertion("Hello") + "\n\nThat is all.", "** Hello\n"},
		{"prose", "Just **prose**.", "** Just *prose*.\n"},
		{"prose of two lines", "First.\n\nSecond.", "** First.\nSecond.\n"},
		{"two proposals", insertion("First") + "\n" + insertion("Second"), "** First\n"},
		{"unescaped quotes", `(:type :request :target :emacs :action :insert-at-end :text "He said "hello" to me")`, "** He said \"hello\" to me\n"},
		{"closers missing", `(:type :request :target :emacs :payload (:action :insert-at-end :text "Hello"`, "** Hello\n"},
		{"forbidden fields", `(:type :response :approved t :verified t :policy nil :origin :user :text "Hello")`, "** Hello\n"},
		{"a quotation mark and a character of four bytes", insertion(`* \"Grüße\" 😀\nIn \"ß\" and \\.`), "** \"Grüße\" 😀\nIn \"ß\" and \\.\n"},
		{"a block's danger is inert", insertion(`* Look\n#+TBLFM: $1='(shell-command \"x\")`), "** Look\n#\u200b+TBLFM: $1='(shell-command \"x\")\n"},
	}
	for _, test := range tests {
		for _, chunk := range []llmtest.Exchange{{Reply: test.reply}, {Reply: test.reply, Framing: llmtest.Framing{ChunkBytes: 1}}} {
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				in := newInstance(t, chunk)
				in.start(t)
				e := in.editor(t, rpctest.Config{})
				if got := ask(t, e, "q1", "hi"); got.state != "answered" || got.notice != "" {
					t.Errorf("the turn ended %+v", got)
				}
				wantBare(t, e, "* hi\n"+test.want+"* ")
				converged(t, in, e)
			})
		}
	}
}

// What cannot be used is asked for once more.
func TestUnusableReplyIsAskedForAgain(t *testing.T) {
	for _, unusable := range []string{
		"", "  \n", `(:type :request :target :nowhere :text "x")`, `(:type :event :sensor :chat-message :text "x")`,
		`(:type :request :target :emacs :action :insert-at-end)`, `(:type :response :text 5)`, `(:type :response :text "a" :text "b")`,
		`(:type :request :target :shell :cmd "rm -rf`,
	} {
		in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: unusable}, llmtest.Exchange{Reply: insertion("Better")})
		in.start(t)
		e := in.editor(t, rpctest.Config{})
		if got := ask(t, e, "q1", "hi"); got.state != "answered" {
			t.Errorf("%q: the turn ended %+v", unusable, got)
		}
		wantBare(t, e, "* hi\n** Better\n* ")
		requests := model.Requests()
		if len(requests) != 2 {
			t.Fatalf("%q: the model was asked %d times", unusable, len(requests))
		}
		messages := requests[1].Messages()
		if last := messages[len(messages)-1].Content; !strings.Contains(last, "could not be used") || !strings.Contains(last, "(:type :request") {
			t.Errorf("%q: the model was told %q", unusable, last)
		}
	}
}

// The second unusable reply ends the turn, in words.
func TestTwiceUnusableReplyIsSaidInWords(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: `(:type :request :target :nowhere)`, Times: 2}, llmtest.Exchange{Reply: insertion("Now")})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	got := ask(t, e, "q1", "hi")
	if got.state != "failed" || !strings.Contains(got.notice, "twice") {
		t.Errorf("the turn ended %+v", got)
	}
	text := e.Text()
	if !strings.Contains(text, "** No answer") || !strings.Contains(text, ":STATE:    failed") || regexp.MustCompile(`\(:`).MatchString(bare(text)) {
		t.Errorf("the buffer is\n%s", text)
	}
	converged(t, in, e)
}

// A reply of a megabyte arrives whole, and is shown while it comes.
func TestLongReply(t *testing.T) {
	var written strings.Builder // lines that are equal would be a model's loop
	for i := range 16_000 {
		fmt.Fprintf(&written, `Line %d of some sixty characters with \"quotes\" and Grüße in it.\n`, i)
	}
	lines := written.String()
	in := newInstance(t, llmtest.Exchange{Reply: insertion(`* Long\n` + lines), Chunk: 4000})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	if got := ask(t, e, "q1", "hi"); got.state != "answered" {
		t.Fatalf("the turn ended %+v", got)
	}
	plain := strings.NewReplacer(`\"`, `"`, `\n`, "\n").Replace(lines)
	wantBare(t, e, "* hi\n** Long\n"+plain+"* ")
	converged(t, in, e)
}

// DESIGN's headings: one below the question, whatever its level.
func TestHeadingsStandBelowTheirQuestion(t *testing.T) {
	reply := insertion(`* Answer\ntext\n** Part\n* Next\n*** Deep`)
	for level := range 4 {
		q := strings.Repeat("*", level+1)
		in := newInstance(t, llmtest.Exchange{Reply: reply})
		in.start(t)
		e := in.editor(t, rpctest.Config{Text: outline(level) + q + " hi\n:PROPERTIES:\n:ID: q1\n:END:\n* "})
		sendAt(t, e, "q1", "hi", level+1)
		see(t, e, "the answer", func() bool { return len(e.Acts()) == 1 })
		want := bare(outline(level)) + q + " hi\n" + q + "* Answer\ntext\n" + q + "** Part\n" + q + "** Next\n" + q + "**** Deep\n* "
		wantBare(t, e, want)
	}
}
