;;; org-agent-inert-list.el --- Words and expressions of the check of a model's text  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; This file has the words for which `org-agent-inert.el' looks, and the part
;; of it that looks within a line: a table of expressions, each with the
;; contexts in which Org, or a mere search by Org or Emacs, acts on what it
;; matches.  What is live in text only is not held where it is verbatim, which
;; only Org's own parser knows.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-element)
(require 'subr-x)

;;;; Words

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
For others see `org-agent-inert-list-argument-held-p'.")

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
  '("user" "agent" "draft" "unsent" "agenttask" "agenthook" "crypt" "noagent")
  "Tags that mark turns and tasks, wake skills, or hide text.")

(defvar org-agent-tasks-agenda-tag)

(defun org-agent-inert-list-tag-p (tag)
  "Return non-nil when TAG is held, in any case.
The one that the person has chosen for tasks in their own files is held
besides those of `org-agent-inert-list-tags'."
  (let ((tag (downcase tag))
        (own (bound-and-true-p org-agent-tasks-agenda-tag)))
    (or (member tag org-agent-inert-list-tags)
        (and (stringp own) (equal tag (downcase own))))))

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
  '("config.org" "policy.org" "channels.org" "tasks.org" "contacts.org"
    "heartbeat.org" "identity.org" "soul.org" "tools.org" "profiles.org"
    "memory.org" "workspace.org" "user.org" "init.el" "early-init.el"
    "default.el" "site-start.el" "custom.el" "_emacs" "_emacs.el"
    "sitecustomize.py"
    "usercustomize.py" "mise.toml")
  "Names of files that programs obey or that decide what the agent may do.")

(defconst org-agent-inert-list-directories '("skills" "profiles" "prompt")
  "Names of directories that decide what the agent is and does.")

;;;; Within a line

