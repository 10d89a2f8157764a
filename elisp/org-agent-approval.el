;;; org-agent-approval.el --- Decide what the agent may do  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;; This program is free software; you can redistribute it and/or modify
;; it under the terms of the GNU General Public License as published by
;; the Free Software Foundation, either version 3 of the License, or
;; (at your option) any later version.

;; This program is distributed in the hope that it will be useful,
;; but WITHOUT ANY WARRANTY; without even the implied warranty of
;; MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the
;; GNU General Public License for more details.

;; You should have received a copy of the GNU General Public License
;; along with this program.  If not, see <https://www.gnu.org/licenses/>.

;;; Commentary:

;; Some actions wait for a person.  `org-agent-approvals' lists them, each
;; with the whole action, and takes the decision.  A decision is for
;; exactly the action shown.

;;; Code:

(require 'cl-lib)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-chat)

(defconst org-agent-approval--buffer "*org-agent-approvals*"
  "The buffer that lists what waits.")

(defvar org-agent-approval--waiting nil
  "What waits for a person, oldest first: plists as the kernel sent them.")

(defvar org-agent-approval-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map special-mode-map)
    (define-key map (kbd "o") #'org-agent-allow-once)
    (define-key map (kbd "t") #'org-agent-allow-turn)
    (define-key map (kbd "s") #'org-agent-allow-session)
    (define-key map (kbd "A") #'org-agent-allow-always)
    (define-key map (kbd "d") #'org-agent-deny)
    (define-key map (kbd "C-c C-c") #'org-agent-allow-once)
    (define-key map (kbd "C-c C-k") #'org-agent-deny)
    (define-key map (kbd "n") #'org-agent-approval-next)
    (define-key map (kbd "p") #'org-agent-approval-previous)
    map)
  "Keys in the list of what waits.")

(define-derived-mode org-agent-approval-mode special-mode "Org-Agent-Approvals"
  "Major mode of the list of actions that wait for a person.
\\<org-agent-approval-mode-map>\
\\[org-agent-allow-once] allows the one at point once, \
\\[org-agent-allow-turn] an equal one in this turn,
\\[org-agent-allow-session] in this session, \
\\[org-agent-allow-always] always; \\[org-agent-deny] refuses it with a reason."
  (setq-local revert-buffer-function
              (lambda (&rest _) (org-agent-approval--refresh)))
  (setq truncate-lines nil))

;;;; Commands

(defun org-agent-approvals ()
  "Show what waits for a decision of yours."
  (interactive)
  (with-current-buffer (get-buffer-create org-agent-approval--buffer)
    (unless (derived-mode-p 'org-agent-approval-mode)
      (org-agent-approval-mode))
    (org-agent-approval--draw)
    (org-agent-approval--refresh))
  (pop-to-buffer org-agent-approval--buffer))

(defun org-agent-approval--refresh ()
  "Ask the kernel what waits and show it."
  (org-agent-kernel-request
   "approval/list" nil
   :success (lambda (result)
              (setq org-agent-approval--waiting
                    (copy-sequence (plist-get result :approvals)))
              (org-agent-approval--draw))
   :failure (lambda (refusal)
              (org-agent-chat-complain "What waits cannot be listed" refusal))))

(defun org-agent-approval--at-point ()
  "Return the approval at point, or signal an error."
  (or (get-text-property (point) 'org-agent-approval)
      (user-error "Nothing waits here; `n' goes to the next that does")))

(defun org-agent-approval--decide (decision &optional reason)
  "Decide the approval at point: DECISION, a keyword, for REASON."
  (let ((approval (org-agent-approval--at-point)))
    (org-agent-kernel-request
     "approval/decide"
     (append (list :id (plist-get approval :id) :decision decision)
             (and reason (list :reason reason)))
     :success (lambda (_)
                (org-agent-approval--remove (plist-get approval :id))
                (message "Decided"))
     :failure (lambda (refusal)
                (org-agent-chat-complain "Not decided" refusal)))))

(defun org-agent-allow-once ()
  "Allow the action at point, this once."
  (interactive nil org-agent-approval-mode)
  (org-agent-approval--decide :allow-once))

