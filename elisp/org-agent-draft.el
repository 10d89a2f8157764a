;;; org-agent-draft.el --- Turns and the draft of a conversation  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A conversation is an Org text.  A *turn's heading* has the tag `:user:'
;; (a question) or `:agent:' (an answer) and an `:ID:' in its property
;; drawer; identity is that ID, never a position.  The *draft* is what
;; stands behind the last turn: from the first heading without an `:ID:'
;; behind its subtree to the end of the buffer.  One below an old heading
;; has the tag `:draft:' and is another draft.
;;
;; The functions here find these things and turn a draft into a question.
;; They look at the current buffer, widened, and keep point.  The kernel
;; writes the same bytes when no Emacs is there to do it.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defconst org-agent-draft--tag-column 77
  "The column where the tags of a turn's heading end.")

(defconst org-agent-draft--tags-regexp
  "[ \t]+\\(:[[:alnum:]_@#%:]+:\\)[ \t]*$"
  "Matches the tags of a heading; group 1 is all of them.")

(defconst org-agent-draft--turn-regexp
  "^\\*+ .*?[ \t]:\\(?:[[:alnum:]_@#%]+:\\)*\\(?:user\\|agent\\):[[:alnum:]_@#%:]*[ \t]*$"
  "Matches a heading that may be a turn's.
It is not greedy: of a heading of a megabyte, which somebody pastes, the
matcher's stack would overflow.")

(defmacro org-agent-draft--widely (&rest body)
  "Run BODY with the buffer widened; keep point and match data."
  (declare (indent 0) (debug t))
  `(save-excursion
     (save-restriction
       (widen)
       (save-match-data
         (let ((case-fold-search t)) ,@body)))))

;;;; Headings

(defun org-agent-heading-level (position)
  "Return the level of the heading at POSITION."
  (save-excursion
    (goto-char position)
    (skip-chars-forward "*")))

(defun org-agent-heading-tags (position)
  "Return the tags of the heading at POSITION."
  (save-excursion
    (goto-char position)
    (when (re-search-forward org-agent-draft--tags-regexp
                             (line-end-position) t)
      (split-string (match-string-no-properties 1) ":" t))))

(defun org-agent-heading-title (position)
  "Return the text of the heading at POSITION without stars and tags."
  (save-excursion
    (goto-char position)
    (skip-chars-forward "*")
    (let* ((beg (point))
           (end (if (re-search-forward org-agent-draft--tags-regexp
                                       (line-end-position) t)
                    (match-beginning 0)
                  (line-end-position))))
      (string-trim (buffer-substring-no-properties beg (max beg end))))))

(defun org-agent-heading-properties (position)
  "Return the properties of the heading at POSITION.
The result is an alist of names, in upper case, and values, with an
element (t . END) where END is the position behind the drawer."
  (save-excursion
    (goto-char position)
    (forward-line)
    (when (looking-at "[ \t]*\\(?:CLOSED\\|DEADLINE\\|SCHEDULED\\):")
      (forward-line))
    (when (looking-at "[ \t]*:PROPERTIES:[ \t]*$")
      (forward-line)
      (let (properties)
        (while (and (not (looking-at "[ \t]*:END:[ \t]*$"))
                    (looking-at "[ \t]*:\\(\\S-+\\):\\(?:[ \t]+\\(.*?\\)\\)?[ \t]*$"))
          (push (cons (upcase (match-string-no-properties 1))
                      (or (match-string-no-properties 2) ""))
                properties)
          (forward-line))
        (when (looking-at "[ \t]*:END:[ \t]*$")
          (forward-line)
          (cons (cons t (point)) (nreverse properties)))))))

(defun org-agent-heading-property (position name)
  "Return the property NAME of the heading at POSITION, or nil."
  (cdr (assoc name (org-agent-heading-properties position))))

(defun org-agent-subtree-end (position)
  "Return the end of the subtree of the heading at POSITION.
That is the next heading of the same or a higher level, or the end of
the buffer."
  (org-agent-draft--widely
    (let ((level (org-agent-heading-level position)))
      (goto-char position)
      (end-of-line)
      (if (re-search-forward (format "^\\*\\{1,%d\\} " level) nil t)
          (match-beginning 0)
        (point-max)))))

(defun org-agent-heading-at (position)
  "Return the heading that POSITION is in or under, or nil."
  (org-agent-draft--widely
    (goto-char position)
    (forward-line 0)
    (if (or (looking-at "\\*+ ") (re-search-backward "^\\*+ " nil t))
        (point))))

(defun org-agent-find-heading (id)
  "Return the position of the heading whose `:ID:' is ID, or nil."
  (org-agent-draft--widely
    (goto-char (point-max))
    (let (found)
      ;; Most often it is not there yet, or near the end.
      (while (and (not found)
                  (let ((case-fold-search nil)) (search-backward id nil t)))
        (let ((heading (save-excursion
                         (forward-line 0)
                         (and (looking-at-p "[ \t]*:ID:[ \t]")
                              (org-agent-heading-at (point))))))
          (when (and heading
                     (equal (org-agent-heading-property heading "ID") id))
            (setq found heading))))
      found)))

;;;; Turns

(defun org-agent-turn-p (position)
  "Return the role of the turn whose heading is at POSITION, or nil.
The role is `user' or `agent'."
  (let ((tags (org-agent-heading-tags position)))
    (and (or (member "user" tags) (member "agent" tags))
         (not (string-empty-p
               (or (org-agent-heading-property position "ID") "")))
         (if (member "user" tags) 'user 'agent))))

(defun org-agent-map-turns (function)
  "Call FUNCTION with the position of each turn's heading, in order."
  (org-agent-draft--widely
    (goto-char (point-min))
    (while (re-search-forward org-agent-draft--turn-regexp nil t)
      (let ((heading (match-beginning 0)))
        (when (org-agent-turn-p heading)
          (save-excursion (funcall function heading)))))))

(defun org-agent-turn-ids ()
  "Return the IDs of all turns, in order.
There may be ten thousands: a heading that is as the kernel writes it is
read by one regexp."
  (let (ids)
    (org-agent-draft--widely
      (goto-char (point-min))
      (while (re-search-forward org-agent-draft--turn-regexp nil t)
        (let ((heading (match-beginning 0)))
          (cond
           ((looking-at "\n:PROPERTIES:\n:ID:[ \t]+\\(\\S-+\\)[ \t]*$")
            (push (match-string-no-properties 1) ids))
           ((org-agent-turn-p heading)
            (push (org-agent-heading-property heading "ID") ids))))))
    (nreverse ids)))

(defun org-agent-map-unsent (function)
  "Call FUNCTION with the heading of each question marked as not sent."
  (org-agent-draft--widely
    (goto-char (point-min))
    (while (let ((case-fold-search nil)) (search-forward ":unsent:" nil t))
      (let ((heading (line-beginning-position)))
        (when (and (eq (char-after heading) ?*)
                   (member "unsent" (org-agent-heading-tags heading))
                   (eq (org-agent-turn-p heading) 'user))
          (save-excursion (funcall function heading)))))))

(defun org-agent-last-turn ()
  "Return the position of the last turn's heading, or nil."
  (org-agent-draft--widely
    (goto-char (point-max))
    (let (found)
      (while (and (not found)
                  (re-search-backward org-agent-draft--turn-regexp nil t))
        (when (org-agent-turn-p (point))
          (setq found (point))))
      found)))

;;;; The draft

(defvar org-agent-draft-chosen nil
  "The heading of the draft that is meant, a position; nil is the one at the end.
Bound where something is done with a draft below an old heading.")

(defun org-agent-draft-branch-at (position)
  "Return the heading of the branch's draft that POSITION is in, or nil.
That is a heading with the tag `:draft:' and no `:ID:', which
`org-agent-branch' makes below a question or an answer."
  (org-agent-draft--widely
    (let ((heading (org-agent-heading-at position)) found)
      (while (and heading (not found))
        (if (and (member "draft" (org-agent-heading-tags heading))
                 (not (org-agent-heading-property heading "ID")))
            (setq found heading)
          (setq heading (org-agent-heading-above heading))))
      found)))

(defun org-agent-heading-above (heading)
  "Return the heading that the one at HEADING stands below, or nil."
  (org-agent-draft--widely
    (let ((level (org-agent-heading-level heading)))
      (goto-char heading)
      (and (> level 1)
           (re-search-backward (format "^\\*\\{1,%d\\} " (1- level)) nil t)
           (point)))))

(defun org-agent-draft-end ()
  "Return where the draft that is meant ends."
  (if org-agent-draft-chosen
      (org-agent-subtree-end org-agent-draft-chosen)
    (point-max)))

(defun org-agent-draft-start ()
  "Return the position of the draft's heading, or nil when there is none."
  (or org-agent-draft-chosen (org-agent-draft--last-start)))

(defun org-agent-draft--last-start ()
  "Return the position of the heading of the draft at the end, or nil."
  (org-agent-draft--widely
    (let ((last (org-agent-last-turn)) found)
      (goto-char (if last (org-agent-subtree-end last) (point-min)))
      (while (and (not found) (re-search-forward "^\\*+ " nil t))
        (goto-char (match-beginning 0))
        (cond ((org-agent-heading-property (point) "ID") (end-of-line))
              ((member "draft" (org-agent-heading-tags (point)))
               (goto-char (org-agent-subtree-end (point))))
              (t (setq found (point)))))
      found)))

(defun org-agent-draft-p (position)
  "Return non-nil when POSITION is in the draft."
  (let ((start (org-agent-draft--last-start)))
    (or (and start (>= position start))
        (and (org-agent-draft-branch-at position) t))))

(defun org-agent-draft-raw ()
  "Return what is written in the draft, behind the stars, without its drawer.
Its text properties stay; the tag of a draft below an old heading goes."
  (org-agent-draft--widely
    (if-let ((start (org-agent-draft-start)))
        (let* ((from (+ start (org-agent-heading-level start)))
               (end (org-agent-draft-end))
               (drawer (cdr (assq t (org-agent-heading-properties start))))
               (text (if (null drawer)
                         (buffer-substring from end)
                       (goto-char drawer)
                       (re-search-backward "^[ \t]*:PROPERTIES:" start)
                       (concat (buffer-substring from (point))
                               (buffer-substring (min drawer end) end)))))
          (if org-agent-draft-chosen (org-agent-draft--untagged text) text))
      "")))

(defun org-agent-draft--untagged (text)
  "Return TEXT, that of a draft, without the tag `:draft:' of its first line."
  (let ((end (or (string-search "\n" text) (length text))))
    (if (string-match org-agent-draft--tags-regexp (substring text 0 end))
        (let ((from (match-beginning 0))
              (tags (remove "draft" (split-string (match-string 1 text) ":" t))))
          (concat (substring text 0 from)
                  (and tags (concat " :" (string-join tags ":") ":"))
                  (substring text end)))
      text)))

(defun org-agent-draft-properties ()
  "Return the properties that the draft was given, an alist."
  (when-let ((start (org-agent-draft-start)))
    (cl-remove-if (lambda (property) (member (car property) '(t "ID" "INSTEAD")))
                  (org-agent-heading-properties start))))

(defun org-agent-draft-text ()
  "Return the draft as it would be sent, or nil when it is empty.
That is raw text: the heading without its stars, or, when it is empty,
the first line of the body; then the rest, with its headings moved below
the draft's own."
  (org-agent-draft--widely
    (when-let ((start (org-agent-draft-start)))
      (let ((level (org-agent-heading-level start)))
        (org-agent-draft--normalize
         (substring-no-properties (org-agent-draft-raw)) level)))))

(defun org-agent-draft--normalize (text level)
  "Return TEXT as it is sent from a heading of LEVEL, nil when it is empty."
  (let ((text (string-trim (string-replace "\r\n" "\n" text))))
    (unless (string-empty-p text)
      (pcase-let ((`(,first . ,rest) (org-agent-draft--cut text)))
        (if (string-empty-p rest)
            first
          (concat first "\n" (org-agent-draft--demote rest level)))))))

(defun org-agent-draft--cut (text)
  "Return the first line of TEXT and the rest, without empty lines between."
  (let ((end (or (string-search "\n" text) (length text))))
    (cons (string-trim (substring text 0 end))
          (string-trim (substring text end) "\n+" "\n+"))))

(defun org-agent-draft--demote (text level)
  "Move the headings in TEXT below LEVEL, all by as much as the highest needs."
  (let ((highest nil) (start 0))
    (while (string-match "^\\*+ " text start)
      (let ((stars (- (match-end 0) (match-beginning 0) 1)))
        (setq highest (min stars (or highest stars))
              start (match-end 0))))
    (if (and highest (<= highest level))
        (let ((more (make-string (- (1+ level) highest) ?*)))
          (replace-regexp-in-string "^\\*+ " (lambda (stars) (concat more stars))
                                    text t t))
      text)))

(defun org-agent-draft-missing ()
  "Return what the buffer lacks at its end to have a draft.
That is (POSITION . TEXT), or nil when it has one."
  (org-agent-draft--widely
    (unless (org-agent-draft-start)
      (goto-char (point-max))
      (skip-chars-backward "\n")
      (forward-line 0)
      (cond
       ;; The blank was taken away, by `delete-trailing-whitespace' say.
       ((and (looking-at "\\(\\*+\\)\n*\\'")
             (not (org-agent-draft--inside-turn-p)))
        (cons (match-end 1) " "))
       (t
        (goto-char (point-max))
        (cons (point) (if (bolp) "* " "\n* ")))))))

(defun org-agent-draft-mend (position)
  "Give the line at or before POSITION the blank back that made it the draft.
Who writes before that blank, as `i' of Evil does, has no heading any
more: `*Hello'.  Only a line behind all turns is meant, and only while
there is no draft.  Return non-nil when there was such a line."
  (save-match-data
    (unless (org-agent-draft-start)
      (save-excursion
        (save-restriction
          (widen)
          (goto-char position)
          (end-of-line)
          (when (and (re-search-backward "^\\(\\*+\\)[^* \t\n][^*\n]*$" nil t)
                     (not (org-agent-draft--inside-turn-p))
                     (not (org-agent-draft--in-block-p)))
            (goto-char (match-end 1))
            (insert " ")
            t))))))

(defun org-agent-draft--in-block-p ()
  "Return non-nil when the block before point does not end before it."
  (save-excursion
    (let ((case-fold-search t))
      (save-match-data
        (and (re-search-backward "^[ \t]*#\\+\\(begin\\|end\\)_" nil t)
             (eq (downcase (char-after (match-beginning 1))) ?b))))))

(defun org-agent-draft--inside-turn-p ()
  "Return non-nil when the last turn's heading is at or behind point."
  (when-let ((last (org-agent-last-turn)))
    (>= last (point))))

;;;; Questions

(defun org-agent-turn-heading (level title tags)
  "Return a heading line of LEVEL with TITLE and TAGS, a list of strings.
The tags end at column 77, or stand one blank behind a longer title."
  (let* ((head (string-trim-right (concat (make-string level ?*) " " title)))
         (tags (concat ":" (string-join tags ":") ":"))
         ;; Not `string-width', for which a window system and a terminal differ.
         (width (cl-loop for char across head sum (char-width char)))
         (blanks (max 1 (- org-agent-draft--tag-column
                           width (length tags)))))
    (concat head (make-string blanks ?\s) tags "\n")))

(defun org-agent-question-subtree (level id text unsent
                                         &optional instead properties)
  "Return the question TEXT as an Org subtree of LEVEL with the ID.
With UNSENT it is marked as not yet acknowledged.  INSTEAD is the ID of
the question in whose place it stands, if any.  PROPERTIES, an alist, are
those that the person gave it."
  (pcase-let ((`(,first . ,rest) (org-agent-draft--cut text)))
    (concat (org-agent-turn-heading level first
                                    (if unsent '("user" "unsent") '("user")))
            ":PROPERTIES:\n"
            (format "%-10s %s\n" ":ID:" id)
            (when instead (format "%-10s %s\n" ":INSTEAD:" instead))
            (mapconcat (lambda (property)
                         (string-trim-right
                          (format "%-10s %s" (concat ":" (car property) ":")
                                  (cdr property))))
                       properties "\n")
            (and properties "\n")
            ":END:\n"
            (unless (string-empty-p rest) (concat rest "\n")))))

(defun org-agent-question-text (position)
  "Return the text of the question whose heading is at POSITION.
Its answers are not part of it."
  (org-agent-draft--widely
    (let ((title (org-agent-heading-title position))
          (beg (cdr (assq t (org-agent-heading-properties position))))
          (end (org-agent-subtree-end position)))
      (goto-char beg)
      (while (re-search-forward org-agent-draft--turn-regexp end t)
        (let ((turn (match-beginning 0)))
          (when (org-agent-turn-p turn)
            (setq end turn)
            (goto-char turn))))
      (let ((rest (string-trim (buffer-substring-no-properties beg end)
                               "\n+" "[ \t\n]+")))
        (if (string-empty-p rest) title (concat title "\n" rest))))))

(defun org-agent-draft-to-question (id text)
  "Turn the draft into the question TEXT with the ID, marked unsent.
A new draft of the same level follows, and point goes to its end; it
stays where it is when the draft stood below an old heading.  Return
\(LEVEL . RECORD); RECORD is the undo record of the question, nil without
undo."
  (let* ((start (org-agent-draft-start))
         (level (org-agent-heading-level start))
         (properties (org-agent-draft-properties))
         (end (org-agent-draft-end)))
    (widen)
    (delete-region start (min end (point-max)))
    (goto-char start)
    (insert (org-agent-question-subtree level id text t nil properties)
            (if org-agent-draft-chosen ""
              (concat (make-string level ?*) " ")))
    (cons level (org-agent-draft--record start))))

(defun org-agent-draft--record (start)
  "Return the undo entry of what was just inserted at START, or nil."
  (and (consp buffer-undo-list)
       (consp (car buffer-undo-list))
       (eql (caar buffer-undo-list) start)
       (car buffer-undo-list)))

(provide 'org-agent-draft)
;;; org-agent-draft.el ends here
