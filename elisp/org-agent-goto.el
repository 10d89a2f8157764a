;;; org-agent-goto.el --- Go to turns: links, bookmarks, imenu, desktop  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A turn is identified by its session and its `:ID:'.  Links, bookmarks and
;; imenu lead to turns.  A turn that the buffer lacks comes from the kernel,
;; which may have to start.  A turn that a person deleted from the file
;; stays deleted, and is shown in a buffer of its own.
;;
;; The index of imenu has every question by its first words, followed by its
;; answers.  Entries lead to an `:ID:', so that they are right after edits.
;;
;; A link `org-agent:SESSION::ID' leads to a turn.  `org-store-link' stores a
;; link to the turn at point, `org-insert-link' completes one, and
;; `org-open-at-point' follows it.  A link is exported as its description,
;; or else as the first words of the turn, since readers of the export do
;; not have the conversation.
;;
;; A bookmark that is set in a conversation leads to the turn at point, or to
;; the draft, also after edits and renames.
;;
;; `desktop-save-mode' remembers a conversation by its file and its mode.
;; When it visits the file again that is not enough: a conversation is
;; opened with its session and its draft, and connected to the kernel.
;; The kernel is needed when the conversation is seen, so that nobody waits
;; for it before.

;;; Code:

(require 'bookmark)
(require 'cl-lib)
(require 'imenu)
(require 'ol)
(require 'org)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-draft)
(require 'org-agent-chat)
(require 'org-agent-section)

(declare-function org-export-derived-backend-p "ox")

(defvar-local org-agent-goto--wanted nil
  "Where to go when the conversation is loaded: (ID MARKER WORDS).
Point is moved only if it is still at MARKER.")
(put 'org-agent-goto--wanted 'permanent-local t)

(defconst org-agent-goto--buffer "*org-agent-said*"
  "The buffer that shows a turn that was deleted from its conversation.")

;;;; Turns

(defun org-agent-goto-turn-at-point ()
  "Return the heading of the turn that point is in, nil in the draft."
  (unless (org-agent-draft-p (point))
    (org-agent-heading-turn-at (point))))

;;;###autoload
(defun org-agent-goto-first-words (heading)
  "Return the first words of the turn at HEADING."
  (org-agent-one-line (org-link-display-format (org-agent-heading-title heading))
                      70))

;;;; Going to a turn

(defun org-agent-goto-reach (session id)
  "Return the buffer of SESSION with point at the turn whose `:ID:' is ID.
If there is no conversation SESSION, do not make one.  Ask the kernel,
which knows renamed conversations, where ID is, and return nil."
  (cond
   ((or (org-agent-chat-buffer session)
        (file-exists-p (org-agent-chat-file session)))
    (org-agent-goto-open session id))
   ((not id)
    (user-error "There is no conversation %s" session))
   ((org-agent-kernel-ready-p)
    (org-agent-goto-find id)
    nil)
   (t (org-agent-kernel-ensure)
      (user-error "The conversation %s is not here, and the kernel is being started to look for it; try again"
                  session))))

;;;###autoload
(defun org-agent-goto-open (session id &optional words)
  "Return the buffer of SESSION, with point at the turn whose `:ID:' is ID.
If the turn contains WORDS, point is after them.  If the buffer lacks the
turn, go to it when the conversation is loaded, or show the turn in a
buffer of its own if it was deleted.  Without ID point is in the draft."
  (let ((buffer (org-agent-chat-open session)))
    (with-current-buffer buffer
      (cond
       ((null id) (goto-char (point-max)))
       ((org-agent-goto--turn id words))
       (t (setq org-agent-goto--wanted (list id (point-marker) words))
          (add-hook 'org-agent-chat-loaded-hook #'org-agent-goto--go-when-loaded)
          (if (eq org-agent-chat-attached t)
              (org-agent-goto--go-when-loaded)
            (org-agent-kernel-ensure)))))
    buffer))

