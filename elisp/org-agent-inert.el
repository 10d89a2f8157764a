;;; org-agent-inert.el --- Text of a model runs nothing in Org  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; An answer is a document that its reader refiles, tangles, exports and
;; plans with.  So Org stays as it was written, except for what is in the
;; list below: what runs code, reaches outside, changes the whole file, or
;; speaks as the kernel.  Such a place is held: a zero-width space stands
;; in it, and Org takes it for text.  In a drawer the key is renamed
;; HELD_NAME, because a zero-width space would break the drawer.
;; `org-agent-held.el' shows held places and makes them real.
;;
;; The kernel does this first.  This is the client's own implementation of
;; the list.  It does not trust the kernel's, and neither was made from
;; the other.  Both are tested with the cases in testdata/held.
;;
;; `org-agent-inert' takes a whole text.  A text that is still being
;; written is checked line by line with `org-agent-inert-lines', which is
;; linear however the text was cut.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-element)
(require 'subr-x)

(defconst org-agent-inert-mark "\u200b"
  "The zero-width space that holds a place.")

(defconst org-agent-inert-prefix "HELD_"
  "What stands before the key of a property that is held.")

;;;; The list

(defconst org-agent-inert-rules
  '((language . "Org shows or exports this by what it is called: for a block of the language X it calls the function X-mode, whatever that does")
    (argument . "Org evaluates this header argument, or a run, an export or a tangle with it reaches outside of the block")
    (keyword . "This keyword holds for the whole file, or takes something into it")
    (formula . "This formula runs Lisp, or reads other tables, when the table is calculated")
    (inline . "This runs or reaches outside when it is followed, exported, shown in the agenda, or when the file is opened")
    (property . "This property or tag tells Org or the agent what only a person may say"))
  "The rules, and why each holds a place.")

(defconst org-agent-inert-languages
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

(defconst org-agent-inert--exported-languages '("dot" "latex")
  "Languages whose blocks an export runs, or takes for its own text.
It does so unless they say `:exports code'.")

(defconst org-agent-inert--arguments
  '("prologue" "epilogue" "post" "noweb-ref" "dir" "shebang" "tangle-mode"
    "mkdirp")
  "Header arguments that are held whatever their value.
For others see `org-agent-inert--argument-held-p'.")

(defconst org-agent-inert--keywords
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

(defconst org-agent-inert--names
  '("name" "data" "label" "resname" "source" "srcname" "tblname" "results"
    "result")
  "Keywords that name what stands below them, or of what it is the result.")

(defconst org-agent-inert--properties
  "\\`\\(?:\\(?:id\\|cron\\|dir\\|attach_dir\\|archive\\|cryptkey\\|logging\\|cookie_data\\)\\+?\\'\\|header-args\\|export_\\|table_export_\\)"
  "Matches the keys of properties that are held.")

(defconst org-agent-inert--tags
  '("user" "agent" "draft" "unsent" "agenttask" "crypt" "noagent")
  "Tags that mark turns and tasks, or hide text.")

(defconst org-agent-inert--link-types '("http" "https" "mailto" "id" "file")
  "Types of links that may stay links.")

