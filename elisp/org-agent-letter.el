;;; org-agent-letter.el --- A long approval on a page  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What waits for approval stands in its conversation as a letter: what the
;; agent asks for, why, the change itself, and the choices.  A change may
;; have more lines than a window.  Whoever decides sees how the letter begins
;; and what the choices are.  So of a long change the first lines are shown,
;; and a line that says how many more there are.  TAB shows them.
;;
;; The functions here are called for blocks that `org-agent-layout.el' lays
;; out, and set text properties.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent)
(require 'org-agent-heading)
(require 'org-agent-layout)

(defconst org-agent-letter--fewest 6
  "How many lines of a change are shown at least.")

(defconst org-agent-letter--beside 5
  "The lines of a window that a letter leaves free.
There is the draft with the line above it, and the last two lines are
those of a message; one is for a line of the letter that is wrapped.")

(defun org-agent-letter--heading (position)
  "Return the heading of the open approval that POSITION is in, or nil."
  (when-let* ((heading (org-agent-heading-at position))
              ((save-excursion
                 (goto-char heading)
                 (let ((case-fold-search nil))
                   (looking-at-p "\\*+ TODO "))))
              ((equal (org-agent-heading-property heading "ASKS") "approval")))
    heading))

(defun org-agent-letter--least (body end)
  "Return how many lines of the text from BODY to END are shown at least.
The first lines that a diff changes are among them, also behind lines
that stay."
  (save-excursion
    (goto-char body)
    (max org-agent-letter--fewest
         (if (re-search-forward "^[-+]\\(?:[^-+]\\|$\\)" end t)
             (+ 2 (count-lines body (line-end-position)))
           0))))

(defun org-agent-letter--room (heading beg body end)
  "Return for how many lines of the block from BEG to END there is room.
Its text begins at BODY, and HEADING is that of its letter.  The smallest
window counts."
  (let* ((windows (get-buffer-window-list nil 'no-minibuffer 'visible))
         (height (if windows
                     (apply #'min (mapcar #'window-body-height windows))
                   24))
         (first (or (cdr (assq t (org-agent-heading-properties heading))) heading))
         (last (org-agent-heading-subtree-end heading)))
    (max (org-agent-letter--least body end)
         (- height 1                    ; the heading
            (count-lines (min first beg) beg)
            1                           ; the name of the language
            (count-lines end (max end last))
            org-agent-letter--beside))))

;;;###autoload
(defun org-agent-letter-shorten (beg body end)
  "Show only the first lines of the block from BEG to END if it is long.
Its text begins at BODY.  Do nothing unless it is the first block of an
open approval: what else is offered there is listed whole."
  (save-match-data
    (when-let* (((> (count-lines body end) (1+ org-agent-letter--fewest)))
                ((not (get-text-property body 'org-agent-letter-whole)))
                (heading (org-agent-letter--heading beg))
                ((save-excursion
                   (goto-char heading)
                   (let ((case-fold-search t))
                     (re-search-forward "^[ \t]*#\\+begin_" (+ beg 8) t)
                     (= (line-beginning-position) beg))))
                (room (org-agent-letter--room heading beg body end))
                ;; The last line of the block is not seen.
                (more (- (count-lines body end) 1 room))
                ((> more 1)))
      (save-excursion
        (goto-char body)
        (forward-line room)
        (put-text-property
         (point) (1+ (point)) 'display
         (propertize (concat (org-agent-layout-glyph "▸ " "+ ")
                             (org-agent-counted more "more line") "; TAB shows them")
                     'face '(org-agent-page-unfinished org-agent-layout-code)
                     'org-agent-letter t))
        (org-agent-layout-hide (1+ (point)) end)))))

(defun org-agent-letter--shortened (heading)
  "Return (BEG . END) of the shortened block in the letter at HEADING, or nil."
  (save-excursion
    (goto-char heading)
    (let ((last (org-agent-heading-subtree-end heading))
          (case-fold-search t))
      (when-let* ((beg (and (re-search-forward "^[ \t]*#\\+begin_" last t)
                            (line-beginning-position)))
                  (end (next-single-property-change beg 'font-lock-multiline nil last))
                  ((text-property-not-all beg end 'org-agent-letter-whole t))
                  ((cl-loop for at = beg then (next-single-property-change
                                               at 'display nil end)
                            while (< at end)
                            for shown = (get-text-property at 'display)
                            thereis (and (stringp shown)
                                         (get-text-property 0 'org-agent-letter
                                                            shown)))))
        (cons beg end)))))

;;;###autoload
(defun org-agent-letter-unfold ()
  "Show all of the change in whose letter point is, if some is not seen.
Return nil elsewhere, and on the heading."
  (when-let* ((heading (org-agent-letter--heading (point)))
              ((< heading (line-beginning-position)))
              (block (org-agent-letter--shortened heading)))
    (with-silent-modifications
      (put-text-property (car block) (cdr block) 'org-agent-letter-whole t))
    (font-lock-flush (car block) (cdr block))
    (font-lock-ensure (car block) (cdr block))
    t))

(provide 'org-agent-letter)
;;; org-agent-letter.el ends here