(defun org-agent-goto--turn (id words)
  "Go to the turn whose `:ID:' is ID, or to WORDS in it, and unfold it.
Return nil when the buffer lacks the turn."
  (when-let* ((heading (org-agent-heading-find id)))
    (push-mark nil t)
    (unless (<= (point-min) heading (point-max))
      (widen))
    (goto-char heading)
    (org-agent-goto--words words (org-agent-heading-subtree-end heading))
    (org-reveal)
    (dolist (window (get-buffer-window-list nil nil t))
      (set-window-point window (point)))
    t))

(defun org-agent-goto--words (words end)
  "Go past WORDS, if they are between point and END.
Case and line breaks do not matter."
  (let ((case-fold-search t)
        (words (split-string (or words ""))))
    (when words
      (re-search-forward (mapconcat #'regexp-quote words "[ \t\n]+") end t))))

(defun org-agent-goto--go-when-loaded ()
  "Go where the person wanted to go, since the conversation is loaded."
  (pcase-let ((`(,id ,marker ,words) org-agent-goto--wanted))
    (setq org-agent-goto--wanted nil)
    (when (and id (= marker (point)) (not (org-agent-goto--turn id words)))
      (org-agent-goto-find id))
    (when marker (set-marker marker nil))))

(defun org-agent-goto-find (id)
  "Ask the kernel where ID is, and go there or show the turn."
  (org-agent-kernel-request
   "turn/find" (list :id id)
   :success (lambda (result) (org-agent-goto--found id result))
   :failure (lambda (refusal)
              (message "org-agent: the link leads nowhere: %s"
                       (plist-get refusal :message)))))

(defun org-agent-goto--found (id result)
  "Go to the turn ID where RESULT, that of `turn/find', says, or show it.
If the conversation has no buffer yet, open it."
  (let* ((session (plist-get result :session))
         (buffer (org-agent-chat-buffer session)))
    (if (and buffer
             (eq t (buffer-local-value 'org-agent-chat-attached buffer))
             (not (with-current-buffer buffer (org-agent-heading-find id))))
        (org-agent-goto--show-lost id result)
      (pop-to-buffer (org-agent-goto-open session id)))))

(defun org-agent-goto--show-lost (id result)
  "Show the question and the answer of RESULT, which are in no file.
ID, that of the turn, identifies the sections."
  (with-current-buffer (get-buffer-create org-agent-goto--buffer)
    (unless (derived-mode-p 'org-agent-section-mode)
      (org-agent-section-mode))
    (setq-local revert-buffer-function
                (lambda (&rest _) (org-agent-goto-find id)))
    (org-agent-section-show
     (list (org-agent-section
            nil (list 'lost id)
            :body (format "This turn of %s was deleted from its file.\n\n"
                          (plist-get result :session)))
           (org-agent-section 'question id :heading "Question"
                              :body (or (plist-get result :question) ""))
           (org-agent-section 'answer id :heading "Answer"
                              :body (or (plist-get result :answer) ""))))
    (pop-to-buffer (current-buffer))))

;;;; The index

;;;###autoload
(defun org-agent-goto-imenu-index ()
  "Return the index of this conversation for imenu.
The elements are (NAME POSITION FUNCTION ID); the names are unique."
  (let ((names (make-hash-table :test #'equal)) question index)
    (org-agent-heading-map-turns
     (lambda (heading)
       (let ((words (org-agent-goto-first-words heading)))
         (when (eq (org-agent-heading-turn-p heading) 'user)
           (setq question words))
         (push (list (org-agent-goto--imenu-name
                      (if (or (eq question words) (not question))
                          words
                        (format "%s / %s" question words))
                      names)
                     heading #'org-agent-goto-imenu-go
                     (org-agent-heading-property heading "ID"))
               index))))
    (nreverse index)))

(defun org-agent-goto--imenu-name (words names)
  "Return WORDS as a name that is not in the table NAMES yet, and add it."
  (let* ((words (if (string-empty-p words) "(no words)" words))
         (count (puthash words (1+ (gethash words names 0)) names)))
    (if (= count 1) words (format "%s <%d>" words count))))

(defun org-agent-goto-imenu-go (_name position id)
  "Go to the turn whose `:ID:' is ID, which was at POSITION."
  (let ((heading (if (and (<= (point-min) position (point-max))
                          (equal id (org-agent-heading-property position "ID")))
                     position
                   (org-agent-heading-find id))))
    (unless heading
      (user-error "The turn is not in the conversation any more"))
    (push-mark nil t)
    (unless (<= (point-min) heading (point-max))
      (widen))
    (goto-char heading)
    (org-reveal)))

;;;; Links

(defface org-agent-link '((t :inherit org-link))
  "Face of links to questions and answers."
  :group 'org-agent-chat)

(defun org-agent-goto-link-path (session id)
  "Return the path of a link to the turn ID of SESSION."
  (concat session "::" id))

(defun org-agent-goto--link-parse (path)
  "Return the target of PATH, (SESSION . ID); ID is nil for a whole session."
  (let* ((cut (string-search "::" path))
         (session (if cut (substring path 0 cut) path))
         (id (and cut (substring path (+ cut 2)))))
    (unless (org-agent-chat-valid-session-p session)
      (user-error "No link to a conversation: org-agent:%s; one is org-agent:SESSION::ID"
                  path))
    (cons session (unless (string-empty-p (or id "")) id))))

(defun org-agent-goto-link-store (&optional _interactive)
  "Store a link to the turn that point is in; for `org-store-link'.
In a draft and in a new conversation it is to the whole conversation."
  (when org-agent-chat-session
    (let* ((heading (org-agent-goto-turn-at-point))
           (id (and heading (org-agent-heading-property heading "ID"))))
      (org-link-store-props
       :type "org-agent"
       :link (concat "org-agent:"
                     (if id
                         (org-agent-goto-link-path org-agent-chat-session id)
                       org-agent-chat-session))
       :description (if id
                        (org-agent-goto-first-words heading)
                      (format "the conversation %s" org-agent-chat-session)))
      t)))

(defun org-agent-goto-link-follow (path &optional _prefix)
  "Go to the turn that PATH leads to; make no new conversation."
  (pcase-let ((`(,session . ,id) (org-agent-goto--link-parse path)))
    (when-let* ((buffer (org-agent-goto-reach session id)))
      (pop-to-buffer buffer))))

(defun org-agent-goto-link-complete (&optional _arg)
  "Read a turn and return a link to it."
  (let ((session (completing-read "Conversation: " (org-agent-chat-sessions)
                                  nil t nil nil org-agent-chat-main)))
    (with-current-buffer (org-agent-chat-open session)
      (let* ((index (or (org-agent-goto-imenu-index)
                        (user-error "Nothing was said in %s yet" session)))
             (entry (assoc (completing-read "Turn: " index nil t) index)))
        (concat "org-agent:" (org-agent-goto-link-path session
                                                       (car (last entry))))))))

;;;; Showing and exporting

(defun org-agent-goto--link-words (path)
  "Return the first words of the turn that PATH leads to, or nil.
Look in the buffer or in the file of the conversation."
  (pcase-let ((`(,session . ,id) (org-agent-goto--link-parse path)))
    (cl-flet ((words ()
                     (when-let* ((heading (and id (org-agent-heading-find id))))
                       (org-agent-goto-first-words heading))))
      (let ((buffer (org-agent-chat-buffer session))
            (file (org-agent-chat-file session)))
        (cond
         (buffer (with-current-buffer buffer (words)))
         ((file-readable-p file)
          (with-temp-buffer
            (insert-file-contents file)
            (words))))))))

(defun org-agent-goto--link-help (_window object position)
  "Return a description of the target of the link at POSITION of OBJECT."
  (let* ((uri (plist-get (get-text-property position 'htmlize-link object) :uri))
         (path (and uri (string-remove-prefix "org-agent:" uri))))
    (condition-case nil
        (format "%s: %s"
                (car (org-agent-goto--link-parse path))
                (or (org-agent-goto--link-words path)
                    "a question or an answer"))
      (error "A question or an answer"))))

(defun org-agent-goto-link-export (path description backend &optional _info)
  "Return DESCRIPTION, or the first words at PATH, as text of BACKEND."
  (or description
      (org-agent-goto--link-escape
       (or (ignore-errors (org-agent-goto--link-words path))
           "A conversation with the agent")
       backend)))

(defun org-agent-goto--link-escape (text backend)
  "Return TEXT escaped for the output of BACKEND."
  (cond
   ((org-export-derived-backend-p backend 'html 'md)
    (org-agent-goto--link-replace text '(("&" . "&amp;") ("<" . "&lt;")
                                         (">" . "&gt;"))))
   ((org-export-derived-backend-p backend 'latex)
    (org-agent-goto--link-replace
     text '(("\\" . "\\textbackslash{}") ("~" . "\\textasciitilde{}")
            ("^" . "\\textasciicircum{}") ("{" . "\\{") ("}" . "\\}")
            ("$" . "\\$") ("&" . "\\&") ("#" . "\\#") ("_" . "\\_")
            ("%" . "\\%"))))
   (t text)))

(defun org-agent-goto--link-replace (text replacements)
  "Return TEXT with its characters replaced as in the alist REPLACEMENTS."
  (mapconcat (lambda (character)
               (let ((string (char-to-string character)))
                 (or (cdr (assoc string replacements)) string)))
             text ""))

(org-link-set-parameters
 "org-agent"
 :follow #'org-agent-goto-link-follow
 :store #'org-agent-goto-link-store
 :complete #'org-agent-goto-link-complete
 :export #'org-agent-goto-link-export
 :face 'org-agent-link
 :help-echo #'org-agent-goto--link-help)

;;;; Bookmarks

;;;###autoload
(defun org-agent-goto-bookmark-make ()
  "Return a bookmark of the turn that point is in, or of the draft."
  (let* ((heading (org-agent-goto-turn-at-point))
         (id (and heading (org-agent-heading-property heading "ID"))))
    `(,(concat "org-agent " org-agent-chat-session
               (and heading (concat ": " (org-agent-goto-first-words heading))))
      (session . ,org-agent-chat-session)
      (id . ,id)
      (location . ,(concat "org-agent:" org-agent-chat-session
                           (and id (concat "::" id))))
      (handler . org-agent-bookmark-jump))))

;;;###autoload
(defun org-agent-bookmark-jump (bookmark)
  "Go where BOOKMARK leads; for `bookmark-jump'."
  (let ((session (bookmark-prop-get bookmark 'session)))
    (unless (and (stringp session) (org-agent-chat-valid-session-p session))
      (user-error "The bookmark names no conversation"))
    (set-buffer
     (or (org-agent-goto-reach session (bookmark-prop-get bookmark 'id))
         (user-error "The conversation %s is not here; the kernel is asked where it is"
                     session)))))

;;;; Conversations that a desktop restores

(defvar desktop-buffer-mode-handlers)

;;;###autoload
(defun org-agent-goto-restored (file _name _misc)
  "Open the conversation of FILE again and return its buffer.
Return nil if it is none of this home.  This is for
`desktop-buffer-mode-handlers'."
  (let ((session (and (stringp file) (file-name-base file))))
    (when (and session
               (org-agent-chat-valid-session-p session)
               (file-exists-p file)
               (equal (file-truename file)
                      (file-truename (org-agent-chat-file session))))
      (with-current-buffer (org-agent-chat-open session)
        (add-hook 'window-buffer-change-functions
                  #'org-agent-goto--restored-seen nil t)
        (current-buffer)))))

(defun org-agent-goto--restored-seen (window)
  "Connect the conversation that WINDOW shows to the kernel, now it is seen."
  (when (windowp window)
    (with-current-buffer (window-buffer window)
      (remove-hook 'window-buffer-change-functions
                   #'org-agent-goto--restored-seen t))
    ;; A kernel that has to be started must not delay what is drawn.
    (run-with-timer 0 nil #'org-agent-kernel-ensure)))

;;;###autoload
(add-to-list 'desktop-buffer-mode-handlers
             '(org-agent-chat-mode . org-agent-goto-restored))

(provide 'org-agent-goto)
;;; org-agent-goto.el ends here
