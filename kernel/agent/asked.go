package agent

import (
	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// askedSkill is the prompt skill that the question asks for, with /NAME or by what is set
// for it; "" if it does not. A note of the name that is set comes first: that one answers.
func (a *Agent) askedSkill(turn journal.Turn) string {
	if name := turn.Question.Payload.Text(protocol.PayloadSkill); name != "" {
		return name
	}
	name := turn.Settings.Value(protocol.SettingSkill)
	if name == "" || a.config.Skills.Current().Named(name) != nil {
		return ""
	}
	return name
}

// askedCall gives the model the skill that the person asked for, as if it had called for it: what
// a person asks for needs neither a proposal nor a verdict. It is nil where no skill was asked for.
func (r *run) askedCall() (*result, error) {
	name := r.agent.askedSkill(r.turn.Record)
	if name == "" || r.agent.config.Prompts == nil || len(r.compose.Exchange.Messages()) > 0 {
		return nil, nil
	}
	k := r.agent.config.Prompts.Current().Command(name)
	if k == nil {
		return nil, failf("there is no skill %s any more; \"org-agent skill list\" says why", name)
	}
	text, err := k.Read("", "")
	if err != nil {
		return nil, failf("the skill %s cannot be used: %v", name, err)
	}
	proposed := action.Propose(sexp.List{
		plist.Keyword("type"), plist.Keyword("request"), plist.Keyword("target"), plist.Keyword("tool"),
		plist.Keyword("action"), plist.Keyword("call"), plist.Keyword("tool"), plist.String("use_skill"),
		plist.Keyword("args"), sexp.List{plist.Keyword("name"), plist.String(name)},
	})
	return &result{action: proposed.Action(), verdict: "performed", text: text}, nil
}