(defconst org-agent-inert-list--expressions
  '((inline "file variables" (text raw code) ?:
            "local\\(?1: \\)variables:")
    (inline "file variables" (text raw code) ?*
            "-\\(?1:\\*\\)-\\(?2:.*?\\)-\\*-" org-agent-inert-list--variables-p)
    (language "code within a line" (raw code) ?_
              "\\(?:^\\|[^a-z0-9]\\)src\\(?1:_\\)\\(?2:[^ \t\n[{]+\\)[[{]"
              org-agent-inert-list--unlisted-p)
    (inline "planning by a diary expression" (text raw) ?%
            "\\(?:^\\|[^a-z0-9+-]\\)\\(?:scheduled\\|deadline\\|closed\\|clock\\)\\(?1::\\)[ \t]*[[<]%%(")
    (inline "a diary expression" (text raw) ?%
            "<\\(?1:%\\)%(")
    (inline "a diary expression" (text raw) ?%
            "^&?%\\(?1:%\\)(")
    (inline "a citation" (text raw) ?\[
            "\\[\\(?1:c\\)ite\\(?:/[-_/a-z0-9]*\\)?:" org-agent-inert-list--citation-p)
    (inline "a link to a file elsewhere" (text raw) ?\[
            "\\[\\[\\(?1:/\\(?:/[^/\n]\\|/*[^]/:| \t\n]+[:|]\\|/*\\\\\\)\\|\\\\\\)")
    (inline "a link to a file elsewhere" (text raw) ?:
            "\\(?:^\\|[^a-z0-9]\\)file\\(?1::\\)\\(?://[^/\n]\\|/+[^]/:| \t\n]+[:|]\\|/*\\\\\\)"
            org-agent-inert-list--no-url-p)
    (inline "a link of another type" (text raw) ?:
            "\\(?:^\\|[^a-z0-9]\\)\\(?2:[a-z0-9][-+a-z0-9]*\\)\\(?1::\\)[^ \t\n]"
            org-agent-inert-list--link-p)
    ;; In brackets blanks and a line end may follow.
    (inline "a link of another type" (text raw) ?:
            "\\(?:\\[\\[\\|<\\)\\(?2:[a-z][-+a-z0-9]*\\)\\(?1::\\)\\(?:[ \t]\\|$\\)"
            org-agent-inert-list--known-link-p)
    (inline "code within a line" (text) ?_
            "\\(?:^\\|[^a-z0-9]\\)src\\(?1:_\\)[^ \t\n[{]+[[{]")
    (inline "a call within a line" (text) ?_
            "\\(?:^\\|[^a-z0-9]\\)call\\(?1:_\\)[^ \t\n[(]+[[(]")
    (inline "a macro" (text) ?\{
            "{{\\(?1:{\\)[a-z][-a-z0-9_]*\\(?:(\\|}}}\\)")
    (inline "a target that other text links to" (text) ?<
            "<<\\(?1:<\\)\\(?2:[^<>\n]+\\)>>>" org-agent-inert-list--radio-p)
    (language "raw text for an exporter" (text) ?@
              "@\\(?1:@\\)[-a-z0-9]+:")
    (inline "a command of LaTeX" (text) ?\\
            "\\\\\\(?1:\\)\\(?2:[a-z]+\\)" org-agent-inert-list--tex-p)
    (inline "a character of TeX by its code" (text) ?^
            "\\^\\(?1:\\^\\)[]!-[\\_-~]" org-agent-inert-list--mathematics-p))
  "What is held within a line.
Each is (RULE WHAT CONTEXTS CHARACTER REGEXP [PREDICATE]).  What matches
has the CHARACTER, so that most lines need not be searched.  The mark
goes to the beginning of group 1.  Contexts are `text', `raw' (what is not
Org, but searched by Org) and `code'.  What is for `text' only is not held
where it is verbatim.  PREDICATE is called with the match data.")

(defconst org-agent-inert-list--plain
  (concat "^\n" (mapconcat (lambda (character) (format "\\%c" character))
                           (delete-dups (mapcar (lambda (expression) (nth 3 expression))
                                                org-agent-inert-list--expressions))
                           ""))
  "The characters that no expression needs, as `skip-chars-forward' takes them.")

(defvar org-agent-inert-list-parsed 0
  "How often Org's parser was asked about the text at hand.")

(defconst org-agent-inert-list--parse-limit 200
  "How often Org's parser may be asked about one text.
In a long line it takes longer, and counts more.  Beyond that nothing
counts as verbatim.")

(defvar org-agent-inert-list-whole nil
  "Non-nil when the text at hand is whole, so that the parser knows it.")

(defun org-agent-inert-list-inline (context opaque formula hold)
  "Hold what the line at point holds of what is live in text.
CONTEXT is one of those of `org-agent-inert-list--expressions'.  When OPAQUE
is non-nil nothing in the line is verbatim.  When FORMULA is non-nil the
lines above may have opened one.  HOLD is called with the position, the
rule and a description of each place, and puts the mark there."
  (when-let* ((characters (org-agent-inert-list--characters)))
    (let ((beg (point))
          (end (copy-marker (line-end-position) t))
          (signs 'unknown))
      (pcase-dolist (`(,rule ,what ,contexts ,character ,regexp ,predicate)
                     org-agent-inert-list--expressions)
        (when (and (memq character characters) (memq context contexts))
          (while (re-search-forward regexp end t)
            (let ((place (match-beginning 1)))
              (goto-char place)
              (when (and (or (null predicate)
                             (save-excursion (save-match-data
                                               (funcall predicate context (or opaque formula)))))
                         (or (memq 'raw contexts) opaque
                             (progn
                               (when (eq signs 'unknown)
                                 (setq signs (org-agent-inert-list--verbatim-signs)))
                               (not (org-agent-inert-list--verbatim-p place signs)))))
                (funcall hold place rule what))
              ;; What is before a place may be what the next one is behind.
              (goto-char place)))
          (goto-char beg)))
      (set-marker end nil))))

(defun org-agent-inert-list--characters ()
  "Return the characters of the line at point that an expression needs."
  (let ((beg (point)) character characters)
    (while (progn (skip-chars-forward org-agent-inert-list--plain)
                  (not (memq (setq character (char-after)) '(nil ?\n))))
      (unless (memq character characters)
        (push character characters))
      (forward-char))
    (goto-char beg)
    characters))

(defun org-agent-inert-list--variables-p (context _opaque)
  "Return non-nil when Emacs would read the variables in group 2.
In CONTEXT `text' nothing stays.  Code may say how it is read."
  (let ((content (string-trim (match-string-no-properties 2))))
    (not (and (not (eq context 'text))
              (= 2 (how-many "-\\*-" (line-beginning-position) (line-end-position)))
              (if (string-match-p ":" content)
                  (cl-every
                   (lambda (variable)
                     (or (string-match-p "\\`[ \t]*\\(?:\\(?:lexical-binding\\|coding\\)[ \t]*:.*\\)?\\'" variable)
                         (and (string-match "\\`[ \t]*mode[ \t]*:[ \t]*\\(.*?\\)[ \t]*\\'" variable)
                              (org-agent-inert-list-language-p (match-string 1 variable)))))
                   (split-string content ";"))
                (org-agent-inert-list-language-p content))))))

(defun org-agent-inert-list--unlisted-p (&rest _)
  "Return non-nil when the language in group 2 is not listed."
  (not (org-agent-inert-list-language-p (match-string-no-properties 2))))

(defconst org-agent-inert-list--url-begins
  (concat "\\(?:^\\|[^a-z0-9]\\)\\(?1:" (regexp-opt org-agent-inert-list-link-types) "\\):")
  "Matches the beginning of a link that stays.")

