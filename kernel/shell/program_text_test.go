package shell

import "testing"

// TestOnlyEdits checks scripts of sed that the table of command lines cannot have, because of their
// backslashes and line ends.
func TestOnlyEdits(t *testing.T) {
	for script, want := range map[string]bool{
		``: true, `p`: true, `s/\n/ /g`: true, "p\nd": true, `s/a\/b/c/`: true, `s/[^]]/x/`: true, `s/[[:alpha:]]*/x/`: true, `s/a/[/`: true, `s/a/b/ ; p`: true, "/a/{\np\n}": true,
		"a text; w x": true, "a text\np": true, `$!N`: true, `1,3!d`: true, `/a/I,+3p`: true, `q5`: true, `y/a\/b/cde/`: true, "# e rm\np": true,
		"p\ne": false, "p;w x": false, "a\\\ntext": false, "a text\\\ne rm": false, "a": false, "a\ne rm": false, "s/a\n/b/": false, "s/a/b\\\nc/": false, "s/a/b/w x": false, "s/a/b/ e": false, "s/a/b/g e": false,
		`s/[/]e rm/`: false, `s/[\]/]/x/`: false, `s/[[:/:]]/x/`: false, `s/[[.a/e`: false, `sea/e/e`: false, `s\a\b\`: false, "s\na\nb\n": false, `y/a/b/e`: false, `/a`: false, `s/a/b`: false, `1,e rm`: false, `b x;e rm`: false,
		`be rm`: false, "{e rm": false, "}e rm": false, "!e rm": false, `1~e`: false, "r x": false, "L": false, "v": false, `\,a,p`: false, `pe rm`: false, `dw x`: false, `p p`: false, "=\te": false, "#\ne": false, `s/a/b/p;s/c/d/e`: false,
	} {
		if got := onlyEdits(script); got != want {
			t.Errorf("%q: %v", script, got)
		}
	}
}

// TestOnlyComputes does the same for programs of awk.
func TestOnlyComputes(t *testing.T) {
	for program, want := range map[string]bool{
		`{printf "%s\n", $1}`: true, `/\.go$/ && $2 > 3`: true, "$1 > 2 {\n print\n}\nEND { if (x > 1) exit }": true, `{print} END { if (x > 1) exit }`: true, `{print $1; if ($2 > 1) n++}`: true, `$1 || $2`: true,
		"{print $1,\n$2 > \"x\"}": false, `{print ")" > "x"}`: false, `{print $1 } { print > "x"}`: false, `{printf "x"; print $1 > $2}`: false, "{pri\\\nnt > $1}": false, `{print # ;
$1 > $2}`: false, `# print ;
{ print $1, # print }
$2 > $3 }`: false, `{print /[;]/ > $1}`: false, `{print "a\";" > $1}`: false, `$1 | "sh"`: false, `||| "sh"`: false, `{ x | & y }`: false, `BEGIN { while (("ls" | getline l) > 0) n++ }`: false,
	} {
		if got := onlyComputes(program); got != want {
			t.Errorf("%q: %v", program, got)
		}
	}
}
