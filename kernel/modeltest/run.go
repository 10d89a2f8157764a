package modeltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// DefaultLimit is how long one task may take, with everything that it asks.
const DefaultLimit = 2 * time.Minute

// faultsInARow is after how many tasks without an answer of the server a dialect is given up.
const faultsInARow = 3

// Runner has tasks done. All fields but Limit, Times and Done are required.
type Runner struct {
	// Kernel runs a kernel in the home that the environment names, and calls ready when clients can connect.
	Kernel func(ctx context.Context, env func(string) string, ready func(socket string)) error
	// Model is the model as its config.org has it, and Environment are the other variables of the kernels.
	Model       config.Alone
	Environment func(string) string
	Tasks       []Task
	Dialects    []string
	Times       int           // how often each task is done; 0 is once
	Limit       time.Duration // 0 is DefaultLimit
	// Done is called after each task.
	Done func(Result)
}

// Result is what became of one task in one dialect.
type Result struct {
	Dialect string `json:"dialect"`
	Task    string `json:"task"`
	Kind    string `json:"kind"`
	Passed  bool   `json:"passed"`
	// Why says what was not as expected, or why the server did not answer.
	Why []string `json:"why,omitempty"`
	// Fault reports that the server did not answer, or not in time. It says nothing about the model.
	Fault bool `json:"fault,omitempty"`
	Measured
	// Replies are the replies of the model as it wrote them.
	Replies []string `json:"replies,omitempty"`
}

// Run has all tasks done in all dialects, and returns their results. A dialect in which the server answers
// nothing three times in a row is given up; the table says so. When ctx ends, the task that runs is not
// counted. An error says that a kernel could not be run.
func (r Runner) Run(ctx context.Context) (results []Result, err error) {
	root, err := makeRoot()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	for _, dialect := range r.Dialects {
		faults := 0
		for range max(r.Times, 1) {
			for i := range r.Tasks {
				if faults == faultsInARow || ctx.Err() != nil {
					break
				}
				result, err := r.do(ctx, root, &r.Tasks[i], dialect)
				if ctx.Err() != nil {
					return results, nil
				}
				if err != nil {
					return results, fmt.Errorf("the task %s: %w", r.Tasks[i].Name, err)
				}
				if faults++; !result.Fault {
					faults = 0
				}
				results = append(results, result)
				if r.Done != nil {
					r.Done(result)
				}
			}
		}
	}
	return results, nil
}

// do has one task done in a home of its own.
func (r Runner) do(ctx context.Context, root string, t *Task, dialect string) (result Result, err error) {
	result = Result{Dialect: dialect, Task: t.Name, Kind: t.Kind}
	h, err := makeHome(root, t, r.Model.Text(dialect), func(name string) string {
		if value := r.Model.Secret(name); value != "" {
			return value
		}
		return r.variable(name)
	})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, h.remove()) }()
	limit := r.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	last, err := r.converse(within, h, t)
	late := within.Err() != nil
	if err != nil && !late {
		return result, err
	}
	story, err := h.readStory(context.WithoutCancel(ctx), last)
	if err != nil {
		return result, err
	}
	if story.outcome.Files, err = h.files(t); err != nil {
		return result, err
	}
	result.Measured, result.Replies = story.measured, story.replies
	switch {
	case late:
		result.Fault, result.Why, result.Seconds = true, []string{fmt.Sprintf("it took longer than %s", limit)}, limit.Seconds()
	case story.fault != "":
		result.Fault, result.Why = true, []string{story.fault}
	case !story.asked && !story.outcome.Answered: // such as a request that does not fit
		result.Fault, result.Why = true, []string{story.notice}
	default:
		result.Why = t.Failures(story.outcome)
		if !story.outcome.Answered && story.notice != "" {
			result.Why = append(result.Why, story.notice)
		}
		result.Passed = len(result.Why) == 0
	}
	return result, nil
}

// variable returns a variable of the environment for a kernel that is tested. Those that choose a model, a
// home or a key are not passed on.
func (r Runner) variable(name string) string {
	if strings.HasPrefix(name, "ORG_AGENT_") || strings.HasPrefix(name, "XDG_") || strings.HasSuffix(name, "_API_KEY") || strings.HasSuffix(name, "_BASE_URL") {
		return ""
	}
	return r.Environment(name)
}

// converse runs a kernel in the home, asks it the questions of the task one after another, and ends it. It
// returns the turn of the last question.
func (r Runner) converse(ctx context.Context, h *home, t *Task) (last string, err error) {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- r.Kernel(running, h.env, func(socket string) { ready <- socket }) }()
	defer func() {
		stop()
		if ended != nil {
			err = errors.Join(err, <-ended)
		}
	}()
	select {
	case socket := <-ready:
		return ask(ctx, h, socket, t.questions)
	case failure := <-ended:
		ended = nil
		if failure == nil {
			failure = errors.New("the kernel ended before it was ready")
		}
		return "", failure
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// ask sends questions to a kernel, each when the one before is answered.
func ask(ctx context.Context, h *home, socket string, questions []string) (turn string, err error) {
	token, err := config.ReadToken(h.paths.Token)
	if err != nil {
		return "", err
	}
	c := &client{events: make(chan any, 64)}
	conn, err := rpc.Dial(ctx, rpc.DialConfig{
		Socket: socket, Timeout: time.Minute, Token: rpc.Token(token), Client: protocol.ClientInfo{Name: "cli"}, Handler: c.incoming,
	})
	if err != nil {
		return "", err
	}
	defer conn.Close()
	load := protocol.SessionLoadParams{Session: protocol.MainSession, View: protocol.ViewPlain, Watch: true}
	if err := conn.Call(ctx, protocol.MethodSessionLoad, load, &protocol.SessionLoadResult{}); err != nil {
		return "", err
	}
	for _, question := range questions {
		var accepted protocol.EventResult
		message := protocol.Object{
			{Key: "sensor", Value: protocol.Keyword(protocol.SensorChatMessage)}, {Key: "session", Value: protocol.MainSession},
			{Key: "text", Value: question}, {Key: "channel", Value: protocol.Keyword(protocol.ChannelCLI)},
		}
		if err := conn.Call(ctx, protocol.MethodEvent, message, &accepted); err != nil {
			return turn, err
		}
		turn = accepted.Turn
		if err := c.wait(ctx, conn, turn); err != nil {
			return turn, err
		}
	}
	return turn, nil
}

// client is a connection that shows nobody anything.
type client struct{ events chan any }

// incoming passes on what ends a turn or asks a person.
func (c *client) incoming(ctx context.Context, request *rpc.Request) (any, error) {
	switch p := request.Params.(type) {
	case *protocol.Act:
		return protocol.Receipt{Done: true}, nil
	case *protocol.Ask, *protocol.TurnFinished:
		select {
		case c.events <- p:
		case <-ctx.Done():
		}
	}
	return nil, nil
}

// wait waits for the end of a turn. Whatever asks meanwhile is declined: nobody is there.
func (c *client) wait(ctx context.Context, conn *rpc.Conn, turn string) error {
	for {
		select {
		case e := <-c.events:
			switch p := e.(type) {
			case *protocol.TurnFinished:
				if p.Turn == turn {
					return nil
				}
			case *protocol.Ask:
				no := protocol.AskDecideParams{ID: p.ID, Decision: protocol.Deny, Reason: "nobody asked for that"}
				if err := conn.Call(ctx, protocol.MethodAskDecide, no, nil); err != nil {
					return err
				}
			}
		case <-conn.Done():
			return errors.New("the kernel closed the connection")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
