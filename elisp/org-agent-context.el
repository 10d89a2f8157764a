;;; org-agent-context.el --- References to files and buffers in a message  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A message names the files, buffers, headings and images that are sent
;; along with it, as Org that a person can read and change:
;;
;;   * Which of the two is right?
;;   - Context: lines 3-9 of [[file:~/notes.org][notes.org]]
;;   - Context: [[id:2f1c…][Silk road]]
;;
;; Such a context line names one thing.  So does a link in the words to a
;; file, a directory, an image or a heading with an `:ID:', and `@NAME' for a
;; buffer or a file.  Nothing else is sent along.  Links within blocks are
;; quotations and do not count.
;;
;; A *reference* is a plist:
;;   `:type'    `file', `buffer' or `id'
;;   `:path'    a file name, a buffer's name or an ID
;;   `:heading' the title of a heading in it, or nil
;;   `:lines'   (FIRST . LAST), or nil for all of it
;;   `:span'    (BEG . END), markers around the text, or nil
;;   `:agreed'  non-nil when the person said that a secret may be sent
;;   `:listed'  non-nil if it is in a context line
;;   `:from' `:to'  its position in the text it was found in
;;
;; A conversation may have a project: the one that `org-agent-chat' was
;; called in, or the one that `org-agent-project-set' set.  The agent may
;; read there without asking.  The header line names the project.  Its
;; directory is sent with each message.  The kernel finds the project of it
;; by itself, and does not accept a home as a project.
;;
;; Behind each reference in the draft its size is shown, or the reason why
;; it cannot be sent.  The sizes are in overlays.  They are updated while
;; Emacs is idle, after a command that changed the conversation, without
;; reading files or accessing other machines.
;;
;; A connection to another machine may take long to open and may need a
;; password.  So neither the display of a draft nor sending a message opens
;; one.  Files on a machine without a connection are reported as such.
;; `org-agent-add' offers to connect.
;;
;; The kernel gets the text and the file's name with its machine, which it
;; does not take for a file of its own.

;;; Code:

(require 'cl-lib)
(require 'ol)
(require 'subr-x)
(require 'org-agent)
(require 'org-agent-heading)
(require 'org-agent-draft)

(declare-function org-agent-settings-preset-p "org-agent-settings")

;;;; Sizes and limits

(defface org-agent-context-size '((t :inherit shadow))
  "Face of the size after a reference in the draft."
  :group 'org-agent-context)

(defcustom org-agent-context-secret-names
  '("authinfo" "\\.netrc" "/\\.password-store/" "/\\.ssh/" "/\\.gnupg/"
    "\\.\\(?:gpg\\|asc\\|pem\\|key\\|p12\\|pfx\\|kdbx\\)\\'"
    "/\\.env\\(?:\\.[^/]*\\)?\\'" "/credentials[^/]*\\'" "\\*auth")
  "Files and buffers that are sent only after a question: regexps for names."
  :type '(repeat regexp)
  :group 'org-agent-context
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-context-text-limit (* 1024 1024)
  "The size in bytes of the largest text that is sent along.")

(defconst org-agent-context-image-limit (* 4 1024 1024)
  "The size in bytes of the largest image that is sent along.")

;;;###autoload
(defun org-agent-context-size (bytes)
  "Return BYTES, a number, in words, such as \"1.5 kB\"."
  (cond ((= bytes 1) "1 byte")
        ((< bytes 1000) (format "%d bytes" bytes))
        ((< bytes 1000000) (format "%.1f kB" (/ bytes 1000.0)))
        (t (format "%.1f MB" (/ bytes 1000000.0)))))

(defun org-agent-context-last-line (beg end)
  "Return the number of the line with the last character from BEG to END."
  (line-number-at-pos (max beg (1- end)) t))

(defun org-agent-context-bytes (item)
  "Return the number of bytes that ITEM sends along."
  (if-let* ((data (plist-get item :data)))
      (- (* 3 (/ (length data) 4)) (if (string-suffix-p "==" data) 2
                                     (if (string-suffix-p "=" data) 1 0)))
    (string-bytes (or (plist-get item :text) ""))))

(defcustom org-agent-context-links t
  "Non-nil means that links and `@NAME' in a message are references.
