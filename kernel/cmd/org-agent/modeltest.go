package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/daemon"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/drivers"
	"org-agent/kernel/llm/route"
	"org-agent/kernel/modeltest"
)

// modelTest is "org-agent models test". It needs no kernel, and one that runs is not disturbed: each task has a kernel
// of its own in this process.
type modelTest struct {
	Name    string        `arg:"" optional:"" help:"A heading of config.org, or HEADING:MODEL (default: the model that answers)." placeholder:"NAME"`
	Dialect []string      `help:"Only in this dialect: plist, constrained or native. May be repeated." enum:"plist,constrained,native" placeholder:"DIALECT"`
	Task    []string      `help:"Only this task, or the tasks of this kind. May be repeated." placeholder:"TASK"`
	Times   int           `help:"How often each task is done." default:"1" placeholder:"N"`
	Limit   time.Duration `help:"How long one task may take." default:"2m" placeholder:"D"`
	Why     bool          `help:"Print below the table what failed, and why."`
	Write   bool          `help:"Write the recommended dialect into config.org without asking."`
	JSON    bool          `help:"Print JSON: each result on a line, then the table and the recommendation."`
}

// tested is what a test found.
type tested struct {
	Model       string            `json:"model"`
	Server      string            `json:"server"`
	Dialects    []modeltest.Tally `json:"dialects"`
	Table       string            `json:"table"`
	Interrupted bool              `json:"interrupted,omitempty"`

	modeltest.Recommendation
	// Heading is the heading of config.org below which a dialect is to be written, and Write the dialect. Both are "" if
	// there is none, or nothing is to be changed.
	Heading string `json:"heading,omitempty"`
	Write   string `json:"write,omitempty"`
}

// progress is a result while the test goes on, with the table so far.
type progress struct {
	modeltest.Result
	Done  int    `json:"done"`
	Of    int    `json:"of"`
	Table string `json:"table"`
}

func (c *modelTest) Run(ctx context.Context, proc *process) error {
	if c.Times < 1 || c.Limit <= 0 {
		return usagef("--times is a number from 1 up, and --limit a time such as 90s")
	}
	paths, err := proc.paths()
	if err != nil {
		return err
	}
	tasks, err := c.tasks(paths)
	if err != nil {
		return err
	}
	text, settings, err := readConfig(paths)
	if err != nil {
		return err
	}
	choice, err := chooseModel(ctx, settings, proc.env, c.Name)
	if err != nil {
		return err
	}
	alone, err := config.ModelAlone(ctx, text, choice, proc.env)
	if err != nil {
		return fmt.Errorf("%s: %w", choice.Name, err)
	}
	driver, err := drivers.All().Named(choice.Driver)
	if err != nil {
		return fmt.Errorf("%s: %w", choice.Name, err)
	}
	alone.TakesSchema = driver.TakesSchema
	fmt.Fprintf(proc.stderr, "org-agent: testing %s at %s; nothing of yours is sent to it but its key\n", modelName(choice), route.Host(choice.BaseURL))
	constrains, err := answers(ctx, alone)
	if err != nil {
		return err
	}
	dialects := c.dialects(proc, constrains)
	if len(dialects) == 0 {
		return fmt.Errorf("nothing was tested: %s", noGrammar)
	}
	return c.test(ctx, proc, paths, choice, modeltest.Runner{
		Kernel: func(ctx context.Context, env func(string) string, ready func(string)) error {
			return daemon.Run(ctx, daemon.Config{Env: env, Version: version, Drivers: drivers.All(), Ready: ready})
		},
		Model: alone, Environment: proc.env, Tasks: tasks, Dialects: dialects, Times: c.Times, Limit: c.Limit,
	})
}

// modelTasks is the directory of the home with the person's own tasks.
const modelTasks = "model-tests"

