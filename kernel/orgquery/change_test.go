package orgquery_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/orgquery"
	"org-agent/kernel/protocol"
)

const plan = `#+TITLE: Plan
* Garden                                                             :home:
:PROPERTIES:
:ID:       g1
:Effort: 1:00
:END:
The roses.
** TODO Water the roses
SCHEDULED: <2026-03-02 Mon +1w>
** DONE [#C] Prune
CLOSED: [2026-03-01 Sun 10:00]
* Letters
** TODO Ada
* Secret :noagent:
** Below
* Archive :ARCHIVE:
** Old
`

func to(text string) *string { return &text }

func TestApply(t *testing.T) {
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, id string
		titles   []string
		change   orgquery.Change
		old, new string // the text in the plan, and what replaces it
		err      string
	}{
		{"state", "", []string{"Ada"}, orgquery.Change{Todo: to("DONE")}, "** TODO Ada\n", "** DONE Ada\n", ""},
		{"no state", "", []string{"Letters", "Ada"}, orgquery.Change{Todo: to("")}, "** TODO Ada\n", "** Ada\n", ""},
		{"no such state", "", []string{"Ada"}, orgquery.Change{Todo: to("NEXT")}, "", "", `"NEXT" is no keyword of plan.org: it has TODO DONE`},
		{"again", "", []string{"Water the roses"}, orgquery.Change{Todo: to("DONE")}, "SCHEDULED: <2026-03-02 Mon +1w>\n",
			"SCHEDULED: <2026-03-09 Mon +1w>\n:PROPERTIES:\n:LAST_REPEAT: [2026-03-20 Fri 12:00]\n:END:\n", ""},
		{"not done any more", "", []string{"Prune"}, orgquery.Change{Todo: to("TODO"), Priority: to("")},
			"** DONE [#C] Prune\nCLOSED: [2026-03-01 Sun 10:00]\n", "** TODO Prune\n", ""},
		{"tags", "g1", nil, orgquery.Change{Tags: []string{"roses"}, Untagged: []string{"home"}},
			"* Garden                                                             :home:\n", "* Garden                                                              :roses:\n", ""},
		{"no tag", "g1", nil, orgquery.Change{Tags: []string{"a b"}}, "", "", `"a b" is no tag`},
		{"properties", "g1", nil, orgquery.Change{Properties: []orgquery.Setting{{"EFFORT", "2:00"}, {"Note", "x"}}},
			":Effort: 1:00\n", ":EFFORT:   2:00\n:Note:     x\n", ""},
		{"a property goes", "g1", nil, orgquery.Change{Properties: []orgquery.Setting{{"effort", ""}}}, ":Effort: 1:00\n", "", ""},
		{"no id", "g1", nil, orgquery.Change{Properties: []orgquery.Setting{{"ID", "x"}}}, "", "", "not to be set from outside"},
		{"no code", "g1", nil, orgquery.Change{Properties: []orgquery.Setting{{"header-args:sh", "x"}}}, "", "", "not to be set from outside"},
		{"dates", "", []string{"Ada"}, orgquery.Change{Deadline: to("+1w 9:30"), Scheduled: to("2026-04-01 10:00-11:00 +1m -2d")},
			"** TODO Ada\n", "** TODO Ada\nDEADLINE: <2026-03-27 Fri 09:30> SCHEDULED: <2026-04-01 Wed 10:00-11:00 +1m -2d>\n", ""},
		{"a date goes", "", []string{"Water the roses"}, orgquery.Change{Scheduled: to("none")}, "SCHEDULED: <2026-03-02 Mon +1w>\n", "", ""},
		{"no date", "", []string{"Ada"}, orgquery.Change{Deadline: to("<%%(shell-command \"x\")>")}, "", "", "is no date"},
		{"body", "g1", nil, orgquery.Change{Body: to("New\n#+begin_src sh :results x\nrm\n#+end_src\n")}, "The roses.\n",
			"New\n#+begin_src sh :results x\nrm\n#+end_src\n", ""},
		{"a body that runs", "g1", nil, orgquery.Change{Body: to("New\n#+begin_src sh :var x=(f)\nrm\n#+end_src\n")}, "The roses.\n",
			"New\n#+begin_src sh :\u200bvar x=(f)\nrm\n#+end_src\n", ""},
		{"no headings in a body", "g1", nil, orgquery.Change{Body: to("a\n* b")}, "", "", "no headings"},
		{"title", "", []string{"Ada"}, orgquery.Change{Title: to("Ada and Bob")}, "** TODO Ada\n", "** TODO Ada and Bob\n", ""},
		{"no tags in a title", "", []string{"Ada"}, orgquery.Change{Title: to("Ada :x:")}, "", "", "otherwise than it is meant"},
		{"nobody", "", []string{"Adah"}, orgquery.Change{}, "", "", `did you mean "Ada"?`},
		{"withheld", "", []string{"Below"}, orgquery.Change{}, "", "", "no entry of plan.org"},
		{"archived", "", []string{"Old"}, orgquery.Change{}, "", "", "no entry of plan.org"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := orgquery.Read(orgquery.Source{Path: "plan.org", Text: plan})
			e, err := f.Find(c.id, c.titles)
			after := ""
			if err == nil {
				c.change.Now = now
				after, _, err = f.Apply(e, c.change)
			}
			if c.err != "" {
				if known, ok := errors.AsType[*protocol.ToolError](err); !ok || !strings.Contains(known.Message, c.err) {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Replace(plan, c.old, c.new, 1); after != want {
				t.Errorf("it became\n%s\nnot\n%s", after, want)
			}
		})
	}
}

