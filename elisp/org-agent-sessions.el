;;; org-agent-sessions.el --- Conversations as a whole: list, search, names, forks  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Conversations as a whole: `org-agent-sessions' lists them.
;; `org-agent-session-rename' gives one another name, and its file too;
;; `org-agent-fork' makes a new one of what was said up to point.
;;
;; The kernel does these things and tells every Emacs; a buffer follows
;; its conversation to the new name, and its text, undo and draft stay.
;;
;; `org-agent-search' looks through all that was ever said, in whichever
;; conversation, and goes to where it stands.  The kernel's index answers;
;; no buffer needs to be open.
;;
;; A model can be shown so much and no more.  When a conversation fills
;; four fifths of that, the kernel has its beginning summarised by the
;; model that answers in it, and shows the notes in its place.  Here a
;; person does so earlier, stops it, or takes it back.  Nothing in the buffer
;; changes by it: what was said stays.

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

(defface org-agent-sessions-running '((t :inherit success))
  "Face of the state of a conversation in which an answer is being written."
  :group 'org-agent-lists)

(defface org-agent-sessions-waiting '((t :inherit warning))
  "Face of the state of a conversation that waits for a person."
  :group 'org-agent-lists)

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
  "Keys in the list of conversations.")

(define-derived-mode org-agent-sessions-mode org-agent-list-mode
  "Org-Agent-Sessions"
  "Major mode of the list of conversations.
\\<org-agent-sessions-mode-map>\\[org-agent-sessions-open] opens one, \\[org-agent-sessions-new] a new one; \\[org-agent-search]
looks through all that was said; \\[org-agent-session-rename] gives one another
name, \\[org-agent-fork] makes a copy that goes on by itself.

\\{org-agent-sessions-mode-map}"
  (org-agent-list-columns
   (vector '("Conversation" 26 t)
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
  "Ask the kernel for the list, and show it."
  (org-agent-kernel-ask "session/list" nil #'org-agent-sessions--show))

(defun org-agent-sessions--show (result)
  "List what RESULT, of `session/list', has, in the current buffer."
  (org-agent-list-show
   (mapcar #'org-agent-sessions--entry (plist-get result :sessions))
   (org-agent-list-left result "older"))
  (unless tabulated-list-entries
    (message "There is no conversation yet; M-x org-agent-chat begins one")))

(defun org-agent-sessions--entry (session)
  "Return the line of SESSION.
Its name is the line's identity, so that point stays on it."
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
  "Return what a conversation does whose turn is in STATE."
  (pcase state
    ((or :queued :running)
     (propertize "running" 'face 'org-agent-sessions-running))
    (:waiting
     (propertize "waiting for you" 'face 'org-agent-sessions-waiting))
    (_ (propertize "idle" 'face 'shadow))))

(defun org-agent-sessions-at-point ()
  "Return the conversation meant here: of the line, or of the buffer, or nil."
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
  "Ask for the list again if a window shows it."
  (org-agent-list-refresh org-agent-sessions--buffer))

;;;; Renaming

;;;###autoload
(defun org-agent-session-rename (session name)
  "Give the conversation SESSION, and its file, the new NAME.
That is the one of this buffer or of this line."
  (interactive
   (let ((session (or (org-agent-sessions-at-point)
                      (org-agent-chat-read-session))))
     (list session (string-trim
                    (read-string (format "New name of %s: " session)
                                 session)))))
  (org-agent-chat-check-name name)
  (when (equal session name)
    (user-error "That is its name"))
  (when-let* ((buffer (org-agent-chat-buffer session)))
    (with-current-buffer buffer (org-agent-file-owner-save)))
  (org-agent-kernel-ask
   "session/rename" (list :session session :to name)
   (lambda (_)
     (message "%s is now called %s" session name)
     (org-agent-sessions--refresh))))

;;;###autoload
(defun org-agent-sessions-renamed (params)
  "Follow the conversation of PARAMS to its new name."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-renamed (plist-get params :to) (plist-get params :file)))
  (when (featurep 'org-agent-approval)
    (org-agent-approval-renamed (plist-get params :session)
                                (plist-get params :to)))
  (org-agent-sessions--refresh))

;;;; Forks

;;;###autoload
(defun org-agent-fork (&optional name)
  "Make a new conversation of what was said up to point, and go there.
In an answer that is all up to its end, in a question all before it, and
the question is the new draft, to be changed and sent; in the draft, or
in the list of conversations, it is all.  With a prefix argument ask for
the NAME of the new one."
  (interactive
   (list (and current-prefix-arg
              (read-string "Name of the new conversation: "))))
  (let ((session (or (org-agent-sessions-at-point)
                     (user-error "This is no conversation; M-x org-agent-chat opens one")))
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
       (message "A fork of %s, with %d of its turns" session
                (or (plist-get result :turns) 0))))))

(defun org-agent-sessions--turn-at-point ()
  "Return the ID of the question or answer point is in, nil in the draft."
  (unless (org-agent-draft-p (point))
    (let ((heading (or (org-agent-heading-turn-at (point))
                       (user-error "Point is in no question and no answer"))))
      (when (member "unsent" (org-agent-heading-tags heading))
        (user-error "This was not sent yet; C-c C-c sends it"))
      (org-agent-heading-property heading "ID"))))

;;;; Search

(defface org-agent-search-match '((t :inherit match))
  "Face of what was looked for in the results of a search."
  :group 'org-agent-lists)

(defconst org-agent-sessions--search-buffer "*org-agent-search*"
  "The name of the buffer of the results.")

(defvar org-agent-sessions--search-history nil
  "What was looked for.")

(defvar-local org-agent-sessions--search-query nil
  "What the results are of: (QUERY . SESSION), without a session of all.")

(defvar-local org-agent-sessions--search-hits nil
  "What was found so far.")

(defvar-local org-agent-sessions--search-before nil
  "Where to go on with what is older, nil when all was looked at.")

(defconst org-agent-sessions--search-page 100
  "How many results are looked for before one has to ask for more.")

(defvar org-agent-search-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-sections-mode-map)
    (define-key map (kbd "RET") #'org-agent-search-visit)
    (define-key map (kbd "s") #'org-agent-search)
    (define-key map (kbd "/") #'org-agent-search)
    (define-key map (kbd "+") #'org-agent-search-older)
    map)
  "Keys in the results of a search.")

(define-derived-mode org-agent-search-mode org-agent-list-sections-mode
  "Org-Agent-Search"
  "Major mode of the results of a search through all that was said.
\\<org-agent-search-mode-map>\\[org-agent-search-visit] goes to where it stands,
\\[org-agent-search] looks for something else, \\[org-agent-search-older] goes on with what is older."
  (org-agent-list-rows
   '(("When" 16) ("Conversation" 20) ("Who" 5) ("What"))
   #'org-agent-sessions--search-anew
   "\\<org-agent-search-mode-map>\\[org-agent-search-visit] go there  \\[org-agent-search] search  \\[org-agent-search-older] older"))

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
                        nil 'org-agent-sessions--search-history)
           session)))
  (org-agent-list-open org-agent-sessions--search-buffer 'org-agent-search-mode
                       (lambda ()
                         (unless (equal org-agent-sessions--search-query
                                        (cons query session))
                           (org-agent-list-show-rows nil))
                         (setq org-agent-sessions--search-query (cons query session))
                         (org-agent-sessions--search-anew))))

(defun org-agent-sessions--search-anew (&rest _)
  "Look again for what the results are of."
  (setq org-agent-sessions--search-hits nil
        org-agent-sessions--search-before nil
        ;; A new object: what is under way for the former is not shown.
        org-agent-sessions--search-query (cons (car org-agent-sessions--search-query)
                                               (cdr org-agent-sessions--search-query)))
  (org-agent-sessions--search-ask org-agent-sessions--search-page))

(defun org-agent-search-older ()
  "Go on with what is older than the results."
  (interactive)
  (unless org-agent-sessions--search-before
    (user-error "All was looked at"))
  (org-agent-sessions--search-ask (+ (length org-agent-sessions--search-hits)
                                     org-agent-sessions--search-page)))

(defun org-agent-sessions--search-ask (wanted)
  "Look on until WANTED results are there, or all was looked at."
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
  "List what was found, with RESULT, of `session/search', in this buffer.
ON says that what is older is being looked at."
  (org-agent-list-show-rows
   (mapcar #'org-agent-sessions--search-row org-agent-sessions--search-hits)
   (when org-agent-sessions--search-before
     (format (if on "(back to %s …)" "(back to %s, + goes on)")
             (org-agent-list-time (plist-get result :reached)))))
  (unless (or org-agent-sessions--search-hits on)
    (message "Nothing that was said has all of: %s"
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

(defun org-agent-sessions--compact-session ()
  "Return the name of this conversation."
  (or org-agent-chat-session
      (user-error "This is no conversation; M-x org-agent-chat opens one")))

;;;###autoload
(defun org-agent-compact ()
  "Have the model summarise the beginning of this conversation.
From then on it is shown the notes in the place of those turns;
`org-agent-prompt' shows them, and `org-agent-compact-undo' takes them
back.  The conversation itself stays as it is."
  (interactive)
  (org-agent-kernel-ask "session/compact"
                        (list :session (org-agent-sessions--compact-session))
                        #'ignore))

;;;###autoload
(defun org-agent-compact-undo ()
  "Have the model shown again what it was before the last summary."
  (interactive)
  (org-agent-kernel-ask "session/compact"
                        (list :session (org-agent-sessions--compact-session) :undo t)
                        #'ignore))

;;;###autoload
(defun org-agent-compact-stop ()
  "Stop the summary of this conversation that is being made.
Nothing changes then, and nothing is lost."
  (interactive)
  (org-agent-kernel-ask "session/compact"
                        (list :session (org-agent-sessions--compact-session) :stop t)
                        #'ignore))

;;;###autoload
(defun org-agent-sessions-compacted (params)
  "Say what becomes of the summary that PARAMS tell of."
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
