package tool

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"org-agent/kernel/files"
	"org-agent/kernel/org"
	"org-agent/kernel/orgquery"
	"org-agent/kernel/protocol"
	"org-agent/kernel/schedule"
	"org-agent/kernel/task"
)

// Schedule is the dependency of the tools for tasks. Without a file they are not offered.
type Schedule struct {
	Notes Notes
	File  string // tasks.org, which need not be there
	// List returns what is planned.
	List func(ctx context.Context, p protocol.ScheduleListParams) (protocol.ScheduleListResult, error)
}

func (s Schedule) there() bool { return s.File != "" }

// nextShown is how many of the next times of a task are shown before it is planned.
const nextShown = 5

// planning is a change of the file of tasks.
type planning struct {
	orgChange
	absent bool // there is no file yet
	notes  *orgquery.File
	task   *task.Task  // as it will be; nil for one that is removed
	times  []time.Time // when it will be done
}

// plan returns the change of the file of tasks that change makes of its text. judged is the hash of the change that was
// judged, "" if none was. change returns the text afterwards, and the line of the task in it, 0 for none.
func (s Schedule) plan(ctx context.Context, by *Caller, judged string, change func(p *planning) (after string, line int, err error)) (p planning, err error) {
	path, exists, err := files.Resolve(s.File, s.Notes.Home)
	if err != nil {
		return p, err
	}
	p.path, p.absent = path, !exists
	if exists {
		p.notes, err = textOf(ctx, s.Notes, by, &p.orgChange)
	} else {
		p.notes = orgquery.Read(orgquery.Source{Path: path, Held: tagsOf(s.Notes.Held)})
	}
	if err != nil {
		return p, err
	}
	after, line, err := change(&p)
	if err != nil {
		return p, err
	}
	if p.after = after; p.after == p.before {
		return p, protocol.ToolErrorf(protocol.ToolArguments, "the task is so already: nothing is to be done")
	}
	if err := orgquery.CheckWithheld(p.path, p.before, p.after); err != nil {
		return p, err
	}
	if line > 0 {
		if err := s.check(&p, line); err != nil {
			return p, err
		}
	}
	p.old, p.new = orgquery.Narrow(p.before, p.after)
	if judged != "" && judged != p.known() {
		return p, protocol.ToolErrorf(protocol.ToolChanged, "%s is not what it was when this was judged: look at schedule_list again", s.Notes.short(p.path))
	}
	return p, nil
}

// check reads the task on a line of the text afterwards, which must be one that can be done.
func (s Schedule) check(p *planning, line int) error {
	read := func(text string) *task.File {
		return task.Read(task.Source{Path: p.path, Text: text, Zone: s.Notes.Now().Location(), Sequences: p.notes.Sequences})
	}
	f, former := read(p.after), read(p.before)
	at := slices.IndexFunc(f.Tasks, func(t task.Task) bool { return t.Line == line })
	for _, fault := range f.Faults {
		if at < 0 && fault.Line >= line && !slices.ContainsFunc(former.Faults, func(known org.Diagnostic) bool { return known.Message == fault.Message && known.Line == fault.Line }) {
			return protocol.ToolErrorf(protocol.ToolArguments, "that is no task that can be done: %s", fault.Message)
		}
	}
	if at < 0 {
		return protocol.ToolErrorf(protocol.ToolArguments, "that is no task: it needs :when or :cron")
	}
	p.task = &f.Tasks[at]
	if !p.task.Settings.Enabled {
		return nil
	}
	due, stamped := p.task.Due()
	now := s.Notes.Now()
	if stamped && due.After(now) {
		p.times = append(p.times, due)
		now = due
	}
	for next := range schedule.Planned(p.task.Rule(s.Notes.Now()), now) {
		if len(p.times) == nextShown {
			break
		}
		p.times = append(p.times, next)
	}
	if len(p.times) == 0 {
		return protocol.ToolErrorf(protocol.ToolArguments, "%s is over: the time is to be after %s", p.task.When, now.Format("2006-01-02 15:04 MST"))
	}
	return nil
}

// effects says what the change is for a person.
func (p *planning) effects() []string {
	all := []string{p.did}
	switch {
	case p.task == nil:
	case !p.task.Settings.Enabled:
		all = append(all, "it is not done until it is enabled")
	default:
		all = append(all, "it is done "+p.inWords())
	}
	if p.inEmacs {
		all = append(all, inBuffer)
	}
	return all
}

// inWords returns the next times.
func (p *planning) inWords() string {
	var all []string
	for _, at := range p.times {
		all = append(all, at.In(p.task.Settings.Zone).Format("Monday 2 January 2006 15:04"))
	}
	zone := p.times[0].In(p.task.Settings.Zone).Format("MST")
	if len(all) == 1 {
		return "once, on " + all[0] + " " + zone
	}
	more := ""
	if len(all) == nextShown {
		more = " and so on"
	}
	return "on " + strings.Join(all, ", ") + more + " (" + zone + ")"
}

// reach says that the call changes the file of tasks, which is protected: a person decides, on the difference.
func (s Schedule) reach(p planning, err error, judged *string) ([]protocol.Reach, error) {
	if err != nil {
		return nil, err
	}
	*judged = p.known()
	return setting(changes(p.path), p.path, p.before, p.after), nil
}

// preview shows a change to the person who decides.
func (s Schedule) preview(p planning, err error) (Preview, error) {
	if err != nil {
		return Preview{}, err
	}
	return Preview{Summary: p.summary, File: p.path, Before: p.before, After: p.after, Effects: p.effects()}, nil
}

// write makes a change.
func (s Schedule) write(ctx context.Context, by *Caller, p planning, err error) (string, files.Change, error) {
	if err != nil {
		return "", files.Change{}, err
	}
	var text string
	var made files.Change
	if p.absent {
		if made, err = files.Rewriting(ctx, p.path, "", []byte(p.after)); err == nil {
			err = made.Make()
		}
		text = strings.ToUpper(p.did[:1]) + p.did[1:] + "."
	} else {
		text, made, err = s.Notes.make(ctx, by, p.orgChange, "")
	}
	if err == nil && p.task != nil && len(p.times) > 0 {
		text += " It is done " + p.inWords() + "."
	}
	return text, made, err
}

// find returns the task that a call names, by its :ID: or its title. Only those of the file of tasks are found.
func (p *planning) find(name string) (orgquery.Entry, error) {
	var found []orgquery.Entry
	var titles []string
	for _, e := range p.notes.Entries {
		rule, _ := e.Property("CRON")
		if rule == "" && e.Planning.Scheduled == "" && e.Planning.Deadline == "" {
			continue
		}
		if e.OwnID() == name || e.Title == name {
			found = append(found, e)
		}
		titles = append(titles, strconv.Quote(e.Title))
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return orgquery.Entry{}, protocol.ToolErrorf(protocol.ToolNotFound, "there is no task %q in %s, which has %s; tasks elsewhere are the user's alone", name, p.path, strings.Join(titles, ", "))
	}
	return orgquery.Entry{}, protocol.ToolErrorf(protocol.ToolArguments, "%d tasks are called %q: name the :ID: of one, or ask the user", len(found), name)
}

// createdBy is the property of tasks that a model proposed, and its value.
const createdBy, agentName = "CREATED_BY", "agent"

// whose says in a few words whose task an entry is.
func whose(e orgquery.Entry) string {
	if by, _ := e.Property(createdBy); by == agentName {
		return "a task that the agent proposed"
	}
	return "a task of your own"
}
