package skill

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
)

// answers play the servers of the network in a test.
type answers struct {
	rows  []answerRow
	outer *answers
}

// answerRow is an answer to the requests for an address.
type answerRow struct {
	method  string // in upper case, or "" for any
	address string
	sends   []string // what the request must contain
	answer  lisp.ServerAnswer
}

// next returns the answer to a request.
func (a *answers) next(request lisp.ServerRequest) (lisp.ServerAnswer, error) {
	var sent strings.Builder
	for _, h := range request.Header {
		fmt.Fprintf(&sent, "%s: %s\n", h[0], h[1])
	}
	sent.Write(request.Body)
	lacking := ""
	for each := a; each != nil; each = each.outer {
		for _, row := range each.rows {
			if row.address != request.Address || row.method != "" && row.method != request.Method {
				continue
			}
			missing := slices.IndexFunc(row.sends, func(part string) bool { return !strings.Contains(sent.String(), part) })
			if missing < 0 {
				return row.answer, nil
			}
			lacking = fmt.Sprintf("; what was sent has no %q", row.sends[missing])
		}
	}
	return lisp.ServerAnswer{}, fmt.Errorf("the test has no answer for %s %s%s", request.Method, request.Address, lacking)
}

// answerMacros returns the macros for answers of servers in tests.
func answerMacros() []lisp.KernelMacro {
	return []lisp.KernelMacro{{Name: "with-answers", LambdaList: "(answers &body body)", Expand: expandWithAnswers,
		Doc: "In a test, evaluate body with these answers of servers: each is an address and a body, and may have :status, :type, :method and :sends."}}
}

// expandWithAnswers makes lists of the answers and a function of the body.
func expandWithAnswers(call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	rows, proper := lisp.Slice(args[0], 1000)
	if !proper {
		return nil, errors.New("behind with-answers comes a list of answers, each an address and a body")
	}
	list := call.Symbol("LIST")
	made := []lisp.Value{list}
	for _, row := range rows {
		if _, ok := row.(*lisp.Cons); !ok {
			return nil, errors.New("an answer is a list of an address and a body")
		}
		made = append(made, &lisp.Cons{Car: list, Cdr: row})
	}
	function := lisp.NewList(append([]lisp.Value{call.Symbol("LAMBDA"), lisp.Nil}, args[1:]...)...)
	return lisp.NewList(call.Symbol("%WITH-ANSWERS"), lisp.NewList(made...), function), nil
}

// withAnswers implements with-answers.
func withAnswers(_ context.Context, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	o := invocationOf(call.Reason())
	if o.purpose != purposeTest {
		return nil, fmt.Errorf("with-answers was used by %s; it belongs into a test", o.purpose)
	}
	rows, _ := lisp.Slice(args[0], 1000)
	mine := &answers{outer: o.answers}
	for _, row := range rows {
		read, err := readAnswer(row)
		if err != nil {
			return nil, fmt.Errorf("an answer of with-answers: %w", err)
		}
		mine.rows = append(mine.rows, read)
	}
	o.answers = mine
	defer func() { o.answers = mine.outer }()
	return call.Apply(args[1])
}

// readAnswer reads (ADDRESS BODY :status 200 :type "application/json" :method :get :sends TEXTS).
func readAnswer(v lisp.Value) (answerRow, error) {
	fields, proper := lisp.Slice(v, 1000)
	if !proper || len(fields) < 2 || len(fields)%2 != 0 {
		return answerRow{}, errors.New("it is an address and a body, and then keywords with their values")
	}
	address, isAddress := fields[0].(*lisp.String)
	body, isBody := fields[1].(*lisp.String)
	if !isAddress || !isBody {
		return answerRow{}, errors.New("the address and the body are strings")
	}
	row := answerRow{address: address.String(), answer: lisp.ServerAnswer{
		Address: address.String(), Status: http.StatusOK, Body: []byte(body.String()), Text: body.String(), IsText: true,
		Header: [][2]string{{"Content-Type", "text/plain"}},
	}}
	for i := 2; i < len(fields); i += 2 {
		key, ok := fields[i].(*lisp.Symbol)
		if !ok {
			return answerRow{}, errors.New("behind the body come keywords with their values")
		}
		var err error
		switch key.Name() {
		case "STATUS":
			status, read := lisp.ToSexp(fields[i+1])
			if row.answer.Status, ok = statusOf(status); !ok || read != nil {
				return answerRow{}, errors.New("the :status is a number such as 404")
			}
		case "TYPE":
			var texts []string
			if texts, err = textsOf(fields[i+1]); err == nil && len(texts) == 1 {
				row.answer.Header = [][2]string{{"Content-Type", texts[0]}}
			}
		case "METHOD":
			row.method, err = nameOf(fields[i+1])
			row.method = strings.ToUpper(row.method)
		case "SENDS":
			row.sends, err = textsOf(fields[i+1])
		default:
			err = fmt.Errorf("there is no :%s here; there are :status, :type, :method and :sends", strings.ToLower(key.Name()))
		}
		if err != nil {
			return answerRow{}, err
		}
	}
	return row, nil
}

// statusOf reads a status of HTTP.
func statusOf(x sexp.Sexp) (status int, ok bool) {
	if x == nil {
		return 0, false
	}
	status, err := strconv.Atoi(plist.Print(x))
	return status, err == nil && status >= 100 && status <= 599
}