(defconst org-agent-inert--known-types
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

(defconst org-agent-inert--tex
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

(defconst org-agent-inert--file-names
  '("config.org" "policy.org" "tasks.org" "heartbeat.org" "identity.org"
    "soul.org" "tools.org" "profiles.org" "memory.org" "workspace.org"
    "user.org" "init.el" "early-init.el" "default.el" "site-start.el"
    "custom.el" "_emacs" "_emacs.el" "sitecustomize.py"
    "usercustomize.py" "mise.toml")
  "Names of files that programs obey or that decide what the agent may do.")

(defconst org-agent-inert--directories '("skills" "profiles" "prompt")
  "Names of directories that decide what the agent is and does.")

(defconst org-agent-inert--inline
  '((inline "file variables" (text raw code)
            "local\\(?1: \\)variables:")
    (inline "file variables" (text raw code)
            "-\\(?1:\\*\\)-\\(?2:.*?\\)-\\*-" org-agent-inert--variables-p)
    (language "code within a line" (raw code)
              "\\(?:^\\|[^a-z0-9]\\)src\\(?1:_\\)\\(?2:[^ \t\n[{]+\\)[[{]"
              org-agent-inert--unlisted-p)
    (inline "planning by a diary expression" (text raw)
            "\\(?:^\\|[^a-z0-9+-]\\)\\(?:scheduled\\|deadline\\|closed\\|clock\\)\\(?1::\\)[ \t]*[[<]%%(")
    (inline "a diary expression" (text raw)
            "<\\(?1:%\\)%(")
    (inline "a diary expression" (text raw)
            "^&?%\\(?1:%\\)(")
    (inline "a citation" (text raw)
            "\\[\\(?1:c\\)ite\\(?:/[-_/a-z0-9]*\\)?:\\(?:[^]\n]*@\\|[^]\n]*$\\)")
    (inline "a link to a file elsewhere" (text raw)
            "\\[\\[\\(?1:/\\(?:/[^/\n]\\|/*[^]/:| \t\n]+[:|]\\|/*\\\\\\)\\|\\\\\\)")
    (inline "a link to a file elsewhere" (text raw)
            "\\(?:^\\|[^a-z0-9]\\)file\\(?1::\\)\\(?://[^/\n]\\|/+[^]/:| \t\n]+[:|]\\|/*\\\\\\)"
            org-agent-inert--no-url-p)
    (inline "a link of another type" (text raw)
            "\\(?:^\\|[^a-z0-9]\\)\\(?2:[a-z0-9][-+a-z0-9]*\\)\\(?1::\\)[^ \t\n]"
            org-agent-inert--link-p)
    ;; In brackets blanks and a line end may follow.
    (inline "a link of another type" (text raw)
            "\\(?:\\[\\[\\|<\\)\\(?2:[a-z][-+a-z0-9]*\\)\\(?1::\\)\\(?:[ \t]\\|$\\)"
            org-agent-inert--known-link-p)
    (inline "code within a line" (text)
            "\\(?:^\\|[^a-z0-9]\\)src\\(?1:_\\)[^ \t\n[{]+[[{]")
    (inline "a call within a line" (text)
            "\\(?:^\\|[^a-z0-9]\\)call\\(?1:_\\)[^ \t\n[(]+[[(]")
    (inline "a macro" (text)
            "{{\\(?1:{\\)[a-z][-a-z0-9_]*\\(?:(\\|}}}\\)")
    (language "raw text for an exporter" (text)
              "@\\(?1:@\\)[-a-z0-9]+:")
    (inline "a command of LaTeX" (text)
            "\\\\\\(?1:\\)\\(?2:[a-z]+\\)" org-agent-inert--tex-p)
    (inline "a character of TeX by its code" (text)
            "\\^\\(?1:\\^\\)[]!-[\\_-~]" org-agent-inert--mathematics-p))
  "What is held within a line.
Each is (RULE WHAT CONTEXTS REGEXP [PREDICATE]).  The mark goes to the
beginning of group 1.  Contexts are `text', `raw' (what is not Org, but
searched by Org) and `code'.  What is for `text' only is not held where
it is verbatim.  PREDICATE is called with the match data.")

(defconst org-agent-inert--suspect
  (concat "_[^ \t\n]+[[{(]\\|{{{\\|%(\\|@@[-a-z0-9]\\|\\\\[a-z]\\|\\^\\^"
          "\\|-\\*-\\|local variables:\\|\\[cite\\|\\[\\[\\|[a-z0-9]:[^ \t\n]"
          "\\|<[-+a-z0-9]+:\\|[a-z]:[ \t]*[[<]%%(")
  "Matches in every line in which one of `org-agent-inert--inline' may.")

;;;; State