// tasks returns the tasks of the program and the person's, as far as they were asked for.
func (c *modelTest) tasks(paths config.Paths) ([]modeltest.Task, error) {
	tasks, err := modeltest.Embedded()
	if err != nil {
		return nil, err
	}
	own, err := modeltest.Directory(filepath.Join(paths.Home, modelTasks))
	if err != nil {
		return nil, err
	}
	tasks = append(slices.DeleteFunc(tasks, func(t modeltest.Task) bool { // one of the same name takes its place
		return slices.ContainsFunc(own, func(o modeltest.Task) bool { return o.Name == t.Name })
	}), own...)
	if len(c.Task) == 0 {
		return tasks, nil
	}
	for _, name := range c.Task {
		if !slices.ContainsFunc(tasks, func(t modeltest.Task) bool { return t.Name == name || t.Kind == name }) {
			return nil, usagef("there is no task and no kind of tasks %q: there is %s", name, strings.Join(modeltest.Kinds(tasks), ", "))
		}
	}
	return slices.DeleteFunc(tasks, func(t modeltest.Task) bool {
		return !slices.Contains(c.Task, t.Name) && !slices.Contains(c.Task, t.Kind)
	}), nil
}

const noGrammar = "its server does not say that it takes grammars; if it does, or takes a JSON schema, set :GRAMMAR: below the model's heading in config.org"

// dialects returns the dialects in which the model can be tested.
func (c *modelTest) dialects(proc *process, constrains bool) (names []string) {
	for _, d := range dialect.All() {
		name := d.Name()
		switch {
		case len(c.Dialect) > 0 && !slices.Contains(c.Dialect, name):
		case name == "constrained" && !constrains:
			fmt.Fprintf(proc.stderr, "org-agent: %s is not tested: %s\n", name, noGrammar)
		default:
			names = append(names, name)
		}
	}
	return names
}

// answerTimeout is how long a model may take for the first answer: its server may have to load it.
const answerTimeout = 3 * time.Minute

// answers asks the model for a word, and reports whether its replies can be held to a form. Its error says what to do.
func answers(ctx context.Context, alone config.Alone) (constrains bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	settings := config.Parse("config.org", alone.Text(""))
	router, err := route.New(ctx, route.Config{Drivers: drivers.All(), Dialects: dialect.All(), Settings: settings, Env: alone.Secret})
	if err != nil {
		return false, err
	}
	request := llm.Request{Sections: llm.System("Answer with one word."), Messages: []llm.Message{{Role: llm.RoleUser, Text: "Say ok."}}, MaxTokens: 16, FirstOnly: true}
	_, err = llm.Collect(router.Stream(ctx, request))
	if err == nil {
		return router.Constrains(ctx), nil
	}
	if ctx.Err() != nil && context.Cause(ctx) == context.Canceled {
		return false, exit{code: 130}
	}
	if hint := llm.HintOf(err); hint != "" {
		return false, fmt.Errorf("nothing was tested: %w; %s", err, hint)
	}
	return false, fmt.Errorf("nothing was tested: %w", err)
}

// test runs the tasks, and prints what came of them.
func (c *modelTest) test(ctx context.Context, proc *process, paths config.Paths, choice config.Choice, runner modeltest.Runner) error {
	kinds, each := modeltest.Kinds(runner.Tasks), len(runner.Tasks)*c.Times
	var done []modeltest.Result
	runner.Done = func(r modeltest.Result) {
		done = append(done, r)
		c.tell(proc, progress{r, len(done), each * len(runner.Dialects), modeltest.Table(modeltest.Tallies(done, runner.Dialects, each), kinds)})
	}
	results, err := runner.Run(ctx)
	if err != nil {
		return err
	}
	tallies := modeltest.Tallies(results, runner.Dialects, each)
	found := tested{
		Model: modelName(choice), Server: route.Host(choice.BaseURL), Dialects: tallies, Table: modeltest.Table(tallies, kinds),
		Interrupted: ctx.Err() != nil, Recommendation: modeltest.Recommend(tallies),
	}
	if strings.HasPrefix(choice.Source, "config.org:") && found.Dialect != "" && !strings.HasPrefix(c.Name, choice.Name+":") {
		found.Heading, found.Write = toWrite(choice, found.Dialect, runner.Model.TakesSchema)
	}
	if err := c.print(proc, found, results); err != nil {
		return err
	}
	if found.Interrupted {
		return exit{code: 130}
	}
	if failed := unanswered(results); failed != "" {
		return fmt.Errorf("%s answered nothing: %s", found.Model, failed)
	}
	return c.offer(ctx, proc, paths, found)
}

