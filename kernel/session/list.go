package session

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/protocol"
)

// listLimit is how many sessions a list has: a frame has an end, and people search.
const listLimit = 5000

// List returns every session, latest first, with its file; also those of which there is
// only a file.
func (h *Sessions) List(ctx context.Context) (protocol.SessionListResult, error) {
	infos, err := h.config.Journal.Sessions.List(ctx)
	if err != nil {
		return protocol.SessionListResult{}, err
	}
	known := map[string]bool{}
	for i := range infos {
		infos[i].File = h.directory.file(infos[i].Name)
		known[infos[i].Name] = true
	}
	infos = append(infos, h.directory.others(known)...)
	slices.SortStableFunc(infos, func(a, b protocol.SessionInfo) int { return strings.Compare(b.Updated, a.Updated) })
	result := protocol.SessionListResult{Sessions: infos[:min(len(infos), listLimit)]}
	result.Left = len(infos) - len(result.Sessions)
	return result, nil
}

// directory is where the files of conversations are, "" if there are none.
type directory string

// file returns the path of a session's file, "" if there are no files.
func (d directory) file(session string) string {
	if d == "" {
		return ""
	}
	return filepath.Join(string(d), session+".org")
}

// others returns the sessions that have a file and are not known.
func (d directory) others(known map[string]bool) (infos []protocol.SessionInfo) {
	if d == "" {
		return nil
	}
	files, err := os.ReadDir(string(d))
	if err != nil {
		return nil // no directory: no files
	}
	for _, f := range files {
		name, isOrg := strings.CutSuffix(f.Name(), ".org")
		if !isOrg || known[name] || !protocol.ValidSession(name) || f.IsDir() {
			continue
		}
		info := protocol.SessionInfo{Name: name, File: d.file(name)}
		if status, err := f.Info(); err == nil {
			info.Updated = status.ModTime().UTC().Format(time.RFC3339)
		}
		infos = append(infos, info)
	}
	return infos
}
