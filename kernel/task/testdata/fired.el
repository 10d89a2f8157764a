;;; fired.el --- What Org makes of entries that are done -*- lexical-binding: t; -*-

;; The file in FIRED_IN has entries, each behind a line with a moment, in seconds since 1970. FIRED_OUT has what Org makes
;; of each when it is done at that moment, behind a line "refused" or "done".

(require 'org)

(setq org-log-repeat 'time org-log-done nil org-log-into-drawer t org-adapt-indentation nil org-auto-align-tags nil
      org-todo-keywords '((sequence "TODO" "DONE")))

(defun fired-entry (now text)
  "Return the entry TEXT as it is when it was done at NOW."
  (with-temp-buffer
    (insert text)
    (let ((org-inhibit-startup t)) (org-mode))
    (goto-char (point-min))
    (let ((inhibit-message t) refused)
      (cl-letf* (((symbol-function 'current-time) (lambda () now))
                 ((symbol-function 'org-current-time) (lambda (&rest _) now))
                 ((symbol-function 'y-or-n-p) #'always)
                 (less (symbol-function 'org-time-less-p))
                 ((symbol-function 'org-time-less-p) (lambda (a b) (funcall less (or a now) (or b now))))
                 ((symbol-function 'org-today) (lambda () (time-to-days now)))
                 ((symbol-function 'org-time-stamp-to-now)
                  (lambda (ts &optional _) (- (float-time (org-time-string-to-time ts)) (float-time now)))))
        (setq refused (condition-case nil
                          (progn (org-todo 'done)
                                 (when (memq 'org-add-log-note post-command-hook) (org-add-log-note))
                                 nil)
                        (user-error t))))
      (concat (if refused "refused" "done") "\n" (buffer-string)))))

(let ((coding-system-for-read 'utf-8) (coding-system-for-write 'utf-8) results)
  (with-temp-buffer
    (insert-file-contents (getenv "FIRED_IN"))
    (dolist (entry (split-string (buffer-string) "\f" t))
      (let ((at (string-match "\n" entry)))
        (push (fired-entry (seconds-to-time (string-to-number (substring entry 0 at))) (substring entry (1+ at))) results))))
  (with-temp-file (getenv "FIRED_OUT")
    (insert (mapconcat #'identity (nreverse results) "\f"))))

;;; fired.el ends here
