package llm

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"strings"
)

// Cascade asks providers in turn until one begins to answer. The provider of the first delta
// answers alone: an error after that ends the stream. If all fail, the error is a *CascadeError
// with the error of each. No further provider is asked after the context ended, or if the request
// is for the first only.
type Cascade struct {
	// Steps are asked in order.
	Steps []Step
	// Logger gets a record each time the next step is asked; nil logs nothing.
	Logger *slog.Logger
}

// Step is one provider of a cascade.
type Step struct {
	// Name is the provider's name in errors and logs.
	Name     string
	Provider Provider
	// Model replaces the model of the request, unless it is empty: the providers of a cascade
	// seldom have the same models.
	Model string
}

// Stream returns the stream of the first step that begins to answer.
func (c Cascade) Stream(ctx context.Context, request Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		failed := &CascadeError{}
		steps := c.Steps
		if request.FirstOnly {
			steps = steps[:min(len(steps), 1)]
		}
		for i, step := range steps {
			forStep := request
			if step.Model != "" {
				forStep.Model = step.Model
			}
			begun, failure := relay(step.Provider.Stream(ctx, forStep), yield)
			if failure == nil {
				return
			}
			failed.Steps = append(failed.Steps, StepError{Name: step.Name, Err: failure})
			if begun || ctx.Err() != nil || ClassOf(failure) == ClassCanceled {
				yield(Delta{}, failure)
				return
			}
			if c.Logger != nil && i+1 < len(steps) {
				c.Logger.WarnContext(ctx, "next model asked", "provider", step.Name, "next", steps[i+1].Name, "err", failure)
			}
		}
		yield(Delta{}, failed.reduce())
	}
}

// CascadeError is the error of a cascade in which no provider answered. Steps has the errors in the
// order in which the providers were asked.
type CascadeError struct {
	Steps []StepError
}

// StepError is the error of one provider of a cascade.
type StepError struct {
	Name string
	Err  error
}

// Error lists the providers with their errors. It lists equal errors once, behind the names of all
// their providers.
func (e *CascadeError) Error() string {
	return "no model answered: " + e.join(func(s StepError) string { return strings.TrimPrefix(s.Err.Error(), s.Name+": ") })
}

// Hint returns what a person can do about the error of each provider. If that is the same for all,
// it names no provider.
func (e *CascadeError) Hint() string {
	hint := func(s StepError) string { return HintOf(s.Err) }
	if !slices.ContainsFunc(e.Steps, func(s StepError) bool { return hint(s) != hint(e.Steps[0]) }) {
		return hint(e.Steps[0])
	}
	return e.join(hint)
}

// join returns the text of each provider after its name. A text that several providers share stands
// once, after their names.
func (e *CascadeError) join(text func(StepError) string) string {
	var texts []string
	names := map[string][]string{}
	for _, s := range e.Steps {
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

// Unwrap returns the providers' errors. ClassOf returns the class of the first.
func (e *CascadeError) Unwrap() []error {
	chain := make([]error, len(e.Steps))
	for i, s := range e.Steps {
		chain[i] = s.Err
	}
	return chain
}

// reduce returns the simplest form of the error: that of the one provider, if only one was asked.
func (e *CascadeError) reduce() error {
	switch len(e.Steps) {
	case 0:
		return &Error{Class: ClassModel, Message: "no model is configured",
			Advice: "set ORG_AGENT_LLM_BASE_URL (and _API_KEY, _MODEL), or ORG_AGENT_LLM=builtin to talk without a model"}
	case 1:
		return e.Steps[0].Err
	}
	return e
}
