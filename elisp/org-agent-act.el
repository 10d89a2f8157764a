;;; org-agent-act.el --- Actions and requests of the kernel that change no text  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Emacs shows a message or a file for the kernel.  The kernel's policy has
;; allowed each action before; the conditions here are checked again.
;;
;; The request `emacs/buffers' lists buffers, and `emacs/read' reads lines
;; of one.  The replies leave out private buffers (`org-agent-private-p')
;; and the private parts of other buffers (`org-agent-private-parts').  No
;; buffer is changed or created.
;;
;; When a tool has changed a file on the disk, the buffer that visits the
;; file is reverted; point, windows and undo stay as they were.  A buffer
;; with unsaved changes stays as it is.  Emacs asks about it when it is
;; saved.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-private)

(defconst org-agent-act--size-limit (* 16 1024 1024)
  "The size in bytes of the largest file that is opened for the kernel.")

;;;###autoload
(defun org-agent-act-message (params)
  "Show the text of PARAMS in the echo area, at most 200 columns of it."
  (message "%s" (org-agent-one-line (org-agent-kernel-text params) 200))
  (list :done t))

;;;###autoload
(defun org-agent-act-open (params)
  "Show the file of PARAMS in another window, at the line of PARAMS.
The file has to be a regular file below the home directory or in the
project of the current buffer.  Do not select the window or ask anything."
  (let* ((payload (plist-get params :payload))
         (line (plist-get payload :line))
         (file (org-agent-act--checked-file (plist-get payload :file)))
         (buffer (org-agent-act-visit file))
         (window (display-buffer buffer '(nil (inhibit-same-window . t)))))
    (when (and (integerp line) (> line 0))
      (with-current-buffer buffer
        (let ((position (save-excursion
                          (save-restriction
                            (widen)
                            (goto-char (point-min))
                            (forward-line (1- line))
                            (point)))))
          (when window (set-window-point window position)))))
    (list :done t)))

;;;###autoload
(defun org-agent-act-regular-file (file)
  "Return the real name of FILE, or refuse it.
It has to be a regular file of this machine that is not too large."
  (unless (and (stringp file) (file-name-absolute-p file))
    (org-agent-kernel-refuse "the act names no file with its whole path"))
  (when (or (file-remote-p file) (string-match-p "\\`/[^/]+:" file))
    (org-agent-kernel-refuse "%s is not a file of this machine" file))
  (let ((real (file-truename file)))
    (unless (file-regular-p real)
      (org-agent-kernel-refuse "%s is not a regular file" real))
    (when (> (file-attribute-size (file-attributes real))
             org-agent-act--size-limit)
      (org-agent-kernel-refuse "%s is too large to be opened unasked" real))
    real))

(defun org-agent-act--checked-file (file)
  "Return the real name of FILE, or refuse it.
It has to be below the person's home or in the project."
  (let ((real (org-agent-act-regular-file file)))
    (unless (cl-some (lambda (root) (org-agent-file-in-directory-p real root))
                     (org-agent-act--roots))
      (org-agent-kernel-refuse "%s is neither under your home nor in the project"
                               real))
    real))

(defun org-agent-act--roots ()
  "Return the directories whose files may be opened."
  (let ((project (and (not (file-remote-p default-directory))
                      (locate-dominating-file default-directory ".git"))))
    (cons (expand-file-name "~/")
          (and project (list (file-truename project))))))

(defun org-agent-act-visit (file)
  "Return a buffer that visits FILE; neither evaluate nor ask anything."
  (or (find-buffer-visiting file)
      (let ((enable-local-variables nil)
            (enable-dir-local-variables nil)
            (large-file-warning-threshold nil)
            (vc-follow-symlinks t)
            (find-file-hook nil))
        (find-file-noselect file t))))

;;;; Listing buffers

(defconst org-agent-act--buffers-characters 50000
  "The number of characters that one reply contains at most.")

(defconst org-agent-act--buffers-line 2000
  "The number of characters of a line that a reply contains at most.")

(defconst org-agent-act--buffers-name 500
  "The number of columns of a buffer's name that a reply contains at most.")

;;;###autoload
(defun org-agent-act-list-buffers (params)
  "Return descriptions of the buffers that PARAMS select."
  (let ((match (plist-get params :match))
        (limit (or (plist-get params :limit) 100))
        (more 0)
        all)
    (org-agent-private-briefly
      (dolist (buffer (buffer-list))
        (unless (or (org-agent-private-p buffer)
                    (and match
                         (not (org-agent-act--buffers-match-p buffer match))))
          (if (>= (length all) limit)
              (cl-incf more)
            (push (org-agent-act--buffers-about buffer) all))))
      (list :buffers (nreverse all) :more more))))

(defun org-agent-act--buffers-match-p (buffer match)
  "Return non-nil when the name of BUFFER or of its file contains MATCH."
  (let ((case-fold-search t) (regexp (regexp-quote match)))
    (or (string-match-p regexp (buffer-name buffer))
        (string-match-p regexp (or (buffer-file-name buffer) "")))))

(defun org-agent-act--buffers-about (buffer)
  "Return a description of BUFFER for the kernel, a plist."
  (with-current-buffer buffer
    (let ((file (org-agent-private-file buffer))
          (visited (buffer-file-name (buffer-base-buffer))))
      (append
       (list :name (org-agent-one-line (buffer-name) org-agent-act--buffers-name)
             :mode (symbol-name major-mode)
             :size (buffer-size)
             :modified (and visited (buffer-modified-p) t)
             :visible (and (get-buffer-window buffer 'visible) t)
             :read-only (and buffer-read-only t)
             :selected (eq buffer (window-buffer (selected-window)))
             :region (and mark-active (mark t) t))
       (cond (file (list :file file))
             (visited
              (list :remote (org-agent-one-line
                             visited org-agent-act--buffers-name))))))))

;;;; Reading buffers

;;;###autoload
(defun org-agent-act-read (params)
  "Return the lines, or the region, of the buffer that PARAMS name."
  (let ((buffer (org-agent-act--buffers-find params)))
    (org-agent-private-briefly
      (append
       (list :of (org-agent-act--buffers-about buffer))
       (unless (plist-get params :about)
         (with-current-buffer buffer
           (save-excursion
             (save-match-data
               (if (plist-get params :region)
                   (org-agent-act--buffers-region)
                 (org-agent-act--buffers-lines (or (plist-get params :from) 1)
                                               (or (plist-get params :limit)
                                                   1000)))))))))))

(defun org-agent-act--buffers-find (params)
  "Return the buffer that PARAMS name, or refuse."
  (let* ((name (plist-get params :buffer))
         (file (plist-get params :file))
         (buffer (cond (name (get-buffer name))
                       ((and file (not (file-remote-p file)))
                        (find-buffer-visiting file)))))
    (unless (and buffer (not (org-agent-private-p buffer)))
      ;; The reply is the same for a private buffer, so it hides that there is one.
      (if name
          (org-agent-rpc-refuse
           'not-found "there is no buffer %s that could be read; emacs_buffers lists them" name)
        (org-agent-rpc-refuse
         'not-found "no buffer that could be read visits %s; the tool read reads files" file)))
    (let ((visited (org-agent-private-file buffer)))
      (when (if file (not (equal visited (file-truename file)))
              (and visited (plist-get params :unvisiting)))
        (org-agent-rpc-refuse
         'conflict "the buffer %s visits another file than it did when that was judged; make the call again"
         (buffer-name buffer))))
    buffer))

(defun org-agent-act--buffers-lines (from limit)
  "Return at most LIMIT lines of the current buffer from line FROM on, a plist."
  (save-restriction
    (let ((narrowed (buffer-narrowed-p)))
      (widen)
      (goto-char (point-min))
      (let* ((total (line-number-at-pos (point-max) t))
             (total (if (and (> total 1) (eq (char-before (point-max)) ?\n))
                        (1- total) total))
             (parts (org-agent-private-parts))
             (left org-agent-act--buffers-characters)
             (line from)
             lines withheld)
        (when (= 0 (forward-line (1- from)))
          (while (and (not (eobp)) (> limit 0) (> left 0))
            (let ((part (org-agent-private-part-at (point) parts))
                  (first line))
              (if part
                  (progn
                    (cl-incf line (count-lines (point) (cdr part)))
                    (goto-char (cdr part))
                    (push (list :first first :last (1- line)) withheld))
                (let ((text (org-agent-act--buffers-text (point)
                                                         (line-end-position))))
                  (push text lines)
                  (cl-decf left (1+ (length text)))
                  (cl-decf limit)
                  (cl-incf line)
                  (forward-line))))))
        (append (list :from from :total total
                      :text (and lines
                                 (concat (string-join (nreverse lines) "\n") "\n"))
                      :narrow narrowed)
                (and withheld (list :withheld (nreverse withheld)))
                (unless (eobp) (list :next line)))))))

(defun org-agent-act--buffers-text (beg end)
  "Return the text from BEG to END, a line, shortened if it is long."
  (let ((text (org-agent-rpc-text
               beg (min end (+ beg org-agent-act--buffers-line)))))
    (if (> (- end beg) org-agent-act--buffers-line)
        (format "%s … [%d more characters]" text
                (- end beg org-agent-act--buffers-line))
      text)))

(defun org-agent-act--buffers-region ()
  "Return the region of the current buffer, a plist, or refuse."
  (unless (and mark-active (mark t))
    (org-agent-rpc-refuse 'not-found "nothing is marked in %s" (buffer-name)))
  (let* ((beg (region-beginning))
         (end (region-end))
         (cut (min end (+ beg org-agent-act--buffers-characters)))
         (from beg)
         texts withheld)
    (dolist (part (org-agent-private-parts))
      (let ((first (max from (car part)))
            (last (min cut (cdr part))))
        (when (< first last)
          (push (org-agent-rpc-text from first) texts)
          (push (list :first (line-number-at-pos first t)
                      :last (line-number-at-pos (1- last) t))
                withheld)
          (setq from last))))
    (push (org-agent-rpc-text from cut) texts)
    (append
     (list :from (line-number-at-pos beg t)
           :total (line-number-at-pos (point-max) t)
           :text (concat (string-join (nreverse texts))
                         (if (< cut end)
                             (format "\n[%d more characters are marked]" (- end cut))
                           "")))
     (and withheld (list :withheld (nreverse withheld))))))

;;;; Files that tools have changed

;;;###autoload
(defun org-agent-act-refresh-files (params)
  "Revert the buffers without changes that visit the files of PARAMS."
  (dolist (file (plist-get params :files))
    (when-let* ((buffer (find-buffer-visiting file)))
      (with-current-buffer buffer
        (unless (or (buffer-modified-p) (verify-visited-file-modtime))
          (org-agent-act--refresh-buffer))))))

(defun org-agent-act--refresh-buffer ()
  "Revert this buffer, unless that would ask a question."
  (condition-case err
      (let ((inhibit-message t)
            (inhibit-interaction t)
            (message-log-max nil)
            (revert-without-query '("")))
        (undo-boundary)
        (revert-buffer t t t)
        (undo-boundary))
    ((inhibited-interaction file-error)
     (org-agent-rpc-log "%s is not shown as it is now: %s"
                        buffer-file-name (error-message-string err)))))

(provide 'org-agent-act)
;;; org-agent-act.el ends here
