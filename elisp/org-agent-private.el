;;; org-agent-private.el --- Buffers that no model sees  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What the kernel asks of this Emacs for a model is never told of a
;; private buffer: neither its text nor that it is there.  Private are
;; buffers whose names or files are like those of
;; `org-agent-private-buffers', those that decrypt their file, and those in
;; which the person turned on `org-agent-private-mode'.
;;
;; What the kernel asks is answered briefly, or not at all while the person
;; types: see `org-agent-private-briefly'.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defcustom org-agent-private-buffers
  '("\\`\\*org-agent-\\(?:ap\\|form\\|question\\|grant\\|log\\|status\\|prompt\\|why\\)"
    "\\`\\*\\(?:pass\\|auth-source\\|password\\|pinentry\\|epa\\|Keys\\)"
    "\\(?:\\.gpg\\|\\.asc\\|\\.age\\|\\.pem\\|\\.key\\|\\.p12\\|\\.kdbx\\)\\'"
    "\\(?:\\`\\|/\\)[._]\\(?:authinfo\\|netrc\\|pgpass\\|git-credentials\\|npmrc\\|pypirc\\|env\\)"
    "/\\.\\(?:ssh\\|gnupg\\|password-store\\|aws\\|kube\\|azure\\)/"
    "\\(?:\\`\\|/\\)id_\\(?:rsa\\|dsa\\|ecdsa\\|ed25519\\)\\'")
  "Buffers that no model sees, whatever is allowed.
Each element is a regular expression for the name of a buffer or of its
file, or a function that is called in the buffer and returns non-nil
when it is private."
  :type '(repeat (choice regexp function))
  :group 'org-agent)

;;;###autoload
(define-minor-mode org-agent-private-mode
  "Keep the text of this buffer from every model, and that it is there.
What is sent from it by hand, as a region, is sent all the same."
  :lighter " Private"
  :group 'org-agent)

(put 'org-agent-private-mode 'permanent-local t)

(defun org-agent-private-p (buffer)
  "Return non-nil when BUFFER is private.
So is one of which that cannot be found out."
  (with-current-buffer (or (buffer-base-buffer buffer) buffer)
    (let ((names (delq nil (list (buffer-name buffer) (buffer-name)
                                 buffer-file-name buffer-file-truename)))
          (case-fold-search t))
      (or org-agent-private-mode
          (buffer-local-value 'org-agent-private-mode buffer)
          (string-prefix-p " " (buffer-name buffer))
          (minibufferp buffer)
          (bound-and-true-p epa-file-encrypt-to)
          (derived-mode-p 'authinfo-mode 'epa-key-list-mode 'epa-key-mode
                          'epa-info-mode)
          (condition-case nil
              (cl-some (lambda (what)
                         (if (stringp what)
                             (cl-some (lambda (name) (string-match-p what name))
                                      names)
                           (funcall what)))
                       org-agent-private-buffers)
            (error t))))))

(defun org-agent-private-name-p (file)
  "Return non-nil when FILE, whether it is visited or not, has a private name."
  (let ((case-fold-search t))
    (cl-some (lambda (what) (and (stringp what) (string-match-p what file)))
             org-agent-private-buffers)))

(defun org-agent-private-file (buffer)
  "Return the real name of the file of this machine that BUFFER visits, or nil."
  (let ((file (buffer-file-name (or (buffer-base-buffer buffer) buffer))))
    (and file (not (file-remote-p file)) (file-truename file))))

(defmacro org-agent-private-briefly (&rest body)
  "Return the value of BODY, or (:busy t) as soon as the person types.
BODY is stopped wherever it is then: it must leave nothing behind.  It
asks nothing: a question is an error."
  (declare (indent 0) (debug t))
  `(let* ((inhibit-interaction t)
          (answer (while-no-input (list (progn ,@body)))))
     (if (consp answer) (car answer) (list :busy t))))

(provide 'org-agent-private)
;;; org-agent-private.el ends here
