package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"org-agent/kernel/fetch"
	"org-agent/kernel/protocol"
)

//go:embed web_fetch.md
var webFetchManual string

type webFetchArguments struct {
	URL  string `doc:"the address, such as https://example.org/page" required:"true"`
	From int    `doc:"the byte at which the part begins (default: 0)"`
}

func webFetch(f *fetch.Fetcher) Tool {
	return New(Definition[webFetchArguments]{
		Name: "web_fetch", Manual: webFetchManual, Effect: protocol.ToolReads,
		Offered: func() bool { return f != nil },
		Reach: func(_ context.Context, by *Caller, a *webFetchArguments) ([]protocol.Reach, error) {
			address, err := f.Address(a.URL)
			if err != nil {
				return nil, err
			}
			a.URL = address
			return []protocol.Reach{{Kind: protocol.ReachFetches, URL: address}}, nil
		},
		Preview: func(_ context.Context, by *Caller, a webFetchArguments) (Preview, error) {
			return Preview{Summary: "Fetch " + a.URL, Text: a.URL, Effects: []string{
				"it asks that server for this page and no other; the server sees the whole address, and that you asked",
				"it changes nothing here; the agent reads the page as data",
			}}, nil
		},
		Perform: func(ctx context.Context, by *Caller, a webFetchArguments) (string, error) {
			page, err := f.Get(ctx, a.URL)
			if err != nil {
				return "", err
			}
			if page.Text == "" {
				return "", protocol.ToolErrorf(protocol.ToolUnfit, "%s has no readable text: look for another page", page.URL)
			}
			text, err := partOf(page.Text, a.From)
			if err != nil {
				return "", err
			}
			if page.Cut && strings.HasSuffix(page.Text, text) {
				text += "\n[The page goes on, and is longer than what is read of one.]"
			}
			return pageFacts(page) + "\n" + text, nil
		},
	})
}

// pageFacts returns what is known of a page, one fact on each line.
func pageFacts(page fetch.Page) string {
	var b strings.Builder
	for _, row := range [...][2]string{{"Address", page.URL}, {"Title", page.Title}, {"Author", page.Author}, {"Site", page.Site}, {"Published", page.Published}} {
		if row[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", row[0], row[1])
		}
	}
	return b.String()
}
