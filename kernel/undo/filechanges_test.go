package undo_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/files"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/undo"
)

// What a performer changes in files is in its receipt, also when it fails afterwards, and is told once
// with each file's name. What is no text or too long is named only.
func TestKeepChanges(t *testing.T) {
	failure := errors.New("the disk is full")
	var told []protocol.FileChanged
	perform := undo.KeepChanges(func(ctx context.Context, _ kind.Order) (kind.Result, error) {
		files.RecordChange(ctx, files.Change{Path: "/a", Before: []byte("one\ntwo\n"), After: []byte("one\n2\n")})
		files.RecordChange(ctx, files.Change{Path: "/a", Before: []byte("one\n2\n"), After: []byte("1\n2\n")})
		files.RecordChange(ctx, files.Change{Path: "/b", After: []byte("new\n"), New: true})
		files.RecordChange(ctx, files.Change{Path: "/c", Before: []byte("\xff"), After: []byte("x")})
		files.RecordChange(ctx, files.Change{Path: "/d", After: []byte(strings.Repeat("long ", 1<<16)), New: true})
		return kind.Result{Receipt: protocol.Receipt{Done: true}}, failure
	}, func(changed protocol.FileChanged) { told = append(told, changed) })
	result, err := perform(t.Context(), kind.Order{Turn: "t1"})
	if !errors.Is(err, failure) || !result.Receipt.Done {
		t.Errorf("it came to %+v, %v", result, err)
	}
	if len(told) != 1 || told[0].Turn != "t1" || !slices.Equal(told[0].Files, []string{"/a", "/b", "/c", "/d"}) {
		t.Errorf("it is told %+v", told)
	}
	var opaque, created []bool
	for _, c := range result.Receipt.Files {
		opaque, created = append(opaque, c.Opaque), append(created, c.Created)
	}
	if !slices.Equal(opaque, []bool{false, false, false, true, true}) || !slices.Equal(created, []bool{false, false, true, false, true}) {
		t.Errorf("the receipt has %+v", result.Receipt.Files)
	}
	if first := result.Receipt.Files[0]; !strings.Contains(first.Old, "two") || strings.Contains(first.New, "two") {
		t.Errorf("the first change is %+v", first)
	}

	quiet := undo.KeepChanges(func(context.Context, kind.Order) (kind.Result, error) { return kind.Result{}, nil },
		func(changed protocol.FileChanged) { t.Errorf("without a change it is told %+v", changed) })
	if result, err := quiet(t.Context(), kind.Order{}); err != nil || len(result.Receipt.Files) > 0 {
		t.Errorf("without a change it came to %+v, %v", result, err)
	}
}
