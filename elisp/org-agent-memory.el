;;; org-agent-memory.el --- The agent's memory  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The memory is a set of Org files: MEMORY.org and a note for each day.
;; `org-agent-memory' lists its entries and the agent's proposals, and
;; searches them and your notes; RET on a line goes to the heading.  Every
;; change that the agent makes in the memory can be undone.
;;
;; Your notes are Org files of yours that the agent may search and never
;; writes to.  The property NOTES below "Settings" in config.org names them.
;; While it is unset, `org-agent-memory' says so.  `org-agent-memory-notes'
;; asks for them and sets the property.
;;
;; After a conversation the agent may propose entries for its memory.  A
;; proposal stays in the list of `org-agent-memory' until the person accepts
;; it, with or without changes, or drops it.
;;
;; The persona is a set of files in the home: who the agent is, whom it works
;; for and what it should know.  `org-agent-persona' opens one.  They belong
;; to the person, and Emacs does not write them.

;;; Code:

(require 'org)
(require 'org-agent-kernel)
(require 'org-agent-fontify)
(require 'org-agent-heading)
(require 'org-agent-list)
(require 'org-agent-section)

(declare-function org-agent-goto-open "org-agent-goto")
(declare-function org-agent-sessions-search-snippet "org-agent-sessions")

(defconst org-agent-memory--buffer "*org-agent-memory*"
  "The name of the buffer that lists the memory.")

(defconst org-agent-memory--changes-buffer "*org-agent-memory-changes*"
  "The name of the buffer that lists the changes of the memory.")

(defvar org-agent-memory--history nil
  "The minibuffer history of `org-agent-memory-search'.")

(defvar-local org-agent-memory--query ""
  "The query of this list, in the format of `org-agent-memory-search'.")

(defvar org-agent-memory-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-sections-mode-map)
    ;; The header line shows the last key of a command.
    (define-key map (kbd "o") #'org-agent-memory-visit)
    (define-key map (kbd "RET") #'org-agent-memory-visit)
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
  "Keymap of the list of the memory.")

(define-derived-mode org-agent-memory-mode org-agent-list-sections-mode
  "Org-Agent-Memory"
  "Major mode of the list of the memory.
\\<org-agent-memory-mode-map>\\[org-agent-memory-visit] goes to the entry in its file, \\[org-agent-memory-search] searches, \\[org-agent-memory-undo] undoes the latest
change, and \\[org-agent-memory-changes] lists the changes.
Proposals of the agent are listed first: \\[org-agent-memory-accept] accepts one, \\[org-agent-memory-edit] edits and
accepts it, \\[org-agent-memory-drop] drops it, \\[org-agent-memory-accept-all] accepts all, and \\[org-agent-memory-source] shows the question that
it came from.  \\[org-agent-memory-notes] sets which notes of yours the agent may search.

\\{org-agent-memory-mode-map}"
  :interactive nil
  (org-agent-list-rows
   '(("When" 10) ("What" 9) ("Title" 32) ("Text"))
   #'org-agent-memory--ask
   "\\<org-agent-memory-mode-map>\\[org-agent-memory-visit] visit  \\[org-agent-memory-search] search  \\[org-agent-memory-accept] accept  \\[org-agent-memory-edit] edit  \\[org-agent-memory-drop] drop  \\[org-agent-memory-undo] undo"))

;;;; The list

;;;###autoload
(defun org-agent-memory ()
  "List the entries of the memory and the agent's proposals."
  (interactive)
  (org-agent-memory-search ""))

;;;###autoload
(defun org-agent-memory-search (query)
  "Search the memory and your notes for QUERY.
An entry matches if it has all words of QUERY.  \"Words in quotes\" match
as a phrase, and word* matches all words with that beginning.  tag:NAME,
since:2026-11-01, until:2026-11-30 and file:PATH restrict the search.
Without words the latest entries are listed."
  (interactive
   (list (read-string "Search the memory for: " nil
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
  "Request the entries and proposals, and show them when they arrive."
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
    (org-agent-list-show-rows
     (append (mapcar #'org-agent-memory-proposal-row proposals)
             (mapcar #'org-agent-memory--row hits))
     (if (string-blank-p org-agent-memory--query)
         "The memory is empty so far.  Tell the agent in a conversation to remember something."
       "No entry of the memory and no note matches.  \\<org-agent-memory-mode-map>\\[org-agent-memory-search] searches for other words.")
     (cond ((plist-get result :indexing) "(being indexed)")
           ((plist-get result :more) "(there is more)")))
    (when-let* ((offer (and (plist-get result :offer)
                            (string-blank-p org-agent-memory--query)
                            (org-agent-memory-notes-offer))))
      (message "%s" offer))))

(defun org-agent-memory--title (entry)
  "Return the title of ENTRY, a hit or a proposal, with its tags."
  (concat (plist-get entry :title)
          (and (plist-get entry :tags)
               (propertize
                (format " :%s:" (string-join (plist-get entry :tags) ":"))
                'face 'org-tag))))

(defun org-agent-memory--row (hit)
  "Return the row of HIT."
  (let ((text (if (plist-get hit :snippet)
                  (org-agent-sessions-search-snippet hit)
                "")))
    (org-agent-list-row
     'memory (list (plist-get hit :file)
                   (or (plist-get hit :id) (plist-get hit :line)))
     hit
     (list (or (plist-get hit :day) "")
           (cond ((plist-get hit :scope)
                  (format "for %s" (plist-get hit :scope)))
                 ((plist-get hit :own) "agent")
                 (t "yours"))
           (org-agent-memory--title hit)
           text)
     (lambda ()
       (concat (org-agent-memory--title hit) "\n"
               (if (string-blank-p text) "" (org-agent-list-filled text))
               (and (plist-get hit :file)
                    (propertize (abbreviate-file-name (plist-get hit :file))
                                'face 'shadow)))))))

(defun org-agent-memory--at-point ()
  "Return the entry, proposal or change at point, or nil."
  (if (derived-mode-p 'org-agent-memory-mode)
      (org-agent-section-data-at-point 'memory)
    (tabulated-list-get-id)))

(defun org-agent-memory-visit ()
  "Go to the heading of this line, in its file."
  (interactive nil org-agent-memory-mode)
  (let* ((hit (or (org-agent-memory--at-point)
                  (user-error "There is no entry on this line")))
         (file (or (plist-get hit :file)
                   (user-error "A proposal is in no file yet; `a' accepts it"))))
    (unless (file-readable-p file)
      (user-error "%s does not exist any more; `g' updates the list" file))
    (pop-to-buffer (find-file-noselect file))
    (widen)
    (goto-char (point-min))
    (let ((id (plist-get hit :id)))
      (unless (and id (re-search-forward
                       (format "^[ \t]*:ID:[ \t]+%s[ \t]*$" (regexp-quote id)) nil t)
                   (org-back-to-heading t))
        (forward-line (1- (or (plist-get hit :line) 1)))))
    (when (derived-mode-p 'org-mode)
      (org-agent-heading-call-org 'org-fold-show-context 'org-show-context 'link-search)
      (org-agent-heading-call-org 'org-fold-show-entry 'org-show-entry))))

;;;; Changes

;;;###autoload
(defun org-agent-memory-undo (&optional id)
  "Undo the latest change of the memory, or the change ID.
In the list of changes undo the one at point."
  (interactive
   (list (and (derived-mode-p 'org-agent-memory-changes-mode)
              (plist-get (or (tabulated-list-get-id)
                             (user-error "There is no change on this line"))
                         :id))))
  (org-agent-kernel-ask
   "memory/undo" (and id (list :id id))
   (lambda (back)
     (message "Undone: %s" (plist-get back :title)))))

(define-derived-mode org-agent-memory-changes-mode org-agent-list-mode
  "Org-Agent-Memory-Changes"
  "Major mode of the list of the agent's changes to the memory.
\\<org-agent-memory-changes-mode-map>\\[org-agent-memory-undo] undoes the change at point, \\[org-agent-memory-visit] goes to its entry.

\\{org-agent-memory-changes-mode-map}"
  :interactive nil
  (org-agent-list-columns
   [("When" 16 t) ("What" 9 t) ("Title" 28 t) ("File" 0 t)]
   #'org-agent-memory--ask-changes
   "\\<org-agent-memory-changes-mode-map>\\[org-agent-memory-visit] visit  \\[org-agent-memory-undo] undo"))

(define-key org-agent-memory-changes-mode-map (kbd "u") #'org-agent-memory-undo)
(define-key org-agent-memory-changes-mode-map (kbd "RET") #'org-agent-memory-visit)

;;;###autoload
(defun org-agent-memory-changes ()
  "List the agent's changes to the memory, the latest first."
  (interactive)
  (org-agent-list-open org-agent-memory--changes-buffer
                       'org-agent-memory-changes-mode
                       #'org-agent-memory--ask-changes))

(defun org-agent-memory--ask-changes (&rest _)
  "Request the changes, and show them when they arrive."
  (org-agent-kernel-ask
   "memory/changes" nil
   (lambda (result)
     (org-agent-list-show
      (mapcar #'org-agent-memory--change (plist-get result :changes))
      "The agent has not changed its memory yet.  Tell it in a conversation to remember something."))))

(defun org-agent-memory--change (change)
  "Return the line of CHANGE."
  (list change
        (vector (org-agent-list-time (plist-get change :time))
                (cond ((plist-get change :undoes) "undo")
                      ((plist-get change :undone) "(undone)")
                      (t (substring (symbol-name (plist-get change :operation)) 1)))
                (or (plist-get change :title) "")
                (abbreviate-file-name (or (plist-get change :file) "")))))

;;;; Notifications from the kernel

(defun org-agent-memory--refresh ()
  "Revert the lists of the memory that windows show."
  (org-agent-list-refresh org-agent-memory--buffer)
  (org-agent-list-refresh org-agent-memory--changes-buffer))

;;;###autoload
(defun org-agent-memory-changed (params)
  "Report the change of the memory in PARAMS, and refresh the lists."
  (unless (plist-get params :undoes)
    (message "%s"
             (substitute-command-keys
              (format-message "org-agent %s: %s  (\\[org-agent-memory-undo] undoes it)"
                              (pcase (plist-get params :operation)
                                (:saved "remembers")
                                (:forgotten "forgot")
                                (_ "changed its memory"))
                              (replace-regexp-in-string
                               "[\\`]" "" (or (plist-get params :title) ""))))))
  (org-agent-memory--refresh))

;;;; Your notes

(defun org-agent-memory-notes-offer ()
  "Return a hint that the agent could search the notes in `org-directory'.
Return nil if that is no local directory."
  (and (stringp org-directory)
       (not (file-remote-p org-directory))
       (file-directory-p org-directory)
       (substitute-command-keys
        (format-message "The agent does not search your notes in %s; \\[org-agent-memory-notes] lets it"
                        (abbreviate-file-name
                         (directory-file-name (expand-file-name org-directory)))))))

(defun org-agent-memory-notes--read ()
  "Read which directory the agent may search; return it, or nil for none."
  (cond ((not (file-directory-p org-directory))
         (read-directory-name
          (format "There is no %s.  Let the agent search, and never change, the notes in: "
                  (abbreviate-file-name org-directory))
          "~/" nil t))
        (current-prefix-arg
         (read-directory-name "Let the agent search: " org-directory nil t))
        ((y-or-n-p (format "Let the agent search, and never change, your notes in %s? "
                           (abbreviate-file-name org-directory)))
         org-directory)))

;;;###autoload
(defun org-agent-memory-notes (directory)
  "Let the agent search the Org files of DIRECTORY; nil means none.
The agent never writes to them.  Interactively, ask about `org-directory';
with a prefix argument, or if that does not exist, read the directory.
Set the property NOTES in config.org."
  (interactive (list (org-agent-memory-notes--read)))
  (let ((file (expand-file-name "config.org" (org-agent-home-directory))))
    (when (and (get-file-buffer file)
               (buffer-modified-p (get-file-buffer file)))
      (user-error "Save %s first" (abbreviate-file-name file)))
    (with-current-buffer (find-file-noselect file)
      (org-with-wide-buffer
       (goto-char (point-min))
       (unless (re-search-forward "^\\* Settings[ \t]*$" nil t)
         (goto-char (point-max))
         (unless (bolp) (insert "\n"))
         (insert "* Settings"))
       (org-back-to-heading t)
       (org-entry-put nil "NOTES" (org-agent-memory-notes--value
                                   (org-entry-get nil "NOTES") directory)))
      (let ((save-silently t))
        (save-buffer)))
    (message "%s" (if directory
                      (format "The agent searches %s"
                              (abbreviate-file-name directory))
                    "The agent searches none of your notes"))))

(defun org-agent-memory-notes--value (old directory)
  "Return OLD, the value of NOTES or nil, with DIRECTORY added.
If DIRECTORY is nil, return OLD, or else \"none\"."
  (let* ((known (and old (not (member old '("" "none"))) old))
         (name (and directory
                    (directory-file-name
                     (abbreviate-file-name (expand-file-name directory)))))
         (written (if (and name (string-match-p "[ \t,]" name))
                      (format "\"%s\"" name)
                    name)))
    (cond ((not name) (or known "none"))
          ((not known) written)
          ((member name (split-string-and-unquote known)) known)
          (t (concat known " " written)))))

;;;; Proposals

(defvar-local org-agent-memory-proposal--id nil
  "The proposal that is being edited in this buffer.")

(defun org-agent-memory-proposal-row (proposal)
  "Return the row of PROPOSAL in the list of the memory."
  (let ((text (or (plist-get proposal :text) "")))
    (org-agent-list-row
     'memory (plist-get proposal :proposal) proposal
     (list (substring (org-agent-list-time (plist-get proposal :time)) 0 10)
           (propertize (pcase (plist-get proposal :operation)
                         (:saved "remember?") (:updated "change?") (_ "forget?"))
                       'face 'warning)
           (org-agent-memory--title proposal)
           text)
     (lambda ()
       (concat (org-agent-memory--title proposal) "\n"
               (if (string-blank-p text) "" (org-agent-list-filled text)))))))

(defun org-agent-memory-proposal--here ()
  "Return the proposal of this line, or signal an error."
  (let ((entry (org-agent-memory--at-point)))
    (unless (plist-get entry :proposal)
      (user-error "This is no proposal; proposals are marked with a question mark"))
    entry))

(defun org-agent-memory-proposal--decide (method done proposals)
  "Call the kernel's METHOD with the ids of PROPOSALS, a non-empty list.
DONE is the word that reports success."
  (org-agent-kernel-ask
   method (list :ids (mapcar (lambda (proposal) (plist-get proposal :proposal))
                             proposals))
   (lambda (result)
     (let ((refused (plist-get result :refused)))
       (if refused
           (message "org-agent: %s" (plist-get (car refused) :message))
         (message "%s: %s" done
                  (if (cdr proposals)
                      (length proposals)
                    (plist-get (car proposals) :title)))))
     (when (derived-mode-p 'org-agent-memory-mode)
       (revert-buffer)))))

(defun org-agent-memory-accept ()
  "Accept the proposal of this line."
  (interactive nil org-agent-memory-mode)
  (org-agent-memory-proposal--decide
   "memory/accept" "Accepted" (list (org-agent-memory-proposal--here))))

(defun org-agent-memory-accept-all ()
  "Accept all listed proposals."
  (interactive nil org-agent-memory-mode)
  (let ((proposals (cl-remove-if-not
                    (lambda (entry) (plist-get entry :proposal))
                    (mapcar #'org-agent-section-data
                            (org-agent-section-all 'memory)))))
    (unless proposals
      (user-error "There are no proposals"))
    (org-agent-memory-proposal--decide "memory/accept" "Accepted" proposals)))

(defun org-agent-memory-drop ()
  "Drop the proposal of this line."
  (interactive nil org-agent-memory-mode)
  (org-agent-memory-proposal--decide
   "memory/drop" "Dropped" (list (org-agent-memory-proposal--here))))

(defun org-agent-memory-source ()
  "Go to the question that the proposal of this line came from."
  (interactive nil org-agent-memory-mode)
  (let* ((proposal (org-agent-memory-proposal--here))
         (event (or (plist-get proposal :event)
                    (user-error "The question that this came from is not known"))))
    (pop-to-buffer (org-agent-goto-open (plist-get proposal :session) event))))

;;;; Editing

(defvar org-agent-memory-edit-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") '("accept" . org-agent-memory-edit-accept))
    (define-key map (kbd "C-c C-k") '("cancel" . org-agent-memory-edit-cancel))
    map)
  "Keymap of `org-agent-memory-edit-mode'.")

(define-derived-mode org-agent-memory-edit-mode org-mode "Org-Agent-Proposal"
  "Major mode for editing a proposal.
\\<org-agent-memory-edit-mode-map>\\[org-agent-memory-edit-accept] accepts the edited proposal, \\[org-agent-memory-edit-cancel] cancels the edit."
  :interactive nil
  (setq-local org-confirm-babel-evaluate t
              enable-local-variables nil)
  (org-agent-fontify-listed-languages)
  (setq header-line-format
        (substitute-command-keys
         " \\<org-agent-memory-edit-mode-map>\\[org-agent-memory-edit-accept] accept  \\[org-agent-memory-edit-cancel] cancel")))

(defun org-agent-memory-edit ()
  "Edit the proposal of this line before accepting it."
  (interactive nil org-agent-memory-mode)
  (let ((proposal (org-agent-memory-proposal--here)))
    (when (eq (plist-get proposal :operation) :forgotten)
      (user-error "A proposal to forget cannot be edited; `a' accepts it, `d' drops it"))
    (pop-to-buffer (generate-new-buffer "*org-agent-keep*"))
    (org-agent-memory-edit-mode)
    (setq org-agent-memory-proposal--id (plist-get proposal :proposal))
    (insert "* " (plist-get proposal :title)
            (if (plist-get proposal :tags)
                (format " :%s:" (string-join (plist-get proposal :tags) ":"))
              "")
            "\n" (or (plist-get proposal :text) "") "\n")
    (goto-char (+ (point-min) 2))
    (set-buffer-modified-p nil)))

(defun org-agent-memory-edit-accept ()
  "Accept the proposal with the text of this buffer."
  (interactive nil org-agent-memory-edit-mode)
  (let (title tags text)
    (save-excursion
      (goto-char (point-min))
      (unless (looking-at org-outline-regexp-bol)
        (user-error "The first line must be a heading: begin it with * and a space"))
      (setq title (org-get-heading t nil nil nil)
            tags (org-get-tags nil t))
      (forward-line)
      (setq text (string-trim (buffer-substring-no-properties
                               (point) (point-max)))))
    (let ((buffer (current-buffer)))
      (org-agent-kernel-ask
       "memory/accept" (list :ids (list org-agent-memory-proposal--id)
                             :title (substring-no-properties title)
                             :text text :edited t
                             :tags (mapcar #'substring-no-properties tags))
       (lambda (result)
         (let ((refused (car (plist-get result :refused))))
           (if refused
               (message "org-agent: %s" (plist-get refused :message))
             (message "Accepted: %s" title)
             (when (buffer-live-p buffer)
               (set-buffer-modified-p nil)
               (quit-windows-on buffer t)))))))))

(defun org-agent-memory-edit-cancel ()
  "Cancel the edit; the proposal stays as it was."
  (interactive nil org-agent-memory-edit-mode)
  (set-buffer-modified-p nil)
  (quit-window t))

;;;###autoload
(defun org-agent-memory-proposed (params)
  "Report the number of proposals in PARAMS, and refresh the lists."
  (let ((count (or (plist-get params :waiting) 0)))
    (when (> count 0)
      (message "%s" (substitute-command-keys
                     (format "org-agent proposes %s; \\[org-agent-memory] shows them"
                             (org-agent-counted count "memory change"))))))
  (org-agent-memory--refresh))

;;;; The persona

(defconst org-agent-memory-persona-roles
  '(("IDENTITY" . "who the agent is: its name, its purpose")
    ("SOUL" . "its character and its style")
    ("USER" . "you: name, time zone, languages")
    ("TOOLS" . "what it should know about the tools here")
    ("PROFILES" . "people that you mention")
    ("WORKSPACE" . "where your work is")
    ("MEMORY" . "what it should remember")
    ("HEARTBEAT" . "what it should check from time to time"))
  "An alist of the files of the persona and their descriptions.")

(defun org-agent-memory--persona-file (role)
  "Return the existing file of ROLE, or nil; prefer Org to Markdown."
  (let ((file (expand-file-name role (org-agent-home-directory))))
    (cl-find-if #'file-exists-p (list (concat file ".org") (concat file ".md")))))

(defun org-agent-memory--persona-state (role)
  "Return a remark about the file of ROLE, or the empty string."
  (let ((file (org-agent-memory--persona-file role)))
    (cond ((null file) "does not exist")
          ((not (file-readable-p file)) "not readable")
          ((with-temp-buffer
             (insert-file-contents file)
             (re-search-forward "^[ \t]*[^#\n \t]" nil t))
           "")
          (t "empty"))))

(defun org-agent-memory--persona-annotate (role)
  "Return the annotation of ROLE in completion."
  (let ((state (org-agent-memory--persona-state role)))
    (concat "  " (cdr (assoc role org-agent-memory-persona-roles))
            (unless (string-empty-p state) (concat " (" state ")")))))

;;;###autoload
(defun org-agent-persona (role)
  "Open the file of ROLE, one of the persona of the agent.
When you have saved it, it applies from the next turn on.
\\[org-agent-prompt] shows what the model gets of it."
  (interactive
   (list (let ((completion-extra-properties
                '(:annotation-function org-agent-memory--persona-annotate))
               (completion-ignore-case t))
           (completing-read (format-prompt "File of the persona" "IDENTITY")
                            (mapcar #'car org-agent-memory-persona-roles)
                            nil t nil nil "IDENTITY"))))
  (unless (assoc role org-agent-memory-persona-roles)
    (user-error "There is no file of that name; there are %s"
                (string-join (mapcar #'car org-agent-memory-persona-roles) ", ")))
  (let ((file (org-agent-memory--persona-file role)))
    (pop-to-buffer-same-window
     (find-file-noselect
      (or file (expand-file-name (concat role ".org")
                                 (org-agent-home-directory)))))
    (when (and (null file) (zerop (buffer-size)))
      (insert "#+TITLE: " (capitalize role) "\n")
      (set-buffer-modified-p nil))
    ;; Hints are read, and what one writes is below them.
    (when (equal (org-agent-memory--persona-state role) "empty")
      (goto-char (point-max)))))

(provide 'org-agent-memory)
;;; org-agent-memory.el ends here
