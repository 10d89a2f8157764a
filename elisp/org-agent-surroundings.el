;;; org-agent-surroundings.el --- What may be seen of the text around point  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Who completes as one writes sends the text around point to a model,
;; again and again and without asking each time.  So this file is strict:
;; where there could be a secret nothing is seen at all, and of the rest
;; only what is near.
;;
;; What is said here of a buffer holds also for the one it is a part of:
;; an indirect buffer, or one in which a source block is edited.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org)
(require 'org-src)
(require 'org-agent-draft)
(require 'org-agent-chat)
(require 'org-agent-command)
(require 'org-agent-context-read)

(defcustom org-agent-complete-before 3000
  "Characters before point that are sent for a completion, 8000 at most."
  :type 'natnum
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-complete-after 800
  "Characters behind point that are sent for a completion, 2000 at most."
  :type 'natnum
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-complete-buffer-limit 2000000
  "Characters of the largest buffer in which anything is completed."
  :type 'natnum
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-complete-private-tags '("noagent" "@private" "crypt")
  "Tags of headings below which no text is sent for a completion."
  :type '(repeat string)
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-surroundings--secret
  "-----BEGIN [A-Z ]*PRIVATE KEY"
  "Matches what is a secret in any buffer.")

;;;; Whether

(defun org-agent-surroundings-refusal ()
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
                 (org-agent-surroundings--private (cdr place))))
             (org-agent-surroundings--places)))))

(defun org-agent-surroundings--places ()
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

(defun org-agent-surroundings--private (position)
  "Return why this buffer, at POSITION, is private, or nil."
  (or (org-agent-command--private-p (current-buffer))
      (cond
       ((seq-some (lambda (regexp)
                    (or (string-match-p regexp (buffer-name))
                        (and buffer-file-name
                             (string-match-p regexp buffer-file-name))))
                  org-agent-context-secret-names)
        "its name is one for secrets (`org-agent-context-secret-names')")
       ((file-remote-p (or buffer-file-name default-directory))
        "it is on another machine")
       ((and (org-agent-surroundings--org-p)
             (or (org-agent-surroundings--private-file-p)
                 (org-agent-surroundings--private-heading-p
                  (org-agent-heading-at position))))
        "it is private (`org-agent-complete-private-tags')"))))

;;;; Private parts of Org

(defun org-agent-surroundings--org-p ()
  "Return non-nil when the text of this buffer is Org."
  (or (derived-mode-p 'org-mode)
      (and buffer-file-name
           (string-match-p "\\.org\\(?:_archive\\)?\\'" buffer-file-name))))

(defun org-agent-surroundings--private-tags-p (tags)
  "Return non-nil when one of TAGS makes private; case does not count."
  (cl-intersection (mapcar #'downcase tags)
                   (mapcar #'downcase org-agent-complete-private-tags)
                   :test #'equal))

(defun org-agent-surroundings--private-file-p ()
  "Return non-nil when the file has a tag that makes all of it private."
  (org-agent-draft--widely
    (goto-char (point-min))
    (let (found)
      (while (and (not found)
                  (re-search-forward "^[ \t]*#\\+filetags:\\(.*\\)" 20000 t))
        (setq found (org-agent-surroundings--private-tags-p
                     (split-string (match-string-no-properties 1)
                                   "[: \t]+" t))))
      found)))

(defun org-agent-surroundings--private-heading-p (heading)
  "Return non-nil when HEADING, a position or nil, or one above it is private."
  (org-agent-draft--widely
    (let (found)
      (while (and heading (not found))
        (setq found (org-agent-surroundings--private-tags-p
                     (org-agent-heading-tags heading)))
        (goto-char heading)
        (let ((level (org-agent-heading-level heading)))
          (setq heading
                (and (> level 1)
                     (re-search-backward (format "^\\*\\{1,%d\\} " (1- level))
                                         nil t)
                     (point)))))
      found)))

(defun org-agent-surroundings--bounds (beg end)
  "Return the part of BEG to END around point in which nothing is private.
That is (BEG . END)."
  (if (not (org-agent-surroundings--org-p))
      (cons beg end)
    (let ((point (point))
          (heading (or (org-agent-heading-at beg) beg)))
      (org-agent-draft--widely
        (goto-char heading)
        (while (< heading end)
          (let ((next (progn (goto-char heading)
                             (end-of-line)
                             (if (re-search-forward "^\\*+ " nil t)
                                 (match-beginning 0)
                               (point-max)))))
            (when (org-agent-surroundings--private-heading-p
                   (org-agent-heading-at heading))
              (if (<= next point)
                  (setq beg (max beg next))
                (setq end (min end heading))))
            (setq heading (if (< heading next) next end)))))
      (cons (min beg point) (max end point)))))

;;;; What

(defun org-agent-surroundings ()
  "Return the text around point that may be seen, (BEFORE . AFTER).
Whole lines of it, as far as there are any.  Return nil where it holds
what is a secret."
  (let* ((point (point))
         (beg (max (point-min) (- point (min org-agent-complete-before 8000))))
         (end (min (point-max) (+ point (min org-agent-complete-after 2000))))
         (bounds (org-agent-surroundings--bounds
                  (org-agent-surroundings--line-after beg point)
                  (org-agent-surroundings--line-before end point)))
         (before (org-agent-rpc-text (car bounds) point))
         (after (org-agent-rpc-text point (cdr bounds)))
         (case-fold-search nil))
    (unless (or (string-match-p org-agent-surroundings--secret before)
                (string-match-p org-agent-surroundings--secret after))
      (cons before after))))

(defun org-agent-surroundings--line-after (beg point)
  "Return the first beginning of a line from BEG on, or BEG if POINT is before."
  (save-excursion
    (goto-char beg)
    (unless (bolp) (forward-line))
    (if (<= (point) point) (point) beg)))

(defun org-agent-surroundings--line-before (end point)
  "Return the last beginning of a line up to END, or END if POINT is behind."
  (save-excursion
    (goto-char end)
    (unless (eobp) (forward-line 0))
    (if (<= point (point)) (point) end)))

(provide 'org-agent-surroundings)
;;; org-agent-surroundings.el ends here
