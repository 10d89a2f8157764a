//go:build peers

package daemon_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/channel/channeltest/homeserver"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// TestConversationIsCarried carries one conversation from Emacs to a room of a real homeserver and back: with files and
// reactions both ways, and with a kernel that is started again in the middle. Nothing is lost, doubled or misdelivered.
func TestConversationIsCarried(t *testing.T) {
	programs := os.Getenv("ORG_AGENT_PEERS")
	if programs == "" {
		t.Fatal("ORG_AGENT_PEERS names no directory of programs: run this by \"make test-peers\"")
	}
	server := homeserver.Start(t, programs)
	agent := server.Register(t, "agent")
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "I bought a boat", Reply: "Noted."},
		llmtest.Exchange{Match: `:text "hello`, Reply: "Hello, Ada."},
		llmtest.Exchange{Match: `:text "what did I buy`, Reply: "A *boat*."},
		llmtest.Exchange{Match: `:text "one`, Reply: "first"},
		llmtest.Exchange{Match: `:text "two`, Reply: "second"},
		llmtest.Exchange{Match: `:text "three`, Reply: "third"},
		llmtest.Exchange{Match: "and where is it", Reply: "At sea."})
	// A message with a file is answered with the file, and a reaction to it: no model is needed to try that.
	in.write(t, "skills/mine.org", deciding(`(defun message (c) (getf (getf c :payload) :message))
(defun think (c)
  (cond ((not (getf (message c) :attachments)) (ask-neuro (words c)))
        ((null (getf c :results))
         (list :type :request :target :tool :action :call :tool "react" :args (list :message-id (getf (message c) :message-id) :emoji "👍")))
        ((null (cdr (getf c :results)))
         (list :type :request :target :tool :action :call :tool "send" :args (list :text "Here it is:" :attachments (list (getf (first (getf (message c) :attachments)) :path)))))
        (t '(:type :response :text "Done."))))
(defskill :mine :priority 90 :trigger #'chosen :neuro #'think)`))
	ada := server.Meet(t, "ada", agent)
	in.variables["AGENT_TOKEN"] = agent.Token
	in.write(t, "config.org", "* Channels\n** matrix\n:PROPERTIES:\n:URL: "+server.URL+"\n:TOKEN: env:AGENT_TOKEN\n:END:\n")
	in.write(t, "channels.org", talkers("matrix", ada.UserID))
	k := in.start(t)
	emacs := in.editor(t, rpctest.Config{})
	if got := ask(t, emacs, "q1", "I bought a boat"); got.state != "answered" {
		t.Fatalf("the turn ended %+v", got)
	}

	// The room has a conversation of its own, until the person carries theirs into it.
	ada.Say("hello")
	hears(t, ada, "Hello, Ada.")
	if err := emacs.Call(within(t), protocol.MethodChatMove, protocol.ChatMoveParams{Channel: "matrix", Chat: ada.Room(), Session: protocol.MainSession}, nil); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	ada.Say("what did I buy?")
	hears(t, ada, "Hello, Ada.", "A boat.")
	t.Logf("a round trip took %v", time.Since(began).Round(time.Millisecond))
	requests := model.Requests()
	if last := fmt.Sprint(requests[len(requests)-1]); !strings.Contains(last, "I bought a boat") || strings.Contains(last, "Hello, Ada.") {
		t.Errorf("the model is sent %s", last)
	}

	// Files and reactions both ways.
	content := bytes.Repeat([]byte("%PDF-1.7 a letter\n"), 1000)
	letter := ada.SendFile("letter.pdf", "application/pdf", content)
	hears(t, ada, "Hello, Ada.", "A boat.", "Here it is:", "*", "Done.")
	sent := ada.Sees("m.room.message")
	if got := ada.Download(sent[3].Content.URL); !bytes.Equal(got, content) {
		t.Errorf("the file that comes back has %d bytes, and not %d", len(got), len(content))
	}
	if reactions := ada.Sees("m.reaction"); len(reactions) != 1 || reactions[0].Content.Relates.ID != letter || reactions[0].Content.Relates.Key != "👍" {
		t.Errorf("Ada sees the reactions %+v", reactions)
	}
	answer := sent[1].ID
	ada.React(answer, "🎉")
	until(t, "Ada's reaction", func() bool {
		j := in.journal(t)
		defer j.Close()
		m, err := j.Chats.Message(t.Context(), "matrix", answer)
		return err == nil && len(m.Reactions) == 1 && m.Reactions[0] == journal.Reaction{Sender: ada.UserID, Emoji: "🎉"}
	})
	see(t, emacs, "the whole conversation", func() bool {
		text := emacs.Text()
		return strings.Contains(text, "what did I buy?") && strings.Contains(text, "letter.pdf") && strings.Contains(text, "Done.")
	})

	// The kernel ends, Ada goes on, and it is started again.
	emacs.Close()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{"one", "two", "three"} {
		ada.Say(said)
	}
	in.start(t)
	whole := []string{"Hello, Ada.", "A boat.", "Here it is:", "*", "Done.", "first", "second", "third"}
	hears(t, ada, whole...)

	// Back to Emacs: what is said there is answered there, with all that was said in the room.
	emacs = in.editor(t, rpctest.Config{})
	if got := ask(t, emacs, "q2", "and where is it?"); got.state != "answered" {
		t.Fatalf("the turn ended %+v", got)
	}
	requests = model.Requests()
	if last := fmt.Sprint(requests[len(requests)-1]); !strings.Contains(last, "I bought a boat") || !strings.Contains(last, "what did I buy") || !strings.Contains(last, "third") {
		t.Errorf("the model is sent %s", last)
	}
	text := emacs.Text()
	for _, said := range []string{"I bought a boat", "Noted.", "what did I buy?", "letter.pdf", "Done.", "first", "second", "third", "At sea."} {
		if !strings.Contains(text, said) {
			t.Errorf("the conversation in Emacs lacks %q:\n%s", said, text)
		}
	}
	time.Sleep(500 * time.Millisecond) // for what must not come
	hears(t, ada, whole...)
	if items := inboxOf(t, emacs); len(items) != 0 {
		t.Errorf("the inbox has %+v", items)
	}
}

// hears waits until a person sees these messages, and no others. A star stands for any.
func hears(t *testing.T, p *homeserver.Person, want ...string) {
	t.Helper()
	var got []string
	until(t, "what is said in the room", func() bool {
		got = nil
		for i, m := range p.Sees("m.room.message") {
			if i < len(want) && want[i] == "*" {
				got = append(got, "*")
				continue
			}
			got = append(got, m.Content.Body)
		}
		return len(got) >= len(want)
	})
	if !slices.Equal(got, want) {
		t.Fatalf("heard is %q, and not %q", got, want)
	}
}
