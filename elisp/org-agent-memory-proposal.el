;;; org-agent-memory-proposal.el --- What the agent would keep  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; After a conversation the agent may propose what to keep of it.  Nothing
;; of that happens by itself: each proposal stands in the list of
;; `org-agent-memory' until it is accepted, as it is or changed, or
;; dropped.

;;; Code:

(require 'org)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-list)
(require 'org-agent-place)

(defvar-local org-agent-memory-proposal--id nil
  "The proposal that is being edited in this buffer.")

(defun org-agent-memory-proposal-entry (proposal)
  "Return the line of PROPOSAL in the list of what is kept."
  (list proposal
        (vector (substring (org-agent-list-time (plist-get proposal :time)) 0 10)
                (propertize (pcase (plist-get proposal :operation)
                              (:saved "keep?") (:updated "change?") (_ "forget?"))
                            'face 'warning)
                (concat (plist-get proposal :title)
                        (and (plist-get proposal :tags)
                             (propertize
                              (format " :%s:" (string-join (plist-get proposal :tags) ":"))
                              'face 'org-tag)))
                (replace-regexp-in-string
                 "[ \t\n]+" " " (or (plist-get proposal :text) "")))))

(defun org-agent-memory-proposal--here ()
  "Return the proposal of this line, or signal an error."
  (let ((entry (tabulated-list-get-id)))
    (unless (plist-get entry :proposal)
      (user-error "This is kept already; what the agent would keep has a question mark"))
    entry))

(defun org-agent-memory-proposal--decide (method params what)
  "Ask METHOD with PARAMS and say WHAT was done with it."
  (org-agent-kernel-ask
   method params
   (lambda (result)
     (let ((refused (plist-get result :refused)))
       (if refused
           (message "org-agent: %s" (plist-get (car refused) :message))
         (message "%s" what)))
     (when (derived-mode-p 'org-agent-list-mode)
       (revert-buffer)))))

(defun org-agent-memory-accept ()
  "Have the agent do what the proposal of this line says."
  (interactive nil org-agent-memory-mode)
  (let ((proposal (org-agent-memory-proposal--here)))
    (org-agent-memory-proposal--decide
     "memory/accept" (list :ids (list (plist-get proposal :proposal)))
     (format "Accepted: %s" (plist-get proposal :title)))))

(defun org-agent-memory-accept-all ()
  "Accept all proposals that are listed."
  (interactive nil org-agent-memory-mode)
  (let ((ids (delq nil (mapcar (lambda (entry) (plist-get (car entry) :proposal))
                               tabulated-list-entries))))
    (unless ids
      (user-error "Nothing is proposed"))
    (org-agent-memory-proposal--decide
     "memory/accept" (list :ids ids) (format "Accepted: %d" (length ids)))))

(defun org-agent-memory-drop ()
  "Drop the proposal of this line."
  (interactive nil org-agent-memory-mode)
  (let ((proposal (org-agent-memory-proposal--here)))
    (org-agent-memory-proposal--decide
     "memory/drop" (list :ids (list (plist-get proposal :proposal)))
     (format "Dropped: %s" (plist-get proposal :title)))))

(defun org-agent-memory-source ()
  "Go to the question that the proposal of this line is from."
  (interactive nil org-agent-memory-mode)
  (let* ((proposal (org-agent-memory-proposal--here))
         (event (or (plist-get proposal :event)
                    (user-error "It is not known what it is from"))))
    (pop-to-buffer (org-agent-place-open (plist-get proposal :session) event))))

;;;; Editing

(defvar org-agent-memory-edit-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'org-agent-memory-edit-accept)
    (define-key map (kbd "C-c C-k") #'org-agent-memory-edit-leave)
    map)
  "Keys while a proposal is changed.")

(define-minor-mode org-agent-memory-edit-mode
  "Minor mode of a buffer in which a proposal is changed.
\\<org-agent-memory-edit-mode-map>\\[org-agent-memory-edit-accept] accepts it as it is here, \\[org-agent-memory-edit-leave] leaves it as it was."
  :lighter " Keep")

(defun org-agent-memory-edit ()
  "Change the proposal of this line, and accept it then."
  (interactive nil org-agent-memory-mode)
  (let ((proposal (org-agent-memory-proposal--here)))
    (when (eq (plist-get proposal :operation) :forgotten)
      (user-error "There is nothing to change about forgetting; `a' accepts it, `d' drops it"))
    (pop-to-buffer (generate-new-buffer "*org-agent-keep*"))
    (org-mode)
    (org-agent-fontify-listed-languages)
    (org-agent-memory-edit-mode 1)
    (setq org-agent-memory-proposal--id (plist-get proposal :proposal)
          header-line-format
          (substitute-command-keys
           "\\<org-agent-memory-edit-mode-map>\\[org-agent-memory-edit-accept] accepts, \\[org-agent-memory-edit-leave] leaves it"))
    (insert "* " (plist-get proposal :title)
            (if (plist-get proposal :tags)
                (format " :%s:" (string-join (plist-get proposal :tags) ":"))
              "")
            "\n" (or (plist-get proposal :text) "") "\n")
    (goto-char (+ (point-min) 2))
    (set-buffer-modified-p nil)))

(defun org-agent-memory-edit-accept ()
  "Accept the proposal as it stands in this buffer."
  (interactive nil org-agent-memory-edit-mode)
  (let (title tags text)
    (save-excursion
      (goto-char (point-min))
      (unless (looking-at org-outline-regexp-bol)
        (user-error "The first line is a heading: begin it with * and a blank"))
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

(defun org-agent-memory-edit-leave ()
  "Leave the proposal as it was."
  (interactive nil org-agent-memory-edit-mode)
  (set-buffer-modified-p nil)
  (quit-window t))

;;;; What the kernel tells

(cl-defmethod org-agent-handle-notification ((_method (eql 'memory/proposed))
                                             params)
  "Say that the agent would keep something, as PARAMS have it."
  (let ((count (or (plist-get params :waiting) 0)))
    (when (> count 0)
      (message "%s" (substitute-command-keys
                     (format "org-agent would keep %d thing%s: \\[org-agent-memory] shows them"
                             count (if (= count 1) "" "s"))))))
  (when (fboundp 'org-agent-memory--again)
    (org-agent-memory--again)))

(provide 'org-agent-memory-proposal)
;;; org-agent-memory-proposal.el ends here
