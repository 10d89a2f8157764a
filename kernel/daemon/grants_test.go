package daemon_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/config"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// wanting is a note that asks for capabilities and answers with what a form returns.
func wanting(capabilities, form string) string {
	return "#+CAPABILITIES: " + capabilities + "\n" +
		deciding(`(defun think (c) (declare (ignorable c)) (list :type :response :text `+form+`))
(defskill :mine :priority 90 :trigger #'chosen :neuro #'think)`)
}

// person is somebody in an Emacs who grants things and talks.
type person struct {
	t      *testing.T
	in     *instance
	editor *rpctest.Editor
	asked  int
}

// call asks for a note's capabilities, or grants them.
func (p *person) call(params protocol.SkillGrantParams) (result protocol.SkillGrantResult, err error) {
	params.File = filepath.Join(p.in.paths.Skills, "mine.org")
	return result, p.editor.Call(within(p.t), protocol.MethodSkillGrant, params, &result)
}

// shown is what the note asks for.
func (p *person) shown() (result protocol.SkillGrantResult, names []string) {
	p.t.Helper()
	result, err := p.call(protocol.SkillGrantParams{})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, c := range result.Capabilities {
		if c.Refused == "" {
			names = append(names, c.Name)
		}
	}
	return result, names
}

// grant grants what is shown.
func (p *person) grant() {
	p.t.Helper()
	shown, names := p.shown()
	if got, err := p.call(protocol.SkillGrantParams{Blocks: shown.Blocks, Capabilities: names}); err != nil || !got.Granted || got.Blocks != shown.Blocks {
		p.t.Fatalf("grant: %+v, %v", got, err)
	}
}

// says is what the note answers, or why it does not.
func (p *person) says() string {
	p.t.Helper()
	p.asked++
	id := "q" + strings.Repeat("i", p.asked)
	done := ask(p.t, p.editor, id, id)
	return strings.TrimSpace(answers(p.editor.Text(), id)) + done.notice
}

func (p *person) status() protocol.SkillStatus {
	p.t.Helper()
	var list protocol.SkillListResult
	if err := p.editor.Call(within(p.t), protocol.MethodSkillList, protocol.Empty{}, &list); err != nil {
		p.t.Fatal(err)
	}
	return list.Skills[0]
}

