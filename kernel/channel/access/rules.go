// Package access decides who may talk to the agent on the channels, by a file of the person's: channels.org.
//
// Ordering: a decision goes by the file as it is when it is made. Blocking: [File.Rules] reads a small local file, and
// [Guard.Decide] asks the store of what was used; nothing waits for a chat. Ownership: the file is the person's. Rows are
// added only when they say so, or when somebody has a code that they made; see [Pairings].
//
// Nobody is let in by mistake: a row that cannot be read lets nobody in, and keeps out whom it names. While the file
// itself cannot be read, nobody may talk.
package access

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"org-agent/kernel/org"
	"org-agent/kernel/suggest"
	"org-agent/kernel/tablefile"
)

// Role is what somebody may do.
type Role string

// The roles, from what is least.
const (
	Blocked Role = "blocked" // may not talk, and leaves no trace
	Friend  Role = "friend"  // may talk, within limits
	Owner   Role = "owner"   // the person whose agent this is: without limits, and may decide where a row says so
)

var roles = []Role{Blocked, Friend, Owner}

// Answers is which messages of a chat are answered.
type Answers string

// What is answered, from what is least.
const (
	Never   Answers = "never"
	Reply   Answers = "reply"   // replies to messages of the agent
	Mention Answers = "mention" // these, and messages that mention the agent
	Always  Answers = "always"
)

var answers = []Answers{Never, Reply, Mention, Always}

// Person is a row of the table of people. Channel and ID name an account; the ID is exact, and case matters.
type Person struct {
	Line    int
	Channel string
	ID      string
	Who     string // for people
	Role    Role
	Since   string
}

// Chat is a row of the table of chats. The ID * stands for all groups of the channel that have no row.
type Chat struct {
	Line    int
	Channel string
	ID      string
	Answers Answers
	// Anyone says that people who are in no row are answered here as well.
	Anyone bool
	What   string // for people
}

// Limits are what each sender who is no owner may use.
type Limits struct {
	Messages int     // that are answered in an hour
	Cost     float64 // of a day's answers, in US dollars; 0 for no limit
	Line     int     // of the heading, 0 for the defaults
}

// usualMessages is how many messages an hour are answered where the file does not say it.
const usualMessages = 60

// Rules are the rules of a channels.org. They do not change.
type Rules struct {
	people map[[2]string]Person // by channel and id
	chats  map[[2]string]Chat
	listed []Person
	rows   []Chat
	// decides are the rows of what is decided in chats; those of chats in twice and undecided do not count.
	decides []Deciding
	twice   map[[2]string]bool
	limits  Limits
	// faulty says that the limits cannot be read, in the line of limits: nobody but the owner is answered.
	faulty bool
	// barred and silent are the cells of rows that cannot be read, with their lines: nobody with such an ID may talk,
	// and in no such chat is anything answered.
	barred, silent map[string]int
	// undecided are those of rows of what is decided in chats.
	undecided map[string]int
	// unread is why nothing of the file counts, "" if it does.
	unread string
	faults []tablefile.Fault
	file   string
}

// Faults returns the errors of the file, with their lines.
func (r *Rules) Faults() []tablefile.Fault { return slices.Clone(r.faults) }

// People returns the rows of people that can be read, in their order.
func (r *Rules) People() []Person { return slices.Clone(r.listed) }

// Chats returns the rows of chats that can be read, in their order.
func (r *Rules) Chats() []Chat { return slices.Clone(r.rows) }

// Limits returns what each sender may use.
func (r *Rules) Limits() Limits { return r.limits }

// maximumFaults is how many faults of a file are reported.
const maximumFaults = 20

func (r *Rules) fault(line int, format string, arguments ...any) {
	if len(r.faults) < maximumFaults {
		r.faults = append(r.faults, tablefile.Fault{File: r.file, Line: line, Message: fmt.Sprintf(format, arguments...)})
	}
}

var (
	peopleColumns = []string{"channel", "id", "who", "role", "since"}
	chatColumns   = []string{"channel", "chat", "answers", "who", "what"}
)

