;;; org-agent-fold.el --- What a page shows folded  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; An answer begins with drawers that have what the agent thought, said
;; beside its calls, and called.  On a page each is one quiet line, which TAB unfolds.  A subagent
;; that was started is a call, and has a line of its own below that of the
;; calls.  TAB on it shows what the subagent did.
;;
;; What waits for approval stands in its conversation as a letter: what the
;; agent asks for, why, the change itself, and the choices.  A change may
;; have more lines than a window.  Whoever decides sees how the letter begins
;; and what the choices are.  So of a long change the first lines are shown,
;; and a line that says how many more there are.  TAB shows them.
;;
;; The functions here are called by the font lock of `org-agent-page-setup'
;; and by `org-agent-layout.el', and set text properties.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent)
(require 'org-agent-fontify)
(require 'org-agent-heading)
(require 'org-agent-layout)

(declare-function org-agent-asks-show-whole "org-agent-asks")
(declare-function org-agent-asks-waiting "org-agent-asks")
(declare-function org-agent-draft-start "org-agent-draft")
(declare-function org-agent-status-open-called "org-agent-status")

(defvar org-agent-page-show-thoughts)

;;;; How a drawer looks

(defun org-agent-fold--quiet (string simpler)
  "Return STRING, or SIMPLER where it cannot be displayed, as a quiet text."
  (propertize (org-agent-layout-glyph string simpler)
              'face 'org-agent-page-quiet))

(defun org-agent-fold-lay-out-drawer (beg end name)
  "Show the drawer NAME from BEG to END, or rather what of it one reads.
The properties of a turn are for programs.  Group 2 of the match data is
the text of the drawer."
  (if (equal name "PROPERTIES")
      (when (> beg (point-min))
        (org-agent-layout-hide (1- beg) end))
    (let ((line-end (save-excursion (goto-char beg) (line-end-position)))
          (unfolded (org-agent-fold--unfolded-p beg)))
      (put-text-property
       beg (1+ beg) 'display
       (concat (if unfolded
                   (org-agent-fold--quiet "▾ " "- ")
                 (org-agent-fold--quiet "▸ " "+ "))
               (propertize (org-agent-fontify-drawer-summary
                            name (match-string-no-properties 2))
                           'face 'org-agent-page-quiet)))
      ;; One character has the line.  Were it the text, Emacs would lose the
      ;; column behind a hidden heading.
      (org-agent-layout-hide (1+ beg) line-end)
      (if unfolded
          (progn
            (goto-char end)
            (org-agent-layout-hide (1- (line-beginning-position)) end))
        (org-agent-layout-hide line-end end)
        (org-agent-fold--lay-out-subagents line-end end)))))

(defun org-agent-fold--unfolded-p (position)
  "Return non-nil when the drawer at POSITION is to be seen whole.
That is what a person chose with TAB, or else what is the rule."
  (pcase (get-text-property position 'org-agent-fold-unfolded)
    ('yes t)
    ('no nil)
    (_ org-agent-page-show-thoughts)))

;;;; Subagents

(defconst org-agent-fold--subagent-regexp
  "^[ \t]*: \\(?:start_subagent\\|sessions_spawn\\) (.*"
  "Matches the call that starts a subagent, by its name of today or before.")

(defvar org-agent-fold-subagent-map
  (org-agent-click-map #'org-agent-fold-subagent-at-mouse)
  "Keymap of the line of a subagent.")

(defun org-agent-fold--subagent-label (call)
  "Return the label of the subagent that CALL, a line of a drawer, starts.
That is the beginning of its task if the call gives it none."
  (let ((string "\"\\(\\(?:[^\"\\]\\|\\\\.\\)*\\)\""))
    (and (or (string-match (concat ":label " string) call)
             (string-match (concat ":task " string) call))
         (let ((label (string-join
                       (split-string (replace-regexp-in-string
                                      "\\\\\\(.\\)" "\\1"
                                      (replace-regexp-in-string
                                       "\\\\[nt]" " " (match-string 1 call) t t)))
                       " ")))
           (if (> (length label) 40)
               (concat (string-trim (substring label 0 39)) "…")
             label)))))

(defun org-agent-fold--lay-out-subagents (beg end)
  "Show a line for each subagent that a call between BEG and END started."
  (goto-char beg)
  (while (re-search-forward org-agent-fold--subagent-regexp end t)
    (let ((line (match-beginning 0))
          (label (org-agent-fold--subagent-label (match-string-no-properties 0)))
          (verdict (org-agent-fontify-verdict
                    (buffer-substring-no-properties
                     (line-beginning-position 2)
                     (max (line-beginning-position 2) (line-end-position 2))))))
      (when (and label (not (member verdict '("refused" "denied"))))
        (remove-list-of-text-properties (1- line) (1+ line) '(invisible))
        (put-text-property
         line (1+ line) 'display
         (propertize (concat (org-agent-layout-glyph "  ↳ " "  > ")
                             label (and (equal verdict "failed") " (failed)"))
                     'face 'org-agent-page-quiet
                     'mouse-face 'highlight
                     'help-echo "mouse-1, TAB: show what it did"
                     'keymap org-agent-fold-subagent-map))))))

(defun org-agent-fold--subagent-here ()
  "Return (LABEL . RANK) of the subagent on whose line point is seen, or nil.
RANK is how many with that label the turn's question has started before."
  (save-excursion
    ;; Point may be behind what is hidden of the line.
    (while (and (not (bobp)) (invisible-p (1- (point))))
      (goto-char (previous-single-char-property-change (point) 'invisible)))
    (forward-line 0)
    (when-let* (((looking-at-p org-agent-fold--subagent-regexp))
                (drawer (org-agent-fontify-drawer-around))
                (call (point))
                (label (org-agent-fold--subagent-label
                        (buffer-substring-no-properties call (line-end-position))))
                (question (org-agent-heading-turn-at call 'user)))
      (let ((rank 0))
        (org-agent-heading-widely
          (goto-char question)
          (while (re-search-forward org-agent-fold--subagent-regexp call t)
            (when (equal label (org-agent-fold--subagent-label
                                (match-string-no-properties 0)))
              (setq rank (1+ rank)))))
        (cons label rank)))))

(defun org-agent-fold-open-subagent ()
  "Show the conversation of the subagent on whose line point is.
Return nil where there is none.  This is for `org-open-at-point-functions'."
  (pcase (org-agent-fold--subagent-here)
    (`(,label . ,rank)
     (org-agent-status-open-called
      (org-agent-heading-property (org-agent-heading-turn-at (point) 'user) "ID")
      label rank)
     t)))

(defun org-agent-fold-subagent-at-mouse (event)
  "Show the conversation of the subagent that was clicked on in EVENT."
  (interactive (org-agent-clicked "the line of a subagent"))
  (let ((start (event-start event)))
    (with-current-buffer (window-buffer (posn-window start))
      (save-excursion
        (goto-char (posn-point start))
        (org-agent-fold-open-subagent)))))

;;;; What TAB does on its line

(defun org-agent-fold--drawer ()
  "Return where the thoughts or calls begin on whose line point is seen, or nil.
The heading before them may be hidden."
  (save-excursion
    (forward-line 0)
    (when (eq (get-text-property (point) 'invisible) 'org-agent-page)
      (goto-char (next-single-property-change (point) 'invisible nil (point-max))))
    (let ((case-fold-search t))
      (and (bolp)
           (looking-at org-agent-fontify-drawer-regexp)
           (not (equal (upcase (match-string 1)) "PROPERTIES"))
           (point)))))

(defun org-agent-fold-toggle-drawer ()
  "Unfold or fold the thoughts or calls on whose line point is.
On the line of a subagent show its conversation.  Return nil elsewhere."
  (or (org-agent-fold-open-subagent)
      (when-let* ((beg (org-agent-fold--drawer)))
        (save-excursion
          (goto-char beg)
          (let ((end (cdr (org-agent-fontify-drawer-around)))
                (unfolded (org-agent-fold--unfolded-p beg)))
            (with-silent-modifications
              (put-text-property beg end 'org-agent-fold-unfolded
                                 (if unfolded 'no 'yes)))
            (unless unfolded
              (org-agent-heading-call-org 'org-fold-hide-drawer-toggle
                                          'org-hide-drawer-toggle 'off t))
            (font-lock-flush beg end)
            (font-lock-ensure beg end)
            (unless unfolded (org-agent-fold--into-view end))))
        t)))

(defun org-agent-fold--into-view (end)
  "Have the window show the text from point to END, or its beginning.
Org does the same with a subtree that it unfolds."
  (when (and (eq (window-buffer) (current-buffer))
             (not (pos-visible-in-window-p (1- end))))
    (recenter 1)))

;;;; The file that changes

(defconst org-agent-fold--names-regexp
  "--- \\(.+\\)\n\\+\\+\\+ \\1\n@@ "
  "Matches how the difference of one file begins that keeps its name.")

(defun org-agent-fold--seen-from (beg body)
  "Return where the lines begin that are seen of the block at BEG.
BODY begins its text.  Two lines before the first place that changes name
the file, and have no line of their own if they say the same."
  (save-excursion
    (goto-char beg)
    (if (and (let ((case-fold-search t))
               (looking-at-p "[ \t]*#\\+begin_src[ \t]+diff[ \t]*$"))
             (progn (goto-char body)
                    (looking-at-p org-agent-fold--names-regexp)))
        (line-beginning-position 3)
      body)))

(defun org-agent-fold--join-names (beg body seen)
  "Name the file once, before the first place of it that changes.
The block begins at BEG and its text at BODY.  SEEN is that place, and
what is hidden before it is the language and the name repeated."
  (save-excursion
    (goto-char body)
    (let ((name (+ body (length "--- "))) (name-end (line-end-position)))
      (org-agent-layout-hide beg name)
      (put-text-property name name-end 'face 'org-agent-layout-language)
      (put-text-property name-end seen 'display "  ")
      (put-text-property name-end seen 'face 'org-agent-layout-language))))

;;;; A long change

(defconst org-agent-fold--fewest 6
  "How many lines of a change are shown at least.")

(defconst org-agent-fold--fewest-rules 1
  "How many lines are shown at least of what is offered with a change.")

(defconst org-agent-fold--beside 4
  "The lines of a window that a letter leaves free.
There is the draft with the line above it, and the last two lines are
those of a message.")

(defvar org-agent-fold-more-map
  (org-agent-click-map #'org-agent-fold-more-at-mouse)
  "Keymap of the line that says how many lines there are more.")

(defun org-agent-fold--approval (position)
  "Return the heading of the open approval that POSITION is in, or nil."
  (when-let* ((heading (org-agent-heading-at position))
              ((save-excursion
                 (goto-char heading)
                 (let ((case-fold-search nil))
                   (looking-at-p "\\*+ TODO "))))
              ((equal (org-agent-heading-property heading "ASKS") "approval")))
    heading))

(defun org-agent-fold--least (body end width)
  "Return how many lines of the text from BODY to END are shown at least.
They are lines of a window of WIDTH.  The first lines that a diff changes
are among them, also behind lines that stay."
  (save-excursion
    (goto-char body)
    (let ((lines (max org-agent-fold--fewest
                      (if (re-search-forward "^[-+]\\(?:[^-+]\\|$\\)" end t)
                          (+ 2 (count-lines body (line-end-position)))
                        0))))
      (goto-char body)
      (forward-line lines)
      (org-agent-fold--rows body (min (point) end) width))))

(defun org-agent-fold--blocks (heading)
  "Return the blocks of the letter at HEADING, in order: lists (BEG BODY END).
BEG begins the block, BODY what is seen of its text on lines of its own.
END ends the last line, which is not seen."
  (save-excursion
    (goto-char heading)
    (let ((last (org-agent-heading-subtree-end heading))
          (case-fold-search t) blocks)
      (while (re-search-forward "^[ \t]*#\\+begin_" last t)
        (let* ((beg (line-beginning-position))
               (body (org-agent-fold--seen-from beg (line-beginning-position 2))))
          (if (re-search-forward "^[ \t]*#\\+end_" last t)
              (push (list beg body (line-end-position)) blocks)
            (goto-char last))))
      (nreverse blocks))))

(defun org-agent-fold--unseen (block)
  "Return how many lines of BLOCK, beside those of its text, are not seen.
Its last line is one.  Its first has the name of the language, unless the
name of a file stands for it before the text."
  (let ((before (count-lines (nth 0 block) (nth 1 block))))
    (if (> before 1) (1+ before) 1)))

(defun org-agent-fold--rows (beg end width)
  "Return how many lines of a window of WIDTH the text from BEG to END takes.
END begins a line.  What marks a word as verbatim is not seen."
  (save-excursion
    (goto-char beg)
    (let ((rows 0))
      (while (and (< (point) end) (not (eobp)))
        (let* ((line-end (line-end-position))
               (seen (- line-end (point)
                        (* 2 (how-many "=[^=\n]+=" (point) line-end)))))
          (cl-incf rows (max 1 (ceiling seen width))))
        (forward-line))
      rows)))

(defun org-agent-fold--text-end (block)
  "Return where the last line of BLOCK begins, behind its text."
  (save-excursion (goto-char (nth 2 block)) (line-beginning-position)))

(defun org-agent-fold--fitting (block room width)
  "Return how many lines of BLOCK fit into ROOM lines of that WIDTH.
If there are more, a line is left for what says so."
  (let ((end (org-agent-fold--text-end block)) (lines 0))
    (save-excursion
      (goto-char (nth 1 block))
      (when (< room (org-agent-fold--rows (point) end width))
        (cl-decf room))
      (while (and (< (point) end)
                  (>= (cl-decf room (org-agent-fold--rows
                                     (point) (line-beginning-position 2) width))
                      0))
        (cl-incf lines)
        (forward-line))
      lines)))

(defun org-agent-fold--window ()
  "Return the (WIDTH . HEIGHT) of the smallest window of this buffer."
  (let ((windows (get-buffer-window-list nil 'no-minibuffer 'visible)))
    (if windows
        (cons (apply #'min (mapcar #'window-body-width windows))
              (apply #'min (mapcar #'window-body-height windows)))
      (cons 80 24))))

(defun org-agent-fold--room (heading blocks width height)
  "Return the room for the BLOCKS of the letter at HEADING, (CHANGE . OFFER).
CHANGE is how many lines there are for the first, and OFFER for the
others, in a window of WIDTH and HEIGHT.  How the letter begins and what
the choices are is seen in it, too, if that is possible."
  (let* ((rows (mapcar (lambda (block)
                         (org-agent-fold--rows
                          (nth 1 block) (org-agent-fold--text-end block) width))
                       blocks))
         (change (car rows))
         (offer (apply #'+ (cdr rows)))
         (first (or (cdr (assq t (org-agent-heading-properties heading))) heading))
         (others (- (org-agent-fold--rows
                     first (org-agent-heading-subtree-end heading) width)
                    change offer
                    (apply #'+ (mapcar #'org-agent-fold--unseen blocks))))
         (room (- height 1 others org-agent-fold--beside)) ; the heading
         (least (org-agent-fold--least (nth 1 (car blocks)) (nth 2 (car blocks)) width)))
    (if (<= (+ change offer) room)
        (cons change offer)
      (let ((change (min change
                         (max (1+ least)
                              (- room (min offer (1+ org-agent-fold--fewest-rules)))))))
        (cons change (max (1+ org-agent-fold--fewest-rules) (- room change)))))))

(defun org-agent-fold--more (heading beg)
  "Return how many lines of the block at BEG there is no room for.
It is one of the letter at HEADING.  The result is (SHOWN . MORE)."
  (pcase-let* ((`(,width . ,height) (org-agent-fold--window))
               (blocks (org-agent-fold--blocks heading))
               (block (assq beg blocks)))
    (if (null block)
        '(0 . 0)
      (pcase-let* ((`(,change . ,offer)
                    (org-agent-fold--room heading blocks width height))
                   (shown (org-agent-fold--fitting
                           block (if (eq block (car blocks)) change offer) width)))
        (cons shown (- (count-lines (nth 1 block) (org-agent-fold--text-end block))
                       shown))))))

;;;###autoload
(defun org-agent-fold-change (beg body end)
  "Lay out the block from BEG to END, whose text begins at BODY.
The name of the file in which a difference is stands there once."
  (save-match-data
    (let ((seen (org-agent-fold--seen-from beg body)))
      (unless (= seen body)
        (org-agent-fold--join-names beg body seen))
      (org-agent-fold--shorten-change beg seen end))))

(defun org-agent-fold--shorten-change (beg body end)
  "Show only the first lines of the block from BEG to END if it is long.
Its text is seen from BODY on.  Do nothing unless it is a block of an open
approval: the change, or what is offered with it."
  (when-let* (((> (count-lines body end) (+ 2 org-agent-fold--fewest-rules)))
              ((not (get-text-property body 'org-agent-fold-whole)))
              (heading (org-agent-fold--approval beg))
              (room (org-agent-fold--more heading beg))
              (more (cdr room))
              ((> more 1)))
    (save-excursion
      (goto-char body)
      (forward-line (car room))
      (put-text-property
       (point) (1+ (point)) 'display
       (propertize (concat (org-agent-layout-glyph "▸ " "+ ")
                           (org-agent-counted more "more line") "; TAB shows them")
                   'face '(org-agent-page-unfinished org-agent-layout-code)
                   'mouse-face 'highlight
                   'help-echo "mouse-1, TAB: show them"
                   'keymap org-agent-fold-more-map
                   'org-agent-fold-more t))
      (org-agent-layout-hide (1+ (point)) end))))

(defun org-agent-fold--shortened (heading)
  "Return the shortened blocks of the letter at HEADING, conses (BEG . END)."
  (cl-loop for (beg body end) in (org-agent-fold--blocks heading)
           when (and (not (get-text-property body 'org-agent-fold-whole))
                     (cl-loop for at = body then (next-single-property-change
                                                  at 'display nil end)
                              while (< at end)
                              for shown = (get-text-property at 'display)
                              thereis (and (stringp shown)
                                           (get-text-property 0 'org-agent-fold-more
                                                              shown))))
           collect (cons beg end)))

(defun org-agent-fold--unfold (heading)
  "Show all of what is offered in the letter at HEADING.
Return nil if that is seen already."
  (when-let* ((blocks (org-agent-fold--shortened heading)))
    (with-silent-modifications
      (pcase-dolist (`(,beg . ,end) blocks)
        (put-text-property beg end 'org-agent-fold-whole t)
        (font-lock-flush beg end)
        (font-lock-ensure beg end)))
    t))

(defun org-agent-fold-unfold-change ()
  "Show all of the change in whose letter point is, if some is not seen.
Return nil elsewhere, and on the heading."
  (when-let* ((heading (org-agent-fold--approval (point)))
              ((< heading (line-beginning-position))))
    (org-agent-fold--unfold heading)))

(defun org-agent-fold-unfold-above ()
  "Show all of the changes that wait, from the first line of the draft.
That is where one is when a letter comes.  Return nil elsewhere, or where
all is seen.  This is for `org-tab-first-hook'."
  (when (eql (org-agent-draft-start) (line-beginning-position))
    (let ((unfolded (cl-remove-if-not
                     (lambda (id)
                       (when-let* ((heading (org-agent-fold--approval
                                             (org-agent-heading-find id))))
                         (org-agent-fold--unfold heading)))
                     (org-agent-asks-waiting))))
      (mapc #'org-agent-asks-show-whole unfolded)
      (and unfolded t))))

(defun org-agent-fold-more-at-mouse (event)
  "Show all of the change that was clicked on in EVENT."
  (interactive (org-agent-clicked "the line that says that there is more"))
  (let ((start (event-start event)))
    (with-current-buffer (window-buffer (posn-window start))
      (when-let* ((heading (org-agent-fold--approval (posn-point start))))
        (org-agent-fold--unfold heading)))))

(provide 'org-agent-fold)
;;; org-agent-fold.el ends here
