package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"org-agent/kernel/journal"
)

// audit writes down, before anything can be asked, that this kernel was started without a
// safeguard. A kernel that cannot say so does not start.
func (d *daemon) audit(ctx context.Context) error {
	if !d.config.WithoutSafety {
		return nil
	}
	row, err := json.Marshal(struct {
		Option  string `json:"option"`
		Version string `json:"version"`
		PID     int    `json:"pid"`
	}{"without-safety", d.config.Version, os.Getpid()})
	if err == nil {
		_, err = d.journal.Records.Append(ctx, journal.Entry{Kind: journal.KindAudit, Data: row})
	}
	if err != nil {
		return fmt.Errorf("write down that the rules of safety are left out: %w", err)
	}
	d.log.Warn("started without the rules of safety: no model is told them", "option", "without-safety")
	return nil
}
