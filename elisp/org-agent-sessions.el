;;; org-agent-sessions.el --- List, search, rename and fork conversations  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-sessions' lists the conversations.  `org-agent-session-rename'
;; renames one and its file.  `org-agent-fork' makes a new conversation with
;; the turns up to point.  The kernel does this and notifies every Emacs.
;; After a rename the buffer keeps its text, its undo history and its draft.
;;
;; `org-agent-search' searches the turns of all conversations with the
;; kernel's index, and goes to what it finds.
;;
;; The context window of a model is limited.  When a conversation fills four
;; fifths of it, the kernel has the model summarize the beginning, and sends
;; the summary in its place.  `org-agent-compact' does this earlier,
;; `org-agent-compact-stop' stops it, and `org-agent-compact-undo' undoes
;; it.  The text of the buffer does not change.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-draft)
(require 'org-agent-file-owner)
(require 'org-agent-chat)
(require 'org-agent-list)
(require 'org-agent-section)

(declare-function org-agent-approval-renamed "org-agent-approval")
(declare-function org-agent-goto-open "org-agent-goto")

;;;; The list

(defconst org-agent-sessions--buffer "*org-agent-sessions*"
  "The name of the buffer of the list.")

(defvar org-agent-sessions-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-mode-map)
    (define-key map (kbd "RET") #'org-agent-sessions-open)
    (define-key map (kbd "s") #'org-agent-search)
    (define-key map (kbd "/") #'org-agent-search)
    (define-key map (kbd "r") #'org-agent-session-rename)
    (define-key map (kbd "f") #'org-agent-fork)
    (define-key map (kbd "+") #'org-agent-sessions-new)
    map)
  "Keymap of the list of conversations.")

(define-derived-mode org-agent-sessions-mode org-agent-list-mode
  "Org-Agent-Sessions"
  "Major mode of the list of conversations.
\\<org-agent-sessions-mode-map>\\[org-agent-sessions-open] opens the conversation at point, \\[org-agent-sessions-new] a new one.
\\[org-agent-session-rename] renames it, \\[org-agent-fork] makes a new conversation with its turns.
\\[org-agent-search] searches all conversations.

\\{org-agent-sessions-mode-map}"
  :interactive nil
  (org-agent-list-columns
   ;; In a window of 80 columns there is room for the first words.
   (vector '("Conversation" 20 t)
           (list "Turns" 5 (org-agent-list-by-number 1) :right-align t)
           '("Last" 16 t) '("State" 15 t) '("Begins with" 0 t))
   #'org-agent-sessions--ask
   "\\<org-agent-sessions-mode-map>\\[org-agent-sessions-open] open  \\[org-agent-sessions-new] new  \\[org-agent-search] search  \\[org-agent-session-rename] rename  \\[org-agent-fork] fork"))

;;;###autoload
(defun org-agent-sessions ()
  "List all conversations with the agent, the latest first."
  (interactive)
  (org-agent-list-open org-agent-sessions--buffer 'org-agent-sessions-mode
                       #'org-agent-sessions--ask))

(defun org-agent-sessions--ask (&rest _)
  "Request the list, and show it when it arrives."
  (org-agent-kernel-ask "session/list" nil #'org-agent-sessions--show))

(defun org-agent-sessions--show (result)
  "List the conversations of RESULT, that of `session/list'."
  (org-agent-list-show
   (mapcar #'org-agent-sessions--entry (plist-get result :sessions))
   "There is no conversation yet.  \\<org-agent-sessions-mode-map>\\[org-agent-sessions-new] begins one with a name of yours, \\[org-agent-chat] opens the usual one."
   (org-agent-list-left result "older")))

(defun org-agent-sessions--entry (session)
  "Return the entry of SESSION, whose id is the name of SESSION."
  (let ((parent (plist-get session :parent)))
    (list (plist-get session :name)
          (vector (plist-get session :name)
                  (number-to-string (or (plist-get session :turns) 0))
                  (org-agent-list-time (plist-get session :updated))
                  (org-agent-sessions--state (plist-get session :state))
                  (concat (or (plist-get session :words) "")
                          (when (and parent (not (string-empty-p parent)))
                            (propertize (format (if (plist-get session :subagent)
                                                    "  (subagent of %s)"
                                                  "  (forked from %s)")
                                                parent)
                                        'face 'shadow)))))))

(defun org-agent-sessions--state (state)
  "Return the text for STATE, that of the latest turn of a conversation."
  (org-agent-list-state (pcase state
                          ((or :queued :running) "running")
                          (:waiting "waiting for you")
                          (_ "idle"))))

(defun org-agent-sessions-at-point ()
  "Return the conversation of the line at point, or of the buffer, or nil."
  (if (derived-mode-p 'org-agent-sessions-mode)
      (tabulated-list-get-id)
    org-agent-chat-session))

(defun org-agent-sessions-open ()
  "Open the conversation of this line."
  (interactive)
  (org-agent-chat (or (org-agent-sessions-at-point)
                      (user-error "There is no conversation on this line"))))

(defun org-agent-sessions-new (name)
  "Open the conversation NAME, a new one."
  (interactive (list (org-agent-chat-read-session)))
  (org-agent-chat name))

(defun org-agent-sessions--refresh ()
  "Revert the list if a window shows it."
  (org-agent-list-refresh org-agent-sessions--buffer))

;;;; Renaming

;;;###autoload
(defun org-agent-session-rename (session name)
  "Rename the conversation SESSION and its file to NAME.
Interactively, SESSION is that of the line at point or of the buffer."
  (interactive
   (let ((session (or (org-agent-sessions-at-point)
                      (org-agent-chat-read-session))))
     (list session (string-trim
                    (read-string (format "New name of %s: " session)
                                 session)))))
  (org-agent-chat-check-name name)
  (when (equal session name)
    (user-error "That is its name already"))
  (when-let* ((buffer (org-agent-chat-buffer session)))
    (with-current-buffer buffer (org-agent-file-owner-save)))
  (org-agent-kernel-ask
   "session/rename" (list :session session :to name)
   (lambda (_)
     (message "Renamed %s to %s" session name)
     (org-agent-sessions--refresh))))

;;;###autoload
(defun org-agent-sessions-renamed (params)
  "Rename the buffer of the conversation in PARAMS."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-renamed (plist-get params :to) (plist-get params :file)))
  (when (featurep 'org-agent-approval)
    (org-agent-approval-renamed (plist-get params :session)
                                (plist-get params :to)))
  (org-agent-sessions--refresh))

;;;; Forks

;;;###autoload
(defun org-agent-fork (&optional name)
  "Make a new conversation with the turns up to point, and go there.
In an answer, it gets the turns up to that answer.
In a question, it gets the turns before it, and the question is its draft.
In the draft and in the list of conversations, it gets all turns.
With a prefix argument, read the NAME of the new conversation."
  (interactive
   (list (and current-prefix-arg
              (read-string "Name of the new conversation: "))))
  (let ((session (or (org-agent-sessions-at-point)
                     (user-error "This is not a conversation; M-x org-agent-chat opens one")))
        (id (and org-agent-chat-session (org-agent-sessions--turn-at-point))))
    (when name
      (org-agent-chat-check-name name))
    (org-agent-kernel-ask
     "session/fork"
     (append (list :session session) (and id (list :id id))
             (and name (list :to name)))
     (lambda (result)
       (org-agent-sessions--refresh)
       (pop-to-buffer (org-agent-chat-open (plist-get result :session)))
       (message "This is a fork of %s with %d of its turns" session
                (or (plist-get result :turns) 0))))))

(defun org-agent-sessions--turn-at-point ()
  "Return the ID of the question or answer at point, or nil in the draft."
  (unless (org-agent-draft-p (point))
    (let ((heading (or (org-agent-heading-turn-at (point))
                       (user-error "There is no question and no answer at point"))))
      (when (member "unsent" (org-agent-heading-tags heading))
        (user-error "This message was not sent yet; C-c C-c sends it"))
      (org-agent-heading-property heading "ID"))))

;;;; Search

(defface org-agent-search-match '((t :inherit match))
  "Face of matches in the results of a search."
  :group 'org-agent-lists)

(defconst org-agent-sessions--search-buffer "*org-agent-search*"
  "The name of the buffer of the results.")

(defvar org-agent-sessions--search-history nil
  "The minibuffer history of `org-agent-search'.")

(defvar-local org-agent-sessions--search-query nil
  "The search of this buffer, (QUERY . SESSION).
SESSION is nil for a search of all conversations.")

(defvar-local org-agent-sessions--search-hits nil
  "The hits that were found so far, the latest turns first.")

(defvar-local org-agent-sessions--search-before nil
  "The position from which to continue, or nil if the search is complete.")

(defconst org-agent-sessions--search-page 100
  "The number of results after which the search stops.")

(defvar org-agent-search-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-sections-mode-map)
    (define-key map (kbd "RET") #'org-agent-search-visit)
    (define-key map (kbd "s") #'org-agent-search)
    (define-key map (kbd "/") #'org-agent-search)
    (define-key map (kbd "+") #'org-agent-search-older)
    map)
  "Keymap of the results of a search.")

(define-derived-mode org-agent-search-mode org-agent-list-sections-mode
  "Org-Agent-Search"
  "Major mode of the results of a search in conversations.
\\<org-agent-search-mode-map>\\[org-agent-search-visit] goes to the turn at point, \\[org-agent-search] starts a new search,
and \\[org-agent-search-older] continues with older turns."
  :interactive nil
  (org-agent-list-rows
   '(("When" 16) ("Conversation" 20) ("Who" 5) ("What"))
   #'org-agent-sessions--search-anew
   "\\<org-agent-search-mode-map>\\[org-agent-search-visit] go there  \\[org-agent-search] search  \\[org-agent-search-older] older"))

;;;###autoload
(defun org-agent-search (query &optional session)
  "Search the questions and answers of all conversations for QUERY.
A turn matches if it has all words of QUERY.  \"Words in quotes\" match as
a phrase, and word* matches all words with that beginning.
since:2026-11-01 and until:2026-12-01 restrict the search to these days.
The latest turns come first, and results are shown as they are found.
With a prefix argument, search only SESSION, the conversation of this
buffer or line."
  (interactive
   (let ((session (and current-prefix-arg
                       (or (org-agent-sessions-at-point)
                           (org-agent-chat-read-session)))))
     (list (read-string (if session
                            (format "Search %s for: " session)
                          "Search all conversations for: ")
                        nil 'org-agent-sessions--search-history)
           session)))
  (org-agent-list-open org-agent-sessions--search-buffer 'org-agent-search-mode
                       (lambda ()
                         (unless (equal org-agent-sessions--search-query
                                        (cons query session))
                           (org-agent-list-show-rows nil "The search begins."))
                         (setq org-agent-sessions--search-query (cons query session))
                         (org-agent-sessions--search-anew))))

(defun org-agent-sessions--search-anew (&rest _)
  "Run the search of this buffer again."
  (setq org-agent-sessions--search-hits nil
        org-agent-sessions--search-before nil
        ;; A new object, so that results of the former search are ignored.
        org-agent-sessions--search-query (cons (car org-agent-sessions--search-query)
                                               (cdr org-agent-sessions--search-query)))
  (org-agent-sessions--search-ask org-agent-sessions--search-page))

(defun org-agent-search-older ()
  "Continue the search with older turns."
  (interactive)
  (unless org-agent-sessions--search-before
    (user-error "The search is complete"))
  (org-agent-sessions--search-ask (+ (length org-agent-sessions--search-hits)
                                     org-agent-sessions--search-page)))

(defun org-agent-sessions--search-ask (wanted)
  "Continue the search until there are WANTED results or it is complete."
  (let ((asked org-agent-sessions--search-query)
        (first (null org-agent-sessions--search-hits)))
    (pcase-let ((`(,query . ,session) asked))
      (org-agent-kernel-ask
       "session/search"
       (append (list :query query :limit 300)
               (and session (list :session session))
               (and org-agent-sessions--search-before
                    (list :before org-agent-sessions--search-before)))
       (lambda (result)
         (when (eq asked org-agent-sessions--search-query)
           (setq org-agent-sessions--search-hits
                 (append org-agent-sessions--search-hits (plist-get result :hits))
                 org-agent-sessions--search-before (plist-get result :before))
           (let ((on (and org-agent-sessions--search-before
                          (< (length org-agent-sessions--search-hits) wanted))))
             (org-agent-sessions--search-show result on)
             (when (and first org-agent-sessions--search-hits)
               (goto-char (org-agent-section-start
                           (car (org-agent-section-all 'hit)))))
             (when on
               (org-agent-sessions--search-ask wanted)))))))))

(defun org-agent-sessions--search-show (result on)
  "List all hits; RESULT is the latest one of `session/search'.
ON is non-nil if the search continues."
  (org-agent-list-show-rows
   (mapcar #'org-agent-sessions--search-row org-agent-sessions--search-hits)
   (if on
       "Nothing was found so far; the search goes on."
     (concat "No question and no answer has all of these words.  "
             "\\<org-agent-search-mode-map>\\[org-agent-search] searches for others."))
   (when org-agent-sessions--search-before
     (format (if on "(back to %s …)" "(back to %s, + for older)")
             (org-agent-list-time (plist-get result :reached)))))
  (unless (or org-agent-sessions--search-hits on)
    (message "No question and no answer has all of: %s"
             (car org-agent-sessions--search-query))))

(defun org-agent-sessions--search-row (hit)
  "Return the row of HIT."
  (let ((snippet (org-agent-sessions-search-snippet hit)))
    (org-agent-list-row
     'hit (list (plist-get hit :session) (plist-get hit :id)) hit
     (list (org-agent-list-time (plist-get hit :time))
           (plist-get hit :session)
           (if (eq (plist-get hit :role) :user) "you" "agent")
           snippet)
     (lambda () (org-agent-list-filled snippet)))))

;;;###autoload
(defun org-agent-sessions-search-snippet (hit)
  "Return the snippet of HIT with its matches highlighted."
  (let ((snippet (copy-sequence (plist-get hit :snippet))))
    (dolist (match (plist-get hit :matches) snippet)
      (let ((beg (or (plist-get match :start) 0))
            (end (plist-get match :end)))
        (when (and (integerp end) (<= 0 beg end (length snippet)))
          (put-text-property beg end 'face 'org-agent-search-match snippet))))))

(defun org-agent-search-visit ()
  "Go to the turn of this line in its conversation."
  (interactive)
  (let* ((hit (or (org-agent-section-data-at-point 'hit)
                  (user-error "There is no result on this line")))
         (match (car (plist-get hit :matches)))
         (words (and match (substring-no-properties
                            (plist-get hit :snippet)
                            (or (plist-get match :start) 0)
                            (plist-get match :end)))))
    (pop-to-buffer (org-agent-goto-open (plist-get hit :session)
                                        (plist-get hit :id) words))))

;;;; Summaries

(defun org-agent-sessions--compact (&rest parameters)
  "Have this conversation summarized, as PARAMETERS of the request say."
  (org-agent-kernel-ask
   "session/compact"
   (append (list :session
                 (or org-agent-chat-session
                     (user-error "This is not a conversation; M-x org-agent-chat opens one")))
           parameters)
   #'ignore))

;;;###autoload
(defun org-agent-compact ()
  "Have the model summarize the beginning of this conversation.
From then on the summary is sent in the place of these turns.
`org-agent-prompt' shows it, and `org-agent-compact-undo' undoes it.  The
text of the conversation does not change."
  (interactive)
  (org-agent-sessions--compact))

;;;###autoload
(defun org-agent-compact-undo ()
  "Undo the last summary of this conversation."
  (interactive)
  (org-agent-sessions--compact :undo t))

;;;###autoload
(defun org-agent-compact-stop ()
  "Stop the summary of this conversation that is being made."
  (interactive)
  (org-agent-sessions--compact :stop t))

;;;###autoload
(defun org-agent-sessions-compacted (params)
  "Report the state of the summary in PARAMS."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-put :compacting (eq (plist-get params :state) :running))
    (when-let* ((window (org-agent-chat-get :window))
                (after (plist-get params :after))
                (before (plist-get params :before)))
      (org-agent-chat-put
       :shown (max 0 (- (or (org-agent-chat-get :shown) 0) (- before after)))
       :window window))
    (message "org-agent: %s" (or (plist-get params :text)
                                 (plist-get params :state)))))

(provide 'org-agent-sessions)
;;; org-agent-sessions.el ends here
