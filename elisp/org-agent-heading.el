;;; org-agent-heading.el --- The headings of a conversation: turns and questions  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A conversation is an Org text.  The heading of a *turn* has the tag
;; `:user:' (a question) or `:agent:' (an answer) and an `:ID:' in its
;; property drawer.  That ID identifies the turn; its position never does.
;;
;; The functions here find headings and turns.  They use the current
;; buffer, widened, and keep point.  They also write a question as a
;; subtree, with the same bytes that the kernel writes when no Emacs is
;; there to do it.
;;
;; A question that waits for its turn is marked in its heading by a text
;; property, which font lock shows.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defconst org-agent-heading--tag-column 77
  "The column where the tags of a turn's heading end.")

(defconst org-agent-heading-tags-regexp
  "[ \t]+\\(:[[:alnum:]_@#%:]+:\\)[ \t]*$"
  "Matches the tags of a heading; group 1 is all of them.")

(defconst org-agent-heading-turn-regexp
  "^\\*+ .*?[ \t]:\\(?:[[:alnum:]_@#%]+:\\)*\\(?:user\\|agent\\):[[:alnum:]_@#%:]*[ \t]*$"
  "Matches a heading that may be a turn's.
It is not greedy: of a heading of a megabyte, which somebody pastes, the
matcher's stack would overflow.")

(defmacro org-agent-heading-widely (&rest body)
  "Run BODY with the buffer widened; keep point and match data."
  (declare (indent 0) (debug t))
  `(save-excursion
     (save-restriction
       (widen)
       (save-match-data
         (let ((case-fold-search t)) ,@body)))))

(defun org-agent-heading-call-org (name former &rest arguments)
  "Call the function NAME of Org with ARGUMENTS.
Before Org 9.6, which Emacs has since version 29, it is called FORMER."
  (apply (if (fboundp name) name former) arguments))

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
    (when (re-search-forward org-agent-heading-tags-regexp
                             (line-end-position) t)
      (split-string (match-string-no-properties 1) ":" t))))

(defun org-agent-heading-title (position)
  "Return the text of the heading at POSITION without stars and tags."
  (save-excursion
    (goto-char position)
    (skip-chars-forward "*")
    (let* ((beg (point))
           (end (if (re-search-forward org-agent-heading-tags-regexp
                                       (line-end-position) t)
                    (match-beginning 0)
                  (line-end-position))))
      (string-trim (buffer-substring-no-properties beg (max beg end))))))

(defun org-agent-heading-properties (position)
  "Return the properties of the heading at POSITION.
The result is an alist of names, in upper case, and values, with an
element (t . END) where END is the position after the drawer."
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

(defun org-agent-heading-subtree-end (position)
  "Return the end of the subtree of the heading at POSITION.
That is the next heading of the same or a higher level, or the end of
the buffer."
  (org-agent-heading-widely
    (let ((level (org-agent-heading-level position)))
      (goto-char position)
      (end-of-line)
      (if (re-search-forward (format "^\\*\\{1,%d\\} " level) nil t)
          (match-beginning 0)
        (point-max)))))

(defun org-agent-heading-at (position)
  "Return the heading that POSITION is in or under, or nil."
  (org-agent-heading-widely
    (goto-char position)
    (forward-line 0)
    (if (or (looking-at "\\*+ ") (re-search-backward "^\\*+ " nil t))
        (point))))

(defun org-agent-heading-find (id)
  "Return the position of the heading whose `:ID:' is ID, or nil."
  (org-agent-heading-widely
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

(defun org-agent-heading-turn-p (position)
  "Return the role of the turn whose heading is at POSITION, or nil.
The role is `user' or `agent'."
  (let ((tags (org-agent-heading-tags position)))
    (and (or (member "user" tags) (member "agent" tags))
         (not (string-empty-p
               (or (org-agent-heading-property position "ID") "")))
         (if (member "user" tags) 'user 'agent))))

(defun org-agent-heading-map-turns (function)
  "Call FUNCTION with the position of each turn's heading, in order."
  (org-agent-heading-widely
    (goto-char (point-min))
    (while (re-search-forward org-agent-heading-turn-regexp nil t)
      (let ((heading (match-beginning 0)))
        (when (org-agent-heading-turn-p heading)
          (save-excursion (funcall function heading)))))))

(defun org-agent-heading-turn-ids ()
  "Return the IDs of all turns, in order.
There may be ten thousands: a heading that is as the kernel writes it is
read without a regexp that looks at the whole line."
  (let (ids)
    (org-agent-heading-widely
      (goto-char (point-min))
      (while (search-forward ":PROPERTIES:" nil t)
        (let* ((from (point))
               (id (org-agent-heading--drawer-id (match-beginning 0))))
          (when id (push id ids))
          (goto-char from))))
    (nreverse ids)))

;;;###autoload
(defun org-agent-heading-of-ids (ids)
  "Return the positions of the headings of the turns with IDS, the last first.
There may be ten thousands, so the text is read once."
  (let ((wanted (make-hash-table :test #'equal)) headings)
    (dolist (id ids) (puthash id t wanted))
    (org-agent-heading-widely
      (goto-char (point-min))
      (while (search-forward ":PROPERTIES:" nil t)
        (let* ((from (point))
               (drawer (match-beginning 0))
               (id (org-agent-heading--drawer-id drawer)))
          (when (and id (gethash id wanted))
            (push (org-agent-heading--of-drawer drawer) headings))
          (goto-char from))))
    headings))

(defun org-agent-heading--drawer-id (drawer)
  "Return the ID of the turn whose drawer begins at DRAWER, or nil.
Point is after the name of the drawer."
  (if (and (looking-at "\n:ID:[ \t]+\\([^ \t\n]+\\)\n\\(?::[^: \t\n]+: .*\n\\)*:END:\n")
           (org-agent-heading--plain-turn-p drawer))
      (match-string-no-properties 1)
    (let ((heading (org-agent-heading--of-drawer drawer)))
      (and heading (org-agent-heading-turn-p heading)
           (org-agent-heading-property heading "ID")))))

(defun org-agent-heading--plain-turn-p (drawer)
  "Return non-nil if the line above DRAWER is a turn's heading with one tag.
Keep the match data."
  (goto-char drawer)
  (and (bolp)
       (let ((end (1- drawer)) (case-fold-search nil))
         (goto-char end)
         (skip-chars-backward "^ \t\n")
         (and (looking-at-p ":\\(?:user\\|agent\\):\n")
              (progn (forward-line 0)
                     (looking-at-p "\\*+ "))))))

(defun org-agent-heading--of-drawer (drawer)
  "Return the position of the heading whose properties begin at DRAWER, or nil."
  (goto-char drawer)
  (forward-line 0)
  (when (looking-at-p "[ \t]*:PROPERTIES:[ \t]*$")
    (forward-line -1)
    (when (looking-at-p "[ \t]*\\(?:CLOSED\\|DEADLINE\\|SCHEDULED\\):")
      (forward-line -1))
    (and (looking-at-p "\\*+ ") (point))))

(defun org-agent-heading-map-unsent (function)
  "Call FUNCTION with the heading of each question marked as not sent."
  (org-agent-heading-widely
    (goto-char (point-min))
    (while (let ((case-fold-search nil)) (search-forward ":unsent:" nil t))
      (let ((heading (line-beginning-position)))
        (when (and (eq (char-after heading) ?*)
                   (member "unsent" (org-agent-heading-tags heading))
                   (eq (org-agent-heading-turn-p heading) 'user))
          (save-excursion (funcall function heading)))))))

(defun org-agent-heading-last-turn (&optional role beg end)
  "Return the position of the heading of the last turn, or nil.
With ROLE, `user' or `agent', only turns of that role count.  BEG and END
bound the search; by default it is for the whole buffer."
  (org-agent-heading-widely
    (goto-char (or end (point-max)))
    (let (found)
      (while (and (not found)
                  (re-search-backward org-agent-heading-turn-regexp beg t))
        (when (org-agent-heading-role-p (point) role)
          (setq found (point))))
      found)))

(defun org-agent-heading-role-p (position role)
  "Return non-nil when the heading at POSITION is that of a turn of ROLE.
With nil as ROLE any turn counts."
  (let ((found (org-agent-heading-turn-p position)))
    (and found (or (null role) (eq role found)))))

(defun org-agent-heading-turn-at (position &optional role)
  "Return the heading of the innermost turn that POSITION is in, or nil.
With ROLE, `user' or `agent', only turns of that role count."
  (let ((heading (org-agent-heading-at position)))
    (while (and heading (not (org-agent-heading-role-p heading role)))
      (setq heading (org-agent-heading-parent heading)))
    heading))

(defun org-agent-heading-parent (heading)
  "Return the parent of the heading at HEADING, or nil."
  (org-agent-heading-widely
    (let ((level (org-agent-heading-level heading)))
      (goto-char heading)
      (and (> level 1)
           (re-search-backward (format "^\\*\\{1,%d\\} " (1- level)) nil t)
           (point)))))

(defun org-agent-heading-cut (text)
  "Return the first line of TEXT and the rest, without empty lines between."
  (let ((end (or (string-search "\n" text) (length text))))
    (cons (string-trim (substring text 0 end))
          (string-trim (substring text end) "\n+" "\n+"))))

(defun org-agent-heading-demote (text level)
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

;;;; Questions

(defun org-agent-heading-line (level title tags)
  "Return a heading line of LEVEL with TITLE and TAGS, a list of strings.
The tags end at column 77, or follow a longer title after one blank."
  (let* ((head (string-trim-right (concat (make-string level ?*) " " title)))
         (tags (concat ":" (string-join tags ":") ":"))
         ;; Not `string-width', for which a window system and a terminal differ.
         (width (cl-loop for char across head sum (char-width char)))
         (blanks (max 1 (- org-agent-heading--tag-column
                           width (length tags)))))
    (concat head (make-string blanks ?\s) tags "\n")))

(defun org-agent-heading-question (level id text unsent
                                         &optional instead properties)
  "Return the question TEXT as an Org subtree of LEVEL with the ID.
With UNSENT it is marked as not yet acknowledged.  INSTEAD is the ID of
the question that it replaces, or nil.  PROPERTIES, an alist, are
those that the person gave it."
  (pcase-let ((`(,first . ,rest) (org-agent-heading-cut text)))
    (concat (org-agent-heading-line level first
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

(defun org-agent-heading-question-text (position)
  "Return the text of the question whose heading is at POSITION.
Its answers are not part of it."
  (org-agent-heading-widely
    (let ((title (org-agent-heading-title position))
          (beg (cdr (assq t (org-agent-heading-properties position))))
          (end (org-agent-heading-subtree-end position)))
      (goto-char beg)
      (while (re-search-forward org-agent-heading-turn-regexp end t)
        (let ((turn (match-beginning 0)))
          (when (org-agent-heading-turn-p turn)
            (setq end turn)
            (goto-char turn))))
      (let ((rest (string-trim (buffer-substring-no-properties beg end)
                               "\n+" "[ \t\n]+")))
        (if (string-empty-p rest) title (concat title "\n" rest))))))

;;;; What waits
(defface org-agent-waiting '((t :inherit shadow))
  "Face of a question that waits for its turn."
  :group 'org-agent-chat)

(defun org-agent-heading-show-waiting ()
  "Show which questions wait in the current conversation."
  (font-lock-add-keywords nil '((org-agent-heading--fontify-waiting)) t))

(defun org-agent-heading--fontify-waiting (limit)
  "Show the questions that wait between point and LIMIT; for font lock.
Return nil: there is nothing left to highlight."
  (let (next)
    (while (and (< (point) limit)
                (setq next (text-property-any (point) limit
                                              'org-agent-waiting t)))
      (goto-char next)
      (let ((end (min limit (line-end-position))))
        (add-face-text-property next end 'org-agent-waiting)
        (goto-char (max (1+ next) end)))))
  nil)

(defun org-agent-heading-mark-waiting (event waits)
  "Mark the question EVENT as one that WAITS for its turn, or not."
  (when-let* ((heading (org-agent-heading-find event)))
    (with-silent-modifications
      (org-agent-heading-widely
        (goto-char heading)
        (let ((end (line-end-position)))
          (put-text-property heading end 'org-agent-waiting (and waits t))
          (unless waits
            (remove-text-properties heading end '(display nil)))
          (when (bound-and-true-p font-lock-mode)
            (font-lock-flush heading end)))))))

(defun org-agent-heading-waits-p (heading)
  "Return non-nil when the question at HEADING waits for its turn."
  (and heading (get-text-property heading 'org-agent-waiting) t))

;;;; Titles that repeat a text

(defun org-agent-heading-excerpt-p (words)
  "Return non-nil when the text at point begins with WORDS, marked up or not.
The title of an answer that begins with a long line is made so."
  (let ((case-fold-search nil)
        (markup "\\(?:[*/_=~+]\\|\\[\\[[^][\n]*\\]\\[\\|\\[\\[\\|\\]\\]\\)*"))
    (looking-at-p
     (mapconcat (lambda (char)
                  (if (eq char ?\s) "[ \t\n]+" (regexp-quote (string char))))
                words markup))))

(defun org-agent-heading-another-answer-p (heading)
  "Return non-nil when the answer at HEADING stands behind another one.
What asks a person something is no answer, nor is what was sent there
from elsewhere or by a tool, nor one that is not whole."
  (save-excursion
    (goto-char heading)
    (let ((level (org-agent-heading-level heading)))
      (and (not (org-agent-heading-property heading "SENT"))
           (re-search-backward (format "^\\*\\{1,%d\\} " level) nil t)
           (= level (org-agent-heading-level (point)))
           (member "agent" (org-agent-heading-tags (point)))
           (not (or (org-agent-heading-property (point) "ASKS")
                    (org-agent-heading-property (point) "SENT")
                    (org-agent-heading-property (point) "STATE")))))))

(provide 'org-agent-heading)
;;; org-agent-heading.el ends here
