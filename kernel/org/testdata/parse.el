;;; parse.el --- Say what Org's parser finds in texts  -*- lexical-binding: t; -*-

;; Run by the Go tests: reads a JSON list of texts, writes a JSON list of what a function
;; found in each.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-element)
(require 'org-id)
(require 'ob-core)
(require 'ob-emacs-lisp)
(require 'json)
(require 'org-agent-inert)

(setq org-babel-default-header-args nil
      org-babel-default-header-args:emacs-lisp nil
      org-element-use-cache nil)

(defun org-agent-parse-headline (headline)
  "Return what we compare of HEADLINE."
  `((level . ,(org-element-property :level headline))
    (todo . ,(substring-no-properties (or (org-element-property :todo-keyword headline) "")))
    (priority . ,(if (org-element-property :priority headline)
                     (string (org-element-property :priority headline))
                   ""))
    (title . ,(org-element-property :raw-value headline))
    (tags . ,(vconcat (mapcar #'substring-no-properties (org-element-property :tags headline))))
    (commented . ,(if (org-element-property :commentedp headline) t :false))
    (line . ,(line-number-at-pos (org-element-property :begin headline)))
    (end . ,(org-element-property :end headline))
    (drawer . ,(vconcat
                (org-element-map (org-element-contents (car (org-element-contents headline)))
                    'node-property
                  (lambda (property)
                    (format "%s=%s" (org-element-property :key property)
                            (or (org-element-property :value property) "")))
                  nil nil '(headline drawer))))))

(defun org-agent-parse-arguments (block)
  "Return the header arguments in force for BLOCK, sorted."
  (let ((found nil))
    (pcase-dolist (`(,key . ,value) (nth 2 (org-babel-get-src-block-info 'light block)))
      (unless (and (memq key '(:results :exports)) (equal value ""))
        (push (format "%s %s" key (or value "")) found)))
    (vconcat (sort found #'string<))))

(defun org-agent-parse-block (block)
  "Return what we compare of the src BLOCK."
  `((kind . "src")
    (language . ,(or (org-element-property :language block) ""))
    (switches . ,(or (org-element-property :switches block) ""))
    (arguments . ,(or (org-element-property :parameters block) ""))
    (name . ,(or (org-element-property :name block) ""))
    (value . ,(org-element-property :value block))
    (body . ,(org-babel--normalize-body block))
    (line . ,(line-number-at-pos (org-element-property :post-affiliated block)))
    (header . ,(if (org-element-property :language block) (org-agent-parse-arguments block) []))))

(defun org-agent-parse-text ()
  "Return what Org's parser finds in the current buffer."
  (let ((tree (org-element-parse-buffer)))
    `((headings . ,(vconcat (org-element-map tree 'headline #'org-agent-parse-headline)))
      (blocks . ,(vconcat (org-element-map tree 'src-block #'org-agent-parse-block))))))

(defun org-agent-parse-held ()
  "Return what the client would hold in the current buffer, or change in it."
  (let* ((text (buffer-string))
         (held nil)
         (inert (org-agent-inert text nil (lambda (place _rule what)
                                            (push (format "%d: %s" place what) held)))))
    (unless (or held (equal inert text))
      (push (concat "changed to " inert) held))
    (vconcat (nreverse held))))

(defun org-agent-parse-file (in out function)
  "Call FUNCTION in a buffer for each text of the file IN and write the results to OUT."
  (let* ((coding-system-for-read 'utf-8-unix)
         (coding-system-for-write 'utf-8-unix)
         (texts (with-temp-buffer
                  (insert-file-contents in)
                  (json-parse-buffer)))
         (results (mapcar (lambda (text)
                            (with-temp-buffer
                              (insert text)
                              (let ((org-inhibit-startup t))
                                (delay-mode-hooks (org-mode)))
                              (funcall function)))
                          texts)))
    (with-temp-file out
      (insert (json-serialize (vconcat results))))))

(defun org-agent-align-text ()
  "Return the text of the current buffer, a table, as Org aligns it."
  (goto-char (point-min))
  (org-table-align)
  (buffer-string))

;;; parse.el ends here
