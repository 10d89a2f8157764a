;;; org-agent-link.el --- Links to what was said  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A link `org-agent:SESSION::ID' leads to a turn of a conversation.
;; `org-store-link' makes one of the turn that point is in,
;; `org-insert-link' completes, `org-open-at-point' goes there.  An
;; exported link is its description, or else the turn's first words: who
;; reads the page has no such conversation.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'ol)
(require 'org-agent-chat)
(require 'org-agent-draft)
(require 'org-agent-place)
(require 'org-agent-imenu)

(declare-function org-export-derived-backend-p "ox")

(defface org-agent-link '((t :inherit org-link))
  "Face of links to what was said to the agent and by it."
  :group 'org-agent)

(defun org-agent-link-path (session id)
  "Return the path of a link to the turn ID of SESSION."
  (concat session "::" id))

(defun org-agent-link--parse (path)
  "Return what PATH leads to, (SESSION . ID); ID is nil for a whole session."
  (let* ((cut (string-search "::" path))
         (session (if cut (substring path 0 cut) path))
         (id (and cut (substring path (+ cut 2)))))
    (unless (org-agent-chat-valid-session-p session)
      (user-error "No link to a conversation: org-agent:%s; one is org-agent:SESSION::ID"
                  path))
    (cons session (unless (string-empty-p (or id "")) id))))

(defun org-agent-link-store ()
  "Store a link to the turn that point is in; for `org-store-link'."
  (when org-agent-chat-session
    (when-let* ((heading (org-agent-place-turn))
                (id (org-agent-heading-property heading "ID")))
      (org-link-store-props
       :type "org-agent"
       :link (concat "org-agent:"
                     (org-agent-link-path org-agent-chat-session id))
       :description (org-agent-place-words heading))
      t)))

(defun org-agent-link-follow (path &optional _prefix)
  "Go to the turn that PATH leads to.
A conversation that is not there is not begun."
  (pcase-let ((`(,session . ,id) (org-agent-link--parse path)))
    (when-let ((buffer (org-agent-place-reach session id)))
      (pop-to-buffer buffer))))

(defun org-agent-link-complete (&optional _arg)
  "Read a turn and return a link to it."
  (let ((session (completing-read "Conversation: " (org-agent-chat--sessions)
                                  nil t nil nil org-agent-chat-main)))
    (with-current-buffer (org-agent-chat-open session)
      (let* ((index (or (org-agent-imenu-index)
                        (user-error "Nothing was said in %s yet" session)))
             (entry (assoc (completing-read "Turn: " index nil t) index)))
        (concat "org-agent:" (org-agent-link-path session
                                                  (car (last entry))))))))

;;;; Showing and exporting

(defun org-agent-link--words (path)
  "Return the first words of what PATH leads to, or nil.
It is looked for where it can be found at once: in the buffer or the
file of the conversation."
  (pcase-let ((`(,session . ,id) (org-agent-link--parse path)))
    (cl-flet ((words ()
                (when-let ((heading (and id (org-agent-find-heading id))))
                  (org-agent-place-words heading))))
      (let ((buffer (org-agent-chat-buffer session))
            (file (org-agent-chat--file session)))
        (cond
         (buffer (with-current-buffer buffer (words)))
         ((file-readable-p file)
          (with-temp-buffer
            (insert-file-contents file)
            (words))))))))

(defun org-agent-link--help (_window object position)
  "Return what the link at POSITION of OBJECT leads to."
  (let* ((uri (plist-get (get-text-property position 'htmlize-link object) :uri))
         (path (and uri (string-remove-prefix "org-agent:" uri))))
    (condition-case nil
        (format "%s: %s"
                (car (org-agent-link--parse path))
                (or (org-agent-link--words path)
                    "what was said to the agent, or by it"))
      (error "What was said to the agent, or by it"))))

(defun org-agent-link-export (path description backend &optional _info)
  "Return DESCRIPTION, or what PATH leads to, as text of BACKEND."
  (or description
      (org-agent-link--escape
       (or (ignore-errors (org-agent-link--words path))
           "A conversation with the agent")
       backend)))

(defun org-agent-link--escape (text backend)
  "Return TEXT as it has to stand in what BACKEND makes."
  (cond
   ((org-export-derived-backend-p backend 'html 'md)
    (org-agent-link--replace text '(("&" . "&amp;") ("<" . "&lt;")
                                    (">" . "&gt;"))))
   ((org-export-derived-backend-p backend 'latex)
    (org-agent-link--replace
     text '(("\\" . "\\textbackslash{}") ("~" . "\\textasciitilde{}")
            ("^" . "\\textasciicircum{}") ("{" . "\\{") ("}" . "\\}")
            ("$" . "\\$") ("&" . "\\&") ("#" . "\\#") ("_" . "\\_")
            ("%" . "\\%"))))
   (t text)))

(defun org-agent-link--replace (text replacements)
  "Return TEXT with its characters replaced, those in REPLACEMENTS."
  (mapconcat (lambda (character)
               (let ((string (char-to-string character)))
                 (or (cdr (assoc string replacements)) string)))
             text ""))

(org-link-set-parameters
 "org-agent"
 :follow #'org-agent-link-follow
 :store #'org-agent-link-store
 :complete #'org-agent-link-complete
 :export #'org-agent-link-export
 :face 'org-agent-link
 :help-echo #'org-agent-link--help)

(provide 'org-agent-link)
;;; org-agent-link.el ends here
