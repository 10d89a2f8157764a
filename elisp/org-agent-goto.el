;;; org-agent-goto.el --- Go to what was said: links, bookmarks, index  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A turn is known by its session and its `:ID:'.  Links, bookmarks and the
;; index of a conversation lead to turns.  What
;; the buffer lacks comes from the kernel, which may have to start; what a
;; person took out of the file stays out, and is shown beside it.
;;
;; Imenu's index of a conversation: every question by its first words,
;; and its answers by theirs behind it.  Entries lead to the `:ID:', so
;; that one made before an edit still leads to the right turn.
;;
;; A link `org-agent:SESSION::ID' leads to a turn of a conversation.
;; `org-store-link' makes one of the turn that point is in,
;; `org-insert-link' completes, `org-open-at-point' goes there.  An
;; exported link is its description, or else the turn's first words: who
;; reads the page has no such conversation.
;;
;; A bookmark set in a conversation is one of the turn that point is in,
;; or of the draft: whatever is said, edited or renamed later, it leads
;; there.

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
  "Where to go as soon as the conversation is there: (ID MARKER WORDS).
It is not gone to when point is not at MARKER any more.")
(put 'org-agent-goto--wanted 'permanent-local t)

(defconst org-agent-goto--buffer "*org-agent-said*"
  "The buffer that shows what is not in its conversation any more.")

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

;;;; Going there

(defun org-agent-goto-reach (session id)
  "Return the buffer of SESSION with point at the turn whose `:ID:' is ID.
A conversation that is not there is not begun: the kernel, which knows
of renamed ones, is asked where ID is, and the result is nil."
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
If WORDS stand in the turn, point is behind them.  If the turn is not
there, point goes to it when it has come; if it does not come, what is
known of it is shown.  Without ID point is in the draft."
  (let ((buffer (org-agent-chat-open session)))
    (with-current-buffer buffer
      (cond
       ((null id) (goto-char (point-max)))
       ((org-agent-goto--turn id words))
       (t (setq org-agent-goto--wanted (list id (point-marker) words))
          (add-hook 'org-agent-chat-loaded-hook #'org-agent-goto--settle)
          (if (eq org-agent-chat-attached t)
              (org-agent-goto--settle)
            (org-agent-kernel-ensure)))))
    buffer))

