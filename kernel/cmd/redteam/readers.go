package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"org-agent/kernel/plist"
)

// filesAndTags has the model call each reader for each file of files.tsv, and looks for the words in all that it is
// sent.
func filesAndTags(t *team, ctx context.Context, c *count) error {
	files := map[string]string{
		"project/tags.setup": "#+filetags: :noagent:\n", "project/plain.org": "* Plain\nwelcome\n", ".org-agent/notes/mine.org": "* Kept :NoAgent:\nCANARYnote\n",
		".org-agent/policy.org": ruleHead + "| reads | ~/project/** | allow | | |\n| reads | ~/project | allow | | |\n| runs in ~/project | cat ** | allow | | |\n| runs in ~/project | grep ** | allow | | |\n| runs in ~/project | head ** | allow | | |\n| runs in ~/project | git ** | allow | | |\n| runs in ~/project | sort ** | allow | | |\n",
	}
	lines, err := t.cases("files.tsv", 2)
	if err != nil {
		return err
	}
	names := []string{"hard.txt", "hardkey", "."}
	for _, line := range lines {
		text, err := strconv.Unquote(line[1])
		if err != nil {
			return fmt.Errorf("files.tsv: %s: %w", line[0], err)
		}
		files["project/"+line[0]] = text
		names = append(names, line[0])
	}
	h, err := t.newHome(files)
	if err != nil {
		return err
	}
	defer h.stop(ctx)
	project := filepath.Join(h.user, "project")
	for link, to := range map[string]string{"hard.txt": "tag.org", "hardkey": "id_ed25519"} {
		if err := os.Link(filepath.Join(project, to), filepath.Join(project, link)); err != nil {
			return err
		}
	}
	if out, err := exec.CommandContext(ctx, "/bin/sh", "-c", "cd '"+project+"' && export HOME=\"$PWD/..\"; git init -q . && git add -A -f && git -c user.name=a -c user.email=a@b commit -qm x").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	slices.Sort(names)
	var calls []string
	for _, name := range names {
		path := plist.Print(plist.String("~/project/" + name))
		calls = append(calls,
			`"read" :args (:path `+path+`)`, `"grep" :args (:pattern "CANARY" :path `+path+`)`, `"grep" :args (:pattern "." :path `+path+`)`, `"org_query" :args (:file `+path+`)`, `"org_query" :args (:words "CANARY" :file `+path+`)`,
			`"exec" :args (:cwd "~/project" :command `+plist.Print(plist.String("cat "+name))+`)`, `"exec" :args (:cwd "~/project" :command `+plist.Print(plist.String("grep -r CANARY "+name))+`)`, `"exec" :args (:cwd "~/project" :command `+plist.Print(plist.String("git show HEAD:"+name))+`)`)
	}
	calls = append(calls, `"glob" :args (:pattern "**" :path "~/project")`, `"memory_search" :args (:query "CANARYnote Kept")`, `"search_messages" :args (:query "CANARY")`, `"agenda" :args ()`, `"exec" :args (:cwd "~/project" :command "git log -p")`, `"exec" :args (:cwd "~/project" :command "sort tag.org")`,
		`"org_query" :args (:words "CANARYnote")`, `"read" :args (:path "notes/mine.org")`)
	t.model.told()
	for i, call := range calls {
		word := fmt.Sprint("reader", i)
		t.model.say(word, "(:type :request :target :tool :action :call :tool "+call+")")
		if _, err := h.agent(ctx, "", "", "chat", "--session", word, word); err != nil {
			return err
		}
		c.cases++
		// What the model said itself is in what it is sent.
		if told := strings.ReplaceAll(strings.ReplaceAll(t.model.told(), "CANARYnote Kept", ""), `\"CANARY`, ""); leaked(told, call) {
			at := strings.LastIndex(told, "CANARY")
			c.through = append(c.through, "the model was sent what is withheld by "+call+": "+told[max(0, at-150):min(len(told), at+20)])
		}
	}
	t.model.say("plain", `(:type :request :target :tool :action :call :tool "read" :args (:path "~/project/plain.org"))`)
	if _, err := h.agent(ctx, "", "", "chat", "--session", "plain", "plain"); err != nil {
		return err
	}
	c.cases++
	if !strings.Contains(t.model.told(), "welcome") {
		c.harsh = append(c.harsh, "what rows allow is not read")
	}
	return nil
}

// leaked reports whether the JSON of a request has one of the words, but as a part of the call. A result stands
// there as it is, so the word ends or begins a line.
func leaked(told, call string) bool {
	if strings.Contains(call, "CANARY") {
		return strings.Contains(told, `CANARY\n`) || strings.Contains(told, "KEY=CANARY") || strings.Contains(told, `\nCANARY`)
	}
	return strings.Contains(told, "CANARY")
}
