package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// markdownText returns Markdown of about this size, as models write it.
func markdownText(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "## Part %d\n\nA paragraph with **bold**, *italic*, `code`, a [link](https://example.org/%d) and snake_case_words,\nover two lines.\n\n", i, i)
		b.WriteString("- an item\n- another\n  1. nested\n  2. twice\n\n```python\ndef part(value):\n    return value * 2\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n")
	}
	return b.String()
}

// measureMarkdown converts a megabyte with the command, and with pandoc if that is installed. The times
// include the start of the programs.
func measureMarkdown(ctx context.Context, p programs) ([]row, error) {
	text := markdownText(1 << 20)
	convert := func(count int, name string, arguments ...string) (rates []float64, err error) {
		for range count {
			command := exec.CommandContext(ctx, name, arguments...)
			command.Stdin, command.Stderr = strings.NewReader(text), os.Stderr
			began := time.Now()
			if err := command.Run(); err != nil {
				return nil, fmt.Errorf("run %s: %w", name, err)
			}
			rates = append(rates, float64(len(text))/time.Since(began).Seconds())
		}
		return rates, nil
	}
	ours, err := convert(benchmarkCount, p.kernel, "md2org")
	if err != nil {
		return nil, err
	}
	r := row{what: "a megabyte of Markdown to Org", unit: rate, values: ours}
	if _, err := exec.LookPath("pandoc"); err != nil {
		r.what += " (pandoc is not installed)"
		return []row{r}, nil
	}
	theirs, err := convert(2, "pandoc", "-f", "gfm", "-t", "org")
	r.peers = []peer{{name: "pandoc", values: theirs}}
	return []row{r}, err
}
