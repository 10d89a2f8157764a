;;; org-agent-add.el --- Adding things to the next message  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-add' adds a context line to the draft of the conversation
;; used last.  The line names the region, the buffer, or the files or the
;; heading at point.  The person may edit or delete the line.  The text is
;; read when the message is sent (see org-agent-context-read.el); until
;; then a region moves with the edits around it.
;;
;; A file or an image that is dropped on a conversation, or an image that
;; is pasted into it, is added in the same way, wherever it was dropped.  A
;; web address becomes a link; nothing is fetched from it.
;;
;; An at sign in a draft and the name of something add that, too.  Completion
;; offers presets, the region, headings and buffers, and the directories
;; from which one comes to files.  What is chosen becomes a link.
;;
;; `org-agent-add-clipboard' adds the image in the clipboard, and
;; `org-agent-add-screenshot' a part of the screen that the person marks.
;; Programs of the system take the image, and Emacs does not wait for them.
;; In Emacs 29 and later `yank-media' also yanks a copied image into a
;; conversation.

;;; Code:

(require 'cl-lib)
(require 'dnd)
(require 'org)
(require 'subr-x)
(require 'url-util)
(require 'org-agent-kernel)
(require 'org-agent-chat)
(require 'org-agent-command)
(require 'org-agent-context)
(require 'org-agent-context-read)
(require 'org-agent-draft)

(declare-function dired-get-marked-files "dired")
(declare-function org-agent-settings-preset-mentions "org-agent-settings")

;;;###autoload
(defun org-agent-add (&optional argument)
  "Add the region, the buffer or the thing at point to your next message.
Add the active region; in Dired the marked files; in an image buffer the
image; on a link to a file, a directory or a heading its target; in Org,
with a prefix ARGUMENT, the subtree; else this buffer.

A line in the draft of the conversation used last names it.  Its text is
read when the message is sent.  With two prefix arguments, or with one
outside Org, ask for the conversation."
  (interactive "P")
  (let* ((references (org-agent-add--references argument))
         (session (org-agent-add--session
                   (or (> (prefix-numeric-value argument) 4)
                       (and argument (not (derived-mode-p 'org-mode))))))
         (added (mapcar #'org-agent-add-checked references))
         (buffer (org-agent-chat-open session)))
    (with-current-buffer buffer
      (org-agent-chat-restore-draft)
      (pcase-dolist (`(,reference . ,_) added)
        (org-agent-add-line reference)))
    (when (region-active-p)
      (setq deactivate-mark t))
    (message "%s %s along with the next message in %s"
             (mapconcat (lambda (pair)
                          (format "%s%s (%s)"
                                  (org-agent-context-lines-of (car pair))
                                  (org-agent-context-name (car pair))
                                  (org-agent-context-size (cdr pair))))
                        added ", ")
             (if (cdr added) "go" "goes") (buffer-name buffer))))

(defun org-agent-add--session (ask)
  "Return the session whose conversation was used last; if ASK, read one."
  (if ask
      (org-agent-chat-read-session)
    (org-agent-chat-session-in-use)))

