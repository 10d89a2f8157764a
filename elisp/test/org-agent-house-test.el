;;; org-agent-house-test.el --- Emacs's house rules, of all there is  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What is not looked at by the compiler: options have types that their
;; values are of, faces inherit, and C-h m tells every key of every mode.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'wid-edit)
(require 'org-agent)
(require 'org-agent-fake-kernel)

(defun org-agent-house-test--each (function)
  "Call FUNCTION with every symbol of ours, everything being loaded."
  (org-agent-fake-load-all)
  (mapatoms (lambda (symbol)
              (when (string-prefix-p "org-agent" (symbol-name symbol))
                (funcall function symbol)))))

(ert-deftest org-agent-house-options-have-types ()
  "Every option says what it is, and is that."
  (let ((count 0))
    (org-agent-house-test--each
     (lambda (symbol)
       (when (and (get symbol 'standard-value)
                  (not (string-suffix-p "-hook" (symbol-name symbol))))
         (cl-incf count)
         (ert-info ((symbol-name symbol))
           (should (get symbol 'custom-type))
           (should (widget-apply (widget-convert (get symbol 'custom-type))
                                 :match
                                 (eval (car (get symbol 'standard-value)) t)))))))
    (should (> count 20))))

(ert-deftest org-agent-house-faces-inherit ()
  "Every face is another one by another name, so that themes fit."
  (let ((count 0))
    (org-agent-house-test--each
     (lambda (symbol)
       (dolist (clause (get symbol 'face-defface-spec))
         (cl-incf count)
         (ert-info ((symbol-name symbol))
           (should (equal (cl-remove-if-not #'keywordp (flatten-tree (cdr clause)))
                          '(:inherit)))))))
    (should (> count 3))))

(defun org-agent-house-test--keys (map prefix)
  "Return the commands of ours in MAP, behind PREFIX, (KEYS . COMMAND)."
  (let (all)
    (map-keymap-internal
     (lambda (key binding)
       (let ((keys (vconcat prefix (vector key)))
             (binding (if (stringp (car-safe binding)) (cdr binding) binding)))
         (cond ((keymapp binding)
                (setq all (append (org-agent-house-test--keys binding keys) all)))
               ((and binding (symbolp binding)
                     (string-prefix-p "org-agent-" (symbol-name binding)))
                (push (cons (key-description keys) binding) all)))))
     map)
    all))

(ert-deftest org-agent-house-help-tells-all ()
  "The help of every mode of ours names its keys, each of a command."
  (let ((count 0))
    (org-agent-house-test--each
     (lambda (symbol)
       (when (and (string-suffix-p "-mode-map" (symbol-name symbol))
                  (boundp symbol))
         (let* ((mode (intern (string-remove-suffix "-map" (symbol-name symbol))))
                (map (symbol-value symbol))
                (help (with-temp-buffer
                        (use-local-map map)
                        (substring-no-properties
                         (substitute-command-keys (documentation mode))))))
           (pcase-dolist (`(,keys . ,command) (org-agent-house-test--keys map []))
             (cl-incf count)
             (ert-info ((format "%s %s %s" mode keys command))
               (should (commandp command))
               (should (string-match-p
                        (format "\\(?:\\`\\|[^[:alpha:]]\\)%s\\(?:[^[:alpha:]]\\|\\'\\)\\|%s"
                                (regexp-quote keys) command)
                        help))))))))
    (should (> count 50))))

(provide 'org-agent-house-test)
;;; org-agent-house-test.el ends here
