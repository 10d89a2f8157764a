;;; org-agent-spoken.el --- Org as it is read aloud  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What a person would say who reads Org to somebody: headings and list
;; items as sentences, the words of a link and not its address, no markup,
;; no drawers.  Code is not read but told of.
;;
;; `org-agent-spoken' makes the words, `org-agent-spoken-pieces' cuts them
;; where one would breathe.  Both are linear in the text, and neither asks
;; Org's parser.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defconst org-agent-spoken-piece 400
  "Characters that are spoken at once, about.")

(defvar org-agent-spoken--without-end nil
  "Before which place drawers that begin have no end: a marker, or nil.")

(defun org-agent-spoken (text)
  "Return the Org text TEXT as words to be spoken."
  (let ((case-fold-search t) (org-agent-spoken--without-end nil))
    (with-temp-buffer
      (insert text)
      (goto-char (point-min))
      (while (not (eobp))
        (org-agent-spoken--line))
      (org-agent-spoken--objects)
      (string-trim (replace-regexp-in-string
                    "\n\n\n+" "\n\n"
                    (replace-regexp-in-string "[ \t]+" " " (buffer-string)))))))

;;;; Lines

(defun org-agent-spoken--line ()
  "Make the line at point, or what begins there, words; go behind it."
  (cond
   ((looking-at "[ \t]*#\\+begin_\\(src\\|example\\|export\\|comment\\)\\(?:[ \t]+\\(\\S-+\\)\\)?.*$")
    (org-agent-spoken--block (match-string 1) (match-string 2)))
   ((looking-at "[ \t]*:\\([-_[:alnum:]]+\\):[ \t]*$")
    (org-agent-spoken--drawer))
   ((looking-at "[ \t]*#\\(?:\\+\\| \\|$\\)\\|[ \t]*-----+[ \t]*$\\|[ \t]*|[-+|]+[ \t]*$\\|[ \t]*\\(?:CLOSED\\|SCHEDULED\\|DEADLINE\\|CLOCK\\):")
    (delete-region (point) (line-beginning-position 2)))
   ((looking-at "\\*+ +")
    (replace-match "")
    (org-agent-spoken--without-tags)
    (org-agent-spoken--sentence))
   ((looking-at "[ \t]*|")
    (org-agent-spoken--row))
   ((looking-at "[ \t]*\\(?:[-+]\\|\\([0-9]+\\)[.)]\\|[ \t]\\*\\)[ \t]+\\(?:\\[@[0-9]+\\][ \t]*\\)?\\(?:\\[[ X-]\\][ \t]*\\)?")
    (replace-match (if (match-string 1) (concat (match-string 1) ". ") "") t t)
    (when (looking-at "\\(.*?\\) ::\\(?: \\|$\\)")
      (replace-match "\\1: " t))
    (org-agent-spoken--sentence))
   ((looking-at "\\[fn:[^]\n]*\\][ \t]*")
    (replace-match "Footnote: " t t)
    (org-agent-spoken--sentence))
   ((looking-at "[ \t]*: ")
    (replace-match "")
    (forward-line))
   (t (forward-line))))

