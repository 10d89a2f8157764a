;;; org-agent-inert.el --- Keep text from outside from being active Org  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Org runs code where text tells it to: a `#+TBLFM:' line, a formula in a
;; table's cell, a `:var' header argument.  Text that a model wrote must
;; never do that, so only harmless Org stays Org in it: headings, lists,
;; tables, footnotes, emphasis, quote, verse, center, example and src
;; blocks with a bare language of a list, inactive timestamps, and links
;; of type http, https, mailto, id and file.  A zero-width space makes
;; plain text of everything else.
;;
;; The kernel does this first.  This is the client's own check: it does
;; not trust the kernel's, and shares nothing with it.
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
  "The zero-width space that makes plain text of active Org.")

(defconst org-agent-inert--link-types '("http" "https" "mailto" "id" "file")
  "Types of links that may stay links.")

(defconst org-agent-inert--properties
  '("ID" "SKILL" "MODEL" "STATE" "TURN" "COST" "TOKENS" "SECONDS" "CREATED"
    "REASON" "ASKS" "PREFERRED")
  "Properties that an answer's own drawer may have.")

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

(defvar org-agent-inert--parsed 0
  "How often Org's parser was asked about the text at hand.")

(defvar org-agent-inert--active nil
  "What `org-agent-inert--regexp' returned for the text at hand.")

