package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// usageCommand is "org-agent usage".
type usageCommand struct {
	By      string `help:"One row for each turn, session, model, day or tool." enum:"turn,session,model,day,tool" default:"session"`
	Session string `help:"Only of this conversation." placeholder:"NAME"`
	JSON    bool   `help:"Print JSON."`
}

func (c *usageCommand) Run(ctx context.Context, proc *process) error {
	_, east := time.Now().Zone()
	params := protocol.UsageGetParams{Session: c.Session, By: protocol.UsageBy(c.By), East: east}
	var rows, total protocol.UsageGetResult
	if err := proc.call(ctx, protocol.MethodUsageGet, params, &rows); err != nil {
		return err
	}
	if params.By == protocol.UsageByTool {
		return c.printTools(proc, rows.Tools)
	}
	params.By = protocol.UsageTotal
	if err := proc.call(ctx, protocol.MethodUsageGet, params, &total); err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(map[string]any{"rows": rows.Rows, "total": total.Rows})
	}
	_, err := fmt.Fprint(proc.stdout, usageTable(rows.Rows, total.Rows))
	return err
}

// printTools prints the size of each tool's results, with their sum below.
func (c *usageCommand) printTools(proc *process, tools []protocol.ToolUsage) error {
	var total protocol.ToolUsage
	for _, u := range tools {
		total.Calls, total.Bytes, total.Tokens = total.Calls+u.Calls, total.Bytes+u.Bytes, total.Tokens+u.Tokens
	}
	if c.JSON {
		return proc.printJSON(map[string]any{"tools": tools, "total": total})
	}
	const rule = "|-\n"
	var b strings.Builder
	b.WriteString("| tool | calls | bytes | tokens, about |\n" + rule)
	for _, u := range tools {
		writeToolUsage(&b, cmp.Or(cell(u.Tool), "others"), u)
	}
	b.WriteString(rule)
	if len(tools) > 0 {
		writeToolUsage(&b, "all", total)
	}
	_, err := fmt.Fprint(proc.stdout, b.String())
	return err
}

func writeToolUsage(b *strings.Builder, name string, u protocol.ToolUsage) {
	fmt.Fprintf(b, "| %s | %d | %d | %d |\n", name, u.Calls, u.Bytes, u.Tokens)
}

// usageTable returns an Org table of the rows. total is the sum of all rows, also of those that are
// not listed.
func usageTable(rows, total []protocol.Usage) string {
	const rule = "|-\n"
	var b strings.Builder
	b.WriteString("| what | model | replies | in | cached | out | cost | first word | tokens/s |\n" + rule)
	for _, u := range rows {
		writeUsage(&b, usageName(u), u)
	}
	b.WriteString(rule)
	for _, u := range total {
		writeUsage(&b, "all", u)
	}
	return b.String()
}

// usageName returns the label of a row, as the text of a cell.
func usageName(u protocol.Usage) string {
	for _, name := range []string{u.What, u.Session, u.Model} {
		if name != "" {
			return cell(name)
		}
	}
	return "?"
}

// cell returns a text as the cell of an Org table.
func cell(of string) string {
	return strings.ReplaceAll(text.Line(of), "|", "\\vert{}")
}

func writeUsage(b *strings.Builder, name string, u protocol.Usage) {
	cost := "unknown"
	if u.Cost != nil {
		cost = fmt.Sprintf("%.4f", *u.Cost)
		if u.Unpriced > 0 {
			cost = "> " + cost // some of it has no known price
		}
	}
	first, rate := "", ""
	if u.First > 0 {
		first = fmt.Sprintf("%.2f s", u.First)
	}
	if u.Rate > 0 {
		rate = fmt.Sprintf("%.0f", u.Rate)
	}
	fmt.Fprintf(b, "| %s | %s | %d | %d | %d | %d | %s | %s | %s |\n", name, cell(u.Model), u.Replies, u.Input, u.Cached, u.Output, cost, first, rate)
}
