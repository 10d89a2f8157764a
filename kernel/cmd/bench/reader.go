package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"org-agent/kernel/plist"
)

// wireText returns about a megabyte of messages as the kernel sends them.
func wireText() string {
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, `(:jsonrpc "2.0" :method "turn/delta" :params (:session "main" :turn "01J9%08d" :id "act-%d" :offset %d :text "Both are from *April*: see the note \"Silk road\" and what follows.\nA second line." :final nil))`+"\n", i, i, 7*i)
	}
	return b.String()
}

// measureReader reads the same text with the kernel's reader and with that of Emacs. It also measures the
// stream reader with replies of growing sizes.
func measureReader(ctx context.Context, p programs) ([]row, error) {
	text := wireText()
	path, remove, err := writeNote(text)
	if err != nil {
		return nil, err
	}
	defer remove()
	theirs, err := readRates(ctx, len(text), p.emacs, "-Q", "--batch", "-l", "testdata/bench/read.el", path)
	if err != nil {
		return nil, err
	}
	var ours []float64
	for range 20 {
		began := time.Now()
		reader := plist.NewTreeReader(text, plist.Limits{})
		for err = nil; err == nil; {
			_, err = reader.Next()
		}
		if !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read the text: %w", err)
		}
		ours = append(ours, float64(len(text))/time.Since(began).Seconds())
	}
	rows := []row{{what: "plist reader, 1 MB", target: "100 MB/s", unit: rate, values: ours, peers: []peer{{"Emacs read", theirs, false}}}}
	streams, err := runBenchmark(ctx, p, "plist", "Stream/reply=", "100ms")
	if err != nil {
		return nil, err
	}
	for _, size := range []string{"64k", "256k", "1024k"} {
		for _, piece := range []string{"1", "4096"} {
			values := streams["Stream/reply="+size+"/piece="+piece].rates
			rows = append(rows, row{what: "stream reader, reply of " + size + "B in pieces of " + piece, target: "linear", unit: rate, values: values})
		}
	}
	return rows, nil
}
