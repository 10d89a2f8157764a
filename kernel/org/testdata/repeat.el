;;; repeat.el --- What Org makes of repeating timestamps -*- lexical-binding: t; -*-

;; Each line of the file in REPEAT_IN has a moment, in seconds since 1970, and a timestamp. Each line of
;; REPEAT_OUT has what Org makes of the timestamp when its entry is done at that moment, or "refused": Org does
;; not find timestamps with too much text in them.

(require 'org)

(setq org-log-repeat nil org-log-done nil)

(let ((coding-system-for-read 'utf-8) (coding-system-for-write 'utf-8) results)
  (with-temp-buffer
    (insert-file-contents (getenv "REPEAT_IN"))
    (dolist (line (split-string (buffer-string) "\n" t))
      (let* ((at (string-match " " line))
             (now (seconds-to-time (string-to-number (substring line 0 at))))
             (stamp (substring line (1+ at)))
             refused)
        (with-temp-buffer
          (let ((org-inhibit-startup t)) (org-mode))
          (insert "* TODO Task\nSCHEDULED: " stamp "\n")
          (goto-char (point-min))
          (let ((inhibit-message t))
            (cl-letf* (((symbol-function 'current-time) (lambda () now))
                       ((symbol-function 'y-or-n-p) #'always)
                       (less (symbol-function 'org-time-less-p))
                       ((symbol-function 'org-time-less-p) (lambda (a b) (funcall less (or a now) (or b now))))
                       ((symbol-function 'org-today) (lambda () (time-to-days now)))
                       ((symbol-function 'org-time-stamp-to-now)
                        (lambda (ts &optional _) (- (float-time (org-time-string-to-time ts)) (float-time now)))))
              (setq refused (condition-case nil (progn (org-todo "DONE") nil) (user-error t)))))
          (goto-char (point-min))
          (push (if (and (not refused) (re-search-forward "SCHEDULED: \\([<[][^]>]*[]>]\\)" nil t)) (match-string 1) "refused") results)))))
  (with-temp-file (getenv "REPEAT_OUT")
    (insert (mapconcat #'identity (nreverse results) "\n") "\n")))

;;; repeat.el ends here
