package orgquery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
)

// Change describes a change of an entry. Fields that are nil or empty stay as they are.
type Change struct {
	Title    *string
	Todo     *string // "" removes the keyword
	Priority *string // "" removes the priority
	Tags     []string
	Untagged []string // tags to remove
	// Properties are set. A property without a value is removed.
	Properties          []Setting
	Rule                *string // the property CRON, which only who plans tasks sets; "" removes it
	Scheduled, Deadline *string // "" removes the date
	Body                *string
	// Now is the time of the change, in the person's time zone. Days without a date, and repeaters, count from it.
	Now time.Time
}

// Setting is a property and its value.
type Setting struct{ Name, Value string }

func invalid(format string, arguments ...any) error {
	return protocol.ToolErrorf(protocol.ToolArguments, format, arguments...)
}

// Apply returns the text of the file after the change of an entry, and one line for each thing that
// was changed.
func (f *File) Apply(e Entry, c Change) (after string, did []string, err error) {
	p := parts{file: f, heading: *e.Heading, planning: e.Planning, drawer: f.drawer(e), body: e.Text}
	for _, step := range []func(Change) (string, error){p.setTitle, p.setDates, p.setTodo, p.setPriority, p.setTags, p.setProperties, p.setBody} {
		done, err := step(c)
		if err != nil {
			return "", nil, err
		}
		if done != "" {
			did = append(did, done)
		}
	}
	after = f.Text[:e.Start] + p.text(f.Text[e.Start:e.LineEnd], e) + f.Text[e.Next:]
	return after, did, f.check(e, after, p.heading)
}

// check verifies that only the entry changed, and that Org reads it as intended: a title could end
// in what looks like tags, or begin with a keyword.
func (f *File) check(e Entry, after string, want org.Heading) error {
	d := org.ParseWith(after, f.Sequences)
	i := slices.IndexFunc(f.document.Headings, func(h *org.Heading) bool { return h == e.Heading })
	if len(d.Headings) != len(f.document.Headings) || i < 0 {
		return invalid("that would make other headings of the file")
	}
	h := d.Headings[i]
	if h.Title != want.Title || h.Todo != want.Todo || h.Priority != want.Priority || !slices.Equal(h.Tags, want.Tags) {
		return invalid("Org would read the line %q otherwise than it is meant", org.Headline(want))
	}
	return nil
}

// parts are the parts of an entry during a change.
type parts struct {
	file           *File
	heading        org.Heading
	planning       org.Planning
	drawer         []string // lines with their ends, without the first and the last; nil if there is no drawer
	body           string
	headingChanged bool // the heading's line has changed
	replan         bool
}

// drawer returns the lines of the entry's property drawer.
func (f *File) drawer(e Entry) []string {
	if e.Properties == nil {
		return nil
	}
	lines := strings.SplitAfter(f.Text[e.LineEnd:e.First], "\n")
	from := slices.IndexFunc(lines, func(l string) bool { return strings.EqualFold(strings.TrimSpace(l), ":PROPERTIES:") })
	to := slices.IndexFunc(lines, func(l string) bool { return strings.EqualFold(strings.TrimSpace(l), ":END:") })
	if from < 0 || to < from {
		return nil
	}
	return slices.Clone(lines[from+1 : to : to])
}

// text returns the entry's text without the entries below it.
func (p *parts) text(line string, e Entry) string {
	var b strings.Builder
	if p.headingChanged {
		line = org.Headline(p.heading) + "\n"
	} else if !strings.HasSuffix(line, "\n") {
		line += "\n"
	}
	b.WriteString(line)
	head := p.file.Text[e.LineEnd:e.First]
	before, _, _ := strings.Cut(head, "\n")
	indentation := before[:len(before)-len(strings.TrimLeft(before, " \t"))]
	switch planned := p.plan(); {
	case !p.replan && p.planning.Line > 0:
		b.WriteString(strings.TrimSuffix(before, "\n") + "\n")
	case planned != "":
		b.WriteString(indentation + planned + "\n")
	}
	if len(p.drawer) > 0 || p.drawer != nil && p.heading.Properties != nil && len(p.heading.Properties) == 0 {
		b.WriteString(indentation + ":PROPERTIES:\n" + strings.Join(p.drawer, "") + indentation + ":END:\n")
	}
	b.WriteString(p.body)
	return b.String()
}

