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

(setq org-babel-default-header-args nil
      org-babel-default-header-args:emacs-lisp nil
      org-element-use-cache nil)

(defconst org-agent-parse-live
  '(babel-call clock comment-block diary-sexp drawer dynamic-block export-block inlinetask
    keyword latex-environment planning special-block citation citation-reference
    export-snippet inline-babel-call inline-src-block macro radio-target target)
  "Types of what may do something, or hides text.")

(defconst org-agent-parse-properties '("ID" "SKILL" "MODEL")
  "Properties of an answer.")

(defun org-agent-parse-live-p (element)
  "Return a string that says why ELEMENT is live, or nil."
  (let ((type (org-element-type element)))
    (cond
     ((memq type org-agent-parse-live) (symbol-name type))
     ((and (eq type 'link)
           (not (member (org-element-property :type element) '("http" "https" "mailto" "id" "file"))))
      (format "link %s" (org-element-property :raw-link element)))
     ((and (eq type 'link) (org-element-property :application element))
      (format "link application %s" (org-element-property :raw-link element)))
     ((and (eq type 'link) (equal (org-element-property :type element) "file")
           (file-remote-p (org-element-property :path element)))
      (format "remote %s" (org-element-property :path element)))
     ((and (eq type 'timestamp)
           (not (memq (org-element-property :type element) '(inactive inactive-range))))
      (format "timestamp %s" (org-element-property :raw-value element)))
     ((and (memq type '(src-block example-block))
           ;; An example may have the name of a language, held.
           (not (and (eq type 'example-block)
                     (not (org-element-property :header element))
                     (string-match-p "\\`\u200b[-+#._[:alnum:]]+\\'"
                                     (or (org-element-property :switches element) ""))))
           (or (org-element-property :parameters element) (org-element-property :switches element)
               (org-element-property :header element)))
      "block with arguments")
     ((and (eq type 'table) (or (org-element-property :tblfm element)
                                (eq (org-element-property :type element) 'table.el)))
      "table with formulas")
     ((and (eq type 'table-cell)
           (string-match-p "\\`[ \t]*:?=.*[^=]\\'"
                           (or (org-element-interpret-data (org-element-contents element)) "")))
      "formula")
     ((and (eq type 'node-property)
           (not (member (org-element-property :key element) org-agent-parse-properties)))
      (format "property %s" (org-element-property :key element)))
     ((and (eq type 'latex-fragment)
           (string-match-p "\\\\\\(?:input\\|begin\\|write\\|directlua\\)\\|\\^\\^"
                           (org-element-property :value element)))
      (format "LaTeX %s" (org-element-property :value element)))
     ((and (eq type 'headline) (or (org-element-property :commentedp element)
                                   (member "user" (org-element-property :tags element))
                                   (and (member "agent" (org-element-property :tags element))
                                        (/= 1 (org-element-property :begin element)))))
      "headline"))))

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
  (let* ((tree (org-element-parse-buffer))
         (types (append org-element-all-elements org-element-all-objects))
         (live (delq nil (org-element-map tree types #'org-agent-parse-live-p nil nil nil t))))
    `((headings . ,(vconcat (org-element-map tree 'headline #'org-agent-parse-headline)))
      (blocks . ,(vconcat (org-element-map tree 'src-block #'org-agent-parse-block)))
      (live . ,(vconcat live)))))

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
