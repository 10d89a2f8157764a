;;; ob-org-agent.el --- Lisp of a skill note in any Org file  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; #+begin_src org-agent evaluates its Lisp as the agent's skills have it:
;; with :note FILE in the environment of that note, in a skill note in its
;; own, and elsewhere in an empty one.  Babel waits for the result; C-g
;; ends the waiting.

;;; Code:

(require 'ob)
(require 'org-agent-kernel)
(require 'org-agent-skill)

(defvar org-babel-default-header-args:org-agent '((:results . "verbatim"))
  "Header arguments of blocks of the language `org-agent'.")

(defconst org-agent-babel-patience 30
  "Seconds that a block has, with the start of a kernel.")

(defun org-agent-babel--params (body params)
  "Return the parameters of the request that evaluates BODY, a block with PARAMS."
  (let ((note (cdr (assq :note params))))
    (append (cond
             (note (list :file (expand-file-name note)))
             ((org-agent-skill-note-p) (org-agent-skill-params))
             (t (list :file (or buffer-file-name (buffer-name)) :text "")))
            (list :code body))))

(defun org-babel-execute:org-agent (body params)
  "Evaluate BODY, a block with PARAMS, and return what the last form does."
  (let ((deadline (+ (float-time) org-agent-babel-patience)) result)
    (org-agent-kernel-ask "skill/evaluate"
                              (org-agent-babel--params body params)
                              (lambda (answer) (setq result answer)))
    (while (not result)
      (when (> (float-time) deadline)
        (user-error "The kernel did not answer: %s"
                    (or org-agent-kernel-trouble "it is busy")))
      (accept-process-output nil 0.05))
    (when-let* ((fault (car (plist-get result :diagnostics))))
      (user-error "%s:%s: %s" (plist-get fault :line) (plist-get fault :column)
                  (plist-get fault :message)))
    (concat (plist-get result :output)
            (car (last (plist-get result :values))))))

(provide 'ob-org-agent)
;;; ob-org-agent.el ends here
