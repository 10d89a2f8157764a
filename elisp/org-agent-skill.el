;;; org-agent-skill.el --- Write skills in Emacs  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-skill-mode' is on in notes that are skills.  Flymake shows the
;; errors of a note where they are, ElDoc shows the documentation of names in
;; Lisp blocks, names are completed, and C-c C-c
;;
;; - in a Lisp block evaluates it in the environment of the note, with the
;;   text of the buffer, and inserts the value as #+RESULTS:;
;; - in a block of tests, on the heading "Success Criteria" and on those
;;   below it runs the tests and sets the headings to TODO or DONE;
;; - on the line #+CAPABILITIES: grants the capabilities, if you agree.
;;
;; All of this needs a kernel.  The note is not saved, and the live skill
;; changes only when you save.

;;; Code:

(require 'cl-lib)
(require 'ob-core)
(require 'org)
(require 'org-element)
(require 'subr-x)
(require 'org-agent-kernel)

(declare-function org-agent-skill-grant "org-agent-skills")
(declare-function org-agent-skills-grant-line-p "org-agent-skills")
(declare-function org-agent-section-replace-text "org-agent-section")

(defvar compilation-current-error)

(declare-function flymake-diagnostic-beg "flymake")
(declare-function flymake-diagnostic-text "flymake")
(declare-function flymake-make-diagnostic "flymake")
(declare-function flymake-start "flymake")

(defvar org-agent-skill-symbols nil
  "The names of the kernel's Lisp: a hash table from names to plists, or nil.
Each plist is (:name NAME :kind KIND :list LIST :doc DOC).  It is nil
until the kernel has been asked.")

(defvar-local org-agent-skill--report nil
  "The function to which we report diagnostics to Flymake.")

;;;; Requests to the kernel

(defun org-agent-skill--text ()
  "Return the whole text of this buffer."
  (save-restriction
    (widen)
    (buffer-substring-no-properties (point-min) (point-max))))

(defun org-agent-skill-params (&rest more)
  "Return parameters with the file and the text of this note, and MORE."
  (append (list :file (or buffer-file-name (buffer-name))
                :text (org-agent-skill--text))
          more))

;;;; Positions

;;;###autoload
(defun org-agent-skill-position (line column)
  "Return the position of COLUMN, in characters from 1, in LINE."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char (point-min))
      (forward-line (1- line))
      (min (+ (point) (max 0 (1- column))) (line-end-position)))))

(defun org-agent-skill--extent (beg)
  "Return the end of the expression at BEG, or that of the line if sooner."
  (save-excursion
    (goto-char beg)
    (let ((line-end (line-end-position)))
      (max (min (1+ beg) (point-max))
           (min line-end
                (or (with-syntax-table emacs-lisp-mode-syntax-table
                      (ignore-errors (scan-sexps beg 1)))
                    line-end))))))

(defun org-agent-skill-block ()
  "Return the element of the Lisp block at point, or nil."
  (let ((element (org-element-at-point)))
    (and (eq (org-element-type element) 'src-block)
         (member (downcase (or (org-element-property :language element) ""))
                 '("lisp" "common-lisp" "org-agent"))
         element)))

(defun org-agent-skill--body-bounds (element)
  "Return the bounds (BEG . END) of the body of ELEMENT, a block."
  (save-excursion
    (goto-char (org-element-property :post-affiliated element))
    (forward-line 1)
    (let ((beg (point)))
      (goto-char (org-element-property :end element))
      (re-search-backward "^[ \t]*#\\+end_src" beg t)
      (cons beg (line-beginning-position)))))

(defun org-agent-skill--in-body-p ()
  "Return non-nil if point is in the body of a Lisp block."
  (when-let* ((element (org-agent-skill-block)))
    (pcase-let ((`(,beg . ,end) (org-agent-skill--body-bounds element)))
      (<= beg (point) end))))

;;;; Flymake

(defvar-local org-agent-skill--failed nil
  "What the latest tests of this note showed: (TICK . FAILURES).
TICK is `buffer-chars-modified-tick' of the text that was tested, and a
failure a list (MARKER TYPE MESSAGE).")

(defun org-agent-skill-flymake (report &rest _)
  "Have the kernel check the note, and call REPORT with the diagnostics.
This is for `flymake-diagnostic-functions'."
  (setq org-agent-skill--report report)
  (if (not (org-agent-kernel-ready-p))
      (funcall report nil)
    (let ((tick (buffer-chars-modified-tick)))
      (org-agent-kernel-ask
       "skill/check" (org-agent-skill-params)
       (lambda (result)
         ;; A newer check, of a newer text, may be in progress.
         (when (and (eq report org-agent-skill--report)
                    (= tick (buffer-chars-modified-tick)))
           (funcall report
                    (cl-remove-duplicates
                     (append (mapcar #'org-agent-skill--diagnostic
                                     (plist-get result :diagnostics))
                             (and (eql tick (car org-agent-skill--failed))
                                  (mapcar #'org-agent-skill--failure
                                          (cdr org-agent-skill--failed))))
                     ;; A note that is saved after its tests has the faults of both.
                     :test #'org-agent-skill--same-p))
           ;; In Emacs 28 the mode line has the former counts until a key is
           ;; pressed.
           (force-mode-line-update)))))))

(defun org-agent-skill--failure (failure)
  "Return FAILURE, of `org-agent-skill--failed', as a diagnostic of Flymake."
  (pcase-let ((`(,place ,type ,message) failure))
    (save-excursion
      (goto-char place)
      (flymake-make-diagnostic (current-buffer) (point)
                               (if (org-at-heading-p)
                                   (line-end-position)
                                 (org-agent-skill--extent (point)))
                               type message))))

(defun org-agent-skill--same-p (one other)
  "Return non-nil when the diagnostics ONE and OTHER say the same."
  (and (equal (flymake-diagnostic-beg one) (flymake-diagnostic-beg other))
       (equal (flymake-diagnostic-text one) (flymake-diagnostic-text other))))

(defun org-agent-skill--diagnostic (fault)
  "Return FAULT, a plist from the kernel, as a diagnostic of Flymake."
  (let ((beg (org-agent-skill-position (plist-get fault :line)
                                       (plist-get fault :column))))
    (flymake-make-diagnostic
     (current-buffer) beg (org-agent-skill--extent beg)
     (if (plist-get fault :warning) :warning :error)
     (plist-get fault :message))))

(defun org-agent-skill-check (file)
  "Check the note FILE again, whose grant has changed, if a buffer visits it."
  (when-let* ((buffer (find-buffer-visiting file)))
    (with-current-buffer buffer
      (when (and (bound-and-true-p org-agent-skill-mode)
                 (bound-and-true-p flymake-mode))
        (flymake-start)))))

(defun org-agent-skill--check-all ()
  "Check all open notes, since a kernel has become ready."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and (bound-and-true-p org-agent-skill-mode)
                 (bound-and-true-p flymake-mode))
        (flymake-start)))))

;;;; Names

(defun org-agent-skill--symbols ()
  "Return `org-agent-skill-symbols'; if it is nil, request them."
  (unless org-agent-skill-symbols
    (when (org-agent-kernel-ready-p)
      (setq org-agent-skill-symbols (make-hash-table :test #'equal))
      (org-agent-kernel-request
       "skill/symbols" nil
       :success (lambda (result)
                  (dolist (symbol (plist-get result :symbols))
                    (puthash (plist-get symbol :name) symbol
                             org-agent-skill-symbols)))
       :failure (lambda (_) (setq org-agent-skill-symbols nil)))))
  org-agent-skill-symbols)

(defconst org-agent-skill--definition
  "^[ \t]*(\\(def[a-z-]+\\)[ \t]+\\([^][() \t\n\"';]+\\)[ \t]*\\(([^()]*\\(?:([^()]*)[^()]*\\)*)\\)?\\(?:[ \t\n]+\"\\([^\"\n]*\\)\\)?"
  "Regexp that matches a definition.
Its groups are the operator, the name, the lambda list and the
documentation.")

(defun org-agent-skill--own ()
  "Return the definitions of this note, as plists like those of the kernel."
  (let (found)
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (while (re-search-forward org-agent-skill--definition nil t)
          (let ((operator (match-string-no-properties 1))
                (name (match-string-no-properties 2))
                (arguments (match-string-no-properties 3))
                (doc (match-string-no-properties 4)))
            (push (list :name (downcase name) :kind operator
                        :list (and (member operator '("defun" "defmacro"
                                                      "defgeneric"))
                                   arguments)
                        :doc doc)
                  found)))))
    (nreverse found)))

(defun org-agent-skill-describe (name)
  "Return the plist that describes NAME, or nil."
  (let ((name (downcase name)))
    (or (cl-find name (org-agent-skill--own)
                 :key (lambda (symbol) (plist-get symbol :name))
                 :test #'equal)
        (when-let* ((table (org-agent-skill--symbols)))
          (gethash name table)))))

(defconst org-agent-skill--name-characters "^][() \t\n\"'`,;#"
  "Characters of a name, for `skip-chars-forward'.")

(defun org-agent-skill--name-bounds ()
  "Return the bounds (BEG . END) of the name at point, or nil."
  (save-excursion
    (let ((here (point)) beg)
      (skip-chars-backward org-agent-skill--name-characters)
      (setq beg (point))
      (goto-char here)
      (skip-chars-forward org-agent-skill--name-characters)
      (and (< beg (point)) (cons beg (point))))))

(defun org-agent-skill--operator ()
  "Return the name of the operator of the form around point, or nil."
  (when-let* ((element (org-agent-skill-block))
              (beg (car (org-agent-skill--body-bounds element)))
              (open (with-syntax-table emacs-lisp-mode-syntax-table
                      (save-excursion
                        (nth 1 (parse-partial-sexp beg (point)))))))
    (save-excursion
      (goto-char (1+ open))
      (pcase (org-agent-skill--name-bounds)
        (`(,beg . ,end) (buffer-substring-no-properties beg end))))))

(defun org-agent-skill-eldoc (callback &rest _)
  "Call CALLBACK with the documentation of the name at point.
If there is none, use the operator of the form around point.  This is for
`eldoc-documentation-functions'."
  (when (org-agent-skill--in-body-p)
    (when-let* ((at (org-agent-skill--name-bounds))
                (name (buffer-substring-no-properties (car at) (cdr at)))
                (symbol (or (org-agent-skill-describe name)
                            (when-let* ((operator (org-agent-skill--operator)))
                              (org-agent-skill-describe operator)))))
      (funcall callback
               (string-join
                (delq nil
                      (list (concat (propertize (plist-get symbol :name) 'face
                                                'font-lock-function-name-face)
                                    (when-let* ((arguments (plist-get symbol :list)))
                                      (concat " " arguments)))
                            (plist-get symbol :doc)))
                ": "))
      t)))

(defun org-agent-skill-complete ()
  "Complete the name before point in a Lisp block.
This is for `completion-at-point-functions'."
  (when (org-agent-skill--in-body-p)
    (pcase (org-agent-skill--name-bounds)
      (`(,beg . ,end)
       (let ((own (org-agent-skill--own)))
         (list beg end
               (completion-table-case-fold
                (append (mapcar (lambda (symbol) (plist-get symbol :name)) own)
                        (when-let* ((table (org-agent-skill--symbols)))
                          (hash-table-keys table))))
               :exclusive 'no
               :annotation-function
               (lambda (name)
                 (when-let* ((symbol (org-agent-skill-describe name)))
                   (concat "  " (or (plist-get symbol :list)
                                    (format "%s" (plist-get symbol :kind))))))
               :company-docsig
               (lambda (name)
                 (plist-get (org-agent-skill-describe name) :doc))))))))

;;;; Evaluation

(defun org-agent-skill-ctrl-c-ctrl-c ()
  "Evaluate, test or grant what is at point in a skill note.
Return nil if there is nothing of the kind.  This is for
`org-ctrl-c-ctrl-c-hook'."
  (let ((element (org-agent-skill-block)))
    (cond
     ((and element (org-agent-skill--test-block-p element))
      (org-agent-skill-test) t)
     (element (org-agent-skill-evaluate) t)
     ((org-agent-skills-grant-line-p)
      (call-interactively #'org-agent-skill-grant) t)
     ((org-agent-skill--at-criteria-p) (org-agent-skill-test) t))))

(defun org-agent-skill--test-block-p (element)
  "Return non-nil if ELEMENT is a block of tests."
  (string-match-p ":test[ \t]+yes"
                  (or (org-element-property :parameters element) "")))

(defun org-agent-skill--at-criteria-p ()
  "Return non-nil if point is on a heading of the success criteria."
  (and (org-at-heading-p)
       (save-excursion
         (catch 'found
           (while t
             (when (equal "success criteria"
                          (downcase (or (nth 4 (org-heading-components)) "")))
               (throw 'found t))
             (unless (org-up-heading-safe)
               (throw 'found nil)))))))

;;;###autoload
(defun org-agent-skill-evaluate ()
  "Evaluate the Lisp block at point in the environment of its note.
The text of the buffer is evaluated, whether it is saved or not.  The
value of the last form is inserted below the block as #+RESULTS:."
  (interactive)
  (let ((element (org-agent-skill-block)))
    (unless element
      (user-error "There is no Lisp block at point"))
    (pcase-let* ((`(,beg . ,end) (org-agent-skill--body-bounds element))
                 (block (copy-marker
                         (org-element-property :post-affiliated element))))
      (org-agent-kernel-ask
       "skill/evaluate"
       (org-agent-skill-params
        :code (org-unescape-code-in-string
               (buffer-substring-no-properties beg end))
        :line (line-number-at-pos beg t))
       (lambda (result)
         (save-excursion
           (goto-char block)
           (set-marker block nil)
           (org-agent-skill--insert-result result)))))))

(defun org-agent-skill--insert-result (result)
  "Insert RESULT, that of `skill/evaluate', below the block at point."
  (let ((fault (car (plist-get result :diagnostics)))
        (value (car (last (plist-get result :values))))
        (output (plist-get result :output)))
    (if fault
        (message "%s:%s: %s" (plist-get fault :line) (plist-get fault :column)
                 (plist-get fault :message))
      (org-babel-insert-result
       (concat output value)
       '("replace" "verbatim" "value")
       (org-babel-get-src-block-info 'light))
      (message "%s" (or value "NIL")))))

;;;; Tests

;;;###autoload
(defun org-agent-skill-test ()
  "Run the tests of this note, and mark its success criteria.
A criterion, which is a heading below \"Success Criteria\", becomes DONE
if its test passes, and else TODO.  Its property PROVEN records the
result with the hash of the blocks.  Failures are marked by Flymake, at
the test and at its criterion, until the note is changed, and are listed
in a window."
  (interactive)
  (org-agent-kernel-ask
   "skill/test" (org-agent-skill-params)
   (lambda (result)
     (let ((faults (plist-get result :diagnostics))
           (proofs (plist-get result :proofs)))
       (dolist (proof proofs)
         (setq faults (append faults (plist-get proof :diagnostics))))
       (let ((places (mapcar #'org-agent-skill--fault-place faults))
             (failed (mapcan #'org-agent-skill--failures proofs)))
         ;; Marking moves the lines.
         (org-agent-skill--mark proofs (plist-get result :hash))
         (setq org-agent-skill--failed (cons (buffer-chars-modified-tick) failed))
         (org-agent-skill--show-faults
          (cl-mapcar (lambda (fault place)
                       (if place
                           (plist-put (copy-sequence fault) :line
                                      (line-number-at-pos place t))
                         fault))
                     faults places)))
       (when (bound-and-true-p flymake-mode)
         (flymake-start))
       (if (plist-get result :diagnostics)
           (message "The note does not load")
         (org-agent-skill--sum-up proofs))))))

(defun org-agent-skill--fault-place (fault)
  "Return a marker where FAULT is, or nil if it is in another file."
  (when (equal (plist-get fault :file) buffer-file-name)
    (copy-marker (org-agent-skill-position (plist-get fault :line)
                                           (plist-get fault :column)))))

(defun org-agent-skill--failures (proof)
  "Return the failures of PROOF, values of `org-agent-skill--failed'.
They are at what failed and at the criterion."
  (when (eq (plist-get proof :result) :fail)
    (let ((faults (plist-get proof :diagnostics)))
      (append
       (when (plist-get proof :heading)
         (list (list (copy-marker (org-agent-skill-position (plist-get proof :line) 1))
                     :warning
                     (concat "Not proven: "
                             (or (plist-get (car faults) :message) "its test failed")))))
       (cl-loop for fault in faults
                for place = (org-agent-skill--fault-place fault)
                when place
                collect (list place :error (plist-get fault :message)))))))

(defun org-agent-skill--sum-up (proofs)
  "Report how many of PROOFS there are of each result."
  (let ((count (lambda (result)
                 (cl-count result proofs
                           :key (lambda (proof) (plist-get proof :result))))))
    (message "%d proven, %d failed, %d without a test"
             (funcall count :pass) (funcall count :fail)
             (funcall count :none))))

(defun org-agent-skill--mark (proofs hash)
  "Mark the criteria of PROOFS with their results for the blocks with HASH."
  (save-excursion
    (save-restriction
      (widen)
      ;; From the last to the first, since a new drawer moves later lines.
      (dolist (proof (reverse proofs))
        (when (plist-get proof :heading)
          (goto-char (point-min))
          (forward-line (1- (plist-get proof :line)))
          (when (and (org-at-heading-p)
                     (equal (nth 4 (org-heading-components))
                            (plist-get proof :criterion)))
            (org-agent-skill--mark-heading (plist-get proof :result) hash)))))))

(defun org-agent-skill--mark-heading (result hash)
  "Mark the heading at point with RESULT for the blocks with HASH."
  (let ((state (if (eq result :pass) "DONE" "TODO"))
        (org-inhibit-logging t)
        (org-blocker-hook nil)
        (org-trigger-hook nil))
    (unless (equal (org-get-todo-state) state)
      (org-todo state))
    (if (eq result :none)
        (org-entry-delete nil "PROVEN")
      (org-entry-put nil "PROVEN"
                     (format "%s sha256:%s"
                             (upcase (substring (symbol-name result) 1))
                             (substring hash 0 12))))))

(defun org-agent-skill--show-faults (faults)
  "Show FAULTS of tests in a buffer of Compilation mode.
If there are none, close its windows."
  (let ((name "*org-agent-skill-test*"))
    (if (null faults)
        (when-let* ((buffer (get-buffer name)))
          (quit-windows-on buffer))
      (with-current-buffer (get-buffer-create name)
        (unless (derived-mode-p 'compilation-mode)
          (compilation-mode))
        (org-agent-section-replace-text
         (concat
          ;; `next-error' goes to the first fault behind the first line.
          (propertize "What failed\n" 'face 'shadow)
          (mapconcat (lambda (fault)
                       (format "%s:%s:%s: %s\n"
                               (abbreviate-file-name (plist-get fault :file))
                               (plist-get fault :line) (plist-get fault :column)
                               (plist-get fault :message)))
                     faults "")))
        ;; `next-error' begins with the first fault of these tests.
        (setq compilation-current-error nil
              next-error-last-buffer (current-buffer)
              word-wrap t
              header-line-format
              (substitute-command-keys
               " \\[next-error] next failure  \\<compilation-mode-map>\\[quit-window] quit"))
        (display-buffer (current-buffer)
                        '(nil (window-height . fit-window-to-buffer)))))))

;;;; The mode

(defvar org-agent-skill-mode-map (make-sparse-keymap)
  "Keymap of `org-agent-skill-mode', which is empty for you to bind keys.")

;;;###autoload
(define-minor-mode org-agent-skill-mode
  "Minor mode for writing a skill of the agent.
\\<org-mode-map>\\[org-ctrl-c-ctrl-c] in a Lisp block evaluates it; in a block of tests and on the
success criteria it runs the tests; on the capabilities it grants them."
  :lighter " Skill"
  :keymap org-agent-skill-mode-map
  (cond
   (org-agent-skill-mode
    (add-hook 'org-ctrl-c-ctrl-c-hook #'org-agent-skill-ctrl-c-ctrl-c nil t)
    (add-hook 'flymake-diagnostic-functions #'org-agent-skill-flymake nil t)
    (add-hook 'eldoc-documentation-functions #'org-agent-skill-eldoc nil t)
    (add-hook 'completion-at-point-functions #'org-agent-skill-complete nil t)
    (add-hook 'org-agent-kernel-ready-hook #'org-agent-skill--check-all)
    (org-agent-skill--symbols)
    (flymake-mode 1)
    (eldoc-mode 1))
   (t
    (remove-hook 'org-ctrl-c-ctrl-c-hook #'org-agent-skill-ctrl-c-ctrl-c t)
    (remove-hook 'flymake-diagnostic-functions #'org-agent-skill-flymake t)
    (remove-hook 'eldoc-documentation-functions #'org-agent-skill-eldoc t)
    (remove-hook 'completion-at-point-functions #'org-agent-skill-complete t)
    (when (bound-and-true-p flymake-mode)
      (flymake-mode -1)))))

(defun org-agent-skill-note-p ()
  "Return non-nil if this buffer visits a skill note.
That is an Org file in the directory skills of the home."
  (and buffer-file-name
       (derived-mode-p 'org-mode)
       (org-agent-file-in-directory-p
        buffer-file-name
        (expand-file-name "skills" (org-agent-home-directory)))))

(defun org-agent-skill--maybe ()
  "Turn `org-agent-skill-mode' on in a skill note."
  (when (org-agent-skill-note-p)
    (org-agent-skill-mode 1)))

;;;###autoload
(define-globalized-minor-mode org-agent-skill-global-mode
  org-agent-skill-mode org-agent-skill--maybe
  :group 'org-agent-lists)

(defcustom org-agent-help-with-skills t
  "Whether `org-agent-skill-mode' is turned on in skill notes.
It is turned on when a kernel becomes ready."
  :type 'boolean
  :group 'org-agent-lists
  :package-version '(org-agent . "0.1.0"))

;;;###autoload
(defun org-agent-skill-help ()
  "Turn on `org-agent-skill-global-mode' if the user option says so.
This is for `org-agent-kernel-ready-hook'."
  (when org-agent-help-with-skills
    (org-agent-skill-global-mode 1)))

(provide 'org-agent-skill)
;;; org-agent-skill.el ends here
