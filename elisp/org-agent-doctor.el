;;; org-agent-doctor.el --- Find and mend faults  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-doctor' checks all that the agent needs.  The program checks
;; the kernel's side (`org-agent doctor', which needs no kernel), and this
;; file checks Emacs.  A command mends the fault of a line after a question.
;;
;; Where the program is missing it is built in the background from the
;; sources beside the package.  What that would have to download is
;; downloaded only by `org-agent-build', which a person calls.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'org)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-list)
(require 'org-agent-section)

(declare-function org-agent-chat-buffers "org-agent-chat")

(defvar-local org-agent-doctor--round 0
  "The number of the latest round of checks.")

(defvar-local org-agent-doctor--emacs nil
  "The findings in Emacs.")

(defvar-local org-agent-doctor--kernel nil
  "The findings of the program, of the former round while it runs.")

(defvar-local org-agent-doctor--looking nil
  "Non-nil while the program runs its checks.")

(defvar org-agent-doctor-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-section-mode-map)
    (define-key map "m" #'org-agent-doctor-mend)
    (define-key map "M" #'org-agent-doctor-mend-all)
    map)
  "Keymap of the findings of the doctor.")

(define-derived-mode org-agent-doctor-mode org-agent-section-mode
  "Org-Agent-Doctor"
  "Major mode of the findings of the doctor.
\\<org-agent-doctor-mode-map>\\[org-agent-doctor-mend] mends the fault at point, \\[org-agent-doctor-mend-all] all that can be mended, each after a
question; \\[revert-buffer] runs the checks again.

\\{org-agent-doctor-mode-map}"
  :interactive nil
  (setq org-agent-section-keys "\\<org-agent-doctor-mode-map>\\[org-agent-doctor-mend] mend  \\[org-agent-doctor-mend-all] mend all  \\[org-agent-section-return] mend or unfold")
  (setq-local revert-buffer-function (lambda (&rest _) (org-agent-doctor))))

;;;; Looking

;;;###autoload
(defun org-agent-doctor ()
  "Check the agent, and show faults with what to do about them."
  (interactive)
  (let ((buffer (get-buffer-create "*org-agent-doctor*")))
    (with-current-buffer buffer
      (unless (derived-mode-p 'org-agent-doctor-mode)
        (org-agent-doctor-mode))
      (setq org-agent-doctor--emacs (org-agent-doctor-findings)
            org-agent-doctor--looking t)
      (org-agent-doctor--draw)
      (org-agent-doctor--ask-program buffer (cl-incf org-agent-doctor--round)))
    (pop-to-buffer buffer)))

(defun org-agent-doctor--draw ()
  "Show the findings so far."
  (org-agent-section-show
   (list (org-agent-doctor--side "Emacs" org-agent-doctor--emacs)
         (org-agent-doctor--side (if org-agent-doctor--looking
                                     "Kernel  (looking …)"
                                   "Kernel")
                                 org-agent-doctor--kernel))))

(defun org-agent-doctor--side (title findings)
  "Return the section called TITLE with FINDINGS."
  (org-agent-section
   'side (car (split-string title))
   :heading (propertize title 'face 'org-agent-section-heading)
   :children (mapcar #'org-agent-doctor--section findings)))

(defun org-agent-doctor--ask-program (buffer round)
  "Run the checks of the program, and show its findings of ROUND in BUFFER."
  (if (not (org-agent-kernel-program))
      (org-agent-doctor--add
       buffer round
       (org-agent-doctor--found
        "fail" "program" "the program org-agent was not found"
        (or (org-agent-doctor--cannot-build)
            "it can be built from the sources beside the package")
        (unless (org-agent-doctor--cannot-build) "build it in the background")
        #'org-agent-build))
    (org-agent-kernel-run-program
     '("doctor" "--json")
     (lambda (_status output complaint)
       (org-agent-doctor--add
        buffer round
        (or (org-agent-doctor--read output)
            (list (list :state "fail" :check "program"
                        :text (format "%s could not look: %s"
                                      (org-agent-kernel-program) complaint)))))))))

(defun org-agent-doctor--read (output)
  "Return the findings in OUTPUT, a JSON object a line."
  (let ((json-object-type 'plist))
    (delq nil (mapcar (lambda (line)
                        (let ((finding (ignore-errors (json-read-from-string line))))
                          (and (stringp (plist-get finding :text))
                               (stringp (plist-get finding :check))
                               finding)))
                      (split-string output "\n" t)))))

(defun org-agent-doctor--add (buffer round findings)
  "Show FINDINGS of ROUND, the program's, in BUFFER."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when (eql round org-agent-doctor--round)
        (setq org-agent-doctor--kernel findings
              org-agent-doctor--looking nil)
        (org-agent-doctor--draw)))))

(defun org-agent-doctor--section (finding)
  "Return the section of FINDING.
It is a plist of :state, :check, :text, :advice, :mend and :repair.
`:mend' says what mending does, and `:repair' is a function that does it.
Without a function the program does it."
  (let ((state (plist-get finding :state))
        (check (plist-get finding :check))
        (advice (plist-get finding :advice))
        (mend (plist-get finding :mend)))
    (org-agent-section
     'finding check :data finding
     :heading (concat (org-agent-list-state state)
                      (make-string (max 0 (- 5 (length state))) ?\s)
                      (format " %-9s " check)
                      (plist-get finding :text))
     :body (and (or advice mend)
                (lambda ()
                  (concat
                   (and advice (org-agent-list-filled advice))
                   (and mend
                        (org-agent-list-filled
                         (substitute-command-keys
                          (format "\\<org-agent-doctor-mode-map>\\[org-agent-doctor-mend] mends this: %s" mend))))))))))

