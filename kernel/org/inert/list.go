package inert

import (
	"slices"
	"strings"
)

// Mark is the zero-width space that holds a place.
const Mark = "\u200b"

// heldPrefix stands before the key of a property that is held.
const heldPrefix = "HELD_"

// A Rule is a part of the list of what is held. The numbers are those of the manual.
type Rule uint8

// The rules, in the order of the list.
const (
	Language Rule = iota + 1 // what is shown or exported by a language's name
	Argument                 // header arguments that run code or reach outside
	Keyword                  // keywords that hold for the whole file
	Formula                  // formulas in Lisp, or over other tables
	Inline                   // what runs or reaches outside within text
	Property                 // properties, tags and characters that speak as the kernel or to Org
)

// words makes a set of words that are separated by blanks.
func words(lists ...string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for _, word := range strings.Fields(list) {
			set[word] = true
		}
	}
	return set
}

// A list is the data of the rules. Its words are in lower case where Org does not tell case apart.
type list struct {
	languages   map[string]bool
	arguments   map[string]bool // held whatever their value, but for those with a rule of their own
	keywords    map[string]bool
	prefixes    []string // of further keywords
	properties  map[string]bool
	tags        map[string]bool
	waking      map[string]bool // those of the tags that have the agent do something, wherever the heading is
	linkTypes   map[string]bool // that Org or a common package registers, and that are held
	harmless    map[string]bool // types of links that stay
	tex         map[string]bool // commands and environments that read, write, run or redefine
	startup     map[string]bool // names of files that other programs obey or that decide what the agent may do
	startupDirs map[string]bool
	variables   map[string]bool // that source may set in its first line
}

// rules is the list. Each group says what Org does with what is in it.
var rules = list{
	// Rule 1. Org highlights a block of the language X by calling the function X-mode, whatever it
	// does: recentf-mode opens the list of recent files, server-mode a socket. These are languages
	// whose mode, in Emacs or in a package, does nothing but highlight. Org is not among them, because
	// its mode opens images and runs LaTeX if the person has set Org up that way. Markdown is not,
	// because its mode calls the modes of its own blocks.
	languages: words(
		"C C++ D R asm awk bash bat beamer bibtex c c++ clojure cmake common-lisp conf cpp crystal csharp css csv cuda d dart diff",
		"dockerfile dot ebnf elisp elixir elm emacs-lisp erlang f90 fish fortran fsharp glsl go graphql groovy haskell hcl html",
		"ini java javascript jq js json jsonc jsx julia kotlin latex lisp lisp-data lua m4 make makefile matlab nasm nginx nim",
		"nix nroff objc ocaml octave pascal patch perl php plaintext postgresql powershell prolog properties proto protobuf py",
		"python r racket rb rs rst ruby rust sass scala scheme scss sed sh shell solidity sparql sql sqlite swift tcl terraform",
		"tex texinfo text toml ts tsx txt typescript verilog vhdl wgsl xml yaml yml zig zsh",
	),
	// Rule 2. These name code, other blocks, other directories, or how a file is written. :eval,
	// :exports, :file, :output-dir, :tangle, :noweb and :var are held by their value.
	arguments: words("prologue epilogue post noweb-ref dir shebang tangle-mode mkdirp"),
	// Rule 3. Org reads these anywhere in a file and for all of it. Raw text for an exporter is
	// here too, and so are the keywords that run code.
	keywords: words(
		"startup setupfile include bind macro todo seq_todo typ_todo tags filetags priorities columns constants link property",
		"options bibliography cite_export plot archive infojs_opt",
		"latex_header latex_header_extra latex_compiler latex_class_pre beamer_header texinfo_header texinfo_post_header",
		"call begin dynamic_block orgtbl",
		"ascii beamer html icalendar latex man markdown md odt org texinfo",
	),
	prefixes: []string{"export", "html_", "odt_"},
	// Rule 6. ID is how a conversation knows its turns. The others name files, keys and times, or
	// what an export of a subtree does.
	properties: words("id cron dir attach_dir archive cryptkey logging cookie_data"),
	tags:       words("user agent draft unsent agenttask agenthook crypt noagent"),
	waking:     words("agenttask agenthook"),
	// Rule 5. Following a link of these types runs code, opens a program, or connects.
	linkTypes: words(
		"attachment bash bbdb bibtex bookmark calc calibre custom djvu docview doi elfeed elisp elisp-symbol emacs eshell eww",
		"file+emacs file+sys ftp git gnus help info irc jar javascript lisp magit man message mew mhe mu4e news notmuch",
		"notmuch-search notmuch-tree nov org-agent org-protocol orgit orgit-log orgit-rev pdf pdftools pdfview rmail shell sly",
		"slime sms sys tel treemacs vm w3m wl woman zotero",
	),
	harmless: words("http https mailto id file"),
	tex: words(
		// files
		"input include includeonly inputiffileexists iffileexists subfile subfileinclude import subimport includefrom",
		"subincludefrom inputfrom verbatiminput lstinputlisting inputminted usepackage requirepackage loadclass documentclass",
		"documentstyle endinput openin openout closein closeout read readline newread newwrite write immediate",
		"special shipout filecontents filecontents* verbatimwrite verbatimout pdfobj pdffiledump pdfximage pdfextension pdfliteral",
		"includegraphics includepdf bibliography addbibresource externaldocument usetheme usetikzlibrary usepgflibrary",
		// programs
		"directlua latelua luadirect luaexec luacode luacode* luastring shellescape write18 pythontex pycode pyblock sagesilent",
		"asy minted csnameexec primitive pdfprimitive",
		// names and characters, by which the others could be written
		"def edef gdef xdef let futurelet csname catcode lccode uccode lowercase uppercase scantokens expandafter",
		"everypar everymath everydisplay everyjob everyeof newcommand renewcommand providecommand declarerobustcommand",
		"newcommandx newdocumentcommand renewdocumentcommand providedocumentcommand declaredocumentcommand newenvironment",
		"renewenvironment letltxmacro makeatletter explsyntaxon begincsname usebox afterassignment aftergroup atbegindocument",
		"atenddocument endlinechar escapechar attachfile embedfile includemedia movie href require unicode",
	),
	startup: words(
		"config.org policy.org channels.org tasks.org contacts.org heartbeat.org identity.org soul.org tools.org profiles.org memory.org workspace.org user.org",
		"init.el early-init.el default.el site-start.el custom.el _emacs _emacs.el sitecustomize.py usercustomize.py mise.toml",
	),
	startupDirs: words("skills profiles prompt"),
	variables:   words("lexical-binding coding"),
}