// plan returns the planning line.
func (p *parts) plan() string {
	var all []string
	for _, part := range []struct{ name, stamp string }{{"CLOSED:", p.planning.Closed}, {"DEADLINE:", p.planning.Deadline}, {"SCHEDULED:", p.planning.Scheduled}} {
		if part.stamp != "" {
			all = append(all, part.name+" "+part.stamp)
		}
	}
	return strings.Join(all, " ")
}

func (p *parts) setTitle(c Change) (string, error) {
	if c.Title == nil {
		return "", nil
	}
	title, err := p.file.checkTitle(*c.Title)
	if err != nil {
		return "", err
	}
	p.heading.Title, p.headingChanged = title, true
	return "its title becomes " + title, nil
}

// checkTitle returns a title that is safe in a heading.
func (f *File) checkTitle(title string) (string, error) {
	title = strings.TrimSpace(title)
	if title == "" || strings.ContainsAny(title, "\n\r") {
		return "", invalid("a title is one line, and not empty")
	}
	safe, isHeading := strings.CutPrefix(strings.TrimRight(org.Inert("* "+title, f.Held...), "\n"), "* ")
	if !isHeading || strings.Contains(safe, "\n") {
		return "", invalid("%q is no title", title)
	}
	return safe, nil
}

func (p *parts) setPriority(c Change) (string, error) {
	if c.Priority == nil {
		return "", nil
	}
	priority := strings.ToUpper(strings.Trim(*c.Priority, "[#]"))
	if len(priority) > 1 || priority != "" && (priority[0] < 'A' || priority[0] > 'Z') {
		return "", invalid("a priority is a letter, as A, not %q", *c.Priority)
	}
	p.heading.Priority, p.headingChanged = priority, true
	if priority == "" {
		return "it loses its priority", nil
	}
	return "its priority becomes " + priority, nil
}

func (p *parts) setTags(c Change) (string, error) {
	if len(c.Tags)+len(c.Untagged) == 0 {
		return "", nil
	}
	tags := slices.DeleteFunc(slices.Clone(p.heading.Tags), func(tag string) bool { return slices.Contains(c.Untagged, tag) })
	for _, tag := range c.Tags {
		tag = strings.Trim(tag, ":")
		if err := org.CheckTag(tag); err != nil {
			return "", invalid("%w", err)
		}
		if org.TagWakes(tag, p.file.Held...) && !slices.Contains(p.heading.Tags, tag) {
			return "", protocol.ToolErrorf(protocol.ToolRefused, "the tag %s would make the agent act on the entry: only the person gives an entry that tag", tag)
		}
		tags = union(tags, []string{tag})
	}
	p.heading.Tags, p.headingChanged = tags, true
	return "its tags become :" + strings.Join(tags, ":") + ":", nil
}

func (p *parts) setBody(c Change) (string, error) {
	if c.Body == nil {
		return "", nil
	}
	body, err := p.file.safeBody(*c.Body)
	if err != nil {
		return "", err
	}
	drawer := logbook(p.body)
	end := p.body[len(strings.TrimRight(p.body, "\n")):]
	if p.body == "" || len(end) == 0 {
		end = "\n"
	}
	if body == "" {
		body = strings.TrimPrefix(end, "\n")
	} else {
		body += end
	}
	p.body = drawer + body
	return "its text is replaced", nil
}

// logbook returns the LOGBOOK drawer at the beginning of the text, or "".
func logbook(body string) string {
	first, _, _ := strings.Cut(body, "\n")
	if !strings.EqualFold(strings.TrimSpace(first), ":LOGBOOK:") {
		return ""
	}
	size := 0
	for line := range strings.Lines(body) {
		size += len(line)
		if strings.EqualFold(strings.TrimSpace(line), ":END:") {
			return body[:size]
		}
	}
	return ""
}

// safeBody returns a text that is safe as the body of an entry: inert, and without headings.
func (f *File) safeBody(body string) (string, error) {
	body = strings.Trim(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	if body == "" {
		return "", nil
	}
	safe := strings.TrimRight(org.Inert(body, f.Held...), "\n")
	if len(org.Parse(safe).Headings) > 0 {
		return "", invalid("the text of an entry has no headings: insert entries below it")
	}
	return safe, nil
}

// describeStamp describes the change of a planning timestamp in one line.
func describeStamp(name, stamp string) string {
	if stamp == "" {
		return "it loses its " + name
	}
	return fmt.Sprintf("its %s becomes %s", name, stamp)
}