(defconst org-agent-inert--parse-limit 200
  "How often Org's parser may be asked about one text.
In a long line it takes longer, and counts more.  Beyond that nothing
counts as verbatim.")

(cl-defstruct (org-agent-inert-state (:copier org-agent-inert-copy-state))
  "Where in a text a line stands."
  (place 'start :documentation "`start', `drawer' (it may begin here),
`properties' (within it), `trail' (behind it, where thoughts and calls
may stand), `fixed' (within such a drawer) or `body'.")
  (block nil :documentation "Within a src or example block: its type.")
  (footnote nil :documentation "Non-nil within a footnote's definition.")
  (blank nil :documentation "Non-nil when the last line was blank."))

;;;; Entry points

(defun org-agent-inert (text)
  "Return TEXT, a whole answer in Org, with nothing active in it.
Its first heading may have the tag `:agent:' and a property drawer.  A
text that is inert already is returned as it is."
  (with-temp-buffer
    (insert text)
    (goto-char (point-min))
    (org-agent-inert--scan (make-org-agent-inert-state) t)
    (buffer-string)))

(defun org-agent-inert-lines (text state)
  "Make the lines of TEXT inert; TEXT begins with a line at STATE.
Return (INERT FINAL . STATE): INERT is the new text, FINAL how many
characters of TEXT are whole lines, the last STATE that of the line
behind them.  STATE itself is not changed."
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
  "Make the lines from point on inert; STATE is that of the first.
When WHOLE is non-nil nothing follows: a block without its end is none."
  (let ((case-fold-search t)
        (org-agent-inert--parsed 0)
        (org-agent-inert--active (org-agent-inert--regexp)))
    (with-syntax-table org-mode-syntax-table
      (while (not (eobp))
        (org-agent-inert--line state whole)
        (forward-line)))))

(defun org-agent-inert-whole-lines (text)
  "Return how many characters of TEXT are whole lines."
  (if (string-match "\n[^\n]*\\'" text)
      (1+ (match-beginning 0))
    0))

;;;; Lines

(defun org-agent-inert--mark (position)
  "Put the mark at POSITION; point stays in front of what it is before."
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
  "Make the heading at point inert; STATE is that of its line.
WHOLE is as for `org-agent-inert--scan'.  The first heading of a text
may have the tag `:agent:' and a drawer."
  (let ((first (eq (org-agent-inert-state-place state) 'start)))
    (setf (org-agent-inert-state-place state) (if first 'drawer 'body)
          (org-agent-inert-state-footnote state) nil
          (org-agent-inert-state-blank state) nil)
    (save-excursion
      (when (re-search-forward "[ \t]\\(:[[:alnum:]_@#%:]+:\\)[ \t]*$"
                               (line-end-position) t)
        ;; Since Org 9.7 the parser takes tags without a blank before them,
        ;; so the mark is among them, where the kernel has it.
        (let ((place (1- (match-end 1)))
              (tags (split-string (downcase (match-string 1)) ":" t)))
          (when (and (cl-intersection '("user" "agent" "draft") tags :test #'equal)
                     (not (and first (equal tags '("agent")))))
            (org-agent-inert--mark place)))))
    (org-agent-inert--objects whole)))

(defun org-agent-inert--property (state whole)
  "Make the line of the answer's own drawer at point inert.
STATE is that of the line, WHOLE as for `org-agent-inert--scan'.
A property that has no business there is renamed, for with the mark the
whole drawer would be none; what is no property ends the drawer."
  (cond
   ((looking-at "[ \t]*:END:[ \t]*$")
    (setf (org-agent-inert-state-place state) 'trail))
   ((looking-at "[ \t]*:\\(\\S-+\\):\\(?:[ \t].*\\)?$")
    (unless (or (member (match-string 1) org-agent-inert--properties)
                (string-prefix-p "X-" (match-string 1)))
      (save-excursion
        (goto-char (match-beginning 1))
        (insert "X-"))))
   ((and (not whole) (save-excursion (end-of-line) (eobp)))) ; being written
   (t
    (setf (org-agent-inert-state-place state) 'body)
    (org-agent-inert--line-start)
    (org-agent-inert--objects whole))))

(defun org-agent-inert--fixed-width (state whole)
  "Make the line at point, in a drawer of fixed-width lines, inert.
STATE is that of the line, WHOLE as for `org-agent-inert--scan'.  What is
no such line ends the drawer, which then is none."
  (cond
   ((looking-at ":END:$")
    (setf (org-agent-inert-state-place state) 'trail))
   (t
    (unless (looking-at ":\\(?: \\|$\\)")
      (setf (org-agent-inert-state-place state) 'body)
      (org-agent-inert--line-start))
    (org-agent-inert--objects whole))))

(defun org-agent-inert--line-start ()
  "Make the line at point inert as far as its beginning says what it is."
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
In a cell that begins with `=' or `:=' Org would find a formula."
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
WHOLE is as for `org-agent-inert--scan'.  Return non-nil if so.  The name
of a language that is not listed gets the mark, which makes it that of no
mode; behind an example only such a name may stand."
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
  "Return non-nil when the block of TYPE that begins at point has an end.
No block goes beyond a heading."
  (save-excursion
    (forward-line)
    (and (re-search-forward
          (format "^\\(?:\\*+ \\|[ \t]*#\\+end_\\(%s\\)[ \t]*$\\)" type)
          nil t)
         (match-beginning 1)
         t)))

(defun org-agent-inert--block-line (state type)
  "Make the line at point, in a block of TYPE, inert; STATE is the line's.
The text of a block is not Org and stays as it is, but for what would
end the block early."
  (cond
   ((looking-at (format "[ \t]*#\\+end_%s[ \t]*$" type))
    (setf (org-agent-inert-state-block state) nil))
   (t
    (when (looking-at "\\*+ \\|[ \t]*#\\+")
      (org-agent-inert--mark (point)))
    ;; A footnote ends at two blank lines, in a block or not; what follows
    ;; in the block would be Org again.
    (when (org-agent-inert-state-footnote state)
      (org-agent-inert--line-start)
      (org-agent-inert--objects)))))

;;;; Objects

(defvar org-agent-inert--regexp-cache nil
  "The link types and the regexp that was made from them.")

(defun org-agent-inert--regexp ()
  "Return the regexp of what may be active within a line.
Group 1 is the part in front of which the mark goes; group 2 is a link
that may stay, group 3 one that may not."
  (let ((types (org-link-types)))
    (unless (equal types (car org-agent-inert--regexp-cache))
      (setq org-agent-inert--regexp-cache
            (cons (copy-sequence types)
                  (org-agent-inert--make-regexp
                   (cl-set-difference types org-agent-inert--link-types
                                      :test #'equal)))))
    (cdr org-agent-inert--regexp-cache)))

(defun org-agent-inert--make-regexp (types)
  "Return `org-agent-inert--regexp' with the link TYPES that may not stay."
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
  "Make what the line at point holds inert.
What is verbatim stays as it is; WHOLE is as for `org-agent-inert--scan'."
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

(defun org-agent-inert--verbatim-p (place signs whole)
  "Return non-nil when the text at PLACE is verbatim.
SIGNS is where the line has the signs of it.  Only Org's own parser
knows, and only when WHOLE is non-nil, that is when it can see the whole
text.  Else what looks verbatim counts: a text
that is still being written is checked once more at its end.
What the agenda finds by a mere search is never verbatim enough."
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
  "Return non-nil when Org's parser finds verbatim text at point."
  (cl-incf org-agent-inert--parsed
           (1+ (/ (- (line-end-position) (line-beginning-position)) 2000)))
  (save-match-data
    (unless (derived-mode-p 'org-mode)
      (let ((org-inhibit-startup t))
        (delay-mode-hooks (org-mode))))
    (memq (org-element-type (save-excursion (org-element-context)))
          '(verbatim code))))

(defun org-agent-inert--skip-link ()
  "Go behind the link that was matched.
Where it may end because something that began before it ends, emphasis
say, go no further."
  (let ((end (match-end 2)))
    (goto-char (match-beginning 2))
    (goto-char (if (re-search-forward "[*/_+=~][-.,;:!?'\")}\\]\\|[}|$\\]" end t)
                   (1- (point))
                 end))))

(provide 'org-agent-inert)
;;; org-agent-inert.el ends here
