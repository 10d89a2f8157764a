package llm

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"strings"
)

// Cascade asks providers in turn until one begins to answer. The one that
// yields the first delta answers alone: an error after that is the stream's.
// When all fail, the error is a *CascadeError that says what each of them said.
// A request whose context ended is not passed on, nor is one that is for the first only.
type Cascade struct {
	// Steps are asked in order.
	Steps []Step
	// Logger hears each time the next step is asked; nil is silence.
	Logger *slog.Logger
}

// Step is one provider of a cascade.
type Step struct {
	// Name is the provider's name in errors and logs.
	Name string
	// Provider answers.
	Provider Provider
	// Model is asked for instead of the request's, unless it is empty: the
	// providers of a cascade seldom have the same models.
	Model string
}

// Stream is the stream of the first step that begins to answer.
func (c Cascade) Stream(ctx context.Context, request Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		said := &CascadeError{}
		steps := c.Steps
		if request.FirstOnly {
			steps = steps[:min(len(steps), 1)]
		}
		for i, step := range steps {
			asked := request
			if step.Model != "" {
				asked.Model = step.Model
			}
			begun, failure := relay(step.Provider.Stream(ctx, asked), yield)
			if failure == nil {
				return
			}
			said.Said = append(said.Said, Said{Name: step.Name, Err: failure})
			if begun || ctx.Err() != nil || ClassOf(failure) == ClassCanceled {
				yield(Delta{}, failure)
				return
			}
			if c.Logger != nil && i+1 < len(steps) {
				c.Logger.WarnContext(ctx, "next model asked", "provider", step.Name, "next", steps[i+1].Name, "err", failure)
			}
		}
		yield(Delta{}, said.reduce())
	}
}

// CascadeError says what each provider of a cascade said.
type CascadeError struct {
	Said []Said
}

// Said is what one provider of a cascade said.
type Said struct {
	Name string
	Err  error
}

// Error lists the providers with their errors, in the order they were asked; what
// several said alike is said once.
func (e *CascadeError) Error() string {
	return "no model answered: " + e.join(func(s Said) string { return strings.TrimPrefix(s.Err.Error(), s.Name+": ") })
}

// Hint says for each provider what to do about its error; when it is the same for all,
// it names none.
func (e *CascadeError) Hint() string {
	hint := func(s Said) string { return HintOf(s.Err) }
	if !slices.ContainsFunc(e.Said, func(s Said) bool { return hint(s) != hint(e.Said[0]) }) {
		return hint(e.Said[0])
	}
	return e.join(hint)
}

// join returns the text of each provider behind its name, or behind the names of all
// that have the same.
func (e *CascadeError) join(text func(Said) string) string {
	var texts []string
	names := map[string][]string{}
	for _, s := range e.Said {
		t := text(s)
		if !slices.Contains(texts, t) {
			texts = append(texts, t)
		}
		if s.Name != "" {
			names[t] = append(names[t], s.Name)
		}
	}
	for i, t := range texts {
		if of := names[t]; len(of) > 0 {
			texts[i] = strings.Join(of, ", ") + ": " + t
		}
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the providers' errors; ClassOf sees the first one's class.
func (e *CascadeError) Unwrap() []error {
	chain := make([]error, len(e.Said))
	for i, s := range e.Said {
		chain[i] = s.Err
	}
	return chain
}

// reduce returns the error of a cascade as simply as it can be said.
func (e *CascadeError) reduce() error {
	switch len(e.Said) {
	case 0:
		return &Error{Class: ClassModel, Message: "no model is configured",
			Advice: "set ORG_AGENT_LLM_BASE_URL (and _API_KEY, _MODEL), or ORG_AGENT_LLM=builtin to talk without a model"}
	case 1:
		return e.Said[0].Err
	}
	return e
}
