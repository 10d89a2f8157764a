;;; org-agent-completion-context.el --- What may be seen of the text around point  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; While a person types, the text around point goes to a model again and
;; again, and nobody is asked each time.  So this file is strict: where
;; there could be a secret nothing is sent at all, and of the rest only what
;; is near.
;;
;; What holds for a buffer also holds for the one that it is a part of: an
;; indirect buffer, or one in which a source block is edited.
;;
;; A person who accepts a word does not look for what Org would make of
;; it.  So in Org prose a proposal goes through `org-agent-inert', together
;; with the line that it continues: a `+TBLFM:' behind a `#' is nothing by
;; itself.  What the person wrote is not changed; where the line is active
;; by itself nothing is proposed.  In a block of code, and in a buffer that
;; is not Org, text stays exactly as it is, but it never ends the block.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-src)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-heading)
(require 'org-agent-draft)
(require 'org-agent-inert)
(require 'org-agent-chat)
(require 'org-agent-command)
(require 'org-agent-context)
(require 'org-agent-private)

(defcustom org-agent-complete-before 3000
  "Characters before point that are sent for a completion, 8000 at most."
  :type 'natnum
  :group 'org-agent-complete
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-complete-after 800
  "Characters behind point that are sent for a completion, 2000 at most."
  :type 'natnum
  :group 'org-agent-complete
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-complete-buffer-limit 2000000
  "Characters of the largest buffer in which anything is completed."
  :type 'natnum
  :group 'org-agent-complete
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-complete-private-tags '("noagent" "@private" "crypt")
  "Tags of headings below which no text is sent for a completion."
  :type '(repeat string)
  :group 'org-agent-complete
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-completion-context--secret
  "-----BEGIN [A-Z ]*PRIVATE KEY"
  "Matches what is a secret in any buffer.")

;;;; Whether

(defun org-agent-completion-context-refusal ()
  "Return why nothing around point may be seen by a model, or nil."
  (cond
   ((minibufferp) "it is the minibuffer")
   ((or buffer-read-only (get-pos-property (point) 'read-only))
    "nothing can be written here")
   ((> (buffer-size) org-agent-complete-buffer-limit)
    "the buffer is too large (`org-agent-complete-buffer-limit')")
   ((and org-agent-chat-session (not (org-agent-draft-p (point))))
    "only the draft of a conversation is yours to write")
   (t
    (cl-some (lambda (place)
               (with-current-buffer (car place)
                 (org-agent-completion-context--private (cdr place))))
             (org-agent-completion-context--places)))))

(defun org-agent-completion-context--places ()
  "Return where the text at point is, a list of (BUFFER . POSITION)."
  (let ((base (buffer-base-buffer))
        (source (and (bound-and-true-p org-src-mode)
                     (boundp 'org-src--beg-marker)
                     (symbol-value 'org-src--beg-marker))))
    (append (list (cons (current-buffer) (point)))
            (and base (list (cons base (point))))
            (and (markerp source) (buffer-live-p (marker-buffer source))
                 (list (cons (marker-buffer source)
                             (marker-position source)))))))

(defun org-agent-completion-context--private (position)
  "Return why this buffer, at POSITION, is private, or nil."
  (or (org-agent-command-private-p (current-buffer))
      (cond
       ((seq-some (lambda (regexp)
                    (or (string-match-p regexp (buffer-name))
                        (and buffer-file-name
                             (string-match-p regexp buffer-file-name))))
                  org-agent-context-secret-names)
        "its name is one for secrets (`org-agent-context-secret-names')")
       ((file-remote-p (or buffer-file-name default-directory))
        "it is on another machine")
       ((org-agent-private-p (current-buffer))
        "no model sees this buffer (`org-agent-private-mode', `org-agent-private-buffers')")
       ((and (org-agent-completion-context--org-p)
             (or (org-agent-completion-context--private-file-p)
                 (org-agent-completion-context--private-heading-p
                  (org-agent-heading-at position))))
        "it is private (`org-agent-complete-private-tags')"))))

;;;; Private parts of Org

(defun org-agent-completion-context--org-p ()
  "Return non-nil when the text of this buffer is Org."
  (or (derived-mode-p 'org-mode)
      (and buffer-file-name
           (string-match-p "\\.org\\(?:_archive\\)?\\'" buffer-file-name))))

(defun org-agent-completion-context--private-tags-p (tags)
  "Return non-nil when one of TAGS makes private; case does not count."
  (cl-intersection (mapcar #'downcase tags)
                   (mapcar #'downcase org-agent-complete-private-tags)
                   :test #'equal))

(defun org-agent-completion-context--private-file-p ()
  "Return non-nil when the file has a tag that makes all of it private."
  (org-agent-heading-widely
    (goto-char (point-min))
    (let (found)
      (while (and (not found)
                  (re-search-forward "^[ \t]*#\\+filetags:\\(.*\\)" 20000 t))
        (setq found (org-agent-completion-context--private-tags-p
                     (split-string (match-string-no-properties 1)
                                   "[: \t]+" t))))
      found)))

(defun org-agent-completion-context--private-heading-p (heading)
  "Return non-nil when HEADING, a position or nil, or one above it is private."
  (let (found)
    (while (and heading (not found))
      (setq found (org-agent-completion-context--private-tags-p
                   (org-agent-heading-tags heading))
            heading (org-agent-heading-parent heading)))
    found))

(defun org-agent-completion-context--bounds (beg end)
  "Return the part of BEG to END around point in which nothing is private.
That is (BEG . END)."
  (if (not (org-agent-completion-context--org-p))
      (cons beg end)
    (let ((point (point))
          (heading (or (org-agent-heading-at beg) beg)))
      (org-agent-heading-widely
        (goto-char heading)
        (while (< heading end)
          (let ((next (progn (goto-char heading)
                             (end-of-line)
                             (if (re-search-forward "^\\*+ " nil t)
                                 (match-beginning 0)
                               (point-max)))))
            (when (org-agent-completion-context--private-heading-p
                   (org-agent-heading-at heading))
              (if (<= next point)
                  (setq beg (max beg next))
                (setq end (min end heading))))
            (setq heading (if (< heading next) next end)))))
      (cons (min beg point) (max end point)))))

;;;; What

(defun org-agent-completion-context ()
  "Return the text around point that may be seen, (BEFORE . AFTER).
Whole lines of it, as far as there are any.  Return nil where it holds
what is a secret."
  (let* ((point (point))
         (beg (max (point-min) (- point (min org-agent-complete-before 8000))))
         (end (min (point-max) (+ point (min org-agent-complete-after 2000))))
         (bounds (org-agent-completion-context--bounds
                  (org-agent-completion-context--line-after beg point)
                  (org-agent-completion-context--line-before end point)))
         (before (org-agent-rpc-text (car bounds) point))
         (after (org-agent-rpc-text point (cdr bounds)))
         (case-fold-search nil))
    (unless (or (string-match-p org-agent-completion-context--secret before)
                (string-match-p org-agent-completion-context--secret after))
      (cons before after))))

(defun org-agent-completion-context--line-after (beg point)
  "Return the first beginning of a line from BEG on, or BEG if POINT is before."
  (save-excursion
    (goto-char beg)
    (unless (bolp) (forward-line))
    (if (<= (point) point) (point) beg)))

(defun org-agent-completion-context--line-before (end point)
  "Return the last beginning of a line up to END, or END if POINT is behind."
  (save-excursion
    (goto-char end)
    (unless (eobp) (forward-line 0))
    (if (<= point (point)) (point) end)))

;;;; What may come in

(defconst org-agent-completion-context--inert-line
  "[ \t]*\\(?:#\\+\\|:[-_[:word:]]+:\\|\\(?:CLOSED\\|DEADLINE\\|SCHEDULED\\|CLOCK\\):\\)"
  "Matches the beginning of a line of Org that is no text.")

(defun org-agent-completion-context--inert-in-code-p ()
  "Return non-nil when point is in a block whose text Org leaves alone."
  (org-agent-heading-widely
    (forward-line 0)
    (and (not (looking-at "[ \t]*#\\+\\(?:begin\\|end\\)_"))
         (re-search-backward "^\\(?:\\*+ \\|[ \t]*#\\+\\(begin\\|end\\)_\\(src\\|example\\|export\\|comment\\)\\_>\\)"
                             nil t)
         (match-beginning 1)
         (eq ?b (downcase (char-after (match-beginning 1)))))))

(defun org-agent-completion-context-inert-refusal ()
  "Return why nothing is proposed in the line at point of an Org buffer, or nil."
  (and (org-agent-completion-context--org-p)
       (not (org-agent-completion-context--inert-in-code-p))
       (save-excursion
         (forward-line 0)
         (let ((case-fold-search t))
           (looking-at-p org-agent-completion-context--inert-line)))
       "a line of settings is not continued"))

(defun org-agent-completion-context-inert (text)
  "Return TEXT as it may come in at point, or nil when nothing of it may."
  (let ((text (cond
               ((not (org-agent-completion-context--org-p)) text)
               ((org-agent-completion-context--inert-in-code-p)
                (org-agent-completion-context--inert-within-code text))
               (t (org-agent-completion-context--inert-prose text)))))
    (and text (not (string-blank-p text)) text)))

(defun org-agent-completion-context--inert-within-code (text)
  "Return TEXT up to what would end the block that point is in."
  (let* ((before (buffer-substring-no-properties (line-beginning-position)
                                                 (point)))
         (whole (concat before text))
         (case-fold-search t)
         (end (string-match "^\\(?:\\*+ \\|[ \t]*#\\+\\)" whole)))
    (cond
     ((null end) text)
     ((> end (length before))
      (string-trim-right (substring whole (length before) end))))))

(defun org-agent-completion-context--inert-prose (text)
  "Return TEXT with nothing active in it, in the line that point is in."
  (let* ((before (buffer-substring-no-properties (line-beginning-position)
                                                 (point)))
         (after (buffer-substring-no-properties (point) (line-end-position)))
         ;; A line before it: what begins an answer has a drawer.
         (head (concat "-\n" before))
         (inert (org-agent-inert (concat head text after))))
    (and (string-prefix-p head inert)
         (string-suffix-p after inert)
         (>= (length inert) (+ (length head) (length after)))
         (substring inert (length head) (- (length inert) (length after))))))

(provide 'org-agent-completion-context)
;;; org-agent-completion-context.el ends here
