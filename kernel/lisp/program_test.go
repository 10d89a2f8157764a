package lisp_test

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// A random program is one expression. Expressions have kinds, so that most programs do
// something; now and then one of the wrong kind is put in, so that some signal. Programs
// end: loops are short, recursion counts down, and what is carried from round to round is
// kept small.
//
// The productions are templates, the simplest first, as shrinking goes towards the first.
// $I stands for an expression whose value is an integer, and likewise
//
//	R rational  L list of integers  S string  B boolean  Y symbol  C character
//	A anything  D nested data       N 0…4     K -70…70   E something done for its effect
//	F function of an integer to an integer, without a state    G of two    P predicate of an integer
var productions = map[byte][]string{
	'I': {
		"(1+ $I)", "(+ $I $I)", "(- $I $I)", "(* $I $I)", "(- $I)", "(abs $I)", "(mod $I $I)", "(rem $I $I)", "(floor $I $I)", "(ceiling $I $I)",
		"(truncate $I $I)", "(round $I $I)", "(floor $R)", "(round $R)", "(max $I $I)", "(min $I $I $I)", "(gcd $I $I)", "(lcm $I $I)", "(ash $I $K)",
		"(logand $I $I)", "(logior $I $I)", "(logxor $I $I)", "(lognot $I)", "(integer-length $I)", "(logcount $I)", "(isqrt (abs $I))", "(signum $I)",
		"(expt (rem $I 1000) $N)", "(numerator $R)", "(denominator $R)", "(length $L)", "(length $A)", "(or (car $A) 0)", "(length $S)", "(if $B $I $I)", "(nth-value 1 (floor $I $I))",
		"(reduce #'+ $L)", "(reduce $G $L :initial-value $I)", "(reduce $G $L :from-end t :initial-value 1)", "(count-if $P $L)", "(or (position $I $L) -1)",
		"(or (position-if $P $L) $I)", "(or (find-if $P $L) $I)", "(funcall $F $I)", "(funcall $G $I $I)", "(apply $G (list $I $I))",
		"(parse-integer (format nil \"~d\" $I))", "(char-code $C)", "(handler-case $I (error () $I))", "(handler-case $I (type-error () $I) (arithmetic-error () $I))",
		"(catch 'tag $I)", "(catch 'tag (+ $I (throw 'tag $I)))", "(block out $I)", "(block out (+ $I (return-from out $I)))", "(unwind-protect $I $E)",
		"(or (car $L) $I)", "(or (nth $N $L) $I)", "(prog1 $I $E)", "(progn $E $E $I)", "(count $I $L)", "(or (ignore-errors $I) 0)", "(mismatch2 $L $L)",
		"(let* ((r $I) (r (+ r $I))) (* r 2))", "(multiple-value-bind (q r) (truncate $I $I) (- q r))", "(destructuring-bind (&optional (p 1) (q p) &rest r) $L (+ p q (length r)))",
		"(case (mod $I 3) (0 $I) ((1 2) $I))", "(cond ($B $I) ($B $I) (t $I))", "(loop for v in $L sum v)", "(loop for v in $L maximize (+ v $I) into m finally (return (or m 0)))",
		"(loop for v in $L for i from 0 below $N count (oddp (+ i v)))", "(loop repeat $N sum $I)", "(loop for i downfrom $N to 0 when $B do (return i) finally (return $I))",
		"(search $L (append $L $L))", "(string-lengths $S $S)", "(logtest-int $I $I)",
	},
	'R': {"(/ $I $I)", "$I", "(+ $R $R)", "(* $R $R)", "(- $R $I)", "(/ $R)", "(max $R $R)", "(expt $Q $N)", "(if $B $R $I)", "(rational $R)"},
	'L': {
		"(list $I)", "(list $I $I $I)", "(cons $I $L)", "(append $L $L)", "(reverse $L)", "(cdr $L)", "(nthcdr $N $L)", "(butlast $L)", "(last $L $N)",
		"(mapcar $F $L)", "(mapcar $G $L $L)", "(let ((n $I)) (mapcar (lambda (v) (incf n (rem v 1000)) n) $L))", "(append (reverse $A) nil)", "(mapcar $F $A)", "(remove-if $P $L)", "(remove-if-not $P $L :count $N)", "(remove $I $L)", "(sort (copy-list $L) #'<)",
		"(stable-sort (copy-list $L) #'> :key $F)", "(remove-duplicates $L)", "(remove-duplicates $L :key $F :from-end t)", "(subseq $L 0 (min $N 0))", "(nreverse (copy-list $L))",
		"(mapcan (lambda (v) (list v (* 2 v))) $L)", "(maplist #'length $L)", "(loop for v in $L collect (+ v $I))", "(loop for v in $L when $B collect v else collect $I)",
		"(loop for (v w) on $L by #'cddr collect (list v w) into all finally (return (mapcar #'car all)))", "(if $B $L $L)", "(multiple-value-list (floor $I $I))", "(member-if $P $L)",
		"(substitute $I $I $L)", "(merge 'list (sort (copy-list $L) #'<) (sort (copy-list $L) #'<) #'<)", "(coerce (coerce $L 'vector) 'list)", "(map 'list #'char-code $S)",
		"(set-difference $L $L)", "(adjoin $I $L)", "(let ((all nil)) (dolist (v $L all) (push (* v v) all)))", "(let ((fs (mapcar (lambda (v) (lambda (w) (- v w))) $L))) (mapcar (lambda (f) (funcall f $I)) fs))",
		"(let ((n $I)) (flet ((next () (incf n 2))) (list (next) (next) n)))", "(handler-case $L (error () $L))", "(delete-if $P (copy-list $L))", "(let ((v (copy-list $L))) (when v (setf (car v) $I)) v)",
		"(loop for i from $N to 6 by 2 append (list i $I))", "(getf (list :a $L :b $L) :b)", "(cdr (assoc $Y (list (cons $Y $L) (cons $Y $L))))", "(list* $I $I $L)",
		"(let ((log nil)) (catch 'tag (unwind-protect (progn (push 1 log) (throw 'tag $I)) (push 2 log))) log)", "(multiple-value-call #'list (floor $I $I) (truncate $I 3))",
		"(let ((h (make-hash-table))) (dolist (v $L) (incf (gethash v h 0))) (loop for k being the hash-keys of h using (hash-value n) collect (+ k n)))",
		"(handler-bind ((error (lambda (e) (declare (ignore e)) (invoke-restart 'mine (list $I))))) (restart-case (list $I) (mine (v) v)))",
		"(let ((i 0) (all nil)) (tagbody again (push i all) (incf i) (when (< i $N) (go again))) all)", "(macrolet ((twice (form) `(list ,form ,form))) (twice $I))",
		"(labels ((f (v &key (w 2) (u (+ v w))) (list v w u))) (f $I :u $I))", "(funcall (lambda (v &optional (w (1+ v) w-p) &rest more) (list v w (if w-p 1 0) (length more))) $I $I $I)",
		"(let ((*s* $I)) (declare (special *s*)) (flet ((get-s () (symbol-value '*s*))) (list (get-s) (let ((*s* 5)) (declare (special *s*)) (get-s)) (get-s))))",
		"(do ((i 0 (1+ i)) (all nil (cons (* i $I) all))) ((>= i $N) all))", "(loop for v in $L for w = v then (+ w v) collect w)", "(symbol-macrolet ((place (car m))) (let ((m (list $I))) (incf place $I) m))",
		"(loop named outer for v in $L do (loop for w in $L do (when (= v w) (return-from outer (list v w)))) finally (return-from outer nil))",
		"(loop for v across (vector $I $I) minimize v into low maximize v into high finally (return (list low high)))",
		"(let ((v (vector $I $I $I))) (setf (aref v (mod $I 3)) 0) (rotatef (aref v 0) (aref v 2)) (coerce v 'list))", "(let ((m (list $I $I))) (psetf (first m) (second m) (second m) $I) m)",
		"(multiple-value-bind (q r) (ignore-errors (values $I $I)) (list (if (integerp q) q 0) (if (integerp r) r 1)))", "(mapcar #'- (remove nil (list $I nil $I)))",
		"(let ((p (list :a $I))) (setf (getf p :b) $I) (incf (getf p :a)) (remf p :c) (list (getf p :a) (getf p :b)))", "(handler-case (progn (signal 'simple-condition) (list $I)) (simple-condition () (list 0)))",
		"(every-other $L)",
		"(catch 'tag (mapcar (lambda (v) (if (evenp v) (throw 'tag (list v)) v)) $L))", "(block out (dolist (v $L) (when (minusp v) (return-from out (list v)))) $L)",
	},
	'S': {
		"(format nil \"~a\" $A)", "(princ-to-string $A)", "(prin1-to-string $A)", "(concatenate 'string $S $S)", "(string-upcase $S)", "(string-capitalize $S)", "(reverse $S)",
		"(subseq $S (min $N 0))", "(subseq $S $N)", "(string-trim \"ab \" $S)", "(remove #\\a $S)", "(substitute $C $C $S)", "(format nil \"~{~a~^, ~}\" $L)", "(symbol-name $Y)",
		"(with-output-to-string (s) (princ $A s) (prin1 $S s))", "(map 'string #'char-upcase $S)", "(format nil \"~s ~5d|~x\" $A $I $I)", "(string $C)", "(if $B $S $S)",
		"(format nil \"~r\" (rem (numerator $I) 1000))", "(format nil \"~:d\" $I)", "(format nil \"~:[no~;yes~]\" $B)", "(sort (copy-seq $S) #'char<)", "(string-downcase $Y)", "(handler-case $S (error () \"e\"))",
		"(format nil \"~@r\" (1+ (mod (numerator $I) 3000)))", "(format nil \"~(~a~) ~a\" $S $R)", "(coerce (list $C $C) 'string)", "(string-right-trim \".\" $S)",
		"(format nil \"~v,'0d\" (mod (numerator $I) 8) $I)", "(format nil \"~@[~a~]~*~a\" $B $I $I)", "(format nil \"~{~a=~a~^;~}\" (list $Y $I $Y $I))", "(format nil \"~d item~:p\" $I)",
		"(format nil \"~c ~@c\" (char-upcase $C) (char-downcase $C))", "(prin1-to-string (list $S $C $Y))", "(with-output-to-string (s) (loop for c across $S do (write-char (char-upcase c) s)))",
		"(read-line (make-string-input-stream $S) nil \"end\")", "(substitute-if #\\- #'alpha-char-p $S)", "(let ((*print-base* 16)) (princ-to-string $I))", "(remove-duplicates $S)",
		"(fill (copy-seq $S) #\\x :end (min 2 (length $S)))", "(handler-case (error \"~a!\" $A) (simple-error (e) (princ-to-string e)))", "(format nil \"~[zero~;one~:;more~]\" (abs (numerator $I)))",
	},
	'B': {
		"(< $I $I)", "(= $I $I $I)", "(<= $R $R)", "(evenp $I)", "(zerop $I)", "(plusp $R)", "(null $L)", "(not $B)", "(and $B $B)", "(or $B $B)", "(eql $A $A)", "(equal $D $D)",
		"(equalp $A $A)", "(string= $S $S)", "(some $P $L)", "(every $P $L)", "(notany $P $L)", "(typep $A 'integer)", "(typep $A '(or symbol string))", "(consp $D)", "(listp $D)",
		"(eq $Y $Y)", "(and (member $I $L) t)", "(and (string< $S $S) t)", "(char< $C $C)", "(logtest $I $I)", "(logbitp $N $I)", "(numberp $A)", "(atom $A)", "(tree-equal $D $D)", "(subsetp $L $L)",
	},
	'Y': {"'foo", "':bar", "nil", "t", "'|a b|", "(if $B $Y $Y)", "(car (list $Y $Y))", "(type-name $A)", "(typecase $A (integer :integer) (string :string) (list :list) (t :other))"},
	'C': {"#\\a", "#\\Z", "#\\Space", "(char \"lisp\" $N)", "(char-upcase $C)", "(code-char (+ 33 (mod $I 90)))", "(digit-char (mod $I 10))", "(if $B $C $C)"},
	'A': {"$I", "$L", "$S", "$Y", "$B", "$C", "$R", "$D", "(vector $A $A)", "(if $B $A $A)", "(handler-case $A (error () $A))", "(first (list $A $A))"},
	'D': {"(list $A $A)", "(cons $A $A)", "(list* $A $A $D)", "'(a (b . c) \"d\" #\\e 1/2)", "(copy-tree $D)", "(subst $I $Y $D)", "(reverse (list $D $A))", "(mapcar #'list $L)", "(pairlis $L $L)"},
	'F': {"#'1+", "#'-", "#'abs", "(lambda (v) v)", "(lambda (v) (rem $v 1208925819614629174706176))", "(lambda (v &optional (w $v)) (- v w))"},
	'G': {"#'+", "#'-", "#'max", "(lambda (v w) (rem $w 1208925819614629174706176))", "(lambda (v &rest w) (+ v (length w)))", "(lambda (w v) (logxor w $w))"},
	'P': {"#'evenp", "#'plusp", "#'minusp", "(lambda (v) $p)", "(complement #'oddp)"},
	'E': {"(setf $=)", "(incf $i $N)", "(push (rem $I 1000) $l)", "(when $B $E)", "(dotimes (i $N) $E)", "(dolist (v (last $L 3)) $E)", "(unless $B $E $E)", "(let ((v $I)) (incf v) $E v)", "(pop $l)"},
}

