;;; org-agent-rewrite.el --- Have a region rewritten  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-rewrite' sends the region and what is wanted to the skill
;; with the command /rewrite, in a conversation of its own.  What comes
;; back is shown as a diff: see org-agent-rewrite-diff.el.
;;
;; The text is sent without the indentation that all its lines share, and
;; that is put before the lines of the new text: models lose it.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-id)
(require 'org-agent-kernel)
(require 'org-agent-chat)
(require 'org-agent-send)
(require 'org-agent-command)
(require 'org-agent-await)
(require 'org-agent-ask)
(require 'org-agent-rewrite-diff)

(defcustom org-agent-rewrite-session "rewrite"
  "The conversation in which texts are rewritten."
  :type 'string
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-rewrite-limit 400000
  "Characters of the longest text that is rewritten.")

(defvar org-agent-rewrite-history nil
  "What was wanted of texts that were rewritten.")

;;;; The text

(defun org-agent-rewrite--check (beg end)
  "Signal an error when the text from BEG to END cannot be rewritten."
  (when-let ((reason (org-agent-command--private-p (current-buffer))))
    (user-error "%s is not read aloud, because %s" (buffer-name) reason))
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
    (user-error "The region holds bytes that are no text"))))

(defun org-agent-rewrite--bounds (beg end)
  "Return the text from BEG to END without empty lines around it.
That is (BEG . END); indentation before it belongs to it."
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
  "Return TEXT with FUNCTION applied to its lines, as REWRITING has them.
Blank lines, and a first line that does not begin one, stay."
  (let ((first (org-agent-rewriting-partial rewriting)))
    (mapconcat (lambda (line)
                 (prog1 (if (or first (string-blank-p line))
                            line
                          (funcall function line))
                   (setq first nil)))
               (split-string text "\n") "\n")))

(defun org-agent-rewrite--outdent (rewriting text)
  "Return TEXT without the indentation that REWRITING's lines share."
  (let ((indentation (org-agent-rewriting-indentation rewriting)))
    (org-agent-rewrite--map-lines
     (lambda (line) (string-remove-prefix indentation line)) rewriting text)))

(defun org-agent-rewrite--indent (rewriting text)
  "Return TEXT with the indentation that REWRITING's lines share."
  (let ((indentation (org-agent-rewriting-indentation rewriting)))
    (org-agent-rewrite--map-lines
     (lambda (line) (concat indentation line)) rewriting text)))

;;;; Asking

(defun org-agent-rewrite--lines (beg end)
  "Return which lines the text from BEG to END is, for a person."
  (let ((first (line-number-at-pos beg t))
        (last (line-number-at-pos (max beg (1- end)) t)))
    (if (= first last)
        (format "line %d" first)
      (format "lines %d-%d" first last))))

(defun org-agent-rewrite--read-wish (what)
  "Read what is wanted of WHAT."
  (let ((wish (string-trim (read-string (format "Rewrite %s, how: " what)
                                        nil 'org-agent-rewrite-history))))
    (when (string-empty-p wish)
      (user-error "Nothing was asked for"))
    wish))

(defun org-agent-rewrite (wish beg end)
  "Have the text from BEG to END, the region, rewritten as WISH says.
The new text is shown as a diff when it has come; \
\\<org-agent-rewrite-mode-map>\\[org-agent-rewrite-accept] there applies it,
\\[org-agent-rewrite-reject] does not.  Go on as you like meanwhile."
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
    (let ((rewriting (make-org-agent-rewriting
                      :beg (copy-marker from t) :end (copy-marker to)
                      :name (buffer-name))))
      (org-agent-rewrite--send rewriting wish)
      (deactivate-mark)
      (message "It is being rewritten; you will be shown the difference")
      rewriting)))

(defun org-agent-rewrite--send (rewriting wish)
  "Have the text of REWRITING, as it now stands, rewritten as WISH says."
  (let ((id (org-id-uuid)))
    (with-current-buffer (marker-buffer (org-agent-rewriting-beg rewriting))
      (save-restriction
        (widen)
        (let* ((beg (org-agent-rewriting-beg rewriting))
               (end (org-agent-rewriting-end rewriting))
               (text (buffer-substring-no-properties beg end)))
          (setf (org-agent-rewriting-id rewriting) id
                (org-agent-rewriting-wish rewriting) wish
                (org-agent-rewriting-sent rewriting) text
                (org-agent-rewriting-partial rewriting)
                (save-excursion (goto-char beg) (not (bolp)))
                (org-agent-rewriting-indentation rewriting)
                (org-agent-rewrite--shared-indentation beg end))
          (org-agent-send-in org-agent-rewrite-session
                             (org-agent-rewrite--message rewriting wish text))
          (org-agent-await id :raw (lambda (result)
                                     (org-agent-rewrite--arrived rewriting result))))))))

(defun org-agent-rewrite--message (rewriting wish text)
  "Return the message that asks for TEXT, of REWRITING, to be as WISH says."
  (let* ((beg (org-agent-rewriting-beg rewriting))
         (name (org-agent-command--line (buffer-name))))
    (list :id (org-agent-rewriting-id rewriting) :level 1
          :text (format "/rewrite %s\nOn %s of %s, %d characters"
                        wish (org-agent-rewrite--lines
                              beg (org-agent-rewriting-end rewriting))
                        name (length text))
          :event (list :sensor :user-command :command "rewrite"
                       :arguments wish
                       :buffer (list :name name
                                     :mode (symbol-name major-mode)
                                     :text (org-agent-rewrite--outdent rewriting
                                                                       text)
                                     :region t)))))

;;;; What comes back

(defun org-agent-rewrite--new-text (answer)
  "Return the text in ANSWER, that of the skill, or nil when it has none."
  (when (and answer
             (string-match "\\`\\* Rewritten: .*\n\\(`\\{3,\\}\\)[^`\n]*\n" answer))
    (let ((from (match-end 0))
          (close (concat "\n" (match-string 1 answer))))
      (when (and (string-suffix-p close answer)
                 (<= from (- (length answer) (length close) -1)))
        (substring answer from (max from (- (length answer) (length close))))))))

(defun org-agent-rewrite--arrived (rewriting result)
  "Show what RESULT, the answer, proposes for REWRITING."
  (let ((text (org-agent-rewrite--new-text (plist-get result :answer)))
        (name (org-agent-rewriting-name rewriting)))
    (if (not text)
        (org-agent-rewrite--show-words rewriting result)
      (setf (org-agent-rewriting-proposal rewriting)
            (org-agent-rewrite--indent rewriting (string-trim text "\n+" "\n+")))
      (if (equal (org-agent-rewriting-proposal rewriting)
                 (org-agent-rewrite--text rewriting))
          (message "The agent would leave the text of %s as it is" name)
        (display-buffer (org-agent-rewrite--draw rewriting))
        (message "The new text for %s has come; C-c C-c in the diff applies it"
                 name)))))

(defun org-agent-rewrite--show-words (rewriting result)
  "Show RESULT, which proposes no text for REWRITING."
  (message "Not rewritten: %s"
           (org-agent-ask--line
            (org-agent-ask-body (or (plist-get result :answer) ""))))
  (org-agent-ask--show (org-agent-rewriting-id rewriting)
                       (org-agent-chat-open (plist-get result :session))))

(provide 'org-agent-rewrite)
;;; org-agent-rewrite.el ends here
