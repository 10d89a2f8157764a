;;; org-agent-question.el --- Questions of the agent: forms, and answers  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The agent can ask the person questions.  They are in its conversation as
;; a form, below the message of the turn, and in the list of
;; `org-agent-approvals'.
;;
;; A form is ordinary Org text that is edited, saved and undone as any
;; other.  Each of its fields has a numbered line, the *label*, and below it
;; boxes to check or a place to write.  The form is found and read by its
;; labels, which the kernel wrote.  RET, SPC or the mouse on an option checks
;; its box, and so do the commands of Org.
;;
;; `C-c C-c' sends the answers, `C-c C-k' declines with a reason.
;; `org-agent-question-fill' reads the answers in the minibuffer instead.
;; Secrets are read when the answers are sent, and are never in a buffer.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-undo)
(require 'org-agent-file-owner)
(require 'org-agent-asks)
(require 'org-agent-chat)
(require 'org-agent-section)
(require 'org-agent-list)
(require 'org-agent-approval)

(declare-function org-agent-notify-asked "org-agent-notify")

(defvar org-agent-question--sent nil
  "The ids of the questions whose forms this Emacs has sent.")

(defvar org-agent-question-map
  (let ((map (make-sparse-keymap)))
    (pcase-dolist (`(,key . ,command)
                   '(("RET" . org-agent-question-fill)
                     ("v" . org-agent-question-show)
                     ("d" . org-agent-question-decline)
                     ("C-c C-c" . org-agent-question-fill)
                     ("C-c C-k" . org-agent-question-decline)))
      (define-key map (kbd key) command))
    map)
  "Keymap of a question in the list of approvals.")

(defconst org-agent-question--box "^[ \t]*- \\(\\[\\([ xX-]\\)\\]\\)[ \t]*"
  "Matches the box of an option.")

(defconst org-agent-question--own "other:"
  "The text before an answer that is none of the options.")

