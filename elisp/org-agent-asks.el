;;; org-agent-asks.el --- Open approvals and questions of a conversation  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; An ask is an approval or a question that the kernel has opened and that
;; waits for a person.  This file keeps the list of all open asks.  It also
;; shows each one in its conversation, as a subtree below the question of
;; its turn: it protects the subtree, finds it again, and replaces it when
;; the ask is closed.  org-agent-approval.el and org-agent-question.el
;; decide and answer.
;;
;; While the ask is open and the subtree is exactly as the kernel wrote it,
;; the subtree is read-only and has keys of its own.  If somebody changes
;; it, in the file for example, it becomes ordinary text, and only the list
;; of `org-agent-approvals' shows the ask.  When any client decides the ask,
;; the kernel sends the text that replaces the subtree.  Nothing here is a
;; step of undo.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-answer)
(require 'org-agent-draft)
(require 'org-agent-heading)
(require 'org-agent-undo)

(declare-function org-agent-approval-closed "org-agent-approval")
(declare-function org-agent-approval-opened "org-agent-approval")
(declare-function org-agent-question-closed "org-agent-question")
(declare-function org-agent-question-opened "org-agent-question")

(defvar org-agent-chat-session)

;;;; The list

(defvar org-agent-asks-open nil
  "The open asks, oldest first: plists as the kernel sent them.")

(defun org-agent-asks-sort (ask)
  "Return the sort of ASK, `:approval' or `:question'."
  (or (plist-get ask :sort) :approval))

(defun org-agent-asks-of (sort)
  "Return the open asks of SORT, `:approval' or `:question', oldest first."
  (cl-remove-if-not (lambda (ask) (eq (org-agent-asks-sort ask) sort))
                    org-agent-asks-open))

(defun org-agent-asks-known (id)
  "Return the open ask with ID, or nil."
  (cl-find id org-agent-asks-open :test #'equal
           :key (lambda (ask) (plist-get ask :id))))

(defun org-agent-asks-add (ask)
  "Add ASK to the open asks; return its former plist, or nil."
  (let ((known (org-agent-asks-known (plist-get ask :id))))
    (setq org-agent-asks-open
          (if known
              (cl-substitute ask known org-agent-asks-open)
            (append org-agent-asks-open (list ask))))
    known))

(defun org-agent-asks-letter (ask)
  "Return what ASK, an approval, would do and why it is asked, in lines.
These are the lines of its letter in the conversation: a reason that only
repeats what it would do says that no rule allows that."
  (let* ((effects (plist-get ask :effects))
         (reason (string-remove-suffix "." (or (plist-get ask :reason) "")))
         (reason (if (cl-some (lambda (effect) (string-prefix-p reason effect))
                              effects)
                     "no rule of yours allows it"
                   reason)))
    (concat (mapconcat (lambda (effect) (concat "- " effect "\n")) effects "")
            (unless (string-empty-p reason)
              (concat "- you are asked because " reason "\n")))))

(defun org-agent-asks-remove (id)
  "Remove the ask ID from the open asks."
  (setq org-agent-asks-open
        (cl-remove id org-agent-asks-open :test #'equal
                   :key (lambda (ask) (plist-get ask :id)))))

(defun org-agent-asks-replace (asks)
  "Make ASKS, a list from the kernel, the open asks.
The list is the same for all clients and lacks the subtrees of the asks.
Subtrees that are known here are kept."
  (setq org-agent-asks-open
        (mapcar (lambda (ask)
                  (let ((subtree (plist-get (org-agent-asks-known (plist-get ask :id))
                                            :subtree)))
                    (if (or (plist-get ask :subtree) (not subtree))
                        ask
                      (append ask (list :subtree subtree)))))
                asks)))

;;;###autoload
(defun org-agent-asks-opened (params)
  "Add the ask PARAMS to the open asks, and show it."
  (if (eq (org-agent-asks-sort params) :question)
      (org-agent-question-opened params)
    (org-agent-approval-opened params)))

;;;###autoload
(defun org-agent-asks-closed (params)
  "Remove the ask of PARAMS, and show its outcome."
  (if (eq (org-agent-asks-sort params) :question)
      (org-agent-question-closed params)
    (org-agent-approval-closed params)))

