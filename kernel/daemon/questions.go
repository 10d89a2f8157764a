package daemon

import (
	"context"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// questions answers what waits for a person's answer, oldest first.
func (d *daemon) questions(ctx context.Context, _ *rpc.Client, _ *protocol.Empty) (protocol.QuestionListResult, error) {
	open, err := d.journal.OpenQuestions(ctx)
	var result protocol.QuestionListResult
	for _, question := range open {
		result.Questions = append(result.Questions, question.Question)
	}
	return result, err
}

// answer takes a person's answer.
func (d *daemon) answer(ctx context.Context, client *rpc.Client, p *protocol.QuestionAnswerParams) (protocol.QuestionAnswerResult, error) {
	return d.agent.Answer(ctx, *p, client.Info().Name)
}