(cl-defstruct (org-agent-inert-state (:copier org-agent-inert-copy-state))
  "Where in a text a line stands."
  (place 'start :documentation "`start', `own' (the answer's drawer may
begin here), `properties' (within it), or `body'.")
  (block nil :documentation "Within a block that is no Org: its type.")
  (stays nil :documentation "That type as it is written.")
  (verse nil :documentation "Non-nil within a verse block.")
  (drawer nil :documentation "Within a drawer: t, or `properties'.")
  (latex nil :documentation "Within a LaTeX environment: its name.")
  (footnote nil :documentation "Non-nil within a footnote's definition.")
  (blanks 0 :documentation "Blank lines directly before."))

(defvar org-agent-inert--parsed 0
  "How often Org's parser was asked about the text at hand.")

(defconst org-agent-inert--parse-limit 200
  "How often Org's parser may be asked about one text.
In a long line it takes longer, and counts more.  Beyond that nothing
counts as verbatim.")

(defvar org-agent-inert--whole nil
  "Non-nil when the text at hand is whole, so that the parser knows it.")

(defvar org-agent-inert--report nil
  "A function that is called with each held place, or nil.
Its arguments are the position, the rule and what is held.")

(defvar org-agent-inert--taken nil
  "Names that the file has or reaches for, in lower case.")

;;;; Entry points

(defun org-agent-inert (text &optional names report)
  "Return TEXT, a whole answer in Org, with nothing active in it.
Its first heading may have the tag `:agent:' and a drawer with an ID.  A
text that is inert already is returned as it is.  NAMES are those that
the file has, see `org-agent-inert-names'.  REPORT is called with the
position, the rule and a description of each place that is held."
  (let ((org-agent-inert--report report)
        (org-agent-inert--taken names)
        (org-agent-inert--whole t)
        (state (make-org-agent-inert-state)))
    (with-temp-buffer
      (insert text)
      (goto-char (point-min))
      (org-agent-inert--scan state)
      (when (org-agent-inert-state-block state)
        (goto-char (point-max))
        (unless (bolp) (insert "\n"))
        (insert "#+end_" (org-agent-inert-state-stays state)
                (if (string-suffix-p "\n" text) "\n" "")))
      (buffer-string))))

(defun org-agent-inert-lines (text state)
  "Make the lines of TEXT inert; TEXT begins with a line at STATE.
Return (INERT FINAL . STATE): INERT is the new text, FINAL how many
characters of TEXT are whole lines, the last STATE that of the line
behind them.  STATE itself is not changed."
  (let ((state (org-agent-inert-copy-state state))
        (org-agent-inert--whole nil)
        (final (org-agent-inert-whole-lines text)))
    (with-current-buffer (get-buffer-create " *org-agent-inert*" t)
      (buffer-disable-undo)
      (erase-buffer)
      (insert (substring text 0 final))
      (goto-char (point-min))
      (org-agent-inert--scan state)
      (let ((next (org-agent-inert-copy-state state)))
        (insert (substring text final))
        (forward-line 0)
        (org-agent-inert--scan state)
        (cons (buffer-string) (cons final next))))))

(defun org-agent-inert-whole-lines (text)
  "Return how many characters of TEXT are whole lines."
  (if (string-match "\n[^\n]*\\'" text)
      (1+ (match-beginning 0))
    0))

(defun org-agent-inert-names (&rest regions)
  "Return the names that the current buffer has or reaches for.
REGIONS are (BEG . END) of text that does not count."
  (let ((case-fold-search t) names)
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (while (re-search-forward
                (concat "^[ \t]*#\\+" (regexp-opt org-agent-inert--names)
                        "\\(?:\\[[^]\n]*\\]\\)?:[ \t]*\\(?1:[^ \t\n].*?\\)[ \t]*$"
                        "\\|<<\\(?1:[^<>\n]+\\)>>"
                        "\\|^[ \t]*#\\+call:[ \t]*\\(?1:[^ \t\n([]+\\)"
                        "\\|\\<call_\\(?1:[^ \t\n([]+\\)[[(]"
                        "\\|\\<remote(\\(?1:[^,)\n]+\\),"
                        "\\|[ \t]:\\(?:var\\|post\\|stdin\\)[ \t]+\\(?2:.*\\)")
                nil t)
          (unless (cl-some (lambda (region)
                             (<= (car region) (match-beginning 0) (cdr region)))
                           regions)
            (if (match-beginning 1)
                (push (downcase (string-trim (match-string-no-properties 1)))
                      names)
              (dolist (name (split-string (match-string-no-properties 2)
                                          "[][() \t=,\"]+" t))
                (push (downcase name) names)))))))
    names))

;;;; Lines

(defun org-agent-inert--scan (state)
  "Make the lines from point on inert; STATE is that of the first."
  (let ((case-fold-search t)
        (org-agent-inert--parsed 0))
    (with-syntax-table org-mode-syntax-table
      (while (not (eobp))
        (org-agent-inert--line state)
        (forward-line)))))

(defun org-agent-inert--hold (position rule what)
  "Hold POSITION by RULE; WHAT is held.
Point stays in front of what it is before."
  (unless (or (eq (char-after position) ?\u200b)
              (eq (char-before position) ?\u200b))
    (save-excursion
      (goto-char position)
      (insert org-agent-inert-mark))
    (when org-agent-inert--report
      (funcall org-agent-inert--report position rule what))))

(defun org-agent-inert--line (state)
  "Make the line at point inert; STATE becomes that of the next line."
  (org-agent-inert--show-controls state)
  (let ((blank (looking-at "[ \t]*$")))
    (cond
     ((org-agent-inert-state-block state)
      (org-agent-inert--block-line state))
     (blank
      (when (eq (org-agent-inert-state-drawer state) 'properties)
        (setf (org-agent-inert-state-drawer state) t)))
     ((looking-at "\\*+ ")
      (org-agent-inert--heading state))
     ((org-agent-inert--property state))
     (t (org-agent-inert--element state)))
    (setf (org-agent-inert-state-blanks state)
          (if blank (1+ (org-agent-inert-state-blanks state)) 0))
    (when (and (> (org-agent-inert-state-blanks state) 1)
               (not (org-agent-inert-state-block state)))
      (setf (org-agent-inert-state-footnote state) nil))))

(defun org-agent-inert--unfinished-p ()
  "Return non-nil when more of the line at point may come."
  (and (not org-agent-inert--whole)
       (save-excursion (end-of-line) (eobp))))

(defun org-agent-inert--show-controls (state)
  "Make controls and direction marks of the line at point visible.
STATE is the line's.  A carriage return at the end of the line goes."
  (save-excursion
    (let ((end (copy-marker (line-end-position) t))
          (in-block (org-agent-inert-state-block state)))
      (while (re-search-forward
              "[\0-\10\v-\37\177-\237\u202a-\u202e\u2066-\u2069]" end t)
        (let ((char (char-before)))
          (delete-char -1)
          (cond
           ((and (eq char ?\r) (eolp) (not (eobp))))
           ((and (not in-block) (memq char '(?\r ?\f ?\v))) (insert " "))
           ((< char 32) (insert (+ #x2400 char)))
           ((= char 127) (insert #x2421))
           (t (insert #xfffd)))))
      (set-marker end nil))))

(defun org-agent-inert--heading (state)
  "Make the heading at point inert; STATE is that of its line.
The first heading of a text may have the tag `:agent:'."
  (let ((first (eq (org-agent-inert-state-place state) 'start)))
    (setf (org-agent-inert-state-place state) 'body
          (org-agent-inert-state-verse state) nil
          (org-agent-inert-state-drawer state) nil
          (org-agent-inert-state-latex state) nil
          (org-agent-inert-state-footnote state) nil)
    (save-excursion
      (when (re-search-forward ":\\([[:alnum:]_@#%:]+\\):[ \t]*$"
                               (line-end-position) t)
        ;; Since Org 9.7 the parser takes tags without a blank before them.
        (let ((place (match-end 1))
              (tags (split-string (downcase (match-string 1)) ":" t)))
          (when (and first (member "agent" tags))
            (setf (org-agent-inert-state-place state) 'own))
          (when (cl-intersection org-agent-inert--tags
                                 (if first (remove "agent" tags) tags)
                                 :test #'equal)
            (org-agent-inert--hold place 'property "a tag of the kernel's")))))
    (org-agent-inert--objects state 'text)))

(defun org-agent-inert--property (state)
  "Make the line at point inert if it is one of a property drawer.
STATE is the line's.  Return nil if it is none.  Only the drawer of the
answer itself may have an ID."
  (let ((own (eq (org-agent-inert-state-place state) 'properties)))
    (when (eq (org-agent-inert-state-drawer state) 'properties)
      (cond
       ((and (looking-at "[ \t]*:\\(\\S-+?\\):\\(?:[ \t]\\|$\\)")
             (not (equal (downcase (match-string 1)) "end")))
        (let ((key (match-string 1)))
          (when (and (string-match-p org-agent-inert--properties key)
                     (not (and own (equal key "ID"))))
            (save-excursion
              (goto-char (match-beginning 1))
              (insert org-agent-inert-prefix)
              (when org-agent-inert--report
                (funcall org-agent-inert--report (match-beginning 1)
                         'property (concat "the property " key))))))
        (org-agent-inert--objects state 'text)
        t)
       (t
        (setf (org-agent-inert-state-drawer state) t)
        nil)))))

(defun org-agent-inert--element (state)
  "Make the line at point, which is no heading, inert; STATE is its own."
  (let ((place (org-agent-inert-state-place state)))
    (setf (org-agent-inert-state-place state) 'body)
    (cond
     ((looking-at "[ \t]*#\\+begin_")
      (org-agent-inert--block-begin state))
     ((looking-at "[ \t]*#\\+")
      (org-agent-inert--keyword)
      (when (looking-at "[ \t]*#\\+end_verse")
        (setf (org-agent-inert-state-verse state) nil))
      (org-agent-inert--objects state 'text))
     ((looking-at "[ \t]*[#:]\\(?:[ \t]\\|$\\)")
      (org-agent-inert--objects state 'raw))
     ((looking-at "[ \t]*:[-_[:alnum:]]+:[ \t]*$")
      (setf (org-agent-inert-state-drawer state)
            (cond ((looking-at "[ \t]*:end:") nil)
                  ((looking-at "[ \t]*:properties:")
                   (when (eq place 'own)
                     (setf (org-agent-inert-state-place state) 'properties))
                   'properties)
                  (t t))))
     (t
      (when (looking-at "\\[fn:")
        (setf (org-agent-inert-state-footnote state) t))
      (when (and (looking-at "[ \t]*\\\\begin{\\([A-Za-z0-9*]+\\)}")
                 (not (org-agent-inert-state-latex state)))
        (setf (org-agent-inert-state-latex state) (match-string 1)))
      (when (looking-at "[ \t]*|")
        (org-agent-inert--formulas))
      (org-agent-inert--objects state 'text)))
    (when (org-agent-inert-state-latex state)
      (save-excursion
        (end-of-line)
        (skip-chars-backward " \t")
        (when (looking-back (concat "\\\\end{" (regexp-quote (org-agent-inert-state-latex state)) "}")
                            (line-beginning-position))
          (setf (org-agent-inert-state-latex state) nil))))))

(defun org-agent-inert--keyword ()
  "Hold the keyword at point if it is to be held."
  (when (looking-at "[ \t]*#\\(?1:\\+\\)\\(?2:[^][ \t\n:]+\\)\\(?:\\[.*?\\]\\)?:\\(?3:.*\\)")
    (let ((place (match-beginning 1))
          (key (downcase (match-string 2)))
          (value (match-string 3))
          (from (match-beginning 3)))
      (cond
       ((member key '("header" "headers"))
        (org-agent-inert--header-arguments from))
       ((equal key "tblfm")
        (when (org-agent-inert--lisp-formula-p (concat "=" value))
          (org-agent-inert--hold place 'formula "a formula in Lisp or over another table")))
       ((member key org-agent-inert--names)
        (when (member (downcase (string-trim value)) org-agent-inert--taken)
          (org-agent-inert--hold place 'keyword "a name that the file has")))
       ((string-prefix-p "attr_" key)
        (when (string-match-p "\\(?:\\`\\|[ \t]\\):on[a-z]+\\(?:[ \t]\\|\\'\\)\\|javascript:\\|vbscript:\\|data:\\|[<>]" value)
          (org-agent-inert--hold place 'keyword "a script")))
       ((string-match-p org-agent-inert--keywords key)
        (org-agent-inert--hold place 'keyword (concat "#+" (upcase key))))))))

;;;; Tables

(defun org-agent-inert--lisp-formula-p (text)
  "Return non-nil when the formula TEXT is Lisp or over another table."
  (string-match-p "'(\\|=[ \t]*'\\|\\<remote[ \t]*(" text))

(defun org-agent-inert--formulas ()
  "Hold the cells of the table row at point that begin like such a formula."
  (let ((end (copy-marker (line-end-position) t)))
    (save-excursion
      (while (re-search-forward "|[ \t]*\\(?1::?=[^|\n]*\\)" end t)
        (let ((place (match-beginning 1)))
          (when (org-agent-inert--lisp-formula-p (match-string 1))
            (org-agent-inert--hold place 'formula "a formula in Lisp or over another table"))
          (goto-char place))))
    (set-marker end nil)))

;;;; Blocks

(defun org-agent-inert-listed-p (language)
  "Return non-nil when LANGUAGE is one of `org-agent-inert-languages'."
  (member language org-agent-inert-languages))

(defun org-agent-inert--block-begin (state)
  "Make the line at point, which begins a block, inert; STATE is its own."
  (looking-at "[ \t]*#\\(?1:\\+\\)begin_\\(?2:[^[:space:]\u2000-\u200b\n]*\\)\\(?3:[ \t]*\\)\\(?4:[^ \t\n]*\\)")
  (let* ((plus (match-beginning 1))
         (kind (downcase (match-string 2)))
         (kind-place (match-beginning 2))
         (word (match-string 4))
         (place (copy-marker (match-beginning 4) t))
         (held-already (string-prefix-p org-agent-inert-mark word))
         (unfinished (org-agent-inert--unfinished-p))
         (word (if unfinished word (org-agent-inert--in-small-letters kind word)))
         (unlisted (not (or (string-match-p "\\`\\(?:[-+:\"]\\|\\'\\)" word)
                            held-already
                            (org-agent-inert-listed-p word))))
         (stays kind))
    (if (or (string-prefix-p "org-agent" kind)
            (member (and (string-match "\\`[[:alpha:]*]*" kind) (match-string 0 kind))
                    org-agent-inert--tex))
        (progn
          (org-agent-inert--hold plus 'language (concat "a block named " kind))
          (org-agent-inert--objects state 'text))
      (when (equal kind "verse")
        (setf (org-agent-inert-state-verse state) t))
      ;; Without the mark Org would highlight an example by that name too.
      (when (and unlisted (equal kind "src") (not unfinished))
        (setq stays "example")
        (org-agent-inert--rename-block kind-place "src" "example"))
      (when (and (or (member kind '("src"))
                     (and (equal kind "example") (or unlisted held-already))))
        (org-agent-inert--header-arguments
         (+ place (if (string-match-p "\\`\\(?:[-+:\"]\\|\\'\\)" word) 0 (length word))))
        (unless unfinished
          (org-agent-inert--say-exports word stays)))
      (when (or unlisted
                (and (equal kind "export") (not held-already) (not (equal word ""))))
        (org-agent-inert--hold (marker-position place) 'language
                               (if (equal kind "src") (concat "the language " word)
                                 (format "the word %s behind #+begin_%s" word kind))))
      (set-marker place nil)
      (when (member kind '("src" "example" "export" "comment"))
        (setf (org-agent-inert-state-block state) kind
              (org-agent-inert-state-stays state) stays))
      ;; Without its end the line is text.
      (org-agent-inert--objects state 'text t))))

(defun org-agent-inert--in-small-letters (kind word)
  "Return WORD, which was just matched behind the KIND of a block.
If it is a listed language in other letters, write it as it is listed:
as it stands it may be the name of another function."
  (let ((small (downcase word)))
    (if (and (equal kind "src") (not (org-agent-inert-listed-p word))
             (org-agent-inert-listed-p small))
        (progn (replace-match small t t nil 4) small)
      word)))

(defun org-agent-inert--rename-block (place from to)
  "Replace FROM, the type of a block, which stands at PLACE, by TO."
  (save-excursion
    (goto-char place)
    (let* ((case-fold-search nil)
           (to (if (looking-at-p "[A-Z]") (upcase to) to)))
      (delete-char (length from))
      ;; Where markers are, the name is.
      (insert-before-markers to))))

(defun org-agent-inert--say-exports (language stays)
  "Have a block of LANGUAGE say that its code is exported, where it must.
STAYS is the type of the block."
  (when (and (equal stays "src")
             (member (downcase language) org-agent-inert--exported-languages)
             (not (save-excursion
                    (re-search-forward "[ \t]:exports[ \t]+\\(?:code\\|none\\)[ \t]*\\(?:[ \t]:\\|$\\)"
                                       (line-end-position) t))))
    (save-excursion
      (end-of-line)
      (delete-horizontal-space)
      (insert " :exports code"))))

(defun org-agent-inert--block-line (state)
  "Make the line at point, in a block that is no Org, inert; STATE is its own.
What would end the block early gets a comma, which Org takes off."
  (let ((block (org-agent-inert-state-block state))
        (stays (org-agent-inert-state-stays state)))
    (cond
     ((looking-at (format "[ \t]*#\\+end_\\(%s\\)[ \t]*$" block))
      (unless (equal block stays)
        (org-agent-inert--rename-block (match-beginning 1) block stays))
      (setf (org-agent-inert-state-block state) nil))
     (t
      (when (and (not (org-agent-inert--may-end-p block))
                 (looking-at "[ \t]*\\(\\*\\|#\\+\\)"))
        (save-excursion
          (goto-char (match-beginning 1))
          (insert ",")))
      (cond
       ;; What the block stands in may end within it for Org.
       ((org-agent-inert--doubtful-p state)
        (when (looking-at "[ \t]*|")
          (org-agent-inert--formulas))
        (org-agent-inert--objects state 'text))
       ((equal stays "src") (org-agent-inert--objects state 'code))
       (t (org-agent-inert--objects state 'raw)))))))

(defun org-agent-inert--may-end-p (block)
  "Return non-nil when the line at point may become the end of BLOCK."
  (and (org-agent-inert--unfinished-p)
       (string-prefix-p (string-trim (buffer-substring-no-properties
                                      (point) (line-end-position)))
                        (concat "#+end_" block) t)))

(defun org-agent-inert--doubtful-p (state)
  "Return non-nil when a block at STATE may not be one for Org."
  (or (org-agent-inert-state-verse state)
      (org-agent-inert-state-drawer state)
      (org-agent-inert-state-latex state)
      (org-agent-inert-state-footnote state)))

;;;; Header arguments

(defun org-agent-inert--header-arguments (from)
  "Hold header arguments of the line at point, from FROM on."
  (let ((end (copy-marker (line-end-position) t)) places)
    (save-excursion
      (goto-char from)
      (let ((argument-p nil))
        (while (< (point) end)
          (cond
           ((and (eq (char-after) ?\") (not (eq (char-before) ?\\))
                 (re-search-forward "\"\\(?:[^\n]*?[^\\\n]\\)??\"" end t)))
           ((and (eq (char-after) ?:)
                 (or (= (point) from) (memq (char-before) '(?\s ?\t)))
                 (looking-at ":\\([^ \t\n]*\\)[ \t]*"))
            (setq argument-p t)
            (let* ((key (downcase (match-string 1)))
                   (name-place (1+ (point)))
                   (value-place (match-end 0))
                   (behind (match-end 1))
                   (value (org-agent-inert--argument-value value-place end)))
              (when (org-agent-inert--argument-held-p key value)
                (push (list name-place (concat "the header argument :" key)) places))
              (when (org-agent-inert--evaluated-p value)
                (push (list value-place "a value that Emacs would evaluate") places))
              (goto-char behind)))
           ((and (not argument-p)
                 (or (= (point) from) (memq (char-before) '(?\s ?\t)))
                 (looking-at "[('`[]\\|\\*this\\*"))
            (push (list (point) "a value that Emacs would evaluate") places)
            (forward-char))
           (t (forward-char))))))
    (set-marker end nil)
    ;; From the last on, so that the places stay right.
    (pcase-dolist (`(,place ,what) places)
      (org-agent-inert--hold place 'argument what))))

(defun org-agent-inert--argument-value (place end)
  "Return the value at PLACE of a header argument; the line ends at END.
The next argument, behind a blank and outside of strings, ends it."
  (save-excursion
    (goto-char place)
    (let ((stop nil))
      (while (and (not stop) (< (point) end))
        (cond
         ((and (eq (char-after) ?\") (not (eq (char-before) ?\\))
               (re-search-forward "\"\\(?:[^\n]*?[^\\\n]\\)??\"" end t)))
         ((and (eq (char-after) ?:) (memq (char-before) '(?\s ?\t)))
          (setq stop t))
         (t (forward-char)))))
    (string-trim (buffer-substring-no-properties place (point)) "[ \t]+" "[ \t]+")))

(defun org-agent-inert--evaluated-p (value)
  "Return non-nil when Org evaluates VALUE."
  (or (string-match-p "\\`[('`[]" value) (equal value "*this*")))

(defun org-agent-inert--argument-held-p (key value)
  "Return non-nil when the header argument KEY with VALUE is held."
  (let ((plain (if (string-match "\\`\"\\(.*?\\)\"?\\'" value) (match-string 1 value) value))
        (case-fold-search nil))
    (pcase key
      ("var"
       (not (string-match-p
             "\\`\\(?:[^][ \t\n=,\"()]+[ \t]*=[ \t]*\\(?:-?[0-9]+\\(?:\\.[0-9]+\\)?\\|\"\\(?:[^\"\\]\\|\\\\.\\)*\"\\)\\(?:[ \t]*,?[ \t]+\\|,\\|\\'\\)\\)+\\'"
             value)))
      ("eval" (not (member plain '("" "no" "never" "query" "no-export" "never-export"
                                   "query-export" "strip-export"))))
      ("exports" (cl-intersection '("results" "both") (split-string plain) :test #'equal))
      ("noweb" (not (member plain '("" "no"))))
      ("tangle" (not (or (member plain '("" "yes" "no"))
                         (org-agent-inert--inside-p plain))))
      ((or "file" "output-dir") (not (or (equal plain "") (org-agent-inert--inside-p plain))))
      (_ (member key org-agent-inert--arguments)))))

(defun org-agent-inert--inside-p (name)
  "Return non-nil when the file NAME is one within the directory.
It neither is hidden nor decides what a program or the agent does."
  (let ((parts (split-string name "/")))
    (and (not (string-match-p "[\\:$\"`|;<>*?]\\|\\`[/~]" name))
         (not (member-ignore-case (car (last parts)) org-agent-inert--file-names))
         (cl-every (lambda (part) (not (string-prefix-p "." part)))
                   (if (equal (car parts) ".") (cdr parts) parts))
         (not (cl-intersection (mapcar #'downcase (butlast parts))
                               org-agent-inert--directories :test #'equal)))))

;;;; Objects

(defun org-agent-inert--objects (state context &optional opaque)
  "Hold what the line at point holds of `org-agent-inert--inline'.
STATE is the line's, CONTEXT one of the contexts there.  When OPAQUE is
non-nil nothing in the line is verbatim."
  (when (save-excursion (re-search-forward org-agent-inert--suspect (line-end-position) t))
    (let ((end (copy-marker (line-end-position) t))
          (opaque (or opaque
                      (org-agent-inert-state-latex state)
                      (org-agent-inert-state-block state)))
          (signs 'unknown))
      (pcase-dolist (`(,rule ,what ,contexts ,regexp ,predicate)
                     org-agent-inert--inline)
        (when (memq context contexts)
          (save-excursion
            (while (re-search-forward regexp end t)
              (let ((place (match-beginning 1)))
                (goto-char place)
                (when (and (or (null predicate)
                               (save-excursion (save-match-data
                                                 (funcall predicate context opaque))))
                           (or (memq 'raw contexts) opaque
                               (progn
                                 (when (eq signs 'unknown)
                                   (setq signs (org-agent-inert--verbatim-signs)))
                                 (not (org-agent-inert--verbatim-p place signs)))))
                  (org-agent-inert--hold place rule what))
                ;; What is before a place may be what the next one is behind.
                (goto-char place))))))
      (set-marker end nil))))

(defun org-agent-inert--variables-p (context _opaque)
  "Return non-nil when Emacs would read the variables in group 2.
In CONTEXT `text' nothing stays.  Code may say how it is read."
  (let ((content (string-trim (match-string-no-properties 2))))
    (not (and (not (eq context 'text))
              (if (string-match-p ":" content)
                  (cl-every
                   (lambda (variable)
                     (or (string-match-p "\\`[ \t]*\\(?:\\(?:lexical-binding\\|coding\\)[ \t]*:.*\\)?\\'" variable)
                         (and (string-match "\\`[ \t]*mode[ \t]*:[ \t]*\\(.*?\\)[ \t]*\\'" variable)
                              (org-agent-inert-listed-p (match-string 1 variable)))))
                   (split-string content ";"))
                (org-agent-inert-listed-p content))))))

(defun org-agent-inert--unlisted-p (&rest _)
  "Return non-nil when the language in group 2 is not listed."
  (not (org-agent-inert-listed-p (match-string-no-properties 2))))

(defun org-agent-inert--no-url-p (&rest _)
  "Return non-nil when point is not within a URL that stays."
  (let ((place (point)))
    (skip-chars-backward "^][<>(){}| \t\n")
    (unless (bolp) (forward-char -1))
    (not (and (re-search-forward
               (concat "\\(?:^\\|[^a-z0-9]\\)" (regexp-opt org-agent-inert--link-types) ":")
               place t)
              ;; Emphasis that began before it ends it.
              (not (re-search-forward "[*/_+=~][-.,:!?;'\")}\\[ \t]" place t))))))

(defun org-agent-inert--link-p (&rest _)
  "Return non-nil when the type in group 2 is that of a link that is held.
A type may stand behind a dash or a plus.  In double brackets an unknown
type may be an abbreviation of the person's for another."
  (let* ((word (downcase (match-string-no-properties 2)))
         (beg (match-beginning 2))
         (bracket (and (eq (char-before beg) ?\[) (eq (char-before (1- beg)) ?\[)))
         (types (list word))
         (rest word))
    (while (string-match "[-+]" rest)
      (setq rest (substring rest (match-end 0)))
      (push rest types))
    (setq types (nreverse types))
    (let ((known (cl-find-if (lambda (type)
                               (or (member type org-agent-inert--link-types)
                                   (member type org-agent-inert--known-types)
                                   (member type (org-link-types))))
                             types)))
      (and (if known
               (not (member known org-agent-inert--link-types))
             (and bracket (string-match-p "\\`[a-z]" word)))
           (org-agent-inert--no-url-p)))))

(defun org-agent-inert--known-link-p (&rest _)
  "Return non-nil when group 2 is a known type of a link that is held."
  (let ((type (downcase (match-string-no-properties 2))))
    (and (not (member type org-agent-inert--link-types))
         (or (member type org-agent-inert--known-types)
             (member type (org-link-types))))))

(defun org-agent-inert--tex-p (&rest _)
  "Return non-nil when group 2 is a command of LaTeX that is held.
An environment counts by its name."
  (let ((name (downcase (match-string-no-properties 2))))
    (goto-char (match-end 2))
    (or (member name org-agent-inert--tex)
        (and (member name '("begin" "end"))
             (looking-at "{\\([^}\n]*\\)}")
             (member (downcase (match-string 1)) org-agent-inert--tex)))))

(defun org-agent-inert--mathematics-p (_context opaque)
  "Return non-nil when a formula may be open at point.
OPAQUE is non-nil in a LaTeX environment."
  (or opaque
      (let ((place (point)))
        (forward-line 0)
        (unless (looking-at-p "[ \t]*\\(?:#\\|:[ \t\n]\\||\\|\\*+ \\)")
          (while (and (not (bobp))
                      (save-excursion
                        (forward-line -1)
                        (not (looking-at-p "[ \t]*\\(?:$\\|#\\|:\\||\\|\\*+ \\)"))))
            (forward-line -1)))
        (re-search-forward "[$]\\|\\\\[[(]" place t))))

;;;; Verbatim text

(defun org-agent-inert--verbatim-signs ()
  "Return where verbatim text may begin and end in the line at point.
That is (FIRST . LAST), markers at its signs, or nil.  It is found once a
line: one line may be all of a long text."
  (save-excursion
    (let ((beg (line-beginning-position)) (end (line-end-position)))
      (goto-char beg)
      (skip-chars-forward "^=~" end)
      (when (< (point) end)
        (let ((first (point-marker)))
          (goto-char end)
          (skip-chars-backward "^=~" beg)
          (cons first (copy-marker (1- (point)))))))))

(defun org-agent-inert--verbatim-p (place signs)
  "Return non-nil when the text at PLACE is verbatim.
SIGNS is where the line has the signs of it.  Only Org's own parser
knows, and only when it can see the whole text.  Else what looks verbatim
counts: a text that is still being written is checked once more at its
end."
  (and signs
       (< (car signs) place)
       (>= (cdr signs) place)
       (or (not org-agent-inert--whole)
           (save-excursion
             (goto-char place)
             (and (< org-agent-inert--parsed org-agent-inert--parse-limit)
                  (org-agent-inert--parsed-verbatim-p))))))

(defun org-agent-inert--parsed-verbatim-p ()
  "Return non-nil when Org's parser finds verbatim text at point."
  (cl-incf org-agent-inert--parsed
           (1+ (/ (- (line-end-position) (line-beginning-position)) 2000)))
  (save-match-data
    (unless (derived-mode-p 'org-mode)
      (let ((org-inhibit-startup t))
        (delay-mode-hooks (org-mode))))
    (memq (org-element-type (save-excursion (org-element-context)))
          '(verbatim code))))

(provide 'org-agent-inert)
;;; org-agent-inert.el ends here
