;;; org-agent-await.el --- Wait for the end of a turn  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Something was asked whose answer is wanted elsewhere than in its
;; conversation: at point, in a window, as a diff.  `org-agent-await'
;; calls a function when the turn has ended, however it did and whatever
;; was killed meanwhile: each time a kernel is there it is asked anew, and
;; who asked about a turn is told of its end, be its conversation shown
;; here or not.

;;; Code:

(require 'cl-lib)
(require 'org-agent-rpc)
(require 'org-agent-kernel)

(defvar org-agent-await--functions nil
  "What is waited for: an alist of questions' ids and (FORM . FUNCTION).")

(defun org-agent-await (event form function)
  "Call FUNCTION once the question EVENT was answered, or will not be.
It gets the result of the method `turn/find': `:state' is final,
`:answer' is the text in FORM (`:plain', `:raw' or `:subtree'), with
`:notice' that of the kernel, which says why there is no answer.
Call this once the question is sent."
  (setf (alist-get event org-agent-await--functions nil nil #'equal)
        (cons form function))
  (when (org-agent-kernel-ready-p)
    (org-agent-await--look event)))

(defun org-agent-await-forget (event)
  "Do not wait for the answer to EVENT any more."
  (setf (alist-get event org-agent-await--functions nil t #'equal) nil))

(defun org-agent-await--look (event)
  "Ask the kernel whether EVENT was answered, if that is waited for.
A question that it does not know yet is in the outbox of its
conversation, and goes on being waited for."
  (when-let ((waiting (alist-get event org-agent-await--functions
                                 nil nil #'equal)))
    (org-agent-kernel-request
     "turn/find" (list :id event :form (car waiting))
     :success (lambda (result)
                (when (memq (plist-get result :state)
                            '(:answered :failed :cancelled :interrupted))
                  (org-agent-await--end event result)))
     :failure #'ignore)))

(defun org-agent-await--end (event result)
  "Tell who waits for EVENT that it has ended with RESULT, once."
  (when-let ((waiting (alist-get event org-agent-await--functions
                                 nil nil #'equal)))
    (org-agent-await-forget event)
    (funcall (cdr waiting) result)))

(defun org-agent-await--look-all ()
  "Ask the kernel, which has just become ready, for all that is waited for."
  (dolist (waiting (copy-sequence org-agent-await--functions))
    (org-agent-await--look (car waiting))))

(add-hook 'org-agent-kernel-ready-hook #'org-agent-await--look-all)

;; With `:extra' several files can each say what they do with the same news.
(cl-defmethod org-agent-handle-notification :extra "await" :after
  ((_method (eql 'turn/started)) params)
  "Have the end of the turn of PARAMS told, if somebody waits for it.
Its question may have been in the outbox until now."
  (org-agent-await--look (plist-get params :event)))

(cl-defmethod org-agent-handle-notification :extra "await" :after
  ((_method (eql 'turn/finished)) params)
  "Look whether somebody waits for the turn of PARAMS."
  (org-agent-await--look (plist-get params :event)))

(provide 'org-agent-await)
;;; org-agent-await.el ends here
