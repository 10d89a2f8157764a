;;; agenda.el --- What Org's agenda says of files  -*- lexical-binding: t; -*-

;;; Commentary:

;; (agenda-print FILES FROM DAYS TODAY) prints what `org-agenda-list' shows,
;; one JSON object a line.

;;; Code:

(require 'org)
(require 'org-agenda)
(require 'json)
(require 'cl-lib)

(defun agenda-print (out files from days today)
  "Write to OUT what the agenda of FILES shows from FROM on, for DAYS, on TODAY."
  (let ((org-agenda-files files)
        (org-agenda-search-headline-for-time nil)
        (org-agenda-use-time-grid nil)
        (org-agenda-start-on-weekday nil)
        (inhibit-message t))
    (cl-letf (((symbol-function 'org-today) (lambda () today)))
      (org-agenda-list nil from days))
    (with-temp-file out
      (let ((lines nil))
        (with-current-buffer org-agenda-buffer-name
          (goto-char (point-min))
          (while (not (eobp))
            (let ((marker (org-get-at-bol 'org-hd-marker)))
              (when marker
                (push (list :day (org-get-at-bol 'day)
                            :kind (org-get-at-bol 'type)
                            :time (or (org-get-at-bol 'time-of-day) -1)
                            :extra (string-trim (or (org-get-at-bol 'extra) ""))
                            :title (org-with-point-at marker (org-get-heading t t t t))
                            :line (with-current-buffer (marker-buffer marker)
                                    (line-number-at-pos marker)))
                      lines)))
            (forward-line)))
        (dolist (line (nreverse lines))
          (insert (json-encode line) "\n"))))))

;;; agenda.el ends here
