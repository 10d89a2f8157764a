package daemon_test

import (
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// The tag that an Emacs announces for tasks is held from then on, in answers, in what is kept, and where a model would set
// it. It is by the next kernel too, in a file that no Emacs keeps, and so is the tag of config.org.
func TestTagOfTasksIsHeld(t *testing.T) {
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "^plan", Reply: insertion(`* Plan :robot:\n** TODO Tidy :x:Robot:\nSoon.\n** TODO Dust :mine:`), Times: -1},
		llmtest.Exchange{Match: "^keep", Reply: calling("memory_save", `:title "The samovar" :text "It is in the attic." :tags ("robot" "home") :lasting t`).Reply, Times: 1},
		llmtest.Exchange{Match: "^tag", Reply: calling("org_edit", `:file "plan.org" :heading "Roses" :tags ("Robot")`).Reply, Times: 1},
		llmtest.Exchange{Reply: insertion("* Done"), Times: -1})
	in.write(t, "plan.org", "* TODO Roses\n")
	k := in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "plan it")
	if !strings.Contains(e.Text(), " :robot:agent:\n") || !strings.Contains(e.Text(), "Tidy :x:Robot:\n") {
		t.Fatalf("a tag that nobody chose is not left as it is:\n%s", e.Text())
	}
	watch := func(tag string) error {
		return e.Call(within(t), protocol.MethodScheduleWatch, protocol.ScheduleWatchParams{Tag: tag}, &protocol.Empty{})
	}
	for _, tag := range []string{"two words", ":robot:", "a-b"} {
		if err := watch(tag); protocol.ErrorCode(err) != protocol.CodeInvalidParams || !strings.Contains(err.Error(), "is no tag: letters, digits, _, @, # and % make one") {
			t.Errorf("the tag %q: %v", tag, err)
		}
	}
	if err := watch("robot"); err != nil {
		t.Fatal(err)
	}
	isHeld := func(what, text string) {
		t.Helper()
		if strings.Contains(text, "obot:") || strings.Count(text, "obot\u200b:") != 2 {
			t.Errorf("%s: the tag is not held in\n%s", what, text)
		}
	}
	before := len(e.Text())
	ask(t, e, "q2", "plan it again")
	isHeld("an answer", e.Text()[before:])
	ask(t, e, "q3", "keep it")
	if text := in.read(t, "MEMORY.org"); !strings.Contains(text, "* The samovar :home:\n") {
		t.Errorf("kept is\n%s", text)
	}
	ask(t, e, "q4", "tag it")
	if _, lasts := systems(model); !strings.Contains(lasts[len(lasts)-1], "only the person gives an entry that tag") || in.read(t, "plan.org") != "* TODO Roses\n" {
		t.Errorf("the model was told %q, and the file is\n%s", lasts[len(lasts)-1], in.read(t, "plan.org"))
	}
	e.Close()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	in.write(t, "config.org", "* Settings\n:PROPERTIES:\n:TASK_TAG: mine\n:END:\n")
	before = len(in.conversation(t, "main"))
	in.start(t)
	shell := in.editor(t, rpctest.Config{Name: "cli"})
	ask(t, shell, "q5", "plan it once more")
	text := in.conversation(t, "main")[before:]
	isHeld("the file of the next kernel", text)
	if !strings.Contains(text, "Dust :mine\u200b:\n") {
		t.Errorf("the tag of config.org is not held in\n%s", text)
	}
}
