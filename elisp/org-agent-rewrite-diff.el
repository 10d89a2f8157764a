;;; org-agent-rewrite-diff.el --- The diff of a region that was rewritten  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A text that is being rewritten, and the buffer that shows what would
;; become of it.  What a model wrote is data here: no mode but that of
;; diffs looks at it, and nothing in it is evaluated.  It comes into the
;; person's buffer when they accept it, as one undo step, and only in the
;; place of the text that the diff was made of.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'diff)
(require 'diff-mode)
(require 'org-agent-await)
(require 'org-agent-ediff)

(declare-function org-agent-rewrite--read-wish "org-agent-rewrite")
(declare-function org-agent-rewrite--send "org-agent-rewrite")

(cl-defstruct (org-agent-rewriting (:copier nil))
  "A text that is being rewritten.
It stands from BEG to END, two markers; NAME is its buffer's."
  id beg end name wish
  (indentation "" :documentation "What all its lines begin with.")
  (partial nil :documentation "Non-nil when its first line does not begin a line.")
  (sent nil :documentation "The text as it was when it was sent.")
  (proposal nil :documentation "The new text, nil before it came.")
  (shown nil :documentation "The text that the diff was made of."))

(defvar-local org-agent-rewrite--this nil
  "What this buffer shows the rewriting of.")

;;;; The text

(defun org-agent-rewrite--text (rewriting)
  "Return the text of REWRITING as it stands, nil when its buffer is gone."
  (when-let ((buffer (marker-buffer (org-agent-rewriting-beg rewriting))))
    (with-current-buffer buffer
      (save-restriction
        (widen)
        (buffer-substring-no-properties (org-agent-rewriting-beg rewriting)
                                        (org-agent-rewriting-end rewriting))))))

;;;; The diff

(defun org-agent-rewrite--buffer (rewriting)
  "Return the buffer that shows REWRITING, made if there is none."
  (or (cl-find rewriting (buffer-list)
               :key (lambda (buffer)
                      (buffer-local-value 'org-agent-rewrite--this buffer)))
      (generate-new-buffer (format "*org-agent-rewrite: %s*"
                                   (org-agent-rewriting-name rewriting)))))

(defun org-agent-rewrite--draw (rewriting)
  "Show the difference that REWRITING would make now; return the buffer."
  (let* ((now (org-agent-rewrite--text rewriting))
         (proposal (org-agent-rewriting-proposal rewriting))
         (buffer (org-agent-rewrite--buffer rewriting))
         (name (org-agent-rewriting-name rewriting)))
    (setf (org-agent-rewriting-shown rewriting) now)
    (with-current-buffer buffer
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert (org-agent-rewrite--diff (or now "") proposal name)))
      (unless (derived-mode-p 'org-agent-rewrite-mode)
        (org-agent-rewrite-mode))
      (setq org-agent-rewrite--this rewriting)
      (setq header-line-format
            (org-agent-rewrite--header
             (cond ((null now) (format "%s is gone; w copies the new text" name))
                   ((not (equal now (org-agent-rewriting-sent rewriting)))
                    "The text has changed since it was sent; this is the difference to what it is now"))))
      (goto-char (point-min)))
    buffer))

(defun org-agent-rewrite--header (trouble)
  "Return the header line of a diff; TROUBLE is what is to be known, or nil."
  (concat (and trouble (propertize (concat " " (string-replace "%" "%%" trouble))
                                   'face 'warning))
          (substitute-command-keys
           (concat " \\<org-agent-rewrite-mode-map>\\[org-agent-rewrite-accept] accept"
                   "  \\[org-agent-rewrite-reject] reject"
                   "  \\[org-agent-rewrite-ediff] ediff"
                   "  \\[org-agent-rewrite-again] again, otherwise"
                   "  \\[org-agent-rewrite-copy] copy"))))

(defun org-agent-rewrite--diff (old new name)
  "Return the difference between OLD and NEW, texts of NAME, as a unified diff."
  (let ((files (list (make-temp-file "org-agent-old")
                     (make-temp-file "org-agent-new")))
        (coding-system-for-read 'utf-8-emacs-unix)
        (coding-system-for-write 'utf-8-emacs-unix)
        (default-directory temporary-file-directory))
    (unwind-protect
        (with-temp-buffer
          (cl-loop for file in files
                   for text in (list old new)
                   do (write-region (concat text "\n") nil file nil 'silent))
          (condition-case nil
              (apply #'call-process diff-command nil t nil "-u" "-a"
                     "--label" (concat name " as it is")
                     "--label" (concat name " as proposed") files)
            (file-missing (org-agent-rewrite--whole-diff old new name)))
          (buffer-string))
      (mapc #'delete-file files))))

(defun org-agent-rewrite--whole-diff (old new name)
  "Insert a diff that takes all of OLD away and adds all of NEW, texts of NAME.
It is for a machine that has no program for diffs."
  (let ((old (split-string old "\n")) (new (split-string new "\n")))
    (insert (format "--- %s as it is\n+++ %s as proposed\n@@ -1,%d +1,%d @@\n"
                    name name (length old) (length new))
            (mapconcat (lambda (line) (concat "-" line "\n")) old "")
            (mapconcat (lambda (line) (concat "+" line "\n")) new ""))))

(defvar org-agent-rewrite-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map special-mode-map)
    (pcase-dolist
        (`(,key ,name ,command)
         '(("C-c C-c" "accept" org-agent-rewrite-accept)
           ("C-c C-k" "reject" org-agent-rewrite-reject)
           ("e" "compare with ediff" org-agent-rewrite-ediff)
           ("r" "again, otherwise" org-agent-rewrite-again)
           ("w" "copy the new text" org-agent-rewrite-copy)
           ("g" "compare anew" org-agent-rewrite-refresh)
           ("n" "next change" diff-hunk-next)
           ("p" "previous change" diff-hunk-prev)
           ("RET" "go to the text" org-agent-rewrite-go)))
      (define-key map (kbd key) (cons name command)))
    map)
  "Keys in the diff of a text that was rewritten.")

(define-derived-mode org-agent-rewrite-mode diff-mode "Org-Agent-Rewrite"
  "Major mode of the diff of a text that was rewritten.
\\<org-agent-rewrite-mode-map>\\[org-agent-rewrite-accept] puts the new text \
in the place of the old one, as one undo step; \\[org-agent-rewrite-reject]
does not.  \\[org-agent-rewrite-ediff] compares both with Ediff, where the new \
one can be edited, and
\\[org-agent-rewrite-again] has the old one rewritten in another way.

\\{org-agent-rewrite-mode-map}"
  ;; The keys of Diff mode edit diffs and look for files; text from a model
  ;; is not fontified by the mode of its language, whatever that does.
  (use-local-map org-agent-rewrite-mode-map)
  (setq-local minor-mode-overriding-map-alist nil
              diff-font-lock-syntax nil
              diff-font-lock-prettify nil
              enable-local-variables nil)
  (setq buffer-read-only t)
  (add-hook 'kill-buffer-hook #'org-agent-rewrite--forget nil t))

(defun org-agent-rewrite--forget ()
  "Note that nobody waits for what this buffer would show."
  (when org-agent-rewrite--this
    (org-agent-await-forget (org-agent-rewriting-id org-agent-rewrite--this))))

;;;; Deciding

(defun org-agent-rewrite--here ()
  "Return the rewriting of this buffer, a diff or the buffer of a text.
Signal an error when there is none."
  (or org-agent-rewrite--this
      (let ((buffer (current-buffer)))
        (cl-loop for other in (buffer-list)
                 for rewriting = (buffer-local-value 'org-agent-rewrite--this
                                                     other)
                 when (and rewriting
                           (eq buffer (marker-buffer
                                       (org-agent-rewriting-beg rewriting))))
                 return rewriting))
      (user-error "Nothing was rewritten here; M-x org-agent-rewrite has the region rewritten")))

(defun org-agent-rewrite-accept ()
  "Put the new text in the place of the old one, as one undo step.
If the text is not what the diff was made of, show the difference to
what it is now instead; then this applies that."
  (interactive)
  (let* ((rewriting (org-agent-rewrite--here))
         (now (org-agent-rewrite--text rewriting))
         (name (org-agent-rewriting-name rewriting)))
    (cond
     ((null now)
      (user-error "%s is gone; `w' copies the new text" name))
     ((not (equal now (org-agent-rewriting-shown rewriting)))
      (display-buffer (org-agent-rewrite--draw rewriting))
      (user-error "The text of %s has changed; this is the difference to what it is now" name)))
    (org-agent-rewrite--apply rewriting)
    (org-agent-rewrite--close rewriting)
    (message "The new text is in %s; undo takes it back" name)))

(defun org-agent-rewrite--apply (rewriting)
  "Put the new text of REWRITING in the place of the old one."
  (let ((beg (marker-position (org-agent-rewriting-beg rewriting)))
        (end (marker-position (org-agent-rewriting-end rewriting)))
        (source (generate-new-buffer " *org-agent-rewritten*" t)))
    (unwind-protect
        (progn
          (with-current-buffer source
            (insert (org-agent-rewriting-proposal rewriting)))
          (with-current-buffer (marker-buffer (org-agent-rewriting-beg rewriting))
            (barf-if-buffer-read-only)
            (undo-boundary)
            (atomic-change-group
              (save-restriction
                (widen)
                (narrow-to-region beg end)
                (org-agent-rewrite--replace source)
                (set-marker (org-agent-rewriting-beg rewriting) (point-min))
                (set-marker (org-agent-rewriting-end rewriting) (point-max))))
            (undo-boundary)))
      (kill-buffer source))))

(defun org-agent-rewrite--replace (source)
  "Make the accessible text that of the buffer SOURCE.
Point, marks and markers stay in the text they are in.  Where finding
that would take long all is replaced, and point keeps its line."
  (let ((line (line-number-at-pos)) (column (current-column))
        (inside (<= (point-min) (point) (point-max))))
    (unless (replace-buffer-contents source 1.0)
      (when inside
        (goto-char (point-min))
        (forward-line (1- line))
        (move-to-column column)))))

(defun org-agent-rewrite--close (rewriting)
  "Take the diff of REWRITING away, with its windows."
  (let ((buffer (org-agent-rewrite--buffer rewriting)))
    (dolist (window (get-buffer-window-list buffer nil t))
      (quit-restore-window window 'bury))
    (kill-buffer buffer)
    (set-marker (org-agent-rewriting-beg rewriting) nil)
    (set-marker (org-agent-rewriting-end rewriting) nil)))

(defun org-agent-rewrite-reject ()
  "Leave the text as it is and forget the new one.
It stays in its conversation."
  (interactive)
  (let ((rewriting (org-agent-rewrite--here)))
    (org-agent-rewrite--close rewriting)
    (message "%s stays as it is" (org-agent-rewriting-name rewriting))))

(defun org-agent-rewrite-again (wish)
  "Have the text, as it now stands, rewritten again, as WISH says.
The new text comes in the place of the one that is shown."
  (interactive
   (progn (org-agent-rewrite--here)
          (list (org-agent-rewrite--read-wish "it again"))))
  (let ((rewriting (org-agent-rewrite--here)))
    (unless (org-agent-rewrite--text rewriting)
      (user-error "%s is gone" (org-agent-rewriting-name rewriting)))
    (org-agent-await-forget (org-agent-rewriting-id rewriting))
    (org-agent-rewrite--send rewriting wish)
    (message "It is being rewritten; you will be shown the difference")))

(defun org-agent-rewrite-copy ()
  "Copy the new text, as if it were killed."
  (interactive)
  (kill-new (org-agent-rewriting-proposal (org-agent-rewrite--here)))
  (message "Copied"))

(defun org-agent-rewrite-refresh ()
  "Show the difference to what the text is now."
  (interactive)
  (org-agent-rewrite--draw (org-agent-rewrite--here)))

(defun org-agent-rewrite-go ()
  "Go to the text that was rewritten."
  (interactive)
  (let ((beg (org-agent-rewriting-beg (org-agent-rewrite--here))))
    (unless (buffer-live-p (marker-buffer beg))
      (user-error "Its buffer is gone"))
    (pop-to-buffer (marker-buffer beg))
    (goto-char beg)))

(defun org-agent-rewrite-ediff ()
  "Compare the text with the new one, which can be edited, with Ediff.
What it is when Ediff ends is what \\[org-agent-rewrite-accept] applies."
  (interactive)
  (let ((rewriting (org-agent-rewrite--here)))
    (org-agent-ediff
     (or (org-agent-rewrite--text rewriting)
         (user-error "%s is gone" (org-agent-rewriting-name rewriting)))
     (org-agent-rewriting-proposal rewriting)
     (lambda (text)
       (when text
         (setf (org-agent-rewriting-proposal rewriting) text))
       (pop-to-buffer (org-agent-rewrite--draw rewriting))))))

(provide 'org-agent-rewrite-diff)
;;; org-agent-rewrite-diff.el ends here
