;;; org-agent-review.el --- Look at what waits, and change it  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Before a decision, the whole of an action can be seen, an edit as the
;; difference that it makes to the buffer as it is now.  Its changes can be
;; taken one by one, and any action can be rewritten.  What is then sent is
;; a new proposal, allowed once: the kernel judges it anew, and what runs is
;; what was shown.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-chat)
(require 'org-agent-asks)
(require 'org-agent-diff)
(require 'org-agent-edit)
(require 'org-agent-approval)
(require 'org-agent-section)

(cl-defstruct (org-agent-review (:copier nil))
  "The review of an edit that waits.
BEFORE are the whole lines that hold the text `:old' of ACTION, which is
APPROVAL's; HEAD and TAIL are what stands before and behind it there.
CHANGES make of them what the edit makes; TAKEN are those that the
person wants, by their number.  FIRST is the number of the first line.
PAIRS are the properties that the changes set, in their order; nil for
an edit.  REWRITTEN is non-nil when the changes are not those proposed."
  approval action name before head tail changes taken first pairs rewritten)

(defvar-local org-agent-review--this nil
  "The review, or the approval, that this buffer is about.")
(put 'org-agent-review--this 'permanent-local t)

(defvar-local org-agent-review--stale nil
  "Why what this buffer is about cannot be done, or nil.")

;;;; The whole of it

(defun org-agent-review-whole (approval action function)
  "Call FUNCTION with the whole text of APPROVAL, or its ACTION if non-nil."
  (if (not (plist-get approval :cut))
      (funcall function (or (plist-get approval (if action :action :text)) ""))
    (org-agent-review--fetch approval action 0 nil function)))

(defun org-agent-review--fetch (approval action from parts function)
  "Get what APPROVAL has FROM a byte on, then call FUNCTION with the whole.
PARTS came before, newest first; ACTION is as for the whole."
  (org-agent-kernel-request
   "ask/get"
   (append (list :id (plist-get approval :id) :from from)
           (and action (list :action t)))
   :success (lambda (result)
              (push (or (plist-get result :text) "") parts)
              (if (plist-get result :next)
                  (org-agent-review--fetch approval action
                                           (plist-get result :next) parts
                                           function)
                (funcall function (apply #'concat (nreverse parts)))))
   :failure (lambda (refusal)
              (org-agent-chat-complain "It cannot be shown" refusal))))

(defun org-agent-review--read (text)
  "Return the action that TEXT, canonical, is."
  (let ((action (car (read-from-string text))))
    (and (proper-list-p action) action)))

(defun org-agent-review--located (action)
  "Return ACTION with the `:id' of its entry in the payload."
  (let ((payload (plist-get action :payload))
        (entry (plist-get action :id)))
    (if (and entry (not (plist-get payload :id)))
        (plist-put (copy-sequence action) :payload
                   (append payload (list :id entry)))
      action)))

;;;###autoload
(defun org-agent-approval-view ()
  "Look at the whole of what waits at point.
An edit is shown as what it does to its buffer as that is now, and its
changes can be taken one by one."
  (interactive nil org-agent-approval-mode org-agent-chat-mode)
  (let ((approval (org-agent-approval-at-point)))
    (org-agent-review-whole
     approval t
     (lambda (text)
       (let ((action (org-agent-review--located
                      (ignore-errors (org-agent-review--read text)))))
         (if (org-agent-edit-p action)
             (org-agent-review--open approval action)
           (org-agent-review-whole
            approval nil
            (lambda (shown)
              (org-agent-review--show-text approval shown)))))))))

(defvar org-agent-review-text-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-section-mode-map)
    (define-key map (kbd "C-c C-c") #'org-agent-review-allow)
    (define-key map (kbd "C-c C-k") #'org-agent-review-refuse)
    (define-key map (kbd "e") #'org-agent-review-edit)
    map)
  "Keys where the whole of what waits is shown.")

(define-derived-mode org-agent-review-text-mode org-agent-section-mode
  "Org-Agent-Action"
  "Major mode of the whole of what waits.
\\<org-agent-review-text-mode-map>\\[org-agent-review-allow] allows it once, \\[org-agent-review-refuse] refuses it, \\[org-agent-review-edit] edits it.

\\{org-agent-review-text-mode-map}"
  (setq bidi-display-reordering nil
        org-agent-section-keys
        "\\<org-agent-review-text-mode-map>\\[org-agent-review-allow] allow once  \\[org-agent-review-refuse] refuse  \\[org-agent-review-edit] edit")
  (setq-local revert-buffer-function #'org-agent-review--revert-text))

;;;###autoload
(defun org-agent-review-show-stale (approval refusal)
  "Show that APPROVAL cannot be done as things are, as REFUSAL says."
  (org-agent-review-whole
   approval nil
   (lambda (shown)
     (let ((window (selected-window)))
       (org-agent-review--show-text approval shown
                                    (plist-get refusal :message))
       (when (window-live-p window) (select-window window)))
     (message "Not done: the text is another now; what it was made for and what is there is shown"))))

(defun org-agent-review--show-text (approval text &optional stale)
  "Show TEXT, the whole of what APPROVAL is about.
STALE says why it cannot be done as things are."
  (let ((buffer (get-buffer-create "*org-agent-action*")))
    (with-current-buffer buffer
      (unless (derived-mode-p 'org-agent-review-text-mode)
        (org-agent-review-text-mode))
      (setq org-agent-review--this approval
            org-agent-review--stale stale)
      (org-agent-section-show
       (org-agent-review--text-sections approval text stale)))
    (pop-to-buffer buffer)))

(defun org-agent-review--text-sections (approval text stale)
  "Return the sections that show TEXT, the whole of what APPROVAL is about.
STALE is as for `org-agent-review--show-text'."
  (let ((id (plist-get approval :id))
        (heading (lambda (words)
                   (propertize words 'face 'org-agent-section-heading))))
    (append
     (when stale
       (list (org-agent-section
              'stale id
              :heading (funcall heading "It cannot be done as things are")
              :body (concat (org-agent-diff-fontify stale)
                            (substitute-command-keys "

It waits on.  \\<org-agent-review-text-mode-map>\\[org-agent-review-refuse] refuses it and tells the agent what you say, or with RET what is
there now, so that it can propose it anew.  \\[org-agent-review-edit] changes what it would do.  When the
text is again what it was made for, \\[org-agent-review-allow] allows it.
")))))
     (list (org-agent-section
            'action id
            :heading (funcall heading (or (plist-get approval :summary) "An action"))
            :body (concat
                   "asks because: " (or (plist-get approval :reason) "") "\n"
                   (mapconcat (lambda (effect) (concat "will: " effect "\n"))
                              (plist-get approval :effects) "")))
           (org-agent-section
            'text id
            :heading (funcall heading "The whole of it")
            :body (if (eq (plist-get approval :language) :diff)
                      (org-agent-diff-fontify text)
                    text))))))

(defun org-agent-review--revert-text (&rest _)
  "Ask the kernel anew for the whole of what this buffer shows."
  (let ((approval (org-agent-review--approval))
        (stale org-agent-review--stale))
    (org-agent-review-whole
     approval nil
     (lambda (text) (org-agent-review--show-text approval text stale)))))

(defun org-agent-review--approval ()
  "Return the approval of this buffer, or signal an error when it is closed."
  (let* ((this org-agent-review--this)
         (approval (if (org-agent-review-p this)
                       (org-agent-review-approval this)
                     this)))
    (or (org-agent-asks-known (plist-get approval :id))
        (user-error "This waits no more"))))

(defun org-agent-review-allow ()
  "Allow once what this buffer shows."
  (interactive nil org-agent-review-text-mode)
  (org-agent-approval-decide (org-agent-review--approval) :allow-once)
  (org-agent-diff-close (current-buffer)))

(defun org-agent-review-refuse (reason)
  "Refuse what this buffer shows for REASON."
  (interactive (list (progn (org-agent-review--approval)
                            (if org-agent-review--stale
                                (read-string "Why not (RET tells what is there now): "
                                             nil nil org-agent-review--stale)
                              (read-string "Why not (RET for no reason): "))))
               org-agent-review-text-mode org-agent-review-mode)
  (org-agent-approval-decide (org-agent-review--approval) :deny
                             :reason (unless (string-empty-p reason) reason))
  (org-agent-diff-close (current-buffer)))

;;;; An edit, change by change

(defvar org-agent-review-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map special-mode-map)
    (define-key map (kbd "SPC") #'org-agent-review-toggle)
    (define-key map (kbd "RET") #'org-agent-review-toggle)
    (define-key map (kbd "n") #'org-agent-review-next)
    (define-key map (kbd "p") #'org-agent-review-previous)
    (define-key map (kbd "e") #'org-agent-review-edit)
    (define-key map (kbd "=") #'org-agent-review-ediff)
    (define-key map (kbd "m") #'org-agent-review-smerge)
    (define-key map (kbd "C-c C-c") #'org-agent-review-accept)
    (define-key map (kbd "C-c C-k") #'org-agent-review-refuse)
    map)
  "Keys in the review of an edit.")

(define-derived-mode org-agent-review-mode special-mode "Org-Agent-Review"
  "Major mode of the review of an edit that waits.
Each change begins with a box: \\<org-agent-review-mode-map>\\[org-agent-review-toggle] takes it out or in.
\\[org-agent-review-ediff] compares with Ediff, \\[org-agent-review-smerge] merges with Smerge;
there the new text can be edited.
\\[org-agent-review-accept] allows what is in, once; \\[org-agent-review-refuse] refuses the edit.

\\{org-agent-review-mode-map}"
  (setq truncate-lines t
        bidi-display-reordering nil
        header-line-format
        (substitute-command-keys
         " \\<org-agent-review-mode-map>\\[org-agent-review-toggle] take out or in  \\[org-agent-review-ediff] ediff  \\[org-agent-review-smerge] smerge  \\[org-agent-review-accept] allow what is in  \\[org-agent-review-refuse] refuse")))

(defun org-agent-review--open (approval action)
  "Show ACTION, the edit that APPROVAL is about, as changes of its buffer."
  (condition-case err
      (let ((review (org-agent-edit-in
                     action
                     (if (plist-get (plist-get action :payload) :properties)
                         (lambda (_old _new)
                           (org-agent-review--make-properties approval action))
                       (lambda (old new)
                         (org-agent-review--make approval action old new))))))
        (with-current-buffer (get-buffer-create "*org-agent-review*")
          (org-agent-review-mode)
          (setq org-agent-review--this review)
          (org-agent-review--draw)
          (goto-char (point-min))
          (org-agent-review-next))
        (pop-to-buffer "*org-agent-review*"))
    (org-agent-rpc-error
     (org-agent-review-whole
      approval nil
      (lambda (shown)
        (org-agent-review--show-text
         approval shown
         (format "It cannot be made as things are: %s" (nth 2 err))))))))

(defun org-agent-review--make (approval action old new)
  "Return the review of ACTION of APPROVAL, which makes NEW of OLD here."
  (let* ((beg (org-agent-edit-find old))
         (end (+ beg (length old)))
         (from (save-excursion (goto-char beg) (line-beginning-position)))
         (to (save-excursion
               (goto-char end)
               (if (and (bolp) (> end beg))
                   end
                 (min (point-max) (1+ (line-end-position))))))
         (head (buffer-substring-no-properties from beg))
         (tail (buffer-substring-no-properties end to))
         (before (concat head old tail))
         (changes (org-agent-diff-changes before (concat head new tail))))
    (make-org-agent-review
     :approval approval :action action :name (buffer-name)
     :before before :head head :tail tail :changes changes
     :taken (number-sequence 0 (1- (length changes)))
     :first (line-number-at-pos from t))))

(defun org-agent-review--make-properties (approval action)
  "Return the review of ACTION of APPROVAL, which sets properties here.
Each property is a change."
  (let* ((pairs (org-agent-edit-properties-checked
                 (plist-get (plist-get action :payload) :properties)))
         (drawer (org-agent-edit-properties-check pairs))
         (lines (org-agent-diff-lines (cdr drawer)))
         (set (sort (mapcar (lambda (pair)
                              (cons (org-agent-review--property lines pair) pair))
                            pairs)
                    (lambda (a b) (< (caar a) (caar b))))))
    (make-org-agent-review
     :approval approval :action action :name (buffer-name)
     :before (cdr drawer) :head "" :tail ""
     :changes (mapcar #'car set) :pairs (mapcar #'cdr set)
     :taken (number-sequence 0 (1- (length set)))
     :first (line-number-at-pos (car drawer) t))))

(defun org-agent-review--property (lines pair)
  "Return the change of LINES, those of a drawer, that setting PAIR makes."
  (let* ((line (org-agent-edit-properties-line
                (mapconcat #'identity lines "") (car pair)))
         (at (if line (cl-position line lines :test #'equal) (length lines)))
         ;; A new line is indented as the first one is.
         (model (if (or line (= (length lines) 0)) "" (aref lines 0))))
    (list at (if line (1+ at) at)
          (list (string-remove-prefix
                 model (org-agent-edit-properties-drawer (or line model)
                                                         (list pair)))))))

(defun org-agent-review--draw ()
  "Show the review of this buffer; point stays on its line."
  (org-agent-section-replace-text (org-agent-review--text org-agent-review--this)))

(defun org-agent-review--text (review)
  "Return what is shown of REVIEW."
  (let ((number 0) (moved 0))
    (with-temp-buffer
      (insert (format "%s: %d changes, %d of them in\n\n"
                      (org-agent-review-name review)
                      (length (org-agent-review-changes review))
                      (length (org-agent-review-taken review))))
      (dolist (change (org-agent-review-changes review))
        (let ((beg (point))
              (taken (memq number (org-agent-review-taken review))))
          (insert (if taken "[X] " "[ ] ")
                  (org-agent-diff-fontify
                   (org-agent-diff-hunk (org-agent-review-before review) change
                                        (org-agent-review-first review) moved)))
          (unless taken
            (add-face-text-property beg (point) 'shadow))
          (put-text-property beg (point) 'org-agent-review-change number)
          (cl-incf number)
          (when taken
            (cl-incf moved (- (length (nth 2 change))
                              (- (nth 1 change) (car change)))))))
      (buffer-string))))

(defun org-agent-review-toggle ()
  "Take the change at point out, or in again."
  (interactive nil org-agent-review-mode)
  (let ((number (or (get-text-property (point) 'org-agent-review-change)
                    (user-error "Point is on no change")))
        (review org-agent-review--this))
    (setf (org-agent-review-taken review)
          (if (memq number (org-agent-review-taken review))
              (remq number (org-agent-review-taken review))
            (sort (cons number (org-agent-review-taken review)) #'<)))
    (org-agent-review--draw)))

(defun org-agent-review-next (&optional back)
  "Go to the next change, or BACK to the one before."
  (interactive nil org-agent-review-mode)
  (let ((place (point)) found)
    (while (and (not found)
                (setq place (funcall (if back #'previous-single-property-change
                                       #'next-single-property-change)
                                     place 'org-agent-review-change)))
      (when (save-excursion (goto-char place) (looking-at "\\[[ X]\\] @@"))
        (setq found place)))
    (when found (goto-char found))))

(defun org-agent-review-previous ()
  "Go to the change before."
  (interactive nil org-agent-review-mode)
  (org-agent-review-next t))

(defun org-agent-review--new (review)
  "Return the text that the changes taken of REVIEW make of the old one."
  (let* ((text (org-agent-review--after review))
         (head (org-agent-review-head review))
         (tail (org-agent-review-tail review)))
    (unless (and (string-prefix-p head text) (string-suffix-p tail text)
                 (>= (length text) (+ (length head) (length tail))))
      (user-error "These changes cannot be made without the others; edit the action with e"))
    (substring text (length head) (- (length text) (length tail)))))

(defun org-agent-review-accept ()
  "Allow the changes that are in, once.
When some are out, what is allowed is a new edit, of those alone."
  (interactive nil org-agent-review-mode)
  (let* ((review org-agent-review--this)
         (approval (org-agent-review--approval))
         (taken (org-agent-review-taken review)))
    (cond
     ((null taken)
      (user-error "No change is in; C-c C-k refuses the edit"))
     ((and (= (length taken) (length (org-agent-review-changes review)))
           (not (org-agent-review-rewritten review)))
      (org-agent-approval-decide approval :allow-once))
     (t
      (org-agent-approval-decide
       approval :allow-once
       :edited (org-agent-review--print (org-agent-review--edited review)))))
    (org-agent-diff-close (current-buffer))))

(defun org-agent-review--edited (review)
  "Return the action of REVIEW with the changes that are in, and no other."
  (let* ((action (copy-sequence (org-agent-review-action review)))
         (payload (copy-sequence (plist-get action :payload)))
         (pairs (org-agent-review-pairs review)))
    (plist-put action :payload
               (if pairs
                   (plist-put payload :properties
                              (mapcar (lambda (number) (nth number pairs))
                                      (org-agent-review-taken review)))
                 (plist-put payload :new (org-agent-review--new review))))))

(defun org-agent-review--after (review)
  "Return the lines of REVIEW with the changes that are in."
  (org-agent-diff-apply
   (org-agent-review-before review)
   (mapcar (lambda (number) (nth number (org-agent-review-changes review)))
           (org-agent-review-taken review))))

(defun org-agent-review--text-of (review)
  "Return REVIEW if its text can be edited, or signal an error."
  (unless (org-agent-review-p review)
    (user-error "No edit is reviewed here"))
  (when (org-agent-review-pairs review)
    (user-error "Properties are taken one by one; e edits the action"))
  review)

(defun org-agent-review-ediff ()
  "Compare what is there with what the changes make of it, with Ediff.
What the new text is when Ediff ends is what can be allowed."
  (interactive nil org-agent-review-mode)
  (let ((review (org-agent-review--text-of org-agent-review--this)))
    (org-agent-diff-ediff (org-agent-review-before review)
                          (org-agent-review--after review)
                          (org-agent-review--taker review))))

(defun org-agent-review-smerge ()
  "Merge the changes that are in with Smerge.
What the text is then is what can be allowed."
  (interactive nil org-agent-review-mode)
  (let ((review (org-agent-review--text-of org-agent-review--this)))
    (org-agent-diff-smerge
     (org-agent-review-before review)
     (mapcar (lambda (number) (nth number (org-agent-review-changes review)))
             (org-agent-review-taken review))
     (org-agent-review--taker review))))

(defun org-agent-review--taker (review)
  "Return a function that makes a text that of REVIEW, and shows it again."
  (let ((buffer (current-buffer)))
    (lambda (text)
      (when (and text (buffer-live-p buffer))
        (let ((changes (org-agent-diff-changes
                        (org-agent-review-before review) text)))
          (unless (equal text (org-agent-review--after review))
            (setf (org-agent-review-rewritten review) t))
          (setf (org-agent-review-changes review) changes
                (org-agent-review-taken review)
                (number-sequence 0 (1- (length changes)))))
        (with-current-buffer buffer (org-agent-review--draw))
        (pop-to-buffer buffer)))))

(defun org-agent-review--print (action)
  "Return ACTION as text that the kernel reads."
  (let ((print-length nil) (print-level nil) (print-escape-newlines t)
        (print-escape-nonascii nil) (print-quoted t))
    (prin1-to-string action)))

;;;; Editing an action

(defvar org-agent-review-action-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'org-agent-review-send)
    (define-key map (kbd "C-c C-k") #'org-agent-review-leave)
    map)
  "Keys where an action is edited.")

(define-derived-mode org-agent-review-action-mode lisp-data-mode "Org-Agent-Edit"
  "Major mode of an action that is rewritten before it is allowed.
\\<org-agent-review-action-mode-map>\\[org-agent-review-send] allows what stands here, once; \\[org-agent-review-leave] changes nothing."
  (setq header-line-format
        (substitute-command-keys
         " \\<org-agent-review-action-mode-map>\\[org-agent-review-send] allow this instead, once  \\[org-agent-review-leave] leave it")))

;;;###autoload
(defun org-agent-approval-edit ()
  "Edit the action that waits at point; then it can be allowed, once."
  (interactive nil org-agent-approval-mode org-agent-chat-mode)
  (org-agent-review--edit (org-agent-approval-at-point)))

(defun org-agent-review-edit ()
  "Edit the action that this buffer shows."
  (interactive nil org-agent-review-text-mode org-agent-review-mode)
  (org-agent-review--edit (org-agent-review--approval)))

(defun org-agent-review--edit (approval)
  "Let the action of APPROVAL be edited."
  (org-agent-review-whole
   approval t
   (lambda (text)
     (with-current-buffer (generate-new-buffer "*org-agent-edit-action*")
       (org-agent-review-action-mode)
       (setq org-agent-review--this approval)
       (insert (org-agent-review--pretty (org-agent-review--read text)) "\n")
       (set-buffer-modified-p nil)
       (goto-char (point-min))
       (pop-to-buffer (current-buffer))))))

(defun org-agent-review--pretty (action &optional indentation)
  "Return ACTION, a plist, with a key a line, behind INDENTATION blanks.
Texts have their line ends."
  (let ((blanks (concat "\n" (make-string (1+ (or indentation 0)) ?\s))))
    (concat
     "("
     (mapconcat
      (lambda (pair)
        (concat (symbol-name (car pair)) " "
                (if (and (eq (car pair) :payload) (consp (cdr pair)))
                    (org-agent-review--pretty (cdr pair)
                                              (+ 10 (or indentation 0)))
                  (prin1-to-string (cdr pair)))))
      (cl-loop for (key value) on action by #'cddr collect (cons key value))
      blanks)
     ")")))

(defun org-agent-review-send ()
  "Allow the action as it stands in this buffer, once."
  (interactive nil org-agent-review-action-mode)
  (let ((approval (org-agent-review--approval))
        (buffer (current-buffer)))
    (org-agent-kernel-request
     "ask/decide"
     (list :id (plist-get approval :id) :decision :allow-once
           :edited (string-trim (buffer-substring-no-properties
                                 (point-min) (point-max))))
     :success (lambda (_)
                (org-agent-approval-remove (plist-get approval :id))
                (message "Allowed as it was edited")
                (when (buffer-live-p buffer)
                  (with-current-buffer buffer
                    (set-buffer-modified-p nil)
                    (org-agent-diff-close (current-buffer)))))
     :failure (lambda (refusal)
                (org-agent-chat-complain "Not allowed" refusal)))))

(defun org-agent-review-leave ()
  "Leave the action as it was; it waits on."
  (interactive nil org-agent-review-action-mode)
  (set-buffer-modified-p nil)
  (org-agent-diff-close (current-buffer)))

(provide 'org-agent-review)
;;; org-agent-review.el ends here
