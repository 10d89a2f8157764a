;;; org-agent-search.el --- Search through all that was said  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

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

(defvar-local org-agent-search--hits nil
  "What was found so far.")

(defvar-local org-agent-search--before nil
  "Where to go on with what is older, nil when all was looked at.")

(defconst org-agent-search--page 100
  "How many results are looked for before one has to ask for more.")

(defvar org-agent-search-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-mode-map)
    (define-key map (kbd "RET") #'org-agent-search-visit)
    (define-key map (kbd "s") #'org-agent-search)
    (define-key map (kbd "/") #'org-agent-search)
    (define-key map (kbd "+") #'org-agent-search-older)
    map)
  "Keys in the results of a search.")

(define-derived-mode org-agent-search-mode org-agent-list-mode
  "Org-Agent-Search"
  "Major mode of the results of a search through all that was said.
\\<org-agent-search-mode-map>\\[org-agent-search-visit] goes to where it stands,
\\[org-agent-search] looks for something else, \\[org-agent-search-older] goes on with what is older."
  (org-agent-list-columns
   [("When" 16 t) ("Conversation" 20 t) ("Who" 5 t) ("What" 0 nil)]
   #'org-agent-search--anew))

;;;###autoload
(defun org-agent-search (query &optional session)
  "Look for QUERY in all questions and answers there ever were.
All of its words must be there: \"words in quotes\" next to one another,
word* is the beginning of one.  since:2026-11-01 and until:2026-12-01
bound when it was said.  The latest is looked at first, and what is
found is shown while older things are looked at.  With a prefix argument
look in SESSION, the conversation of this buffer or line, only."
  (interactive
   (let ((session (and current-prefix-arg
                       (or (org-agent-sessions-at-point)
                           (org-agent-chat-read-session)))))
     (list (read-string (if session
                            (format "Search %s for: " session)
                          "Search all conversations for: ")
                        nil 'org-agent-search--history)
           session)))
  (org-agent-list-open org-agent-search--buffer 'org-agent-search-mode
                       (lambda ()
                         (setq org-agent-search--query (cons query session))
                         (org-agent-search--anew))))

(defun org-agent-search--anew (&rest _)
  "Look again for what the results are of."
  (setq org-agent-search--hits nil
        org-agent-search--before nil
        ;; A new object: what is under way for the former is not shown.
        org-agent-search--query (cons (car org-agent-search--query)
                                      (cdr org-agent-search--query)))
  (org-agent-search--ask org-agent-search--page))

(defun org-agent-search-older ()
  "Go on with what is older than the results."
  (interactive)
  (unless org-agent-search--before
    (user-error "All was looked at"))
  (org-agent-search--ask (+ (length org-agent-search--hits)
                            org-agent-search--page)))

(defun org-agent-search--ask (wanted)
  "Look on until WANTED results are there, or all was looked at."
  (let ((asked org-agent-search--query)
        (first (null org-agent-search--hits)))
    (pcase-let ((`(,query . ,session) asked))
      (org-agent-kernel-ask
       "session/search"
       (append (list :query query :limit 300)
               (and session (list :session session))
               (and org-agent-search--before
                    (list :before org-agent-search--before)))
       (lambda (result)
         (when (eq asked org-agent-search--query)
           (setq org-agent-search--hits
                 (append org-agent-search--hits (plist-get result :hits))
                 org-agent-search--before (plist-get result :before))
           (let ((on (and org-agent-search--before
                          (< (length org-agent-search--hits) wanted))))
             (org-agent-search--show result on)
             (when (and first org-agent-search--hits)
               (goto-char (point-min)))
             (when on
               (org-agent-search--ask wanted)))))))))

(defun org-agent-search--show (result on)
  "List what was found, with RESULT, of `session/search', in this buffer.
ON says that what is older is being looked at."
  (org-agent-list-show
   (mapcar #'org-agent-search--entry org-agent-search--hits)
   (when org-agent-search--before
     (format (if on "(back to %s …)" "(back to %s, + goes on)")
             (org-agent-list-time (plist-get result :reached)))))
  (unless (or tabulated-list-entries on)
    (message "Nothing that was said has all of: %s"
             (car org-agent-search--query))))

(defun org-agent-search--entry (hit)
  "Return the line of HIT."
  (list hit
        (vector (org-agent-list-time (plist-get hit :time))
                (plist-get hit :session)
                (if (eq (plist-get hit :role) :user) "you" "agent")
                (org-agent-search-snippet hit))))

(defun org-agent-search-snippet (hit)
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
