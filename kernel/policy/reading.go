package policy

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/protocol"
)

// readingCommands are the commands of the read-only set. Each only reads: what their options can run or
// write asks in any case, and each word has to name something in the project.
var readingCommands = [...]string{
	"cat **", "head **", "tail **", "wc **", "ls **", "stat **", "file **", "grep **", "rg **",
	"git status **", "git log **", "git diff **", "git show **", "git blame **", "git ls-files **", "git branch", "git branch --list",
}

// readingRows returns the read-only set of a project: rows that let every conversation read there.
// displayed is the directory as people write it.
func readingRows(displayed string) []protocol.OfferedRow {
	rows := []protocol.OfferedRow{{Rule: string(protocol.ReachReads), Matches: displayed + "/**"}}
	for _, command := range readingCommands {
		rows = append(rows, protocol.OfferedRow{Rule: string(protocol.ReachRuns) + " in " + displayed, Matches: command})
	}
	return rows
}

// reading returns the read-only set to offer with an action that a person would be asked about. It is
// nil unless the set alone would allow the action: everything that asks is about reading in one project.
// That is a project of the conversation, or the one around the directory or the file.
func (p *Policy) reading(ctx context.Context, v Verdict, where Where) *protocol.ReadingOffer {
	if v.Kind != Ask || v.OnceOnly || len(v.reach) == 0 || p.Rules == nil {
		return nil
	}
	project := ""
	for _, r := range v.reach {
		of := where.Projects.containing(ctx, r.Path)
		if of == "" {
			of = ProjectOf(r.Path)
		}
		if of == "" || project != "" && of != project {
			return nil
		}
		project = of
	}
	if within(project, p.Home) || p.containsHome(project) || strings.ContainsAny(project, "*|=\\\n\r\t") || strings.TrimSpace(project) != project {
		return nil
	}
	user, _ := os.UserHomeDir() // "" if there is none
	displayed := project
	if rest, below := strings.CutPrefix(project, resolved(user)+"/"); below && user != "" {
		displayed = "~/" + rest
	}
	offer := &protocol.ReadingOffer{Directory: project, Rows: readingRows(displayed)}
	rules, t := p.rules(), &tableReader{home: p.Rules.Home, user: user}
	set := &Rules{rules: slices.Clone(rules.rules), faults: rules.faults}
	for _, row := range offer.Rows {
		r, err := t.row([]string{row.Rule, row.Matches, Allow.String(), "", ""})
		if err != nil {
			return nil // the directory cannot be written in a row
		}
		set.rules = append(set.rules, r)
	}
	now, then := p.judgeBy(rules, v.reach), p.judgeBy(set, v.reach)
	then = p.applyActionRows(v.Action, then)
	for _, call := range p.Kinds.Calls(v.Action) {
		then = p.named(call.Tool, then, false)
	}
	if then.Kind != Allow || slices.ContainsFunc(v.Decisions, func(d Decision) bool {
		return d.Kind == Ask && !slices.ContainsFunc(now.Decisions, func(of Decision) bool { return of.Kind == Ask && of.What == d.What })
	}) {
		return nil // something else asks too, such as a hook or a row about the tool
	}
	return offer
}

// AllowReading adds the rows of an offer, as they were shown, without those that are there. It fails as
// [RuleFile.Allow] does.
func (f *RuleFile) AllowReading(offer protocol.ReadingOffer, now time.Time) error {
	rows := make([]ruleCells, len(offer.Rows))
	for i, row := range offer.Rows {
		rows[i] = ruleCells{rule: row.Rule, matches: row.Matches, why: "reading in " + filepath.Base(offer.Directory)}
	}
	return f.add(now, rows...)
}
