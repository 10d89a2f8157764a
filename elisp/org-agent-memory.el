;;; org-agent-memory.el --- What the agent keeps  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What the agent keeps stands in Org files of yours, MEMORY.org and a
;; note for each day.  `org-agent-memory' lists it, with what the agent
;; would keep if you let it, and finds things in it and in your notes; a
;; line leads to the heading.  What the agent changes there can be taken
;; back.

;;; Code:

(require 'org)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-list)
(require 'org-agent-search)

(declare-function org-agent-memory-notes "org-agent-memory-notes")
(declare-function org-agent-memory-notes-offer "org-agent-memory-notes")
(declare-function org-agent-memory-proposal-entry "org-agent-memory-proposal")

(defconst org-agent-memory--buffer "*org-agent-memory*"
  "The name of the buffer of what is kept.")

(defvar org-agent-memory--history nil
  "What was looked for in what is kept.")

(defvar-local org-agent-memory--query ""
  "What is listed, as `org-agent-memory-search' reads it.")

(defvar org-agent-memory-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-mode-map)
    (define-key map (kbd "RET") #'org-agent-memory-visit)
    (define-key map (kbd "o") #'org-agent-memory-visit)
    (define-key map (kbd "s") #'org-agent-memory-search)
    (define-key map (kbd "/") #'org-agent-memory-search)
    (define-key map (kbd "u") #'org-agent-memory-undo)
    (define-key map (kbd "c") #'org-agent-memory-changes)
    (define-key map (kbd "a") #'org-agent-memory-accept)
    (define-key map (kbd "A") #'org-agent-memory-accept-all)
    (define-key map (kbd "e") #'org-agent-memory-edit)
    (define-key map (kbd "d") #'org-agent-memory-drop)
    (define-key map (kbd "w") #'org-agent-memory-source)
    (define-key map (kbd "N") #'org-agent-memory-notes)
    map)
  "Keys in the list of what is kept.")

(define-derived-mode org-agent-memory-mode org-agent-list-mode
  "Org-Agent-Memory"
  "Major mode of the list of what is kept.
\\<org-agent-memory-mode-map>\\[org-agent-memory-visit] goes to where it stands, \\[org-agent-memory-search] looks for something,
\\[org-agent-memory-undo] takes the latest change back, \\[org-agent-memory-changes] lists the changes.
What the agent would keep stands first: \\[org-agent-memory-accept] accepts it, \\[org-agent-memory-edit] changes
it before, \\[org-agent-memory-drop] drops it, \\[org-agent-memory-accept-all] accepts all, \\[org-agent-memory-source] shows what it is from.
\\[org-agent-memory-notes] asks whether your own notes may be looked through.

\\{org-agent-memory-mode-map}"
  (org-agent-list-columns
   [("When" 10 t) ("What" 9 t) ("Title" 36 t) ("Text" 0 nil)]
   #'org-agent-memory--ask))

;;;; What is listed

;;;###autoload
(defun org-agent-memory ()
  "List what the agent keeps, and what it would keep."
  (interactive)
  (org-agent-memory-search ""))

;;;###autoload
(defun org-agent-memory-search (query)
  "Look for QUERY in what is kept and in your notes.
All of its words must be there: \"words in quotes\" next to one another,
word* is the beginning of one.  tag:NAME, since:2026-11-01,
until:2026-11-30 and file:PATH narrow it; without words the latest that
is kept is listed."
  (interactive
   (list (read-string "Look in what is kept for: " nil
                      'org-agent-memory--history)))
  (org-agent-list-open org-agent-memory--buffer 'org-agent-memory-mode
                       (lambda ()
                         (setq org-agent-memory--query query)
                         (org-agent-memory--ask))))

(defun org-agent-memory--params (query)
  "Return the parameters of `memory/search' for QUERY."
  (let (words tags files params)
    (dolist (word (split-string query))
      (pcase word
        ((rx bos "tag:" (let tag (+ nonl)) eos) (push tag tags))
        ((rx bos "since:" (let day (+ nonl)) eos)
         (setq params (plist-put params :since day)))
        ((rx bos "until:" (let day (+ nonl)) eos)
         (setq params (plist-put params :until day)))
        ((rx bos "file:" (let file (+ nonl)) eos)
         (push (expand-file-name file) files))
        (_ (push word words))))
    (append (list :query (string-join (nreverse words) " ") :limit 199)
            (and tags (list :tags (nreverse tags)))
            (and files (list :files (nreverse files)))
            params)))

(defun org-agent-memory--ask (&rest _)
  "Ask the kernel for what is listed, and show it when it comes."
  (let ((query org-agent-memory--query))
    (org-agent-kernel-ask
     "memory/proposals" nil
     (lambda (waiting)
       (org-agent-kernel-ask
        "memory/search" (org-agent-memory--params query)
        (lambda (result)
          (when (eq query org-agent-memory--query)
            (org-agent-memory--show waiting result))))))))

(defun org-agent-memory--show (waiting result)
  "List WAITING, of `memory/proposals', and RESULT, of `memory/search'."
  (let ((proposals (and (string-blank-p org-agent-memory--query)
                        (plist-get waiting :proposals)))
        (hits (plist-get result :hits)))
    (org-agent-list-show
     (append (mapcar #'org-agent-memory-proposal-entry proposals)
             (mapcar #'org-agent-memory--entry hits))
     (cond ((plist-get result :indexing) "(being indexed)")
           ((plist-get result :more) "(there is more)")))
    (unless (or proposals hits)
      (message "%s"
               (if (string-blank-p org-agent-memory--query)
                   "Nothing is kept so far"
                 "Nothing that is kept, and none of your notes, has all of that")))
    (when-let ((offer (and (plist-get result :offer)
                           (string-blank-p org-agent-memory--query)
                           (org-agent-memory-notes-offer))))
      (message "%s" offer))))

(defun org-agent-memory--entry (hit)
  "Return the line of HIT."
  (list hit
        (vector (or (plist-get hit :day) "")
                (cond ((plist-get hit :scope)
                       (format "for %s" (plist-get hit :scope)))
                      ((plist-get hit :own) "agent")
                      (t "yours"))
                (concat (plist-get hit :title)
                        (and (plist-get hit :tags)
                             (propertize
                              (format " :%s:" (string-join (plist-get hit :tags) ":"))
                              'face 'org-tag)))
                (if (plist-get hit :snippet) (org-agent-search-snippet hit) ""))))

(defun org-agent-memory-visit ()
  "Go to the heading of this line, in its file."
  (interactive nil org-agent-memory-mode)
  (let* ((hit (or (tabulated-list-get-id)
                  (user-error "Nothing is on this line")))
         (file (or (plist-get hit :file)
                   (user-error "It stands nowhere so far; `a' accepts it"))))
    (unless (file-readable-p file)
      (user-error "%s is not there any more; `g' looks again" file))
    (pop-to-buffer (find-file-noselect file))
    (widen)
    (goto-char (point-min))
    (let ((id (plist-get hit :id)))
      (unless (and id (re-search-forward
                       (format "^[ \t]*:ID:[ \t]+%s[ \t]*$" (regexp-quote id)) nil t)
                   (org-back-to-heading t))
        (forward-line (1- (or (plist-get hit :line) 1)))))
    (when (derived-mode-p 'org-mode)
      (org-show-context 'link-search))))

;;;; What was changed

;;;###autoload
(defun org-agent-memory-undo (&optional id)
  "Take the latest change of what is kept back, or the one named ID.
In the list of changes that is the one at point."
  (interactive
   (list (and (derived-mode-p 'org-agent-memory-changes-mode)
              (plist-get (or (tabulated-list-get-id)
                             (user-error "There is no change on this line"))
                         :id))))
  (org-agent-kernel-ask
   "memory/undo" (and id (list :id id))
   (lambda (back)
     (message "Taken back: %s" (plist-get back :title)))))

(define-derived-mode org-agent-memory-changes-mode org-agent-list-mode
  "Org-Agent-Memory-Changes"
  "Major mode of the list of what the agent changed in what is kept.
\\<org-agent-memory-changes-mode-map>\\[org-agent-memory-undo] takes the change at point back.

\\{org-agent-memory-changes-mode-map}"
  (org-agent-list-columns
   [("When" 16 t) ("What" 12 t) ("Title" 40 t) ("File" 0 t)]
   #'org-agent-memory--ask-changes))

(define-key org-agent-memory-changes-mode-map (kbd "u") #'org-agent-memory-undo)
(define-key org-agent-memory-changes-mode-map (kbd "RET") #'org-agent-memory-visit)

(defun org-agent-memory-changes ()
  "List what the agent kept, changed and forgot, the latest first."
  (interactive)
  (org-agent-list-open "*org-agent-memory-changes*"
                       'org-agent-memory-changes-mode
                       #'org-agent-memory--ask-changes))

(defun org-agent-memory--ask-changes (&rest _)
  "Ask the kernel for the changes, and show them when they come."
  (org-agent-kernel-ask
   "memory/changes" nil
   (lambda (result)
     (org-agent-list-show
      (mapcar #'org-agent-memory--change (plist-get result :changes))))))

(defun org-agent-memory--change (change)
  "Return the line of CHANGE."
  (list change
        (vector (org-agent-list-time (plist-get change :time))
                (cond ((plist-get change :undoes) "taken back")
                      ((plist-get change :undone) "(undone)")
                      (t (substring (symbol-name (plist-get change :operation)) 1)))
                (or (plist-get change :title) "")
                (abbreviate-file-name (or (plist-get change :file) "")))))

;;;; What the kernel tells

(defun org-agent-memory--again ()
  "Look again at what is shown of what is kept."
  (dolist (buffer (list org-agent-memory--buffer "*org-agent-memory-changes*"))
    (when (get-buffer-window buffer t)
      (with-current-buffer buffer
        (revert-buffer)))))

(cl-defmethod org-agent-handle-notification ((_method (eql 'memory/changed))
                                             params)
  "Say what was kept, as PARAMS have it, and look again at the lists."
  (unless (plist-get params :undoes)
    (message "%s"
             (substitute-command-keys
              (format-message "org-agent %s: %s  (\\[org-agent-memory-undo] takes it back)"
                              (pcase (plist-get params :operation)
                                (:saved "keeps")
                                (:forgotten "forgot")
                                (_ "changed what it keeps"))
                              (replace-regexp-in-string
                               "[\\`]" "" (or (plist-get params :title) ""))))))
  (org-agent-memory--again))

(require 'org-agent-memory-proposal)
(require 'org-agent-memory-notes)

(provide 'org-agent-memory)
;;; org-agent-memory.el ends here
