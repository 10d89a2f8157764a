;;; org-agent-hooks.el --- Skills react to what happens in Org files  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With `org-agent-hooks-mode', skills are told what happens in some Org files:
;; a file is saved, a TODO state changes, a capture is finalized, a clock starts
;; or stops, an agenda is built.  `org-agent-hooks-kinds' is the list of that.
;;
;; A file is reported that `org-agent-hooks-files' names, and elsewhere the
;; headings with the tag `org-agent-hooks-tag'.  Only the buffers of these files,
;; and agendas, get hooks.  Conversations, what is private, and files of other
;; machines are never reported.
;;
;; A report has the ids, hashes and lines of headings, and no text.  It names the
;; turn in which the agent changed one, so that no skill reacts to itself.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org)
(require 'org-id)
(require 'org-agent)
(require 'org-agent-kernel)
(require 'org-agent-edit)
(require 'org-agent-private)
(require 'org-agent-list)
(require 'org-agent-section)

(declare-function org-clocking-p "org-clock")
(declare-function org-capture-get "org-capture" (property &optional local))
(defvar org-state)
(defvar org-last-state)
(defvar org-note-abort)

(defgroup org-agent-hooks nil
  "Skills that react to what happens in Org files."
  :group 'org-agent)

(defcustom org-agent-hooks-files nil
  "Org files in which all that happens is reported to skills.
Each element is a file, or a directory for the files in it and below it.
`org-agent-hooks-mode' must be on."
  :type '(repeat (choice file directory))
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-hooks-tag "agenthook"
  "The tag of headings about which skills are told what happens.
It counts for the headings below, too, and for a whole file as one of its
#+FILETAGS:.  `org-agent-hooks-mode' must be on."
  :type 'string
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-hooks-delay 1
  "After how many seconds without a further event events are reported."
  :type 'number
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-hooks-kinds
  '(("org-save" "a file is saved" org-mode
     (after-save-hook) org-agent-hooks--changes t)
    ("org-todo" "a TODO state changes" org-mode
     (org-after-todo-state-change-hook) org-agent-hooks--about-todo)
    ("org-capture" "a capture is finalized" org-mode
     (org-capture-prepare-finalize-hook) org-agent-hooks--about-capture)
    ("org-clock" "a clock starts or stops" org-mode
     (org-clock-in-hook org-clock-out-hook) org-agent-hooks--about-clock)
    ("org-agenda" "an agenda is built" org-agenda-mode
     (org-agenda-finalize-hook) org-agent-hooks--about-agenda))
  "What is reported: a list of (SENSOR WHEN MODE HOOKS ABOUT LATE).
SENSOR is what triggers of skills see, WHEN tells people.  HOOKS run in
buffers of MODE.  The function ABOUT returns a plist about what happened,
with `:headings', or nil if nothing is to be reported.  It is called in
the buffer by the hook, and if LATE is non-nil only when it is reported.")

(defconst org-agent-hooks--size-limit (* 4 1024 1024)
  "The size in characters of the largest buffer that is reported.")

(defconst org-agent-hooks--headings-limit 200
  "How many headings are reported at once.")

(defvar-local org-agent-hooks--known nil
  "Maps the keys of headings to lists of them, as they were reported last.")
(put 'org-agent-hooks--known 'permanent-local t)

(defvar-local org-agent-hooks--made nil
  "What the agent has changed since then: an alist of (KEY . HASH) and turns.
HASH is nil for a heading that is gone.")
(put 'org-agent-hooks--made 'permanent-local t)

(defvar org-agent-hooks--waiting nil
  "What is to be reported: a list of (KIND BUFFER ABOUT FILE), the latest first.")

(defvar org-agent-hooks--unsent nil
  "Reports that wait for a kernel, the latest first.")

(defvar org-agent-hooks--timer nil
  "The timer that reports what waits.")

;;;; The mode

;;;###autoload
(define-minor-mode org-agent-hooks-mode
  "Report to skills what happens in some Org files.
See `org-agent-hooks-files' and `org-agent-hooks-tag'."
  :global t
  :group 'org-agent-hooks
  (let ((change (if org-agent-hooks-mode #'add-hook #'remove-hook)))
    (funcall change 'org-mode-hook #'org-agent-hooks--begin)
    (funcall change 'org-agenda-mode-hook #'org-agent-hooks--begin)
    (funcall change 'org-agent-kernel-ready-hook #'org-agent-hooks--send))
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (derived-mode-p 'org-mode 'org-agenda-mode)
        (if org-agent-hooks-mode (org-agent-hooks--begin)
          (org-agent-hooks--end)))))
  (unless org-agent-hooks-mode
    (setq org-agent-hooks--waiting nil org-agent-hooks--unsent nil)
    (org-agent-hooks--stop-timer)))

(defun org-agent-hooks--begin ()
  "Have what happens in this buffer reported, if it is to be.
In another buffer of an Org file look for the tag when it is saved."
  (org-agent-hooks--end)
  (cond ((derived-mode-p 'org-agenda-mode)
         (org-agent-hooks--add))
        ((buffer-base-buffer))
        ((org-agent-hooks--reported-p)
         (org-agent-hooks--add)
         (add-hook 'after-revert-hook #'org-agent-hooks--look nil t)
         (add-hook 'org-agent-edit-changed-functions
                   #'org-agent-hooks--agent-changed nil t)
         (unless org-agent-hooks--known
           (org-agent-hooks--look)))
        ((org-agent-hooks--may-p)
         (add-hook 'after-save-hook #'org-agent-hooks--begin-tagged nil t))))

(defun org-agent-hooks--begin-tagged ()
  "Have what happens from now on in this buffer reported, if it has the tag."
  (when (org-agent-hooks--reported-p) (org-agent-hooks--begin)))

(defun org-agent-hooks--end ()
  "Have nothing of this buffer reported."
  (pcase-dolist (`(,sensor ,_ ,_ ,hooks) org-agent-hooks-kinds)
    (dolist (hook hooks)
      (remove-hook hook (org-agent-hooks--function sensor) t)))
  (remove-hook 'after-save-hook #'org-agent-hooks--begin-tagged t)
  (remove-hook 'after-revert-hook #'org-agent-hooks--look t)
  (remove-hook 'org-agent-edit-changed-functions
               #'org-agent-hooks--agent-changed t)
  (unless org-agent-hooks-mode
    (setq org-agent-hooks--known nil
          org-agent-hooks--made nil)))

(defun org-agent-hooks--add ()
  "Add the hooks of the kinds that are for this buffer."
  (pcase-dolist (`(,sensor ,_ ,mode ,hooks) org-agent-hooks-kinds)
    (dolist (hook (and (derived-mode-p mode) hooks))
      (add-hook hook (org-agent-hooks--function sensor) nil t))))

(defun org-agent-hooks--function (sensor)
  "Return the function for the hooks of the kind with SENSOR, a symbol."
  (let ((function (intern (concat "org-agent-hooks--on-" sensor))))
    (defalias function
      (lambda () (org-agent-hooks--note (assoc sensor org-agent-hooks-kinds)))
      "Note for skills what happens in this buffer.")))

;;;; What is reported

(defun org-agent-hooks--may-p ()
  "Return non-nil when headings of this buffer may be reported."
  (and (derived-mode-p 'org-mode)
       (org-agent-private-file (current-buffer))
       (not (bound-and-true-p org-agent-chat-session))
       (<= (buffer-size) org-agent-hooks--size-limit)
       (not (org-agent-private-p (current-buffer)))))

(defun org-agent-hooks--reported-p ()
  "Return non-nil when something of this buffer is reported."
  (and (org-agent-hooks--may-p)
       (or (org-agent-hooks--whole-p)
           (org-with-wide-buffer
            (goto-char (point-min))
            (re-search-forward
             (format "^\\*+ .*:%s:" (regexp-quote org-agent-hooks-tag))
             nil t)))))

(defun org-agent-hooks--whole-p ()
  "Return non-nil when all headings of this buffer are reported."
  (let ((file (buffer-file-name (or (buffer-base-buffer) (current-buffer)))))
    (or (member org-agent-hooks-tag org-file-tags)
        (cl-some (lambda (one)
                   (if (file-directory-p one)
                       (org-agent-file-in-directory-p file one)
                     (equal (file-truename file) (file-truename one))))
                 org-agent-hooks-files))))

(defun org-agent-hooks--scan ()
  "Return the headings of this buffer that are reported, in their order.
What stands before the first one counts as a heading of level 0."
  (let ((all (org-agent-hooks--whole-p))
        (private (org-agent-private-parts))
        (gc-cons-threshold (max gc-cons-threshold (* 64 1024 1024)))
        (line 1)
        inside found)
    (org-with-wide-buffer
     (goto-char (point-min))
     (let ((counted (point)))
       (while (not (eobp))
         (let* ((beg (point))
                (level (if (looking-at org-outline-regexp)
                           (1- (- (match-end 0) (match-beginning 0)))
                         0)))
           (cl-incf line (count-lines counted beg))
           (setq counted beg)
           (when (and inside (<= level inside)) (setq inside nil))
           (unless (or inside (not (org-agent-hooks--tagged-p)))
             (setq inside level))
           (when (and (or all inside)
                      (not (org-agent-private-part-at beg private)))
             (push (org-agent-hooks--record level line) found))
           (org-agent-hooks--next)))))
    (nreverse found)))

(defun org-agent-hooks--next ()
  "Move to the next heading, or to the end of the buffer."
  (end-of-line)
  (if (re-search-forward org-outline-regexp-bol nil t)
      (goto-char (match-beginning 0))
    (goto-char (point-max))))

(defun org-agent-hooks--tagged-p ()
  "Return non-nil when the heading at point has the tag itself."
  (and (looking-at org-complex-heading-regexp)
       (member org-agent-hooks-tag
               (split-string (or (match-string-no-properties 5) "") ":" t))))

(defun org-agent-hooks--record (level line)
  "Return a plist about the heading at point, of LEVEL and in LINE.
Its `:key' identifies it: its ID, or else a hash of its title."
  (save-excursion
    (let* ((beg (point))
           (title (if (looking-at org-complex-heading-regexp)
                      (match-string-no-properties 4)
                    ""))
           (end (save-excursion (org-agent-hooks--next) (point)))
           (case-fold-search t)
           (id (and (re-search-forward
                     "^[ \t]*:ID:[ \t]+\\([^ \t\n]+\\)[ \t]*$" end t)
                    (match-string-no-properties 1)))
           (hash (lambda (text)
                   (substring (secure-hash 'sha256 (encode-coding-string
                                                    text 'utf-8-unix))
                              0 16))))
      (list :key (or id (funcall hash (format "%d %s" level title)))
            :id id
            :hash (funcall hash (buffer-substring-no-properties beg end))
            :line line :level level :beg beg :end end))))

(defun org-agent-hooks--heading ()
  "Return the heading at point as it is reported, a list of one, or nil."
  (org-with-wide-buffer
   (when (and (org-agent-hooks--may-p)
              (ignore-errors (org-back-to-heading t))
              (not (org-agent-private-part-at (point)
                                              (org-agent-private-parts)))
              (or (org-agent-hooks--whole-p)
                  (save-excursion
                    (let (tagged)
                      (while (and (not (setq tagged (org-agent-hooks--tagged-p)))
                                  (org-up-heading-safe)))
                      tagged))))
     (list (org-agent-hooks--shown
            (org-agent-hooks--record (org-outline-level)
                                     (line-number-at-pos)))))))

(defun org-agent-hooks--shown (record &rest more)
  "Return RECORD as it is reported, with the fields MORE."
  (append (and (plist-get record :id) (list :id (plist-get record :id)))
          (cl-loop for key in '(:hash :line :level)
                   append (list key (plist-get record key)))
          more))

;;;; About the kinds

(defun org-agent-hooks--look (&optional records)
  "Note the headings of this buffer, or RECORDS of them, as reported."
  (setq org-agent-hooks--known (make-hash-table :test #'equal)
        org-agent-hooks--made nil)
  (dolist (record (reverse (or records (org-agent-hooks--scan))))
    (push record (gethash (plist-get record :key) org-agent-hooks--known))))

(defun org-agent-hooks--changes ()
  "Return which headings were changed since they were reported last, or nil.
The value has the `:records' of all headings, too, which are not reported."
  (when org-agent-hooks--known
    (let ((known (copy-hash-table org-agent-hooks--known))
          (records (org-agent-hooks--scan))
          changed)
      (cl-flet ((take (record old)
                  (let ((key (plist-get record :key)))
                    (puthash key (remq old (gethash key known)) known)
                    old)))
        (dolist (record records)
          (let ((same (cl-find (plist-get record :hash)
                               (gethash (plist-get record :key) known)
                               :key (lambda (old) (plist-get old :hash))
                               :test #'equal)))
            (if same
                (take record same)
              (push record changed))))
        (setq changed
              (mapcar (lambda (record)
                        (let ((old (car (gethash (plist-get record :key) known))))
                          (when old (take record old))
                          (org-agent-hooks--changed
                           record (if old :changed :added))))
                      (nreverse changed))))
      (maphash (lambda (_ gone)
                 (dolist (record gone)
                   (push (org-agent-hooks--changed record :removed) changed)))
               known)
      (and changed (list :headings changed :records records)))))

(defun org-agent-hooks--changed (record change)
  "Return RECORD as it is reported with CHANGE, and with who made it."
  (let* ((gone (eq change :removed))
         (made (assoc (cons (plist-get record :key)
                            (and (not gone) (plist-get record :hash)))
                      org-agent-hooks--made)))
    (append (if gone
                (list :hash (plist-get record :hash)
                      :level (plist-get record :level))
              (org-agent-hooks--shown record))
            (and gone (plist-get record :id) (list :id (plist-get record :id)))
            (list :change change)
            (and made (list :by (cdr made))))))

(defun org-agent-hooks--agent-changed (act receipt)
  "Note that the agent has made the change of ACT with RECEIPT here."
  (with-demoted-errors "org-agent-hooks: %S"
    (let* ((turn (plist-get act :turn))
           (turn (if (member turn '(nil "")) "kernel" turn))
           (beg (plist-get receipt :start))
           (end (plist-get receipt :end))
           (gone (copy-hash-table org-agent-hooks--known)))
      (dolist (record (org-agent-hooks--scan))
        (remhash (plist-get record :key) gone)
        (when (and (<= (plist-get record :beg) end)
                   (< beg (plist-get record :end)))
          (push (cons (cons (plist-get record :key) (plist-get record :hash))
                      turn)
                org-agent-hooks--made)))
      (dolist (key (hash-table-keys gone))
        (push (cons (list key) turn) org-agent-hooks--made)))))

(defun org-agent-hooks--about-todo ()
  "Return what is reported of a changed TODO state."
  (when-let* ((headings (org-agent-hooks--heading)))
    (list :headings headings
          :from (substring-no-properties (or (bound-and-true-p org-last-state) ""))
          :to (substring-no-properties (or (bound-and-true-p org-state) "")))))

(defun org-agent-hooks--about-capture ()
  "Return what is reported of a capture, unless it is aborted."
  (unless (bound-and-true-p org-note-abort)
    (when-let* ((headings (save-excursion
                            (when (buffer-narrowed-p)
                              (goto-char (point-min)))
                            (org-agent-hooks--heading))))
      (list :headings headings
            :template (or (and (bound-and-true-p org-capture-current-plist)
                               (org-capture-get :key 'local))
                          "")))))

(defun org-agent-hooks--about-clock ()
  "Return what is reported of a clock."
  (when-let* ((headings (org-agent-hooks--heading)))
    (list :headings headings
          :clock (if (and (fboundp 'org-clocking-p) (org-clocking-p))
                     :in :out))))

(defun org-agent-hooks--about-agenda ()
  "Return what is reported of this agenda."
  (let ((seen (make-hash-table :test #'equal))
        found)
    (save-excursion
      (goto-char (point-min))
      (while (not (eobp))
        (let ((marker (get-text-property (point) 'org-hd-marker)))
          (when (and (markerp marker) (marker-buffer marker)
                     (not (gethash marker seen)))
            (puthash marker t seen)
            (with-current-buffer (marker-buffer marker)
              (when org-agent-hooks--known
                (when-let* ((heading (org-with-point-at marker
                                       (org-agent-hooks--heading))))
                  (push (append (car heading)
                                (list :file (org-agent-private-file
                                             (current-buffer))))
                        found))))))
        (forward-line)))
    (and found (list :headings (nreverse found)))))

;;;; Reporting

(defun org-agent-hooks--note (kind)
  "Note that something of KIND has happened in this buffer."
  (with-demoted-errors "org-agent-hooks: %S"
    (let* ((buffer (or (buffer-base-buffer) (current-buffer)))
           (late (nth 5 kind))
           (about (and (not late) (funcall (nth 4 kind))))
           (before (cl-find-if (lambda (one)
                                 (and (eq (car one) kind) (eq (cadr one) buffer)))
                               org-agent-hooks--waiting)))
      (when (or late about)
        (cond ((not before)
               (push (list kind buffer about (org-agent-hooks--file))
                     org-agent-hooks--waiting))
              ((derived-mode-p 'org-agenda-mode)
               (setf (nth 2 before) about))
              (about
               (cl-callf2 append (plist-get (nth 2 before) :headings)
                          (plist-get about :headings))
               (setf (nth 2 before) about)))
        (org-agent-hooks--stop-timer)
        (setq org-agent-hooks--timer
              (run-at-time org-agent-hooks-delay nil
                           #'org-agent-hooks--report))))))

(defun org-agent-hooks--stop-timer ()
  "Report nothing for now."
  (when org-agent-hooks--timer
    (cancel-timer org-agent-hooks--timer)
    (setq org-agent-hooks--timer nil)))

(defun org-agent-hooks--report ()
  "Report what waits."
  (org-agent-hooks--stop-timer)
  (let ((waiting (reverse org-agent-hooks--waiting)))
    (setq org-agent-hooks--waiting nil)
    (pcase-dolist (`(,kind ,buffer ,about ,file) waiting)
      (with-demoted-errors "org-agent-hooks: %S"
        (when (and (nth 5 kind) (buffer-live-p buffer))
          (with-current-buffer buffer
            (let ((found (and (org-agent-hooks--may-p)
                              (while-no-input (list (funcall (nth 4 kind)))))))
              (if (eq found t)          ; the person types
                  (org-agent-hooks--note kind)
                (when (setq about (car found))
                  (org-agent-hooks--look (plist-get about :records)))))))
        (when about
          (push (append (list :id (org-id-uuid))
                        (org-agent-hooks--event kind file about))
                org-agent-hooks--unsent)))))
  (setq org-agent-hooks--unsent (seq-take org-agent-hooks--unsent 100))
  (when org-agent-hooks--unsent
    (cond ((org-agent-kernel-ready-p) (org-agent-hooks--send))
          ((eq org-agent-kernel-state 'stopped) (setq org-agent-hooks--unsent nil))
          (t (org-agent-kernel-ensure)))))

(defun org-agent-hooks--file ()
  "Return the file of this buffer, nil for an agenda."
  (and (derived-mode-p 'org-mode) (org-agent-private-file (current-buffer))))

(defun org-agent-hooks--event (kind file about)
  "Return the parameters of an event of KIND in FILE with ABOUT."
  (let ((headings (plist-get about :headings)))
    (append (list :sensor (intern (concat ":" (car kind))))
            (and file (list :file file))
            (plist-put (org-plist-delete about :records) :headings
                       (seq-take headings org-agent-hooks--headings-limit))
            (when-let* ((more (nthcdr org-agent-hooks--headings-limit headings)))
              (list :more (length more))))))

(defun org-agent-hooks--send ()
  "Send the reports that wait for a kernel."
  (let ((events (reverse org-agent-hooks--unsent)))
    (setq org-agent-hooks--unsent nil)
    (dolist (event events)
      (org-agent-kernel-request
       "event" event
       :failure (lambda (refusal)
                  (org-agent-rpc-log "%s was not taken: %s"
                                     (plist-get event :sensor)
                                     (plist-get refusal :message)))))))

;;;; What would be reported

(define-derived-mode org-agent-hooks-dry-run-mode org-agent-section-mode
  "Org-Agent-Hooks"
  "Major mode of what would be reported to skills.

\\{org-agent-hooks-dry-run-mode-map}"
  :interactive nil)

;;;###autoload
(defun org-agent-hooks-dry-run ()
  "Show what would be reported of this buffer, and which skills would run.
Nothing is reported, and no skill runs.  In an Org file it is shown for
the heading at point, and for a save of the file now."
  (interactive)
  (unless (or (derived-mode-p 'org-agenda-mode) (org-agent-hooks--reported-p))
    (user-error "Nothing is reported of this buffer: put its file into org-agent-hooks-files, or give a heading the tag %s"
                org-agent-hooks-tag))
  (unless (or org-agent-hooks--known (derived-mode-p 'org-agenda-mode))
    (org-agent-hooks--look))
  (let* ((kinds (cl-remove-if-not (lambda (kind) (derived-mode-p (nth 2 kind)))
                                  org-agent-hooks-kinds))
         (events (mapcar (lambda (kind)
                           (when-let* ((about (funcall (nth 4 kind))))
                             (org-agent-hooks--event
                              kind (org-agent-hooks--file) about)))
                         kinds))
         (name (buffer-name))
         (show (lambda (&rest _) (org-agent-hooks--dry-run name kinds events))))
    (org-agent-list-open "*org-agent-hooks*" 'org-agent-hooks-dry-run-mode
                         (lambda ()
                           (setq-local revert-buffer-function show)
                           (funcall show)))))

(defun org-agent-hooks--dry-run (name kinds events)
  "Show what the EVENTS of KINDS in the buffer NAME would lead to.
An element of EVENTS is nil if nothing of its kind would be reported."
  (let ((results (make-vector (length events) nil)))
    (cl-flet ((show ()
                (org-agent-section-show
                 (cons (org-agent-section
                        'buffer name
                        :heading (concat (org-agent-one-line name)
                                         ", reported to skills"
                                         (unless org-agent-hooks-mode
                                           ", but org-agent-hooks-mode is off")))
                       (cl-mapcar #'org-agent-hooks--section kinds events
                                  (append results nil))))))
      (show)
      (cl-loop for event in events
               for at from 0
               when event
               do (let ((at at))
                    (org-agent-kernel-ask
                     "event/check" event
                     (lambda (result)
                       (aset results at (list (plist-get result :skills)))
                       (show))))))))

(defun org-agent-hooks--section (kind event result)
  "Return the section of KIND with EVENT, or nil, and the RESULT of its check.
RESULT is a list of the skills, or nil while there is none."
  (org-agent-section
   'kind (car kind)
   :heading (format ":%s, when %s: %s" (car kind) (nth 1 kind)
                    (cond ((not event) "nothing to report")
                          ((not result) "asking the kernel")
                          (t (org-agent-counted
                              (cl-count-if-not
                               (lambda (skill) (plist-get skill :refused))
                               (car result))
                              "skill"))))
   :body (if (not event)
             (if (nth 5 kind)
                 "Nothing that is reported has changed since the last report.\n"
               "No heading that is reported is there.\n")
           (concat (org-agent-hooks--lines event)
                   (mapconcat #'org-agent-hooks--skill-line (car result) "")
                   (and result (not (car result))
                        "No skill has a trigger that is true for it.\n")))))

(defun org-agent-hooks--lines (event)
  "Return the lines that show EVENT."
  (let ((headings (plist-get event :headings)))
    (concat (cl-loop for (key value) on event by #'cddr
                     unless (eq key :headings)
                     concat (format "%s %s\n" key
                                    (org-agent-one-line (format "%S" value))))
            (mapconcat (lambda (heading)
                         (concat (org-agent-one-line
                                  (mapconcat (lambda (part) (format "%S" part))
                                             heading " "))
                                 "\n"))
                       (seq-take headings 20) "")
            (and (> (length headings) 20)
                 (format "and %d more\n" (- (length headings) 20))))))

(defun org-agent-hooks--skill-line (skill)
  "Return a line about SKILL, a plist from the kernel."
  (if (plist-get skill :refused)
      (format "%s would not run: %s\n" (org-agent-one-line (plist-get skill :name))
              (org-agent-one-line (plist-get skill :refused) 200))
    (format "%s would run, in the conversation %s\n"
            (org-agent-one-line (plist-get skill :name))
            (org-agent-one-line (plist-get skill :session)))))

(provide 'org-agent-hooks)
;;; org-agent-hooks.el ends here