(defun org-agent-add-checked (reference)
  "Return (REFERENCE . BYTES) if the target of REFERENCE can be sent.
The result says that the person has agreed, so that a secret is not
asked about again."
  (when (eq (plist-get reference :type) 'file)
    (org-agent-context-offer-connection (plist-get reference :path)))
  (let ((item (org-agent-context-read reference)))
    (cons (append (list :agreed t) reference)
          (org-agent-context-bytes item))))

;;;; The thing at point

(defun org-agent-add--references (argument)
  "Return the references that `org-agent-add' with ARGUMENT adds."
  (cond
   ((use-region-p) (list (org-agent-add-region (region-beginning) (region-end))))
   ((derived-mode-p 'dired-mode) (org-agent-add--dired))
   ((and (derived-mode-p 'image-mode) buffer-file-name)
    (list (org-agent-context-of-buffer (current-buffer))))
   ((and argument (derived-mode-p 'org-mode)
         (= (prefix-numeric-value argument) 4))
    (list (org-agent-add-subtree)))
   ((org-agent-add--link))
   (org-agent-chat-session
    (user-error "This is the conversation itself; add from another buffer, from a region of this one or on a link"))
   (t (list (org-agent-context-of-buffer (current-buffer))))))

(defun org-agent-add-region (beg end)
  "Return the reference to the text from BEG to END."
  (append (org-agent-context-of-buffer (current-buffer))
          (list :lines (cons (line-number-at-pos beg t)
                             (org-agent-context-last-line beg end))
                :span (cons (copy-marker beg) (copy-marker end)))))

(defun org-agent-add--dired ()
  "Return the references to the marked files, or to the one at point."
  (mapcar (lambda (file)
            (list :type 'file
                  :path (if (and (not (org-agent-context-silent-p file))
                                 (file-directory-p file))
                            (file-name-as-directory file)
                          file)))
          (or (dired-get-marked-files nil nil nil nil)
              (user-error "There is no file here"))))

(defun org-agent-add-subtree ()
  "Return the reference to the subtree that point is in."
  (save-excursion
    (when (org-before-first-heading-p)
      (user-error "There is no heading here"))
    (org-back-to-heading t)
    (let ((id (org-entry-get nil "ID"))
          (heading (org-get-heading t t t t))
          (span (cons (point-marker)
                      (save-excursion (org-end-of-subtree t t) (point-marker)))))
      (when (string-empty-p heading)
        (user-error "The heading here has no words to know it by"))
      (append (if id (list :type 'id :path id :name heading)
                (append (org-agent-context-of-buffer (current-buffer))
                        (list :heading heading)))
              (list :span span)))))

(defun org-agent-add--link ()
  "Return a list of the reference to the target of the link at point, or nil.
Signal an error if the link leads to something that cannot be added."
  (let* ((context (and (derived-mode-p 'org-mode) (org-element-context)))
         (link (and (eq (org-element-type context) 'link)
                    (org-element-property :raw-link context))))
    (when link
      (list (or (org-agent-context-of-link link)
                (user-error "Nothing is read from %s; open it and add the buffer, or a region of it"
                            link))))))

;;;; The draft

(defun org-agent-add-file (file)
  "Add FILE to the next message in this conversation."
  (org-agent-chat-check-whole)
  (pcase-let ((`(,reference . ,bytes)
               (org-agent-add-checked (list :type 'file :path file))))
    (org-agent-chat-restore-draft)
    (org-agent-add-line reference)
    (message "%s (%s) is attached to the next message"
             (org-agent-context-name reference)
             (org-agent-context-size bytes))))

(defun org-agent-add-line (reference)
  "Add a line for REFERENCE at the end of the draft, unless there is one.
Point stays."
  (let* ((link (org-agent-context-link reference))
         (line (org-agent-context-line link)))
    (unless (cl-find reference (cdr (org-agent-context-draft))
                     :test #'org-agent-context-same-p)
      (save-excursion
        (save-restriction
          (widen)
          (goto-char (point-max))
          (unless (bolp) (insert "\n"))
          ;; On one character only, so that typed text does not inherit it.
          (put-text-property 0 1 'org-agent-context
                             (list :line link :span (plist-get reference :span)
                                   :agreed (plist-get reference :agreed))
                             line)
          (insert line))))))

;;;; Naming things with @

(defconst org-agent-add--mention-heading-limit 2000
  "The number of headings of a buffer that completion offers at most.")

;;;###autoload
(defun org-agent-add-mention-completion ()
  "Complete the name after an at sign in the draft.
This is for `completion-at-point-functions'."
  (let ((end (point)))
    (save-excursion
      (when (and (re-search-backward "\\(?:^\\|[ \t(]\\)@\\([^\n@]\\{0,100\\}\\)"
                                     (line-beginning-position) t)
                 (org-agent-draft-p (match-beginning 1))
                 (<= (match-beginning 1) end))
        (let* ((beg (match-beginning 1))
               (name (buffer-substring-no-properties beg end)))
          (unless (string-match-p "[])]" name)
            (if (string-match-p "\\`\\(?:\\.\\.?/\\|~\\|/\\)" name)
                (let ((table (if (org-agent-context-silent-p name)
                                 #'ignore
                               #'completion-file-name-table)))
                  (list beg end table
                        :exclusive (org-agent-command-exclusive name table)
                        :exit-function #'org-agent-add--mention-file-chosen))
              (let* ((known (org-agent-add--mention-known))
                     (table (org-agent-add--mention-table (mapcar #'car known))))
                (list beg end table
                      :exclusive (org-agent-command-exclusive name table)
                      :annotation-function
                      (lambda (name)
                        (concat "  " (cadr (assoc name known))))
                      :exit-function
                      (lambda (name status)
                        (cond ((directory-name-p name)
                               (org-agent-add--mention-go-on-soon))
                              ((org-agent-add--mention-chosen-p status)
                               (when-let* ((chosen (nth 2 (assoc name known))))
                                 (org-agent-add--mention-insert name chosen))))))))))))))

(defun org-agent-add--mention-table (names)
  "Return a completion table of NAMES, which keeps their order."
  (lambda (string predicate action)
    (if (eq action 'metadata)
        '(metadata (category . org-agent-add-mention)
                   (display-sort-function . identity)
                   (cycle-sort-function . identity))
      (complete-with-action action names string predicate))))

(defun org-agent-add--mention-known ()
  "Return the candidates of a mention: a list of (NAME ANNOTATION FUNCTION).
FUNCTION returns the reference."
  (let ((looked (org-agent-command-looked-at)) known)
    (when looked
      (with-current-buffer looked
        (when (and (mark t) (/= (mark t) (point)))
          (let ((beg (min (point) (mark t))) (end (max (point) (mark t))))
            (push (list "region"
                        (format "%s, from line %d" (buffer-name)
                                (line-number-at-pos beg t))
                        (lambda ()
                          (with-current-buffer looked
                            (org-agent-add-region beg end))))
                  known)))
        (when (derived-mode-p 'org-mode)
          (setq known (append (org-agent-add--mention-headings) known)))))
    (append (org-agent-settings-preset-mentions) known
            (org-agent-add--mention-directories looked)
            (org-agent-add--mention-buffers))))

(defun org-agent-add--mention-directories (looked)
  "Return candidates that lead to files, as for `org-agent-add--mention-known'.
LOOKED is the buffer that the person works in, or nil."
  (mapcar (lambda (directory)
            (list directory "its files" nil))
          (seq-uniq
           (mapcar (lambda (directory)
                     (file-name-as-directory (org-agent-context-abbreviate directory)))
                   (cl-remove-if-not
                    (lambda (directory)
                      (and directory (not (file-remote-p directory))))
                    (list org-agent-context-project
                          (and looked (buffer-local-value 'default-directory looked))
                          "~/"))))))

(defvar-local org-agent-add--mention-listed nil
  "The tick of the buffer when the files of a directory were listed last.")

(defun org-agent-add--mention-go-on-soon ()
  "List what is in the directory that was chosen, when that is done."
  (run-at-time 0 nil
               (lambda (buffer)
                 (when (eq buffer (window-buffer))
                   (with-current-buffer buffer
                     (org-agent-add-mention-go-on))))
               (current-buffer)))

(defvar org-agent-add--mention-in-place nil
  "Non-nil while Emacs's own completion completes the text before point.")

(defun org-agent-add--mention-chosen-p (status)
  "Return non-nil if STATUS, that of a completion, says that a name was chosen.
One that begins another name is exact.  Emacs's own completion says that
of what is only typed, and others of what a person chose."
  (or (eq status 'finished)
      (and (eq status 'exact) (not org-agent-add--mention-in-place))))

(defun org-agent-add--mention-directory-p ()
  "Return non-nil if the text before point is a mention of a directory."
  (looking-back "\\(?:^\\|[ \t(]\\)@\\(?:\\.\\.?\\|~[^/\n]*\\)?/\\(?:[^\n@]*/\\)?"
                (line-beginning-position)))

;;;###autoload
(defun org-agent-add-mention-in-region (function &rest arguments)
  "Have FUNCTION complete with ARGUMENTS, and go on in a directory.
FUNCTION is `completion-in-region-function'.  Nobody wants to wait for
two seconds while they are told that there is more than one file."
  (if (not (eq (default-value 'completion-in-region-function)
               #'completion--in-region))
      (apply function arguments)
    (prog1 (let ((org-agent-add--mention-in-place t)
                 (completion-show-inline-help
                  (and completion-show-inline-help
                       (not (org-agent-add--mention-directory-p)))))
             (apply function arguments))
      (org-agent-add-mention-go-on))))

(defun org-agent-add-mention-go-on ()
  "List what is in the directory before point, if its name is a mention.
If the files are listed already, Emacs scrolls the list.  Who completes
in another way than Emacs does sees the files anyway."
  (when (and (eq (default-value 'completion-in-region-function)
                 #'completion--in-region)
             completion-auto-help
             (not (and (eql org-agent-add--mention-listed (buffer-chars-modified-tick))
                       (get-buffer-window "*Completions*" 0)))
             (org-agent-add--mention-directory-p)
             (org-agent-add-mention-completion))
    (setq org-agent-add--mention-listed (buffer-chars-modified-tick))
    (completion-help-at-point)))

(defun org-agent-add--mention-headings ()
  "Return candidates for the headings of this buffer.
They are as for `org-agent-add--mention-known'."
  (let ((buffer (current-buffer)) (count 0) headings)
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (while (and (< count org-agent-add--mention-heading-limit)
                    (re-search-forward "^\\*+ " nil t))
          (let ((title (org-get-heading t t t t))
                (position (copy-marker (match-beginning 0))))
            (cl-incf count)
            (unless (string-empty-p title)
              (push (list (concat "*" (substring-no-properties title))
                          (buffer-name)
                          (lambda ()
                            (with-current-buffer buffer
                              (save-excursion
                                (goto-char position)
                                (org-agent-add-subtree)))))
                    headings))))))
    (nreverse headings)))

(defun org-agent-add--mention-buffers ()
  "Return candidates for buffers, as for `org-agent-add--mention-known'.
Files that are visited come first, those that one was in last before
others, and buffers of Emacs's own making come last."
  (cl-loop for buffer in (sort (buffer-list)
                               (lambda (a b)
                                 (< (org-agent-add--mention-rank a)
                                    (org-agent-add--mention-rank b))))
           unless (or (string-prefix-p " " (buffer-name buffer))
                      (buffer-local-value 'org-agent-chat-session buffer)
                      (org-agent-command-private-p buffer))
           collect (let ((buffer buffer))
                     (list (buffer-name buffer)
                           (if (buffer-file-name buffer)
                               (org-agent-context-abbreviate
                                (buffer-file-name buffer))
                             "buffer")
                           (lambda () (org-agent-context-of-buffer buffer))))))

(defun org-agent-add--mention-rank (buffer)
  "Return how late BUFFER is offered: the higher, the later."
  (cond ((buffer-file-name buffer) 0)
        ((string-prefix-p "*" (buffer-name buffer)) 2)
        (t 1)))

(defun org-agent-add--mention-insert (name function)
  "Replace NAME before point, and its at sign, by a link.
FUNCTION returns the reference that the link is made of."
  (let* ((end (point)) (beg (- end (length name) 1)))
    (when (and (>= beg (point-min)) (eq (char-after beg) ?@))
      (let* ((reference (funcall function))
             (link (org-agent-context-link reference)))
        (put-text-property 0 1 'org-agent-context
                           (list :line link :span (plist-get reference :span))
                           link)
        (delete-region beg end)
        (insert link)
        ;; What is typed next is no part of it.
        (cond ((looking-at-p "[ \t]") (forward-char))
              ((not (looking-at-p "[[:punct:]]")) (insert " ")))))))

(defun org-agent-add--mention-file-chosen (name status)
  "Replace the file name NAME by a link when STATUS says that it is chosen."
  (when (and (org-agent-add--mention-chosen-p status) (not (directory-name-p name)))
    (org-agent-add--mention-insert
     name (lambda ()
            (list :type 'file :path (if (file-remote-p name) name
                                      (expand-file-name name)))))))

;;;; Dropping files and images

;;;###autoload
(defun org-agent-add-drop-file (uri _action)
  "Add the dropped file URI to the next message.
Return `private', the value for a drop that was handled."
  (let ((file (or (dnd-get-local-file-name uri t)
                  (user-error "%s is no file of this machine" uri))))
    (org-agent-add-file (if (file-directory-p file)
                            (file-name-as-directory file)
                          file))
    'private))

;;;###autoload
(defun org-agent-add-drop-link (uri _action)
  "Insert the dropped link URI at the end of the draft; fetch nothing."
  (org-agent-chat-check-whole)
  (org-agent-chat-restore-draft)
  (save-excursion
    (save-restriction
      (widen)
      (goto-char (point-max))
      (insert (org-link-make-string uri) " ")))
  'private)

;;;###autoload
(defun org-agent-add-drop-image (_type data)
  "Add the pasted image DATA to the next message."
  (org-agent-add-image-add data))

;;;###autoload
(defun org-agent-add-drop-data (uri _action)
  "Add the image in the dropped data URI to the next message."
  (unless (string-match "\\`data:image/[-+.a-z0-9]+;base64," uri)
    (user-error "What was dropped is no image that can be sent"))
  (org-agent-add-image-add
   (condition-case nil
       (base64-decode-string (url-unhex-string (substring uri (match-end 0))))
     (error (user-error "The image that was dropped cannot be read"))))
  'private)

;;;; Images from the clipboard and the screen

(defcustom org-agent-image-clipboard-program
  '(("wl-paste" "--type" "image/png")
    ("xclip" "-selection" "clipboard" "-target" "image/png" "-out")
    ("pngpaste" "-"))
  "Programs that print the image in the clipboard.
Each is a list of a program and its arguments.  An argument %f stands for
a file that the program writes the image to.  The first program that is
installed is used; programs for Wayland or X need that display."
  :type '(repeat (cons (string :tag "Program")
                       (repeat :tag "Arguments" string)))
  :group 'org-agent-context
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-image-screenshot-program
  '(("grim" "-") ("maim" "--select") ("import" "png:-")
    ("gnome-screenshot" "--area" "--file" "%f") ("scrot" "--select" "%f")
    ("screencapture" "-i" "%f"))
  "Programs that print an image of a part of the screen.
The elements are as in `org-agent-image-clipboard-program'."
  :type '(repeat (cons (string :tag "Program")
                       (repeat :tag "Arguments" string)))
  :group 'org-agent-context
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-add--image-needs
  '(("wl-paste" . "WAYLAND_DISPLAY") ("grim" . "WAYLAND_DISPLAY")
    ("xclip" . "DISPLAY") ("maim" . "DISPLAY") ("import" . "DISPLAY")
    ("scrot" . "DISPLAY") ("gnome-screenshot" . "DISPLAY"))
  "An alist of programs and the environment variable that each needs.")

(defconst org-agent-add--image-timeout 120
  "Seconds that a program may take, in which a person may have to mark a part.")

(defun org-agent-add-image-add (data)
  "Add the image DATA to the next message in this conversation."
  (org-agent-add-file (org-agent-context-read-keep-image data)))

;;;; Commands

;;;###autoload
(defun org-agent-add-clipboard ()
  "Add the image in the clipboard to your next message."
  (interactive)
  (org-agent-add--image-from org-agent-image-clipboard-program
                             "the clipboard" "There is no image in it"))

;;;###autoload
(defun org-agent-add-screenshot ()
  "Add a part of the screen, which you mark, to your next message."
  (interactive)
  (when-let* ((command (org-agent-add--image-from org-agent-image-screenshot-program
                                                  "the screen" "Nothing was marked")))
    (message "%s: mark a part of the screen" (car command))))

(defun org-agent-add--image-usable-p (command)
  "Return non-nil when the program of COMMAND is installed and has a display."
  (let ((needs (cdr (assoc (file-name-nondirectory (car command))
                           org-agent-add--image-needs))))
    (and (or (null needs)
             (not (member (or (getenv needs (selected-frame)) (getenv needs))
                          '(nil ""))))
         (executable-find (car command)))))

;;;###autoload
(defun org-agent-add-image-clipboard-lacks ()
  "Return what is missing for images of the clipboard, or nil."
  (org-agent-add--image-lacks org-agent-image-clipboard-program
                              'org-agent-image-clipboard-program
                              "install wl-clipboard on Wayland or xclip on X"))

;;;###autoload
(defun org-agent-add-image-screenshot-lacks ()
  "Return what is missing for screenshots, or nil."
  (org-agent-add--image-lacks org-agent-image-screenshot-program
                              'org-agent-image-screenshot-program
                              "install grim on Wayland, maim or imagemagick on X"))

(defun org-agent-add--image-lacks (commands option advice)
  "Return what is missing when none of COMMANDS can be run, or nil.
COMMANDS is the value of OPTION; ADVICE says what to install."
  (unless (cl-some #'org-agent-add--image-usable-p commands)
    (if (or (eq system-type 'darwin)
            (cl-some (lambda (name)
                       (not (member (or (getenv name (selected-frame)) (getenv name))
                                    '(nil ""))))
                     '("DISPLAY" "WAYLAND_DISPLAY")))
        (format "No program for it is installed: %s, or set `%s'" advice option)
      (format "There is no screen that Emacs knows of (neither DISPLAY nor WAYLAND_DISPLAY is set); see `%s'"
              option))))

;;;; Running the programs

(defun org-agent-add--image-from (commands source none)
  "Add the image that the first usable command of COMMANDS takes from SOURCE.
Return that command.  NONE is the message for an empty output."
  (when-let* ((lacks (if (eq commands org-agent-image-clipboard-program)
                         (org-agent-add-image-clipboard-lacks)
                       (org-agent-add-image-screenshot-lacks))))
    (user-error "%s" lacks))
  (let* ((command (cl-find-if #'org-agent-add--image-usable-p commands))
         (buffer (org-agent-chat-open (org-agent-chat-session-in-use)))
         (directory (and (member "%f" command)
                         (make-temp-file "org-agent-image" t)))
         (file (and directory (expand-file-name "image.png" directory))))
    (org-agent-add--image-run
     (if file (cl-substitute file "%f" command :test #'equal) command)
     (lambda (data complaint)
       (unwind-protect
           (condition-case err
               (org-agent-add--image-took
                buffer (if file (org-agent-add--image-bytes file) data)
                (format "Nothing was taken from %s: %s%s" source none
                        (if complaint (format " (%s)" complaint) "")))
             (user-error (message "%s" (error-message-string err))))
         (when directory
           (ignore-errors (delete-directory directory t))))))
    command))

(defun org-agent-add--image-took (buffer data none)
  "Add the image DATA in the conversation BUFFER; show NONE if it is empty."
  (cond
   ((string-empty-p (or data "")) (message "%s" none))
   ((buffer-live-p buffer)
    (with-current-buffer buffer
      (org-agent-add-image-add data)))
   (t (message "The conversation is gone; the image was not added"))))

(defun org-agent-add--image-bytes (file)
  "Return the bytes of FILE, as many as an image may have and one, or nil."
  (when (file-exists-p file)
    (with-temp-buffer
      (set-buffer-multibyte nil)
      (insert-file-contents-literally
       file nil 0 (1+ org-agent-context-image-limit))
      (buffer-string))))

(defun org-agent-add--image-run (command done)
  "Run COMMAND; call DONE with its output and its last line of error output.
Kill it when the output is larger than an image may be."
  (let ((pieces nil) (bytes 0))
    (org-agent-kernel-start-program
     command
     (lambda (_process _output complaint)
       (funcall done (apply #'concat (nreverse pieces)) complaint))
     :coding 'no-conversion :timeout org-agent-add--image-timeout
     :filter (lambda (process piece)
               (push piece pieces)
               (when (> (cl-incf bytes (length piece))
                        org-agent-context-image-limit)
                 (delete-process process))))))

(provide 'org-agent-add)
;;; org-agent-add.el ends here
