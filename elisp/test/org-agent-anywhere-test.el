;;; org-agent-anywhere-test.el --- Tests of every command in any buffer  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; M-x completes the name of every command in every buffer.  If a command
;; makes no sense there, or without a kernel, it says so at once in plain
;; words.  It signals no error of Lisp and does not wait.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'dired)
(require 'org-agent)
(require 'org-agent-fake-kernel)

(defun org-agent-anywhere-test--commands ()
  "Return all commands of the package but modes and the menu."
  (org-agent-fake-load-all)
  (let (commands)
    (mapatoms
     (lambda (symbol)
       (when (and (commandp symbol)
                  (string-prefix-p "org-agent-" (symbol-name symbol))
                  (not (string-match-p "--\\|-menu\\'\\|-mode\\'\\|-test"
                                       (symbol-name symbol))))
         (push symbol commands))))
    (sort commands #'string<)))

(defmacro org-agent-anywhere-test--answering (answer &rest body)
  "Run BODY with a person who says ANSWER, or the first thing there is, and no."
  (declare (indent 1) (debug t))
  `(cl-letf (((symbol-function 'read-from-minibuffer) (lambda (&rest _) ,answer))
             ((symbol-function 'read-string) (lambda (&rest _) ,answer))
             ((symbol-function 'completing-read)
              (lambda (_ table &optional predicate must-match &rest _)
                (or (and must-match (car (all-completions "" table predicate)))
                    ,answer)))
             ((symbol-function 'read-file-name)
              (lambda (&rest _) (expand-file-name "none.org" temporary-file-directory)))
             ((symbol-function 'y-or-n-p) #'ignore)
             ((symbol-function 'yes-or-no-p) #'ignore))
     ,@body))

(defun org-agent-anywhere-test--call (command answer)
  "Call COMMAND as its user does; ANSWER is what a prompt for a string gets."
  (if (string-prefix-p "s" (format "%s" (cadr (interactive-form command))))
      ;; That prompt is made in C, where no answer can be given in a batch.
      (funcall command answer)
    (call-interactively command)))

(defun org-agent-anywhere-test--buffers ()
  "Return functions that make buffers nobody thought of, an alist by name."
  (list
   (cons "text" (lambda ()
                  (switch-to-buffer (get-buffer-create "org-agent-anywhere"))
                  (let ((inhibit-read-only t)) (erase-buffer))
                  (fundamental-mode)
                  (insert "some text\nmore")
                  (goto-char 3)))
   (cons "empty region" (lambda ()
                          (switch-to-buffer (get-buffer-create "org-agent-anywhere"))
                          (goto-char (point-min))
                          (push-mark (point) t t)))
   (cons "read-only" (lambda ()
                       (switch-to-buffer (get-buffer-create "org-agent-anywhere"))
                       (special-mode)))
   (cons "directory" (lambda ()
                       (switch-to-buffer
                        (dired-noselect org-agent-fake-directory))))
   (cons "conversation" (lambda ()
                          (org-agent-chat)
                          (goto-char (point-max))))
   (cons "a part of one" (lambda ()
                           (org-agent-chat)
                           (switch-to-buffer
                            (or (get-buffer "org-agent-anywhere-part")
                                (make-indirect-buffer
                                 (current-buffer) "org-agent-anywhere-part" t)))))))

(defun org-agent-anywhere-test-without-a-kernel ()
  "Call every command everywhere; fail when one fails."
  (let (failed (began (float-time)))
    (org-agent-fake-with-home
      (dolist (place (org-agent-anywhere-test--buffers))
        (dolist (command (org-agent-anywhere-test--commands))
          (save-window-excursion
            (funcall (cdr place))
            (condition-case err
                (with-timeout (5 (error "It waits"))
                  (org-agent-anywhere-test--answering "x"
                    (org-agent-anywhere-test--call command "x")))
              ((user-error quit buffer-read-only) nil)
              (error (push (list command (car place) err) failed)))))))
    (should-not failed)
    (should (< (- (float-time) began) 240))))

(ert-deftest org-agent-anywhere-without-a-kernel ()
  "Without a kernel, each command works or fails with a message, and none waits.
Commands that change an Emacs for good run in another one."
  (org-agent-fake-elsewhere 'org-agent-anywhere-test
                            'org-agent-anywhere-test-without-a-kernel))

(provide 'org-agent-anywhere-test)
;;; org-agent-anywhere-test.el ends here