(defun org-agent-allow-turn ()
  "Allow the action at point, and an equal one in the same turn."
  (interactive nil org-agent-approval-mode)
  (org-agent-approval--decide :allow-turn))

(defun org-agent-allow-session ()
  "Allow the action at point, and an equal one in the same session."
  (interactive nil org-agent-approval-mode)
  (org-agent-approval--decide :allow-session))

(defun org-agent-allow-always ()
  "Allow the action at point, and an equal one from now on."
  (interactive nil org-agent-approval-mode)
  (org-agent-approval--decide :allow-always))

(defun org-agent-deny (reason)
  "Refuse the action at point for REASON, which the agent is told."
  (interactive (list (progn (org-agent-approval--at-point)
                            (read-string "Why not (RET for no reason): ")))
               org-agent-approval-mode)
  (org-agent-approval--decide :deny (unless (string-empty-p reason) reason)))

(defun org-agent-approval-next (&optional count)
  "Go to the next action that waits, COUNT of them further."
  (interactive "p" org-agent-approval-mode)
  (dotimes (_ (abs (or count 1)))
    (let ((place (if (< (or count 1) 0)
                     (previous-single-property-change (line-beginning-position)
                                                      'org-agent-approval-head)
                   (next-single-property-change (line-end-position)
                                                'org-agent-approval-head))))
      (when place
        (goto-char place)
        (forward-line 0)))))

(defun org-agent-approval-previous (&optional count)
  "Go to the action before, COUNT of them back."
  (interactive "p" org-agent-approval-mode)
  (org-agent-approval-next (- (or count 1))))

;;;; The list

(defun org-agent-approval--draw ()
  "Show what waits in the list, if there is one; point stays on its line."
  (when-let ((buffer (get-buffer org-agent-approval--buffer)))
    (with-current-buffer buffer
      (let ((inhibit-read-only t) (line (line-number-at-pos)))
        (erase-buffer)
        (insert (substitute-command-keys
                 "o once  t turn  s session  A always  d deny  g look again  q bury\n\n"))
        (if org-agent-approval--waiting
            (mapc #'org-agent-approval--insert org-agent-approval--waiting)
          (insert "Nothing waits for you.\n"))
        (goto-char (point-min))
        (forward-line (if (= line 1) 2 (1- line)))))))

(defun org-agent-approval--insert (approval)
  "Insert APPROVAL, with the whole of its action."
  (let ((beg (point)))
    (insert (propertize (format "%s  %s" (plist-get approval :session)
                                (or (plist-get approval :asked) ""))
                        'face 'bold 'org-agent-approval-head t)
            "\n")
    (when-let ((reason (plist-get approval :reason)))
      (insert "  asks because: " reason "\n"))
    (insert "  " (plist-get approval :action) "\n\n")
    (put-text-property beg (point) 'org-agent-approval approval)))

(defun org-agent-approval--remove (id)
  "Take the approval ID out of the list."
  (setq org-agent-approval--waiting
        (cl-remove id org-agent-approval--waiting
                   :key (lambda (approval) (plist-get approval :id))
                   :test #'equal))
  (org-agent-approval--draw))

;;;; What the kernel reports

(cl-defmethod org-agent-handle-notification ((_method (eql 'approval/asked))
                                             params)
  "Say that the action of PARAMS waits for a decision."
  (org-agent-approval--remove (plist-get params :id))
  (setq org-agent-approval--waiting
        (append org-agent-approval--waiting (list params)))
  (org-agent-approval--draw)
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-put :turn (plist-get params :turn) :phase 'waiting))
  (message "The agent waits for your decision: M-x org-agent-approvals"))

(cl-defmethod org-agent-handle-notification ((_method (eql 'approval/closed))
                                             params)
  "Note that the approval of PARAMS needs no decision any more."
  (org-agent-approval--remove (plist-get params :id))
  (let ((session (plist-get params :session)))
    (org-agent-chat-in session
      (when (and (eq (org-agent-chat-get :phase) 'waiting)
                 (cl-notany (lambda (approval)
                              (equal (plist-get approval :session) session))
                            org-agent-approval--waiting))
        (org-agent-chat-put :phase 'thinking)))))

(provide 'org-agent-approval)
;;; org-agent-approval.el ends here