func TestPlace(t *testing.T) {
	f := orgquery.Read(orgquery.Source{Path: "plan.org", Text: strings.TrimSuffix(plan, "\n")})
	garden, _ := f.Find("g1", nil)
	ada, _ := f.Find("", []string{"Ada"})
	n := orgquery.New{Title: "Buy seeds", Todo: "TODO", ID: "n1", Tags: []string{"shop"}, Timestamp: "2026-03-21 10:00", Body: "Two kinds."}
	made := "** TODO Buy seeds                                                      :shop:\n:PROPERTIES:\n:ID:       n1\n:END:\n<2026-03-21 Sat 10:00>\nTwo kinds.\n"
	check := func(what, got string, err error, want string) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("%s: %v\n%s\nnot\n%s", what, err, got, want)
		}
	}
	whole := strings.TrimSuffix(plan, "\n")
	after, err := f.Below(&garden, n)
	check("below", after, err, strings.Replace(whole, "* Letters", made+"* Letters", 1))
	after, err = f.Behind(ada, n)
	check("behind", after, err, strings.Replace(whole, "* Secret", made+"* Secret", 1))
	after, err = f.Below(nil, n)
	check("at the end", after, err, whole+"\n"+strings.Replace(made[1:], "Buy seeds  ", "Buy seeds   ", 1))
	after, err = f.Move(ada, garden)
	check("move up", after, err, strings.Replace(strings.Replace(whole, "** TODO Ada\n", "", 1), "* Letters", "** TODO Ada\n* Letters", 1))
	water, _ := f.Find("", []string{"Water the roses"})
	after, err = f.Move(water, ada)
	check("move down", after, err, strings.Replace(strings.Replace(whole, "** TODO Water the roses\nSCHEDULED: <2026-03-02 Mon +1w>\n", "", 1),
		"** TODO Ada\n", "** TODO Ada\n*** TODO Water the roses\nSCHEDULED: <2026-03-02 Mon +1w>\n", 1))
	prune, _ := f.Find("", []string{"Prune"})
	after, err = f.Move(prune, garden)
	check("where it is", after, err, whole)
	if _, err = f.Move(garden, water); err == nil {
		t.Error("an entry stands below itself")
	}
}

// TestNarrow checks that the narrowed parts contain the whole change, and occur once before and
// after it.
func TestNarrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n")), 0, 60, -1)
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		old, new := orgquery.Narrow(before, after)
		if before == after {
			return
		}
		if strings.Replace(before, old, new, 1) != after {
			t.Fatalf("%q for %q makes %q", new, old, strings.Replace(before, old, new, 1))
		}
		if strings.Count(before, old) != 1 && before != old || strings.Count(after, new) != 1 && after != new {
			t.Fatalf("%q or %q is not there once", old, new)
		}
	})
}

