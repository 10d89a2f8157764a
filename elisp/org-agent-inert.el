;;; org-agent-inert.el --- Make text from outside inert Org  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Text can make Org run code: by a `#+TBLFM:' line, a formula in a cell of a
;; table, or a `:var' header argument.  Text that a model wrote must never
;; do that.  Only harmless Org stays Org: headings, lists, tables,
;; footnotes, emphasis, inactive timestamps, blocks of type quote, verse,
;; center, example and src if their only argument is a listed language, and
;; links of type http, https, mailto, id and file.  A zero-width space turns
;; everything else into plain text.
;;
;; The kernel does this, too.  The client does not trust the kernel, and
;; shares no code with it.
;;
;; `org-agent-inert' takes a whole text.  `org-agent-inert-lines' takes the
;; lines of an answer as it streams in; its cost is linear in the length of
;; the answer.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-element)
(require 'subr-x)

(defconst org-agent-inert-mark "\u200b"
  "The zero-width space that turns active Org into plain text.")

(defconst org-agent-inert--link-types '("http" "https" "mailto" "id" "file")
  "The types of links that are allowed.")

(defconst org-agent-inert--properties
  '("ID" "SKILL" "MODEL" "STATE" "TURN" "COST" "TOKENS" "SECONDS" "CREATED"
    "REASON" "ASKS" "PREFERRED")
  "The properties that the drawer of an answer may have.")

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
  "The languages of blocks that Org may highlight.
To highlight a block of a language X, Org calls the function `X-mode',
whatever that does.  The modes of the languages listed here only
highlight.  Org and Markdown are not listed, since their modes act on
the text of the block: `org-mode' opens images and runs LaTeX if the
user has set it to do so at startup, and `markdown-mode' calls the modes
that the blocks in the text name.")

(defvar org-agent-inert--parsed 0
  "How often Org's parser has been called for the current text.")

(defvar org-agent-inert--active nil
  "What `org-agent-inert--regexp' returned for the current text.")

