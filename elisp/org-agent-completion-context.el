;;; org-agent-completion-context.el --- The text that a completion sends and inserts  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; While a person types, the text around point goes to a model again and
;; again, and nobody is asked each time.  So this file is strict: nothing is
;; sent from a buffer that may contain a secret, and only nearby text is
;; sent from others.
;;
;; The rules for a buffer also apply to its parts: an indirect buffer, and a
;; buffer in which a source block is edited.
;;
;; A person who accepts a word does not check whether it is active Org.  So
;; in Org prose a proposal goes through `org-agent-inert', together with the
;; line that it continues, since `+TBLFM:' is active after a `#'.  The
;; person's own text is not changed.  If the line is active by itself
;; nothing is proposed.  In a block of code, and in a buffer that is not
;; Org, the proposal stays exactly as it is, but it never ends the block.

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
  "The number of characters before point that are sent, 8000 at most."
  :type 'natnum
  :group 'org-agent-complete
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-complete-after 800
  "The number of characters after point that are sent, 2000 at most."
  :type 'natnum
  :group 'org-agent-complete
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-complete-buffer-limit 2000000
  "The size in characters of the largest buffer in which text is completed."
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
  "Matches the beginning of a secret in any buffer.")

;;;; Where nothing is sent

(defun org-agent-completion-context-refusal ()
  "Return why no text around point may be sent to a model, or nil."
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
  "Return the places of the text at point, a list of (BUFFER . POSITION).
They are in this buffer and in those that it is a part of."
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
  "Return non-nil when one of TAGS, in any case, is a private tag."
  (cl-intersection (mapcar #'downcase tags)
                   (mapcar #'downcase org-agent-complete-private-tags)
                   :test #'equal))

(defun org-agent-completion-context--private-file-p ()
  "Return non-nil when the whole file has a private tag."
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
  "Return the part from BEG to END around point without private headings.
The result is (BEG . END)."
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

;;;; The text that is sent

(defun org-agent-completion-context ()
  "Return the text around point that is sent, (BEFORE . AFTER).
It consists of whole lines where that is possible.  Return nil when it
contains a secret."
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
  "Return the first line beginning from BEG on, BEG if it is after POINT."
  (save-excursion
    (goto-char beg)
    (unless (bolp) (forward-line))
    (if (<= (point) point) (point) beg)))

(defun org-agent-completion-context--line-before (end point)
  "Return the last line beginning up to END, END if it is before POINT."
  (save-excursion
    (goto-char end)
    (unless (eobp) (forward-line 0))
    (if (<= point (point)) (point) end)))

;;;; The text that is inserted

(defconst org-agent-completion-context--inert-line
  "[ \t]*\\(?:#\\+\\|:[-_[:word:]]+:\\|\\(?:CLOSED\\|DEADLINE\\|SCHEDULED\\|CLOCK\\):\\)"
  "Matches the beginning of a line of Org that is not prose.")

(defun org-agent-completion-context--inert-in-code-p ()
  "Return non-nil when point is in a block whose text is not Org."
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
  "Return TEXT in the form that may be inserted at point, or nil."
  (let ((text (cond
               ((not (org-agent-completion-context--org-p)) text)
               ((org-agent-completion-context--inert-in-code-p)
                (org-agent-completion-context--inert-within-code text))
               (t (org-agent-completion-context--inert-prose text)))))
    (and text (not (string-blank-p text)) text)))

(defun org-agent-completion-context--inert-within-code (text)
  "Return TEXT up to the line that would end the block that point is in."
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
         ;; With a line before it, since the first heading of an answer may
         ;; have a drawer.
         (head (concat "-\n" before))
         (inert (org-agent-inert (concat head text after))))
    (and (string-prefix-p head inert)
         (string-suffix-p after inert)
         (>= (length inert) (+ (length head) (length after)))
         (substring inert (length head) (- (length inert) (length after))))))

(provide 'org-agent-completion-context)
;;; org-agent-completion-context.el ends here
