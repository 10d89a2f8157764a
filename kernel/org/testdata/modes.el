;;; modes.el --- What the Go tests ask of highlighting  -*- lexical-binding: t; -*-

;; Loaded by the Go tests after the oracle, which both implementations share.

;;; Code:

(defun org-agent-modes-of-text ()
  "Return the languages whose modes highlighting the current buffer calls."
  (vconcat (org-agent-modes-called)))

(defun org-agent-modes-of-checked-text ()
  "Return the same for the current buffer as the client's check leaves it."
  (let ((text (buffer-string)))
    (erase-buffer)
    (insert (org-agent-inert text)))
  (org-agent-modes-of-text))

(defun org-agent-modes-hostile ()
  "Return the hostile texts of the language that the current buffer holds."
  (org-agent-modes-text (string-trim (buffer-string))))

(defun org-agent-modes-known ()
  "Return every X of which a function X-mode exists."
  (vconcat (org-agent-modes-languages)))

;;; modes.el ends here
