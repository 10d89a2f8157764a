package builtin

import (
	"fmt"
	"regexp"
	"strings"

	"org-agent/kernel/text"
)

// shownItems is how many skills or tools an answer lists.
const shownItems = 12

// titles are the names of the topics in announcements of "next".
var titles = map[topic]string{
	topicChat:   "how this conversation works",
	topicUndo:   "taking an answer back",
	topicSkills: "the skills that are loaded",
	topicAuthor: "writing a skill of your own",
	topicSafety: "what keeps you safe",
	topicLog:    "reading the log",
	topicModel:  "adding a language model",
}

// answers are the replies that depend only on the topic, as Org: a heading, then the text.
var answers = map[topic]string{
	topicSelf: `* A guide, not a mind
I am the built-in guide of org-agent, and *not a language model*. I look for a few phrases in what you write and answer from what I know about this program. Nothing you write to me leaves this machine.

What is real is everything around me: the streaming, the nesting, the undo, the skills and the checks are the same that a model will go through. Ask =how do I add a model= when you want one.`,

	topicChat: `* How this conversation works
It is an Org document, and it is yours.

- Write below the last heading, then =C-c C-c=. The first line becomes the heading.
- Answers are nested under their question. =TAB= folds them, as everywhere in Org.
- You can edit any of it at any time, also while I write; your own text is never changed.
- Messages sent while an answer is on its way are answered one after the other.

It is kept in a file. Close Emacs, open =M-x org-agent-chat= again, and you are back here.`,

	topicUndo: `* One undo takes a whole answer back
Try it on this answer, once it is complete: leave the draft empty and type =C-/=.

1. What you typed in the meantime is undone first, as you typed it.
2. Then the answer goes, all of it at once.

The document is yours to change; what was said stays in the journal all the same, and is what a model is sent.`,

	topicStop: `* Stopping
- =C-c C-k= stops an answer that is being written. What has come of it stays, marked as stopped; =C-c C-c= on its heading has it answered again.
- =M-x org-agent-stop=, or =org-agent stop= in a terminal, ends the kernel: the program behind this buffer. Leaving Emacs alone does not end it.

It starts again by itself when you send a message, and nothing that you sent is lost.`,

	topicAuthor: `* A skill is an Org note
Write prose for yourself and Lisp blocks for the agent, in a note in the =skills= directory of your home. A skill says when it is wanted and what it answers:

#+begin_src lisp
(defun coffee-wanted (context)
  (let ((payload (getf context :payload)))
    (and (eq (getf payload :sensor) :chat-message)
         (search "coffee" (string-downcase (getf payload :text))))))

(defun answer-coffee (context)
  '(:type :request :target :emacs :action :insert-at-end
    :text "* Coffee\nIs ready when you are."))

(defskill :coffee
  :priority 60
  :trigger #'coffee-wanted
  :neuro #'answer-coffee)
#+end_src

Save it and it is live; then send me the word =coffee=. If it has a fault, =org-agent skill check FILE= shows the line, and the old version keeps running.`,

	topicSafety: `* Nothing acts on its own word
A model, or I, can only *propose*. Every reply has to pass three gates:

1. It must be exactly one readable proposal. Text in a strange form is mended or shown as text, never run.
2. The skill that asked looks at it and may change or refuse it.
3. The kernel's policy allows, refuses, or asks you. It decides by rules, not by what the text claims.

Text that comes in is made harmless before you see it, so that =C-c C-c= in an answer runs nothing. What waits for you is listed by =org-agent approve list=.`,

	topicPrivacy: `* Where your words go
To me: nowhere. I am part of the program on this machine and use no network.

Once you add a model, your messages and the conversation before them go to the address that you configured, and to no other. A model that runs on your own machine keeps them there.

What was said is kept in the conversation's file, which is yours, and in the journal, which only your user can read.`,

	topicLog: `* Everything is in the log
Each message, model call, proposal, verdict and error is written down.

- =M-x org-agent-log= shows it in Emacs.
- =org-agent log -f= follows it in a terminal.
- =org-agent status= says whether the kernel runs, where, and which model answers.

Try it with this very message: you will see the skill that took it, my reply as a proposal, and the receipt for the text that you are reading.`,

	topicModel: `* Adding a language model
Any server that speaks OpenAI's protocol will do.

1. *On your own machine*: install Ollama and fetch a model, for example with =ollama pull llama3.2=. A server that runs here is found without any settings.
2. *A service*: set these before the kernel starts.

#+begin_src sh
export ORG_AGENT_LLM_BASE_URL=https://api.openai.com/v1
export ORG_AGENT_LLM_API_KEY=your-key
export ORG_AGENT_LLM_MODEL=the-model
#+end_src

Then =org-agent stop=, and start Emacs from that shell. If the server has only one model, leave =ORG_AGENT_LLM_MODEL= out. ~ORG_AGENT_LLM=builtin~ brings me back.`,

	topicOrg: `* What an answer can be made of
Answers are Org, so they can hold more than prose:

| what      | how it looks        |
|-----------+---------------------|
| emphasis  | *bold* and =code=   |
| a list    | - like this         |
| a link    | [[https://orgmode.org][the Org manual]] |

#+begin_src emacs-lisp
(message "source keeps its colours and its indentation")
#+end_src

- [X] boxes can be ticked
- [ ] =TAB= on the heading folds all of this`,

	topicThanks: `* You are welcome
It cost nothing: no tokens, no network.`,

	topicBye: `* Until next time
The conversation is kept. =M-x org-agent-chat= opens it again where you left it.`,

	topicDone: `* That was the whole tour
You have seen what I can show you. The rest is better with a model: ask =how do I add a model=. Or write a skill; that needs none.`,
}