func (l *list) listedLanguage(name string) bool { return l.languages[name] }

// heldKeyword reports whether lines of a keyword, in lower case, are held whatever they say.
func (l *list) heldKeyword(key string) bool {
	if l.keywords[key] {
		return true
	}
	for _, prefix := range l.prefixes {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// heldProperty reports whether a property is held. A plus at its end adds to an inherited value.
func (l *list) heldProperty(key string) bool {
	key = strings.ToLower(strings.TrimSuffix(key, "+"))
	return l.properties[key] || strings.HasPrefix(key, "header-args") ||
		strings.HasPrefix(key, "export_") || strings.HasPrefix(key, "table_export_")
}

// heldTeX reports whether a command or an environment of LaTeX is held.
func (l *list) heldTeX(name string) bool { return l.tex[strings.ToLower(name)] }

// Listed reports whether a language is in the list of those whose blocks stay source.
func Listed(language string) bool { return rules.listedLanguage(language) }

// heldTag reports whether a tag is held: one of the list, or of the person's own.
func (l *list) heldTag(tag string, own []string) bool { return isOne(tag, l.tags, own) }

// Wakes reports whether a heading with a tag has the agent do something, wherever it stands: it is a task, or wakes
// skills. own are the tags that the person has chosen for tasks.
func Wakes(tag string, own []string) bool { return isOne(tag, rules.waking, own) }

// isOne reports whether a tag is one of others, in any case. Those of the list are in lower case.
func isOne(tag string, listed map[string]bool, own []string) bool {
	tag = strings.ToLower(tag)
	return listed[tag] || slices.ContainsFunc(own, func(one string) bool { return strings.ToLower(one) == tag })
}