func TestInvalidTimestamps(t *testing.T) {
	for _, text := range []string{"", "soon", "2026-02-30", "2026-03-01 25:00", "2026-03-01 10:00-9:75", "2026-03-01 x y", "%%(x)", "2026-03-01\n* x", "+999999d"} {
		if stamp, err := orgquery.Stamp(text, 20000); err == nil {
			t.Errorf("%q became %s", text, stamp)
		}
	}
}

// A repeating entry without a keyword has none afterwards either, as Org has it.
func TestRepeatsWithoutKeyword(t *testing.T) {
	f := orgquery.Read(orgquery.Source{Path: "plan.org", Text: "* Water\nSCHEDULED: <2026-03-02 Mon +1w>\n"})
	after, _, err := f.Apply(f.Entries[0], orgquery.Change{Todo: to("DONE"), Now: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)})
	if err != nil || !strings.HasPrefix(after, "* Water\nSCHEDULED: <2026-03-09 Mon +1w>\n") {
		t.Errorf("%q, %v", after, err)
	}
}

// No change gives an entry a tag that would have the agent act on it: those of the list, and those that the person has
// chosen. An entry that has it keeps it, and can lose it.
func TestTagsThatWake(t *testing.T) {
	const text = "* TODO Mine :robot:\n* Theirs\n"
	read := func(held ...string) *orgquery.File {
		return orgquery.Read(orgquery.Source{Path: "plan.org", Text: text, Held: held})
	}
	for _, c := range []struct {
		title  string
		change orgquery.Change
		held   []string
		want   string // of the heading, "" where it is refused
	}{
		{"Theirs", orgquery.Change{Tags: []string{"agenttask"}}, nil, ""},
		{"Theirs", orgquery.Change{Tags: []string{"x", ":AgentHook:"}}, nil, ""},
		{"Theirs", orgquery.Change{Tags: []string{"Robot"}}, []string{"robot"}, ""},
		{"Theirs", orgquery.Change{Tags: []string{"robots"}}, []string{"robot"}, "* Theirs :robots:"},
		{"Theirs", orgquery.Change{Tags: []string{"robot"}}, nil, "* Theirs :robot:"},
		{"Theirs", orgquery.Change{Title: to("It :robot:")}, []string{"robot"}, "* It :robot\u200b:"},
		{"Mine", orgquery.Change{Tags: []string{"robot", "y"}}, []string{"robot"}, "* TODO Mine :robot:y:"},
		{"Mine", orgquery.Change{Untagged: []string{"robot"}}, []string{"robot"}, "* TODO Mine"},
	} {
		f := read(c.held...)
		e, err := f.Find("", []string{c.title})
		if err != nil {
			t.Fatal(err)
		}
		after, _, err := f.Apply(e, c.change)
		if c.want == "" {
			if known, ok := errors.AsType[*protocol.ToolError](err); !ok || known.Code != protocol.ToolRefused || !strings.Contains(known.Message, "only the person gives") {
				t.Errorf("%+v: %v\n%s", c.change, err, after)
			}
			continue
		}
		if line := strings.Join(strings.Fields(strings.SplitAfter(strings.Replace(after, "* TODO Mine :robot:\n", "", 1), "\n")[0]), " "); err != nil || line != c.want {
			t.Errorf("%+v: %v, %q and not %q", c.change, err, line, c.want)
		}
	}
	if after, err := read("robot").Below(nil, orgquery.New{Title: "New", Tags: []string{"robot"}}); err == nil {
		t.Errorf("a new entry is\n%s", after)
	}
	after, err := read("robot").Below(nil, orgquery.New{Title: "New :robot:"})
	if err != nil || !strings.HasSuffix(after, "* New :robot\u200b:\n") {
		t.Errorf("a new entry is\n%s%v", after, err)
	}
}
