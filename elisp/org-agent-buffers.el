;;; org-agent-buffers.el --- What stands in buffers, for the kernel  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The requests `emacs/buffers' and `emacs/read' ask which buffers there
;; are, and for some lines of one.  Private ones (`org-agent-private-p')
;; are not there, and of others what is kept from every model is not
;; (`org-agent-private-parts').  Nothing of a buffer is changed, and none
;; is made.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-private)

(defconst org-agent-buffers--characters 50000
  "Characters of a text that one answer has.")

(defconst org-agent-buffers--line 2000
  "Characters of a line that are told.")

(defconst org-agent-buffers--name 500
  "Characters of a name that are told.")

;;;; Which there are

(cl-defmethod org-agent-handle-request ((_method (eql 'emacs/buffers)) params)
  "Tell of the buffers that PARAMS ask for."
  (let ((match (plist-get params :match))
        (limit (or (plist-get params :limit) 100))
        (more 0)
        all)
    (org-agent-private-briefly
      (dolist (buffer (buffer-list))
        (unless (or (org-agent-private-p buffer)
                    (and match
                         (not (org-agent-buffers--match-p buffer match))))
          (if (>= (length all) limit)
              (cl-incf more)
            (push (org-agent-buffers--about buffer) all))))
      (list :buffers (nreverse all) :more more))))

(defun org-agent-buffers--match-p (buffer match)
  "Return non-nil when MATCH stands in the name of BUFFER or of its file."
  (let ((case-fold-search t) (regexp (regexp-quote match)))
    (or (string-match-p regexp (buffer-name buffer))
        (string-match-p regexp (or (buffer-file-name buffer) "")))))

(defun org-agent-buffers--about (buffer)
  "Return what is told of BUFFER."
  (with-current-buffer buffer
    (let ((file (org-agent-private-file buffer))
          (visited (buffer-file-name (buffer-base-buffer))))
      (append
       (list :name (org-agent-buffers--clip (buffer-name))
             :mode (symbol-name major-mode)
             :size (buffer-size)
             :modified (and visited (buffer-modified-p) t)
             :visible (and (get-buffer-window buffer 'visible) t)
             :read-only (and buffer-read-only t)
             :selected (eq buffer (window-buffer (selected-window)))
             :region (and mark-active (mark t) t))
       (cond (file (list :file file))
             (visited
              (list :remote (org-agent-buffers--clip visited))))))))

(defun org-agent-buffers--clip (name)
  "Return as much of NAME as is told, on a line."
  (truncate-string-to-width
   (replace-regexp-in-string "[[:cntrl:]]+" " " name)
   org-agent-buffers--name nil nil t))

;;;; Their text

(cl-defmethod org-agent-handle-request ((_method (eql 'emacs/read)) params)
  "Tell the lines of the buffer that PARAMS ask for."
  (let ((buffer (org-agent-buffers--find params)))
    (org-agent-private-briefly
      (append
       (list :of (org-agent-buffers--about buffer))
       (unless (plist-get params :about)
         (with-current-buffer buffer
           (save-excursion
             (save-match-data
               (if (plist-get params :region)
                   (org-agent-buffers--region)
                 (org-agent-buffers--lines (or (plist-get params :from) 1)
                                           (or (plist-get params :limit)
                                               1000)))))))))))

(defun org-agent-buffers--refuse (code format-string &rest arguments)
  "Refuse a request with CODE and the text of FORMAT-STRING and ARGUMENTS."
  (signal 'org-agent-rpc-error
          (list code (apply #'format format-string arguments))))

(defun org-agent-buffers--find (params)
  "Return the buffer that PARAMS name, or refuse."
  (let* ((name (plist-get params :buffer))
         (file (plist-get params :file))
         (buffer (cond (name (get-buffer name))
                       ((and file (not (file-remote-p file)))
                        (find-buffer-visiting file)))))
    (unless (and buffer (not (org-agent-private-p buffer)))
      ;; That a private one is there is not told either.
      (if name
          (org-agent-buffers--refuse
           -32003 "there is no buffer %s that could be read; emacs_buffers lists them" name)
        (org-agent-buffers--refuse
         -32003 "no buffer that could be read visits %s; the tool read reads files" file)))
    (let ((visited (org-agent-private-file buffer)))
      (when (if file (not (equal visited (file-truename file)))
              (and visited (plist-get params :unvisiting)))
        (org-agent-buffers--refuse
         -32004 "the buffer %s visits another file than it did when that was judged; make the call again"
         (buffer-name buffer))))
    buffer))

(defun org-agent-buffers--lines (from limit)
  "Return LIMIT lines of the current buffer, the first FROM, as a plist."
  (save-restriction
    (let ((narrowed (buffer-narrowed-p)))
      (widen)
      (goto-char (point-min))
      (let* ((total (line-number-at-pos (point-max) t))
             (total (if (and (> total 1) (eq (char-before (point-max)) ?\n))
                        (1- total) total))
             (parts (org-agent-private-parts))
             (left org-agent-buffers--characters)
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
                (let ((text (org-agent-buffers--text (point)
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

(defun org-agent-buffers--text (beg end)
  "Return the text from BEG to END, on a line, and not too long."
  (let ((text (org-agent-rpc-text
               beg (min end (+ beg org-agent-buffers--line)))))
    (if (> (- end beg) org-agent-buffers--line)
        (format "%s … [%d more characters]" text
                (- end beg org-agent-buffers--line))
      text)))

(defun org-agent-buffers--region ()
  "Return what is marked in the current buffer, as a plist, or refuse."
  (unless (and mark-active (mark t))
    (org-agent-buffers--refuse -32003 "nothing is marked in %s" (buffer-name)))
  (let* ((beg (region-beginning))
         (end (region-end))
         (cut (min end (+ beg org-agent-buffers--characters)))
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

(provide 'org-agent-buffers)
;;; org-agent-buffers.el ends here
