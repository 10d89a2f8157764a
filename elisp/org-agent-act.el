;;; org-agent-act.el --- What the kernel may have Emacs do  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The kernel sends verified actions as the request `act'.  Each is a
;; method of `org-agent-perform'; what has no method is refused.  The
;; kernel's policy was first; what is checked here is checked again.

;;; Code:

(require 'cl-lib)
(require 'org-agent-rpc)

(defconst org-agent-act--size-limit (* 16 1024 1024)
  "Bytes of the largest file that is opened for the kernel.")

(cl-defgeneric org-agent-perform (action _params)
  "Perform ACTION, a keyword, of the kernel's `act' with PARAMS, a plist.
Return a receipt, a plist.  To refuse, signal `org-agent-rpc-error'."
  (signal 'org-agent-rpc-error
          (list -32601 (format "this Emacs does not perform %s" action))))

(cl-defmethod org-agent-handle-request ((_method (eql 'act)) params)
  "Perform the act with PARAMS and answer its receipt."
  (unless (and (eq (plist-get params :type) :request)
               (eq (plist-get params :target) :emacs))
    (org-agent-act-refuse "an Emacs performs requests to :emacs only"))
  (org-agent-perform (plist-get (plist-get params :payload) :action) params))

(defun org-agent-act-refuse (format-string &rest arguments)
  "Refuse the act at hand with a reason.
FORMAT-STRING and ARGUMENTS are as for `format'."
  (signal 'org-agent-rpc-error
          (list -32002 (apply #'format format-string arguments))))

(defun org-agent-act-text (params)
  "Return the `:text' of the act with PARAMS; refuse if it is none."
  (let ((text (plist-get (plist-get params :payload) :text)))
    (unless (stringp text)
      (org-agent-act-refuse "the act has no text"))
    text))

(cl-defmethod org-agent-perform ((_action (eql :message)) params)
  "Show the text of PARAMS in the echo area, 200 characters of it at most."
  (let ((text (replace-regexp-in-string "[\n\r\t]+" " "
                                        (org-agent-act-text params))))
    (message "%s" (truncate-string-to-width text 200 nil nil t))
    (list :done t)))

(cl-defmethod org-agent-perform ((_action (eql :open)) params)
  "Show the file, at the line, of PARAMS in another window.
Only a regular file under the home directory or the project of the
current buffer is opened; the window is not selected and nothing asks."
  (let* ((payload (plist-get params :payload))
         (line (plist-get payload :line))
         (file (org-agent-act--checked-file (plist-get payload :file)))
         (buffer (org-agent-act-visit file))
         (window (display-buffer buffer '(display-buffer-pop-up-window
                                          (inhibit-same-window . t)))))
    (when (and (integerp line) (> line 0))
      (with-current-buffer buffer
        (let ((position (save-excursion
                          (save-restriction
                            (widen)
                            (goto-char (point-min))
                            (forward-line (1- line))
                            (point)))))
          (when window (set-window-point window position)))))
    (list :done t)))

(defun org-agent-act-regular-file (file)
  "Return the real name of FILE, or refuse it.
It is a regular file of this machine and not too large."
  (unless (and (stringp file) (file-name-absolute-p file))
    (org-agent-act-refuse "the act names no file with its whole path"))
  (when (or (file-remote-p file) (string-match-p "\\`/[^/]+:" file))
    (org-agent-act-refuse "%s is not a file of this machine" file))
  (let ((real (file-truename file)))
    (unless (file-regular-p real)
      (org-agent-act-refuse "%s is not a regular file" real))
    (when (> (file-attribute-size (file-attributes real))
             org-agent-act--size-limit)
      (org-agent-act-refuse "%s is too large to be opened unasked" real))
    real))

(defun org-agent-act--checked-file (file)
  "Return the real name of FILE, or refuse it.
It is under the person's home or in the project."
  (let ((real (org-agent-act-regular-file file)))
    (unless (cl-some (lambda (root) (file-in-directory-p real root))
                     (org-agent-act--roots))
      (org-agent-act-refuse "%s is neither under your home nor in the project"
                            real))
    real))

(defun org-agent-act--roots ()
  "Return the directories whose files may be opened."
  (let ((project (and (not (file-remote-p default-directory))
                      (locate-dominating-file default-directory ".git"))))
    (cons (expand-file-name "~/")
          (and project (list (file-truename project))))))

(defun org-agent-act-visit (file)
  "Return a buffer that visits FILE; evaluate nothing and ask nothing."
  (or (find-buffer-visiting file)
      (let ((enable-local-variables nil)
            (enable-dir-local-variables nil)
            (large-file-warning-threshold nil)
            (vc-follow-symlinks t)
            (find-file-hook nil))
        (find-file-noselect file t))))

(provide 'org-agent-act)
;;; org-agent-act.el ends here
