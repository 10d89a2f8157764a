package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// severity orders verdicts: what is let through more is larger.
var severity = map[string]int{"refuse": 0, "fault": 0, "ask": 1, "allow": 2}

// verdicts are those of "policy explain", by its exit status.
var verdicts = map[int]string{0: "allow", 5: "ask", 4: "refuse"}

// judged is a case of a corpus of command lines.
type judged struct {
	rows, command, want string
	arguments           []string
	directory           string            // where it is judged, in the person's; "": in the home
	files               map[string]string // that are made there
}

func corpus(t *team, name string) ([][]string, error) {
	text, err := os.ReadFile(filepath.Join(t.data, "kernel/policy/testdata", name))
	if err != nil {
		return nil, err
	}
	var lines [][]string
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		lines = append(lines, strings.Split(line, "\t"))
	}
	return lines, nil
}

const ruleHead = "* Rules\n| rule | matches | verdict | why | since |\n|-\n"

// commandLines asks the program about each command line of the corpus, in a directory.
func commandLines(t *team, ctx context.Context, c *count) error {
	lines, err := corpus(t, "commands.tsv")
	if err != nil {
		return err
	}
	var cases []judged
	for _, cells := range lines {
		rows := ruleHead
		for row := range strings.SplitSeq(cells[0], " + ") {
			kind, verdict := "runs", "allow"
			switch {
			case row == "":
				continue
			case row[0] == '!':
				verdict = "refuse"
			case row[0] == '?':
				verdict = "ask"
			case strings.HasPrefix(row, "w:"):
				kind = "writes"
			}
			rows += fmt.Sprintf("| %s | %s | %s | | |\n", kind, strings.TrimPrefix(strings.TrimLeft(row, "!?"), "w:"), verdict)
		}
		command := strings.ReplaceAll(cells[1], `\n`, "\n")
		cases = append(cases, judged{rows: rows, command: command, want: cells[2], arguments: []string{"--command", command}})
	}
	return judge(t, ctx, c, cases)
}

// programOptions does the same for the corpus by program, in a directory.
func programOptions(t *team, ctx context.Context, c *count) error {
	lines, err := corpus(t, "programs.tsv")
	if err != nil {
		return err
	}
	var cases []judged
	for _, cells := range lines {
		rows, program := ruleHead, strings.Fields(cells[0])[0]
		if cells[2] == "all" {
			rows += "| runs | " + program + " ** | allow | | |\n| runs | ls ** | allow | | |\n"
		}
		cases = append(cases, judged{rows: rows, command: cells[0], want: cells[1], arguments: []string{"--command", cells[0]}})
	}
	return judge(t, ctx, c, cases)
}

// foreignDirectories does the same for the corpus of directories that are no projects, each in such a one, and below
// it in a project where all of it is allowed.
func foreignDirectories(t *team, ctx context.Context, c *count) error {
	lines, err := corpus(t, "directories.tsv")
	if err != nil {
		return err
	}
	var cases []judged
	for i, cells := range lines {
		rows := ruleHead
		for row := range strings.SplitSeq(cells[1], " + ") {
			rows += "| runs | " + row + " | allow | | |\n"
		}
		foreign, own := fmt.Sprintf("elsewhere/%d", i), fmt.Sprintf("own/%d", i)
		files := map[string]string{foreign + "/": "", own + "/.git/": ""}
		for name := range strings.FieldsSeq(cells[0]) {
			files[foreign+"/"+name], files[own+"/"+name] = "", ""
		}
		cases = append(cases, judged{rows: rows, command: cells[2], want: cells[3], arguments: []string{"--command", cells[2]}, directory: foreign, files: files},
			judged{rows: rows, command: cells[2], want: "allow", arguments: []string{"--command", cells[2]}, directory: own})
	}
	return judge(t, ctx, c, cases)
}

// judge compares verdicts with those of a corpus. Cases with the same rows share a home.
func judge(t *team, ctx context.Context, c *count, cases []judged) error {
	homes := map[string]*home{}
	for _, of := range cases {
		if homes[of.rows] == nil {
			h, err := t.newHome(map[string]string{".org-agent/policy.org": of.rows})
			if err != nil {
				return err
			}
			homes[of.rows] = h
		}
		if err := homes[of.rows].add(of.files); err != nil {
			return err
		}
	}
	work := make(chan judged)
	var workers sync.WaitGroup
	var failure error
	for range 3 {
		workers.Go(func() {
			for of := range work {
				got, err := homes[of.rows].agent(ctx, cmp.Or(of.directory, ".org-agent"), "", append([]string{"policy", "explain"}, of.arguments...)...)
				t.mu.Lock()
				verdict, known := verdicts[got.code]
				told := fmt.Sprintf("%q given %q: %s, not %s: %s", of.command, of.rows[len(ruleHead):], verdict, of.want, got.out+got.err)
				switch {
				case err != nil:
					failure = err
				case !known || severity[verdict] > severity[of.want]:
					c.through = append(c.through, told)
				case severity[verdict] < severity[of.want]:
					c.harsh = append(c.harsh, told)
				}
				c.cases++
				t.mu.Unlock()
			}
		})
	}
	for _, of := range cases {
		work <- of
	}
	close(work)
	workers.Wait()
	slices.Sort(c.through)
	return failure
}
