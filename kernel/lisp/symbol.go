package lisp

import (
	_ "embed"
	"maps"
	"strings"
	"sync"
	"weak"
)

// Symbol is an interned or uninterned name. Its value, function and property list live in
// the environment; only its home changes, when it is first imported or uninterned.
type Symbol struct {
	name string
	// home is the name of the home package, "" when uninterned.
	home string
	// ofLibrary says that it is a symbol of a library.
	ofLibrary bool
	// operator is set for the operators of the language when that is made, and never
	// changes.
	operator *operator
}

// operator is what a form that begins with a symbol of the language is, the same in all
// environments.
type operator struct {
	special specialForm
	macro   *macro
	// function is set if nothing can redefine or withhold it; check, if there is one,
	// looks at the form of a call while it is compiled.
	function *Function
	check    func(cp *Compiler, form *Cons)
	// capturing says that its use means that a closure may be made.
	capturing bool
}

// asOperator is the symbol's operator, which it gets if it has none.
func (s *Symbol) asOperator() *operator {
	if s.operator == nil {
		s.operator = &operator{}
	}
	return s.operator
}

// Name returns the symbol's name as it was interned (upper case, as a rule).
func (s *Symbol) Name() string { return s.name }

// Keyword reports whether the symbol is a keyword.
func (s *Symbol) Keyword() bool { return s.home == keywordPackage }

const (
	standardPackage = "COMMON-LISP"
	keywordPackage  = "KEYWORD"
	userPackage     = "COMMON-LISP-USER"
	kernelPackage   = "ORG-AGENT"

	standardNickname = "CL"
	userNickname     = "CL-USER"
	kernelNickname   = "OPENCORTEX"
)

//go:embed names.txt
var standardNames string

// standardTable holds the external symbols of COMMON-LISP. It never changes after the
// program's variables are initialised, so that all environments share it unlocked.
var standardTable = func() map[string]*Symbol {
	table := make(map[string]*Symbol, 1024)
	for name := range strings.Lines(standardNames) {
		upper := strings.ToUpper(strings.TrimSpace(name))
		table[upper] = &Symbol{name: upper, home: standardPackage}
	}
	return table
}()

// programKeywords holds the keywords that Go code knows, and those of events and actions. It
// grows while the program's variables are initialised and while a language is made, of which
// each has its own copy.
var programKeywords = struct {
	sync.Mutex
	byName map[string]*Symbol
}{byName: func() map[string]*Symbol {
	keywords := map[string]*Symbol{}
	for name := range strings.FieldsSeq(eventKeywords) {
		keywords[name] = &Symbol{name: name, home: keywordPackage}
	}
	return keywords
}()}

// knownKeywords is a copy of what there is.
func knownKeywords() map[string]*Symbol {
	programKeywords.Lock()
	defer programKeywords.Unlock()
	return maps.Clone(programKeywords.byName)
}

// eventKeywords are those of what is handed to a function of a note each time it is called. A
// note that names few of them need not have the others made anew each time.
const eventKeywords = `TYPE EVENT ID SESSION TURN PAYLOAD SENSOR TEXT CHANNEL CONTEXT COMMAND RESULTS
	CHAT-MESSAGE USER-COMMAND BUFFER-UPDATE POINT-UPDATE EMACS CLI TELEGRAM SIGNAL MATRIX CHAT-ID ROOM-ID
	REQUEST RESPONSE LOG TARGET ACTION TOOL SHELL CALL BATCH CALLS ARGS CMD INSERT-AT-END MESSAGE BUFFER
	VERDICT PERFORMED REFUSED DENIED FAILED NAME BYTES PLACE KIND`

// CL is the symbol of COMMON-LISP of that name, in upper case; it panics if there is none.
func CL(name string) *Symbol {
	symbol, ok := standardTable[name]
	if !ok {
		panic("lisp: not a standard symbol: " + name)
	}
	return symbol
}

// Keyword is the keyword of that name, in upper case, the same in all environments.
// It is for variables of a package: a language that is made before a keyword is asked for
// knows nothing of it.
func Keyword(name string) *Symbol {
	programKeywords.Lock()
	defer programKeywords.Unlock()
	symbol, ok := programKeywords.byName[name]
	if !ok {
		symbol = &Symbol{name: name, home: keywordPackage}
		programKeywords.byName[name] = symbol
	}
	return symbol
}

