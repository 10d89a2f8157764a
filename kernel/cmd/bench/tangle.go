package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"org-agent/kernel/org"
)

// noteText returns a note of about this size, with headings, prose, blocks for three targets, and
// references.
func noteText(size int) string {
	var b strings.Builder
	b.WriteString("#+PROPERTY: header-args :tangle all.sh\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "* Part %d\n\nWhat this part does, and why it is done so. It is told\nin a few lines of prose, as notes do.\n\n", i)
		fmt.Fprintf(&b, "#+begin_src python :tangle all.py :comments link\n  def part_%d(value):\n      total = value * %d\n      return total + 1\n#+end_src\n\n", i, i)
		fmt.Fprintf(&b, "#+name: step-%d\n#+begin_src sh :tangle no\n  echo step %d\n  test -d /tmp || exit 1\n#+end_src\n\n", i, i)
		if i%10 == 0 {
			fmt.Fprintf(&b, "#+begin_src sh :noweb yes\n  if true; then\n    <<step-%d>>\n  fi\n#+end_src\n\n", i)
		}
	}
	return b.String()
}

// measureTangle tangles a note as the command does. The peer is Emacs.
func measureTangle(ctx context.Context, p programs) ([]row, error) {
	text := noteText(128 << 10)
	path, remove, err := writeNote(text)
	if err != nil {
		return nil, err
	}
	defer remove()
	directory := filepath.Dir(path)
	theirs, err := readRates(ctx, len(text), p.emacs, "-Q", "--batch", "-l", "testdata/bench/tangle.el", path)
	if err != nil {
		return nil, err
	}
	var ours []float64
	for range 20 {
		began := time.Now()
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read the note: %w", err)
		}
		files, diagnostics := org.Tangle(org.TangleRequest{Path: path, Directory: directory, Home: directory, Source: source})
		if len(diagnostics) > 0 {
			return nil, fmt.Errorf("tangle the note: %v", diagnostics[0])
		}
		if _, faults := org.WriteTangled(files); faults != nil {
			return nil, fmt.Errorf("write the tangled files: %v", faults[0])
		}
		ours = append(ours, float64(len(text))/time.Since(began).Seconds())
	}
	return []row{{what: "tangling a note of 128 kB", target: "20 MB/s", unit: rate, values: ours, peers: []peer{{"Emacs", theirs, false}}}}, nil
}
