;;; org-agent-markup.el --- Answers as text of other buffers  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; An answer is Org, whose markup is wrong in a mail, in Markdown and in
;; code.  `org-agent-markup-for-mode' converts an answer for a buffer:
;;
;; - In Markdown, an answer in Org is translated to Markdown.  If the model
;;   wrote Markdown, its text is not changed.
;; - In code, source blocks are inserted as code, and the text around them
;;   as comments.  If there is no block, the text of the model is not
;;   changed.
;; - Elsewhere the markup is removed.
;;
;; Two commands put the source blocks of answers into the kill ring or into
;; another buffer.

;;; Code:

(require 'cl-lib)
(require 'newcomment)
(require 'org)
(require 'org-element)
(require 'org-src)
(require 'subr-x)
(require 'org-agent-heading)
(require 'org-agent-inert)
(require 'org-agent-chat)

(defconst org-agent-markup--code-modes '(prog-mode conf-mode yaml-mode)
  "Modes of buffers with code, from which others are derived.")

(defconst org-agent-markup--emphasis
  '((bold . "**") (italic . "*") (strike-through . "~~") (underline . "")
    (code . "`") (verbatim . "`"))
  "The emphasis marker of Markdown for each type of emphasis in Org.")

(defmacro org-agent-markup--parsed (org &rest body)
  "Evaluate BODY in a buffer of Org mode that contains ORG."
  (declare (indent 1) (debug t))
  `(with-temp-buffer
     (insert ,org)
     (let ((org-inhibit-startup t) (org-element-use-cache nil))
       (delay-mode-hooks (org-mode)))
     ,@body))

