;;; org-agent-page.el --- A conversation as a page one likes to read  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A conversation is an Org file with much in it that only programs read:
;; drawers, ids, tags that say whose turn it is.  This file shows such a
;; file as a page: a question stands on a band behind a prompt, with room
;; above it; an answer begins with a plain title; what the agent thought
;; and called is one quiet line each, which TAB unfolds.  An answer that
;; failed looks like an error.
;;
;; Nothing in the buffer changes for that.  Font lock sets text
;; properties, so there is no overlay for each turn, and a text that is
;; being written costs nothing while it comes.  `org-agent-page-toggle'
;; shows the file as it is, and the page again.

;;; Code:

(require 'cl-lib)
(require 'font-lock)
(require 'org)
(require 'subr-x)
(require 'org-agent-fold)
(require 'org-agent-fontify)
(require 'org-agent-heading)
(require 'org-agent-layout)

(declare-function org-agent-send-under-way "org-agent-send")

(defvar font-lock-beg)
(defvar font-lock-end)

(defgroup org-agent-page nil
  "How a conversation with the agent looks."
  :group 'org-agent-chat
  :prefix "org-agent-page-")

(defcustom org-agent-page-p t
  "Non-nil means to show a conversation as a page.
Otherwise it looks as any Org file does.  \\[org-agent-page-toggle] chooses
for one buffer."
  :type 'boolean
  :group 'org-agent-page
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-page-prompt '("❯ " . "> ")
  "What stands before a question: a string, or (STRING . SIMPLER).
The simpler one stands where the other cannot be displayed."
  :type '(choice string (cons string string))
  :group 'org-agent-page
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-page-show-thoughts nil
  "Non-nil means that thoughts and calls stand unfolded in an answer.
TAB on their line opens and closes it."
  :type 'boolean
  :group 'org-agent-page
  :package-version '(org-agent . "0.1.0"))

;;;; Faces

(defface org-agent-page-question
  '((((class color) (min-colors 88) (background light))
     :background "#edf2fa" :extend t)
    (((class color) (min-colors 88) (background dark))
     :background "#1f2733" :extend t))
  "Face of the lines of a question: a band as wide as the window."
  :group 'org-agent-page)

(defface org-agent-page-question-title
  '((((class color) (min-colors 88) (background light))
     :foreground "#1f4e96" :weight bold)
    (((class color) (min-colors 88) (background dark))
     :foreground "#9dc2ff" :weight bold)
    (t :weight bold))
  "Face of the first line of a question."
  :group 'org-agent-page)

(defface org-agent-page-prompt '((t :inherit org-agent-page-question-title))
  "Face of the prompt before a question."
  :group 'org-agent-page)

(defface org-agent-page-answer-title '((t :inherit default :weight bold))
  "Face of the title of an answer."
  :group 'org-agent-page)

(defface org-agent-page-part '((t :inherit org-agent-page-question-title))
  "Face of the headings within an answer."
  :group 'org-agent-page)

(defface org-agent-page-excerpt '((t :inherit shadow :weight normal))
  "Face of a title that only repeats how the answer begins."
  :group 'org-agent-page)

(defface org-agent-page-quiet '((t :inherit shadow))
  "Face of what is said in passing: thoughts, calls, what became of a turn."
  :group 'org-agent-page)

(defface org-agent-page-trouble '((t :inherit error))
  "Face of the title of an answer that failed."
  :group 'org-agent-page)

(defface org-agent-page-unfinished '((t :inherit warning))
  "Face of what says that a turn is not whole, or was not sent."
  :group 'org-agent-page)

;;;; The page

(defvar-local org-agent-page--shown nil
  "Non-nil while this buffer is shown as a page.")
(put 'org-agent-page--shown 'permanent-local t)

(defun org-agent-page-setup ()
  "Show this buffer, a conversation, as a page if the user wants that.
\\[org-agent-page-toggle] works either way."
  (unless (local-variable-p 'org-agent-page--shown)
    (setq org-agent-page--shown org-agent-page-p))
  (add-to-invisibility-spec 'org-agent-page)
  (setq-local font-lock-extra-managed-props
              (append '(display line-prefix wrap-prefix)
                      font-lock-extra-managed-props)
              ;; C-a and C-k leave the prompt alone.
              org-special-ctrl-a/e t
              ;; Paragraphs are wrapped everywhere, without an arrow.
              fringe-indicator-alist (cons '(continuation nil nil)
                                           fringe-indicator-alist))
  (font-lock-add-keywords nil '((org-agent-page--fontify)) t)
  (add-hook 'font-lock-extend-region-functions
            #'org-agent-page--extend-region nil t)
  (setq-local font-lock-extend-after-change-region-function
              #'org-agent-page--extend-change)
  (add-hook 'org-tab-first-hook #'org-agent-page-toggle-drawer nil t)
  ;; Behind what completes in the draft.
  (add-hook 'org-tab-first-hook #'org-agent-page-show-rest 90 t)
  (add-hook 'org-open-at-point-functions #'org-agent-fold-open-subagent nil t)
  ;; Behind Org's own functions, which hide drawers.
  (add-hook 'org-cycle-hook #'org-agent-page-unfolded t t)
  (add-hook 'org-property-changed-functions #'org-agent-page--property-set nil t)
  (add-hook 'org-indent-mode-hook #'org-agent-page--unindent nil t)
  (org-agent-layout-setup)
  (org-agent-page--apply)
  (org-agent-page-unfolded 'all))

(defun org-agent-page--apply ()
  "Set what of Org a page needs otherwise than the user has it."
  (if (not org-agent-page--shown)
      (kill-local-variable 'org-hide-emphasis-markers)
    (setq-local org-hide-emphasis-markers t)
    (org-agent-page--unindent))
  (org-agent-layout-limit org-agent-page--shown))

(defun org-agent-page--unindent ()
  "Turn off Org's indentation, which would double the margins of a page.
A person's hook of Org mode may turn it on behind our setup."
  (when (and org-agent-page--shown (bound-and-true-p org-indent-mode))
    (org-indent-mode -1)))

;;;###autoload
(defun org-agent-page-toggle ()
  "Show the file of this conversation as it is, or as a page again."
  (interactive nil org-agent-chat-mode)
  (setq org-agent-page--shown (not org-agent-page--shown))
  (org-agent-page--apply)
  (org-agent-heading-widely
    (font-lock-flush (point-min) (point-max)))
  (message "%s" (substitute-command-keys
                 (if org-agent-page--shown
                     "The page"
                   "The file as it is; \\[org-agent-page-toggle] shows the page"))))

(defun org-agent-page--fontify (limit)
  "Show the text from point to LIMIT as a page; a font-lock matcher.
Return nil: there is nothing left to highlight."
  (when org-agent-page--shown
    (let* ((case-fold-search nil)
           (from (point))
           (before (max (point-min) (1- from)))
           (room (org-agent-page--room-p before)))
      (org-agent-page--gap-gone from)
      (org-agent-page--question-body from limit)
      (org-agent-layout-lists from limit)
      (org-agent-layout-rules from limit)
      (org-agent-layout-blocks from limit)
      (org-agent-layout-tables from limit)
      (goto-char from)
      (while (re-search-forward "^\\*+ " limit t)
        (goto-char (match-beginning 0))
        (org-agent-page--heading)
        (end-of-line))
      (goto-char from)
      (let ((case-fold-search t))
        (while (re-search-forward org-agent-fontify-drawer-regexp limit t)
          (org-agent-fold-lay-out-drawer (match-beginning 0) (match-end 0)
                                         (upcase (match-string 1)))))
      (org-agent-page--gap-before limit)
      (unless (eq room (org-agent-page--room-p before))
        (org-agent-page--draw-again before))))
  nil)

(defun org-agent-page--instead (beg end string)
  "Show STRING instead of the text from BEG to END."
  (put-text-property beg end 'display string))

(defun org-agent-page--glyph (string simpler face)
  "Return STRING, or SIMPLER where it cannot be displayed, in FACE."
  (propertize (org-agent-layout-glyph string simpler) 'face face))

(defun org-agent-page--prompt ()
  "Return what stands before a question."
  (pcase org-agent-page-prompt
    (`(,string . ,simpler)
     (org-agent-page--glyph string simpler
                            '(org-agent-page-prompt org-agent-page-question)))
    (string (propertize string 'face
                        '(org-agent-page-prompt org-agent-page-question)))))

;;;; Headings

(defun org-agent-page--heading ()
  "Show the heading at point as what it is: a question, an answer, a part."
  (let* ((beg (point))
         (stars (progn (skip-chars-forward "*") (1+ (point))))
         (end (line-end-position))
         ;; What is typed behind the stars of an empty heading, and a blank that is
         ;; typed behind the words of a draft, are no part of its tags.
         (tags-from (and (re-search-forward org-agent-heading-tags-regexp end t)
                         (max stars (match-beginning 0))))
         (tags (and tags-from (split-string (match-string-no-properties 1) ":" t)))
         (title-end (or tags-from end)))
    (goto-char beg)
    (cond
     ((member "user" tags)
      (org-agent-page--tags
       tags-from end tags
       (cond ((member "unsent" tags)
              (org-agent-page--unsent beg))
             ((get-text-property beg 'org-agent-waiting)
              (org-agent-page--mark "waits for its turn" 'org-agent-page-question))
             (t (org-agent-page--kind beg))))
      (org-agent-page--question beg stars title-end end))
     ((member "agent" tags)
      (org-agent-page--answer beg stars title-end end tags))
     ((or (member "draft" tags) (org-agent-page--draft-p beg))
      (when tags-from
        (org-agent-page--tags (min end (1+ tags-from)) end tags
                              (org-agent-page--kind beg)))
      (org-agent-page--question beg stars title-end end))
     ;; A heading of level one that is no turn is the person's own.
     ((> stars (+ beg 2))
      (org-agent-layout-hide beg stars)
      (add-face-text-property stars title-end 'org-agent-page-part)))))

(defun org-agent-page--mark (words &rest faces)
  "Return WORDS as they stand, quiet, behind the text of a heading.
FACES are those of the line."
  (propertize (concat "  " words) 'face (cons 'org-agent-page-quiet faces)))

(defun org-agent-page--kind (heading)
  "Return what is said of the question at HEADING when it is unlike others.
That is nil, or that it was asked in place of another, or does not belong
to the thread of the conversation."
  (let ((properties (save-match-data (org-agent-heading-properties heading))))
    (cond ((assoc "INSTEAD" properties)
           (org-agent-page--mark "asked anew" 'org-agent-page-question))
          ((or (equal (cdr (assoc "HISTORY" properties)) "branch")
               (> (org-agent-heading-level heading) 1))
           (org-agent-page--mark "branch" 'org-agent-page-question)))))

(defun org-agent-page--preferred (heading)
  "Return what tells the answer at HEADING from another one, or nil."
  (cond ((org-agent-heading-property heading "PREFERRED")
         (org-agent-page--mark "preferred"))
        ((org-agent-heading-another-answer-p heading)
         (org-agent-page--mark "another answer"))))

(defun org-agent-page--unsent (heading)
  "Return what is said of the question at HEADING, which the kernel lacks."
  (let ((under-way (save-match-data
                     (org-agent-send-under-way
                      (org-agent-heading-property heading "ID")))))
    (propertize (concat "  " (or under-way "not sent; C-c C-c sends it"))
                'face (list (if under-way 'org-agent-page-quiet
                              'org-agent-page-unfinished)
                            'org-agent-page-question))))

(defun org-agent-page--draft-p (heading)
  "Return non-nil when HEADING, which is no turn, is behind all turns.
It is of level one, and so is not a part of an answer."
  (save-excursion
    (save-match-data
      (goto-char heading)
      (and (looking-at-p "\\* ")
           (not (re-search-forward org-agent-heading-turn-regexp nil t))))))

(defconst org-agent-page--machine-tags '("user" "agent" "draft" "unsent")
  "Tags that tell programs what a heading is.")

(defun org-agent-page--tags (beg end tags note)
  "Hide what programs read of TAGS, which stand from BEG to END.
NOTE, a string, empty or nil, says the same to people."
  (let ((own (cl-set-difference tags org-agent-page--machine-tags :test #'equal)))
    ;; A blank that is typed behind the words is hidden with the tags.  What
    ;; is typed behind it is not.
    (put-text-property beg end 'rear-nonsticky '(display invisible))
    (cond (own (org-agent-page--instead
                beg end (concat note "  :" (string-join (seq-intersection tags own) ":") ":")))
          ((and note (not (string-empty-p note)))
           (org-agent-page--instead beg end note))
          (t (org-agent-layout-hide beg end)))))

(defun org-agent-page--question (beg stars title-end end)
  "Show the heading from BEG to END as a question.
Its text is from STARS to TITLE-END."
  (org-agent-page--instead beg stars (org-agent-page--prompt))
  (add-face-text-property stars title-end 'org-agent-page-question-title)
  (add-face-text-property beg (min (1+ end) (point-max))
                          'org-agent-page-question t)
  (org-agent-page--gap beg))

;; An answer that failed is told apart by its mark and face alone: its
;; title says so in words.
(defconst org-agent-page--states
  '(("cancelled" . "stopped") ("interrupted" . "broke off")
    ("truncated" . "cut short"))
  "What people call the states of an answer that is not whole.")

(defconst org-agent-page--asks
  '(("TODO" ("◆ " . "? ") org-agent-page-unfinished)
    ("DONE" ("✓ " . "+ ") org-agent-page-quiet)
    ("CANCELLED" ("✗ " . "- ") org-agent-page-quiet))
  "How a heading that asks a person something begins.
That is its keyword in the file, what one sees instead, and its face.")

(defun org-agent-page--ask (heading stars)
  "Return what the page has for the HEADING whose text begins at STARS.
That is nil unless it asks, or asked, a person something; else an element
of `org-agent-page--asks'."
  (save-excursion
    (save-match-data
      (goto-char stars)
      (when-let* ((keyword (and (looking-at "\\(TODO\\|DONE\\|CANCELLED\\) ")
                                (match-string 1)))
                  ((org-agent-heading-property heading "ASKS")))
        (assoc keyword org-agent-page--asks)))))

(defun org-agent-page--answer (beg stars title-end end tags)
  "Show the heading from BEG to END as an answer.
Its text is from STARS to TITLE-END, its TAGS follow."
  (let* ((state (save-match-data (org-agent-heading-property beg "STATE")))
         (failed (equal state "failed"))
         (mark
          (concat
           (and state (not failed)
                ;; Where there was no text yet, the title says it.
                (not (member (buffer-substring-no-properties stars title-end)
                             '("Stopped" "Interrupted")))
                (propertize (concat "  " (or (cdr (assoc state org-agent-page--states))
                                             state))
                            'face 'org-agent-page-unfinished))
           (save-match-data (org-agent-page--preferred beg))))
         (ask (org-agent-page--ask beg stars)))
    (org-agent-page--tags title-end end tags mark)
    (pcase ask
      (`(,keyword (,glyph . ,simpler) ,face)
       (org-agent-page--instead beg (+ stars (length keyword) 1)
                                (org-agent-page--glyph glyph simpler face)))
      ((guard failed)
       (org-agent-page--instead
        beg stars (org-agent-page--glyph "✗ " "! " 'org-agent-page-trouble)))
      (_ (org-agent-layout-hide beg stars)))
    (unless (if (string-empty-p mark)
                (org-agent-layout-joined beg stars title-end end)
              (org-agent-layout-mark beg stars title-end end (string-trim-left mark)))
      (add-face-text-property
       stars title-end
       (cond ((equal (car ask) "TODO") 'org-agent-page-answer-title)
             (ask 'org-agent-page-quiet)
             (failed 'org-agent-page-trouble)
             ((eq (char-before title-end) ?…) 'org-agent-page-excerpt)
             (t 'org-agent-page-answer-title))))))

;;;; Room between turns

(defconst org-agent-page--room
  (concat (propertize " " 'cursor t) "\n"
          (propertize "\n" 'face '(:inherit default :extend t)))
  "The end of a line and a free line, which is no part of any band.
Emacs draws the cursor of the end of the line on the blank.  Without it,
Emacs would draw that on the free line.")

(defun org-agent-page--room (table)
  "Return what stands instead of the end of a line above a question.
A row of a TABLE may be as wide as the window, and has no room for more."
  (if table (substring org-agent-page--room 1) org-agent-page--room))

(defun org-agent-page--room-p (position)
  "Return non-nil when a free line follows the line that ends at POSITION."
  (let ((shown (get-text-property position 'display)))
    (and (stringp shown) (string-suffix-p "\n\n" shown))))

(defun org-agent-page--gap (heading)
  "Leave a line free above HEADING, but not at the beginning of the buffer."
  (when (> heading (point-min))
    (org-agent-page--instead
     (1- heading) heading
     (org-agent-page--room (save-excursion
                             (goto-char (1- heading))
                             (forward-line 0)
                             (looking-at-p "[ \t]*|"))))))

(defun org-agent-page--draw-again (position)
  "Have Emacs draw the character at POSITION again, soon.
When text is highlighted while it is drawn, what is before it has been
drawn already."
  (run-with-timer
   0 nil
   (lambda (marker)
     (when-let* ((buffer (marker-buffer marker)))
       (with-current-buffer buffer
         (org-agent-heading-widely
           (with-silent-modifications
             ;; Any change of a property will do.
             (put-text-property marker (min (point-max) (1+ marker))
                                'org-agent-page-drawn (list t)))))
       (set-marker marker nil)))
   (copy-marker position)))

(defun org-agent-page--gap-gone (from)
  "Take the free line above FROM away if no question begins there any more.
Text came between the question and the character that has the free line."
  (when (and (> from (point-min))
             (org-agent-page--room-p (1- from)))
    (remove-list-of-text-properties (1- from) from '(display))
    (org-agent-page--gap-before from)))

(defun org-agent-page--gap-before (limit)
  "Leave a line free above the question that begins at LIMIT, if one does.
The free line belongs to the character before LIMIT, which was
highlighted anew while the question was not."
  (when (org-agent-page--question-at-p limit)
    (org-agent-page--gap limit)))

(defun org-agent-page--question-at-p (position)
  "Return non-nil when a question or a draft begins at POSITION."
  (save-excursion
    (goto-char position)
    (and (bolp)
         (looking-at-p "\\*+ ")
         (or (org-agent-page--draft-p position)
             (seq-intersection (org-agent-heading-tags position)
                               '("user" "draft"))))))

(defun org-agent-page-with-room (text position)
  "Leave room behind TEXT, whole lines to be inserted at POSITION; return it.
That is a free line if a question begins there.  Nobody highlights the
last line while it is being written.  TEXT is a new string, whose text
properties change."
  (when (and org-agent-page--shown
             ;; Where there is room already nobody looks for the question.
             (or (and (> position (point-min))
                      (org-agent-page--room-p (1- position)))
                 (org-agent-page--question-at-p position)))
    (put-text-property (1- (length text)) (length text) 'display
                       (org-agent-page--room
                        (string-match-p "^[ \t]*|.*\n\\'" text))
                       text))
  text)

(defun org-agent-page-without-room (position)
  "Take the free line before POSITION away, since text comes there."
  (when (and org-agent-page--shown
             (> position (point-min))
             (org-agent-page--room-p (1- position)))
    (with-silent-modifications
      (remove-list-of-text-properties (1- position) position '(display)))))

(defun org-agent-page-sketch (beg bound from end)
  "Show the text from FROM to END, which is being written, as it will look.
It begins at BEG, is highlighted up to BOUND, and no code is open there."
  (when org-agent-page--shown
    (save-excursion
      (with-silent-modifications
        (org-agent-fontify-sketch beg bound from end)))))

;;;; The body of a question

(defconst org-agent-page--farthest 4000
  "How many characters above a line its heading is looked for.
Whoever pastes more into a question sees the band end there.")

(defun org-agent-page--question-body (from limit)
  "Put the lines of questions between FROM and LIMIT on the band.
That is what stands between a question's heading and the next heading."
  (goto-char from)
  (let ((heading (and (not (looking-at-p "\\*+ "))
                      (re-search-backward
                       "^\\*+ " (max (point-min) (- from org-agent-page--farthest)) t))))
    (goto-char from)
    (while (or heading (re-search-forward "^\\*+ " limit t))
      (let* ((beg (or heading (match-beginning 0)))
             (body (progn (goto-char beg) (line-beginning-position 2)))
             (end (progn (forward-line)
                         (if (re-search-forward "^\\*+ " limit t)
                             (match-beginning 0)
                           limit))))
        (setq heading nil)
        (when (and (< body end)
                   (or (member "user" (org-agent-heading-tags beg))
                       (org-agent-page--draft-p beg)))
          (add-face-text-property (max body from) end
                                  'org-agent-page-question t))
        (goto-char end)))))

;;;; What is highlighted together, and what Org folds

(defun org-agent-page--extend-region ()
  "Extend the region to be highlighted to whole drawers, with their heading.
A heading whose text begins the region belongs to it, too, and so do the
row above that of a table and the line below a drawer: how it begins may
be shown in the heading.
Return non-nil when that changed it."
  (when org-agent-page--shown
    (let ((beg font-lock-beg) (end font-lock-end))
      (setq font-lock-beg (org-agent-fontify-joined-edge
                           (org-agent-layout-start
                            (org-agent-fontify-drawer-edge beg #'car)))
            font-lock-end (org-agent-page--below-drawers end))
      (not (and (= beg font-lock-beg) (= end font-lock-end))))))

(defun org-agent-page--extend-change (beg end _length)
  "Return the region to be highlighted after a change from BEG to END.
Redisplay highlights nothing that is hidden, as drawers are.  What a
property changes is seen in the heading, which is not."
  (and org-agent-page--shown
       (cons (org-agent-fontify-drawer-edge beg #'car) end)))

(defun org-agent-page--below-drawers (position)
  "Return the end of the text to be highlighted up to POSITION.
That is the end of a drawer that POSITION is within, and of the line
below it, if there is one."
  (save-excursion
    (let (before)
      (while (progn
               (setq before position
                     position (org-agent-fontify-drawer-edge position #'cdr))
               (goto-char position)
               (when (and (bolp) (zerop (forward-line -1))
                          (looking-at-p "[ \t]*:END:[ \t]*$"))
                 (forward-line 2)
                 (setq position (point)))
               (/= position before))))
    position))

;;;###autoload
(defun org-agent-page-unfolded (state)
  "Look again at what Org has folded or unfolded, as STATE says.
That is for `org-cycle-hook'.  A drawer that a page hides or has as a
line must not be folded as well: one would see its ellipsis.  And the
title of an answer may be seen only while it is folded."
  (when org-agent-page--shown
    (save-excursion
      (pcase-let ((`(,beg . ,end)
                   (if (or (memq state '(overview contents all))
                           (not (ignore-errors (org-back-to-heading t))))
                       (cons (point-min) (point-max))
                     (cons (point) (save-excursion (org-end-of-subtree t t))))))
        (if (fboundp 'org-fold-region)  ; Org 9.6
            (funcall 'org-fold-region beg end nil 'drawer)
          (dolist (overlay (overlays-in beg end))
            (when (and (eq (overlay-get overlay 'invisible) 'outline)
                       (progn (goto-char (overlay-start overlay))
                              (forward-line 0)
                              (let ((case-fold-search t))
                                (looking-at-p org-agent-fontify-drawer-start))))
              (delete-overlay overlay))))
        (font-lock-flush beg end)))))

(defun org-agent-page--property-set (&rest _)
  "Unfold the drawer of this heading, which Org folds when it makes one."
  (org-agent-page-unfolded 'subtree))

(defun org-agent-page-toggle-drawer ()
  "Do what TAB does on the line of thoughts, calls or a subagent.
On that of a long change, which waits for approval, show all of it.
Return nil elsewhere.  This is for `org-tab-first-hook'."
  (and org-agent-page--shown
       (or (org-agent-fold-toggle-drawer) (org-agent-fold-unfold-change))))

(defun org-agent-page-show-rest ()
  "In the first line of the draft, show all of the changes that wait.
Return nil elsewhere.  This is for `org-tab-first-hook'."
  (and org-agent-page--shown (org-agent-fold-unfold-above)))

(provide 'org-agent-page)
;;; org-agent-page.el ends here
