;;; org-agent-inert-list.el --- What is held in the text of a model  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The data of `org-agent-inert.el': the words for which it looks.  What is
;; looked for within a line is in `org-agent-inert-text.el'.

;;; Code:


(defconst org-agent-inert-list-languages
  '("C" "C++" "D" "R" "asm" "awk" "bash" "bat" "beamer" "bibtex" "c"
    "c++" "clojure" "cmake" "common-lisp" "conf" "cpp" "crystal" "csharp"
    "css" "csv" "cuda" "d" "dart" "diff" "dockerfile" "dot" "ebnf"
    "elisp" "elixir" "elm" "emacs-lisp" "erlang" "f90" "fish" "fortran"
    "fsharp" "glsl" "go" "graphql" "groovy" "haskell" "hcl" "html" "ini"
    "java" "javascript" "jq" "js" "json" "jsonc" "jsx" "julia" "kotlin"
    "latex" "lisp" "lisp-data" "lua" "m4" "make" "makefile" "matlab"
    "nasm" "nginx" "nim" "nix" "nroff" "objc" "ocaml" "octave" "pascal"
    "patch" "perl" "php" "plaintext" "postgresql" "powershell" "prolog"
    "properties" "proto" "protobuf" "py" "python" "r" "racket" "rb" "rs"
    "rst" "ruby" "rust" "sass" "scala" "scheme" "scss" "sed" "sh" "shell"
    "solidity" "sparql" "sql" "sqlite" "swift" "tcl" "terraform" "tex"
    "texinfo" "text" "toml" "ts" "tsx" "txt" "typescript" "verilog"
    "vhdl" "wgsl" "xml" "yaml" "yml" "zig" "zsh")
  "Languages of blocks that Org may highlight.
For a block of a language X it calls the function `X-mode', whatever that
is.  These are languages whose function, where there is one, does nothing
but highlight.  Not among them are those whose mode does what the text of
the block says: `org-mode' opens images and runs LaTeX, where the user
has it begin so, and Markdown calls the modes that its own blocks name.")

(defun org-agent-inert-list-language-p (language)
  "Return non-nil when LANGUAGE is one of `org-agent-inert-list-languages'."
  (member language org-agent-inert-list-languages))

(defconst org-agent-inert-list-exported-languages '("dot" "latex")
  "Languages whose blocks an export runs, or takes for its own text.
It does so unless they say `:exports code'.")

(defconst org-agent-inert-list-arguments
  '("prologue" "epilogue" "post" "noweb-ref" "dir" "shebang" "tangle-mode"
    "mkdirp")
  "Header arguments that are held whatever their value.
For others see `org-agent-inert-text-arguments-held-p'.")

(defconst org-agent-inert-list-keywords
  (concat
   "\\`\\(?:"
   (regexp-opt
    '("startup" "setupfile" "include" "bind" "macro" "todo" "seq_todo"
      "typ_todo" "tags" "filetags" "priorities" "columns" "constants"
      "link" "property" "options" "bibliography" "cite_export" "plot"
      "archive" "infojs_opt" "latex_header" "latex_header_extra"
      "latex_compiler" "latex_class_pre" "beamer_header" "texinfo_header"
      "texinfo_post_header" "call" "begin" "dynamic_block" "orgtbl" "ascii"
      "beamer" "html" "icalendar" "latex" "man" "markdown" "md" "odt" "org"
      "texinfo"))
   "\\'\\|export\\|html_\\|odt_\\)")
  "Matches the keys of keywords that are held whatever they say.")

(defconst org-agent-inert-list-names
  '("name" "data" "label" "resname" "source" "srcname" "tblname" "results"
    "result")
  "Keywords that name what stands below them, or of what it is the result.")

(defconst org-agent-inert-list-properties
  "\\`\\(?:\\(?:id\\|cron\\|dir\\|attach_dir\\|archive\\|cryptkey\\|logging\\|cookie_data\\)\\+?\\'\\|header-args\\|export_\\|table_export_\\)"
  "Matches the keys of properties that are held.")