// prelude defines what some productions call.
const prelude = `(defun mismatch2 (a b) (or (mismatch a b) -1)) (defun string-lengths (a b) (+ (length a) (* 2 (length b)))) (defun logtest-int (a b) (if (logtest a b) 1 0)) ` +
	`(defun every-other (l) (loop for v in l by #'cddr collect v)) (defun type-name (x) (etypecase x (ratio 'ratio) (null 'null) (integer 'integer) (symbol 'symbol) (string 'string) (cons 'cons) (vector 'vector) (character 'char))) `

var leaves = map[byte][]string{
	'I': {"0", "1", "2", "-1", "7", "10", "-13", "100", "4611686018427387903", "4611686018427387904", "-9223372036854775808", "9223372036854775807", "18446744073709551616", "-100000000000000000000"},
	'R': {"1/2", "-7/3", "3", "100000000000000000000/3"},
	'L': {"nil", "(list 1 2 3)", "(list 5 -2 0 5)"},
	'S': {`""`, `"ab"`, `"Hello, World"`, `"a\"b"`},
	'B': {"t", "nil"},
	'Y': {"'foo", ":bar", "nil", "'|a b|"},
	'C': {`#\a`, `#\Z`, `#\Space`},
	'A': {"1", "nil", "'foo", `"ab"`, `#\a`, "1/2"},
	'D': {"nil", "'(1 (2 . 3))", "'(a b)"},
	'F': {"#'1+"}, 'G': {"#'+"}, 'P': {"#'evenp"},
	'E': {"nil"},
}