(defun org-agent-inert-list--no-url-p (&rest _)
  "Return non-nil when point is not within a URL that stays."
  (let ((place (point)) within)
    (skip-chars-backward "^][<>(){}| \t\n")
    (let ((word (point)))
      (unless (bolp) (forward-char -1))
      (while (and (not within)
                  (re-search-forward org-agent-inert-list--url-begins place t))
        (let ((type (match-beginning 1)))
          (setq within
                (not (save-excursion
                       (or
                        ;; Emphasis or a formula that began before it ends it.
                        (re-search-forward "[$]\\|[*/_+=~][-–—.,:!?;'\")}\\[[:space:]\u200b]" place t)
                        ;; Behind a letter it is none, and one in a subscript
                        ;; or a command of LaTeX ends with that.
                        (progn (goto-char type)
                               (skip-chars-backward "^\u200b" word)
                               (re-search-forward "[_^$%'\\[:nonascii:]]" type t)))))))
        ;; The colon may be what the next one is behind.
        (forward-char -1)))
    (not within)))

(defun org-agent-inert-list--link-p (&rest _)
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
                               (or (member type org-agent-inert-list-link-types)
                                   (member type org-agent-inert-list-known-types)
                                   (member type (org-link-types))))
                             types)))
      (and (if known
               (not (member known org-agent-inert-list-link-types))
             (and bracket (string-match-p "\\`[a-z]" word)))
           (org-agent-inert-list--no-url-p)))))

(defun org-agent-inert-list--citation-p (&rest _)
  "Return non-nil when the citation that was just matched has a key.
One that does not end in the line may have it below."
  (goto-char (match-end 0))
  (let ((depth 1) key)
    (while (and (> depth 0) (not key))
      (skip-chars-forward "^][@\n")
      (pcase (char-after)
        (?\[ (cl-incf depth))
        (?\] (cl-decf depth))
        (_ (setq key t)))
      (unless (eobp) (forward-char)))
    key))

(defun org-agent-inert-list--radio-p (&rest _)
  "Return non-nil when the text in group 2 is held as a radio target.
Org takes the same text elsewhere for a link.  What follows it is then no
part of a URL or of verbatim text that begins within it.  A mark in it,
which holds something else, is no text."
  (let ((text (string-replace "\u200b" "" (match-string-no-properties 2))))
    (or (string-match-p "[^[:alnum:] .,;!?()&-]" text)
        (cl-some (lambda (word)
                   (member (downcase word) org-agent-inert-list-link-types))
                 (split-string text "[^[:alnum:]]+" t)))))

(defun org-agent-inert-list--known-link-p (&rest _)
  "Return non-nil when group 2 is a known type of a link that is held."
  (let ((type (downcase (match-string-no-properties 2))))
    (and (not (member type org-agent-inert-list-link-types))
         (or (member type org-agent-inert-list-known-types)
             (member type (org-link-types))))))

