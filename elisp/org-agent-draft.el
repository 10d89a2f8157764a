;;; org-agent-draft.el --- The draft of a conversation, and what is pasted into it  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The *draft* is the text after the last turn: from the first heading
;; without an `:ID:' after its subtree to the end of the buffer.  A heading
;; with the tag `:draft:' below an old heading is a draft, too.
;;
;; The functions here find the draft and turn it into a question.  They
;; use the current buffer, widened, and keep point.
;;
;; A tag and an `:ID:' make a heading a turn.  So a question or an answer
;; that somebody pastes into the draft would be a turn, and cut the draft in
;; two.  Therefore pasted turns become ordinary text: their tags and drawers
;; are deleted after the command that inserted them, and one `undo' takes
;; back both.
;;
;; Elsewhere a turn that is moved stays a turn.  A copy of a turn becomes
;; ordinary text, since its ID would occur twice.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-heading)

(declare-function org-agent-command-completion "org-agent-command")
(declare-function org-agent-add-mention-completion "org-agent-add")
(defvar org-agent-answer-writing)
(defvar org-agent-chat-session)

;;;; The draft

(defvar org-agent-draft-chosen nil
  "The position of the heading of the current draft; nil is the last draft.
Commands bind it for a draft below an old heading.")

(defun org-agent-draft-branch-at (position)
  "Return the heading of the branch's draft that POSITION is in, or nil.
That is a heading with the tag `:draft:' and no `:ID:', which
`org-agent-branch' makes below a question or an answer."
  (org-agent-heading-widely
    (let ((heading (org-agent-heading-at position)) found)
      (while (and heading (not found))
        (if (and (member "draft" (org-agent-heading-tags heading))
                 (not (org-agent-heading-property heading "ID")))
            (setq found heading)
          (setq heading (org-agent-heading-parent heading))))
      found)))

(defun org-agent-draft-end ()
  "Return the end of the current draft."
  (if org-agent-draft-chosen
      (org-agent-heading-subtree-end org-agent-draft-chosen)
    (point-max)))

;;;###autoload
(defun org-agent-draft-start ()
  "Return the position of the draft's heading, or nil when there is none."
  (or org-agent-draft-chosen (org-agent-draft--last-start)))

(defun org-agent-draft--last-start ()
  "Return the position of the heading of the draft at the end, or nil."
  (org-agent-heading-widely
    (let ((last (org-agent-heading-last-turn)) found)
      (goto-char (if last (org-agent-heading-subtree-end last) (point-min)))
      (while (and (not found) (re-search-forward "^\\*+ " nil t))
        (goto-char (match-beginning 0))
        (cond ((org-agent-heading-property (point) "ID") (end-of-line))
              ((member "draft" (org-agent-heading-tags (point)))
               (goto-char (org-agent-heading-subtree-end (point))))
              (t (setq found (point)))))
      found)))

(defun org-agent-draft-p (position)
  "Return non-nil when POSITION is in the draft."
  (let ((start (org-agent-draft--last-start)))
    (or (and start (>= position start))
        (and (org-agent-draft-branch-at position) t))))

(defun org-agent-draft-turn-meant (&optional role)
  "Return the heading of the turn that a command at point is about, or nil.
That is the innermost turn that point is in, and from the draft at the
end the last one.  With ROLE, `user' or `agent', only turns of that role
count."
  (or (org-agent-heading-turn-at (point) role)
      (when-let* ((start (org-agent-draft--last-start))
                  ((>= (point) start))
                  (last (org-agent-heading-last-turn)))
        (org-agent-heading-turn-at last role))))

(defun org-agent-draft-raw ()
  "Return the text of the draft, after the stars, without its drawer.
Its text properties stay.  The tag of a draft below an old heading is
removed."
  (org-agent-heading-widely
    (if-let* ((start (org-agent-draft-start)))
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
    (if (string-match org-agent-heading-tags-regexp (substring text 0 end))
        (let ((from (match-beginning 0))
              (tags (remove "draft" (split-string (match-string 1 text) ":" t))))
          (concat (substring text 0 from)
                  (and tags (concat " :" (string-join tags ":") ":"))
                  (substring text end)))
      text)))

(defun org-agent-draft-properties ()
  "Return the properties that the draft was given, an alist."
  (when-let* ((start (org-agent-draft-start)))
    (cl-remove-if (lambda (property) (member (car property) '(t "ID" "INSTEAD")))
                  (org-agent-heading-properties start))))

(defun org-agent-draft-normalize (text level)
  "Return TEXT, that of a draft, as it is sent; nil when it is empty.
Blank lines at its start are removed, so that the first line of the body
takes the place of an empty heading.  Headings in it are moved below
LEVEL, that of the draft."
  (let ((text (string-trim (string-replace "\r\n" "\n" text))))
    (unless (string-empty-p text)
      (pcase-let ((`(,first . ,rest) (org-agent-heading-cut text)))
        (if (string-empty-p rest)
            first
          (concat first "\n" (org-agent-heading-demote rest level)))))))

(defun org-agent-draft-complete ()
  "Complete the command or the mention before point in the draft.
Return nil if there is none.  This is for `org-tab-first-hook'."
  (when (and (looking-back "[@/][^\n]\\{0,100\\}" (line-beginning-position))
             (or (org-agent-command-completion)
                 (org-agent-add-mention-completion)))
    (completion-at-point)
    t))

(defun org-agent-draft-missing ()
  "Return the text that has to be inserted to make a draft, (POSITION . TEXT).
Return nil when the buffer has a draft."
  (org-agent-heading-widely
    (unless (org-agent-draft-start)
      (goto-char (point-max))
      (skip-chars-backward "\n")
      (forward-line 0)
      (cond
       ;; The blank was deleted, by `delete-trailing-whitespace' for example.
       ((and (looking-at "\\(\\*+\\)\n*\\'")
             (not (org-agent-draft--inside-turn-p)))
        (cons (match-end 1) " "))
       (t
        (goto-char (point-max))
        (cons (point) (if (bolp) "* " "\n* ")))))))

(defvar-local org-agent-draft--tick nil
  "The modification count of this buffer when its draft was last looked at.")

(defmacro org-agent-draft-unharmed (&rest body)
  "Run BODY, which changes the buffer and leaves the draft as it is.
So `org-agent-draft-keep', which runs after each key, does not look at the
whole conversation for each piece of an answer."
  (declare (indent 0) (debug t))
  (let ((looked (make-symbol "looked")))
    `(let ((,looked (eql org-agent-draft--tick (buffer-chars-modified-tick))))
       (prog1 (progn ,@body)
         (when ,looked
           (setq org-agent-draft--tick (buffer-chars-modified-tick)))))))

(defun org-agent-draft-keep ()
  "Insert a draft if the command just run took away its heading.
The insertion is a part of that command, and undone with it.  Without a
heading the next words would belong to the turn above.
Where an answer was undone, go on in the draft and not before its stars.
This is for `post-command-hook'."
  (unless (eql org-agent-draft--tick (buffer-chars-modified-tick))
    (when-let* ((missing (and org-agent-chat-session
                              (not buffer-read-only)
                              (org-agent-draft-missing))))
      (let ((at-end (= (point) (point-max))))
        (save-excursion
          (goto-char (car missing))
          (insert (cdr missing)))
        (when at-end (goto-char (point-max)))))
    (when (and (symbolp this-command)
               (string-match-p "undo\\|redo" (symbol-name this-command))
               (eql (point) (org-agent-draft-start)))
      (goto-char (line-end-position)))
    (setq org-agent-draft--tick (buffer-chars-modified-tick))))

(defconst org-agent-draft--typing-commands
  '(self-insert-command org-self-insert-command yank org-yank yank-pop xterm-paste
                        insert-char quoted-insert)
  "Commands that insert text where point is, within its line.")

(defun org-agent-draft-guard ()
  "Have what is typed before the hidden stars of a heading go into a draft.
It would take the heading away, and with it the question or the answer.
In a draft it goes behind the stars, elsewhere into the draft at the end.
This is for `pre-command-hook'."
  (when (and (memq this-command org-agent-draft--typing-commands)
             (not (use-region-p))
             (bolp)
             (or (invisible-p (point)) (get-text-property (point) 'display))
             (save-match-data (looking-at-p "\\*+ ")))
    (if (org-agent-draft-p (line-end-position))
        (skip-chars-forward "*" (line-end-position))
      (goto-char (point-max)))
    (when (eq (char-before) ?*)
      (forward-char))))

(defun org-agent-draft-mend (position)
  "Insert the missing blank after the stars at or before POSITION.
The line `*Hello' is no heading; it arises when a person writes before the
blank, as `i' of Evil does.  Only a line after all turns is changed, and
only while there is no draft.  Return non-nil if a line was changed."
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
  "Return non-nil when point is in a block."
  (save-excursion
    (let ((case-fold-search t))
      (save-match-data
        (and (re-search-backward "^[ \t]*#\\+\\(begin\\|end\\)_" nil t)
             (eq (downcase (char-after (match-beginning 1))) ?b))))))

(defun org-agent-draft--inside-turn-p ()
  "Return non-nil when the last turn's heading is at or after point."
  (when-let* ((last (org-agent-heading-last-turn)))
    (>= last (point))))

(defun org-agent-draft-to-question (id text)
  "Turn the draft into the question TEXT with the ID, marked unsent.
A new draft of the same level follows, and point goes to its end; it
stays where it is if the draft was below an old heading.  Return
\(LEVEL . RECORD); RECORD is the undo record of the question, nil without
undo."
  (let* ((start (org-agent-draft-start))
         (level (org-agent-heading-level start))
         (properties (org-agent-draft-properties))
         (end (org-agent-draft-end)))
    (widen)
    (delete-region start (min end (point-max)))
    (goto-char start)
    (insert (org-agent-heading-question level id text t nil properties)
            (if org-agent-draft-chosen ""
              (concat (make-string level ?*) " ")))
    (cons level (org-agent-draft--record start))))

(defun org-agent-draft--record (start)
  "Return the undo entry of the text that was just inserted at START, or nil."
  (and (consp buffer-undo-list)
       (consp (car buffer-undo-list))
       (eql (caar buffer-undo-list) start)
       (car buffer-undo-list)))

;;;; Pasted turns

(defvar-local org-agent-draft--paste-regions nil
  "Inserted texts that are still to be checked: a list of (BEG . END), markers.")

(defun org-agent-draft-paste-setup ()
  "Check the text that commands insert into this conversation."
  (add-hook 'after-change-functions #'org-agent-draft--paste-note nil t))

(defun org-agent-draft--paste-note (beg end _length)
  "Note the inserted text from BEG to END if it may contain a turn.
A turn has several lines; Org moves the tags of one in which you type.
Note the text, too, if it cut off the tag of a draft below an old heading.
It must not be changed before the command that inserted it has ended."
  (when (and (> (- end beg) 1)
             org-agent-chat-session
             (not undo-in-progress)
             (not org-agent-answer-writing)
             (org-agent-heading-widely
               (goto-char beg)
               (search-forward "\n" end t))
             (org-agent-heading-widely
               (goto-char end)
               (let ((limit (line-end-position)))
                 (goto-char beg)
                 (forward-line 0)
                 (or (re-search-forward org-agent-heading-turn-regexp limit t)
                     (org-agent-draft--paste-split-p (point) beg end)))))
    (push (cons (copy-marker beg) (copy-marker end t)) org-agent-draft--paste-regions)
    (add-hook 'post-command-hook #'org-agent-draft-paste-settle nil t)))

(defun org-agent-draft--paste-split-p (from beg end)
  "Return non-nil when the heading at FROM lost its tag, \":draft:\".
That happens when lines are inserted into it between BEG and END."
  (and (< from beg)
       (progn (goto-char end) (looking-at-p "[ \t]+:draft:[ \t]*$"))
       (not (<= (line-beginning-position) from))
       (progn (goto-char from) (looking-at-p "\\*+ "))))

(defun org-agent-draft-paste-settle ()
  "Make ordinary text of inserted turns, where that is needed."
  (remove-hook 'post-command-hook #'org-agent-draft-paste-settle t)
  (while org-agent-draft--paste-regions
    (pcase-let ((`(,beg . ,end) (pop org-agent-draft--paste-regions)))
      (when (< beg end)
        (let ((inhibit-read-only t))
          (org-agent-heading-widely
            (org-agent-draft--paste-settle beg end))))
      (set-marker beg nil)
      (set-marker end nil))))

(defun org-agent-draft--paste-settle (beg end)
  "Make ordinary text of the turns between the markers BEG and END.
Do so in a draft, and for copies of turns elsewhere."
  (let* ((from (progn (goto-char beg) (line-beginning-position)))
         (split (org-agent-draft--paste-split-p from beg end))
         (branch (if split from
                   (and (> from (point-min))
                        (org-agent-draft-branch-at (1- from)))))
         (drafted (or branch (org-agent-draft--paste-in-draft-p from beg end)))
         (elsewhere (unless drafted (org-agent-draft--paste-ids-outside from end))))
    (dolist (heading (org-agent-draft--paste-turns from end))
      (when (or drafted
                (gethash (org-agent-heading-property heading "ID") elsewhere))
        (org-agent-draft--paste-to-text heading)))
    (when drafted
      (org-agent-draft--paste-join beg))
    (when split
      (org-agent-draft--paste-unsplit from end))
    (when branch
      (org-agent-draft--paste-demote beg end (org-agent-heading-level branch)))))

(defun org-agent-draft--paste-turns (from end)
  "Return the headings of the turns between FROM and END, the last first."
  (let (turns)
    (goto-char end)
    (let ((limit (line-end-position)))
      (goto-char from)
      (while (re-search-forward org-agent-heading-turn-regexp limit t)
        (let ((heading (line-beginning-position)))
          (when (and (< heading end) (org-agent-heading-turn-p heading))
            (push heading turns)))))
    turns))

(defun org-agent-draft--paste-in-draft-p (from beg end)
  "Return non-nil when the text between BEG and END was inserted into the draft.
FROM is the beginning of its first line.  That is so if there is no turn
after it, and the draft begins before it."
  (and (null (org-agent-draft--paste-turns-behind end))
       (let ((last (org-agent-heading-last-turn nil nil from))
             found)
         (goto-char (if last (min from (org-agent-heading-subtree-end last))
                      (point-min)))
         (while (and (not found) (re-search-forward "^\\*+ " beg t))
           (goto-char (match-beginning 0))
           ;; The first line contains inserted text, too.
           (if (and (< (point) from) (org-agent-heading-property (point) "ID"))
               (end-of-line)
             (setq found t)))
         found)))

(defun org-agent-draft--paste-turns-behind (end)
  "Return non-nil if there is a turn after the line of END."
  (goto-char end)
  (unless (bolp) (forward-line))
  (let (found)
    (while (and (not found)
                (re-search-forward org-agent-heading-turn-regexp nil t))
      (setq found (org-agent-heading-turn-p (line-beginning-position))))
    found))

(defun org-agent-draft--paste-ids-outside (from end)
  "Return the IDs of the turns that are not between FROM and END, a table."
  (let ((ids (make-hash-table :test #'equal)))
    (org-agent-heading-map-turns
     (lambda (heading)
       (unless (<= from heading end)
         (puthash (org-agent-heading-property heading "ID") t ids))))
    ids))

(defun org-agent-draft--paste-to-text (heading)
  "Delete the tags and the drawer that make the heading at HEADING a turn."
  (let ((drawer-end (cdr (assq t (org-agent-heading-properties heading))))
        (tags (cl-set-difference (org-agent-heading-tags heading)
                                 '("user" "agent" "unsent" "waiting")
                                 :test #'equal)))
    (goto-char drawer-end)
    (re-search-backward "^[ \t]*:PROPERTIES:" heading)
    (delete-region (point) drawer-end)
    (goto-char heading)
    (when (re-search-forward org-agent-heading-tags-regexp
                             (line-end-position) t)
      (delete-region (match-beginning 0) (line-end-position))
      (when tags
        (goto-char (line-end-position))
        (insert " :" (string-join tags ":") ":")))))

(defun org-agent-draft--paste-join (beg)
  "Delete stars that were inserted at BEG, right after those of the draft."
  (goto-char beg)
  (when (and (looking-at "\\*+ ")
             (save-match-data (looking-back "^\\*+ +" (line-beginning-position))))
    (delete-region (match-beginning 0) (match-end 0))))

(defun org-agent-draft--paste-unsplit (from end)
  "Move the tag and the drawer at END back to the heading at FROM."
  (goto-char end)
  (when (looking-at "[ \t]+:draft:[ \t]*\\(?:\n:PROPERTIES:\n\\(?:.*\n\\)*?:END:[ \t]*\\)?$")
    (let ((tail (match-string 0)))
      (delete-region (match-beginning 0) (match-end 0))
      (goto-char from)
      (end-of-line)
      (insert tail))))

(defun org-agent-draft--paste-demote (beg end level)
  "Move the headings between BEG and END below LEVEL."
  (goto-char beg)
  (unless (bolp) (forward-line))
  (when (< (point) end)
    (let* ((text (buffer-substring (point) end))
           (below (org-agent-heading-demote text level)))
      (unless (equal text below)
        (delete-region (point) end)
        (insert below)))))

(provide 'org-agent-draft)
;;; org-agent-draft.el ends here
