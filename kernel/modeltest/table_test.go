package modeltest_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"org-agent/kernel/modeltest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// results are so many results of a dialect, of which the first passed and the last got no answer.
func results(dialect string, passed, failed, faults, tokens int, cost *float64) (all []modeltest.Result) {
	for i := range passed + failed + faults {
		r := modeltest.Result{Dialect: dialect, Kind: []string{"answer", "call"}[i%2], Passed: i < passed, Fault: i >= passed+failed}
		r.Measured = modeltest.Measured{Input: tokens, Output: 5, Seconds: 0.25, Cost: cost}
		all = append(all, r)
	}
	return all
}

func TestTable(t *testing.T) {
	cost := 0.0011
	all := append(results("plist", 10, 6, 0, 1000, &cost), results("constrained", 3, 1, 0, 900, nil)...)
	tallies := modeltest.Tallies(append(all, results("native", 15, 0, 1, 700, nil)...), []string{"plist", "constrained", "native", "untried"}, 16)
	got := modeltest.Table(tallies, []string{"answer", "call"}) + "\n" + modeltest.Recommend(tallies).Text + "\n"
	const golden = "testdata/table.org"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

func TestRecommend(t *testing.T) {
	type dialects map[string][]modeltest.Result
	for name, test := range map[string]struct {
		of      dialects
		dialect string
		says    string
	}{
		"the best":       {dialects{"plist": results("plist", 20, 20, 0, 9, nil), "native": results("native", 38, 2, 0, 99, nil)}, "native", "38 of 40 tasks in it, and 20 in plist."},
		"chance":         {dialects{"plist": results("plist", 37, 3, 0, 9, nil), "native": results("native", 38, 2, 0, 99, nil)}, "native", "may be chance"},
		"fewer tokens":   {dialects{"plist": results("plist", 38, 2, 0, 9, nil), "native": results("native", 38, 2, 0, 99, nil)}, "plist", "and 38 in native with more tokens."},
		"weak":           {dialects{"plist": results("plist", 2, 38, 0, 9, nil), "native": results("native", 9, 31, 0, 9, nil)}, "native", "too weak"},
		"alone":          {dialects{"plist": results("plist", 30, 10, 0, 9, nil), "native": results("native", 3, 0, 0, 9, nil)}, "plist", "no other dialect was done whole"},
		"nothing passed": {dialects{"plist": results("plist", 0, 40, 0, 9, nil), "native": results("native", 0, 40, 0, 9, nil)}, "", "use another model"},
		"no answers":     {dialects{"plist": results("plist", 30, 0, 10, 9, nil)}, "", "in none all tasks were done"},
		"nothing":        {nil, "", "in none all tasks were done"},
	} {
		got := modeltest.Recommend(modeltest.Tallies(append(test.of["plist"], test.of["native"]...), []string{"plist", "native"}, 40))
		if got.Dialect != test.dialect || !strings.Contains(got.Text, test.says) || strings.Count(got.Text, ".") != 1 || !strings.HasSuffix(got.Text, ".") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
