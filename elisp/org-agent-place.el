;;; org-agent-place.el --- Go to what was said  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A place in a conversation is a session and the `:ID:' of a turn.
;; Links, bookmarks and the index of a conversation lead to places.  What
;; the buffer lacks comes from the kernel, which may have to start; what a
;; person took out of the file stays out, and is shown beside it.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org)
(require 'org-agent-kernel)
(require 'org-agent-draft)
(require 'org-agent-chat)

(defvar-local org-agent-place--wanted nil
  "Where to go as soon as the conversation is there: (ID MARKER WORDS).
It is not gone to when point is not at MARKER any more.")
(put 'org-agent-place--wanted 'permanent-local t)

(defconst org-agent-place--buffer "*org-agent-said*"
  "The buffer that shows what is not in its conversation any more.")

;;;; Turns

(defun org-agent-place-turn ()
  "Return the heading of the turn that point is in, or nil."
  (unless (org-agent-draft-p (point))
    (org-agent-draft--widely
      (let ((heading (org-agent-heading-at (point))))
        (while (and heading (not (org-agent-turn-p heading)))
          (goto-char heading)
          (setq heading (and (re-search-backward
                              org-agent-draft--turn-regexp nil t)
                             (point))))
        heading))))

(defun org-agent-place-words (heading)
  "Return the first words of the turn at HEADING."
  (truncate-string-to-width
   (replace-regexp-in-string "[[:cntrl:]]+" " "
                             (org-link-display-format
                              (org-agent-heading-title heading)))
   70 nil nil t))

;;;; Going there

(defun org-agent-place-reach (session id)
  "Return the buffer of SESSION with point at the turn whose `:ID:' is ID.
A conversation that is not there is not begun: the kernel, which knows
of renamed ones, is asked where ID is, and the result is nil."
  (cond
   ((or (org-agent-chat-buffer session)
        (file-exists-p (org-agent-chat--file session)))
    (org-agent-place-open session id))
   ((not id)
    (user-error "There is no conversation %s" session))
   ((org-agent-kernel-ready-p)
    (org-agent-place-find id)
    nil)
   (t (org-agent-kernel-ensure)
      (user-error "The conversation %s is not here, and the kernel is being started to look for it; try again"
                  session))))

(defun org-agent-place-open (session id &optional words)
  "Return the buffer of SESSION, with point at the turn whose `:ID:' is ID.
If WORDS stand in the turn, point is behind them.  If the turn is not
there, point goes to it when it has come; if it does not come, what is
known of it is shown.  Without ID point is in the draft."
  (let ((buffer (org-agent-chat-open session)))
    (with-current-buffer buffer
      (cond
       ((null id) (goto-char (point-max)))
       ((org-agent-place--go id words))
       (t (setq org-agent-place--wanted (list id (point-marker) words))
          (if (eq org-agent-chat-attached t)
              (org-agent-place--settle)
            (org-agent-kernel-ensure)))))
    buffer))

(defun org-agent-place--go (id words)
  "Go to the turn whose `:ID:' is ID, or to WORDS in it, and unfold that.
Return nil when the turn is not there."
  (when-let ((heading (org-agent-find-heading id)))
    (push-mark nil t)
    (unless (<= (point-min) heading (point-max))
      (widen))
    (goto-char heading)
    (org-agent-place--go-to-words words (org-agent-subtree-end heading))
    (org-reveal)
    (dolist (window (get-buffer-window-list nil nil t))
      (set-window-point window (point)))
    t))

(defun org-agent-place--go-to-words (words end)
  "Go behind WORDS, if they stand between point and END.
However they are broken into lines there, and whatever their case."
  (let ((case-fold-search t)
        (words (split-string (or words ""))))
    (when words
      (re-search-forward (mapconcat #'regexp-quote words "[ \t\n]+") end t))))

(defun org-agent-place--settle ()
  "Go where the person wanted to, now that the conversation is there."
  (pcase-let ((`(,id ,marker ,words) org-agent-place--wanted))
    (setq org-agent-place--wanted nil)
    (when (and id (= marker (point)) (not (org-agent-place--go id words)))
      (org-agent-place-find id))
    (when marker (set-marker marker nil))))

(add-hook 'org-agent-chat-loaded-hook #'org-agent-place--settle)

(defun org-agent-place-find (id)
  "Ask the kernel where ID is, and go there or show what was said."
  (org-agent-kernel-request
   "turn/find" (list :id id)
   :success (lambda (result) (org-agent-place--found id result))
   :failure (lambda (refusal)
              (message "org-agent: the link leads nowhere: %s"
                       (plist-get refusal :message)))))

(defun org-agent-place--found (id result)
  "Go to the turn ID as RESULT, that of `turn/find', says, or show it.
A conversation that has no buffer yet is opened: it has that name now."
  (let* ((session (plist-get result :session))
         (buffer (org-agent-chat-buffer session)))
    (if (and buffer
             (eq t (buffer-local-value 'org-agent-chat-attached buffer))
             (not (with-current-buffer buffer (org-agent-find-heading id))))
        (org-agent-place--show result)
      (display-buffer (org-agent-place-open session id)))))

(defun org-agent-place--show (result)
  "Show the question and the answer of RESULT, which are in no file."
  (with-current-buffer (get-buffer-create org-agent-place--buffer)
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert (format "This was said in %s, and somebody took it out of the file since.\n\n"
                      (plist-get result :session))
              (or (plist-get result :question) "")
              (or (plist-get result :answer) ""))
      (goto-char (point-min)))
    (special-mode)
    (setq truncate-lines nil word-wrap t)
    (display-buffer (current-buffer))))

(provide 'org-agent-place)
;;; org-agent-place.el ends here
