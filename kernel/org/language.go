package org

import "strings"

// isListedLanguage reports whether the blocks of a language may stay source. Org highlights a block
// of the language X by calling the function X-mode, whatever it does: recentf-mode opens the list
// of recent files, server-mode a socket. The list contains languages whose mode in Emacs or in a
// package does nothing but highlight. Org is not in it, because its mode opens images and runs
// LaTeX if the person has set Org up that way. Markdown is not in it, because its mode calls the
// modes of its own blocks.
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

// languageName returns the bare language in an info string.
func languageName(info string) string {
	name := strings.TrimLeft(strings.TrimPrefix(firstField(info), zeroWidthSpace), "{.-+_#")
	end := 0
	for end < len(name) && end < wordLimit && (isAlnum(name[end]) || strings.IndexByte("-+_#.", name[end]) >= 0) {
		end++
	}
	return name[:end]
}

// beginCode returns the kind of the block for code in a language, and the block's first line
// without indentation. A language that is not on the list gets an example, with its name behind a
// zero-width space: without it Org would highlight the example by that name too.
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

// heldLanguage returns the language that [beginCode] wrote on an example's first line, from the
// rest of that line.
func heldLanguage(rest string) string {
	if strings.HasPrefix(trimBlanks(rest), zeroWidthSpace) {
		return languageName(rest)
	}
	return ""
}