// author writes one program.
type author struct {
	r *rapid.T
	// integers and lists are the variables in scope.
	integers, lists []string
}

func randomProgram(r *rapid.T) string {
	a := &author{r: r}
	kinds := "ILASBD"
	kind := kinds[a.choose(len(kinds))]
	body := a.bound(kind, 2+a.choose(4))
	for _, name := range []string{"mismatch2", "string-lengths", "logtest-int", "every-other", "type-name"} {
		if strings.Contains(body, "("+name+" ") {
			return prelude + body
		}
	}
	return body
}

func (a *author) choose(n int) int { return rapid.IntRange(0, n-1).Draw(a.r, "choice") }

// expression writes an expression of a kind, at most depth levels deep.
func (a *author) expression(kind byte, depth int) string {
	switch {
	case kind == 'N':
		return fmt.Sprint(a.choose(5))
	case kind == 'K':
		return fmt.Sprint(a.choose(141) - 70)
	case depth <= 0 || a.choose(6) == 0:
		return a.leaf(kind)
	case strings.IndexByte("ISBYCR", kind) >= 0 && a.choose(40) == 39:
		return a.expression('A', depth-1) // of a wrong kind, perhaps
	case strings.IndexByte("ILASD", kind) >= 0 && a.choose(4) == 3:
		return a.bound(kind, depth)
	}
	rows := productions[kind]
	return a.fill(rows[a.choose(len(rows))], depth-1)
}