(defun org-agent-spoken--sentence ()
  "End the line at point as a sentence and go behind it."
  (end-of-line)
  (skip-chars-backward " \t")
  (unless (or (bolp) (memq (char-before) '(?. ?! ?? ?: ?\; ?… ?。)))
    (insert "."))
  (forward-line))

(defun org-agent-spoken--without-tags ()
  "Take the tags from the heading whose text is at point."
  (save-excursion
    (when (re-search-forward "[ \t]+:[[:alnum:]_@#%:]+:[ \t]*$"
                             (line-end-position) t)
      (replace-match ""))))

(defun org-agent-spoken--block (type language)
  "Tell of the block of TYPE and LANGUAGE at point instead of reading it.
One without an end is text."
  (let ((beg (point)) (first (line-beginning-position 2)))
    (if (not (re-search-forward (format "^[ \t]*#\\+end_%s[ \t]*$"
                                        (regexp-quote type))
                                nil t))
        (delete-region beg (min first (point-max)))
      (let ((lines (count-lines first (match-beginning 0)))
            (type (downcase type)))
        (delete-region beg (min (1+ (match-end 0)) (point-max)))
        (when (member type '("src" "example"))
          (insert (format "%s of %s.\n"
                          (cond ((equal type "example") "An example")
                                (language (concat "Code in " language))
                                (t "Code"))
                          (if (= lines 1) "one line"
                            (format "%d lines" lines)))))))))

(defun org-agent-spoken--drawer ()
  "Leave out the drawer at point; a line that only looks like one is text."
  (let ((beg (point)) end)
    (unless (and org-agent-spoken--without-end
                 (< beg org-agent-spoken--without-end))
      (save-excursion
        (forward-line)
        (if (and (re-search-forward "^\\(?:\\*+ \\|[ \t]*\\(:END:\\)[ \t]*$\\)"
                                    nil 'to-the-end)
                 (match-beginning 1))
            (setq end (line-beginning-position 2))
          (setq org-agent-spoken--without-end (point-marker)))))
    (if end (delete-region beg end) (forward-line))))

(defun org-agent-spoken--row ()
  "Make the row of a table at point a sentence."
  (let ((cells (split-string (buffer-substring (point) (line-end-position))
                             "|" t "[ \t]+")))
    (delete-region (point) (line-end-position))
    (insert (string-join (remove "" cells) ", "))
    (org-agent-spoken--sentence)))

;;;; Within lines

(defconst org-agent-spoken--emphasis
  (mapcar (lambda (sign)
            (cons (format "\\(^\\|[ \t('\"{-]\\)%s\\([^ \t\n%s]\\(?:[^\n%s]\\{0,300\\}[^ \t\n%s]\\)?\\)%s\\($\\|[] \t.,:;!?'\")}-]\\)"
                          (regexp-quote sign) sign sign sign (regexp-quote sign))
                  "\\1\\2\\3"))
          '("*" "/" "_" "+" "=" "~"))
  "What is said of emphasis: regexps and words.")

(defconst org-agent-spoken--objects
  `(("\\[\\[\\([^][\n]\\{1,1000\\}\\)]\\(?:\\[\\(\\(?:[^]\n]\\|][^]\n]\\)\\{1,400\\}\\)]\\)?]"
     . org-agent-spoken--link)
    ("\\<\\(https?\\)://\\([^][ \t\n<>()/?#\"]+\\)[^][ \t\n<>()\"]*[^][ \t\n<>()\".,;:!?]"
     . "a link to \\2")
    ("<\\(?:https?\\|mailto\\|file\\):\\([^>\n]\\{0,1000\\}\\)>" . "\\1")
    ("[<[]\\([0-9]\\{4\\}-[0-9]+-[0-9]+[^]>\n]\\{0,60\\}\\)[]>]" . "\\1")
    ("\\[fn:[^]\n]\\{0,300\\}\\]\\|\\[[0-9]*\\(?:%\\|/[0-9]*\\)\\]" . "")
    ;; Twice: one may stand in another.
    ,@org-agent-spoken--emphasis ,@org-agent-spoken--emphasis
    ("\u200b" . "")
    ("\\\\\\\\[ \t]*$" . ""))
  "What is said of things within a line: regexps, and words or a function.
Each looks only so far, for a line may be very long.")

(defun org-agent-spoken--objects ()
  "Make words of links, emphasis and other things in this buffer."
  (pcase-dolist (`(,regexp . ,words) org-agent-spoken--objects)
    (goto-char (point-min))
    (while (re-search-forward regexp nil t)
      (let ((from (match-beginning 0)))
        (replace-match (if (stringp words) words (funcall words))
                       t (functionp words))
        ;; What ends one may be what has to stand before the next.
        (when (equal words "\\1\\2\\3")
          (goto-char (max from (1- (point)))))))))

(defun org-agent-spoken--link ()
  "Return what is said of the link that was matched."
  (let ((address (match-string 1)) (words (match-string 2)))
    (save-match-data
      (cond
       ((not (or (null words) (string-match-p "\\`[a-z]+:" words))) words)
       ((string-match "\\`https?://\\([^/?#]+\\)" address)
        (concat "a link to " (match-string 1 address)))
       ((string-match "\\`mailto:\\(.*\\)" address) (match-string 1 address))
       ((string-match "\\`\\(?:file:\\|\\([./~]\\)\\)\\(?:.*/\\)?\\([^/]+\\)/?\\'" address)
        (concat "the file " (match-string 2 address)))
       (t "a link")))))

;;;; Pieces

(defun org-agent-spoken-pieces (words)
  "Return WORDS as a list of pieces, each a few sentences at most."
  (let (pieces)
    (with-temp-buffer
      (insert words)
      (goto-char (point-min))
      (skip-chars-forward " \t\n")
      (while (not (eobp))
        (let ((beg (point)))
          (goto-char (org-agent-spoken--end beg))
          (let ((piece (string-trim (buffer-substring beg (point)))))
            (when (string-match-p "[[:alnum:]]" piece)
              (push piece pieces)))
          (skip-chars-forward " \t\n"))))
    (nreverse pieces)))

(defun org-agent-spoken--end (beg)
  "Return where the piece that begins at BEG ends.
That is behind the last sentence that fits, else the last word, else
wherever it is full."
  (let ((limit (min (point-max) (+ beg org-agent-spoken-piece))))
    (if (= limit (point-max))
        limit
      (save-excursion
        (cl-some (lambda (regexp)
                   (goto-char limit)
                   (and (re-search-backward regexp beg t)
                        (> (match-end 0) (1+ beg))
                        (match-end 0)))
                 '("\n[ \t]*\n" "[.!?…][])\"']*[ \t\n]\\|[。！？\n]"
                   "[,;:][ \t]" "[ \t]" "\\(?:.\\|\n\\)"))))))

(provide 'org-agent-spoken)
;;; org-agent-spoken.el ends here