func newPerson(t *testing.T, note string) *person {
	in := newInstance(t, llmtest.Exchange{Echo: true, Times: -1})
	user := in.variables["HOME"]
	if err := os.MkdirAll(filepath.Join(user, "notes"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(user, "notes/a.txt"), []byte("From the file"), 0o644); err != nil {
		t.Fatal(err)
	}
	in.write(t, "skills/mine.org", note)
	in.start(t)
	return &person{t: t, in: in, editor: in.editor(t, rpctest.Config{})}
}

// The whole way of a grant: not there, there, lost with a block, and there again.
func TestGrants(t *testing.T) {
	const form = `(uiop:read-file-string "~/notes/a.txt")`
	p := newPerson(t, wanting("read:~/notes env:ORG_AGENT_LLM_API_KEY", form))
	if got := p.says(); !strings.Contains(got, "read:~/notes is not granted (never granted)") {
		t.Errorf("before the grant it says %q", got)
	}
	if s := p.status(); s.State != "live" || s.Withheld != "never granted" || s.Granted != nil || len(s.Capabilities) != 2 {
		t.Errorf("before the grant: %+v", s)
	}
	shown, names := p.shown()
	if len(names) != 1 || len(shown.Capabilities) != 2 || shown.Capabilities[1].Refused == "" || !strings.HasPrefix(shown.Capabilities[0].Meaning, "read the files in /") {
		t.Errorf("shown: %+v", shown)
	}
	for name, params := range map[string]protocol.SkillGrantParams{
		"other blocks":  {Blocks: strings.Repeat("0", 64), Capabilities: names},
		"more":          {Blocks: shown.Blocks, Capabilities: append(slices.Clone(names), "write:/")},
		"no list":       {Blocks: shown.Blocks},
		"another place": {Blocks: shown.Blocks, Capabilities: []string{"read:/"}},
	} {
		if got, err := p.call(params); protocol.ErrorCode(err) != protocol.CodeConflict || got.Granted {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	p.grant()
	if got := p.says(); got != "** From the file" {
		t.Errorf("with the grant it says %q", got)
	}
	if s := p.status(); s.Withheld != "" || !slices.Equal(s.Granted, names) || s.Since == "" {
		t.Errorf("with the grant: %+v", s)
	}
	p.in.write(t, "skills/mine.org", wanting("read:~/notes env:ORG_AGENT_LLM_API_KEY", `(concatenate 'string "Again: " `+form+`)`))
	until(t, "the grant to be lost", func() bool { return strings.HasPrefix(p.status().Withheld, "blocks changed since ") })
	if got := p.says(); !strings.Contains(got, "blocks changed since") {
		t.Errorf("with another block it says %q", got)
	}
	p.grant()
	if got := p.says(); got != "** Again: From the file" {
		t.Errorf("granted again it says %q", got)
	}
	policy := filepath.Join(p.in.paths.Home, "policy.org")
	text, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	p.in.write(t, "policy.org", string(text)+"| broken |\n")
	until(t, "the table to be void", func() bool { return strings.Contains(p.status().Withheld, "is faulty") })
	var list protocol.SkillListResult
	if err := p.editor.Call(within(t), protocol.MethodSkillList, protocol.Empty{}, &list); err != nil || len(list.Diagnostics) != 1 || list.Diagnostics[0].File != policy {
		t.Errorf("the list tells %+v, %v", list.Diagnostics, err)
	}
	p.in.write(t, "policy.org", string(text))
	until(t, "the table to count", func() bool { return p.status().Withheld == "" })
	if got, err := p.call(protocol.SkillGrantParams{Revoke: true}); err != nil || got.Granted {
		t.Errorf("revoke: %+v, %v", got, err)
	}
	if got := p.says(); !strings.Contains(got, "never granted") {
		t.Errorf("without the grant it says %q", got)
	}
}

// What decides about the agent, and what the kernel keeps, is beyond any grant.
func TestGrantsStopAtTheKernel(t *testing.T) {
	p := newPerson(t, wanting("read:/ write:/", `"x"`))
	token, err := os.ReadFile(p.in.paths.Token)
	if err != nil {
		t.Fatal(err)
	}
	write := func(path string) string {
		return `(progn (with-open-file (s "` + path + `" :direction :output :if-exists :supersede) (princ "x" s)) "written")`
	}
	for _, test := range []struct{ form, want string }{
		{`(uiop:read-file-string "` + p.in.paths.Token + `")`, "closed to notes"},
		{`(uiop:read-file-string "` + p.in.paths.Journal + `")`, "closed to notes"},
		{`(uiop:read-file-string "` + p.in.paths.Config + `")`, "Settings of org-agent"},
		{`(format nil "~a" (uiop:directory-files "` + p.in.paths.Run + `/"))`, "closed to notes"},
		{write(p.in.paths.Config), "is protected"},
		{write(p.in.paths.Policy), "is protected"},
		{write("SOUL.org"), "is protected"},
		{write("skills/evil.org"), "is protected"},
		{write(p.in.paths.Token), "closed to notes"},
		{write("~/project/.git/hooks/post-commit"), "is protected"},
		{write("~/.dir-locals.el"), "is protected"},
		{`(progn (rename-file "~/notes/a.txt" "` + p.in.paths.Skills + `/evil.org") "moved")`, "is protected"},
	} {
		p.in.write(t, "skills/mine.org", wanting("read:/ write:/", test.form))
		shown, names := p.shown()
		if got, err := p.call(protocol.SkillGrantParams{Blocks: shown.Blocks, Capabilities: names}); err != nil || !got.Granted {
			t.Fatalf("%s: %+v, %v", test.form, got, err)
		}
		if got := p.says(); !strings.Contains(got, test.want) || strings.Contains(got, string(token)) {
			t.Errorf("%s: %q, want %q", test.form, got, test.want)
		}
	}
	notes, err := os.ReadDir(p.in.paths.Skills)
	if err != nil || len(notes) != 1 {
		t.Errorf("the skills are %v, %v", notes, err)
	}
}

// A model has no way to grant anything: what it proposes is no action.
func TestModelsGrantNothing(t *testing.T) {
	in := newInstance(t,
		llmtest.Exchange{Reply: `(:type :request :target :skill :action :grant :file "skills/mine.org")`, Times: -1})
	in.write(t, "skills/mine.org", "#+CAPABILITIES: read:/\n"+deciding(`(defun think (c) (ask-neuro (words c)))
(defun see () (uiop:read-file-string "/etc/passwd"))
(defskill :mine :priority 90 :trigger #'chosen :neuro #'think)`))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	if got := ask(t, e, "q1", "hi"); got.state != "failed" {
		t.Errorf("the turn ended %+v", got)
	}
	if text, err := os.ReadFile(in.paths.Policy); err != nil || !config.IsStarter("policy.org", string(text)) {
		t.Errorf("policy.org was written: %v", err)
	}
}