// Parse parses the text of a channels.org. File is its path.
func Parse(text, file string) *Rules {
	r := &Rules{
		file: file, people: map[[2]string]Person{}, chats: map[[2]string]Chat{}, barred: map[string]int{}, silent: map[string]int{},
		undecided: map[string]int{}, twice: map[[2]string]bool{},
		limits: Limits{Messages: usualMessages},
	}
	people, chats, decides := org.ReadSettingsTable(text, "People"), org.ReadSettingsTable(text, "Chats"), org.ReadSettingsTable(text, "Deciding")
	r.table(people, "people", peopleColumns, r.person, r.barred)
	r.table(chats, "chats", chatColumns, r.chat, r.silent)
	r.table(decides, "what is decided in chats", decidingColumns, r.deciding, r.undecided)
	r.elsewhere(people, chats, decides)
	r.readLimits(text)
	return r
}

// table reads the rows of one table. The cells of those that cannot be read go into kept: all of them if the first row
// does not name the columns.
func (r *Rules) table(table *org.SettingsTable, what string, columns []string, read func(line int, cells []string) error, kept map[string]int) {
	named := len(table.Rows) == 0 || slices.Equal(table.Rows[0].Cells, columns)
	if !named {
		r.fault(table.Rows[0].Line, "the table of %s begins with | %s |", what, strings.Join(columns, " | "))
	}
	for i, row := range table.Rows {
		cells := cellsOf(row)
		switch {
		case !named:
			keep(kept, cells, row.Line)
		case i == 0:
		case len(cells) != len(columns):
			r.fault(row.Line, "the row has %d cells, not the five | %s | (a bar in a cell is written \\vert{})", len(cells), strings.Join(columns, " | "))
			keep(kept, cells, row.Line)
		default:
			if err := read(row.Line, cells); err != nil {
				r.fault(row.Line, "%v", err)
				keep(kept, cells, row.Line)
			}
		}
	}
	if table.Again != 0 {
		r.fault(table.Again, "there is a second heading for %s: keep all rows in one table", what)
	}
}

// keep remembers the cells of a row that cannot be read.
func keep(kept map[string]int, cells []string, line int) {
	for _, cell := range cells {
		if cell != "" && kept[cell] == 0 {
			kept[cell] = line
		}
	}
}

// barOf replaces \vert, which is a bar everywhere in Org. A bar itself ends a cell.
var barOf = strings.NewReplacer(`\vert{}`, "|", `\vert`, "|")

// cellsOf returns the texts of a row without Org's markup for verbatim and code.
func cellsOf(row org.SettingsRow) []string {
	cells := slices.Clone(row.Cells)
	for i, cell := range cells {
		cell = barOf.Replace(cell)
		for _, sign := range []string{"=", "~"} {
			if len(cell) > 2 && strings.HasPrefix(cell, sign) && strings.HasSuffix(cell, sign) {
				cell = cell[1 : len(cell)-1]
				break
			}
		}
		cells[i] = cell
	}
	return cells
}

// person reads a row of people. Of two rows for one account the stricter holds.
func (r *Rules) person(line int, cells []string) error {
	p := Person{Line: line, Channel: strings.ToLower(cells[0]), ID: cells[1], Who: cells[2], Role: Role(strings.ToLower(cells[3])), Since: cells[4]}
	switch {
	case p.Channel == "":
		return fmt.Errorf("the channel is missing, such as telegram")
	case p.ID == "" || p.ID == "*":
		return fmt.Errorf("a row is for one account, by its id; for everybody in a chat write anyone into the table of chats")
	case !slices.Contains(roles, p.Role):
		return fmt.Errorf("the role is owner, friend or blocked, not %q%s", cells[3], suggestion(string(p.Role), roles))
	}
	key := [2]string{p.Channel, p.ID}
	if other, there := r.people[key]; there && other.Role != p.Role {
		r.fault(line, "%s on %s is %s in line %d: keep one of the two rows; until then the stricter holds", p.ID, p.Channel, other.Role, other.Line)
	}
	if other, there := r.people[key]; !there || slices.Index(roles, p.Role) < slices.Index(roles, other.Role) {
		r.people[key] = p
	}
	r.listed = append(r.listed, p)
	return nil
}

