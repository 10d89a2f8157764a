;;; outline.el --- The outline of Org texts, as the Markdown test makes it  -*- lexical-binding: t; -*-

;; Loaded by the Go tests after parse.el.

;;; Code:

(require 'org-element)
(require 'subr-x)

(defvar org-agent-outline-lines nil
  "The lines found, latest first.")

(defun org-agent-outline-text ()
  "Return the outline of the current buffer, a list of lines."
  (setq org-agent-outline-lines nil)
  (org-agent-outline-blocks (org-element-parse-buffer))
  (vconcat (nreverse org-agent-outline-lines)))

(defun org-agent-outline-line (&rest words)
  "Add the line of WORDS, which may be nil."
  (push (string-trim (string-join (delq nil words) " ")) org-agent-outline-lines))

(defun org-agent-outline-held-language (element)
  "Return the language that is held in the first line of ELEMENT, an example, or nil."
  (save-excursion
    (goto-char (org-element-property :post-affiliated element))
    (and (looking-at "[ \t]*#\\+begin_example \u200b\\([^ \t\n]+\\)$")
         (match-string 1))))

(defun org-agent-outline-blocks (element)
  "Add the blocks in ELEMENT."
  (mapc #'org-agent-outline-block (org-element-contents element)))

(defun org-agent-outline-container (name element)
  "Add ELEMENT and what is in it, under NAME."
  (org-agent-outline-line (concat "(" name))
  (org-agent-outline-blocks element)
  (org-agent-outline-line ")"))

(defun org-agent-outline-block (element)
  "Add ELEMENT."
  (pcase (org-element-type element)
    ('section (org-agent-outline-blocks element))
    ('headline
     (org-agent-outline-line
      "heading" (number-to-string (org-element-property :level element))
      (org-element-property :todo-keyword element)
      (and (org-element-property :commentedp element) "COMMENT")
      (org-agent-outline-words
       (org-agent-outline-objects (org-element-property :title element)))
      (and (org-element-property :tags element)
           (format "%s" (org-element-property :tags element))))
     (org-agent-outline-blocks element))
    ('paragraph
     (let ((words (org-agent-outline-words
                   (org-agent-outline-objects (org-element-contents element)
                                              (org-agent-outline-quoted-p element)))))
       (unless (string-empty-p words)
         (org-agent-outline-line "text" words))))
    ('quote-block (org-agent-outline-container "quote" element))
    ('plain-list
     (org-agent-outline-container (symbol-name (org-element-property :type element)) element))
    ('item
     (org-agent-outline-container
      (concat "item"
              (pcase (org-element-property :checkbox element)
                ('on " on") ('off " off") ('trans " trans")))
      element))
    ('footnote-definition
     (org-agent-outline-container
      (concat "footnote " (org-element-property :label element)) element))
    ('horizontal-rule (org-agent-outline-line "rule"))
    ('src-block
     (org-agent-outline-line "src" (org-element-property :language element)
                             (org-agent-outline-quote (org-element-property :value element))))
    ('example-block
     (org-agent-outline-line "example" (org-agent-outline-held-language element)
                             (org-agent-outline-quote (org-element-property :value element))))
    ('table
     (org-agent-outline-line "(table")
     (let ((first t))
       (dolist (row (org-element-contents element))
         (org-agent-outline-row row first)
         (setq first nil)))
     (org-agent-outline-line ")"))
    (type (org-agent-outline-line "ORG" (symbol-name type)
                                  (buffer-substring-no-properties
                                   (org-element-property :begin element)
                                   (org-element-property :end element))))))

(defun org-agent-outline-quoted-p (element)
  "Return non-nil if ELEMENT stands in a quote block."
  (let ((parent element))
    (while (and parent (not (eq (org-element-type parent) 'quote-block)))
      (setq parent (org-element-property :parent parent)))
    parent))

(defun org-agent-outline-quote (text)
  "Return TEXT as the Go test quotes it."
  (org-trim (org-agent-outline-escape text)))

(defun org-agent-outline-escape (text)
  "Return TEXT, with its line ends and quotes escaped, in quotes."
  (concat "\"" (replace-regexp-in-string
                "[\\\"\n\t]"
                (lambda (c) (pcase c ("\n" "\\n") ("\t" "\\t") (_ (concat "\\" c))))
                text t t)
          "\""))

(defun org-agent-outline-row (row first)
  "Add the table ROW; alignment cookies, in the FIRST, are left out."
  (if (eq (org-element-property :type row) 'rule)
      (org-agent-outline-line "row -")
    (let ((cells (mapcar (lambda (cell)
                           (org-agent-outline-words
                            (org-agent-outline-objects (org-element-contents cell))))
                         (org-element-contents row))))
      (unless (and first
                   (cl-some (lambda (cell) (string-match-p "\\`<[lcr]>\\'" cell)) cells)
                   (cl-every (lambda (cell) (string-match-p "\\`\\(?:<[lcr]>\\)?\\'" cell)) cells))
        (org-agent-outline-line
         "row" (string-trim-right (string-join cells " | ") "[ |]+"))))))

(defun org-agent-outline-words (words)
  "Return WORDS without what is only layout."
  (string-trim (replace-regexp-in-string
                " <br>" "<br>"
                (replace-regexp-in-string
                "[ \t\n\r\f\u00a0\u200b]+" " "
                (replace-regexp-in-string
                 "<br>\\'" "" (string-trim (string-replace "\u200b" "" words)))))))

(defun org-agent-outline-objects (objects &optional quoted)
  "Return the text of OBJECTS, the marks of nested quotes left out when QUOTED."
  (mapconcat (lambda (object) (org-agent-outline-object object quoted)) objects ""))

(defun org-agent-outline-object (object quoted)
  "Return the text of OBJECT; QUOTED is as for `org-agent-outline-objects'."
  (let* ((type (org-element-type object))
         (contents (and (consp object) (org-element-contents object)))
         (inner (lambda () (string-trim (org-agent-outline-objects contents quoted))))
         (text
          (pcase type
            ('plain-text (if quoted
                             (replace-regexp-in-string "^[ \t]*\\(?:> \\)+" "" (substring-no-properties object))
                           (substring-no-properties object)))
            ('bold (format "<b %s>" (funcall inner)))
            ('italic (format "<i %s>" (funcall inner)))
            ('strike-through (format "<s %s>" (funcall inner)))
            ('underline (format "<UNDERLINE %s>" (funcall inner)))
            ((or 'code 'verbatim) (format "<code %s>" (org-element-property :value object)))
            ('link (if contents
                       (format "<link %s %s>" (org-element-property :raw-link object)
                               (org-agent-outline-words (funcall inner)))
                     (format "<link %s>" (org-element-property :raw-link object))))
            ('footnote-reference (format "<fn %s>" (org-element-property :label object)))
            ('line-break "<br>")
            ('entity (if (equal (org-element-property :name object) "vert") "|"
                       (substring-no-properties (org-element-interpret-data object))))
            ('statistics-cookie (org-element-property :value object))
            ('timestamp (org-element-property :raw-value object))
            ('latex-fragment (org-element-property :value object))
            ((or 'subscript 'superscript)
             (concat (if (eq type 'subscript) "_" "^")
                     (if (org-element-property :use-brackets-p object)
                         (format "{%s}" (org-agent-outline-objects contents quoted))
                       (org-agent-outline-objects contents quoted))))
            (_ (format "<ORG %s>" type)))))
    (if (eq type 'plain-text) text
      (concat text (make-string (or (org-element-property :post-blank object) 0) ?\s)))))

;;; outline.el ends here
