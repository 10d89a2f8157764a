;;; match.el --- What Org's matcher finds in a file  -*- lexical-binding: t; -*-

;;; Commentary:

;; (outline-match OUT FILE MATCHERS) writes the lines of the headings that
;; match each, a JSON array a line.

;;; Code:

(require 'org)
(require 'json)

(defun outline-match (out file matchers)
  "Write to OUT the lines of the headings of FILE that match each of MATCHERS."
  (with-temp-file out
    (dolist (matcher matchers)
      (insert (json-encode
               (vconcat
                (with-current-buffer (find-file-noselect file)
                  (org-map-entries #'line-number-at-pos matcher nil 'archive 'comment))))
              "\n"))))

;;; match.el ends here