// answerTo returns the answer to the last message, as Org text whose first line is a heading.
func answerTo(messages []string, about About) string {
	last := ""
	if len(messages) > 0 {
		last = messages[len(messages)-1]
	}
	if text, ok := fenced(last); ok {
		return describeText(text)
	}
	now := resolve(messages)
	var answer string
	switch now {
	case topicHello:
		answer = hello(about, len(messages) > 1)
	case topicHelp:
		answer = help
	case topicSkills:
		answer = skills(about)
	case topicTools:
		answer = tools(about)
	case topicVersion:
		answer = version(about)
	case topicRepeat:
		return "* You said\n" + textToRepeat(last)
	case topicRecall:
		return recall(messages)
	case topicQuestion, topicUnknown:
		return unknown(last, now)
	default:
		answer = answers[now]
	}
	if now == topicAuthor && about.Home != "" {
		answer = strings.Replace(answer, "the =skills= directory of your home", "="+about.Home+"/skills=", 1)
	}
	return answer + invitation(messages, now)
}

// invitation returns a sentence that says what "next" would show, if a tour may begin or continue.
func invitation(messages []string, now topic) string {
	switch now {
	case topicStop, topicBye, topicDone, topicVersion:
		return ""
	}
	next := nextTopic(messages)
	if next == topicDone {
		return ""
	}
	return fmt.Sprintf("\n\nSay =next= for %s.", titles[next])
}

func hello(about About, again bool) string {
	if again {
		return "* Hello again\nI am still here, and still no language model. Say =help= for what I can answer."
	}
	number := ""
	if n := len(about.Skills); n > 0 {
		number = fmt.Sprintf(" It has %s.", count(n, "skill"))
	}
	return "* Hello, and welcome\n" +
		"You are talking to org-agent's built-in guide. I am not a language model: I know this program and little else, but I answer at once, without a network and without a key." + number + `

- =what can you do= is a good first question
- =how do I add a model= gets you a real conversation partner`
}

const help = `* What you can ask me
I know this program. Ask in your own words about:

- *the chat*: how it works, undo, how to stop an answer
- *skills*: which there are, how to write one
- *tools*: which there are
- *safety*: what is checked, where your words go
- *the log*: how to see what was done and why
- *a model*: how to add one, to talk about everything else

=repeat= followed by a text gives it back, and =show me an example= shows what Org can do here.`

func skills(about About) string {
	if len(about.Texts) > 0 {
		name := about.Texts[0].Name
		texts := about.Texts
		about.Texts = nil
		return skills(about) + fmt.Sprintf("\n\nSome are text that a model reads when it is wanted:\n\n%s\n\nSay =use the skill %s= and I show it.", list(texts), name)
	}
	if len(about.Skills) == 0 {
		return "* No skills are loaded\n=org-agent skill list= says why: each note that could not be loaded is named there with its fault."
	}
	return fmt.Sprintf("* %s loaded\nA skill is an Org note that decides what happens with a message.\n\n%s\n\n=org-agent skill list= shows them with their files.",
		capital(count(len(about.Skills), "skill")), list(about.Skills))
}

func tools(about About) string {
	if len(about.Tools) == 0 {
		return "* No tools yet\nThis installation has none, so nothing but text can come of a message. When tools are there, a model may ask for them; the policy then allows, refuses, or asks you."
	}
	return fmt.Sprintf("* %s to offer\nA model may ask for these. The policy allows, refuses, or asks you.\n\n%s",
		capital(count(len(about.Tools), "tool")), list(about.Tools))
}

func version(about About) string {
	if about.Version == "" {
		return "* The version\nI was not told which one this is; =org-agent version= knows."
	}
	return fmt.Sprintf("* org-agent %s\n=org-agent version= and =org-agent status= say it too.", about.Version)
}

// list returns the items as an Org list.
func list(items []Item) string {
	var b strings.Builder
	for i, item := range items {
		if i == shownItems {
			fmt.Fprintf(&b, "- and %d more", len(items)-i)
			break
		}
		fmt.Fprintf(&b, "- =%s=", item.Name)
		if item.Does != "" {
			fmt.Fprintf(&b, ": %s", text.Line(item.Does))
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func count(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func capital(s string) string {
	return strings.ToUpper(s[:1]) + s[1:]
}

// command matches the words that ask for a text to be repeated.
var command = regexp.MustCompile(`(?is)^\W*(?:please\s+)?(?:repeat|echo|say)\b(?:\s+after\s+me)?[\s:,]*`)

// textToRepeat returns the text that a message asks to have repeated.
func textToRepeat(message string) string {
	return strings.TrimSpace(command.ReplaceAllString(message, ""))
}

// recall answers a question about the conversation before the message.
func recall(messages []string) string {
	if len(messages) < 2 {
		return "* Nothing before this\nThis is the first message of the conversation that I am shown."
	}
	return fmt.Sprintf("* You said it here before\nThe message before this one began: “%s”\n\nI am shown the conversation with every message, as a model would be.",
		text.Clip(text.Line(messages[len(messages)-2]), 60))
}

// unknown returns the answer to a message that matches no topic.
func unknown(message string, about topic) string {
	what := "I have nothing to say to that"
	if about == topicQuestion {
		what = "I do not know"
	}
	answer := fmt.Sprintf("* %s\nYour message arrived", what)
	if words := text.Clip(text.Line(message), 60); words != "" {
		answer += ": “" + words + "”."
	} else {
		answer += " without words."
	}
	return answer + ` I am not a language model, though: I look for phrases about this program, and there was none that I know.

- =help= lists what I can answer
- =how do I add a model= gets you one that can answer this; what you wrote stays in the conversation, so you can send it again then`
}
