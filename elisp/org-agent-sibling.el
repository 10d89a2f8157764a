;;; org-agent-sibling.el --- Several answers to a question  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A question may have several answers, one behind the other.  Later turns
;; are shown the last whole one, or the one that was marked: the mark is
;; the property PREFERRED of its drawer.  Two are compared with Ediff.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-draft)
(require 'org-agent-answer)
(require 'org-agent-keeper)
(require 'org-agent-undo)
(require 'org-agent-chat)
(require 'org-agent-send)

;; Ediff and what it needs take a while to load: who compares does that.
(declare-function ediff-buffers "ediff")

(defun org-agent-sibling--answers (question)
  "Return the headings of the answers to the QUESTION's heading, in order."
  (let ((level (1+ (org-agent-heading-level question)))
        (end (org-agent-subtree-end question))
        found)
    (org-agent-map-turns
     (lambda (heading)
       (when (and (> heading question) (< heading end)
                  (= (org-agent-heading-level heading) level)
                  (eq (org-agent-turn-p heading) 'agent)
                  (org-agent-heading-property heading "MODEL"))
         (push heading found))))
    (nreverse found)))

(defun org-agent-sibling--at-point ()
  "Return the heading of the answer that point is in, or nil."
  (when-let ((question (org-agent-send-question-at-point)))
    (cl-find-if (lambda (answer)
                  (and (>= (point) answer)
                       (< (point) (org-agent-subtree-end answer))))
                (org-agent-sibling--answers question))))

(defun org-agent-prefer-answer ()
  "Have later turns be shown the answer at point rather than the last one.
On the one that is preferred already, take that back.  The answers stay
as they are; the mark is the property PREFERRED."
  (interactive)
  (let ((answer (org-agent-sibling--at-point)))
    (unless answer
      (user-error "Point is in no answer"))
    (org-agent-chat-check-attached)
    (let ((not (and (org-agent-heading-property answer "PREFERRED") t)))
      (org-agent-kernel-request
       "turn/prefer"
       (append (list :id (org-agent-heading-property answer "ID"))
               (and not (list :not t)))
       :success (lambda (_)
                  (message (if not "The last answer counts again"
                             "Later turns are shown this answer")))
       :failure (lambda (refusal)
                  (org-agent-chat-complain "Not preferred" refusal))))))

(cl-defmethod org-agent-handle-notification ((_method (eql 'turn/preferred))
                                             params)
  "Mark the answer that PARAMS say is preferred, and no other."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-keeper-look)
    (when-let ((question (org-agent-find-heading (plist-get params :event))))
      (dolist (answer (nreverse (org-agent-sibling--answers question)))
        (org-agent-sibling--mark
         answer (equal (org-agent-heading-property answer "ID")
                       (plist-get params :id))))
      (org-agent-keeper-save))))

(defun org-agent-sibling--mark (heading preferred)
  "Give the answer at HEADING the mark if it is PREFERRED, or else take it."
  (unless (eq preferred
              (and (org-agent-heading-property heading "PREFERRED") t))
    (let ((end (cdr (assq t (org-agent-heading-properties heading)))))
      (org-agent-answer--undisturbed
        (goto-char end)
        (forward-line -1)
        (if preferred
            (org-agent-undo-insert nil (point) ":PREFERRED: t\n")
          (when (re-search-backward "^[ \t]*:PREFERRED:.*\n" heading t)
            (org-agent-undo-delete nil (match-beginning 0)
                                   (match-end 0))))))))

;;;; Comparing

(defun org-agent-compare-answers ()
  "Compare two answers to the question at point with Ediff.
With more than two, the one at point (or the last) and the one before it
are compared.  The buffers are temporary and go with the session."
  (interactive)
  (let* ((question (org-agent-send-question-here))
         (answers (org-agent-sibling--answers question))
         (at (cl-position (org-agent-sibling--at-point) answers))
         (second (or (and at (> at 0) at)
                     (if at 1 (1- (length answers))))))
    (when (< (length answers) 2)
      (user-error "There are no two answers; M-x org-agent-regenerate makes another one"))
    (let* ((buffers (mapcar #'org-agent-sibling--buffer
                            (list (nth (1- second) answers)
                                  (nth second answers))))
           (windows (current-window-configuration)))
      (ediff-buffers
       (car buffers) (cadr buffers)
       (list
        (lambda ()
          (add-hook 'ediff-quit-hook
                    (lambda ()
                      (run-at-time 0 nil #'org-agent-sibling--clean
                                   buffers windows))
                    t t)))))))

(defun org-agent-sibling--clean (buffers windows)
  "Kill the BUFFERS of a comparison and show WINDOWS again."
  (dolist (buffer buffers)
    (when (buffer-live-p buffer) (kill-buffer buffer)))
  (when (eq (window-configuration-frame windows) (selected-frame))
    (set-window-configuration windows)))

(defun org-agent-sibling--buffer (heading)
  "Return a temporary buffer with the answer at HEADING, without its drawer."
  (let* ((model (or (org-agent-heading-property heading "MODEL") "answer"))
         (title (org-agent-heading-title heading))
         (text (org-agent-draft--widely
                 (buffer-substring-no-properties
                  (cdr (assq t (org-agent-heading-properties heading)))
                  (org-agent-subtree-end heading))))
         (buffer (generate-new-buffer (format "*org-agent answer: %s*" model))))
    (with-current-buffer buffer
      (insert "* " title "\n" text)
      (goto-char (point-min))
      (setq-local enable-local-variables nil)
      (delay-mode-hooks (org-mode))
      (when (fboundp 'org-show-all) (org-show-all))
      (set-buffer-modified-p nil)
      (setq buffer-read-only t))
    buffer))

(provide 'org-agent-sibling)
;;; org-agent-sibling.el ends here
