;;; ob-org-agent.el --- Lisp of a skill note in any Org file  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A block #+begin_src org-agent is evaluated by the kernel's Lisp.  With
;; :note FILE that is in the environment of that note, in a skill note in
;; the environment of the note itself, and elsewhere in an empty one.  Babel
;; waits for the result; C-g ends the waiting.

;;; Code:

(require 'ob)
(require 'org-agent-kernel)
(require 'org-agent-skill)

(defvar org-babel-default-header-args:org-agent '((:results . "verbatim"))
  "Header arguments of blocks of the language `org-agent'.")

(defun org-agent-babel--params (body params)
  "Return the parameters of the request that evaluates BODY, a block with PARAMS."
  (let ((note (cdr (assq :note params))))
    (append (cond
             (note (list :file (expand-file-name note)))
             ((org-agent-skill-note-p) (org-agent-skill-params))
             (t (list :file (or buffer-file-name (buffer-name)) :text "")))
            (list :code body))))

(defun org-babel-execute:org-agent (body params)
  "Evaluate BODY, a block with PARAMS, and return the value of its last form."
  (let ((result (org-agent-kernel-call "skill/evaluate"
                                       (org-agent-babel--params body params))))
    (when-let* ((fault (car (plist-get result :diagnostics))))
      (user-error "%s:%s: %s" (plist-get fault :line) (plist-get fault :column)
                  (plist-get fault :message)))
    (concat (plist-get result :output)
            (car (last (plist-get result :values))))))

(provide 'ob-org-agent)
;;; ob-org-agent.el ends here
