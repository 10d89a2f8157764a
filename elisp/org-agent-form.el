;;; org-agent-form.el --- Forms for questions in a conversation  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A question of the agent is in its conversation as a form.  Each field
;; has a numbered line, the *label*, and below it boxes to check or a place
;; to write.  A form is ordinary Org text that is edited, saved and undone
;; as any other.  It is found and read by its labels, which the kernel
;; wrote.  RET, SPC or the mouse on an option checks its box, and so do the
;; commands of Org.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-heading)
(require 'org-agent-undo)
(require 'org-agent-asks)

(defconst org-agent-form--box "^[ \t]*- \\(\\[\\([ xX-]\\)\\]\\)[ \t]*"
  "Matches the box of an option.")

(defconst org-agent-form--own "other:"
  "The text before an answer that is none of the options.")

(defvar org-agent-form-box-map
  (let ((map (make-sparse-keymap)))
    (dolist (key '("RET" "SPC" "<mouse-1>"))
      (define-key map (kbd key) #'org-agent-form-toggle))
    map)
  "Keymap on the options of a form.")

;; Categories, since Org's fontification takes the property `keymap' away.
(put 'org-agent-form-box 'keymap org-agent-form-box-map)
(put 'org-agent-form-box 'mouse-face 'highlight)
(put 'org-agent-form-option 'keymap org-agent-form-box-map)
(put 'org-agent-form-option 'mouse-face 'highlight)
(put 'org-agent-form-option 'read-only "RET checks it; C-c C-c sends the answers")
(put 'org-agent-form-label 'read-only
     "The answer goes below; C-c C-c sends the answers, C-c C-k declines")

;;;; Fields

(defun org-agent-form--labels (subtree)
  "Return the labels in SUBTREE, which the kernel wrote."
  (let ((start 0) labels)
    (while (string-match "^[0-9]+\\. .*$" subtree start)
      (push (match-string 0 subtree) labels)
      (setq start (match-end 0)))
    (nreverse labels)))

(defun org-agent-form--regions (heading question)
  "Return the positions of the fields of QUESTION, a plist.
The form is at HEADING.  The elements are (LABEL BEG END): the beginning
of the label, and the text of the answer.  Signal an error when a label
was changed."
  (org-agent-heading-widely
    (let ((end (org-agent-heading-subtree-end heading))
          (case-fold-search nil)
          places)
      (goto-char heading)
      (dolist (label (org-agent-form--labels (plist-get question :subtree)))
        (unless (re-search-forward (concat "^" (regexp-quote label) "$") end t)
          (user-error "The line \"%s\" was changed: undo that, or answer with M-x org-agent-question-fill"
                      (truncate-string-to-width label 40 nil nil t)))
        (push (list (match-beginning 0) (min end (1+ (match-end 0)))) places))
      (setq places (nreverse places))
      (cl-mapcar (lambda (place next)
                   (append place (list (if next (car next) end))))
                 places (append (cdr places) '(nil))))))

(defun org-agent-form--boxes (beg end)
  "Return the boxes from BEG to END, a list of (BOX CHECKED TEXT TEXT-END).
All elements but CHECKED are positions."
  (org-agent-heading-widely
    (goto-char beg)
    (let (boxes)
      (while (re-search-forward org-agent-form--box end t)
        (push (list (match-beginning 1)
                    (member (match-string-no-properties 2) '("x" "X"))
                    (point) (line-end-position))
              boxes)
        (end-of-line))
      (nreverse boxes))))

(defun org-agent-form-fields (question)
  "Return the fields of QUESTION."
  (plist-get (plist-get question :form) :fields))

(defun org-agent-form--boxed-p (field)
  "Return non-nil when FIELD is answered by checking boxes."
  (memq (plist-get field :kind) '(:choice :choices :yes-no)))

(defun org-agent-form-options (field)
  "Return the options of FIELD."
  (if (eq (plist-get field :kind) :yes-no)
      '("yes" "no")
    (plist-get field :options)))

;;;; Reading

(defun org-agent-form-read (heading question)
  "Return the answers in the form of QUESTION at HEADING.
They are plists (:name :values).  Secret fields are left out.  If an answer
is missing or invalid, go there and signal an error."
  (let (answers)
    (cl-mapc
     (lambda (field region)
       (unless (eq (plist-get field :kind) :secret)
         (let ((values (org-agent-form--values field region)))
           (cond
            ((org-agent-form--no-number-p field (car values))
             (org-agent-form--complain field region
                                       "wants a number, such as 12 or 3.5"))
            (values (push (list :name (plist-get field :name) :values values)
                          answers))
            ((not (plist-get field :optional))
             (org-agent-form--complain field region "has no answer yet"))))))
     (org-agent-form-fields question)
     (org-agent-form--regions heading question))
    (nreverse answers)))

(defun org-agent-form--no-number-p (field value)
  "Return non-nil when FIELD needs a number and VALUE, a string, is none.
The kernel checks whether it is within bounds."
  (and value
       (eq (plist-get field :kind) :number)
       (not (string-match-p
             "\\`[-+]?\\(?:[0-9]+\\.?\\|[0-9]*\\.[0-9]+\\)\\(?:[eE][-+]?[0-9]+\\)?\\'"
             value))))

(defun org-agent-form--complain (field region what)
  "Go to REGION, that of FIELD, and signal WHAT is wrong with its answer."
  (push-mark nil t)
  (goto-char (nth 1 region))
  (if (looking-at "[ \t]*Answer:")
      (goto-char (line-end-position))
    (skip-chars-forward " \t"))
  (user-error "\"%s\" %s"
              (truncate-string-to-width (plist-get field :question) 50 nil nil t)
              what))

(defun org-agent-form--values (field region)
  "Return the answer to FIELD in REGION, a list of strings."
  (if (org-agent-form--boxed-p field)
      (org-agent-form--checked field region)
    (let ((text (org-agent-form--written (nth 1 region) (nth 2 region)
                                         "Answer:" (plist-get field :default))))
      (unless (string-empty-p text) (list text)))))

(defun org-agent-form--written (beg end before default)
  "Return the text written from BEG to END, without BEFORE at its start.
Return DEFAULT if it is DEFAULT with marks that make it harmless in Org."
  (let* ((text (string-trim (buffer-substring-no-properties beg end)))
         (text (if (string-prefix-p before text)
                   (substring text (length before))
                 text))
         (text (string-trim (replace-regexp-in-string "^   " "" text))))
    (if (and default (equal (string-replace "\u200b" "" text)
                            (string-replace "\u200b" "" default)))
        default
      text)))

(defun org-agent-form--checked (field region)
  "Return the checked options of FIELD in REGION, a list of strings.
An answer of one's own is the last."
  (let* ((boxes (org-agent-form--boxes (nth 1 region) (nth 2 region)))
         (options (org-agent-form-options field))
         (count (length options))
         (own (and (plist-get field :own) (nth count boxes)))
         (written (and own (org-agent-form--written
                            (nth 2 own) (nth 2 region) org-agent-form--own
                            (plist-get field :default))))
         (values (cl-loop for option in options for box in boxes
                          when (nth 1 box) collect option)))
    (unless (= (length boxes) (if (plist-get field :own) (1+ count) count))
      (org-agent-form--complain field region "has other options than it had: undo that"))
    (when (and own (nth 1 own) (string-empty-p written))
      (goto-char (nth 3 own))
      (user-error "Write your own answer after \"%s\"" org-agent-form--own))
    (when (and own (not (string-empty-p written))
               (or (nth 1 own) (null values)
                   (eq (plist-get field :kind) :choices)))
      (setq values (append values (list written))))
    (when (and (cdr values) (not (eq (plist-get field :kind) :choices)))
      (org-agent-form--complain field region "wants one answer only"))
    values))

(defun org-agent-form-untouched-p (heading subtree)
  "Return non-nil when the form at HEADING differs from SUBTREE in boxes only."
  (let ((plain (lambda (text)
                 (replace-regexp-in-string "^\\([ \t]*- \\)\\[[xX-]\\]" "\\1[ ]"
                                           text))))
    (org-agent-heading-widely
      (equal (funcall plain subtree)
             (funcall plain (buffer-substring-no-properties
                             heading (org-agent-heading-subtree-end heading)))))))

(defun org-agent-form-unsent (heading question)
  "Return the text that a person wrote into the form of QUESTION at HEADING.
The result is Org; boxes do not count.  Signal an error when a label was
changed."
  (mapconcat
   (lambda (written)
     (format "- Not sent: %s :: %s\n" (car written)
             (string-replace "\n" "\n  " (cdr written))))
   (delq nil (cl-mapcar
              (lambda (field region)
                (let ((text (org-agent-form--free field region)))
                  (unless (member text (list nil "" (plist-get field :default)))
                    (cons (plist-get field :question) text))))
              (org-agent-form-fields question)
              (org-agent-form--regions heading question)))
   ""))

(defun org-agent-form--free (field region)
  "Return the text that is written for FIELD in REGION, or nil."
  (pcase (plist-get field :kind)
    ((or :text :number) (car (org-agent-form--values field region)))
    ((guard (plist-get field :own))
     (when-let* ((own (nth (length (org-agent-form-options field))
                           (org-agent-form--boxes (nth 1 region) (nth 2 region)))))
       (org-agent-form--written (nth 2 own) (nth 2 region) org-agent-form--own
                                (plist-get field :default))))))

;;;; Checking boxes

(defun org-agent-form-decorate (heading question)
  "Give the form of QUESTION at HEADING its keys, and protect its labels.
Do nothing when a label was changed."
  (when-let* ((regions (ignore-errors
                         (org-agent-form--regions heading question))))
    (org-agent-heading-widely
      (with-silent-modifications
        (org-agent-undo-off
          (let ((inhibit-read-only t) (beg heading)
                (end (org-agent-heading-subtree-end heading)))
            (put-text-property heading end
                               'org-agent-asks (plist-get question :id))
            (cl-mapc
             (lambda (field region)
               (org-agent-form--mark beg (nth 1 region) 'org-agent-form-label)
               (when (org-agent-form--boxed-p field)
                 (org-agent-form--decorate-boxes field region))
               ;; The newline that ends the answer separates it from the
               ;; line of the next field, so it belongs to the region.
               (setq beg (1- (nth 2 region))))
             (org-agent-form-fields question) regions)
            (when (eq ?\n (char-before end))
              (org-agent-form--mark (1- end) end 'org-agent-form-label))
            (org-agent-form--stick heading)))))))

(defun org-agent-form--mark (beg end category)
  "Give the text from BEG to END the CATEGORY.
Text that is typed after it does not inherit the category."
  (when (< beg end)
    (put-text-property beg end 'category category)
    (remove-list-of-text-properties beg end '(front-sticky rear-nonsticky))
    (put-text-property (1- end) end 'rear-nonsticky t)))

(defun org-agent-form--stick (position)
  "Prevent typing before the read-only text at POSITION."
  (put-text-property position (1+ position) 'front-sticky '(read-only)))

(defun org-agent-form--decorate-boxes (field region)
  "Give the options of FIELD in REGION their keys."
  (let ((count (length (org-agent-form-options field))))
    (cl-loop
     for (box _ text end) in (org-agent-form--boxes (nth 1 region) (nth 2 region))
     for n from 0 do
     (goto-char box)
     (org-agent-form--mark (line-beginning-position) text 'org-agent-form-box)
     (org-agent-form--mark
      text (if (< n count) (1+ end)
             (min end (+ text (length org-agent-form--own))))
      'org-agent-form-option)
     (when (< text end)
       (org-agent-form--stick text)))))

(defun org-agent-form-here (questions)
  "Return (HEADING . QUESTION) of the form at point, or nil.
QUESTIONS are the open ones."
  (when-let* ((heading (org-agent-heading-at (point)))
              (id (org-agent-heading-property heading "ID"))
              (question (cl-find id questions :test #'equal
                                 :key (lambda (q) (plist-get q :id)))))
    (cons heading question)))

(defun org-agent-form-toggle (&optional event)
  "Check or clear the box of the option at point, or where EVENT was.
If only one answer is allowed the other boxes are cleared."
  (interactive (list last-nonmenu-event))
  (when (mouse-event-p event)
    (mouse-set-point event))
  (let* ((here (or (org-agent-form-here (org-agent-asks-of :question))
                   (user-error "No question waits here any more")))
         (question (cdr here)))
    (cl-loop
     for field in (org-agent-form-fields question)
     for region in (org-agent-form--regions (car here) question)
     for boxes = (org-agent-form--boxes (nth 1 region) (nth 2 region))
     when (and (org-agent-form--boxed-p field)
               (<= (nth 1 region) (point)) (< (point) (nth 2 region)))
     do (org-agent-form--toggle boxes (eq (plist-get field :kind) :choices)))))

(defun org-agent-form--toggle (boxes several)
  "Toggle the one of BOXES that is on the line of point.
Unless SEVERAL can be checked, clear the others."
  (let ((inhibit-read-only t)
        (line (line-beginning-position)))
    (save-excursion
      (pcase-dolist (`(,box ,checked . ,_) boxes)
        (goto-char box)
        (let ((mine (= line (line-beginning-position))))
          (when (or mine (and checked (not several)))
            (org-agent-form--set (1+ box) (and mine (not checked)))))))))

(defun org-agent-form--set (position checked)
  "Check the box around POSITION if CHECKED, or clear it.
Its text properties stay."
  (goto-char position)
  (let ((properties (text-properties-at position)))
    (insert (apply #'propertize (if checked "X" " ") properties))
    (delete-char 1)))

(provide 'org-agent-form)
;;; org-agent-form.el ends here