(defun org-agent-goto--turn (id words)
  "Go to the turn whose `:ID:' is ID, or to WORDS in it, and unfold that.
Return nil when the turn is not there."
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
  "Go behind WORDS, if they stand between point and END.
However they are broken into lines there, and whatever their case."
  (let ((case-fold-search t)
        (words (split-string (or words ""))))
    (when words
      (re-search-forward (mapconcat #'regexp-quote words "[ \t\n]+") end t))))

(defun org-agent-goto--settle ()
  "Go where the person wanted to, now that the conversation is there."
  (pcase-let ((`(,id ,marker ,words) org-agent-goto--wanted))
    (setq org-agent-goto--wanted nil)
    (when (and id (= marker (point)) (not (org-agent-goto--turn id words)))
      (org-agent-goto-find id))
    (when marker (set-marker marker nil))))

(defun org-agent-goto-find (id)
  "Ask the kernel where ID is, and go there or show what was said."
  (org-agent-kernel-request
   "turn/find" (list :id id)
   :success (lambda (result) (org-agent-goto--found id result))
   :failure (lambda (refusal)
              (message "org-agent: the link leads nowhere: %s"
                       (plist-get refusal :message)))))

(defun org-agent-goto--found (id result)
  "Go to the turn ID as RESULT, that of `turn/find', says, or show it.
A conversation that has no buffer yet is opened: it has that name now."
  (let* ((session (plist-get result :session))
         (buffer (org-agent-chat-buffer session)))
    (if (and buffer
             (eq t (buffer-local-value 'org-agent-chat-attached buffer))
             (not (with-current-buffer buffer (org-agent-heading-find id))))
        (org-agent-goto--show-lost id result)
      (display-buffer (org-agent-goto-open session id)))))

(defun org-agent-goto--show-lost (id result)
  "Show the question and the answer of RESULT, which are in no file.
ID is that of the turn: shown once more, it is as it was left."
  (with-current-buffer (get-buffer-create org-agent-goto--buffer)
    (unless (derived-mode-p 'org-agent-section-mode)
      (org-agent-section-mode))
    (setq-local revert-buffer-function
                (lambda (&rest _) (org-agent-goto-find id)))
    (org-agent-section-show
     (list (org-agent-section
            nil (list 'lost id)
            :body (format "This was said in %s.  It was taken out of the file since.\n\n"
                          (plist-get result :session)))
           (org-agent-section 'question id :heading "Question"
                              :body (or (plist-get result :question) ""))
           (org-agent-section 'answer id :heading "Answer"
                              :body (or (plist-get result :answer) ""))))
    (display-buffer (current-buffer))))

;;;; The index

;;;###autoload
(defun org-agent-goto-imenu-index ()
  "Return the index of this conversation.
Elements are (NAME POSITION FUNCTION ID), no two with one name."
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
  "Return WORDS as a name that is not in the table NAMES yet."
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
      (user-error "It is not in the conversation any more"))
    (push-mark nil t)
    (unless (<= (point-min) heading (point-max))
      (widen))
    (goto-char heading)
    (org-reveal)))

;;;; Links

(defface org-agent-link '((t :inherit org-link))
  "Face of links to what was said to the agent and by it."
  :group 'org-agent-chat)

(defun org-agent-goto-link-path (session id)
  "Return the path of a link to the turn ID of SESSION."
  (concat session "::" id))

(defun org-agent-goto--link-parse (path)
  "Return what PATH leads to, (SESSION . ID); ID is nil for a whole session."
  (let* ((cut (string-search "::" path))
         (session (if cut (substring path 0 cut) path))
         (id (and cut (substring path (+ cut 2)))))
    (unless (org-agent-chat-valid-session-p session)
      (user-error "No link to a conversation: org-agent:%s; one is org-agent:SESSION::ID"
                  path))
    (cons session (unless (string-empty-p (or id "")) id))))

(defun org-agent-goto-link-store (&optional _interactive)
  "Store a link to the turn that point is in; for `org-store-link'."
  (when org-agent-chat-session
    (when-let* ((heading (org-agent-goto-turn-at-point))
                (id (org-agent-heading-property heading "ID")))
      (org-link-store-props
       :type "org-agent"
       :link (concat "org-agent:"
                     (org-agent-goto-link-path org-agent-chat-session id))
       :description (org-agent-goto-first-words heading))
      t)))

(defun org-agent-goto-link-follow (path &optional _prefix)
  "Go to the turn that PATH leads to.
A conversation that is not there is not begun."
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
  "Return the first words of what PATH leads to, or nil.
It is looked for where it can be found at once: in the buffer or the
file of the conversation."
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
  "Return what the link at POSITION of OBJECT leads to."
  (let* ((uri (plist-get (get-text-property position 'htmlize-link object) :uri))
         (path (and uri (string-remove-prefix "org-agent:" uri))))
    (condition-case nil
        (format "%s: %s"
                (car (org-agent-goto--link-parse path))
                (or (org-agent-goto--link-words path)
                    "what was said to the agent, or by it"))
      (error "What was said to the agent, or by it"))))

(defun org-agent-goto-link-export (path description backend &optional _info)
  "Return DESCRIPTION, or what PATH leads to, as text of BACKEND."
  (or description
      (org-agent-goto--link-escape
       (or (ignore-errors (org-agent-goto--link-words path))
           "A conversation with the agent")
       backend)))

(defun org-agent-goto--link-escape (text backend)
  "Return TEXT as it has to stand in what BACKEND makes."
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
  "Return TEXT with its characters replaced, those in REPLACEMENTS."
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

(provide 'org-agent-goto)
;;; org-agent-goto.el ends here