(defconst org-agent-inert--parse-limit 200
  "How often Org's parser may be called for one text.
A call in a long line takes longer, and counts more.  When the limit is
reached, nothing else counts as verbatim.")

(cl-defstruct (org-agent-inert-state (:copier org-agent-inert-copy-state))
  "What is known at the beginning of a line about the lines before it."
  (place 'start :documentation "One of the symbols `start', `drawer' (the
property drawer may begin here), `properties' (within that drawer),
`trail' (after it, where drawers of thoughts and calls may follow),
`fixed' (within such a drawer) or `body'.")
  (block nil :documentation "The type of the src or example block, or nil.")
  (footnote nil :documentation "Non-nil within a footnote's definition.")
  (blank nil :documentation "Non-nil when the last line was blank."))

;;;; Entry points

(defun org-agent-inert (text)
  "Return TEXT, a whole answer in Org, without active Org.
Its first heading may have the tag `:agent:' and a property drawer.  If
TEXT is inert already, the result is equal to it."
  (with-temp-buffer
    (insert text)
    (goto-char (point-min))
    (org-agent-inert--scan (make-org-agent-inert-state) t)
    (buffer-string)))

(defun org-agent-inert-lines (text state)
  "Make the lines of TEXT inert; STATE is the state of its first line.
Return (INERT FINAL . NEXT): INERT is the new text, FINAL is the number
of characters of TEXT in whole lines, and NEXT is the state of the line
after them.  STATE itself is not changed."
  (let ((state (org-agent-inert-copy-state state))
        (final (org-agent-inert-whole-lines text)))
    (with-current-buffer (get-buffer-create " *org-agent-inert*" t)
      (buffer-disable-undo)
      (erase-buffer)
      (insert (substring text 0 final))
      (goto-char (point-min))
      (org-agent-inert--scan state nil)
      (let ((next (org-agent-inert-copy-state state)))
        (insert (substring text final))
        (forward-line 0)
        (org-agent-inert--scan state nil)
        (cons (buffer-string) (cons final next))))))

(defun org-agent-inert--scan (state whole)
  "Make the lines from point on inert; STATE is the state of the first.
WHOLE is non-nil if no more text follows, so that a block without an end
is no block."
  (let ((case-fold-search t)
        (org-agent-inert--parsed 0)
        (org-agent-inert--active (org-agent-inert--regexp)))
    (with-syntax-table org-mode-syntax-table
      (while (not (eobp))
        (org-agent-inert--line state whole)
        (forward-line)))))

(defun org-agent-inert-whole-lines (text)
  "Return the number of characters of TEXT that are in whole lines."
  (if (string-match "\n[^\n]*\\'" text)
      (1+ (match-beginning 0))
    0))

;;;; Lines

(defun org-agent-inert--mark (position)
  "Insert the mark at POSITION, and keep point before the same character."
  (save-excursion
    (goto-char position)
    (insert org-agent-inert-mark)))

(defun org-agent-inert--line (state whole)
  "Make the line at point inert; STATE becomes that of the next line.
WHOLE is as for `org-agent-inert--scan'."
  (let ((in-block (org-agent-inert-state-block state)))
    (cond
     (in-block (org-agent-inert--block-line state in-block))
     ((and (eq (org-agent-inert-state-place state) 'drawer)
           (looking-at "[ \t]*:PROPERTIES:[ \t]*$"))
      (setf (org-agent-inert-state-place state) 'properties))
     ((eq (org-agent-inert-state-place state) 'properties)
      (org-agent-inert--property state whole))
     ((and (eq (org-agent-inert-state-place state) 'trail)
           (let ((case-fold-search nil))
             (looking-at ":\\(?:THOUGHTS\\|CALLS\\):$")))
      (setf (org-agent-inert-state-place state) 'fixed))
     ((eq (org-agent-inert-state-place state) 'fixed)
      (org-agent-inert--fixed-width state whole))
     ((looking-at "\\*+ ")
      (org-agent-inert--heading state whole))
     (t
      (setf (org-agent-inert-state-place state) 'body)
      (org-agent-inert--note-footnote state)
      (unless (org-agent-inert--block-begin state whole)
        (org-agent-inert--line-start)
        (org-agent-inert--objects whole))))))

(defun org-agent-inert--heading (state whole)
  "Make the heading at point inert; STATE is the state of its line.
WHOLE is as for `org-agent-inert--scan'.  The first heading of a text
may have the tag `:agent:' and a drawer."
  (let ((first (eq (org-agent-inert-state-place state) 'start)))
    (setf (org-agent-inert-state-place state) (if first 'drawer 'body)
          (org-agent-inert-state-footnote state) nil
          (org-agent-inert-state-blank state) nil)
    (save-excursion
      (when (re-search-forward "[ \t]\\(:[[:alnum:]_@#%:]+:\\)[ \t]*$"
                               (line-end-position) t)
        ;; Since Org 9.7 tags need no blank before them, so the mark is put
        ;; among the tags, where the kernel puts it, too.
        (let ((place (1- (match-end 1)))
              (tags (split-string (downcase (match-string 1)) ":" t)))
          (when (and (cl-intersection '("user" "agent" "draft") tags :test #'equal)
                     (not (and first (equal tags '("agent")))))
            (org-agent-inert--mark place)))))
    (org-agent-inert--objects whole)))

(defun org-agent-inert--property (state whole)
  "Make the line at point, in the drawer of the answer, inert.
STATE is the state of the line, WHOLE is as for `org-agent-inert--scan'.
A property that is not allowed is renamed: with the mark in it, the whole
drawer would be no drawer.  A line that is no property ends the drawer."
  (cond
   ((looking-at "[ \t]*:END:[ \t]*$")
    (setf (org-agent-inert-state-place state) 'trail))
   ((looking-at "[ \t]*:\\(\\S-+\\):\\(?:[ \t].*\\)?$")
    (unless (or (member (match-string 1) org-agent-inert--properties)
                (string-prefix-p "X-" (match-string 1)))
      (save-excursion
        (goto-char (match-beginning 1))
        (insert "X-"))))
   ((and (not whole) (save-excursion (end-of-line) (eobp)))) ; incomplete
   (t
    (setf (org-agent-inert-state-place state) 'body)
    (org-agent-inert--line-start)
    (org-agent-inert--objects whole))))

(defun org-agent-inert--fixed-width (state whole)
  "Make the line at point, in a drawer of fixed-width lines, inert.
STATE is the state of the line, WHOLE is as for `org-agent-inert--scan'.
Any other line ends the drawer, which then is no drawer."
  (cond
   ((looking-at ":END:$")
    (setf (org-agent-inert-state-place state) 'trail))
   (t
    (unless (looking-at ":\\(?: \\|$\\)")
      (setf (org-agent-inert-state-place state) 'body)
      (org-agent-inert--line-start))
    (org-agent-inert--objects whole))))

(defun org-agent-inert--line-start ()
  "Make the beginning of the line at point inert.
The beginning can make the line a keyword, a drawer, a diary entry, a
LaTeX environment, a planning line, a clock or a row of a table."
  (when (looking-at
         (concat "[ \t]*\\(?:"
                 "#\\+\\|:[-_[:word:]]+:[ \t]*$\\|&?%%(\\|\\\\begin{"
                 "\\|\\(?:CLOSED\\|DEADLINE\\|SCHEDULED\\|CLOCK\\):\\)"))
    (unless (looking-at "[ \t]*#\\+\\(?:\\(?:begin\\|end\\)_\\(?:quote\\|verse\\|center\\)\\|end_\\(?:src\\|example\\)\\)[ \t]*$")
      (org-agent-inert--mark (save-excursion
                               (skip-chars-forward " \t")
                               (point)))))
  (when (looking-at "[ \t]*|")
    (org-agent-inert--table-row)))

(defun org-agent-inert--table-row ()
  "Make the cells of the table row at point inert.
A cell that begins with `=' or `:=' is a formula for Org."
  (let ((end (copy-marker (line-end-position) t)))
    (save-excursion
      (while (re-search-forward "|[ \t]*\\(:?=\\)" end t)
        (org-agent-inert--mark (match-beginning 1))
        (goto-char (match-beginning 1))))
    (set-marker end nil)))

(defun org-agent-inert--note-footnote (state)
  "Note in STATE whether the line at point belongs to a footnote."
  (let ((blank (looking-at "[ \t]*$")))
    (cond
     ((looking-at "\\[fn:") (setf (org-agent-inert-state-footnote state) t))
     ((and blank (org-agent-inert-state-blank state))
      (setf (org-agent-inert-state-footnote state) nil)))
    (setf (org-agent-inert-state-blank state) blank)))

;;;; Blocks

(defun org-agent-inert--block-begin (state whole)
  "If a src or example block begins at point, note it in STATE.
WHOLE is as for `org-agent-inert--scan'.  Return non-nil if so.  A
language that is not listed gets the mark, so that it names no mode.
Only such a language may follow `#+begin_example'."
  (when (or (looking-at "[ \t]*#\\+begin_\\(src\\)\\(?:[ \t]+\\([^-+:\"(){}[:blank:]\n][^:\"(){}[:blank:]\n]*\\)\\)?[ \t]*$")
            (looking-at "[ \t]*#\\+begin_\\(example\\)\\(?:[ \t]+\\(\u200b[^:\"(){}[:blank:]\n]*\\)\\)?[ \t]*$"))
    (let ((type (downcase (match-string 1)))
          (language (match-string 2))
          (place (match-beginning 2)))
      (when (or (not whole) (org-agent-inert--block-ends-p type))
        (unless (or (null language)
                    (member language org-agent-inert-languages)
                    (string-prefix-p org-agent-inert-mark language))
          (org-agent-inert--mark place))
        (setf (org-agent-inert-state-block state) type)))))

(defun org-agent-inert--block-ends-p (type)
  "Return non-nil if the block of TYPE that begins at point has an end.
A block cannot contain a heading."
  (save-excursion
    (forward-line)
    (and (re-search-forward
          (format "^\\(?:\\*+ \\|[ \t]*#\\+end_\\(%s\\)[ \t]*$\\)" type)
          nil t)
         (match-beginning 1)
         t)))

(defun org-agent-inert--block-line (state type)
  "Make the line at point, in a block of TYPE, inert.
STATE is the state of the line.  The text of a block is not Org, and only
lines that would end the block early are changed."
  (cond
   ((looking-at (format "[ \t]*#\\+end_%s[ \t]*$" type))
    (setf (org-agent-inert-state-block state) nil))
   (t
    (when (looking-at "\\*+ \\|[ \t]*#\\+")
      (org-agent-inert--mark (point)))
    ;; A footnote ends at two blank lines, even within a block, and the
    ;; rest of the block would be Org again.
    (when (org-agent-inert-state-footnote state)
      (org-agent-inert--line-start)
      (org-agent-inert--objects)))))

;;;; Objects

(defvar org-agent-inert--regexp-cache nil
  "A cons of the link types and the regexp for them, or nil.")

(defun org-agent-inert--regexp ()
  "Return a regexp that matches what may be active within a line.
The mark is inserted before group 1.  Group 2 is a plain link of an
allowed type, group 3 the type of any other plain link.  Group 4 is the
beginning of the target of an allowed bracket link."
  (let ((types (org-link-types)))
    (unless (equal types (car org-agent-inert--regexp-cache))
      (setq org-agent-inert--regexp-cache
            (cons (copy-sequence types)
                  (org-agent-inert--make-regexp
                   (cl-set-difference types org-agent-inert--link-types
                                      :test #'equal)))))
    (cdr org-agent-inert--regexp-cache)))

(defun org-agent-inert--make-regexp (types)
  "Return `org-agent-inert--regexp' for TYPES, those that are not allowed."
  (concat
   "\\<src\\(?1:_\\)[^ \t\n[{]+[[{]"
   "\\|\\<call\\(?1:_\\)[^ \t\n[(]+[[(]"
   "\\|{{\\(?1:{\\)[a-zA-Z]"
   "\\|\\[\\(?1:\\[\\)\\(?:file:\\)?/+[^]/: \t\n]+:"
   "\\|\\<file\\(?1::\\)/+[^]/: \t\n]+:"
   "\\|\\[\\(?1:\\[\\)\\(?:\\(?4:"
   (regexp-opt org-agent-inert--link-types) ":\\|[.~]\\{0,2\\}/\\)\\)?"
   "\\|\\[\\(?1:cite\\)[:/]"
   "\\|<\\(?1:[0-9]\\{4\\}-[0-9]\\|%%(\\)"
   "\\|<\\(?1:<\\)[^<>\n]+>>"
   "\\|@\\(?1:@\\)[-[:alnum:]]+:"
   "\\|Local\\(?1: \\)Variables:"
   "\\|\\<\\(?2:" (regexp-opt org-agent-inert--link-types)
   ":[^][ \t\n<>]+\\)"
   "\\|\\<\\(?3:" (regexp-opt types) "\\)\\(?1::\\)[^ \t\n]"))

(defun org-agent-inert--objects (&optional whole)
  "Make links, macros, inline code and other objects at point's line inert.
Verbatim text is not changed.  WHOLE is as for `org-agent-inert--scan'."
  (let ((end (copy-marker (line-end-position) t)) (signs 'unknown))
    (save-excursion
      (while (re-search-forward org-agent-inert--active end t)
        (let ((place (match-beginning 1)))
          (cond
           ((match-beginning 2) (org-agent-inert--skip-link))
           ((match-beginning 4) (goto-char (match-beginning 4)))
           (t
            (goto-char place)
            (when (eq signs 'unknown)
              (setq signs (org-agent-inert--verbatim-signs)))
            (if (org-agent-inert--verbatim-p place signs whole)
                (forward-char)
              (insert org-agent-inert-mark)))))))
    (set-marker end nil)))

(defun org-agent-inert--verbatim-signs ()
  "Return markers at the first and last `=' or `~' in the line at point.
The result is (FIRST . LAST), or nil if there is none.  It is computed
once for a line, since a long text may be a single line."
  (save-excursion
    (let ((beg (line-beginning-position)) (end (line-end-position)))
      (goto-char beg)
      (skip-chars-forward "^=~" end)
      (when (< (point) end)
        (let ((first (point-marker)))
          (goto-char end)
          (skip-chars-backward "^=~" beg)
          (cons first (copy-marker (1- (point)))))))))

(defun org-agent-inert--verbatim-p (place signs whole)
  "Return non-nil if the text at PLACE is verbatim.
SIGNS is what `org-agent-inert--verbatim-signs' returned for the line.
With WHOLE non-nil, Org's parser decides.  Else text between the signs
counts as verbatim, since an answer is checked as a whole at its end.
Text that the agenda finds by a plain search never counts as verbatim."
  (and signs
       (< (car signs) place)
       (>= (cdr signs) place)
       (not (memq (char-after place) '(?% ?\s)))
       (not (and (eq (char-before place) ?<) (eq (char-after place) ?<)))
       (not (looking-at "[0-9]"))
       (or (not whole)
           (save-excursion
             (goto-char place)
             (and (< org-agent-inert--parsed org-agent-inert--parse-limit)
                  (org-agent-inert--parsed-verbatim-p))))))

(defun org-agent-inert--parsed-verbatim-p ()
  "Return non-nil if Org's parser finds verbatim text at point."
  (cl-incf org-agent-inert--parsed
           (1+ (/ (- (line-end-position) (line-beginning-position)) 2000)))
  (save-match-data
    (unless (derived-mode-p 'org-mode)
      (let ((org-inhibit-startup t))
        (delay-mode-hooks (org-mode))))
    (memq (org-element-type (save-excursion (org-element-context)))
          '(verbatim code))))

(defun org-agent-inert--skip-link ()
  "Go to the end of the link that was matched.
Stop before a character that may end the link because it ends an object
around it, such as emphasis."
  (let ((end (match-end 2)))
    (goto-char (match-beginning 2))
    (goto-char (if (re-search-forward "[*/_+=~][-.,;:!?'\")}\\]\\|[}|$\\]" end t)
                   (1- (point))
                 end))))

(provide 'org-agent-inert)
;;; org-agent-inert.el ends here
