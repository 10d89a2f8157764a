;;; org-agent-refresh.el --- Show files as tools changed them  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; When a tool has changed a file on the disk, the buffer that visits it
;; shows what is there now, with point, windows and undo as they were.  A
;; buffer with changes of its own stays as it is: Emacs asks about it when
;; it is saved, as always.

;;; Code:

(require 'org-agent-rpc)

(cl-defmethod org-agent-handle-notification ((_method (eql 'file/changed))
                                             params)
  "Show the files that PARAMS name as they are now."
  (dolist (file (plist-get params :files))
    (when-let ((buffer (find-buffer-visiting file)))
      (with-current-buffer buffer
        (unless (or (buffer-modified-p) (verify-visited-file-modtime))
          (org-agent-refresh--buffer))))))

(defun org-agent-refresh--buffer ()
  "Have this buffer show what its file has now.
What cannot be shown without a question stays."
  (condition-case err
      (let ((inhibit-message t)
            (inhibit-interaction t)
            (message-log-max nil)
            (revert-without-query '("")))
        (undo-boundary)
        (revert-buffer t t t)
        (undo-boundary))
    ((inhibited-interaction file-error)
     (org-agent-rpc-log "%s is not shown as it is now: %s"
                        buffer-file-name (error-message-string err)))))

(provide 'org-agent-refresh)
;;; org-agent-refresh.el ends here