(defun org-agent-inert-list--tex-p (&rest _)
  "Return non-nil when group 2 is a command of LaTeX that is held.
An environment counts by its name."
  (let ((name (downcase (match-string-no-properties 2))))
    (goto-char (match-end 2))
    (or (member name org-agent-inert-list-tex)
        (and (member name '("begin" "end"))
             (looking-at "{\\([^}\n]*\\)}")
             (member (downcase (match-string 1)) org-agent-inert-list-tex)))))

(defconst org-agent-inert-list--command
  "\\\\[a-z]+\\*?\\(?:\\[[^][\n{}]*\\]\\|{[^{}\n]*}\\)*"
  "Matches a command of LaTeX with what it is given, as Org reads it.")

(defun org-agent-inert-list--mathematics-p (_context opened)
  "Return non-nil when a formula may be open at point.
OPENED is non-nil in a LaTeX environment, and where the lines above may
have opened one.  What a command of LaTeX is given counts as well."
  (or opened
      (let ((place (point)))
        (forward-line 0)
        (or (org-agent-inert-list-opens-formula-p place)
            (let (within)
              (while (and (not within)
                          (re-search-forward org-agent-inert-list--command place t))
                (goto-char (match-beginning 0))
                (looking-at org-agent-inert-list--command)
                (setq within (< place (match-end 0)))
                (goto-char (if within place (match-end 0))))
              within)))))

(defun org-agent-inert-list-opens-formula-p (end)
  "Return non-nil when a formula may begin between point and END.
Both are in one line.  None begins in what is verbatim.  That matters
only where a character by its code is still to come."
  (save-excursion
    (let (signs opens)
      (while (and (not opens) (re-search-forward "[$]\\|\\\\[[(]" end t))
        (let ((place (match-beginning 0)))
          (unless signs
            (setq signs (list (org-agent-inert-list--verbatim-signs))))
          (setq opens (not (and (car signs)
                                (or (save-excursion (not (search-forward "^^" nil t)))
                                    (org-agent-inert-list--verbatim-p place (car signs))))))))
      opens)))

;;;; Verbatim text

(defun org-agent-inert-list--verbatim-signs ()
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

(defun org-agent-inert-list--verbatim-p (place signs)
  "Return non-nil when the text at PLACE is verbatim.
SIGNS is where the line has the signs of it.  Only Org's own parser
knows, and only when it can see the whole text.  Else what looks verbatim
counts: a text that is still being written is checked once more at its
end."
  (and signs
       (< (car signs) place)
       (>= (cdr signs) place)
       (or (not org-agent-inert-list-whole)
           (save-excursion
             (goto-char place)
             (and (< org-agent-inert-list-parsed org-agent-inert-list--parse-limit)
                  (org-agent-inert-list--parsed-verbatim-p))))))

(defvar org-agent-inert-list--parser nil
  "The buffer in which Org's parser reads the text at hand, or nil.")

(defmacro org-agent-inert-list-with-parser (&rest body)
  "Run BODY, in which Org's parser may be asked about a whole text.
Few texts need it, and Org mode takes longer than all the rest."
  (declare (indent 0) (debug t))
  `(let ((org-agent-inert-list-whole t)
         (org-agent-inert-list--parser nil))
     (unwind-protect (progn ,@body)
       (when org-agent-inert-list--parser
         (kill-buffer org-agent-inert-list--parser)))))

(defun org-agent-inert-list--parser-buffer ()
  "Return the buffer for Org's parser, without a text when it is new.
Org mode reads the files that a text names, so it comes before the text."
  (or org-agent-inert-list--parser
      (with-current-buffer (setq org-agent-inert-list--parser
                                 (generate-new-buffer " *org-agent-parser*" t))
        (let ((org-inhibit-startup t))
          (delay-mode-hooks (org-mode)))
        (current-buffer))))

(defun org-agent-inert-list--parsed-verbatim-p ()
  "Return non-nil when Org's parser finds verbatim text at point."
  (cl-incf org-agent-inert-list-parsed
           (1+ (/ (- (line-end-position) (line-beginning-position)) 2000)))
  (let ((text (buffer-substring-no-properties (point-min) (point-max)))
        (place (point)))
    (save-match-data
      (with-current-buffer (org-agent-inert-list--parser-buffer)
        (erase-buffer)
        (insert text)
        (goto-char place)
        (memq (org-element-type (org-element-context)) '(verbatim code))))))

;;;; Header arguments

;; Org evaluates some header arguments before it asks whether to run a
;; block.  Others have an export or a tangle run it, or reach outside of it.

(defun org-agent-inert-list-held-arguments (from)
  "Return the header arguments of the line at point, from FROM on, that are held.
Each is (POSITION WHAT), the last one first."
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
                   (value (org-agent-inert-list--argument-value value-place end)))
              (when (org-agent-inert-list-argument-held-p key value)
                (push (list name-place (concat "the header argument :" key)) places))
              (when (org-agent-inert-list--argument-evaluated-p value)
                (push (list value-place "a value that Emacs would evaluate") places))
              (goto-char behind)))
           ((and (not argument-p)
                 (or (= (point) from) (memq (char-before) '(?\s ?\t)))
                 (looking-at "[('`[]\\|\\*this\\*"))
            (push (list (point) "a value that Emacs would evaluate") places)
            (forward-char))
           (t (forward-char))))))
    (set-marker end nil)
    places))

(defun org-agent-inert-list--argument-value (place end)
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

(defun org-agent-inert-list--argument-evaluated-p (value)
  "Return non-nil when Org evaluates VALUE."
  (or (string-match-p "\\`[('`[]" value) (equal value "*this*")))

(defun org-agent-inert-list-argument-held-p (key value)
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
                         (org-agent-inert-list--argument-inside-p plain))))
      ((or "file" "output-dir") (not (or (equal plain "") (org-agent-inert-list--argument-inside-p plain))))
      (_ (member key org-agent-inert-list-arguments)))))

(defun org-agent-inert-list--argument-inside-p (name)
  "Return non-nil when the file NAME is one within the directory.
It neither is hidden nor decides what a program or the agent does."
  (let ((parts (split-string name "/")))
    (and (not (string-match-p "[\\:$\"`|;<>*?]\\|\\`[/~]" name))
         (not (member-ignore-case (car (last parts)) org-agent-inert-list-file-names))
         (cl-every (lambda (part) (not (string-prefix-p "." part)))
                   (if (equal (car parts) ".") (cdr parts) parts))
         (not (cl-intersection (mapcar #'downcase (butlast parts))
                               org-agent-inert-list-directories :test #'equal)))))

(provide 'org-agent-inert-list)
;;; org-agent-inert-list.el ends here