(defconst org-agent-inert-list-tags
  '("user" "agent" "draft" "unsent" "agenttask" "crypt" "noagent")
  "Tags that mark turns and tasks, or hide text.")

(defconst org-agent-inert-list-link-types '("http" "https" "mailto" "id" "file")
  "Types of links that may stay links.")

(defconst org-agent-inert-list-known-types
  '("attachment" "bash" "bbdb" "bibtex" "bookmark" "calc" "calibre"
    "custom" "djvu" "docview" "doi" "elfeed" "elisp" "elisp-symbol"
    "emacs" "eshell" "eww" "file+emacs" "file+sys" "ftp" "git" "gnus"
    "help" "info" "irc" "jar" "javascript" "lisp" "magit" "man" "message"
    "mew" "mhe" "mu4e" "news" "notmuch" "notmuch-search" "notmuch-tree"
    "nov" "org-agent" "org-protocol" "orgit" "orgit-log" "orgit-rev"
    "pdf" "pdftools" "pdfview" "rmail" "shell" "sly" "slime" "sms" "sys"
    "tel" "treemacs" "vm" "w3m" "wl" "woman" "zotero")
  "Types of links that are held also where nothing registers them.
The file may be opened in another Emacs.")

(defconst org-agent-inert-list-tex
  '(;; files
    "input" "include" "includeonly" "inputiffileexists" "iffileexists"
    "subfile" "subfileinclude" "import" "subimport" "includefrom"
    "subincludefrom" "inputfrom" "verbatiminput" "lstinputlisting"
    "inputminted" "usepackage" "requirepackage" "loadclass"
    "documentclass" "documentstyle" "endinput" "openin" "openout"
    "closein" "closeout" "read" "readline" "newread" "newwrite" "write"
    "immediate" "special" "shipout" "filecontents" "filecontents*"
    "verbatimwrite" "verbatimout" "pdfobj" "pdffiledump" "pdfximage"
    "pdfextension" "pdfliteral" "includegraphics" "includepdf"
    "bibliography" "addbibresource" "externaldocument" "usetheme"
    "usetikzlibrary" "usepgflibrary" "attachfile" "embedfile"
    "includemedia" "movie"
    ;; programs
    "directlua" "latelua" "luadirect" "luaexec" "luacode" "luacode*"
    "luastring" "shellescape" "write18" "pythontex" "pycode" "pyblock"
    "sagesilent" "asy" "minted" "csnameexec" "primitive" "pdfprimitive"
    ;; names and characters, by which the others could be written
    "def" "edef" "gdef" "xdef" "let" "futurelet" "csname" "catcode"
    "lccode" "uccode" "lowercase" "uppercase" "scantokens" "expandafter"
    "everypar" "everymath" "everydisplay" "everyjob" "everyeof"
    "newcommand" "renewcommand" "providecommand" "declarerobustcommand"
    "newcommandx" "newdocumentcommand" "renewdocumentcommand"
    "providedocumentcommand" "declaredocumentcommand" "newenvironment"
    "renewenvironment" "letltxmacro" "makeatletter" "explsyntaxon"
    "begincsname" "usebox" "afterassignment" "aftergroup"
    "atbegindocument" "atenddocument" "endlinechar" "escapechar" "href"
    "require" "unicode")
  "Commands and environments of LaTeX that read, write, run or redefine.")

(defconst org-agent-inert-list-file-names
  '("config.org" "policy.org" "tasks.org" "heartbeat.org" "identity.org"
    "soul.org" "tools.org" "profiles.org" "memory.org" "workspace.org"
    "user.org" "init.el" "early-init.el" "default.el" "site-start.el"
    "custom.el" "_emacs" "_emacs.el" "sitecustomize.py"
    "usercustomize.py" "mise.toml")
  "Names of files that programs obey or that decide what the agent may do.")

(defconst org-agent-inert-list-directories '("skills" "profiles" "prompt")
  "Names of directories that decide what the agent is and does.")

(provide 'org-agent-inert-list)
;;; org-agent-inert-list.el ends here