// chat reads a row of chats. Of two rows for one chat the stricter holds.
func (r *Rules) chat(line int, cells []string) error {
	c := Chat{Line: line, Channel: strings.ToLower(cells[0]), ID: cells[1], Answers: Answers(strings.ToLower(cells[2])), Anyone: strings.EqualFold(cells[3], "anyone"), What: cells[4]}
	switch {
	case c.Channel == "":
		return fmt.Errorf("the channel is missing, such as telegram")
	case c.ID == "":
		return fmt.Errorf("the chat is missing: its id, or * for all groups of the channel")
	case !slices.Contains(answers, c.Answers):
		return fmt.Errorf("what is answered is always, mention, reply or never, not %q%s", cells[2], suggestion(string(c.Answers), answers))
	case !c.Anyone && cells[3] != "" && !strings.EqualFold(cells[3], "people"):
		return fmt.Errorf("who is answered is people (those of the table above) or anyone, not %q", cells[3])
	}
	key := [2]string{c.Channel, c.ID}
	if other, there := r.chats[key]; there {
		if other.Answers != c.Answers || other.Anyone != c.Anyone {
			r.fault(line, "the chat %s on %s is in line %d as well: keep one of the two rows; until then the stricter holds", c.ID, c.Channel, other.Line)
		}
		stricter := other
		if slices.Index(answers, c.Answers) < slices.Index(answers, other.Answers) {
			stricter = c
		}
		stricter.Anyone = c.Anyone && other.Anyone
		r.chats[key] = stricter
	} else {
		r.chats[key] = c
	}
	r.rows = append(r.rows, c)
	return nil
}

// suggestion returns the end of a message that suggests a similar word, or "".
func suggestion[T ~string](word string, words []T) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	if near := suggest.Of(word, texts); near != "" {
		return fmt.Sprintf(": did you mean %s?", near)
	}
	return ""
}

// elsewhere reports rows that are in neither table, because nobody would notice that they do not count. Those that
// keep somebody out do.
func (r *Rules) elsewhere(people *org.SettingsTable, others ...*org.SettingsTable) {
	within := map[int]bool{}
	for _, table := range append(others, people) {
		for _, row := range table.Rows {
			within[row.Line] = true
		}
	}
	for _, row := range people.Elsewhere() {
		if within[row.Line] {
			continue
		}
		cells := cellsOf(row)
		has := func(words ...string) bool {
			return slices.ContainsFunc(cells, func(cell string) bool { return slices.Contains(words, strings.ToLower(cell)) })
		}
		switch {
		case has(string(Blocked)):
			keep(r.barred, cells, row.Line)
		case has(string(Never)):
			keep(r.silent, cells, row.Line)
		case !has(string(Friend), string(Owner), string(Reply), string(Mention), string(Always), string(Approvals), string(Questions)):
			continue
		}
		r.fault(row.Line, "a row counts only in the tables under the headings \"People\", \"Chats\" and \"Deciding\": move it there, or delete it")
	}
}

// readLimits reads the properties of the heading "Limits".
func (r *Rules) readLimits(text string) {
	for _, h := range org.Parse(text).Headings {
		if h.Hidden() || !strings.EqualFold(strings.TrimSpace(h.Title), "Limits") {
			continue
		}
		if r.limits.Line != 0 {
			r.faulty = true
			r.fault(h.Line, "there is a second heading \"Limits\": keep one")
			return
		}
		r.limits.Line = h.Line
		for _, property := range h.Properties {
			r.limit(property.Key, strings.TrimSpace(property.Value), property.Line)
		}
	}
}

// limit reads one property.
func (r *Rules) limit(key, value string, line int) {
	before := len(r.faults)
	switch strings.ToUpper(key) {
	case "MESSAGES_AN_HOUR":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			r.fault(line, "MESSAGES_AN_HOUR is a number such as 60, not %q", value)
		}
		r.limits.Messages = n
	case "COST_A_DAY":
		cost, err := strconv.ParseFloat(value, 64)
		if none := strings.EqualFold(value, "off"); !none && (err != nil || !(cost > 0) || cost > 1e9) {
			r.fault(line, "COST_A_DAY is an amount in dollars such as 0.5, or off, not %q", value)
		}
		r.limits.Cost = cost
	case "ID", "CUSTOM_ID", "CATEGORY", "VISIBILITY", "CREATED", "DESCRIPTION":
	default:
		r.fault(line, "there is no limit %s here: there are MESSAGES_AN_HOUR and COST_A_DAY", key)
	}
	r.faulty = r.faulty || len(r.faults) > before || len(r.faults) == maximumFaults
}
