package session

import (
	"context"
	"os"
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
	infos, err := h.config.Journal.Sessions(ctx)
	if err != nil {
		return protocol.SessionListResult{}, err
	}
	known := map[string]bool{}
	for i := range infos {
		infos[i].File = h.file(infos[i].Name)
		known[infos[i].Name] = true
	}
	infos = append(infos, h.unjournalled(known)...)
	slices.SortStableFunc(infos, func(a, b protocol.SessionInfo) int { return strings.Compare(b.Updated, a.Updated) })
	result := protocol.SessionListResult{Sessions: infos[:min(len(infos), listLimit)]}
	result.Left = len(infos) - len(result.Sessions)
	return result, nil
}

// unjournalled are the sessions that have a file and in which nothing was said.
func (h *Sessions) unjournalled(known map[string]bool) (infos []protocol.SessionInfo) {
	if h.config.Directory == "" {
		return nil
	}
	files, err := os.ReadDir(h.config.Directory)
	if err != nil {
		return nil // no directory: no files
	}
	for _, f := range files {
		name, isOrg := strings.CutSuffix(f.Name(), ".org")
		if !isOrg || known[name] || !protocol.ValidSession(name) || f.IsDir() {
			continue
		}
		info := protocol.SessionInfo{Name: name, File: h.file(name)}
		if status, err := f.Info(); err == nil {
			info.Updated = status.ModTime().UTC().Format(time.RFC3339)
		}
		infos = append(infos, info)
	}
	return infos
}
