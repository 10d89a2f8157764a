;;; org-agent-rewrite.el --- Rewrite a region, and review the diff  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-rewrite' sends the region and a wish to the skill with the
;; command /rewrite, in a conversation of its own.  The new text is shown as
;; a diff.  The indentation that all lines share is removed before the text
;; is sent, since models lose it, and is added to the new text.
;;
;; The new text is data: only Diff mode highlights it, and nothing in it is
;; evaluated.  When the person accepts it, it replaces the text that the
;; diff was made from, as one undo step.

;;; Code:

(require 'cl-lib)
(require 'diff)
(require 'diff-mode)
(require 'org-id)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-chat)
(require 'org-agent-send)
(require 'org-agent-command)
(require 'org-agent-pending)
(require 'org-agent-section)
(require 'org-agent-turn)
(require 'org-agent-undo)

(declare-function org-agent-ask-body "org-agent-ask")
(declare-function org-agent-markup-words "org-agent-markup")
(declare-function org-agent-ask-close "org-agent-ask")
(declare-function org-agent-ask-show "org-agent-ask")
(declare-function org-agent-diff-close "org-agent-diff")
(declare-function org-agent-diff-ediff "org-agent-diff")

;;;; A text that is being rewritten

(cl-defstruct (org-agent-rewrite-job (:copier nil))
  "A text that is being rewritten.
It is from BEG to END, two markers; NAME is the name of its buffer."
  id beg end name wish
  (indentation "" :documentation "What all its lines begin with.")
  (partial nil :documentation "Non-nil when its first line does not begin a line.")
  (sent nil :documentation "The text as it was when it was sent.")
  (awaited nil :documentation "Non-nil while a new text is to come.")
  (overlay nil :documentation "What shows that at the text.")
  (proposal nil :documentation "The new text, nil before it came.")
  (shown nil :documentation "The text that the diff was made from."))

(defvar org-agent-rewrite-session)

(defvar-local org-agent-rewrite--this nil
  "The `org-agent-rewrite-job' that this buffer shows.")

;;;; The text

(defun org-agent-rewrite--text (rewriting)
  "Return the text of REWRITING as it is now, nil when its buffer is gone."
  (when-let* ((buffer (marker-buffer (org-agent-rewrite-job-beg rewriting))))
    (with-current-buffer buffer
      (save-restriction
        (widen)
        (buffer-substring-no-properties (org-agent-rewrite-job-beg rewriting)
                                        (org-agent-rewrite-job-end rewriting))))))

;;;; While a new text is to come

(defun org-agent-rewrite--await (rewriting)
  "Show at the text of REWRITING that a new one is to come."
  (org-agent-rewrite--settle rewriting)
  (setf (org-agent-rewrite-job-awaited rewriting) t
        (org-agent-rewrite-job-overlay rewriting)
        (org-agent-pending-show
         (org-agent-rewrite-job-beg rewriting) (org-agent-rewrite-job-end rewriting)
         "being rewritten; \\<org-agent-pending-map>\\[org-agent-stop-here] in it stops that"
         (lambda () (org-agent-rewrite--stop rewriting)))))

(defun org-agent-rewrite--settle (rewriting)
  "Show no more that a new text for REWRITING is to come."
  (org-agent-pending-hide (org-agent-rewrite-job-overlay rewriting))
  (setf (org-agent-rewrite-job-awaited rewriting) nil
        (org-agent-rewrite-job-overlay rewriting) nil))

(defun org-agent-rewrite--stop (rewriting)
  "Stop REWRITING; its text stays as it is."
  (org-agent-turn-forget (org-agent-rewrite-job-id rewriting))
  (org-agent-turn-cancel (org-agent-rewrite-job-id rewriting))
  (org-agent-rewrite--settle rewriting)
  (org-agent-rewrite--draw-again rewriting)
  (message "Stopped; %s stays as it is" (org-agent-rewrite-job-name rewriting)))

;;;; The diff

(defun org-agent-rewrite--drawn (rewriting)
  "Return the buffer that shows REWRITING, or nil."
  (cl-find rewriting (buffer-list)
           :key (lambda (buffer)
                  (buffer-local-value 'org-agent-rewrite--this buffer))))

(defun org-agent-rewrite--buffer (rewriting)
  "Return the buffer that shows REWRITING, made if there is none."
  (or (org-agent-rewrite--drawn rewriting)
      (generate-new-buffer (format "*org-agent-rewrite: %s*"
                                   (org-agent-rewrite-job-name rewriting)))))

(defun org-agent-rewrite--draw (rewriting)
  "Show the diff of REWRITING to the text as it is now; return the buffer."
  (let* ((now (org-agent-rewrite--text rewriting))
         (proposal (org-agent-rewrite-job-proposal rewriting))
         (buffer (org-agent-rewrite--buffer rewriting))
         (name (org-agent-rewrite-job-name rewriting)))
    (setf (org-agent-rewrite-job-shown rewriting) now)
    (with-current-buffer buffer
      (unless (derived-mode-p 'org-agent-rewrite-mode)
        (org-agent-rewrite-mode))
      (org-agent-section-replace-text
       (org-agent-rewrite--diff (or now "") proposal name))
      (setq org-agent-rewrite--this rewriting)
      (setq header-line-format
            (org-agent-rewrite--header
             (cond ((null now) (format "%s is gone; w copies the new text" name))
                   ((org-agent-rewrite-job-awaited rewriting)
                    "Being rewritten again; this came before")
                   ((not (equal now (org-agent-rewrite-job-sent rewriting)))
                    "The text has changed since it was sent; this is the difference to what it is now")))))
    buffer))

(defun org-agent-rewrite--draw-again (rewriting)
  "Show the diff of REWRITING anew where it is shown."
  (when (org-agent-rewrite--drawn rewriting)
    (org-agent-rewrite--draw rewriting)))

(defun org-agent-rewrite--header (trouble)
  "Return the header line of a diff; TROUBLE is a warning or nil."
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
  "Insert a diff that removes all of OLD and adds all of NEW, texts of NAME.
It is for a machine without a diff program."
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
  "Keymap of the diff of a text that was rewritten.")

(define-derived-mode org-agent-rewrite-mode diff-mode "Org-Agent-Rewrite"
  "Major mode of the diff of a text that was rewritten.
\\<org-agent-rewrite-mode-map>\\[org-agent-rewrite-accept] puts the new text \
in the place of the old one, as one undo step; \\[org-agent-rewrite-reject]
does not.  \\[org-agent-rewrite-ediff] compares both with Ediff, where the new \
one can be edited, and
\\[org-agent-rewrite-again] has the old one rewritten in another way.

\\{org-agent-rewrite-mode-map}"
  :interactive nil
  ;; The keys of Diff mode edit diffs and look for files, so they are left
  ;; out.  No mode of a language highlights text from a model.
  (use-local-map org-agent-rewrite-mode-map)
  (setq-local minor-mode-overriding-map-alist nil
              diff-font-lock-syntax nil
              diff-font-lock-prettify nil
              enable-local-variables nil)
  (setq buffer-read-only t)
  (add-hook 'kill-buffer-hook #'org-agent-rewrite--forget nil t))

(defun org-agent-rewrite--forget ()
  "Stop waiting for a new text, since this buffer is killed."
  (when org-agent-rewrite--this
    (org-agent-turn-forget (org-agent-rewrite-job-id org-agent-rewrite--this))
    (org-agent-rewrite--settle org-agent-rewrite--this)))

;;;; Deciding

(defun org-agent-rewrite--here ()
  "Return the rewriting of this buffer, which is a diff or has the text.
Signal an error when there is none."
  (or org-agent-rewrite--this
      (let ((buffer (current-buffer)))
        (cl-loop for other in (buffer-list)
                 for rewriting = (buffer-local-value 'org-agent-rewrite--this
                                                     other)
                 when (and rewriting
                           (eq buffer (marker-buffer
                                       (org-agent-rewrite-job-beg rewriting))))
                 return rewriting))
      (user-error "Nothing was rewritten here; M-x org-agent-rewrite has the region rewritten")))

(defun org-agent-rewrite-accept ()
  "Replace the old text by the new one, as one undo step.
If the text has changed since the diff was made, show a new diff instead;
calling this command again applies it."
  (interactive)
  (let* ((rewriting (org-agent-rewrite--here))
         (now (org-agent-rewrite--text rewriting))
         (name (org-agent-rewrite-job-name rewriting)))
    (cond
     ((null now)
      (user-error "%s is gone; `w' copies the new text" name))
     ((not (equal now (org-agent-rewrite-job-shown rewriting)))
      (display-buffer (org-agent-rewrite--draw rewriting))
      (user-error "The text of %s has changed; this is the difference to what it is now" name)))
    (org-agent-rewrite--apply rewriting)
    (org-agent-rewrite--close rewriting)
    (message "The new text is in %s; undo restores the old one" name)))

(defun org-agent-rewrite--apply (rewriting)
  "Replace the text of REWRITING by the new one."
  (let ((beg (marker-position (org-agent-rewrite-job-beg rewriting)))
        (end (marker-position (org-agent-rewrite-job-end rewriting))))
    (with-current-buffer (marker-buffer (org-agent-rewrite-job-beg rewriting))
      (barf-if-buffer-read-only)
      (undo-boundary)
      (atomic-change-group
        (save-restriction
          (widen)
          (narrow-to-region beg end)
          (org-agent-rewrite--replace (org-agent-rewrite-job-proposal rewriting))
          (set-marker (org-agent-rewrite-job-beg rewriting) (point-min))
          (set-marker (org-agent-rewrite-job-end rewriting) (point-max))))
      (undo-boundary))))

(defun org-agent-rewrite--replace (text)
  "Make TEXT the accessible text.
Point, marks and markers stay in the text they are in.  If small changes
take too long to find, the whole text is replaced, and point keeps its
line and column."
  (let ((line (line-number-at-pos)) (column (current-column))
        (inside (<= (point-min) (point) (point-max))))
    (unless (org-agent-undo-replace-accessible text)
      (when inside
        (goto-char (point-min))
        (forward-line (1- line))
        (move-to-column column)))))

(defun org-agent-rewrite--close (rewriting)
  "Kill the diff of REWRITING, and delete its markers.
What was said in place of a later text is not needed any more either."
  (org-agent-ask-close org-agent-rewrite-session)
  (org-agent-rewrite--settle rewriting)
  (org-agent-diff-close (org-agent-rewrite--buffer rewriting))
  (set-marker (org-agent-rewrite-job-beg rewriting) nil)
  (set-marker (org-agent-rewrite-job-end rewriting) nil))

(defun org-agent-rewrite-reject ()
  "Leave the text as it is and close the diff.
The new text stays in its conversation."
  (interactive)
  (let ((rewriting (org-agent-rewrite--here)))
    (org-agent-rewrite--close rewriting)
    (message "%s stays as it is" (org-agent-rewrite-job-name rewriting))))

(defun org-agent-rewrite-again (wish)
  "Rewrite the text, as it is now, again, as WISH says.
The new text replaces the one that is shown."
  (interactive
   (progn (org-agent-rewrite--here)
          (list (org-agent-rewrite--read-wish "it again"))))
  (let ((rewriting (org-agent-rewrite--here)))
    (unless (org-agent-rewrite--text rewriting)
      (user-error "%s is gone" (org-agent-rewrite-job-name rewriting)))
    (org-agent-turn-forget (org-agent-rewrite-job-id rewriting))
    (org-agent-rewrite--send rewriting wish)
    (org-agent-rewrite--draw-again rewriting)
    (message "It is being rewritten; you will be shown the difference")))

(defun org-agent-rewrite-copy ()
  "Copy the new text, as if it were killed."
  (interactive)
  (kill-new (org-agent-rewrite-job-proposal (org-agent-rewrite--here)))
  (message "Copied"))

(defun org-agent-rewrite-refresh ()
  "Show the diff to the text as it is now."
  (interactive)
  (org-agent-rewrite--draw (org-agent-rewrite--here)))

(defun org-agent-rewrite-go ()
  "Go to the text that was rewritten."
  (interactive)
  (let ((beg (org-agent-rewrite-job-beg (org-agent-rewrite--here))))
    (unless (buffer-live-p (marker-buffer beg))
      (user-error "Its buffer is gone"))
    (pop-to-buffer (marker-buffer beg))
    (goto-char beg)))

(defun org-agent-rewrite-ediff ()
  "Compare the text with the new one, which can be edited, with Ediff.
When Ediff ends the diff shows the edited text, and \\[org-agent-rewrite-accept]
applies that."
  (interactive)
  (let ((rewriting (org-agent-rewrite--here)))
    (org-agent-diff-ediff
     (or (org-agent-rewrite--text rewriting)
         (user-error "%s is gone" (org-agent-rewrite-job-name rewriting)))
     (org-agent-rewrite-job-proposal rewriting)
     (lambda (text)
       (when text
         (setf (org-agent-rewrite-job-proposal rewriting) text))
       (pop-to-buffer (org-agent-rewrite--draw rewriting))))))

;;;; Options

(defcustom org-agent-rewrite-session "rewrite"
  "The conversation in which texts are rewritten."
  :type 'string
  :group 'org-agent-ask
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-rewrite-limit 400000
  "The length in characters of the longest text that is rewritten.")

(defvar org-agent-rewrite-history nil
  "History of wishes for texts that were rewritten.")

;;;; The region

(defun org-agent-rewrite--check (beg end)
  "Signal an error when the text from BEG to END cannot be rewritten."
  (when-let* ((reason (org-agent-command-private-p (current-buffer))))
    (user-error "%s is never sent, because %s" (buffer-name) reason))
  (cond
   (org-agent-chat-session
    (user-error "This is a conversation, and nobody rewrites what was said"))
   ((> (- end beg) org-agent-rewrite-limit)
    (user-error "The region has %d characters, more than the %d that can be rewritten at once"
                (- end beg) org-agent-rewrite-limit))
   ((string-blank-p (buffer-substring-no-properties beg end))
    (user-error "The region is blank; mark the text that is to be rewritten"))
   ((save-excursion
      (goto-char beg)
      (re-search-forward "[\x3fff80-\x3fffff]" end t))
    (user-error "The region contains bytes that are no text"))))

(defun org-agent-rewrite--bounds (beg end)
  "Return the bounds of the text from BEG to END without empty lines around it.
The result is (BEG . END); indentation before the text belongs to it."
  (save-excursion
    (goto-char beg)
    (skip-chars-forward "\n" end)
    (let ((from (point)))
      (when (string-blank-p (buffer-substring-no-properties
                             (line-beginning-position) from))
        (setq from (line-beginning-position)))
      (goto-char end)
      (skip-chars-backward "\n" from)
      (cons from (point)))))

(defun org-agent-rewrite--leading (line)
  "Return the blanks that LINE begins with."
  (substring line 0 (string-match-p "[^ \t]\\|\\'" line)))

(defun org-agent-rewrite--shared-indentation (beg end)
  "Return the blanks that all lines from BEG to END begin with.
The line that BEG is in counts from its own beginning; blank lines do
not count."
  (save-excursion
    (goto-char beg)
    (let ((shared nil))
      (dolist (line (split-string
                     (buffer-substring-no-properties (line-beginning-position)
                                                     end)
                     "\n"))
        (unless (string-blank-p line)
          (let ((leading (org-agent-rewrite--leading line)))
            (setq shared (if shared
                             (or (fill-common-string-prefix shared leading) "")
                           leading)))))
      (or shared ""))))

(defun org-agent-rewrite--map-lines (function rewriting text)
  "Return TEXT with FUNCTION applied to its lines.
Blank lines stay, and so does the first one if the text of REWRITING
begins within a line."
  (let ((first (org-agent-rewrite-job-partial rewriting)))
    (mapconcat (lambda (line)
                 (prog1 (if (or first (string-blank-p line))
                            line
                          (funcall function line))
                   (setq first nil)))
               (split-string text "\n") "\n")))

(defun org-agent-rewrite--outdent (rewriting text)
  "Return TEXT without the indentation that REWRITING's lines share."
  (let ((indentation (org-agent-rewrite-job-indentation rewriting)))
    (org-agent-rewrite--map-lines
     (lambda (line) (string-remove-prefix indentation line)) rewriting text)))

(defun org-agent-rewrite--indent (rewriting text)
  "Return TEXT with the indentation that REWRITING's lines share."
  (let ((indentation (org-agent-rewrite-job-indentation rewriting)))
    (org-agent-rewrite--map-lines
     (lambda (line) (concat indentation line)) rewriting text)))

;;;; Sending

(defun org-agent-rewrite--lines (beg end)
  "Return the line numbers of the text from BEG to END, in words."
  (let ((first (line-number-at-pos beg t))
        (last (line-number-at-pos (max beg (1- end)) t)))
    (if (= first last)
        (format "line %d" first)
      (format "lines %d-%d" first last))))

(defun org-agent-rewrite--read-wish (what)
  "Read how WHAT is to be rewritten."
  (let ((wish (string-trim (read-string (format "Rewrite %s, how: " what)
                                        nil 'org-agent-rewrite-history))))
    (when (string-empty-p wish)
      (user-error "Nothing was asked for"))
    wish))

;;;###autoload
(defun org-agent-rewrite (wish beg end)
  "Rewrite the text from BEG to END, the region, as WISH says.
The new text is shown as a diff.  There \
\\<org-agent-rewrite-mode-map>\\[org-agent-rewrite-accept] applies it and
\\[org-agent-rewrite-reject] rejects it.  You can go on editing meanwhile."
  (interactive
   (progn
     (barf-if-buffer-read-only)
     (unless (use-region-p)
       (user-error "Mark the text that is to be rewritten"))
     (let ((beg (region-beginning)) (end (region-end)))
       (org-agent-rewrite--check beg end)
       (list (org-agent-rewrite--read-wish (org-agent-rewrite--lines beg end))
             beg end))))
  (org-agent-rewrite--check beg end)
  (org-agent-kernel-ensure)
  (org-agent-send-ask-consent)
  (pcase-let ((`(,from . ,to) (org-agent-rewrite--bounds beg end)))
    (let ((rewriting (make-org-agent-rewrite-job
                      :beg (copy-marker from t) :end (copy-marker to)
                      :name (buffer-name))))
      (org-agent-rewrite--send rewriting wish)
      (deactivate-mark)
      (message "It is being rewritten; you will be shown the difference")
      rewriting)))

(defun org-agent-rewrite--send (rewriting wish)
  "Send the text of REWRITING, as it is now, to be rewritten as WISH says."
  (let ((id (org-id-uuid)))
    (with-current-buffer (marker-buffer (org-agent-rewrite-job-beg rewriting))
      (save-restriction
        (widen)
        (let* ((beg (org-agent-rewrite-job-beg rewriting))
               (end (org-agent-rewrite-job-end rewriting))
               (text (buffer-substring-no-properties beg end)))
          (setf (org-agent-rewrite-job-id rewriting) id
                (org-agent-rewrite-job-wish rewriting) wish
                (org-agent-rewrite-job-sent rewriting) text
                (org-agent-rewrite-job-partial rewriting)
                (save-excursion (goto-char beg) (not (bolp)))
                (org-agent-rewrite-job-indentation rewriting)
                (org-agent-rewrite--shared-indentation beg end))
          (org-agent-rewrite--await rewriting)
          ;; What was said in place of an earlier text is out of date.
          (org-agent-ask-close org-agent-rewrite-session)
          (org-agent-send-in org-agent-rewrite-session
                             (org-agent-rewrite--message rewriting wish text))
          (org-agent-turn-when-ended id :raw (lambda (result)
                                               (org-agent-rewrite--arrived rewriting result))))))))

(defun org-agent-rewrite--message (rewriting wish text)
  "Return the message that sends TEXT, of REWRITING, with WISH."
  (let* ((beg (org-agent-rewrite-job-beg rewriting))
         (name (org-agent-one-line (buffer-name))))
    (list :id (org-agent-rewrite-job-id rewriting) :level 1
          :text (format "/rewrite %s\nOn %s of %s, %s"
                        wish (org-agent-rewrite--lines
                              beg (org-agent-rewrite-job-end rewriting))
                        name (org-agent-counted (length text) "character"))
          :event (list :sensor :user-command :command "rewrite"
                       :arguments wish
                       :buffer (list :name name
                                     :mode (symbol-name major-mode)
                                     :text (org-agent-rewrite--outdent rewriting
                                                                       text)
                                     :region t)))))

;;;; The answer

(defun org-agent-rewrite--new-text (answer)
  "Return the new text in ANSWER, that of the skill, or nil."
  (when (and answer
             (string-match "\\`\\* Rewritten: .*\n\\(`\\{3,\\}\\)[^`\n]*\n" answer))
    (let ((from (match-end 0))
          (close (concat "\n" (match-string 1 answer))))
      (when (and (string-suffix-p close answer)
                 (<= from (- (length answer) (length close) -1)))
        (substring answer from (max from (- (length answer) (length close))))))))

(defun org-agent-rewrite--arrived (rewriting result)
  "Show the new text for REWRITING that RESULT, the answer, contains."
  (let ((text (org-agent-rewrite--new-text (plist-get result :answer)))
        (name (org-agent-rewrite-job-name rewriting)))
    (org-agent-rewrite--settle rewriting)
    (if (not text)
        (progn (org-agent-rewrite--draw-again rewriting)
               (org-agent-rewrite--show-words rewriting result))
      (setf (org-agent-rewrite-job-proposal rewriting)
            (org-agent-rewrite--indent rewriting (string-trim text "\n+" "\n+")))
      (if (equal (org-agent-rewrite-job-proposal rewriting)
                 (org-agent-rewrite--text rewriting))
          (progn
            (when-let* ((diff (org-agent-rewrite--drawn rewriting)))
              (org-agent-diff-close diff))
            (message "The agent would leave the text of %s as it is" name))
        (display-buffer (org-agent-rewrite--draw rewriting))
        (message "The new text for %s has come; C-c C-c in the diff applies it"
                 name)))))

(defun org-agent-rewrite--show-words (rewriting result)
  "Show RESULT, an answer without a new text for REWRITING."
  (message "Not rewritten: %s"
           (org-agent-one-line
            (org-agent-markup-words
             (org-agent-ask-body (or (plist-get result :answer) "")))
            200))
  (org-agent-ask-show (org-agent-rewrite-job-id rewriting)
                      (org-agent-chat-open (plist-get result :session))))

(provide 'org-agent-rewrite)
;;; org-agent-rewrite.el ends here
