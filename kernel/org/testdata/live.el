;;; live.el --- Say what is live in texts for Org's own parser  -*- lexical-binding: t; -*-

;; What Org's parser makes of a text, asked for what must not be in an answer.  It shares nothing with
;; the implementations of the list but its words.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-element)
(require 'org-agent-inert-list)

(defconst org-agent-live--tex
  (concat "\\^\\^[]!-[_-~\\]\\|\\\\" (regexp-opt org-agent-inert-list-tex) "\\(?:[^a-z]\\|\\'\\)"
          "\\|\\\\\\(?:begin\\|end\\){" (regexp-opt org-agent-inert-list-tex) "}")
  "Matches TeX that reads, writes, runs or redefines.")

(defun org-agent-live--element (element)
  "Return what is live of ELEMENT itself, or nil."
  (let ((case-fold-search t)
        (text (buffer-substring-no-properties (org-element-property :begin element)
                                              (org-element-property :end element))))
    (pcase (org-element-type element)
      ((or 'latex-fragment 'latex-environment)
       (and (string-match-p org-agent-live--tex text) text))
      ((or 'inline-src-block 'inline-babel-call 'macro 'export-snippet 'babel-call 'dynamic-block 'diary-sexp)
       text)
      ('citation text)
      ('timestamp (and (eq (org-element-property :type element) 'diary) text))
      ('keyword
       (and (string-match-p org-agent-inert-list-keywords (downcase (org-element-property :key element)))
            text))
      ('node-property
       (and (string-match-p org-agent-inert-list-properties (downcase (org-element-property :key element)))
            text))
      ('src-block
       (and (org-element-property :language element)
            (not (org-agent-inert-list-language-p (org-element-property :language element)))
            text))
      ('link
       (and (not (member (downcase (org-element-property :type element))
                         '("http" "https" "mailto" "id" "file" "fuzzy" "radio" "custom-id" "coderef")))
            text)))))

(defun org-agent-parse-live ()
  "Return what is live in the current buffer for Org's parser."
  (org-update-radio-target-regexp)
  (let (live)
    (org-element-map (org-element-parse-buffer)
        '(latex-fragment latex-environment inline-src-block inline-babel-call macro export-snippet
          babel-call dynamic-block diary-sexp citation timestamp keyword node-property src-block link)
      (lambda (element)
        (when-let* ((found (org-agent-live--element element)))
          (push (format "%s: %s" (org-element-type element) found) live)))
      nil nil nil t)
    (vconcat (nreverse live))))

(provide 'live)
;;; live.el ends here