// internalSymbol makes a symbol that no note can name.
func internalSymbol(name string) *Symbol { return &Symbol{name: name, home: "%LISP"} }

// Package maps names to symbols. Symbols named by source stay; symbols that only data
// brought in are held weakly, so that hostile data cannot make the table grow: they go
// when nothing refers to them any more.
//
// A package has its own lock because data may be converted while no call runs.
type Package struct {
	name      string
	nicknames []string

	mu        sync.Mutex
	symbols   map[string]*Symbol
	transient map[string]weak.Pointer[Symbol]
	sweepAt   int
	external  map[string]bool
	uses      []*Package
	// fixed is a shared table that is searched first and never changes.
	fixed map[string]*Symbol
	// madeByNote says that in-package may enter it.
	madeByNote bool
	// open packages export whatever they have.
	open bool
	// shadowing are the names that hide what used packages export.
	shadowing map[string]bool
	// deleted packages have no name any more.
	deleted bool
	doc     Value // nil: none
}

func newPackage(name string, nicknames ...string) *Package {
	return &Package{name: name, nicknames: nicknames, sweepAt: 256}
}

// Find returns the symbol accessible as name.
func (p *Package) Find(name string) (*Symbol, bool) {
	symbol, uses := p.look(name)
	for i := 0; symbol == nil && i < len(uses); i++ {
		symbol, _ = uses[i].exported(name)
	}
	return symbol, symbol != nil
}

// look returns the symbol that is present as name, or nil and the packages that p uses; the
// slice is never changed in place.
func (p *Package) look(name string) (*Symbol, []*Package) {
	if symbol, ok := p.fixed[name]; ok {
		return symbol, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if symbol, ok := p.symbols[name]; ok {
		return symbol, nil
	}
	if pointer, ok := p.transient[name]; ok {
		if symbol := pointer.Value(); symbol != nil {
			return symbol, nil
		}
	}
	return nil, p.uses
}

func (p *Package) setUses(uses []*Package) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.uses = uses
}

// size is the number of its symbols.
func (p *Package) size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.symbols) + len(p.transient) + len(p.fixed)
}

func (p *Package) own(name string) (*Symbol, bool) {
	symbol, _ := p.look(name)
	return symbol, symbol != nil
}