;;;; In a conversation

(defun org-agent-asks-waiting-p (heading)
  "Return non-nil when HEADING is that of an ask shown as open."
  (and heading
       (org-agent-heading-property heading "ASKS")
       (string-match-p "\\`TODO " (org-agent-heading-title heading))))

(defun org-agent-asks-form-p (heading)
  "Return non-nil when HEADING is that of a question shown as open, a form."
  (and (org-agent-asks-waiting-p heading)
       (equal (org-agent-heading-property heading "ASKS") "question")))

;;;###autoload
(defun org-agent-asks-waiting ()
  "Return the ids of the asks that the buffer shows as open."
  (let (ids last)
    (org-agent-heading-widely
      (goto-char (point-min))
      (while (search-forward ":ASKS:" nil t)
        (let ((heading (org-agent-heading-at (point))))
          (when (and heading (not (eql heading last))
                     (org-agent-heading-turn-p heading)
                     (org-agent-asks-waiting-p heading))
            (push (org-agent-heading-property heading "ID") ids)
            (setq last heading)))))
    (nreverse ids)))

(defun org-agent-asks-at-point ()
  "Return the id of the ask at point, or nil."
  (get-text-property (point) 'org-agent-asks))

(defun org-agent-asks-intact-p (id subtree)
  "Return non-nil if the ask ID is in the buffer exactly as SUBTREE.
Otherwise make it ordinary text; the file may have been changed."
  (when-let* ((heading (org-agent-heading-find id)))
    (org-agent-heading-widely
      (or (org-agent-asks--at-p heading subtree)
          (progn
            (org-agent-asks--release heading (org-agent-heading-subtree-end heading))
            nil)))))

(defun org-agent-asks--release (beg end)
  "Make the text from BEG to END ordinary text."
  (remove-overlays beg end 'org-agent-asks t)
  (with-silent-modifications
    (org-agent-undo-off
      (let ((inhibit-read-only t))
        (remove-list-of-text-properties
         beg end '(category org-agent-asks front-sticky rear-nonsticky read-only))))))

(defun org-agent-asks-decorate (id subtree category &optional heading-only)
  "Give SUBTREE, which the kernel wrote for ID, the properties of CATEGORY.
CATEGORY is a symbol with the property `keymap'.  If it also has the
property `read-only', its property `title' is the category of the title.
If the buffer's text differs from SUBTREE return nil and change nothing.
With HEADING-ONLY compare only the heading; all of the subtree gets the
properties."
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
               (list 'category category 'org-agent-asks id))
              (remove-overlays heading end 'org-agent-asks t)
              (when (get category 'read-only)
                (org-agent-asks--guard-all heading end (get category 'title)))
              (put-text-property (1- end) end 'rear-nonsticky t)))
          t)))))

(defun org-agent-asks--guard-all (heading end category)
  "Make the text from HEADING to END refuse changes by any command.
An agenda changes read-only text all the same, so overlays refuse the
change first.  The title is not read-only, since an agenda copies it with
its properties and then adds properties of its own.  It gets CATEGORY,
which has the keymap only.  A property `read-only' that is nil would not
do: since version 9.8 Org removes it from what an agenda copies."
  (put-text-property heading (1+ heading) 'front-sticky '(read-only))
  (let ((title (save-excursion (goto-char heading)
                               (skip-chars-forward "*") (1+ (point))))
        (line-end (save-excursion (goto-char heading) (line-end-position))))
    (put-text-property title line-end 'category category)
    (overlay-put (org-agent-asks--guard title line-end)
                 'insert-behind-hooks '(org-agent-asks--refuse))
    (org-agent-asks--guard (min end (1+ line-end)) end)))

(defun org-agent-asks--guard (beg end)
  "Return a new overlay from BEG to END that refuses changes."
  (let ((overlay (make-overlay beg end))
        (hooks '(org-agent-asks--refuse)))
    (overlay-put overlay 'org-agent-asks t)
    (overlay-put overlay 'evaporate t)
    (overlay-put overlay 'modification-hooks hooks)
    (overlay-put overlay 'insert-in-front-hooks hooks)
    overlay))

(defun org-agent-asks--refuse (&rest _)
  "Refuse to change an open ask in its conversation."
  (unless (or (not org-agent-chat-session) org-agent-answer-writing)
    (signal 'text-read-only
            (list "It waits for your decision: C-c C-c on it decides"))))

;;;###autoload
(defun org-agent-asks-show-whole (id)
  "Scroll so that as much as possible of the ask ID is seen, and the draft.
Do so in windows in which point is in the draft.  Emacs leaves half of
such a window empty when text comes above its end.  The last two lines stay
free, because the message about the ask may take one of them."
  (when-let* ((heading (org-agent-heading-find id))
              (draft (org-agent-draft-start)))
    (dolist (window (get-buffer-window-list nil nil t))
      (when (and (>= (window-point window) draft)
                 (not (and (pos-visible-in-window-p heading window)
                           (pos-visible-in-window-p (point-max) window))))
        (save-excursion
          (goto-char (point-max))
          (vertical-motion (- 3 (window-body-height window)) window)
          (set-window-start window (point) t))))))

(defun org-agent-asks-leave (id)
  "Move point from the ask ID of this buffer to the end of the draft.
Who has decided goes on writing there, and not in the record of it."
  (when-let* ((heading (org-agent-heading-find id)))
    (let* ((end (org-agent-heading-subtree-end heading))
           (within (lambda (position)
                     (and (<= heading position) (< position end)))))
      (dolist (window (get-buffer-window-list nil nil t))
        (when (funcall within (window-point window))
          (set-window-point window (point-max))))
      (when (funcall within (point))
        (goto-char (point-max))))))

(defun org-agent-asks-close (id waiting closed &optional all)
  "Replace WAITING, the subtree of the ask ID, by the subtree CLOSED.
If a person changed the subtree only its heading and drawer are replaced
and the rest stays below; a heading that they changed stays.  With ALL
the rest of the subtree is removed in any case."
  (when-let* ((heading (org-agent-heading-find id)))
    (org-agent-answer-undisturbed
      (let* ((last (org-agent-heading-subtree-end heading))
             (head (org-agent-asks-head waiting))
             (end (cond
                   ((org-agent-asks--at-p heading waiting)
                    (+ heading (length waiting)))
                   ((not (org-agent-asks--at-p heading head)) nil)
                   (all last)
                   (t (+ heading (length head))))))
        (org-agent-asks--release heading last)
        (when end
          (org-agent-answer-folded-alike heading
            (org-agent-undo-replace nil heading end closed)))))))

(defun org-agent-asks--at-p (position text)
  "Return non-nil if TEXT is at POSITION."
  (let ((end (+ position (length text))))
    (and (<= end (point-max))
         (not (string-empty-p text))
         (equal (buffer-substring-no-properties position end) text))))

(defun org-agent-asks-note (id subtree note)
  "Show NOTE, a sentence or nil, above the last line of SUBTREE, that of ID.
A string before the line is no text of the buffer, so it is not saved."
  (when (and subtree (org-agent-asks-intact-p id subtree))
    (org-agent-heading-widely
      (let* ((heading (org-agent-heading-find id))
             (end (+ heading (length subtree))))
        (remove-overlays heading end 'org-agent-asks-note t)
        (when note
          (goto-char (+ heading (length (string-trim-right subtree "\n+"))))
          (let ((overlay (make-overlay (line-beginning-position) (point))))
            (overlay-put overlay 'org-agent-asks-note t)
            ;; It goes with the subtree's own overlays.
            (overlay-put overlay 'org-agent-asks t)
            (overlay-put overlay 'evaporate t)
            (overlay-put overlay 'before-string
                         (propertize (concat note "\n\n") 'face 'warning))))))))

(defun org-agent-asks-head (subtree)
  "Return the heading of SUBTREE with its drawer."
  (if (string-match ":END:\n" subtree)
      (substring subtree 0 (match-end 0))
    subtree))

(provide 'org-agent-asks)
;;; org-agent-asks.el ends here