;;;###autoload
(defun org-agent-markup-for-mode (org raw)
  "Return an answer converted for the mode of the current buffer.
ORG is the answer as inert Org, RAW is the text of the model."
  (cond
   ((derived-mode-p 'org-mode) org)
   ((derived-mode-p 'markdown-mode)
    (if (org-agent-markup--org-p raw)
        (org-agent-markup--translate org t)
      (string-trim raw "[\n\r]+")))
   ((apply #'derived-mode-p org-agent-markup--code-modes)
    (org-agent-markup--code org raw))
   (t (org-agent-markup--translate org nil))))

(defun org-agent-markup--org-p (raw)
  "Return non-nil if the first line of RAW is one of Org."
  (string-match-p "\\`[ \t\n\r]*\\(?:^\\*+ \\|^#\\+\\|^:[[:alnum:]_-]+:\\)" raw))

;;;###autoload
(defun org-agent-markup-words (org)
  "Return ORG, inert Org, as plain sentences: a heading is one, too."
  (org-agent-markup--translate
   (replace-regexp-in-string "^\\(\\*+ .*[^.?!:… \t\n]\\)[ \t]*$" "\\1." org)
   nil))

;;;; In code

(defun org-agent-markup--code (org raw)
  "Return the answer as code; ORG is its Org, RAW the text of the model."
  (let ((parts (org-agent-markup--parts org)))
    (cond
     ((cl-some #'car parts)
      (mapconcat (lambda (part)
                   (if (car part)
                       (cdr part)
                     (org-agent-markup--comment
                      (org-agent-markup--translate (cdr part) nil))))
                 parts "\n"))
     ((org-agent-markup--org-p raw) (org-agent-markup--translate org nil))
     (t (string-trim raw "[\n\r]+")))))

(defun org-agent-markup--parts (org)
  "Return the parts of ORG in order, a list of (CODE . TEXT).
CODE is non-nil if TEXT is the content of a block."
  (org-agent-markup--parsed org
    (let ((beg (point-min)) parts)
      (org-element-map (org-element-parse-buffer 'element)
          '(src-block example-block)
        (lambda (block)
          (pcase-let ((`(,from . ,to) (org-agent-markup--extent block)))
            (push (cons nil (buffer-substring-no-properties beg from)) parts)
            (let ((code (cdr (org-agent-markup--content block))))
              (push (cons t (if (eq (org-element-type block) 'src-block)
                                code
                              ;; Active Org in an example was made inert.
                              (string-replace org-agent-inert-mark "" code)))
                    parts))
            (setq beg to))))
      (push (cons nil (buffer-substring-no-properties beg (point-max))) parts)
      (cl-remove-if (lambda (part)
                      (and (not (car part)) (string-blank-p (cdr part))))
                    (nreverse parts)))))

(defun org-agent-markup--comment (text)
  "Return the lines of TEXT as comments of the current buffer's mode."
  (comment-normalize-vars t)
  (let ((before (comment-padright (or comment-start "#") (comment-add nil)))
        (after (or (comment-padleft comment-end) "")))
    (mapconcat (lambda (line)
                 (cond ((string-blank-p line) "")
                       ((string-empty-p after) (concat before line))
                       ;; An end of a comment in the text is broken up.
                       (t (concat before
                                  (replace-regexp-in-string
                                   comment-end-skip
                                   (lambda (end)
                                     (string-join (mapcar #'string end) " "))
                                   line t t)
                                  after))))
               (split-string (string-trim text "\n+" "[ \t\n]+") "\n") "\n")))

;;;; Plain text and Markdown

(defun org-agent-markup--extent (element)
  "Return the region of ELEMENT, (BEG . END), without blank lines after it."
  (cons (org-element-property :begin element)
        (save-excursion
          (goto-char (org-element-property :end element))
          (skip-chars-backward " \t\n" (org-element-property :begin element))
          (min (point-max) (1+ (point))))))

(defun org-agent-markup--content (block)
  "Return (INDENTATION . CONTENT) of BLOCK, two strings.
CONTENT is without the indentation and unescaped."
  (pcase-let ((`(,beg . ,end) (org-agent-markup--extent block)))
    (goto-char beg)
    (let ((indentation (buffer-substring-no-properties
                        beg (progn (skip-chars-forward " \t") (point))))
          (from (progn (forward-line 1) (point))))
      (goto-char (1- end))
      (forward-line 0)
      (cons indentation
            (replace-regexp-in-string
             (concat "^" indentation) ""
             (org-unescape-code-in-string
              (string-remove-suffix
               "\n"
               (buffer-substring-no-properties from (max from (point))))))))))

(defun org-agent-markup--translate (org markdown)
  "Return ORG as plain text, or as Markdown if MARKDOWN is non-nil."
  (org-agent-markup--parsed org
    (let (changes)
      (org-element-map (org-element-parse-buffer)
          (append '(headline link src-block example-block quote-block
                             verse-block center-block footnote-reference
                             footnote-definition line-break)
                  (mapcar #'car org-agent-markup--emphasis))
        (lambda (element)
          (setq changes (append (org-agent-markup--changes element markdown)
                                changes))))
      (pcase-dolist (`(,beg ,end ,text)
                     (cl-sort changes #'> :key #'car))
        (goto-char beg)
        (delete-region beg end)
        (insert text)))
    (goto-char (point-min))
    (while (search-forward org-agent-inert-mark nil t)
      (replace-match ""))
    (string-trim (buffer-string) "\n+" "[ \t\n]+")))

(defun org-agent-markup--changes (element markdown)
  "Return the changes that translate ELEMENT, a list of (BEG END TEXT).
Translate to plain text, or to Markdown if MARKDOWN is non-nil."
  (let ((beg (org-element-property :begin element))
        (end (- (org-element-property :end element)
                (or (org-element-property :post-blank element) 0)))
        (type (org-element-type element)))
    (pcase type
      ('headline
       (list (list beg (+ beg (org-element-property :level element)
                          (if markdown 0 1))
                   (if markdown
                       (make-string (min 6 (org-element-property :level element))
                                    ?#)
                     ""))))
      ('link (org-agent-markup--link element beg end markdown))
      ((or 'src-block 'example-block)
       (pcase-let ((`(,beg . ,end) (org-agent-markup--extent element))
                   (`(,indentation . ,content)
                    (org-agent-markup--content element)))
         (list (list beg end
                     (concat
                      (replace-regexp-in-string
                       "^." (concat indentation "\\&")
                       (if markdown
                           (org-agent-markup--fenced
                            content (org-agent-markup--language element))
                         content))
                      "\n")))))
      ((or 'quote-block 'verse-block 'center-block)
       (org-agent-markup--block element (eq type 'quote-block)))
      ('footnote-reference
       (list (list beg end (format (if markdown "[^%s]" "[%s]")
                                   (org-element-property :label element)))))
      ('footnote-definition
       (goto-char beg)
       (and (looking-at "\\[fn:[^]]+\\]")
            (list (list beg (match-end 0)
                        (format (if markdown "[^%s]:" "[%s]")
                                (org-element-property :label element))))))
      ('line-break (list (list beg (+ beg 2) (if markdown "\\" ""))))
      (_
       (let ((mark (if markdown
                       (cdr (assq type org-agent-markup--emphasis))
                     "")))
         (list (list beg (1+ beg) mark) (list (1- end) end mark)))))))

(defun org-agent-markup--link (link beg end markdown)
  "Return the changes that translate LINK, which is from BEG to END.
Translate to plain text, or to Markdown if MARKDOWN is non-nil."
  (let* ((words (org-element-property :contents-begin link))
         (last (org-element-property :contents-end link))
         (target (org-element-property :raw-link link))
         (bracket (eq (org-element-property :format link) 'bracket)))
    (cond
     ((not bracket) nil)
     ((and words markdown)
      (list (list beg words "[") (list last end (format "](%s)" target))))
     (words
      (list (list beg words "")
            (list last end
                  (if (equal (org-element-property :type link) "id")
                      ""
                    (format " <%s>" target)))))
     (t (list (list beg end (cond ((not markdown) target)
                                  ((string-match-p (image-file-name-regexp)
                                                   target)
                                   (format "![](%s)" target))
                                  (t (format "<%s>" target)))))))))

(defun org-agent-markup--block (block quote)
  "Return the changes that delete the first and last lines of BLOCK.
If QUOTE is non-nil, quote the lines between them as in Markdown."
  (pcase-let ((`(,beg . ,end) (org-agent-markup--extent block))
              (changes nil))
    (goto-char beg)
    (forward-line 1)
    (push (list beg (point) "") changes)
    (goto-char (1- end))
    (forward-line 0)
    (push (list (point) end "") changes)
    (when quote
      (let ((last (point)))
        (goto-char beg)
        (while (< (progn (forward-line 1) (point)) last)
          (push (list (point) (point) "> ") changes))))
    changes))

(defun org-agent-markup--language (block)
  "Return the language of BLOCK, or nil.
An example block has one if it was made inert."
  (or (org-element-property :language block)
      (save-excursion
        (goto-char (org-element-property :post-affiliated block))
        (and (looking-at (concat "[ \t]*#\\+begin_example[ \t]+"
                                 org-agent-inert-mark "\\([^ \t\n]+\\)"))
             (match-string 1)))))

(defun org-agent-markup--fenced (code language)
  "Return CODE as a fenced block of Markdown; LANGUAGE may be nil."
  (let ((fence "```"))
    (while (string-match-p (concat "^[ ]*" fence) code)
      (setq fence (concat fence "`")))
    (concat fence (or language "") "\n" code (if (string-empty-p code) "" "\n")
            fence)))

;;;; Source blocks

(defconst org-agent-markup--block-regexp
  "^[ \t]*#\\+begin_\\(?:src\\|example\\)\\(?:[ \t].*\\)?\n\\(\\(?:.*\n\\)*?\\)[ \t]*#\\+end_\\(?:src\\|example\\)[ \t]*$"
  "Regexp that matches a source or example block; group 1 is its text.")

(defun org-agent-markup--block-text ()
  "Return the unescaped text of the block that was just matched."
  (org-unescape-code-in-string (match-string-no-properties 1)))

(defun org-agent-markup--block-at-point ()
  "Return the text of the block at point, or nil."
  (save-excursion
    (save-match-data
      (let ((position (point)) found)
        (end-of-line)
        (while (and (not found)
                    (re-search-backward "^[ \t]*#\\+begin_\\(?:src\\|example\\)" nil t))
          (when (and (looking-at org-agent-markup--block-regexp)
                     (<= (match-beginning 0) position (match-end 0)))
            (setq found (org-agent-markup--block-text)))
          (unless found (goto-char (point-min))))
        found))))

(defun org-agent-markup--block-last (beg end)
  "Return the text of the last block between BEG and END, or nil."
  (org-agent-heading-widely
    (goto-char beg)
    (let (found)
      (while (re-search-forward org-agent-markup--block-regexp end t)
        (setq found (org-agent-markup--block-text)))
      found)))

(defun org-agent-markup--block-of-answer ()
  "Return the text of the last block below the heading at point.
If there is none, return that of the last block in an answer, or nil."
  (let* ((here (org-agent-heading-at (point)))
         (found (and here
                     (org-agent-markup--block-last
                      here (org-agent-heading-subtree-end here))))
         (answer (org-agent-heading-last-turn 'agent)))
    (while (and answer (not found))
      (setq found (org-agent-markup--block-last
                   answer (org-agent-heading-subtree-end answer))
            answer (org-agent-heading-last-turn 'agent nil answer)))
    found))

(defun org-agent-markup--block-wanted ()
  "Return the text of the block at point, or else of the last one.
Signal an error if there is none."
  (or (org-agent-markup--block-at-point)
      (org-agent-markup--block-of-answer)
      (user-error "No answer has a source block")))

;;;###autoload
(defun org-agent-copy-block ()
  "Copy the source block at point, or the last one of the answer.
The copy is without the commas that escape code in Org."
  (interactive)
  (unless (derived-mode-p 'org-mode)
    (user-error "This is not an Org buffer"))
  (let ((text (org-agent-markup--block-wanted)))
    (kill-new text)
    (message "Copied %s%s" (org-agent-counted (length (split-string text "\n" t)) "line")
             (if (string-search org-agent-inert-mark text)
                 "; what is held in them stays so" ""))))

;;;###autoload
(defun org-agent-yank-block ()
  "Insert the last source block of the conversation at point.
In a conversation, insert the block at point, or the last one, into the
buffer that was current before."
  (interactive)
  (if org-agent-chat-session
      (let ((text (org-agent-markup--block-wanted))
            (target (other-buffer (current-buffer) t)))
        (when (buffer-local-value 'buffer-read-only target)
          (user-error "The buffer %s is read-only" (buffer-name target)))
        (with-current-buffer target
          (org-agent-markup--block-insert text))
        (message "Inserted into %s" (buffer-name target)))
    (barf-if-buffer-read-only)
    (let ((chat (or (car (org-agent-chat-buffers))
                    (user-error "No conversation is open"))))
      (org-agent-markup--block-insert
       (with-current-buffer chat
         (save-excursion
           (goto-char (point-max))
           (or (org-agent-markup--block-of-answer)
               (user-error "No answer has a source block"))))))))

(defun org-agent-markup--block-insert (text)
  "Insert TEXT at point as one step of undo, and set the mark before it."
  (push-mark nil t)
  (undo-boundary)
  (insert text)
  (undo-boundary))

(provide 'org-agent-markup)
;;; org-agent-markup.el ends here