(cl-defmethod org-agent-section-visit ((_type (eql 'finding)) section)
  "Mend the fault of SECTION, or unfold it if nothing can be mended."
  (if (plist-get (org-agent-section-data section) :mend)
      (org-agent-doctor-mend)
    (cl-call-next-method)))

;;;; Mending

(defun org-agent-doctor-mend ()
  "Mend the fault at point, after a question."
  (interactive)
  (let ((finding (org-agent-section-data-at-point 'finding)))
    (unless (plist-get finding :mend)
      (user-error "Nothing can be mended here"))
    (org-agent-doctor--mend-if-wanted finding)))

(defun org-agent-doctor--mend-if-wanted (finding)
  "Mend the fault of FINDING if the person says yes."
  (when (yes-or-no-p (format "%s.  %s? " (plist-get finding :text)
                             (org-agent-doctor--sentence
                              (plist-get finding :mend))))
    (org-agent-doctor--mend finding)))

(defun org-agent-doctor--sentence (text)
  "Return TEXT with a capital."
  (concat (upcase (substring text 0 1)) (substring text 1)))

(defun org-agent-doctor-mend-all ()
  "Mend all faults that can be mended, each after a question."
  (interactive)
  (mapc #'org-agent-doctor--mend-if-wanted
        (or (cl-remove-if-not (lambda (finding) (plist-get finding :mend))
                              (append org-agent-doctor--emacs
                                      org-agent-doctor--kernel))
            (user-error "Nothing can be mended"))))

(defun org-agent-doctor--mend (finding)
  "Mend the fault of FINDING, and run the checks again."
  (let ((repair (plist-get finding :repair))
        (buffer (get-buffer "*org-agent-doctor*"))
        (again (lambda ()
                 (when (get-buffer "*org-agent-doctor*")
                   (save-window-excursion (org-agent-doctor))))))
    (if repair
        (progn (funcall repair)
               (funcall again))
      (org-agent-kernel-run-program
       (list "doctor" "--fix" "--json" "--only" (plist-get finding :check))
       (lambda (_status output complaint)
         (let ((failure (if (org-agent-doctor--read output)
                            (cl-some (lambda (f) (plist-get f :failure))
                                     (org-agent-doctor--read output))
                          complaint)))
           (when failure
             (message "org-agent: not mended: %s" failure))
           (when (buffer-live-p buffer)
             (funcall again))))))))

;;;; Building the program

(defvar org-agent-doctor--builder nil
  "The process that builds the program, or nil.")

(defun org-agent-doctor--kernel-sources ()
  "Return the directory of the kernel's sources, or nil.
In a package they are in its directory, in a checkout beside that."
  (cl-find-if (lambda (directory)
                (file-exists-p (expand-file-name "kernel/cmd/org-agent/main.go"
                                                 directory)))
              (list org-agent-directory
                    (file-name-directory (directory-file-name org-agent-directory)))))

(defun org-agent-doctor--go ()
  "Return the program of Go, or nil.
Where the official installer puts it is often not on the path of an Emacs
that was started from a desktop."
  (or (executable-find "go")
      (cl-find-if #'file-executable-p '("/usr/local/go/bin/go"))))

(defun org-agent-doctor--cannot-build ()
  "Return why the program cannot be built here, or nil."
  (cond
   (org-agent-program
    (format "`org-agent-program' is %s, which cannot be run" org-agent-program))
   ((not (org-agent-doctor--kernel-sources))
    "put it on your PATH, or set `org-agent-program' to it")
   ((not (org-agent-doctor--go))
    "install Go 1.26 or later, with which it is built, or put org-agent on your PATH")))

;;;###autoload
(defun org-agent-build ()
  "Build the kernel's program from the sources beside this package.
Go downloads the modules that it needs and that are not on this machine.
The buffer *org-agent-build* has its output.  A kernel that runs goes on
as it is."
  (interactive)
  (when (process-live-p org-agent-doctor--builder)
    (user-error "The program is being built; *org-agent-build* shows how far"))
  (org-agent-kernel-build (lambda (done) (org-agent-doctor-build done t))))

;;;###autoload
(defun org-agent-doctor-build (done &optional download)
  "Build the program in the background, then call DONE with the trouble or nil.
Modules that are missing are downloaded only if DOWNLOAD is non-nil."
  (if-let* ((reason (org-agent-doctor--cannot-build)))
      (funcall done (concat "The program org-agent was not found: " reason))
    (condition-case err
        (org-agent-doctor--run-go done download)
      (error (funcall done (concat "The program org-agent could not be built: "
                                   (error-message-string err)))))))

(defun org-agent-doctor--run-go (done download)
  "Run Go; DONE and DOWNLOAD are as for `org-agent-doctor-build'.
The program gets its name when it is complete."
  (let* ((default-directory (org-agent-doctor--kernel-sources))
         (modules (expand-file-name ".cache/mod"))
         (process-environment
          (append (and (file-directory-p modules) ; those that make has got
                       (list (concat "GOMODCACHE=" modules)))
                  (unless download (list "GOPROXY=off" "GOTOOLCHAIN=local"))
                  process-environment))
         (new (expand-file-name "bin/org-agent.new")))
    (make-directory "bin" t)
    (with-current-buffer (get-buffer-create "*org-agent-build*")
      (let ((inhibit-read-only t)) (erase-buffer))
      (special-mode)
      (add-hook 'kill-buffer-hook #'org-agent-doctor--build-killed nil t))
    (message "org-agent: building the kernel, which takes two to five minutes the first time")
    (setq org-agent-doctor--builder
          (make-process
           :name "org-agent-build" :buffer "*org-agent-build*" :noquery t
           :connection-type 'pipe :coding 'utf-8-unix
           :command (list (org-agent-doctor--go) "build" "-v" "-tags=goolm" "-buildvcs=false"
                          "-ldflags" (concat "-X main.version=" org-agent-version)
                          "-o" new "./kernel/cmd/org-agent")
           :filter #'org-agent-doctor--build-progress
           :sentinel (lambda (process _event)
                       (unless (process-live-p process)
                         (org-agent-doctor--built process new done)))))))

;; Emacs itself only sends SIGHUP, which is ignored below "nohup".
(defun org-agent-doctor--build-killed ()
  "End the building whose buffer is killed."
  (when-let* ((process (get-buffer-process (current-buffer))))
    (delete-process process)))

(defconst org-agent-doctor--packages 595
  "About how many packages the program is compiled from, the first time.")

(defun org-agent-doctor--build-progress (process output)
  "Put OUTPUT of PROCESS, a line for each package, into its buffer.
The header line of conversations shows how many there were."
  (when (buffer-live-p (process-buffer process))
    (with-current-buffer (process-buffer process)
      (let ((inhibit-read-only t))
        (save-excursion
          (goto-char (point-max))
          (insert output)))
      (when (eq org-agent-kernel-state 'building)
        (setq org-agent-kernel-trouble
              (format "building the kernel: %d of some %d packages"
                      (count-lines (point-min) (point-max)) org-agent-doctor--packages))
        (force-mode-line-update t)))))

;;;###autoload
(defun org-agent-doctor-starting (process output)
  "Put OUTPUT of PROCESS, which starts a kernel, into its buffer.
The header line of conversations shows what takes long meanwhile, such as
an upgrade of the journal."
  (when (buffer-live-p (process-buffer process))
    (with-current-buffer (process-buffer process)
      (goto-char (point-max))
      (insert output)
      (when (and (eq org-agent-kernel-state 'starting)
                 (re-search-backward "^org-agent: starting: \\(.+\\)\n" nil t))
        (setq org-agent-kernel-trouble (match-string 1))
        (force-mode-line-update t)))))

(defun org-agent-doctor--built (process new done)
  "Note that PROCESS has ended, give NEW its name, and call DONE."
  (let ((trouble (org-agent-doctor--build-trouble process)))
    (unless trouble
      (rename-file new (string-remove-suffix ".new" new) t)
      (message "org-agent: the kernel is built"))
    (when (and trouble (file-exists-p new))
      (delete-file new))
    (funcall done trouble)
    (force-mode-line-update t)))

(defun org-agent-doctor--build-trouble (process)
  "Return why PROCESS, which has ended, did not build the program, or nil."
  (let ((output (if (buffer-live-p (process-buffer process))
                    (with-current-buffer (process-buffer process) (buffer-string))
                  "")))
    (cond
     ((and (eq (process-status process) 'exit)
           (zerop (process-exit-status process)))
      nil)
     ((eq (process-status process) 'signal)
      "The building of the program was stopped; M-x org-agent-build begins it again")
     ((string-match-p "GOPROXY=off" output)
      "The program org-agent is not built yet, and its modules of Go are not on this machine: M-x org-agent-build downloads them and builds it")
     ((string-match "requires go >= \\([0-9.]+\\)" output)
      (format "The program org-agent needs Go %s or later to be built: install that, or M-x org-agent-build has Go download it"
              (match-string 1 output)))
     (t (format "The program org-agent could not be built: %s (*org-agent-build* has all)"
                (or (car (last (split-string output "\n" t "[ \t]+"))) "Go said nothing"))))))

;;;; Checks of Emacs

(defun org-agent-doctor-findings ()
  "Return the findings in this Emacs, plists as for `org-agent-doctor--section'."
  (cl-mapcan (lambda (check)
               (condition-case err
                   (funcall check)
                 (error (list (list :state "fail" :check "emacs"
                                    :text (format "%s: %s" check
                                                  (error-message-string err)))))))
             '(org-agent-doctor--versions
               org-agent-doctor--compiled
               org-agent-doctor--loaded
               org-agent-doctor--variables
               org-agent-doctor--connection
               org-agent-doctor--auto-saves
               org-agent-doctor--duplicates)))

(defun org-agent-doctor--found (state check text &optional advice mend repair)
  "Return a list of one finding: STATE, CHECK, TEXT, ADVICE, MEND and REPAIR."
  (list (list :state state :check check :text text :advice advice
              :mend mend :repair repair)))

(defun org-agent-doctor--versions ()
  "Check the versions of Emacs and Org."
  (append
   (if (version< emacs-version "28.1")
       (org-agent-doctor--found "fail" "emacs" (format "Emacs %s is too old" emacs-version)
                                "28.1 is the oldest that will do")
     (org-agent-doctor--found "ok" "emacs" (format "Emacs %s, Org %s, org-agent %s"
                                                   emacs-version (org-version)
                                                   org-agent-version)))
   (when (version< (org-version) "9.5")
     (org-agent-doctor--found "fail" "org" (format "Org %s is too old" (org-version))
                              "9.5 is the oldest that will do"))))

(defun org-agent-doctor--sources ()
  "Return the source files of this package."
  (directory-files org-agent-directory t
                   "\\`\\(?:org-agent\\(?:-.*\\)?\\|ob-org-agent\\)\\.el\\'"))

(defun org-agent-doctor--loaded ()
  "Look for files that were changed after this Emacs loaded the package.
Emacs still runs the former code."
  (when-let* ((changed (cl-remove-if-not
                        (lambda (source)
                          (time-less-p org-agent-loaded
                                       (file-attribute-modification-time
                                        (file-attributes source))))
                        (org-agent-doctor--sources))))
    (org-agent-doctor--found
     "warn" "loaded"
     (format "%s changed after this Emacs loaded the package"
             (mapconcat #'file-name-nondirectory changed ", "))
     "what runs is what was there before; restart Emacs to have the new one")))

(defun org-agent-doctor--compiled ()
  "Look for compiled files that are older than their source."
  (let ((stale (cl-remove-if-not
                (lambda (source)
                  (let ((compiled (concat source "c")))
                    (and (file-exists-p compiled)
                         (file-newer-than-file-p source compiled))))
                (org-agent-doctor--sources))))
    (if (not stale)
        (org-agent-doctor--found "ok" "compiled" "no compiled file is older than its source")
      (org-agent-doctor--found
       "warn" "compiled"
       (format "%s compiled before the source was changed"
               (mapconcat #'file-name-nondirectory stale ", "))
       "what runs may not be what is there"
       "delete the old compiled files; restart Emacs after it"
       (lambda ()
         (dolist (source stale)
           (delete-file (concat source "c"))))))))

(defun org-agent-doctor--variables ()
  "Check variables that make the agent slow or unsafe."
  (append
   (if (eq org-confirm-babel-evaluate t)
       (org-agent-doctor--found "ok" "babel" "Org asks before it evaluates code")
     (org-agent-doctor--found
      "warn" "babel" "`org-confirm-babel-evaluate' is not t: Org evaluates code without a question"
      "in conversations it asks all the same; text that you copy elsewhere is not asked about"
      "set it to t for this session"
      (lambda () (setq org-confirm-babel-evaluate t))))
   (if (>= read-process-output-max 65536)
       (org-agent-doctor--found "ok" "speed" (format "read-process-output-max is %d" read-process-output-max))
     (org-agent-doctor--found
      "warn" "speed" (format "read-process-output-max is %d: long answers are slower"
                             read-process-output-max)
      "(setq read-process-output-max (* 256 1024)) in your init file"
      "set it for this session"
      (lambda () (setq read-process-output-max (* 256 1024)))))
   (when (> gc-cons-threshold (* 512 1024 1024))
     (org-agent-doctor--found
      "warn" "garbage" (format "gc-cons-threshold is %d: Emacs will stop for long when it collects" gc-cons-threshold)
      "some megabytes are enough; while the kernel talks more is taken by itself"))))

(defun org-agent-doctor--connection ()
  "Check the connection to the kernel."
  (pcase org-agent-kernel-state
    ('ready (org-agent-doctor--found
             "ok" "kernel" (format "this Emacs is connected to version %s"
                                   (plist-get org-agent-kernel-server :version))))
    ('none (org-agent-doctor--found "ok" "kernel" "this Emacs has not asked for a kernel yet"))
    ('stopped (org-agent-doctor--found "ok" "kernel" "the kernel was stopped on purpose"))
    (_ (org-agent-doctor--found
        "warn" "kernel" (format "this Emacs is not connected (%s): %s"
                                org-agent-kernel-state
                                (or org-agent-kernel-trouble "it is being looked for"))
        "the text below says why"))))

(defun org-agent-doctor--auto-saves ()
  "Look for files that a killed Emacs left beside conversations."
  (let* ((directory (expand-file-name "sessions" (org-agent-home-directory)))
         (left (and (file-directory-p directory)
                    (directory-files directory t "\\`\\(?:#.*#\\|\\.#.*\\)\\'"))))
    (cl-mapcan
     (lambda (file)
       (org-agent-doctor--found
        "warn" "left" (format "Emacs left %s" (abbreviate-file-name file))
        "the conversation's file has what was sent; look whether a draft is in it before you delete it"
        "delete it" (lambda () (delete-file file))))
     (cl-remove-if (lambda (file)
                     ;; The lock of a running Emacs is not left over.
                     (and (string-prefix-p ".#" (file-name-nondirectory file))
                          (file-locked-p
                           (expand-file-name (substring (file-name-nondirectory file) 2)
                                             directory))))
                   left))))

(defun org-agent-doctor--duplicates ()
  "Look for ids that several headings of a conversation have."
  (cl-mapcan
   (lambda (buffer)
     (with-current-buffer buffer
       (let ((twice (org-agent-doctor--twice)))
         (when twice
           (org-agent-doctor--found
            "warn" "ids"
            (format "in %s %s %s an id that another has, as after copying a subtree"
                    (buffer-name) (org-agent-counted (length twice) "heading")
                    (if (cdr twice) "have" "has"))
            "what belongs to an id may go to the wrong place"
            "take the id from all but the first of each"
            (lambda () (org-agent-doctor--single buffer)))))))
   (org-agent-chat-buffers)))

(defun org-agent-doctor--twice ()
  "Return the positions of `:ID:' lines that repeat an id, the last first."
  (let (seen found)
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (while (re-search-forward "^[ \t]*:ID:[ \t]+\\(\\S-+\\)[ \t]*$" nil t)
          (let ((id (match-string-no-properties 1)))
            (when (org-agent-doctor--in-drawer-p)
              (if (member id seen)
                  (push (line-beginning-position) found)
                (push id seen)))))))
    found))

(defun org-agent-doctor--in-drawer-p ()
  "Return non-nil when point is on a property of a heading's own drawer."
  (save-excursion
    (forward-line 0)
    (while (and (not (bobp)) (looking-at-p "[ \t]*:[^:\n]+:\\(?:[ \t]\\|$\\)")
                (not (looking-at-p "[ \t]*:PROPERTIES:[ \t]*$")))
      (forward-line -1))
    (and (looking-at-p "[ \t]*:PROPERTIES:[ \t]*$")
         (progn (forward-line -1)
                (looking-at-p "\\*+ \\|[ \t]*\\(?:CLOSED\\|DEADLINE\\|SCHEDULED\\):")))))

(defun org-agent-doctor--single (buffer)
  "Remove repeated ids from BUFFER, except the first ones, as one undo step."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (undo-boundary)
      (save-excursion
        (save-restriction
          (widen)
          (dolist (place (org-agent-doctor--twice))
            (goto-char place)
            (delete-region place (min (point-max) (1+ (line-end-position)))))))
      (undo-boundary))))

(provide 'org-agent-doctor)
;;; org-agent-doctor.el ends here