// unanswered returns why the server answered no task at all, or "".
func unanswered(results []modeltest.Result) string {
	for _, r := range results {
		if !r.Fault {
			return ""
		}
	}
	if len(results) == 0 {
		return "there was no time"
	}
	return strings.Join(results[0].Why, "; ")
}

// tell says what came of one task, to a program or on a terminal.
func (c *modelTest) tell(proc *process, p progress) {
	if c.JSON {
		_ = proc.printJSON(p) // output keeps its first error
		return
	}
	if _, watched := proc.stderr.(screen); !watched {
		return
	}
	outcome := "failed: " + strings.Join(p.Why, "; ")
	switch {
	case p.Passed:
		outcome = "passed"
	case p.Fault:
		outcome = "not answered: " + strings.Join(p.Why, "; ")
	}
	fmt.Fprintf(proc.stderr, "%3d/%d %-11s %-16s %5.1f s  %s\n", p.Done, p.Of, p.Result.Dialect, p.Task, p.Seconds, outcome)
}

// print prints the table and the recommendation.
func (c *modelTest) print(proc *process, found tested, results []modeltest.Result) error {
	if c.JSON {
		return proc.printJSON(found)
	}
	_, err := fmt.Fprintf(proc.stdout, "%s\n%s\n", found.Table, found.Text)
	if !c.Why || err != nil {
		return err
	}
	for _, r := range results {
		if !r.Passed {
			if _, err := fmt.Fprintf(proc.stdout, "- %s, %s: %s\n", r.Dialect, r.Task, strings.Join(r.Why, "; ")); err != nil {
				return err
			}
		}
	}
	return nil
}

// toWrite returns the heading of a model and the dialect that is to be written there, "" if it has that already. Where
// the server tells in which field it takes a grammar, auto is constrained; where the protocol takes a schema, it is not.
func toWrite(choice config.Choice, dialect string, takesSchema bool) (heading, setting string) {
	if dialect == "constrained" && choice.Grammar == "" && !takesSchema {
		dialect = "auto"
	}
	if dialect == choice.Dialect || dialect == "auto" && choice.Dialect == "" {
		return "", ""
	}
	return choice.Name, dialect
}

// offer writes the recommended dialect into config.org if the person agrees.
func (c *modelTest) offer(ctx context.Context, proc *process, paths config.Paths, found tested) error {
	switch {
	case found.Heading == "" && c.Write:
		_, err := fmt.Fprintln(proc.stderr, "org-agent: nothing is to be written into config.org")
		return err
	case found.Heading == "":
		return nil
	case c.Write:
		return writeDialect(proc, paths, found.Heading, found.Write)
	case c.JSON || !terminal(proc.stdin):
		fmt.Fprintf(proc.stderr, "org-agent: to use it: org-agent models dialect %q %s\n", found.Heading, found.Write)
		return nil
	}
	yes, err := proc.confirm(ctx, fmt.Sprintf("write :DIALECT: %s below %s in %s?", found.Write, found.Heading, proc.abbreviate(paths.Config)))
	if err != nil || !yes {
		fmt.Fprintln(proc.stderr, "nothing was written")
		return nil // the test itself has succeeded
	}
	return writeDialect(proc, paths, found.Heading, found.Write)
}

// modelName returns the name of a model for people.
func modelName(choice config.Choice) string {
	if choice.Model.Model == "" || choice.Model.Model == choice.Name {
		return choice.Name
	}
	return fmt.Sprintf("%s (%s)", choice.Model.Model, choice.Name)
}
