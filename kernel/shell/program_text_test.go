package shell

import "testing"

// TestOnlyEdits checks scripts of sed that the table of command lines cannot have, because of their
// backslashes and line ends.
func TestOnlyEdits(t *testing.T) {
	for script, want := range map[string]bool{
		``: true, `p`: true, `s/\n/ /g`: true, "p\nd": true, `s/a\/b/c/`: true, `s/[^]]/x/`: true, `s/[[:alpha:]]*/x/`: true, `s/a/[/`: true, `s/a/b/ ; p`: true, "/a/{\np\n}": true,
		"a text; w x": true, "a text\np": true, `$!N`: true, `1,3!d`: true, `/a/I,+3p`: true, `q5`: true, `y/a\/b/cde/`: true, "# e rm\np": true,
		"p\ne": false, "p;w x": false, "a\\\ntext": true, "a text\\\ne rm": true, "a\\\ntext\ne rm": false, "a\\": false, "a x\\\n": false, ":x#;e rm": false, "bx#;e rm": false, `s/[^\/]*$//`: true, `s/[\n]/x/`: true, `s/[\[/]/e]/x/`: false, `s_a_b_`: true, "a": false, "a\ne rm": false, "s/a\n/b/": false, "s/a/b\\\nc/": false, "s/a/b/w x": false, "s/a/b/ e": false, "s/a/b/g e": false,
		`s/[/]e rm/`: false, `s/[\]/]/x/`: false, `s/[[:/:]]/x/`: false, `s/[[.a/e`: false, `sea/e/e`: false, `s\a\b\`: false, "s\na\nb\n": false, `y/a/b/e`: false, `/a`: false, `s/a/b`: false, `1,e rm`: false, `b x;e rm`: false,
		`be rm`: false, "{e rm": false, "}e rm": false, "!e rm": false, `1~e`: false, "r x": false, "L": false, "v": false, `\,a,p`: true, `\,a,e rm`: false, `\ea\,ep`: false, `pe rm`: false, `dw x`: false, `p p`: false, "=\te": false, "#\ne": false, `s/a/b/p;s/c/d/e`: false,
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
$1 > $2}`: true, "{print 1 ?\n2 :\n3 > \"x\"}": false, "{print 1 &&\n2 > \"x\"}": false, `{print (1 > 2)}`: true, `{print (1)(2) > "x"}`: false, `{ARGV[1]="/etc/passwd"}`: false, `{print /[/]/ > "x"}`: false,
		`{x = "system"}`: true, `{print "a > b | c"}`: true, `/a|b/ {print}`: true, `{if (x) /a/ > 1}`: false, `{print length / 2 > "x"; y = "/"}`: false, `{print a++ / 2 > "x" "/"}`: false, `{gsub(/\//, "|"); print}`: true, `{f(1) / 2 > 1}`: true,
		`{x = $2system("x")}`: false, `{x = 0x1system("y")}`: false, `{x = 1e5 / 2 > 1}`: true,
		`{awk::system("x")}`: false, `$0 ~ "x>y"`: true, `{printf("%s\n", $1 > 2)}`: true, `{printf("%s\n", $1) > "x"}`: false, `{print -1 " " -1 > "x"}`: false, `@load "x"`: false, "{print\n}\n$1 > 3": true, `# print ;
{ print $1, # print }
$2 > $3 }`: false, `{print /[;]/ > $1}`: false, `{print "a\";" > $1}`: false, `$1 | "sh"`: false, `||| "sh"`: false, `{ x | & y }`: false, `BEGIN { while (("ls" | getline l) > 0) n++ }`: false,
	} {
		if got := onlyComputes(program); got != want {
			t.Errorf("%q: %v", program, got)
		}
	}
}