func (a *author) leaf(kind byte) string {
	variables := map[byte][]string{'I': a.integers, 'L': a.lists, 'R': a.integers, 'A': a.lists}[kind]
	if len(variables) > 0 && a.choose(3) > 0 {
		return variables[a.choose(len(variables))]
	}
	return leaves[kind][a.choose(len(leaves[kind]))]
}

// fill writes a template's expressions in the order they stand in.
func (a *author) fill(template string, depth int) string {
	var text strings.Builder
	for {
		before, rest, found := strings.Cut(template, "$")
		text.WriteString(before)
		if !found {
			return text.String()
		}
		name := rest[0]
		template = rest[1:]
		switch name {
		case 'v', 'w': // an integer that may use the parameters v or v and w
			parameters := []string{"v", "w"}[:1+strings.IndexByte("vw", name)]
			text.WriteString(a.within(parameters, nil, func() string { return a.expression('I', depth) }))
		case 'p':
			text.WriteString(a.within([]string{"v"}, nil, func() string { return a.expression('B', depth) }))
		case 'Q':
			text.WriteString("(/ (rem " + a.expression('I', depth) + " 100) 7)")
		case 'i', 'l':
			text.WriteString(a.place(name))
		case '=':
			text.WriteString(a.place('i') + " (rem " + a.expression('I', depth) + " 1208925819614629174706176)")
		default:
			text.WriteString(a.expression(name, depth))
		}
	}
}

