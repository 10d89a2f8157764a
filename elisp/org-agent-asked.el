;;; org-agent-asked.el --- What waits for a person, in a conversation  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What the agent asks a person stands in the conversation as a subtree
;; below the question of its turn.  While it waits and is exactly what the
;; kernel wrote, it is read-only and has keys of its own; what somebody
;; changed meanwhile, in the file say, is only text, and the list of
;; `org-agent-approvals' has what waits.  When it is decided, wherever, the
;; kernel says what the subtree becomes.  Nothing here is a step of undo.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'subr-x)
(require 'org-agent-answer)
(require 'org-agent-heading)
(require 'org-agent-undo)

(defvar org-agent-chat-session)

(defun org-agent-asked-waiting-p (heading)
  "Return non-nil when what is asked at HEADING stands there as waiting."
  (and heading
       (org-agent-heading-property heading "ASKS")
       (string-match-p "\\`TODO " (org-agent-heading-title heading))))

(defun org-agent-asked-waiting ()
  "Return the ids of what stands in the buffer as waiting."
  (let (ids last)
    (org-agent-heading-widely
      (goto-char (point-min))
      (while (search-forward ":ASKS:" nil t)
        (let ((heading (org-agent-heading-at (point))))
          (when (and heading (not (eql heading last))
                     (org-agent-heading-turn-p heading)
                     (org-agent-asked-waiting-p heading))
            (push (org-agent-heading-property heading "ID") ids)
            (setq last heading)))))
    (nreverse ids)))

(defun org-agent-asked-at-point ()
  "Return the id of what is asked where point is, or nil."
  (get-text-property (point) 'org-agent-asked))

(defun org-agent-asked-intact-p (id subtree)
  "Return non-nil when SUBTREE stands in the buffer as ID asked it.
Otherwise, since the file was changed, say, it becomes ordinary text."
  (when-let* ((heading (org-agent-heading-find id)))
    (org-agent-heading-widely
      (or (org-agent-asked--at-p heading subtree)
          (progn
            (org-agent-asked--release heading (org-agent-heading-subtree-end heading))
            nil)))))

(defun org-agent-asked--release (beg end)
  "Make the text from BEG to END ordinary text."
  (remove-overlays beg end 'org-agent-asked t)
  (with-silent-modifications
    (org-agent-undo-off
      (let ((inhibit-read-only t))
        (remove-list-of-text-properties
         beg end '(category org-agent-asked front-sticky rear-nonsticky read-only))))))

(defun org-agent-asked-decorate (id subtree category &optional heading-only)
  "Give SUBTREE, which the kernel wrote for ID, the properties of CATEGORY.
CATEGORY is a symbol with `keymap' and, if it is so, `read-only'.  What
is not in the buffer as it was written is left alone, and nil returned;
with HEADING-ONLY that counts for its heading, and all of it gets them."
  (when-let* ((heading (org-agent-heading-find id)))
    (org-agent-heading-widely
      (let ((end (+ heading (length subtree)))
            (line (1+ (or (string-search "\n" subtree) 0))))
        (when (if heading-only
                  (and (<= (+ heading line) (point-max))
                       (equal (buffer-substring-no-properties heading (+ heading line))
                              (substring subtree 0 line)))
                (and (<= end (point-max))
                     (equal (buffer-substring-no-properties heading end)
                            subtree)))
          (when heading-only
            (setq end (org-agent-heading-subtree-end heading)))
          (with-silent-modifications
            (org-agent-undo-off
              (add-text-properties
               heading end
               (list 'category category 'org-agent-asked id))
              (remove-overlays heading end 'org-agent-asked t)
              (when (get category 'read-only)
                (org-agent-asked--guard-all heading end))
              (put-text-property (1- end) end 'rear-nonsticky t)))
          t)))))

(defun org-agent-asked--guard-all (heading end)
  "Have what stands from HEADING to END refuse changes, whoever makes them.
An agenda changes what is read-only as if it were not, so overlays hear
of it before.  The title is not even read-only: an agenda copies it with
its properties and then adds some of its own."
  (put-text-property heading (1+ heading) 'front-sticky '(read-only))
  (let ((title (save-excursion (goto-char heading)
                               (skip-chars-forward "*") (1+ (point))))
        (line-end (save-excursion (goto-char heading) (line-end-position))))
    (put-text-property title line-end 'read-only nil)
    (overlay-put (org-agent-asked--guard title line-end)
                 'insert-behind-hooks '(org-agent-asked--refuse))
    (org-agent-asked--guard (min end (1+ line-end)) end)))

(defun org-agent-asked--guard (beg end)
  "Return a new overlay from BEG to END that refuses changes."
  (let ((overlay (make-overlay beg end))
        (hooks '(org-agent-asked--refuse)))
    (overlay-put overlay 'org-agent-asked t)
    (overlay-put overlay 'evaporate t)
    (overlay-put overlay 'modification-hooks hooks)
    (overlay-put overlay 'insert-in-front-hooks hooks)
    overlay))

(defun org-agent-asked--refuse (&rest _)
  "Refuse a change of what waits, in its conversation."
  (unless (or (not org-agent-chat-session) org-agent-answer-writing)
    (signal 'text-read-only
            (list "It waits for your decision: C-c C-c on it decides"))))

(defun org-agent-asked-close (id waiting closed &optional all)
  "Make what ID asked, which stands as WAITING, CLOSED; both are subtrees.
Where a person changed the subtree only its heading and drawer become
CLOSED, and the rest stays below; a heading that they changed stays.
With ALL the rest of the subtree goes in any case."
  (when-let* ((heading (org-agent-heading-find id)))
    (org-agent-answer-undisturbed
      (let* ((last (org-agent-heading-subtree-end heading))
             (head (org-agent-asked-head waiting))
             (end (cond
                   ((org-agent-asked--at-p heading waiting)
                    (+ heading (length waiting)))
                   ((not (org-agent-asked--at-p heading head)) nil)
                   (all last)
                   (t (+ heading (length head))))))
        (org-agent-asked--release heading last)
        (when end
          (org-agent-answer-folded-alike heading
            (org-agent-undo-replace nil heading end closed)))))))

(defun org-agent-asked--at-p (position text)
  "Return non-nil when TEXT stands at POSITION."
  (let ((end (+ position (length text))))
    (and (<= end (point-max))
         (not (string-empty-p text))
         (equal (buffer-substring-no-properties position end) text))))

(defun org-agent-asked-head (subtree)
  "Return the heading of SUBTREE with its drawer."
  (if (string-match ":END:\n" subtree)
      (substring subtree 0 (match-end 0))
    subtree))

(provide 'org-agent-asked)
;;; org-agent-asked.el ends here