(defvar org-agent-question-box-map
  (let ((map (make-sparse-keymap)))
    (dolist (key '("RET" "SPC" "<mouse-1>"))
      (define-key map (kbd key) #'org-agent-question-toggle))
    map)
  "Keymap on the options of a form.")

;; Categories, since Org's fontification takes the property `keymap' away.
(put 'org-agent-question-box 'keymap org-agent-question-box-map)
(put 'org-agent-question-box 'mouse-face 'highlight)
(put 'org-agent-question-option 'keymap org-agent-question-box-map)
(put 'org-agent-question-option 'mouse-face 'highlight)
(put 'org-agent-question-option 'read-only "RET checks it; C-c C-c sends the answers")
(put 'org-agent-question-label 'read-only
     "The answer goes below; C-c C-c sends the answers, C-c C-k declines")

;;;; The question at point

(defun org-agent-question--at-point ()
  "Return the question at point, in a form or in the list of approvals."
  (or (org-agent-section-data-at-point 'question)
      (cdr (org-agent-question--here))))

(defun org-agent-question--here ()
  "Return (HEADING . QUESTION) of the form at point.
Signal an error when there is none that waits."
  (let* ((heading (org-agent-heading-at (point)))
         (question (and heading
                        (org-agent-asks-known
                         (org-agent-heading-property heading "ID")))))
    (unless (and question (eq (org-agent-asks-sort question) :question))
      (user-error "No question waits here; M-x org-agent-approvals shows what does"))
    (cons heading question)))

;;;; The fields of a form

(defun org-agent-question--labels (subtree)
  "Return the labels in SUBTREE, which the kernel wrote."
  (let ((start 0) labels)
    (while (string-match "^[0-9]+\\. .*$" subtree start)
      (push (match-string 0 subtree) labels)
      (setq start (match-end 0)))
    (nreverse labels)))

(defun org-agent-question--regions (heading question)
  "Return the positions of the fields of QUESTION, a plist.
The form is at HEADING.  The elements are (LABEL BEG END): the beginning
of the label, and the text of the answer.  Signal an error when a label
was changed."
  (org-agent-heading-widely
    (let ((end (org-agent-heading-subtree-end heading))
          (case-fold-search nil)
          places)
      (goto-char heading)
      (dolist (label (org-agent-question--labels (plist-get question :subtree)))
        (unless (re-search-forward (concat "^" (regexp-quote label) "$") end t)
          (user-error "The line \"%s\" was changed: undo that, or answer with M-x org-agent-question-fill"
                      (truncate-string-to-width label 40 nil nil t)))
        (push (list (match-beginning 0) (min end (1+ (match-end 0)))) places))
      (setq places (nreverse places))
      (cl-mapcar (lambda (place next)
                   (append place (list (if next (car next) end))))
                 places (append (cdr places) '(nil))))))

(defun org-agent-question--boxes (beg end)
  "Return the boxes from BEG to END, a list of (BOX CHECKED TEXT TEXT-END).
All elements but CHECKED are positions."
  (org-agent-heading-widely
    (goto-char beg)
    (let (boxes)
      (while (re-search-forward org-agent-question--box end t)
        (push (list (match-beginning 1)
                    (member (match-string-no-properties 2) '("x" "X"))
                    (point) (line-end-position))
              boxes)
        (end-of-line))
      (nreverse boxes))))

(defun org-agent-question--fields (question)
  "Return the fields of QUESTION."
  (plist-get (plist-get question :form) :fields))

(defun org-agent-question--boxed-p (field)
  "Return non-nil when FIELD is answered by checking boxes."
  (memq (plist-get field :kind) '(:choice :choices :yes-no)))

(defun org-agent-question--options (field)
  "Return the options of FIELD."
  (if (eq (plist-get field :kind) :yes-no)
      '("yes" "no")
    (plist-get field :options)))

;;;; What is written in a form

(defun org-agent-question--read-form (heading question)
  "Return the answers in the form of QUESTION at HEADING.
They are plists (:name :values).  Secret fields are left out.  If an answer
is missing or invalid, go there and signal an error."
  (let (answers)
    (cl-mapc
     (lambda (field region)
       (unless (eq (plist-get field :kind) :secret)
         (let ((values (org-agent-question--values field region)))
           (cond
            ((org-agent-question--no-number-p field (car values))
             (org-agent-question--complain field region
                                       "wants a number, such as 12 or 3.5"))
            (values (push (list :name (plist-get field :name) :values values)
                          answers))
            ((not (plist-get field :optional))
             (org-agent-question--complain field region "has no answer yet"))))))
     (org-agent-question--fields question)
     (org-agent-question--regions heading question))
    (nreverse answers)))

(defun org-agent-question--no-number-p (field value)
  "Return non-nil when FIELD needs a number and VALUE, a string, is none.
The kernel checks whether it is within bounds."
  (and value
       (eq (plist-get field :kind) :number)
       (not (string-match-p
             "\\`[-+]?\\(?:[0-9]+\\.?\\|[0-9]*\\.[0-9]+\\)\\(?:[eE][-+]?[0-9]+\\)?\\'"
             value))))

(defun org-agent-question--complain (field region what)
  "Go to REGION, that of FIELD, and signal WHAT is wrong with its answer."
  (push-mark nil t)
  (goto-char (nth 1 region))
  (if (looking-at "[ \t]*Answer:")
      (goto-char (line-end-position))
    (skip-chars-forward " \t"))
  (user-error "\"%s\" %s"
              (truncate-string-to-width (plist-get field :question) 50 nil nil t)
              what))

(defun org-agent-question--values (field region)
  "Return the answer to FIELD in REGION, a list of strings."
  (if (org-agent-question--boxed-p field)
      (org-agent-question--checked field region)
    (let ((text (org-agent-question--written (nth 1 region) (nth 2 region)
                                         "Answer:" (plist-get field :default))))
      (unless (string-empty-p text) (list text)))))

(defun org-agent-question--written (beg end before default)
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

(defun org-agent-question--checked (field region)
  "Return the checked options of FIELD in REGION, a list of strings.
An answer of one's own is the last."
  (let* ((boxes (org-agent-question--boxes (nth 1 region) (nth 2 region)))
         (options (org-agent-question--options field))
         (count (length options))
         (own (and (plist-get field :own) (nth count boxes)))
         (written (and own (org-agent-question--written
                            (nth 2 own) (nth 2 region) org-agent-question--own
                            (plist-get field :default))))
         (values (cl-loop for option in options for box in boxes
                          when (nth 1 box) collect option)))
    (unless (= (length boxes) (if (plist-get field :own) (1+ count) count))
      (org-agent-question--complain field region "has other options than it had: undo that"))
    (when (and own (nth 1 own) (string-empty-p written))
      (goto-char (nth 3 own))
      (user-error "Write your own answer after \"%s\"" org-agent-question--own))
    (when (and own (not (string-empty-p written))
               (or (nth 1 own) (null values)
                   (eq (plist-get field :kind) :choices)))
      (setq values (append values (list written))))
    (when (and (cdr values) (not (eq (plist-get field :kind) :choices)))
      (org-agent-question--complain field region "wants one answer only"))
    values))

(defun org-agent-question--untouched-p (heading subtree)
  "Return non-nil when the form at HEADING differs from SUBTREE in boxes only."
  (let ((plain (lambda (text)
                 (replace-regexp-in-string "^\\([ \t]*- \\)\\[[xX-]\\]" "\\1[ ]"
                                           text))))
    (org-agent-heading-widely
      (equal (funcall plain subtree)
             (funcall plain (buffer-substring-no-properties
                             heading (org-agent-heading-subtree-end heading)))))))

(defun org-agent-question--unsent (heading question)
  "Return the text that a person wrote into the form of QUESTION at HEADING.
The result is Org; boxes do not count.  Signal an error when a label was
changed."
  (mapconcat
   (lambda (written)
     (format "- Not sent: %s :: %s\n" (car written)
             (string-replace "\n" "\n  " (cdr written))))
   (delq nil (cl-mapcar
              (lambda (field region)
                (let ((text (org-agent-question--free field region)))
                  (unless (member text (list nil "" (plist-get field :default)))
                    (cons (plist-get field :question) text))))
              (org-agent-question--fields question)
              (org-agent-question--regions heading question)))
   ""))

(defun org-agent-question--free (field region)
  "Return the text that is written for FIELD in REGION, or nil."
  (pcase (plist-get field :kind)
    ((or :text :number) (car (org-agent-question--values field region)))
    ((guard (plist-get field :own))
     (when-let* ((own (nth (length (org-agent-question--options field))
                           (org-agent-question--boxes (nth 1 region) (nth 2 region)))))
       (org-agent-question--written (nth 2 own) (nth 2 region) org-agent-question--own
                                (plist-get field :default))))))

;;;; Checking boxes

(defun org-agent-question--decorate (heading question)
  "Give the form of QUESTION at HEADING its keys, and protect its labels.
Do nothing when a label was changed."
  (when-let* ((regions (ignore-errors
                         (org-agent-question--regions heading question))))
    (org-agent-heading-widely
      (with-silent-modifications
        (org-agent-undo-off
          (let ((inhibit-read-only t) (beg heading)
                (end (org-agent-heading-subtree-end heading)))
            (put-text-property heading end
                               'org-agent-asks (plist-get question :id))
            (cl-mapc
             (lambda (field region)
               (org-agent-question--mark beg (nth 1 region) 'org-agent-question-label)
               (when (org-agent-question--boxed-p field)
                 (org-agent-question--decorate-boxes field region))
               ;; The newline that ends the answer separates it from the
               ;; line of the next field, so it belongs to the region.
               (setq beg (1- (nth 2 region))))
             (org-agent-question--fields question) regions)
            (when (eq ?\n (char-before end))
              (org-agent-question--mark (1- end) end 'org-agent-question-label))
            (org-agent-question--stick heading)))))))

(defun org-agent-question--mark (beg end category)
  "Give the text from BEG to END the CATEGORY.
Text that is typed after it does not inherit the category."
  (when (< beg end)
    (put-text-property beg end 'category category)
    (remove-list-of-text-properties beg end '(front-sticky rear-nonsticky))
    (put-text-property (1- end) end 'rear-nonsticky t)))

(defun org-agent-question--stick (position)
  "Prevent typing before the read-only text at POSITION."
  (put-text-property position (1+ position) 'front-sticky '(read-only)))

(defun org-agent-question--decorate-boxes (field region)
  "Give the options of FIELD in REGION their keys."
  (let ((count (length (org-agent-question--options field))))
    (cl-loop
     for (box _ text end) in (org-agent-question--boxes (nth 1 region) (nth 2 region))
     for n from 0 do
     (goto-char box)
     (org-agent-question--mark (line-beginning-position) text 'org-agent-question-box)
     (org-agent-question--mark
      text (if (< n count) (1+ end)
             (min end (+ text (length org-agent-question--own))))
      'org-agent-question-option)
     (when (< text end)
       (org-agent-question--stick text)))))

(defun org-agent-question-toggle (&optional event)
  "Check or clear the box of the option at point, or where EVENT was.
If only one answer is allowed the other boxes are cleared."
  (interactive (list last-nonmenu-event))
  (when (mouse-event-p event)
    (mouse-set-point event))
  (pcase-let ((`(,heading . ,question) (org-agent-question--here)))
    (cl-loop
     for field in (org-agent-question--fields question)
     for region in (org-agent-question--regions heading question)
     for boxes = (org-agent-question--boxes (nth 1 region) (nth 2 region))
     when (and (org-agent-question--boxed-p field)
               (<= (nth 1 region) (point)) (< (point) (nth 2 region)))
     do (org-agent-question--toggle boxes (eq (plist-get field :kind) :choices)))))

(defun org-agent-question--toggle (boxes several)
  "Toggle the one of BOXES that is on the line of point.
Unless SEVERAL can be checked, clear the others."
  (let ((inhibit-read-only t)
        (line (line-beginning-position)))
    (save-excursion
      (pcase-dolist (`(,box ,checked . ,_) boxes)
        (goto-char box)
        (let ((mine (= line (line-beginning-position))))
          (when (or mine (and checked (not several)))
            (org-agent-question--set (1+ box) (and mine (not checked)))))))))

(defun org-agent-question--set (position checked)
  "Check the box around POSITION if CHECKED, or clear it.
Its text properties stay."
  (goto-char position)
  (let ((properties (text-properties-at position)))
    (insert (apply #'propertize (if checked "X" " ") properties))
    (delete-char 1)))

;;;; Answering

(defun org-agent-question--send (question &rest answer)
  "Answer QUESTION with ANSWER, parameters of \"ask/decide\"."
  (let ((id (plist-get question :id))
        (title (plist-get (plist-get question :form) :title)))
    (org-agent-kernel-request
     "ask/decide" (append (list :id id) answer)
     :success (lambda (result)
                (org-agent-approval-remove id)
                (org-agent-chat-in (plist-get question :session)
                  (org-agent-asks-leave id))
                (message "%s: %s" (if (eq (plist-get result :decision) :declined)
                                      "Declined" "Answered")
                         title))
     :failure (lambda (refusal)
                (setq org-agent-question--sent
                      (delete id org-agent-question--sent))
                (org-agent-chat-complain "Not answered" refusal)))))

(defun org-agent-question--secrets (question)
  "Read the secrets that QUESTION asks for; return the answers."
  (cl-loop for field in (org-agent-question--fields question)
           when (eq (plist-get field :kind) :secret)
           when (org-agent-question--read-secret field) collect it))

(defun org-agent-question--read-secret (field)
  "Read the secret that FIELD asks for; return the answer or nil."
  (let ((value (read-passwd (org-agent-question--prompt field))))
    (cond
     ((not (string-empty-p value))
      (list :name (plist-get field :name) :values (list value)))
     ((not (plist-get field :optional))
      (user-error "Not sent: \"%s\" has no answer"
                  (plist-get field :question))))))

;;;###autoload
(defun org-agent-question-submit ()
  "Send the answers in the form at point."
  (interactive nil org-agent-chat-mode)
  (org-agent-chat-check-whole)
  (pcase-let ((`(,heading . ,question) (org-agent-question--here)))
    (when (member (plist-get question :id) org-agent-question--sent)
      (user-error "The answers are on their way already"))
    (let ((answers (append (org-agent-question--read-form heading question)
                           (org-agent-question--secrets question))))
      (push (plist-get question :id) org-agent-question--sent)
      (org-agent-question--send question :decision :answered :answers answers))))

;;;###autoload
(defun org-agent-question-decline (reason)
  "Decline to answer the question at point, for REASON.
The agent gets the reason, and its turn goes on."
  (interactive (list (progn (org-agent-question--at-point)
                            (read-string "Why not (RET for no reason): "))))
  (let ((question (org-agent-question--at-point)))
    (apply #'org-agent-question--send question :decision :declined
           (unless (string-empty-p reason) (list :reason reason)))))

;;;###autoload
(defun org-agent-question-fill ()
  "Answer the question at point in the minibuffer."
  (interactive)
  (let ((question (org-agent-question--at-point)))
    (org-agent-question--send
     question :decision :answered :answers
     (delq nil (mapcar #'org-agent-question--read
                       (org-agent-question--fields question))))))

(defun org-agent-question--prompt (field &optional more)
  "Return the prompt for FIELD, with the hint MORE if it is non-nil."
  (let ((default (plist-get field :default)))
    (concat (plist-get field :question)
            (cond (more (concat " (" more ")"))
                  ((plist-get field :optional) " (RET for no answer)"))
            (and default (format " [%s]" default))
            " ")))

(defun org-agent-question--read (field)
  "Read the answer to FIELD in the minibuffer; return it, or nil."
  (if (eq (plist-get field :kind) :secret)
      (org-agent-question--read-secret field)
    (let (values)
      (while (progn
               (setq values (org-agent-question--read-values field))
               (not (or values (plist-get field :optional))))
        (message "This needs an answer")
        (sit-for 1))
      (and values (list :name (plist-get field :name) :values values)))))

(defun org-agent-question--read-values (field)
  "Read the values for FIELD; return a list of strings."
  (let ((options (org-agent-question--options field))
        (free (plist-get field :own))
        (default (plist-get field :default)))
    (if (eq (plist-get field :kind) :choices)
        (cl-loop for value = (completing-read
                              (org-agent-question--prompt
                               field (if chosen
                                         (format "and, after %s; RET when done"
                                                 (string-join chosen ", "))
                                       "RET when done"))
                              (cl-set-difference options chosen :test #'equal)
                              nil (if free nil t))
                 until (string-empty-p value)
                 collect value into chosen
                 finally return (or chosen (and default (list default))))
      (let ((value (string-trim
                    (if options
                        (completing-read (org-agent-question--prompt field)
                                         options nil (if free nil t)
                                         nil nil default)
                      (read-string (org-agent-question--prompt field)
                                   nil nil default)))))
        (unless (string-empty-p value) (list value))))))

(defun org-agent-question-show ()
  "Show the question at point in its conversation."
  (interactive)
  (let* ((question (org-agent-question--at-point))
         (buffer (org-agent-chat-open (plist-get question :session))))
    (pop-to-buffer buffer)
    (when-let* ((heading (org-agent-heading-find (plist-get question :id))))
      (goto-char heading))))

;;;; The list of approvals

;;;###autoload
(defun org-agent-question-section (question)
  "Return the section of QUESTION: its fields and the choices."
  (let ((form (plist-get question :form)))
    (org-agent-section
     'question (plist-get question :id) :data question
     :heading (org-agent-approval-heading "Answer" (plist-get form :title)
                                          question)
     :body (lambda ()
             (concat
              (mapconcat #'org-agent-question--line (plist-get form :fields) "")
              (org-agent-list-choices 'org-agent-question-map
                                      '("Answer" . org-agent-question-fill)
                                      '("Decline" . org-agent-question-decline)
                                      '("Show the form" . org-agent-question-show))
              "\n")))))

(defun org-agent-question--line (field)
  "Return a line with the question of FIELD and its options."
  (concat (plist-get field :question)
          (when-let* ((options (org-agent-question--options field)))
            (format " [%s%s]" (string-join options " | ")
                    (if (plist-get field :own) " | other" "")))
          "\n"))

(cl-defmethod org-agent-section-keymap ((_type (eql 'question)))
  "Return the keymap for questions."
  org-agent-question-map)

(cl-defmethod org-agent-section-hint ((_type (eql 'question)))
  "Return the keys for questions."
  "\\<org-agent-question-map>\\[org-agent-question-fill] answer  \\[org-agent-question-decline] decline  \\[org-agent-question-show] show the form")

;;;; Notifications from the kernel

;;;###autoload
(defun org-agent-question-opened (params)
  "Show the question in PARAMS, and report that it waits."
  (let* ((id (plist-get params :id))
         (known (org-agent-asks-add params)))
    (org-agent-approval-draw)
    (org-agent-chat-in (plist-get params :session)
      (when-let* ((heading (and (plist-get params :subtree)
                                (org-agent-heading-find id))))
        (org-agent-question--decorate heading params))
      (unless known
        (org-agent-asks-show-whole id))
      (org-agent-chat-put :turn (plist-get params :turn) :phase 'waiting))
    (unless known
      (message "The agent asks you: %s (M-x org-agent-approvals)"
               (plist-get (plist-get params :form) :title)))
    (org-agent-notify-asked params)))

;;;###autoload
(defun org-agent-question-closed (params)
  "Note that the question in PARAMS does not wait any more.
Text of the form that was not sent stays in the conversation."
  (let* ((id (plist-get params :id))
         (question (org-agent-asks-known id))
         (mine (member id org-agent-question--sent)))
    (org-agent-approval-remove id)
    (setq org-agent-question--sent (delete id org-agent-question--sent))
    (org-agent-chat-in (plist-get params :session)
      (when-let* ((heading (and (plist-get params :subtree)
                                (org-agent-heading-find id))))
        (org-agent-question--close heading params (and (not mine) question)
                                   mine)
        (org-agent-chat-restore-draft)
        (org-agent-file-owner-save))
      (org-agent-approval-go-on (plist-get params :session)))))

(defun org-agent-question--close (heading params question mine)
  "Replace the form at HEADING by its end in PARAMS.
If the form was answered elsewhere, text that the person wrote into it
stays below.  QUESTION tells which text that is.  MINE is non-nil if this
Emacs sent the form.  If the text cannot be recognized, the changed form
stays as a quotation, so that it does not seem to wait."
  (let* ((waiting (plist-get params :waiting))
         (unsent (cond
                  (mine "")
                  (question
                   (condition-case nil
                       (org-agent-question--unsent heading question)
                     (error (org-agent-question--left heading waiting))))
                  ((org-agent-question--untouched-p heading waiting) "")
                  (t (org-agent-question--left heading waiting)))))
    (org-agent-asks-close (plist-get params :id) waiting
                           (concat (plist-get params :subtree) unsent)
                           t)))

(defun org-agent-question--left (heading waiting)
  "Return the text below HEADING and its drawer as an example block.
WAITING is the form as the kernel wrote it."
  (let ((head (org-agent-asks-head waiting)))
    (org-agent-heading-widely
      (concat "Not sent, as it was written here:\n#+begin_example\n"
              (org-escape-code-in-string
               (string-trim-right
                (buffer-substring-no-properties
                 (min (+ heading (length head)) (org-agent-heading-subtree-end heading))
                 (org-agent-heading-subtree-end heading))
                "\n+"))
              "\n#+end_example\n"))))

(provide 'org-agent-question)
;;; org-agent-question.el ends here
