// Package walk holds no code: its tests do in a real Emacs, key by key, what README.org and the manual tell
// people to do, and look at the screen as people would. The walks are in testdata, and script_test.go says how
// one is written.
package walk

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	displays = flag.String("displays", "terminal", "comma-separated: `where` Emacs is shown, terminal or window")
	inits    = flag.String("inits", "empty", "comma-separated: the `init` files, empty or typical, or cloned for none in a clone that is built first")
	emacs    = flag.String("emacs", "emacs", "the `program` that is shown in a window")
	more     = flag.Bool("more", false, "do the walks in testdata/more, too")
	pictures = flag.String("pictures", "", "a `directory` for a picture of each step")
)

// A display is where Emacs is shown, with its keyboard.
type display interface {
	run(ctx context.Context, command string) error
	press(ctx context.Context, keys string) error
	write(ctx context.Context, text string) error
	screen(ctx context.Context) (string, error)
	// text is the text of a screen, in which lines that Emacs broke are whole.
	text(screen string) string
	picture(ctx context.Context, name string) error
}

// unwanted is what nobody wants to see in any step.
var unwanted = regexp.MustCompile(`(?i)wrong type argument|symbol’s|void[- ]variable|args out of range|debugger|\*warnings\*|\*backtrace\*|error in |is undefined|can do nothing useful here|\[no match\]`)

const (
	waitTimeout  = 30 * time.Second // of somebody who waits for a thing to be seen
	startTimeout = 2 * time.Minute  // the same, when Emacs starts
	buildTimeout = 30 * time.Minute // the same, when the program is built first
	glance       = 50 * time.Millisecond
)

func TestWalks(t *testing.T) {
	if testing.Short() {
		t.Skip("-short starts no Emacs")
	}
	for _, where := range strings.Split(*displays, ",") {
		for _, init := range strings.Split(*inits, ",") {
			for _, s := range readScripts(t) {
				further := filepath.Base(filepath.Dir(s.name)) == "more"
				if further && !*more || init == cloned && (further || s.document != "README.org") {
					continue // in a clone, what it does is done in a checkout that is built
				}
				t.Run(where+"/"+init+"/"+strings.TrimSuffix(filepath.Base(s.name), ".org"), func(t *testing.T) {
					walkScript(t, s, where, init)
				})
			}
		}
	}
}

// cloned is the init of a person who has nothing: a clone is built, and then it is as with an empty one.
const cloned = "cloned"

func walkScript(t *testing.T, s script, where, init string) {
	h := newHome(t, s, init)
	w := &walker{t: t, script: s, home: h, began: map[string]mark{}, timeout: startTimeout}
	if init == cloned {
		init, w.timeout = "empty", buildTimeout
		w.began[firstAnswer] = mark{at: h.made}
	}
	switch where {
	case "terminal":
		w.display = newTerminal(t, h)
	case "window":
		w.display = newWindow(t, h)
	default:
		t.Fatalf("there is no display %q", where)
	}
	for number, now := range s.steps {
		if len(now.inits) > 0 && !slices.Contains(now.inits, init) {
			continue
		}
		w.walk(now)
		if *pictures != "" {
			name := filepath.Join(*pictures, strings.ReplaceAll(t.Name(), "/", "-"))
			if err := w.display.picture(t.Context(), fmt.Sprintf("%s-%02d", name, number+1)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A walker is the person who does what a script says.
type walker struct {
	t       *testing.T
	script  script
	home    *home
	display display
	keys    int // pressed so far
	began   map[string]mark
	timeout time.Duration // until something is seen
	seen    bool          // something
}

// firstAnswer is the clock that runs from the clone, where there is one.
const firstAnswer = "to the first answer"

// A mark is when a clock was started, and how many keys had been pressed by then.
type mark struct {
	at   time.Time
	keys int
}

// walk does a step. What is to be seen after keys is to be seen at once, on one screen.
func (w *walker) walk(now step) {
	w.t.Helper()
	for i := 0; i < len(now.parts); {
		if !now.parts[i].looks() {
			if err := w.do(now.parts[i]); err != nil {
				w.t.Fatalf("%s:%d: %v", w.script.name, now.parts[i].line, err)
			}
			i++
			continue
		}
		end := i
		for end < len(now.parts) && now.parts[end].looks() {
			end++
		}
		w.await(now, now.parts[i:end])
		i = end
	}
}

func (w *walker) do(p part) error {
	ctx := w.t.Context()
	switch p.word {
	case "run":
		return w.display.run(ctx, p.text)
	case "press":
		w.keys += len(strings.Fields(p.text))
		return w.display.press(ctx, p.text)
	case "type":
		w.keys += len([]rune(p.text))
		return w.display.write(ctx, p.text)
	case "call":
		w.keys += len(p.text) + 2
		if err := w.display.press(ctx, "M-x"); err != nil {
			return err
		}
		if err := w.display.write(ctx, p.text); err != nil {
			return err
		}
		return w.display.press(ctx, "RET")
	case "serve":
		w.home.serveModel(w.t, w.script.model, p.text)
	case "start":
		if _, ok := w.began[p.text]; !ok {
			w.began[p.text] = mark{time.Now(), w.keys}
		}
	case "stop":
		began, ok := w.began[p.text]
		if !ok {
			return fmt.Errorf("this clock was not started")
		}
		w.t.Logf("clock\t%s\t%s\t%.1f s\t%d keys", p.text, filepath.Dir(strings.TrimPrefix(w.t.Name(), "TestWalks/")), time.Since(began.at).Seconds(), w.keys-began.keys)
	}
	return nil
}

// await looks at the screen until it is as the parts want it.
func (w *walker) await(now step, wanted []part) {
	w.t.Helper()
	limit := waitTimeout
	if !w.seen {
		limit = w.timeout
	}
	for deadline := time.Now().Add(limit); ; time.Sleep(glance) {
		screen, err := w.display.screen(w.t.Context())
		late := time.Now().After(deadline)
		if err != nil && late {
			w.t.Fatal(err)
		}
		text := plain(w.display.text(screen))
		if found := unwanted.FindString(text); found != "" {
			w.t.Fatalf("%s:%d: in the step %q, %q is seen:\n%s", w.script.name, wanted[0].line, now.title, found, screen)
		}
		at := slices.IndexFunc(wanted, func(p part) bool { return !p.holds(text) })
		if at < 0 {
			w.seen = true
			return
		}
		if late {
			w.t.Fatalf("%s:%d: in the step %q, what is to be %s is otherwise after %v: %s\n%s",
				w.script.name, wanted[at].line, now.title, wanted[at].word, limit, wanted[at].text, screen)
		}
	}
}

// TestMain makes the directory for pictures.
func TestMain(m *testing.M) {
	flag.Parse()
	if *pictures != "" {
		if err := os.MkdirAll(*pictures, 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}
