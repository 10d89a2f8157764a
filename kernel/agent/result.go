package agent

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// earlierResult is what came of a call of this conversation: the number of its round, and of a
// batch the number of the call behind a point.
func (r *run) earlierResult(ctx context.Context, id string) (string, error) {
	number, call, batch := strings.Cut(strings.TrimSpace(id), ".")
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return "", fmt.Errorf("%q is the id of no result: it is the number that stands where one is left out", id)
	}
	round, err := r.agent.config.Journal.Round(ctx, r.turn.Record.Session, seq)
	if err != nil {
		return "", err
	}
	if !batch {
		return round.Text, nil
	}
	n, err := strconv.Atoi(call)
	if err != nil || n < 1 || n > len(round.Calls) {
		return "", fmt.Errorf("the batch %d has %d calls, and %q is none of them", seq, len(round.Calls), id)
	}
	return round.Calls[n-1].Text, nil
}
