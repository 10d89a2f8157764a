;;; org-agent-review.el --- Review and edit an action before a decision  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-approval-view' shows an action that waits for approval in full.
;; An edit is shown as a diff against the current text of its buffer, and
;; the person can mark which of its changes to allow.  An edit of which only
;; some changes are marked is sent as a new proposal that is allowed once.
;; The kernel checks it again, so that exactly what was shown is executed.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-chat)
(require 'org-agent-diff)
(require 'org-agent-edit)
(require 'org-agent-heading)
(require 'org-agent-approval)
(require 'org-agent-section)

(cl-defstruct (org-agent-review (:copier nil))
  "The review of an edit that waits for approval.
ACTION is the action of APPROVAL, and NAME the name of its buffer.
BEFORE is the text of the lines that contain the text `:old' of ACTION;
HEAD and TAIL are the parts of these lines before and after that text.
CHANGES are the changes of BEFORE that the edit makes, and SELECTED the
indices of those that the person wants.  FIRST is the number of the first
line.  PROPERTIES are the properties that the changes set, in the same
order, or nil for an edit of text.  REWRITTEN is non-nil if the person has
edited the new text.  ABOVE and BELOW are lines around BEFORE, to show the
changes among them, and CLOSE are the indices of the changes that are shown
with all of these lines."
  approval action name before head tail changes selected first properties
  rewritten above below close)

(defconst org-agent-review--context 10
  "The number of lines around a change that is looked at closely.")

(defvar-local org-agent-review--this nil
  "The review or the approval of this buffer.")
(put 'org-agent-review--this 'permanent-local t)

(defvar-local org-agent-review--stale nil
  "The reason why the action of this buffer cannot be executed, or nil.")

;;;; The whole action

(defun org-agent-review--located (action)
  "Return ACTION with the `:id' of its Org entry in the payload."
  (let ((payload (plist-get action :payload))
        (entry (plist-get action :id)))
    (if (and entry (not (plist-get payload :id)))
        (plist-put (copy-sequence action) :payload
                   (append payload (list :id entry)))
      action)))

(defun org-agent-review--of-tool (action)
  "Return ACTION as an edit if it calls the tool of that name, or nil.
The call itself is its `:call'.  An edit of every occurrence, or of a file
that is not there, is none."
  (let* ((call (plist-get action :payload))
         (args (plist-get call :args))
         (path (plist-get args :path)))
    (when (and (eq (plist-get action :target) :tool)
               (equal (plist-get call :tool) "edit")
               (stringp path) (not (file-remote-p path))
               (stringp (plist-get args :old)) (stringp (plist-get args :new))
               (not (plist-get args :all)))
      (let ((file (expand-file-name path (org-agent-home-directory))))
        (and (file-regular-p file)
             (list :type :request :target :tool :call call
                   :payload (list :file file :old (plist-get args :old)
                                  :new (plist-get args :new))))))))

;;;###autoload
(defun org-agent-approval-view ()
  "Show the action at point, which waits for approval, in full.
An edit is shown as a diff against the current text of its buffer, and
you can select which of its changes to allow."
  (interactive nil org-agent-approval-mode org-agent-chat-mode)
  (let ((approval (org-agent-approval-at-point)))
    (org-agent-approval-whole
     approval t
     (lambda (text)
       (let ((action (org-agent-review--located
                      (ignore-errors (org-agent-approval-read text)))))
         (if (org-agent-edit-p action)
             (org-agent-review--open approval action)
           (if-let* ((edit (org-agent-review--of-tool action)))
               (org-agent-review--open approval edit)
             (org-agent-review--show-whole approval))))))))

(defun org-agent-review--show-whole (approval &optional stale)
  "Show the whole text of APPROVAL; STALE is as for the text."
  (org-agent-approval-whole
   approval nil
   (lambda (shown) (org-agent-review--show-text approval shown stale))))

(defvar org-agent-review-text-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-section-mode-map)
    (define-key map (kbd "C-c C-c") #'org-agent-review-allow)
    (define-key map (kbd "C-c C-k") #'org-agent-review-refuse)
    (define-key map (kbd "e") #'org-agent-review-edit)
    map)
  "Keymap of `org-agent-review-text-mode'.")

(define-derived-mode org-agent-review-text-mode org-agent-section-mode
  "Org-Agent-Action"
  "Major mode that shows an action that waits for approval.
\\<org-agent-review-text-mode-map>\\[org-agent-review-allow] allows it once, \\[org-agent-review-refuse] refuses it, \\[org-agent-review-edit] edits it.

\\{org-agent-review-text-mode-map}"
  :interactive nil
  (setq bidi-display-reordering nil
        org-agent-section-keys
        "\\<org-agent-review-text-mode-map>\\[org-agent-review-allow] allow once  \\[org-agent-review-refuse] refuse  \\[org-agent-review-edit] edit")
  (setq-local revert-buffer-function #'org-agent-review--revert-text))

;;;###autoload
(defun org-agent-review-show-stale (approval refusal)
  "Show that the text that APPROVAL changes is not the expected one.
REFUSAL is the kernel's error."
  (org-agent-approval-whole
   approval nil
   (lambda (shown)
     (let ((window (selected-window)))
       (org-agent-review--show-text approval shown
                                    (plist-get refusal :message))
       (when (window-live-p window) (select-window window)))
     (message "Not done: the text has changed since; the expected and the current text are shown"))))

(defun org-agent-review--show-text (approval text &optional stale)
  "Show TEXT, the whole text of APPROVAL.
STALE is the reason why its action cannot be executed now, or nil."
  (let ((buffer (get-buffer-create "*org-agent-action*")))
    (with-current-buffer buffer
      (unless (derived-mode-p 'org-agent-review-text-mode)
        (org-agent-review-text-mode))
      (setq org-agent-review--this approval
            org-agent-review--stale stale)
      (org-agent-section-show
       (org-agent-review--text-sections approval text stale)))
    (org-agent-review--pop-to buffer)))

(defvar-local org-agent-review--beside nil
  "Where one was before this buffer: (WINDOW BUFFER START POINT).")

(defun org-agent-review--pop-to (buffer)
  "Select BUFFER in some window, until the person quits it.
Emacs scrolls a window that becomes smaller, and leaves it so."
  (let ((beside (list (selected-window) (current-buffer) (window-start) (point))))
    (pop-to-buffer buffer)
    (unless (eq (nth 1 beside) (current-buffer))
      (setq org-agent-review--beside beside)
      (add-hook 'quit-window-hook #'org-agent-review--scroll-back nil t))))

(defun org-agent-review--scroll-back ()
  "Show what the window beside had shown, once this one is gone.
Do nothing when the person has moved there since."
  (pcase org-agent-review--beside
    (`(,window ,buffer ,start ,point)
     (run-at-time
      0 nil
      (lambda ()
        (when (and (window-live-p window) (eq (window-buffer window) buffer)
                   (= (window-point window) point)
                   (<= start (with-current-buffer buffer (point-max))))
          (set-window-start window start t)))))))

(defun org-agent-review--text-sections (approval text stale)
  "Return the sections that show TEXT, the whole text of APPROVAL.
STALE is as for `org-agent-review--show-text'."
  (let ((id (plist-get approval :id))
        (heading (lambda (words)
                   (propertize words 'face 'org-agent-section-heading))))
    (append
     (when stale
       (list (org-agent-section
              'stale id
              :heading (funcall heading "This cannot be done now")
              :body (concat (org-agent-diff-fontify stale)
                            (substitute-command-keys "

It still waits for your decision.  \\<org-agent-review-text-mode-map>\\[org-agent-review-refuse] refuses it and gives the agent your
reason, or after RET the current text, so that it can propose a new edit.
\\[org-agent-review-edit] edits the action.  \\[org-agent-review-allow] allows it, once the text is the expected one again.
")))))
     (list (org-agent-section
            'action id
            :heading (funcall heading (or (plist-get approval :summary) "An action"))
            :body (org-agent-asks-letter approval))
           (org-agent-section
            'text id
            :heading (funcall heading "In full")
            :body (if (eq (plist-get approval :language) :diff)
                      (org-agent-diff-fontify text)
                    text))))))

(defun org-agent-review--revert-text (&rest _)
  "Request the whole text of this buffer's approval again, and show it."
  (org-agent-review--show-whole (org-agent-review--approval)
                                org-agent-review--stale))

(defun org-agent-review--approval ()
  "Return the approval of this buffer, or signal an error if it is closed."
  (let* ((this org-agent-review--this)
         (approval (if (org-agent-review-p this)
                       (org-agent-review-approval this)
                     this)))
    (org-agent-approval-still approval)))

(defun org-agent-review-edit ()
  "Edit the action of this buffer."
  (interactive nil org-agent-review-text-mode org-agent-review-mode)
  (org-agent-approval-edit-action (org-agent-review--approval)))

(defun org-agent-review-allow ()
  "Allow the action of this buffer once."
  (interactive nil org-agent-review-text-mode)
  (org-agent-approval-decide (org-agent-review--approval) :allow-once)
  (org-agent-diff-close (current-buffer)))

(defun org-agent-review-refuse (reason)
  "Refuse the action of this buffer for REASON."
  (interactive (list (progn (org-agent-review--approval)
                            (if org-agent-review--stale
                                (read-string "Why not (RET for the current text): "
                                             nil nil org-agent-review--stale)
                              (read-string "Why not (RET for no reason): "))))
               org-agent-review-text-mode org-agent-review-mode)
  (org-agent-approval-decide (org-agent-review--approval) :deny
                             :reason (unless (string-empty-p reason) reason))
  (org-agent-diff-close (current-buffer)))

;;;; The changes of an edit

(defvar org-agent-review-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map special-mode-map)
    (define-key map (kbd "SPC") #'org-agent-review-toggle)
    (define-key map (kbd "m") #'org-agent-review-mark)
    (define-key map (kbd "=") #'org-agent-review-look)
    (define-key map (kbd "RET") #'org-agent-review-visit)
    (define-key map (kbd "?") #'describe-mode)
    (define-key map (kbd "n") #'org-agent-review-next)
    (define-key map (kbd "p") #'org-agent-review-previous)
    (define-key map (kbd "e") #'org-agent-review-edit)
    (define-key map (kbd "E") #'org-agent-review-ediff)
    (define-key map (kbd "M") #'org-agent-review-smerge)
    (define-key map (kbd "C-c C-c") #'org-agent-review-accept)
    (define-key map (kbd "C-c C-k") #'org-agent-review-refuse)
    map)
  "Keymap of `org-agent-review-mode'.")

(define-derived-mode org-agent-review-mode special-mode "Org-Agent-Review"
  "Major mode of the review of an edit that waits for approval.
Each change begins with a checkbox, and only marked changes are made.
\\<org-agent-review-mode-map>\\[org-agent-review-mark] marks the change at point or takes its mark away, and goes to the
next; \\[org-agent-review-look] shows it among more lines of its file, with the words that
differ; \\[org-agent-review-visit] visits its place in the file.
\\[org-agent-review-accept] allows the marked changes once, \\[org-agent-review-refuse] refuses the edit.
\\[org-agent-review-ediff] compares with Ediff, \\[org-agent-review-smerge] merges with Smerge; in both
you can edit the new text.

\\{org-agent-review-mode-map}"
  :interactive nil
  (org-agent-section-cut-lines)
  (setq bidi-display-reordering nil
        header-line-format
        '(:eval (org-agent-section-header
                 nil "\\<org-agent-review-mode-map>\\[org-agent-review-mark] mark  \\[org-agent-review-look] look closely  \\[org-agent-review-accept] allow marked  \\[org-agent-review-refuse] refuse  \\[org-agent-review-visit] visit  \\[org-agent-review-edit] edit  \\[org-agent-review-ediff] ediff  \\[org-agent-review-smerge] smerge")))
  (setq-local revert-buffer-function
              (lambda (&rest _)
                (org-agent-review--open (org-agent-review--approval)
                                        (org-agent-review-action
                                         org-agent-review--this)))))

(defun org-agent-review--open (approval action)
  "Show ACTION, the edit of APPROVAL, as changes of its buffer."
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
        (org-agent-review--pop-to "*org-agent-review*"))
    (org-agent-rpc-error
     (org-agent-review--show-whole
      approval
      ;; What a tool cannot do the kernel says.
      (unless (eq (plist-get action :target) :tool)
        (format "The edit cannot be made now: %s" (nth 2 err)))))))

(defun org-agent-review--make (approval action old new)
  "Return the review of ACTION of APPROVAL.
ACTION replaces OLD by NEW in the current buffer."
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
     :selected (number-sequence 0 (1- (length changes)))
     :first (line-number-at-pos from t)
     :above (org-agent-review--lines from (- org-agent-review--context))
     :below (org-agent-review--lines to org-agent-review--context))))

(defun org-agent-review--lines (position count)
  "Return COUNT lines after POSITION, before it if COUNT is negative."
  (save-excursion
    (goto-char position)
    (forward-line count)
    (buffer-substring-no-properties (min position (point)) (max position (point)))))

(defun org-agent-review--make-properties (approval action)
  "Return the review of ACTION of APPROVAL.
ACTION sets properties of the entry at point, each of which is a change."
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
     :changes (mapcar #'car set) :properties (mapcar #'cdr set)
     :selected (number-sequence 0 (1- (length set)))
     :first (line-number-at-pos (car drawer) t)
     :above (org-agent-review--lines (car drawer) (- org-agent-review--context))
     :below (org-agent-review--lines (+ (car drawer) (length (cdr drawer)))
                                     org-agent-review--context))))

(defun org-agent-review--property (lines pair)
  "Return the change that setting PAIR makes in LINES.
LINES are those of a property drawer, PAIR is a name and a value."
  (let* ((line (org-agent-edit-properties-line
                (mapconcat #'identity lines "") (car pair)))
         (at (if line (cl-position line lines :test #'equal) (length lines)))
         ;; A new line is indented like the first line.
         (model (if (or line (= (length lines) 0)) "" (aref lines 0))))
    (list at (if line (1+ at) at)
          (list (string-remove-prefix
                 model (org-agent-edit-properties-drawer (or line model)
                                                         (list pair)))))))

(defun org-agent-review--draw ()
  "Show the review of this buffer, and keep point on its line."
  (org-agent-section-replace-text (org-agent-review--text org-agent-review--this)))

(defun org-agent-review--text (review)
  "Return the text that shows REVIEW."
  (let ((number 0) (moved 0))
    (with-temp-buffer
      (insert (format "%s: %d of %d changes marked\n\n"
                      (org-agent-review-name review)
                      (length (org-agent-review-selected review))
                      (length (org-agent-review-changes review))))
      (dolist (change (org-agent-review-changes review))
        (let ((beg (point))
              (selected (memq number (org-agent-review-selected review))))
          (insert (if selected "[X] " "[ ] ")
                  (org-agent-review--hunk review number moved))
          (when (memq number (org-agent-review-close review))
            (org-agent-diff-refine beg (point)))
          (unless selected
            (add-face-text-property beg (point) 'shadow))
          (put-text-property beg (point) 'org-agent-review-change number)
          (cl-incf number)
          (when selected
            (cl-incf moved (- (length (nth 2 change))
                              (- (nth 1 change) (car change)))))))
      (buffer-string))))

(defun org-agent-review--hunk (review number moved)
  "Return the change NUMBER of REVIEW as a hunk.
MOVED is the number of lines that the changes before it add."
  (pcase-let* ((`(,from ,to ,lines) (nth number (org-agent-review-changes review)))
               (above (or (org-agent-review-above review) ""))
               (more (length (org-agent-diff-lines above))))
    (org-agent-diff-fontify
     (org-agent-diff-hunk
      (concat above (org-agent-review-before review) (org-agent-review-below review))
      (list (+ from more) (+ to more) lines)
      (- (org-agent-review-first review) more) moved
      (and (memq number (org-agent-review-close review))
           org-agent-review--context)))))

(defun org-agent-review--change-at-point ()
  "Return the index of the change at point."
  (or (get-text-property (point) 'org-agent-review-change)
      (user-error "There is no change at point")))

(defun org-agent-review--other (number numbers)
  "Return NUMBERS, in order, without NUMBER or, if it is not there, with it."
  (if (memq number numbers)
      (remq number numbers)
    (sort (cons number numbers) #'<)))

(defun org-agent-review-toggle ()
  "Mark the change at point, or take its mark away."
  (interactive nil org-agent-review-mode)
  (let ((number (org-agent-review--change-at-point))
        (review org-agent-review--this))
    (setf (org-agent-review-selected review)
          (org-agent-review--other number (org-agent-review-selected review)))
    (org-agent-review--draw)))

(defun org-agent-review-mark ()
  "Mark the change at point or take its mark away, and go to the next one."
  (interactive nil org-agent-review-mode)
  (org-agent-review-toggle)
  (org-agent-review-next))

(defun org-agent-review-look ()
  "Show the change at point among more lines of its file, or fewer again.
The words that differ are highlighted."
  (interactive nil org-agent-review-mode)
  (let ((number (org-agent-review--change-at-point))
        (review org-agent-review--this))
    (setf (org-agent-review-close review)
          (org-agent-review--other number (org-agent-review-close review)))
    (org-agent-review--draw)
    (goto-char (text-property-any (point-min) (point-max)
                                  'org-agent-review-change number))))

(defun org-agent-review-visit ()
  "Visit the place of the change at point in its file."
  (interactive nil org-agent-review-mode)
  (let* ((review org-agent-review--this)
         (change (nth (org-agent-review--change-at-point)
                      (org-agent-review-changes review)))
         (name (org-agent-review-name review)))
    (pop-to-buffer (or (get-buffer name)
                       (user-error "The buffer %s is gone" name)))
    (widen)
    (goto-char (point-min))
    (forward-line (1- (+ (org-agent-review-first review) (car change))))
    (when (derived-mode-p 'org-mode)
      (org-agent-heading-call-org 'org-fold-show-context 'org-show-context 'link-search))))

(defun org-agent-review-next (&optional back)
  "Go to the next change, or if BACK is non-nil to the previous one."
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
  "Go to the previous change."
  (interactive nil org-agent-review-mode)
  (org-agent-review-next t))

(defun org-agent-review--new (review)
  "Return the new text for the selected changes of REVIEW."
  (let* ((text (org-agent-review--after review))
         (head (org-agent-review-head review))
         (tail (org-agent-review-tail review)))
    (unless (and (string-prefix-p head text) (string-suffix-p tail text)
                 (>= (length text) (+ (length head) (length tail))))
      (user-error "These changes cannot be made without the others; e edits the action"))
    (substring text (length head) (- (length text) (length tail)))))

(defun org-agent-review-accept ()
  "Allow the marked changes once.
If some changes are not marked, allow a new edit with the others."
  (interactive nil org-agent-review-mode)
  (let* ((review org-agent-review--this)
         (approval (org-agent-review--approval))
         (selected (org-agent-review-selected review)))
    (cond
     ((null selected)
      (user-error "No change is marked; C-c C-k refuses the edit"))
     ((and (= (length selected) (length (org-agent-review-changes review)))
           (not (org-agent-review-rewritten review)))
      (org-agent-approval-decide approval :allow-once))
     (t
      (org-agent-approval-decide
       approval :allow-once
       :edited (org-agent-review--print (org-agent-review--edited review)))))
    (org-agent-diff-close (current-buffer))))

(defun org-agent-review--edited (review)
  "Return the action of REVIEW with only the selected changes."
  (let* ((action (copy-sequence (org-agent-review-action review)))
         (payload (copy-sequence (plist-get action :payload)))
         (pairs (org-agent-review-properties review)))
    (cond
     (pairs
      (plist-put action :payload
                 (plist-put payload :properties
                            (mapcar (lambda (number) (nth number pairs))
                                    (org-agent-review-selected review)))))
     ((eq (plist-get action :target) :tool)
      (let ((call (copy-sequence (plist-get action :call))))
        (list :type :request :target :tool
              :payload (plist-put call :args
                                  (plist-put (copy-sequence (plist-get call :args))
                                             :new (org-agent-review--new review))))))
     (t (plist-put action :payload
                   (plist-put payload :new (org-agent-review--new review)))))))

(defun org-agent-review--after (review)
  "Return the lines of REVIEW after the selected changes."
  (org-agent-diff-apply
   (org-agent-review-before review)
   (mapcar (lambda (number) (nth number (org-agent-review-changes review)))
           (org-agent-review-selected review))))

(defun org-agent-review--text-of (review)
  "Return REVIEW if its text can be edited, or signal an error."
  (unless (org-agent-review-p review)
    (user-error "This is not the review of an edit"))
  (when (org-agent-review-properties review)
    (user-error "Properties can only be marked one by one; e edits the action"))
  review)

(defun org-agent-review-ediff ()
  "Compare the current text and that after the marked changes in Ediff.
When Ediff ends, the review has the changes that lead to the new text."
  (interactive nil org-agent-review-mode)
  (let ((review (org-agent-review--text-of org-agent-review--this)))
    (org-agent-diff-ediff (org-agent-review-before review)
                          (org-agent-review--after review)
                          (org-agent-review--receiver review))))

(defun org-agent-review-smerge ()
  "Merge the marked changes in Smerge.
Then the review has the changes that lead to the merged text."
  (interactive nil org-agent-review-mode)
  (let ((review (org-agent-review--text-of org-agent-review--this)))
    (org-agent-diff-smerge
     (org-agent-review-before review)
     (mapcar (lambda (number) (nth number (org-agent-review-changes review)))
             (org-agent-review-selected review))
     (org-agent-review--receiver review))))

(defun org-agent-review--receiver (review)
  "Return a function that sets the new text of REVIEW and shows REVIEW.
The function does nothing if the text is nil."
  (let ((buffer (current-buffer)))
    (lambda (text)
      (when (and text (buffer-live-p buffer))
        (let ((changes (org-agent-diff-changes
                        (org-agent-review-before review) text)))
          (unless (equal text (org-agent-review--after review))
            (setf (org-agent-review-rewritten review) t))
          (setf (org-agent-review-changes review) changes
                (org-agent-review-selected review)
                (number-sequence 0 (1- (length changes)))
                (org-agent-review-close review) nil))
        (with-current-buffer buffer (org-agent-review--draw))
        (pop-to-buffer buffer)))))

(defun org-agent-review--print (action)
  "Return ACTION printed for the kernel."
  (let ((print-length nil) (print-level nil) (print-escape-newlines t)
        (print-escape-nonascii nil) (print-quoted t))
    (prin1-to-string action)))

(provide 'org-agent-review)
;;; org-agent-review.el ends here
