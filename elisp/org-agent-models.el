;;; org-agent-models.el --- The list of models  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-model-list' shows the models that can be asked: in which
;; dialect each calls tools and why, its window and its price.

;;; Code:

(require 'org-agent)
(require 'org-agent-kernel)
(require 'org-agent-list)

(declare-function org-agent-notify-thousands "org-agent-notify")

(define-derived-mode org-agent-models-mode org-agent-list-mode "Org-Agent-Models"
  "Major mode of the list of models.
The price is in dollars for a million tokens in and out.  Empty cells
are not known."
  :interactive nil
  (org-agent-list-columns
   ;; The reason stands last, because it may be long.
   (vector '("Model" 26 t) '("Dialect" 11 t)
           '("Window" 7 nil :right-align t)
           '("In, out" 10 nil :right-align t)
           '("Why this dialect" 0 nil))
   #'org-agent-models--ask "\\<org-agent-models-mode-map>\\[revert-buffer] asks again"))

;;;###autoload
(defun org-agent-model-list ()
  "Show the models: in which dialect each is asked and why, window and price."
  (interactive)
  (org-agent-kernel-check)
  (org-agent-list-open "*org-agent-models*" 'org-agent-models-mode
                       #'org-agent-models--ask))

(defun org-agent-models--ask (&rest _)
  "Request the list, and show it when it arrives.
The kernel asks each server, which can take seconds."
  (org-agent-kernel-ask
   "model/list" nil
   (lambda (result)
     (org-agent-list-show
      (mapcar #'org-agent-models--row (plist-get result :models))
      "There is no model.  \\[org-agent-setup] chooses one."
      (when-let* ((silent (plist-get result :silent)))
        (concat (string-join silent ", ") ": no list"))))))

(defun org-agent-models--row (model)
  "Return MODEL, a plist from the kernel, as a row of the list."
  (let ((window (plist-get model :window)))
    (list model
          (vector (concat (org-agent-one-line (plist-get model :name))
                          (and (plist-get model :default) " *"))
                  (or (plist-get model :dialect) "")
                  (if window (org-agent-notify-thousands window) "")
                  (or (plist-get model :price) "")
                  (org-agent-one-line (or (plist-get model :why) ""))))))

(provide 'org-agent-models)
;;; org-agent-models.el ends here
