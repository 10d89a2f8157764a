;;; org-agent-context-read.el --- Read the files and buffers that a message names  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A reference is read when its message is sent.  Of a visited file the
;; accessible text of the buffer is read, saved or not.  Other files are
;; read from the disk, or from a machine with a connection; no connection is
;; opened.  Nothing is cut: a thing that is too large, no text or gone is an
;; error, and secrets are asked about.
;;
;; The kernel gets the texts.  It opens no file that a message names.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-id)
(require 'subr-x)
(require 'org-agent)
(require 'org-agent-rpc)
(require 'org-agent-context)

(defconst org-agent-context-read-whole-limit (* 5 1024 1024)
  "The size in bytes of all things together that a message sends at most.")

(defconst org-agent-context-read-count-limit 64
  "The number of things that a message sends at most.")

(defconst org-agent-context-read-listing-limit 500
  "The number of entries of a directory that are sent at most.")

(define-error 'org-agent-context-read-refused "Cannot go along" 'user-error)

(defun org-agent-context-read--refuse (format-string &rest arguments)
  "Signal that something cannot be sent; FORMAT-STRING and ARGUMENTS say why."
  (signal 'org-agent-context-read-refused
          (list (apply #'format-message format-string arguments))))

(defmacro org-agent-context-read--in-file (file &rest body)
  "Run BODY in a widened buffer with the text of the Org FILE.
That is the buffer that visits FILE, or else a temporary one."
  (declare (indent 1) (debug t))
  (let ((live (make-symbol "live")))
    `(let ((,live (org-agent-context-visiting ,file)))
       (if ,live
           (with-current-buffer ,live
             (save-excursion (save-restriction (widen) ,@body)))
         (org-agent-context-read--with-local ,file
           (lambda (local)
             (with-temp-buffer
               (org-agent-context-read--insert-file local)
               (let ((org-inhibit-startup t) (enable-local-variables nil)
                     (buffer-file-name ,file))
                 (delay-mode-hooks (org-mode))
                 ,@body))))))))

(defun org-agent-context-read--with-local (path function)
  "Call FUNCTION with a file of this machine with the content of PATH.
A file of another machine is copied; no connection is opened for it."
  (declare (indent 1))
  (if (not (file-remote-p path))
      (funcall function path)
    (unless (org-agent-context-connected-p path)
      (org-agent-context-read--refuse
       "%s is on %s, to which there is no connection: open it there first"
       (file-name-nondirectory path) (org-agent-context-host path)))
    (org-agent-context-read--within
     (file-name-nondirectory path)
     (or (file-attribute-size (file-attributes (file-truename path))) 0)
     org-agent-context-image-limit "send a region of it")
    (let ((local (file-local-copy path)))
      (unwind-protect (funcall function local)
        (ignore-errors (delete-file local))))))

;;;; One thing

(defun org-agent-context-read (reference)
  "Return the target of REFERENCE as it is now, a plist for the kernel.
It has `:kind', `:name', `:place', `:mode' and `:text' or `:data'."
  (let ((span (plist-get reference :span)))
    (if (and span (buffer-live-p (marker-buffer (car span))))
        (org-agent-context-read--read-span reference (car span) (cdr span))
      (pcase (plist-get reference :type)
        ('file (org-agent-context-read--read-file reference))
        ('buffer (org-agent-context-read--read-buffer
                  reference
                  (or (get-buffer (plist-get reference :path))
                      (org-agent-context-read--refuse
                       "the buffer %s is gone" (plist-get reference :path)))))
        ('id (org-agent-context-read--read-id reference))))))

(defun org-agent-context-read--item (kind name place text &optional mode)
  "Return the item of KIND with NAME, PLACE, TEXT and MODE."
  (org-agent-context-read--within name (string-bytes text)
                                  org-agent-context-text-limit
                                  "send a region of it")
  (append (list :kind kind :name name :place place)
          (and mode (list :mode (symbol-name mode)))
          (list :text text)))

(defun org-agent-context-read--within (name bytes limit advice)
  "Refuse NAME when it has more BYTES than LIMIT; ADVICE says what to do."
  (when (> bytes limit)
    (org-agent-context-read--refuse
     "%s has %s, %s more than the %s that can be sent; %s" name
     (org-agent-context-size bytes) (org-agent-context-size (- bytes limit))
     (org-agent-context-size limit) advice)))

(defun org-agent-context-read--no-secret (name path reference)
  "Ask the person before NAME, a secret in PATH, is sent.
Do not ask twice about REFERENCE.  Refuse files of the kernel's own
directory: its token gives access to all that the person can do."
  (let ((case-fold-search t)
        (names (delete-dups
                (delq nil (list path name
                                (and path (not (file-remote-p path))
                                     (file-name-absolute-p path)
                                     (file-truename path)))))))
    (when (and path (file-name-absolute-p path) (not (file-remote-p path))
               (org-agent-file-in-directory-p path (org-agent-state-file "")))
      (org-agent-context-read--refuse
       "%s is not sent: the kernel's token is in its directory" name))
    (when (and (not (plist-get reference :agreed))
               (cl-some (lambda (regexp)
                          (cl-some (lambda (one) (string-match-p regexp one)) names))
                        org-agent-context-secret-names))
      (unless (yes-or-no-p
               (format "%s looks like a secret.  Send it to the model? " name))
        (org-agent-context-read--refuse "%s is a secret" name)))))

(defun org-agent-context-read--no-text-p ()
  "Return non-nil when this buffer does not contain text."
  (or (minibufferp) (not enable-multibyte-characters)
      (apply #'derived-mode-p
             '(doc-view-mode archive-mode tar-mode pdf-view-mode hexl-mode))))

;;;; Buffers

(defun org-agent-context-read--read-buffer (reference buffer)
  "Return the item of REFERENCE, which names BUFFER or its file."
  (with-current-buffer buffer
    (org-agent-context-read--no-secret (buffer-name) buffer-file-name reference)
    (cond
     ((and (derived-mode-p 'image-mode) buffer-file-name
           (not (buffer-modified-p)))
      (let ((file buffer-file-name))
        (org-agent-context-read--with-local file
          (lambda (local) (org-agent-context-read--read-image file local)))))
     ((org-agent-context-read--no-text-p)
      (org-agent-context-read--refuse "%s contains no text" (buffer-name)))
     ((plist-get reference :heading)
      (org-agent-context-read--read-heading reference))
     ((plist-get reference :lines)
      (org-agent-context-read--read-lines reference))
     (t
      (org-agent-context-read--item
       (if buffer-file-name "file" "buffer")
       (org-agent-context-name reference)
       (concat (or (and buffer-file-name
                        (org-agent-context-abbreviate buffer-file-name))
                   "a buffer")
               (and (buffer-narrowed-p)
                    (format ", narrowed to lines %d-%d"
                            (line-number-at-pos (point-min) t)
                            (line-number-at-pos (point-max) t)))
               (and buffer-file-name (buffer-modified-p) ", not saved"))
       (org-agent-rpc-text (point-min) (point-max)) major-mode)))))

(defun org-agent-context-read--read-span (reference beg end)
  "Return the item of REFERENCE, the text from the marker BEG to END."
  (with-current-buffer (marker-buffer beg)
    (org-agent-context-read--no-secret (buffer-name) buffer-file-name reference)
    (when (= beg end)
      (org-agent-context-read--refuse "the text of %s that was meant is gone"
                                      (buffer-name)))
    (save-restriction
      (widen)
      (org-agent-context-read--item
       (if (plist-get reference :lines) "region" "subtree")
       (org-agent-context-name reference)
       (org-agent-context-read--lines-of beg end)
       (org-agent-rpc-text beg end) major-mode))))

(defun org-agent-context-read--lines-of (beg end)
  "Return the line numbers from BEG to END of this buffer, in words."
  (let ((first (line-number-at-pos beg t))
        (last (org-agent-context-last-line beg end)))
    (format "%s of %s"
            (if (= first last) (format "line %d" first)
              (format "lines %d-%d" first last))
            (if buffer-file-name (org-agent-context-abbreviate buffer-file-name)
              (concat "the buffer " (buffer-name))))))

(defun org-agent-context-read--read-lines (reference)
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
          (org-agent-context-read--refuse
           "%s has no lines %d-%d: there are %d"
           (org-agent-context-name reference) first last
           (line-number-at-pos (point-max) t)))
        (forward-line (- last first -1))
        (org-agent-context-read--item
         "region" (org-agent-context-name reference)
         (org-agent-context-read--lines-of beg (point))
         (org-agent-rpc-text beg (point)) major-mode)))))

(defun org-agent-context-read--read-heading (reference)
  "Return the item of REFERENCE, the subtree of a heading of this buffer."
  (let ((heading (plist-get reference :heading)))
    (save-excursion
      (save-restriction
        (widen)
        (goto-char
         (or (and (derived-mode-p 'org-mode)
                  (org-find-exact-headline-in-buffer heading nil t))
             (org-agent-context-read--refuse "%s has no heading \"%s\""
                                             (buffer-name) heading)))
        (org-agent-context-read--subtree heading)))))

(defun org-agent-context-read--subtree (name)
  "Return the item of the subtree at point, called NAME."
  (let ((beg (point)) (end (save-excursion (org-end-of-subtree t t) (point))))
    (org-agent-context-read--item "subtree" name
                                  (org-agent-context-read--lines-of beg end)
                                  (org-agent-rpc-text beg end) 'org-mode)))

(defun org-agent-context-read--read-id (reference)
  "Return the item of REFERENCE, the entry with an ID."
  (pcase (ignore-errors (org-agent-context-read--find-id (plist-get reference :path)))
    (`(,file . ,position)
     (org-agent-context-read--no-secret (file-name-nondirectory file) file reference)
     (org-agent-context-read--in-file file
       (goto-char position)
       (if (org-before-first-heading-p)
           (org-agent-context-read--item
            "file" (file-name-nondirectory file)
            (org-agent-context-abbreviate file)
            (org-agent-rpc-text (point-min) (point-max)) 'org-mode)
         (org-back-to-heading t)
         (org-agent-context-read--subtree (org-get-heading t t t t)))))
    (_ (org-agent-context-read--refuse "no heading has the ID %s"
                                       (plist-get reference :path)))))

(defun org-agent-context-read--find-id (id)
  "Return (FILE . POSITION) of the entry with the ID, or nil.
Org visits the file.  If that is on a machine without a connection, a
buffer has to visit it already."
  (let* ((file (org-id-find-id-file id))
         (buffer (and file (org-agent-context-visiting file))))
    (when (or buffer (null file) (not (file-remote-p file))
              (org-agent-context-connected-p file))
      (org-id-find id))))

;;;; Files

(defun org-agent-context-read--read-file (reference)
  "Return the item of REFERENCE, which names a file or something in one."
  (let* ((path (plist-get reference :path))
         (name (org-agent-context-name reference))
         (buffer (org-agent-context-visiting path)))
    (cond
     (buffer (org-agent-context-read--read-buffer reference buffer))
     ((and (file-remote-p path) (not (org-agent-context-connected-p path)))
      (org-agent-context-read--refuse
       "%s is on %s, to which there is no connection: open it there first"
       name (org-agent-context-host path)))
     ((not (file-exists-p path))
      (org-agent-context-read--refuse "there is no file %s" path))
     ((progn (org-agent-context-read--no-secret name path reference) nil))
     ((file-directory-p path) (org-agent-context-read--read-directory name path))
     ((not (file-regular-p path))
      (org-agent-context-read--refuse "%s is no regular file" name))
     ((not (file-readable-p path))
      (org-agent-context-read--refuse "%s may not be read" name))
     ((plist-get reference :heading)
      (org-agent-context-read--in-file path
        (org-agent-context-read--read-heading reference)))
     (t
      (org-agent-context-read--with-local path
        (lambda (local)
          (if (org-agent-context-read--image-p local)
              (org-agent-context-read--read-image path local)
            (org-agent-context-read--read-text reference local))))))))

(defun org-agent-context-read--read-text (reference local)
  "Return the item of REFERENCE, a text file whose content is in LOCAL."
  (let ((path (plist-get reference :path)))
    (with-temp-buffer
      (org-agent-context-read--insert-file local (file-name-nondirectory path))
      (setq major-mode (or (org-agent-context-read--mode path) 'text-mode))
      (let ((buffer-file-name path))
        (if (plist-get reference :lines)
            (org-agent-context-read--read-lines reference)
          (org-agent-context-read--item
           "file" (org-agent-context-name reference)
           (org-agent-context-abbreviate path)
           (org-agent-rpc-text (point-min) (point-max)) major-mode))))))

(defun org-agent-context-read--mode (path)
  "Return the major mode that the file PATH would have, or nil."
  (let ((mode (assoc-default (file-name-nondirectory path) auto-mode-alist
                             #'string-match)))
    (and mode (symbolp mode) mode)))

(defun org-agent-context-read--insert-file (path &optional called)
  "Insert the text of the file PATH without visiting it.
CALLED is its name for messages, by default its own."
  (let ((name (or called (file-name-nondirectory path))))
    (org-agent-context-read--within
     name (or (file-attribute-size (file-attributes path)) 0)
     org-agent-context-text-limit "open it and send a region of it")
    (when (org-agent-context-read--binary-p path)
      (org-agent-context-read--refuse "%s is no text" name))
    (let ((coding-system-for-read nil))
      (insert-file-contents path))))

(defun org-agent-context-read--binary-p (path)
  "Return non-nil when the beginning of the file PATH is no text.
UTF-16 is recognized by its first bytes."
  (with-temp-buffer
    (set-buffer-multibyte nil)
    (insert-file-contents-literally path nil 0 8000)
    (goto-char (point-min))
    (and (not (looking-at "\xff\xfe\\|\xfe\xff"))
         (search-forward "\0" nil t)
         t)))

(defun org-agent-context-read--image-p (path)
  "Return the media type of the image in the file PATH, or nil."
  (with-temp-buffer
    (set-buffer-multibyte nil)
    (insert-file-contents-literally path nil 0 16)
    (org-agent-context-read-image-media (buffer-string))))

(defun org-agent-context-read-image-media (bytes)
  "Return the media type of the image that begins with BYTES, or nil."
  (let ((case-fold-search nil))
    (pcase bytes
      ((rx bos "\x89PNG\r\n\x1a\n") "image/png")
      ((rx bos "\xff\xd8\xff") "image/jpeg")
      ((rx bos "GIF8" (any "79") "a") "image/gif")
      ((rx bos "RIFF" (= 4 anything) "WEBP") "image/webp"))))

(defun org-agent-context-read--read-image (path local)
  "Return the item of the image PATH, whose content is in LOCAL."
  (let ((name (file-name-nondirectory path))
        (media (or (org-agent-context-read--image-p local)
                   (org-agent-context-read--refuse
                    "%s is no PNG, JPEG, GIF or WebP image"
                    (file-name-nondirectory path)))))
    (org-agent-context-read--within
     name (or (file-attribute-size (file-attributes local)) 0)
     org-agent-context-image-limit "make it smaller")
    (list :kind "image" :name name :place (org-agent-context-abbreviate path)
          :media media
          :data (with-temp-buffer
                  (set-buffer-multibyte nil)
                  (insert-file-contents-literally local)
                  (base64-encode-region (point-min) (point-max) t)
                  (buffer-string)))))

(defun org-agent-context-read-keep-image (data)
  "Save DATA, the bytes of an image, and return its file.
Signal an error if DATA is no image or is too large to be sent."
  (when (> (length data) org-agent-context-image-limit)
    (user-error "The image has %s; %s can be sent"
                (org-agent-context-size (length data))
                (org-agent-context-size org-agent-context-image-limit)))
  (let* ((media (or (org-agent-context-read-image-media data)
                    (user-error "That is no PNG, JPEG, GIF or WebP image")))
         (directory (expand-file-name "sessions/images/"
                                      (org-agent-home-directory)))
         (file (expand-file-name
                (concat (substring (secure-hash 'sha256 data) 0 16) "."
                        (pcase media
                          ("image/jpeg" "jpg")
                          (_ (string-remove-prefix "image/" media))))
                directory))
         (coding-system-for-write 'no-conversion))
    (make-directory directory t)
    (unless (file-exists-p file)
      (with-file-modes #o600
        (write-region data nil file nil 'silent)))
    file))

(defun org-agent-context-read--read-directory (name path)
  "Return the item of the directory PATH called NAME: a listing."
  (let* ((entries (cl-remove-if (lambda (entry) (string-prefix-p "." (car entry)))
                                (directory-files-and-attributes path nil nil t)))
         (sorted (sort entries (lambda (a b) (string< (car a) (car b)))))
         (left (- (length sorted) org-agent-context-read-listing-limit)))
    (org-agent-context-read--item
     "directory" name (org-agent-context-abbreviate path)
     (concat
      (mapconcat (lambda (entry)
                   (pcase (file-attribute-type (cdr entry))
                     ('t (concat (car entry) "/\n"))
                     ((and (pred stringp) to) (format "%s -> %s\n" (car entry) to))
                     (_ (format "%s  %d\n" (car entry)
                                (file-attribute-size (cdr entry))))))
                 (seq-take sorted org-agent-context-read-listing-limit) "")
      (and (> left 0) (format "and %d more\n" left))))))

;;;###autoload
(defun org-agent-context-read-gather (references)
  "Return (ITEMS . LINES) of REFERENCES as they are now.
LINES are the context lines for ITEMS.  If a target cannot be sent, signal
an error, or ask whether to send without it if only the words name it."
  (let ((whole 0) items lines)
    (dolist (reference references)
      (let ((item (condition-case refusal
                      (org-agent-context-read reference)
                    (org-agent-context-read-refused
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
          (push (org-agent-context-read--line reference item) lines))))
    (when (> (length items) org-agent-context-read-count-limit)
      (user-error "Nothing was sent: %d things are to go along, %d more than can"
                  (length items)
                  (- (length items) org-agent-context-read-count-limit)))
    (when (> whole org-agent-context-read-whole-limit)
      (user-error "Nothing was sent: what is to go along has %s, %s more than can be sent"
                  (org-agent-context-size whole)
                  (org-agent-context-size (- whole org-agent-context-read-whole-limit))))
    (cons (nreverse items) (nreverse lines))))

(defun org-agent-context-read--line (reference item)
  "Return the context line for ITEM, which REFERENCE names."
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