If nil only context lines, which `org-agent-add' makes, are."
  :type 'boolean
  :group 'org-agent-context
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-context--line-regexp "^[ \t]*- Context:[ \t]*\\(.*?\\)[ \t]*$"
  "Matches a context line; group 1 is its text.")

(defconst org-agent-context--size-regexp
  "\\`\\(?:, [0-9.]+ \\(?:bytes?\\|kB\\|MB\\)\\)?\\'"
  "Regexp that matches the text after the link in a context line.")

(defconst org-agent-context--lines-regexp
  "\\_<lines? \\([0-9]+\\)\\(?:-\\([0-9]+\\)\\)? of \\'"
  "Matches the line numbers before a link.")

(defconst org-agent-context--mention-regexp
  "\\(?:^\\|[ \t(]\\)\\(@\\([^][@ \t\n(){}\"',;!?]*[^][@ \t\n(){}\"',;:!?.]\\)\\)"
  "Matches a mention; group 1 is all of it and group 2 the name.")

;;;; Links to buffers

(org-link-set-parameters "org-agent-buffer"
                         :follow #'org-agent-context--follow
                         :export #'org-agent-context--export)

(defun org-agent-context--follow (name &optional _)
  "Show the buffer NAME, the target of a link."
  (pop-to-buffer (or (get-buffer name)
                     (user-error "There is no buffer %s any more" name))))

(defun org-agent-context--export (name description &rest _)
  "Return DESCRIPTION, or else NAME, as the export of a link to a buffer."
  (or description name))

;;;; Finding references

(defun org-agent-context-references (text)
  "Return the references in TEXT, in their order, each thing once."
  (let ((quoted (org-agent-context--quoted text))
        (found (org-agent-context--listed text)))
    (when org-agent-context-links
      (dolist (reference (append (org-agent-context--linked text)
                                 (org-agent-context--mentioned text)))
        (let ((from (plist-get reference :from)))
          (unless (or (cl-some (lambda (block) (< (car block) from (cdr block)))
                               quoted)
                      (cl-some (lambda (other)
                                 (<= (plist-get other :from) from
                                     (1- (plist-get other :to))))
                               found))
            (push reference found)))))
    (cl-remove-duplicates
     (sort found (lambda (a b) (< (plist-get a :from) (plist-get b :from))))
     :test #'org-agent-context-same-p :from-end t)))

(defun org-agent-context-same-p (a b)
  "Return non-nil when the references A and B name the same thing."
  (cl-every (lambda (key) (equal (plist-get a key) (plist-get b key)))
            '(:type :path :heading :lines)))

(defun org-agent-context--quoted (text)
  "Return the positions of blocks in TEXT, a list of (FROM . TO)."
  (let ((case-fold-search t) (start 0) blocks)
    (while (string-match "^[ \t]*#\\+begin_\\(\\S-+\\)" text start)
      (let ((from (match-beginning 0)))
        (setq start (if (string-match (format "^[ \t]*#\\+end_%s[ \t]*$"
                                              (regexp-quote (match-string 1 text)))
                                      text (match-end 0))
                        (match-end 0)
                      (length text)))
        (push (cons from start) blocks)))
    blocks))

(defun org-agent-context--listed (text)
  "Return the references of the context lines in TEXT.
A line with other words than a link is no context line."
  (let ((start 0) found)
    (while (string-match org-agent-context--line-regexp text start)
      (let* ((from (match-beginning 0)) (to (match-end 0))
             (line (match-string-no-properties 1 text))
             (known (get-text-property from 'org-agent-context text))
             (reference (save-match-data
                          (car (org-agent-context--linked line)))))
        (setq start to)
        (when (and reference
                   (= 0 (plist-get reference :from))
                   (string-match-p org-agent-context--size-regexp
                                   (substring line (plist-get reference :to))))
          (when (and known (equal (plist-get known :line) line))
            (setq reference (append (list :span (plist-get known :span)
                                          :agreed (plist-get known :agreed))
                                    reference)))
          (push (append (list :from from :to to :listed t)
                        (org-agent-context--without-position reference))
                found))))
    found))

(defun org-agent-context--without-position (reference)
  "Return REFERENCE without its position in the text."
  (cl-loop for (key value) on reference by #'cddr
           unless (memq key '(:from :to)) append (list key value)))

(defun org-agent-context--linked (text)
  "Return the references that the links in TEXT make."
  (let ((start 0) found)
    (while (string-match org-link-bracket-re text start)
      (let ((from (match-beginning 0)) (to (match-end 0))
            (link (org-link-unescape (match-string-no-properties 1 text))))
        (setq start to)
        (when-let* ((reference (org-agent-context-of-link link)))
          (let* ((line (cl-position ?\n text :end from :from-end t))
                 (before (substring text (if line (1+ line) 0) from))
                 (lines (and (string-match org-agent-context--lines-regexp before)
                             (let ((first (string-to-number (match-string 1 before))))
                               (cons first (if (match-string 2 before)
                                               (string-to-number (match-string 2 before))
                                             first)))))
                 (from (if lines
                           (- from (- (length before) (match-beginning 0)))
                         from))
                 (known (get-text-property from 'org-agent-context text)))
            (push (append (list :from from :to to)
                          (and lines (list :lines lines))
                          (and known
                               (equal (plist-get known :line)
                                      (substring-no-properties text from to))
                               (list :span (plist-get known :span)
                                     :agreed (plist-get known :agreed)))
                          reference)
                  found)))))
    (setq start 0)
    (while (string-match "\\(?:^\\|[ \t(]\\)\\(file:[^][ \t\n()<>]*[^][ \t\n()<>.,;:!?]\\)" text start)
      (setq start (match-end 0))
      (push (append (list :from (match-beginning 1) :to (match-end 1))
                    (org-agent-context-of-link (match-string-no-properties 1 text)))
            found))
    (nreverse found)))

(defun org-agent-context-of-link (link)
  "Return the reference to the target of LINK, or nil."
  (cond
   ((string-prefix-p "org-agent-buffer:" link)
    (list :type 'buffer :path (substring link (length "org-agent-buffer:"))))
   ((string-prefix-p "id:" link)
    (list :type 'id :path (car (split-string (substring link 3) "::"))))
   ((or (string-prefix-p "file:" link)
        (string-match-p "\\`\\(?:\\.\\.?/\\|~\\|/\\)" link))
    (let* ((path (string-remove-prefix "file:" link))
           (search (and (string-match "::\\(.*\\)\\'" path)
                        (match-string 1 path)))
           (path (if search (substring path 0 (match-beginning 0)) path)))
      (unless (string-empty-p path)
        (append (list :type 'file
                      :path (if (file-remote-p path) path
                              (expand-file-name path)))
                (and search (string-prefix-p "*" search)
                     (list :heading (string-trim (substring search 1))))))))))

(defun org-agent-context--mentioned (text)
  "Return the references that the mentions in TEXT make.
A name of nothing that exists is no mention."
  (let ((start 0) found)
    (while (string-match org-agent-context--mention-regexp text start)
      (let ((from (match-beginning 1)) (to (match-end 1))
            (name (match-string-no-properties 2 text)))
        (setq start to)
        (when-let* ((reference
                     (cond
                      ((org-agent-settings-preset-p name) nil)
                      ((string-match-p "\\`\\(?:\\.\\.?/\\|~/\\|/\\)" name)
                       (org-agent-context--mentioned-file name))
                      ((and (get-buffer name) (not (string-prefix-p " " name)))
                       (org-agent-context-of-buffer (get-buffer name))))))
          (push (append (list :from from :to to) reference) found))))
    found))

(defun org-agent-context--mentioned-file (name)
  "Return the reference to the file NAME if it exists, or nil.
A file on a connected machine is not checked before it is read."
  (let ((path (if (file-remote-p name) name (expand-file-name name))))
    (when (if (file-remote-p path)
              (org-agent-context-connected-p path)
            (file-exists-p path))
      (list :type 'file :path path))))

(defun org-agent-context-of-buffer (buffer)
  "Return the reference to BUFFER: to its file if it visits one."
  (with-current-buffer buffer
    (if buffer-file-name
        (list :type 'file
              :path (if (file-remote-p buffer-file-name) buffer-file-name
                      (expand-file-name buffer-file-name)))
      (list :type 'buffer :path (buffer-name)))))

;;;; Writing references

(defun org-agent-context-link (reference &optional description)
  "Return REFERENCE as text: a link with DESCRIPTION, after line numbers."
  (let ((path (plist-get reference :path)) (heading (plist-get reference :heading)))
    (concat
     (org-agent-context-lines-of reference)
     (org-link-make-string
      (pcase (plist-get reference :type)
        ('file (concat "file:" (org-agent-context-abbreviate path)
                       (and heading (concat "::*" heading))))
        ('buffer (concat "org-agent-buffer:" path))
        ('id (concat "id:" path)))
      (org-agent-context--one-line
       (or description (org-agent-context-name reference)))))))

(defun org-agent-context-lines-of (reference)
  "Return the words before the name of REFERENCE that say which of its lines."
  (pcase-let ((`(,first . ,last) (plist-get reference :lines)))
    (if (null first) ""
      (format (if (= first last) "line %d of " "lines %d-%d of ") first last))))

(defun org-agent-context-abbreviate (path)
  "Return the file name PATH, abbreviated if it is on this machine."
  (if (file-remote-p path) path (abbreviate-file-name path)))

(defun org-agent-context--one-line (text)
  "Return TEXT on one line, without brackets that would end a link."
  (replace-regexp-in-string "]]" "] ]" (string-trim (org-agent-one-line text))
                            t t))

(defun org-agent-context-name (reference)
  "Return a name for the target of REFERENCE."
  (let ((path (plist-get reference :path)))
    (or (plist-get reference :name) (plist-get reference :heading)
        (and (eq (plist-get reference :type) 'file)
             (if (directory-name-p path)
                 (concat (file-name-nondirectory (directory-file-name path)) "/")
               (file-name-nondirectory path)))
        path)))

(defun org-agent-context-line (link)
  "Return the context line with LINK, a string."
  (concat "- Context: " link "\n"))

(defun org-agent-context-without-lines (text)
  "Return TEXT without its context lines."
  (dolist (reference (org-agent-context--listed text)) ; the last one first
    (setq text (concat (substring text 0 (plist-get reference :from))
                       (string-remove-prefix
                        "\n" (substring text (plist-get reference :to))))))
  (string-trim-right text))

;;;; The draft

;;;###autoload
(defun org-agent-context-draft ()
  "Return (WORDS . REFERENCES) of the draft.
WORDS is its text without context lines, nil if there is none."
  (org-agent-heading-widely
    (let* ((start (org-agent-draft-start))
           (level (and start (org-agent-heading-level start)))
           (text (org-agent-draft-raw)))
      (cons (org-agent-draft-normalize
             (org-agent-context-without-lines (substring-no-properties text))
             (or level 1))
            (org-agent-context-references text)))))

(defcustom org-agent-context-show-delay 0.3
  "Seconds without a command after which sizes in the draft are updated."
  :type 'number
  :group 'org-agent-context
  :package-version '(org-agent . "0.1.0"))

(defvar-local org-agent-context--show-tick nil
  "The buffer's tick for which sizes are shown.")
(put 'org-agent-context--show-tick 'permanent-local t)

(defvar-local org-agent-context--show-timer nil
  "The timer that will update the sizes, or nil.")
(put 'org-agent-context--show-timer 'permanent-local t)

(defun org-agent-context--show-stop ()
  "Cancel the timer of this conversation."
  (when org-agent-context--show-timer
    (cancel-timer org-agent-context--show-timer)
    (setq org-agent-context--show-timer nil)))

;;;###autoload
(defun org-agent-context-show-soon ()
  "Update the sizes when Emacs is idle, if the text has changed."
  (unless (or org-agent-context--show-timer
              (eql org-agent-context--show-tick (buffer-chars-modified-tick)))
    (add-hook 'kill-buffer-hook #'org-agent-context--show-stop nil t)
    (setq org-agent-context--show-timer
          (run-with-idle-timer org-agent-context-show-delay nil
                               #'org-agent-context--show-now (current-buffer)))))

(defun org-agent-context--show-now (buffer)
  "Show the sizes in BUFFER, if it is live."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq org-agent-context--show-timer nil)
      (org-agent-context-show))))

(defun org-agent-context--show-gone (overlay after &rest _)
  "Delete OVERLAY, behind whose text something was typed, AFTER the change."
  (when after
    (delete-overlay overlay)))

(defun org-agent-context-show ()
  "Show the size of each reference in the draft after it.
A name that ends at point may still be typed, and has none."
  (setq org-agent-context--show-tick (buffer-chars-modified-tick))
  (let ((point (point)))
    (org-agent-heading-widely
      (org-agent-context--show-but point))))

(defun org-agent-context--show-but (point)
  "Show the sizes of references, but not of a name that ends at POINT."
  (when-let* ((start (org-agent-draft-start)))
    (remove-overlays start (point-max) 'org-agent-context t)
    (dolist (reference (ignore-errors
                         (org-agent-context-references
                          (buffer-substring start (point-max)))))
      (let ((beg (+ start (plist-get reference :from)))
            (end (+ start (plist-get reference :to))))
        (unless (and (= end point) (not (eq (char-before end) ?\])))
          (let ((overlay (make-overlay beg end)))
            (overlay-put overlay 'org-agent-context t)
            (overlay-put overlay 'evaporate t)
            (overlay-put overlay 'insert-behind-hooks '(org-agent-context--show-gone))
            (overlay-put overlay 'after-string
                         (propertize (concat " (" (org-agent-context--show-size reference)
                                             ")")
                                     'face 'org-agent-context-size))))))))

(defun org-agent-context--show-size (reference)
  "Return the size of the target of REFERENCE, or what else it will send."
  (let* ((span (plist-get reference :span))
         (path (plist-get reference :path))
         (buffer (pcase (plist-get reference :type)
                   ('buffer (get-buffer path))
                   ('file (org-agent-context-visiting path)))))
    (cond
     ((and span (buffer-live-p (marker-buffer (car span))))
      (org-agent-context--show-characters (car span) (cdr span)
                                          (marker-buffer (car span))))
     ((eq (plist-get reference :type) 'id) "the heading's subtree")
     ((plist-get reference :heading) "the heading's subtree")
     ((and buffer (not (plist-get reference :lines)))
      (org-agent-context--show-characters
       (with-current-buffer buffer (point-min))
       (with-current-buffer buffer (point-max)) buffer))
     ((eq (plist-get reference :type) 'buffer)
      (if buffer "its lines" "gone"))
     ((file-remote-p path)
      (format (if (org-agent-context-connected-p path) "on %s"
                "on %s, not connected: open it first")
              (org-agent-context-host path)))
     (t (org-agent-context--show-file path (plist-get reference :lines))))))

(defun org-agent-context--show-characters (beg end buffer)
  "Return the size of the text from BEG to END of BUFFER."
  (with-current-buffer buffer
    (save-restriction
      (widen)
      (org-agent-context-size (- (position-bytes end) (position-bytes beg))))))

(defun org-agent-context--show-file (path lines)
  "Return the size of the file PATH, of which LINES or all will be sent."
  (let* ((attributes (file-attributes (file-truename path)))
         (size (file-attribute-size attributes))
         (case-fold-search t))
    (cond
     ((null attributes) "not there")
     ((eq t (file-attribute-type attributes)) "a listing")
     ((not (file-regular-p path)) "no regular file")
     ((cl-some (lambda (regexp) (string-match-p regexp path))
               org-agent-context-secret-names)
      "a secret: asks first")
     (lines "its lines")
     ((> size (if (string-match-p "\\.\\(?:png\\|jpe?g\\|gif\\|webp\\)\\'" path)
                  org-agent-context-image-limit
                org-agent-context-text-limit))
      (concat (org-agent-context-size size) ": too large"))
     (t (org-agent-context-size size)))))

;;;; Files on other machines

(defun org-agent-context-connected-p (path)
  "Return non-nil when there is a connection to the machine that PATH is on."
  (and (file-remote-p path nil t) t))

(defun org-agent-context-silent-p (path)
  "Return non-nil when PATH is on a machine to which there is no connection.
PATH may be relative to the directory of this buffer."
  (let ((remote (or (file-remote-p path)
                    (and (not (file-name-absolute-p path))
                         (file-remote-p default-directory)))))
    (and remote (not (org-agent-context-connected-p remote)))))

(defun org-agent-context-host (path)
  "Return a name for the machine that PATH is on."
  (or (file-remote-p path 'host) (file-remote-p path) "this machine"))

(defun org-agent-context-visiting (path)
  "Return the buffer that visits PATH, or nil; do not access other machines.
A file on another machine is compared by its name."
  (if (file-remote-p path)
      (cl-find path (buffer-list)
               :key (lambda (buffer)
                      (buffer-local-value 'buffer-file-name buffer))
               :test #'equal)
    (find-buffer-visiting path)))

(defun org-agent-context-offer-connection (path)
  "Offer to connect to the machine that PATH is on, if that is needed."
  (when (and (org-agent-context-silent-p path)
             (not (org-agent-context-visiting path))
             (y-or-n-p (format "There is no connection to %s.  Connect to it? "
                               (org-agent-context-host path))))
    (condition-case err
        (file-attributes path)
      (file-error (user-error "No connection to %s: %s"
                              (org-agent-context-host path)
                              (error-message-string err))))))

;;;; The project

(defcustom org-agent-project-taken t
  "Non-nil means that `org-agent-chat' takes the project it is called in.
Outside of any project it leaves the conversation's project as it is."
  :type 'boolean
  :group 'org-agent-context
  :package-version '(org-agent . "0.1.0"))

(defvar-local org-agent-context-project nil
  "The directory of the project that this conversation may read, or nil.")
(put 'org-agent-context-project 'permanent-local t)

(defconst org-agent-context--project-signs '(".git" ".org-agent")
  "Files that make a directory a project; the kernel looks for the same.")

(defun org-agent-context-project-of (directory)
  "Return the project that DIRECTORY of this machine is in, or nil.
A directory that contains the home directory is no project."
  (unless (file-remote-p directory)
    (when-let* ((root (locate-dominating-file
                       directory
                       (lambda (parent)
                         (seq-some (lambda (sign)
                                     (file-exists-p (expand-file-name sign parent)))
                                   org-agent-context--project-signs)))))
      (let ((root (file-truename root)))
        (unless (or (equal root "/")
                    (string-prefix-p (file-name-as-directory root)
                                     (file-name-as-directory
                                      (file-truename "~"))))
          (file-name-as-directory root))))))

;;;###autoload
(defun org-agent-context-project-take (directory)
  "Make the project of DIRECTORY, if any, the project of this conversation."
  (when-let* ((project (and org-agent-project-taken directory
                            (org-agent-context-project-of directory))))
    (unless (equal project org-agent-context-project)
      (setq org-agent-context-project project)
      (force-mode-line-update)
      (message "The agent may read %s without asking here; %s changes that"
               (abbreviate-file-name project)
               (substitute-command-keys "\\[org-agent-project-set]")))))

;;;###autoload
(defun org-agent-project-set (directory)
  "Let the agent read the project of DIRECTORY without asking.
This applies to this conversation.  With a prefix argument, which makes
DIRECTORY nil, it has no project any more; only the projects of files that
are sent along can be read."
  (interactive
   (list (unless current-prefix-arg
           (read-directory-name "Project: " org-agent-context-project nil t)))
   org-agent-chat-mode)
  (unless (derived-mode-p 'org-agent-chat-mode)
    (user-error "A conversation has a project: call this in one"))
  (setq org-agent-context-project
        (when directory
          (or (org-agent-context-project-of directory)
              (user-error
               "%s is in no project below your home: neither .git nor .org-agent is in it or above it; an empty .org-agent makes it one"
               (abbreviate-file-name directory)))))
  (force-mode-line-update)
  (message (if org-agent-context-project "What is in %s is read without asking"
             "No project is read without asking")
           (and org-agent-context-project (abbreviate-file-name org-agent-context-project))))

(defun org-agent-context-project-event ()
  "Return the parameters of an event that name the project."
  (and org-agent-context-project (list :directory (directory-file-name org-agent-context-project))))

(provide 'org-agent-context)
;;; org-agent-context.el ends here
