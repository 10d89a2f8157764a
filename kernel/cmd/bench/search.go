package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// searchedMessages is how many messages are searched. The target is for a million, but writing so many
// takes minutes; see BenchmarkSearch.
const searchedMessages = 100_000

// measureSearch searches many messages. The peer is ripgrep, or else grep, with the same text.
func measureSearch(ctx context.Context, p programs) ([]row, error) {
	directory, err := os.MkdirTemp("", "oa")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the messages: %w", err)
	}
	defer os.RemoveAll(directory)
	queries := []struct{ name, what string }{
		{"rare", "a rare word"}, {"commonest five", "five common words"}, {"beginning of 4", "four letters that many words begin with"},
		{"phrase never said", "a phrase of common words that nobody said, until the first answer"},
	}
	var names []string
	for _, q := range queries {
		names = append(names, strings.ReplaceAll(q.name, " ", "_"))
	}
	results, err := runBenchmark(ctx, p, "journal", "Search$/^("+strings.Join(names, "|")+")$", "1x",
		"-messages", strconv.Itoa(searchedMessages), "-messages-in", filepath.Join(directory, "journal.db"), "-messages-text", directory)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, q := range queries {
		result := results["Search/"+names[i]]
		if len(result.p95) == 0 {
			return nil, fmt.Errorf("kernel/journal did not report the search %s", q.name)
		}
		r := row{what: fmt.Sprintf("search in %d messages, p95: %s", searchedMessages, q.what), target: "50 ms", values: result.p95}
		if r.peers, err = grepPeers(ctx, directory, q.name); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// grepPeers measures how long a program without an index takes to count the lines that contain the query.
// It returns nil for a query that is not one word or phrase.
func grepPeers(ctx context.Context, directory, query string) ([]peer, error) {
	pattern, err := os.ReadFile(filepath.Join(directory, query))
	if err != nil {
		return nil, fmt.Errorf("read the query: %w", err)
	}
	if query == "commonest five" || strings.HasSuffix(string(pattern), "*") {
		return nil, nil // several patterns, or the beginning of a word
	}
	name := "rg"
	if _, err := exec.LookPath(name); err != nil {
		name = "grep"
	}
	result := peer{name: name}
	for range benchmarkCount {
		began := time.Now()
		command := exec.CommandContext(ctx, name, "-c", "-i", "-w", "-F", string(pattern), filepath.Join(directory, "messages"))
		if err := command.Run(); err != nil && command.ProcessState.ExitCode() != 1 { // 1 means no match
			return nil, fmt.Errorf("run %s: %w", name, err)
		}
		result.values = append(result.values, time.Since(began).Seconds())
	}
	return []peer{result}, nil
}
