package org

import "strings"

// isListedLanguage tells the languages whose blocks may stay source. Org highlights a block
// of a language X by calling the function X-mode, whatever that is: of recentf, it opens the
// list of recent files; of server, a socket. These are languages whose function, where
// Emacs or a package has one, does nothing but highlight. Left out are those whose mode does what
// the text of the block says: org itself opens images and runs LaTeX in it, where the person
// has Org begin so, and Markdown calls the modes that its own blocks name.
func isListedLanguage(name string) bool {
	switch name {
	case "C", "C++", "D", "R", "asm", "awk", "bash", "bat", "beamer", "bibtex", "c", "c++", "clojure", "cmake", "common-lisp", "conf",
		"cpp", "crystal", "csharp", "css", "csv", "cuda", "d", "dart", "diff", "dockerfile", "dot", "ebnf", "elisp", "elixir", "elm",
		"emacs-lisp", "erlang", "f90", "fish", "fortran", "fsharp", "glsl", "go", "graphql", "groovy", "haskell", "hcl", "html", "ini",
		"java", "javascript", "jq", "js", "json", "jsonc", "jsx", "julia", "kotlin", "latex", "lisp", "lisp-data", "lua", "m4", "make",
		"makefile", "matlab", "nasm", "nginx", "nim", "nix", "nroff", "objc", "ocaml", "octave", "pascal", "patch", "perl", "php",
		"plaintext", "postgresql", "powershell", "prolog", "properties", "proto", "protobuf", "py", "python", "r", "racket", "rb", "rs",
		"rst", "ruby", "rust", "sass", "scala", "scheme", "scss", "sed", "sh", "shell", "solidity", "sparql", "sql", "sqlite", "swift",
		"tcl", "terraform", "tex", "texinfo", "text", "toml", "ts", "tsx", "txt", "typescript", "verilog", "vhdl", "wgsl", "xml", "yaml",
		"yml", "zig", "zsh":
		return true
	}
	return false
}

// languageName cuts an info string to a bare language name.
func languageName(info string) string {
	name := strings.TrimLeft(strings.TrimPrefix(firstField(info), zeroWidthSpace), "{.-+_#")
	end := 0
	for end < len(name) && end < wordLimit && (isAlnum(name[end]) || strings.IndexByte("-+_#.", name[end]) >= 0) {
		end++
	}
	return name[:end]
}

// beginCode returns the kind of the block that a language's code goes into, and the
// block's first line without indentation. A language that is not listed is held: its block
// is an example, which Org would highlight by that name as well, were it not for the
// zero-width space.
func beginCode(language string) (kind, first string) {
	switch lower := strings.ToLower(language); {
	case language == "":
		return "example", "#+begin_example"
	case isListedLanguage(language):
		return "src", "#+begin_src " + language
	case isListedLanguage(lower):
		return "src", "#+begin_src " + lower
	}
	return "example", "#+begin_example " + zeroWidthSpace + language
}

// heldLanguage returns the name that an example bears by [beginCode], as rest of its first line.
func heldLanguage(rest string) string {
	if strings.HasPrefix(trimBlanks(rest), zeroWidthSpace) {
		return languageName(rest)
	}
	return ""
}