func (p *Package) exported(name string) (*Symbol, bool) {
	if symbol, ok := p.fixed[name]; ok {
		return symbol, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.open && !p.external[name] {
		return nil, false
	}
	symbol, ok := p.symbols[name]
	return symbol, ok
}

// Intern returns the symbol accessible as name, making it when there is none. A
// symbol interned with keep stays in the table for good. made reports a new symbol.
func (p *Package) Intern(name string, keep bool) (symbol *Symbol, made bool) {
	if symbol, ok := p.Find(name); ok {
		if keep {
			p.keep(symbol)
		}
		return symbol, false
	}
	return p.add(name, keep)
}

// add is intern for a name that was not found.
func (p *Package) add(name string, keep bool) (symbol *Symbol, made bool) {
	symbol = &Symbol{name: name, home: p.name}
	p.mu.Lock()
	defer p.mu.Unlock()
	// Another goroutine may have converted the same data meanwhile.
	if pointer, ok := p.transient[name]; ok {
		if other := pointer.Value(); other != nil {
			if keep {
				p.put(other)
			}
			return other, false
		}
	}
	if keep {
		p.put(symbol)
		return symbol, true
	}
	if p.transient == nil {
		p.transient = map[string]weak.Pointer[Symbol]{}
	}
	p.transient[name] = weak.Make(symbol)
	p.sweep()
	return symbol, true
}

// keep turns a symbol of the weak table into one that stays.
func (p *Package) keep(symbol *Symbol) {
	if symbol.home != p.name || p.fixed[symbol.name] == symbol {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.symbols[symbol.name] != symbol {
		p.put(symbol)
	}
}

// put makes a symbol one that stays. The caller holds mu.
func (p *Package) put(symbol *Symbol) {
	if p.symbols == nil {
		p.symbols = map[string]*Symbol{}
	}
	p.symbols[symbol.name] = symbol
	delete(p.transient, symbol.name)
}

// sweep drops the names of dead symbols whenever the table has doubled.
func (p *Package) sweep() {
	if len(p.transient) < p.sweepAt {
		return
	}
	for name, pointer := range p.transient {
		if pointer.Value() == nil {
			delete(p.transient, name)
		}
	}
	p.sweepAt = max(256, 2*len(p.transient))
}

// export makes symbols visible to packages that use p.
func (p *Package) export(symbol *Symbol) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(symbol)
	if p.external == nil {
		p.external = map[string]bool{}
	}
	p.external[symbol.name] = true
}

// Symbols the evaluator itself looks for.
var (
	symLambda         = CL("LAMBDA")
	symQuote          = CL("QUOTE")
	symFunction       = CL("FUNCTION")
	symDeclare        = CL("DECLARE")
	symSpecial        = CL("SPECIAL")
	symSetf           = CL("SETF")
	symSetq           = CL("SETQ")
	symIf             = CL("IF")
	symLet            = CL("LET")
	symLetStar        = CL("LET*")
	symProgn          = CL("PROGN")
	symProg1          = CL("PROG1")
	symBlock          = CL("BLOCK")
	symTagbody        = CL("TAGBODY")
	symReturnFrom     = CL("RETURN-FROM")
	symWhen           = CL("WHEN")
	symUnless         = CL("UNLESS")
	symCond           = CL("COND")
	symOr             = CL("OR")
	symNot            = CL("NOT")
	symEql            = CL("EQL")
	symMember         = CL("MEMBER")
	symTypep          = CL("TYPEP")
	symOtherwise      = CL("OTHERWISE")
	symList           = CL("LIST")
	symListStar       = CL("LIST*")
	symAppend         = CL("APPEND")
	symCons           = CL("CONS")
	symCar            = CL("CAR")
	symCdr            = CL("CDR")
	symVector         = CL("VECTOR")
	symApply          = CL("APPLY")
	symFuncall        = CL("FUNCALL")
	symCoerce         = CL("COERCE")
	symValues         = CL("VALUES")
	symGetf           = CL("GETF")
	symPlus           = CL("+")
	symMinus          = CL("-")
	symLess           = CL("<")
	symGreaterEqual   = CL(">=")
	symEndp           = CL("ENDP")
	symAtom           = CL("ATOM")
	symSatisfies      = CL("SATISFIES")
	symStar           = CL("*")
	symMVBind         = CL("MULTIPLE-VALUE-BIND")
	symFlet           = CL("FLET")
	symSymbolMacrolet = CL("SYMBOL-MACROLET")
	symDefun          = CL("DEFUN")
	symError          = CL("ERROR")
	symPackage        = CL("*PACKAGE*")
	symStandardOutput = CL("*STANDARD-OUTPUT*")
	symStandardInput  = CL("*STANDARD-INPUT*")
	symErrorOutput    = CL("*ERROR-OUTPUT*")

	symOptional       = CL("&OPTIONAL")
	symRest           = CL("&REST")
	symBody           = CL("&BODY")
	symKey            = CL("&KEY")
	symAux            = CL("&AUX")
	symAllowOtherKeys = CL("&ALLOW-OTHER-KEYS")
	symWhole          = CL("&WHOLE")
	symEnvironment    = CL("&ENVIRONMENT")

	kwAllowOtherKeys = Keyword("ALLOW-OTHER-KEYS")
)

var lambdaWords = map[*Symbol]bool{
	symOptional: true, symRest: true, symBody: true, symKey: true, symAux: true,
	symAllowOtherKeys: true, symWhole: true, symEnvironment: true,
}

// Operators that only macros of this package produce.
var (
	symForever         = internalSymbol("FOREVER")
	symModify          = internalSymbol("MODIFY")
	symUntil           = internalSymbol("UNTIL")
	symQuasiquote      = internalSymbol("QUASIQUOTE")
	symUnquote         = internalSymbol("UNQUOTE")
	symUnquoteSplicing = internalSymbol("UNQUOTE-SPLICING")
)

// Keywords of options that are accepted. A keyword that builtins know must be in the
// table before it is shared, so each is a variable.
var (
	kwCommonLisp      = Keyword("COMMON-LISP")
	kwDatum           = Keyword("DATUM")
	kwExpectedType    = Keyword("EXPECTED-TYPE")
	kwExternal        = Keyword("EXTERNAL")
	kwFormatArguments = Keyword("FORMAT-ARGUMENTS")
	kwFormatControl   = Keyword("FORMAT-CONTROL")
	kwInherited       = Keyword("INHERITED")
	kwInternal        = Keyword("INTERNAL")
	kwOrgAgent        = Keyword("ORG-AGENT")
	kwUpcase          = Keyword("UPCASE")
)