// place is a variable that may be changed; without one, it names one that every program
// may use.
func (a *author) place(kind byte) string {
	variables := a.integers
	if kind == 'l' {
		variables = a.lists
	}
	if len(variables) == 0 {
		return map[byte]string{'i': "(car (list 0))", 'l': "(cdr (list 0))"}[kind]
	}
	return variables[a.choose(len(variables))]
}

// within runs write with more variables in scope.
func (a *author) within(integers, lists []string, write func() string) string {
	before := *a
	a.integers = append(append([]string{}, a.without(a.integers, lists)...), integers...)
	a.lists = append(append([]string{}, a.without(a.lists, integers)...), lists...)
	text := write()
	a.integers, a.lists = before.integers, before.lists
	return text
}

// without leaves out the variables that are shadowed by others.
func (a *author) without(variables, shadows []string) []string {
	var left []string
	for _, v := range variables {
		if !slices.Contains(shadows, v) {
			left = append(left, v)
		}
	}
	return left
}

// bound writes an expression of a kind inside something that binds.
func (a *author) bound(kind byte, depth int) string {
	names := []string{"a", "b", "c"}
	x, y := names[a.choose(3)], names[a.choose(3)]
	inner := func(integers, lists []string) string {
		return a.within(integers, lists, func() string { return a.expression(kind, depth-1) })
	}
	integer := func() string { return a.expression('I', depth-2) }
	list := func() string { return a.expression('L', depth-2) }
	effect := func(integers, lists []string) string {
		return a.within(integers, lists, func() string { return a.expression('E', depth-1) })
	}
	if x == y {
		y = "d"
	}
	switch a.choose(9) {
	case 0:
		return fmt.Sprintf("(let ((%s %s)) %s)", x, integer(), inner([]string{x}, nil))
	case 1:
		return fmt.Sprintf("(let ((%s %s) (%s %s)) %s %s %s)", x, integer(), y, list(), effect([]string{x}, []string{y}), effect([]string{x}, []string{y}), inner([]string{x}, []string{y}))
	case 2:
		return fmt.Sprintf("(let* ((%s %s) (%s (list %s 1))) %s)", x, integer(), y, x, inner([]string{x}, []string{y}))
	case 3:
		return fmt.Sprintf("(multiple-value-bind (%s %s) (truncate %s 7) %s)", x, y, integer(), inner([]string{x, y}, nil))
	case 4:
		return fmt.Sprintf("(flet ((f (%s) %s)) (let ((%s (f %s))) %s))", x, a.within([]string{x}, nil, func() string { return a.expression('I', depth-2) }), y, integer(), inner([]string{y}, nil))
	case 5:
		return fmt.Sprintf("(labels ((f (%[1]s %[2]s) (if (<= %[1]s 0) %[2]s (f (1- %[1]s) (rem %[3]s 1208925819614629174706176))))) (let ((%[2]s (f %[4]d %[5]s))) %[6]s))",
			x, y, a.within([]string{x, y}, nil, func() string { return a.expression('I', depth-2) }), a.choose(5), integer(), inner([]string{y}, nil))
	case 6:
		return fmt.Sprintf("(let ((%[1]s 0) (%[2]s nil)) (dolist (v %[3]s) (setq %[1]s (rem (+ v %[4]s) 100000007)) (push %[1]s %[2]s)) %[5]s)",
			x, y, a.within([]string{x}, []string{y}, func() string { return a.expression('L', depth-2) }), a.within([]string{x, "v"}, []string{y}, func() string { return a.expression('I', depth-2) }), inner([]string{x}, []string{y}))
	case 7:
		return fmt.Sprintf("(let ((%[1]s %[2]s)) (handler-case (progn %[3]s %[4]s) (division-by-zero () %[5]s)))", x, integer(), effect([]string{x}, nil), inner([]string{x}, nil), inner([]string{x}, nil))
	}
	return fmt.Sprintf("(let ((%[1]s %[2]s)) (flet ((f () (incf %[1]s))) (f) %[3]s (f) %[4]s))", x, integer(), effect([]string{x}, nil), inner([]string{x}, nil))
}
