;;; org-agent-context-read.el --- Reading what goes along with a message  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A reference is read when its message is sent: a buffer as it is then,
;; saved or not and as far as it is narrowed to, a file that nobody visits
;; from the disk, or from a machine to which there is a connection: none is
;; opened for it.  Nothing is cut: what is too large, no
;; text or gone is an error that says so, and secrets are asked about.
;;
;; The kernel is given the texts.  It opens no file because a message
;; names it.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org)
(require 'org-id)
(require 'org-agent-kernel)
(require 'org-agent-context)
(require 'org-agent-remote)

(defcustom org-agent-context-secret-names
  '("authinfo" "\\.netrc" "/\\.password-store/" "/\\.ssh/" "/\\.gnupg/"
    "\\.\\(?:gpg\\|asc\\|pem\\|key\\|p12\\|pfx\\|kdbx\\)\\'"
    "/\\.env\\(?:\\.[^/]*\\)?\\'" "/credentials[^/]*\\'" "\\*auth")
  "Files and buffers that are sent only after asking: regexps for their names."
  :type '(repeat regexp)
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-context-text-limit (* 1024 1024)
  "Bytes of one text that goes along.")

(defconst org-agent-context-image-limit (* 4 1024 1024)
  "Bytes of one image that goes along.")

(defconst org-agent-context-whole-limit (* 5 1024 1024)
  "Bytes of all that goes along with a message.")

(defconst org-agent-context-count-limit 64
  "How many things go along with a message.")

(defconst org-agent-context-listing-limit 500
  "Entries of a directory that are sent.")

(define-error 'org-agent-context-refused "Cannot go along" 'user-error)

(defun org-agent-context--refuse (format-string &rest arguments)
  "Signal that something cannot be sent; FORMAT-STRING and ARGUMENTS say why."
  (signal 'org-agent-context-refused
          (list (apply #'format-message format-string arguments))))

(defun org-agent-context-size (bytes)
  "Return BYTES as people say them."
  (cond ((= bytes 1) "1 byte")
        ((< bytes 1000) (format "%d bytes" bytes))
        ((< bytes 1000000) (format "%.1f kB" (/ bytes 1000.0)))
        (t (format "%.1f MB" (/ bytes 1000000.0)))))

(defmacro org-agent-context--in-file (file &rest body)
  "Run BODY where the Org FILE is, widened; without visiting it if nobody does."
  (declare (indent 1) (debug t))
  (let ((live (make-symbol "live")))
    `(let ((,live (org-agent-remote-visiting ,file)))
       (if ,live
           (with-current-buffer ,live
             (save-excursion (save-restriction (widen) ,@body)))
         (org-agent-context--with-local ,file
           (lambda (local)
             (with-temp-buffer
               (org-agent-context--insert-file local)
               (let ((org-inhibit-startup t) (enable-local-variables nil)
                     (buffer-file-name ,file))
                 (delay-mode-hooks (org-mode))
                 ,@body))))))))

(defun org-agent-context--with-local (path function)
  "Call FUNCTION with a file of this machine that has what PATH has.
One of another machine is fetched once; no connection is opened for it."
  (declare (indent 1))
  (if (not (file-remote-p path))
      (funcall function path)
    (unless (org-agent-remote-connected-p path)
      (org-agent-context--refuse
       "%s is on %s, to which there is no connection: open it there first"
       (file-name-nondirectory path) (org-agent-remote-host path)))
    (org-agent-context--within
     (file-name-nondirectory path)
     (or (file-attribute-size (file-attributes (file-truename path))) 0)
     org-agent-context-image-limit "send a region of it")
    (let ((local (file-local-copy path)))
      (unwind-protect (funcall function local)
        (ignore-errors (delete-file local))))))

;;;; One thing

(defun org-agent-context-read (reference)
  "Return what REFERENCE names as it is now, a plist for the kernel.
It has `:kind', `:name', `:place', `:mode' and `:text' or `:data'."
  (let ((span (plist-get reference :span)))
    (if (and span (buffer-live-p (marker-buffer (car span))))
        (org-agent-context--read-span reference (car span) (cdr span))
      (pcase (plist-get reference :type)
        ('file (org-agent-context--read-file reference))
        ('buffer (org-agent-context--read-buffer
                  reference
                  (or (get-buffer (plist-get reference :path))
                      (org-agent-context--refuse
                       "the buffer %s is gone" (plist-get reference :path)))))
        ('id (org-agent-context--read-id reference))))))

(defun org-agent-context--item (kind name place text &optional mode)
  "Return the item of KIND with NAME, PLACE, TEXT and MODE."
  (org-agent-context--within name (string-bytes text)
                             org-agent-context-text-limit
                             "send a region of it")
  (append (list :kind kind :name name :place place)
          (and mode (list :mode (symbol-name mode)))
          (list :text text)))

(defun org-agent-context--within (name bytes limit advice)
  "Refuse NAME when its BYTES are more than LIMIT; ADVICE says what to do."
  (when (> bytes limit)
    (org-agent-context--refuse
     "%s has %s, %s more than the %s that can be sent; %s" name
     (org-agent-context-size bytes) (org-agent-context-size (- bytes limit))
     (org-agent-context-size limit) advice)))

(defun org-agent-context--no-secret (name path reference)
  "Have the person agree that what is called NAME is sent from PATH.
Nothing is asked twice about REFERENCE.  The kernel's own directory
cannot be agreed to: whoever has its token can do what the person can."
  (let ((case-fold-search t)
        (names (delete-dups
                (delq nil (list path name
                                (and path (not (file-remote-p path))
                                     (file-name-absolute-p path)
                                     (file-truename path)))))))
    (when (and path (file-name-absolute-p path) (not (file-remote-p path))
               (file-in-directory-p path (org-agent-state-file "")))
      (org-agent-context--refuse
       "%s is not sent: the kernel's token is in its directory" name))
    (when (and (not (plist-get reference :agreed))
               (cl-some (lambda (regexp)
                          (cl-some (lambda (one) (string-match-p regexp one)) names))
                        org-agent-context-secret-names))
      (unless (yes-or-no-p
               (format "%s looks like a secret.  Send it to the model? " name))
        (org-agent-context--refuse "%s is a secret" name)))))

(defun org-agent-context--no-text-p ()
  "Return non-nil when what this buffer holds is not to be read as text."
  (or (minibufferp) (not enable-multibyte-characters)
      (derived-mode-p 'doc-view-mode 'archive-mode 'tar-mode 'pdf-view-mode
                      'hexl-mode)))

;;;; Buffers

(defun org-agent-context--read-buffer (reference buffer)
  "Return the item of REFERENCE, which names BUFFER or the file in it."
  (with-current-buffer buffer
    (org-agent-context--no-secret (buffer-name) buffer-file-name reference)
    (cond
     ((and (derived-mode-p 'image-mode) buffer-file-name
           (not (buffer-modified-p)))
      (let ((file buffer-file-name))
        (org-agent-context--with-local file
          (lambda (local) (org-agent-context--read-image file local)))))
     ((org-agent-context--no-text-p)
      (org-agent-context--refuse "%s holds no text" (buffer-name)))
     ((plist-get reference :heading)
      (org-agent-context--read-heading reference))
     ((plist-get reference :lines)
      (org-agent-context--read-lines reference))
     (t
      (org-agent-context--item
       (if buffer-file-name "file" "buffer")
       (org-agent-context-name reference)
       (concat (or (and buffer-file-name
                        (org-agent-context--abbreviate buffer-file-name))
                   "a buffer")
               (and (buffer-narrowed-p)
                    (format ", narrowed to lines %d-%d"
                            (line-number-at-pos (point-min) t)
                            (line-number-at-pos (point-max) t)))
               (and buffer-file-name (buffer-modified-p) ", not saved"))
       (org-agent-rpc-text (point-min) (point-max)) major-mode)))))

(defun org-agent-context--read-span (reference beg end)
  "Return the item of REFERENCE, the text from the marker BEG to END."
  (with-current-buffer (marker-buffer beg)
    (org-agent-context--no-secret (buffer-name) buffer-file-name reference)
    (when (= beg end)
      (org-agent-context--refuse "the text of %s that was meant is gone"
                                 (buffer-name)))
    (save-restriction
      (widen)
      (org-agent-context--item
       (if (plist-get reference :lines) "region" "subtree")
       (org-agent-context-name reference)
       (org-agent-context--lines-of beg end)
       (org-agent-rpc-text beg end) major-mode))))

(defun org-agent-context--lines-of (beg end)
  "Return which lines of this buffer stand from BEG to END, in words."
  (let ((first (line-number-at-pos beg t))
        (last (org-agent-context-last-line beg end)))
    (format "%s of %s"
            (if (= first last) (format "line %d" first)
              (format "lines %d-%d" first last))
            (if buffer-file-name (org-agent-context--abbreviate buffer-file-name)
              (concat "the buffer " (buffer-name))))))

(defun org-agent-context-last-line (beg end)
  "Return the line in which the text from BEG to END has its last character."
  (line-number-at-pos (max beg (1- end)) t))

(defun org-agent-context--read-lines (reference)
  "Return the item of REFERENCE, lines of this buffer."
  (save-excursion
    (save-restriction
      (widen)
      (pcase-let* ((`(,first . ,last) (plist-get reference :lines))
                   (beg (progn (goto-char (point-min))
                               (and (> first 0) (zerop (forward-line (1- first)))
                                    (not (eobp))
                                    (point)))))
        (unless (and beg (>= last first))
          (org-agent-context--refuse
           "%s has no lines %d-%d: there are %d"
           (org-agent-context-name reference) first last
           (line-number-at-pos (point-max) t)))
        (forward-line (- last first -1))
        (org-agent-context--item
         "region" (org-agent-context-name reference)
         (org-agent-context--lines-of beg (point))
         (org-agent-rpc-text beg (point)) major-mode)))))

(defun org-agent-context--read-heading (reference)
  "Return the item of REFERENCE, the subtree of a heading of this buffer."
  (let ((heading (plist-get reference :heading)))
    (save-excursion
      (save-restriction
        (widen)
        (goto-char
         (or (and (derived-mode-p 'org-mode)
                  (org-find-exact-headline-in-buffer heading nil t))
             (org-agent-context--refuse "%s has no heading \"%s\""
                                        (buffer-name) heading)))
        (org-agent-context--subtree heading)))))

(defun org-agent-context--subtree (name)
  "Return the item of the subtree at point, called NAME."
  (let ((beg (point)) (end (save-excursion (org-end-of-subtree t t) (point))))
    (org-agent-context--item "subtree" name
                             (org-agent-context--lines-of beg end)
                             (org-agent-rpc-text beg end) 'org-mode)))

(defun org-agent-context--read-id (reference)
  "Return the item of REFERENCE, the entry with an ID."
  (pcase (ignore-errors (org-agent-context--find-id (plist-get reference :path)))
    (`(,file . ,position)
     (org-agent-context--no-secret (file-name-nondirectory file) file reference)
     (org-agent-context--in-file file
       (goto-char position)
       (if (org-before-first-heading-p)
           (org-agent-context--item
            "file" (file-name-nondirectory file)
            (org-agent-context--abbreviate file)
            (org-agent-rpc-text (point-min) (point-max)) 'org-mode)
         (org-back-to-heading t)
         (org-agent-context--subtree (org-get-heading t t t t)))))
    (_ (org-agent-context--refuse "no heading has the ID %s"
                                  (plist-get reference :path)))))

(defun org-agent-context--find-id (id)
  "Return (FILE . POSITION) of the entry with the ID, nil when there is none.
Org visits the file: of one on a machine to which there is no connection
a buffer has to be there already."
  (let* ((file (org-id-find-id-file id))
         (buffer (and file (org-agent-remote-visiting file))))
    (when (or buffer (null file) (not (file-remote-p file))
              (org-agent-remote-connected-p file))
      (org-id-find id))))

;;;; Files

(defun org-agent-context--read-file (reference)
  "Return the item of REFERENCE, which names a file or something in one."
  (let* ((path (plist-get reference :path))
         (name (org-agent-context-name reference))
         (buffer (org-agent-remote-visiting path)))
    (cond
     (buffer (org-agent-context--read-buffer reference buffer))
     ((and (file-remote-p path) (not (org-agent-remote-connected-p path)))
      (org-agent-context--refuse
       "%s is on %s, to which there is no connection: open it there first"
       name (org-agent-remote-host path)))
     ((not (file-exists-p path))
      (org-agent-context--refuse "there is no file %s" path))
     ((progn (org-agent-context--no-secret name path reference) nil))
     ((file-directory-p path) (org-agent-context--read-directory name path))
     ((not (file-regular-p path))
      (org-agent-context--refuse "%s is no regular file" name))
     ((not (file-readable-p path))
      (org-agent-context--refuse "%s may not be read" name))
     ((plist-get reference :heading)
      (org-agent-context--in-file path
        (org-agent-context--read-heading reference)))
     (t
      (org-agent-context--with-local path
        (lambda (local)
          (if (org-agent-context--image-p local)
              (org-agent-context--read-image path local)
            (org-agent-context--read-text reference local))))))))

(defun org-agent-context--read-text (reference local)
  "Return the item of REFERENCE, a file with text, which LOCAL has."
  (let ((path (plist-get reference :path)))
    (with-temp-buffer
      (org-agent-context--insert-file local (file-name-nondirectory path))
      (setq major-mode (or (org-agent-context--mode path) 'text-mode))
      (let ((buffer-file-name path))
        (if (plist-get reference :lines)
            (org-agent-context--read-lines reference)
          (org-agent-context--item
           "file" (org-agent-context-name reference)
           (org-agent-context--abbreviate path)
           (org-agent-rpc-text (point-min) (point-max)) major-mode))))))

(defun org-agent-context--mode (path)
  "Return the major mode that the file PATH would have, or nil."
  (let ((mode (assoc-default (file-name-nondirectory path) auto-mode-alist
                             #'string-match)))
    (and mode (symbolp mode) mode)))

(defun org-agent-context--insert-file (path &optional called)
  "Insert the text of the file PATH, which is nobody's buffer.
It is CALLED so where that is not its own name."
  (let ((name (or called (file-name-nondirectory path))))
    (org-agent-context--within
     name (or (file-attribute-size (file-attributes path)) 0)
     org-agent-context-text-limit "open it and send a region of it")
    (when (org-agent-context--binary-p path)
      (org-agent-context--refuse "%s is no text" name))
    (let ((coding-system-for-read nil))
      (insert-file-contents path))))

(defun org-agent-context--binary-p (path)
  "Return non-nil when what the file PATH begins with is no text.
UTF-16 says so by its first bytes."
  (with-temp-buffer
    (set-buffer-multibyte nil)
    (insert-file-contents-literally path nil 0 8000)
    (goto-char (point-min))
    (and (not (looking-at "\xff\xfe\\|\xfe\xff"))
         (search-forward "\0" nil t)
         t)))

(defun org-agent-context--image-p (path)
  "Return the kind of image that the file PATH is, or nil."
  (with-temp-buffer
    (set-buffer-multibyte nil)
    (insert-file-contents-literally path nil 0 16)
    (org-agent-context-image-media (buffer-string))))

(defun org-agent-context-image-media (bytes)
  "Return the kind of image that begins with BYTES, or nil."
  (let ((case-fold-search nil))
    (pcase bytes
      ((rx bos "\x89PNG\r\n\x1a\n") "image/png")
      ((rx bos "\xff\xd8\xff") "image/jpeg")
      ((rx bos "GIF8" (any "79") "a") "image/gif")
      ((rx bos "RIFF" (= 4 anything) "WEBP") "image/webp"))))

(defun org-agent-context--read-image (path local)
  "Return the item of the image in the file PATH, which LOCAL has."
  (let ((name (file-name-nondirectory path))
        (media (or (org-agent-context--image-p local)
                   (org-agent-context--refuse
                    "%s is no PNG, JPEG, GIF or WebP image"
                    (file-name-nondirectory path)))))
    (org-agent-context--within
     name (or (file-attribute-size (file-attributes local)) 0)
     org-agent-context-image-limit "make it smaller")
    (list :kind "image" :name name :place (org-agent-context--abbreviate path)
          :media media
          :data (with-temp-buffer
                  (set-buffer-multibyte nil)
                  (insert-file-contents-literally local)
                  (base64-encode-region (point-min) (point-max) t)
                  (buffer-string)))))

(defun org-agent-context--read-directory (name path)
  "Return the item of the directory PATH called NAME: a listing, no contents."
  (let* ((entries (cl-remove-if (lambda (entry) (string-prefix-p "." (car entry)))
                                (directory-files-and-attributes path nil nil t)))
         (sorted (sort entries (lambda (a b) (string< (car a) (car b)))))
         (left (- (length sorted) org-agent-context-listing-limit)))
    (org-agent-context--item
     "directory" name (org-agent-context--abbreviate path)
     (concat
      (mapconcat (lambda (entry)
                   (pcase (file-attribute-type (cdr entry))
                     ('t (concat (car entry) "/\n"))
                     ((and (pred stringp) to) (format "%s -> %s\n" (car entry) to))
                     (_ (format "%s  %d\n" (car entry)
                                (file-attribute-size (cdr entry))))))
                 (seq-take sorted org-agent-context-listing-limit) "")
      (and (> left 0) (format "and %d more\n" left))))))

;;;; All that goes along

(defun org-agent-context-bytes (item)
  "Return how many bytes ITEM brings."
  (if-let ((data (plist-get item :data)))
      (- (* 3 (/ (length data) 4)) (if (string-suffix-p "==" data) 2
                                     (if (string-suffix-p "=" data) 1 0)))
    (string-bytes (or (plist-get item :text) ""))))

(defun org-agent-context-gather (references)
  "Return (ITEMS . LINES): what REFERENCES name as it is now, and what says so.
What a line lists and cannot be sent is an error.  Where it is linked in
the words the person says whether these are to go without it."
  (let ((whole 0) items lines)
    (dolist (reference references)
      (let ((item (condition-case refusal
                      (org-agent-context-read reference)
                    (org-agent-context-refused
                     (when (plist-get reference :listed)
                       (user-error "Nothing was sent: %s (delete its line to send without it)"
                                   (cadr refusal)))
                     (unless (y-or-n-p (format "Not to be sent: %s.  Send the message without it? "
                                               (cadr refusal)))
                       (user-error "Nothing was sent")))
                    (file-error
                     (user-error "Nothing was sent: %s"
                                 (error-message-string refusal))))))
        (when item
          (cl-incf whole (org-agent-context-bytes item))
          (push item items)
          (push (org-agent-context--said reference item) lines))))
    (when (> (length items) org-agent-context-count-limit)
      (user-error "Nothing was sent: %d things are to go along, %d more than can"
                  (length items)
                  (- (length items) org-agent-context-count-limit)))
    (when (> whole org-agent-context-whole-limit)
      (user-error "Nothing was sent: what is to go along has %s, %s more than can be sent"
                  (org-agent-context-size whole)
                  (org-agent-context-size (- whole org-agent-context-whole-limit))))
    (cons (nreverse items) (nreverse lines))))

(defun org-agent-context--said (reference item)
  "Return the line that says that ITEM, which REFERENCE names, went along."
  (let* ((span (plist-get reference :span))
         (reference
          (if (and span (plist-get reference :lines)
                   (buffer-live-p (marker-buffer (car span))))
              (with-current-buffer (marker-buffer (car span))
                (plist-put (copy-sequence reference) :lines
                           (cons (line-number-at-pos (car span) t)
                                 (org-agent-context-last-line (car span) (cdr span)))))
            reference)))
    (string-trim-right
     (org-agent-context-line
      (format "%s, %s"
              (org-agent-context-link reference (plist-get item :name))
              (org-agent-context-size (org-agent-context-bytes item)))))))

(provide 'org-agent-context-read)
;;; org-agent-context-read.el ends here
