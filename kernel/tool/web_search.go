package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
	"org-agent/kernel/websearch"
)

//go:embed web_search.md
var webSearchManual string

// The limits of one search.
const (
	webResults     = 8
	webResultsMost = 20
	webQuestion    = 400 // characters
)

type webSearchArguments struct {
	Query string `doc:"what to search for" required:"true"`
	Limit int    `doc:"the most results, up to 20 (default: 8)"`
	// Address is the address that was judged and shown. No other one is asked.
	Address string `doc:"the address that is asked" internal:"true"`
}

func webSearch(search func() *websearch.Server) Tool {
	if search == nil {
		search = func() *websearch.Server { return nil }
	}
	changed := func() error {
		return protocol.ToolErrorf(protocol.ToolFailed, "the search server of config.org is not the same any more: search again")
	}
	return New(Definition[webSearchArguments]{
		Name: "web_search", Manual: webSearchManual, Effect: protocol.ToolReads,
		Offered: func() bool { return search() != nil },
		Reach: func(_ context.Context, by *Caller, a *webSearchArguments) ([]protocol.Reach, error) {
			a.Query = text.Line(a.Query)
			switch {
			case a.Query == "":
				return nil, protocol.ToolErrorf(protocol.ToolArguments, "the argument :query is empty: say what to look for")
			case utf8.RuneCountInString(a.Query) > webQuestion:
				return nil, protocol.ToolErrorf(protocol.ToolArguments, "the question is longer than %d characters: look for a few words", webQuestion)
			}
			if a.Limit = min(a.Limit, webResultsMost); a.Limit <= 0 {
				a.Limit = webResults
			}
			s := search()
			if s == nil {
				return nil, changed()
			}
			a.Address = s.URL(a.Query, a.Limit)
			return []protocol.Reach{{Kind: protocol.ReachFetches, URL: a.Address}}, nil
		},
		Preview: func(_ context.Context, by *Caller, a webSearchArguments) (Preview, error) {
			return Preview{Summary: "Search the web for " + a.Query, Text: a.Query, Effects: []string{
				"your search server is asked this, and asks others", "it changes nothing here; the agent reads what is found as data",
			}}, nil
		},
		Perform: func(ctx context.Context, by *Caller, a webSearchArguments) (string, error) {
			s := search()
			if s == nil || s.URL(a.Query, a.Limit) != a.Address {
				return "", changed()
			}
			results, err := s.Search(ctx, a.Query, a.Limit)
			if err != nil {
				return "", err
			}
			if len(results) == 0 {
				return "Nothing was found: try other words.", nil
			}
			var b strings.Builder
			fmt.Fprintf(&b, "%d found:\n", len(results))
			for i, r := range results {
				fmt.Fprintf(&b, "\n%d. %s\n   %s\n", i+1, r.Title, r.URL)
				if r.Text != "" {
					fmt.Fprintf(&b, "   %s\n", r.Text)
				}
			}
			return b.String(), nil
		},
	})
}
