;;; org-agent-search.el --- Search through all that was said  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;; This program is free software; you can redistribute it and/or modify
;; it under the terms of the GNU General Public License as published by
;; the Free Software Foundation, either version 3 of the License, or
;; (at your option) any later version.

;; This program is distributed in the hope that it will be useful,
;; but WITHOUT ANY WARRANTY; without even the implied warranty of
;; MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the
;; GNU General Public License for more details.

;; You should have received a copy of the GNU General Public License
;; along with this program.  If not, see <https://www.gnu.org/licenses/>.

;;; Commentary:

;; `org-agent-search' looks through all that was ever said, in whichever
;; conversation, and goes to where it stands.  The kernel's index answers;
;; no buffer needs to be open.

;;; Code:

(require 'org-agent-kernel)
(require 'org-agent-chat)
(require 'org-agent-place)
(require 'org-agent-list)
(require 'org-agent-sessions)

(defface org-agent-search-match '((t :inherit match))
  "Face of what was looked for in the results of a search."
  :group 'org-agent)

(defconst org-agent-search--buffer "*org-agent-search*"
  "The name of the buffer of the results.")

(defvar org-agent-search--history nil
  "What was looked for.")

(defvar-local org-agent-search--query nil
  "What the results are of: (QUERY . SESSION), without a session of all.")

(defvar org-agent-search-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-mode-map)
    (define-key map (kbd "RET") #'org-agent-search-visit)
    (define-key map (kbd "s") #'org-agent-search)
    (define-key map (kbd "/") #'org-agent-search)
    map)
  "Keys in the results of a search.")

(define-derived-mode org-agent-search-mode org-agent-list-mode
  "Org-Agent-Search"
  "Major mode of the results of a search through all that was said.
\\<org-agent-search-mode-map>\\[org-agent-search-visit] goes to where it stands, \\[org-agent-search] looks for something else."
  (setq tabulated-list-format
        [("When" 16 t) ("Conversation" 20 t) ("Who" 5 t) ("What" 0 nil)])
  (setq-local revert-buffer-function #'org-agent-search--revert)
  (tabulated-list-init-header))

;;;###autoload
(defun org-agent-search (query &optional session)
  "Look for QUERY in all questions and answers there ever were.
All of its words must be there: \"words in quotes\" next to one another,
word* is the beginning of one.  With a prefix argument look in SESSION,
the conversation of this buffer or line, only."
  (interactive
   (let ((session (and current-prefix-arg
                       (or (org-agent-sessions-at-point)
                           (org-agent-chat-read-session)))))
     (list (read-string (if session
                            (format "Search %s for: " session)
                          "Search all conversations for: ")
                        nil 'org-agent-search--history)
           session)))
  (with-current-buffer (org-agent-list-buffer org-agent-search--buffer
                                              'org-agent-search-mode)
    (setq org-agent-search--query (cons query session))
    (org-agent-search--revert)
    (pop-to-buffer (current-buffer))))

(defun org-agent-search--revert (&rest _)
  "Look again for what the results are of."
  (pcase-let ((`(,query . ,session) org-agent-search--query))
    (org-agent-kernel-ask
     "session/search"
     (append (list :query query :limit 100)
             (and session (list :session session)))
     (lambda (result)
       (when (equal (cons query session) org-agent-search--query)
         (org-agent-search--show result))))))

(defun org-agent-search--show (result)
  "List what RESULT, of `session/search', has, in the current buffer."
  (org-agent-list-show
   (mapcar #'org-agent-search--entry (plist-get result :hits))
   (and (plist-get result :more) "(there is more)"))
  (goto-char (point-min))
  (unless tabulated-list-entries
    (message "Nothing that was said has all of: %s"
             (car org-agent-search--query))))

(defun org-agent-search--entry (hit)
  "Return the line of HIT."
  (list hit
        (vector (org-agent-list-time (plist-get hit :time))
                (plist-get hit :session)
                (if (eq (plist-get hit :role) :user) "you" "agent")
                (org-agent-search--snippet hit))))

(defun org-agent-search--snippet (hit)
  "Return the snippet of HIT with what matched in a face."
  (let ((snippet (copy-sequence (plist-get hit :snippet))))
    (dolist (match (plist-get hit :matches) snippet)
      (let ((beg (or (plist-get match :start) 0))
            (end (plist-get match :end)))
        (when (and (integerp end) (<= 0 beg end (length snippet)))
          (put-text-property beg end 'face 'org-agent-search-match snippet))))))

(defun org-agent-search-visit ()
  "Go to where the result of this line stands in its conversation."
  (interactive)
  (let* ((hit (or (tabulated-list-get-id)
                  (user-error "There is no result on this line")))
         (match (car (plist-get hit :matches)))
         (words (and match (substring-no-properties
                            (plist-get hit :snippet)
                            (or (plist-get match :start) 0)
                            (plist-get match :end)))))
    (pop-to-buffer (org-agent-place-open (plist-get hit :session)
                                         (plist-get hit :id) words))))

(provide 'org-agent-search)
;;; org-agent-search.el ends here
