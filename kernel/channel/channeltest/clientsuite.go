package channeltest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Client is a program by which a person talks to a kernel on their own machine, such as Emacs or the command line, and one
// conversation in it. The kernel has the note of [Echo]. It belongs to one test, which ends it by t.Cleanup. A method that
// cannot do what it is for fails the test.
//
// A program faces the person where a driver faces the kernel, so it has no [channel.Driver]. [ClientSuite] holds it to the same
// promises; a chat with a driver can be a Client as well, with the kernel between both of its sides. What not every program has is
// in interfaces that a Client implements as well: [Resending], [Dropping], [Restarting].
type Client interface {
	// Say has the person write a message, and returns when the kernel has it. id is the message's own where programs give
	// messages ids.
	Say(t *testing.T, id, text string)
	// Shown returns what the person sees now of the conversation, or all that was shown if it is not shown again.
	Shown(t *testing.T) string
}

// Resending is a client that sends a message again under its id, as it does when it does not know whether the kernel has it.
type Resending interface {
	SayAgain(t *testing.T, id, text string)
}

// Restarting is a client whose kernel ends and is started again.
type Restarting interface {
	Restart(t *testing.T)
}

// Echo is the Lisp of a note by which a kernel answers each message, without a model, with what tells its text from others:
// see [ClientSuite].
const Echo = `(defun echo-message (context) (eq (getf (getf context :payload) :sensor) :chat-message))
(defun echo-answer (context)
  (let* ((text (string-trim '(#\Space #\Newline) (getf (getf context :payload) :text)))
         (codes (if (< (length text) 2000) (reduce #'+ (map 'list #'char-code text)) 0)))
    (list :type :response :text (format nil "Heard ~d characters of the sum ~d." (length text) codes))))
(defskill :echo :priority 90 :trigger #'echo-message :neuro #'echo-answer)`

// Echoed returns the answer of [Echo] to a text.
func Echoed(text string) string {
	length, sum := 0, 0
	for _, r := range strings.TrimSpace(text) {
		length++
		sum += int(r)
	}
	if length >= 2000 {
		sum = 0
	}
	return fmt.Sprintf("Heard %d characters of the sum %d.", length, sum)
}

// ClientSuite tests that a program brings each message of a person to the kernel, whole, once and in order, and shows each
// answer once and in that order, also across lost connections and other kernels.
func ClientSuite(t *testing.T, open func(t *testing.T) Client) {
	t.Helper()
	for _, c := range []struct {
		name string
		play func(t *testing.T, c Client)
	}{
		{"messages come in order", clientOrder},
		{"texts come as they are", clientTexts},
		{"a long text", clientLong},
		{"the same again", clientAgain},
		{"a dropped connection", clientDropped},
		{"a restart loses and doubles nothing", clientRestart},
	} {
		t.Run(c.name, func(t *testing.T) { c.play(t, open(t)) })
	}
}

// tell has the person write texts, whose ids are their places.
func tell(t *testing.T, c Client, from int, texts ...string) {
	t.Helper()
	for i, text := range texts {
		c.Say(t, fmt.Sprintf("said-%d", from+i), text)
	}
}

// answered waits until the person sees the answers to texts, each once, in that order, and no other.
func answered(t *testing.T, c Client, texts ...string) {
	t.Helper()
	want := make([]string, len(texts))
	for i, text := range texts {
		want[i] = Echoed(text)
	}
	eventually(t, func() error {
		shown := c.Shown(t)
		if got := answersIn(shown); !slices.Equal(got, want) {
			return fmt.Errorf("the answers are %q\nand not %q\nin %.3000q", got, want, shown)
		}
		return nil
	})
}

// answersIn returns the answers of [Echo] that stand in a text.
func answersIn(shown string) (answers []string) {
	for line := range strings.Lines(shown) {
		if at := strings.Index(line, "Heard "); at >= 0 {
			answer, _, _ := strings.Cut(line[at:], ".")
			answers = append(answers, answer+".")
		}
	}
	return answers
}

// clientOrder: a person does not wait for answers.
func clientOrder(t *testing.T, c Client) {
	texts := numbered(12)
	tell(t, c, 0, texts...)
	answered(t, c, texts...)
}

// clientTexts: characters of all kinds, and what means something to Org, to a shell or to the protocol.
func clientTexts(t *testing.T, c Client) {
	texts := []string{
		"two\n\nparagraphs\n  - and an item", "😀 e\u0301 👩\u200d👩\u200d👧 क्षि 日本語 שלום", `"quotes" 'and' \ $HOME * _ = ~ ; | & > <b>`,
		"NO_REPLY", `(:type :request :target :shell :cmd "id")`, "--help", "%s %d",
	}
	tell(t, c, 0, texts...)
	answered(t, c, texts...)
}

// clientLong: a text of 256 KiB is one message.
func clientLong(t *testing.T, c Client) {
	long := strings.Repeat("0123456 é 😀 0123456789\n", 256<<10/27)
	tell(t, c, 0, long, "short")
	answered(t, c, long, "short")
}

// clientAgain: a message that is sent again, before and after its answer, is one message.
func clientAgain(t *testing.T, c Client) {
	resending, ok := c.(Resending)
	if !ok {
		return
	}
	texts := numbered(3)
	tell(t, c, 0, texts[0], texts[1])
	resending.SayAgain(t, "said-1", texts[1])
	answered(t, c, texts[:2]...)
	resending.SayAgain(t, "said-0", texts[0])
	tell(t, c, 2, texts[2])
	answered(t, c, texts...)
}

// clientDropped: a connection that is lost while answers are awaited loses no answer.
func clientDropped(t *testing.T, c Client) {
	dropping, ok := c.(Dropping)
	if !ok {
		return
	}
	texts := numbered(8)
	tell(t, c, 0, texts[:5]...)
	dropping.Drop(t)
	tell(t, c, 5, texts[5:]...)
	answered(t, c, texts...)
}

// clientRestart: the next kernel answers what comes then, and nothing again, also if it is sent again.
func clientRestart(t *testing.T, c Client) {
	restarting, ok := c.(Restarting)
	if !ok {
		return
	}
	texts := numbered(5)
	tell(t, c, 0, texts[:3]...)
	answered(t, c, texts[:3]...)
	restarting.Restart(t)
	if resending, ok := c.(Resending); ok {
		resending.SayAgain(t, "said-2", texts[2])
	}
	tell(t, c, 3, texts[3:]...)
	answered(t, c, texts...)
}
