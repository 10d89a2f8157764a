;;; org-agent-disk-copy.el --- What the file of a conversation has  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A conversation is saved with every turn, and it may have tens of
;; megabytes.  So that a turn costs what it adds and not all that was ever
;; said, the buffer of a conversation remembers what its file has: a copy
;; of the text, in a buffer that is not shown, and up to where its own
;; text is still that of the copy.
;;
;; What is remembered is never trusted alone.  A change that nobody told
;; of (some programs change buffers with `inhibit-modification-hooks') is
;; seen by the buffer's count of changes, one of the file by its status,
;; and then all is compared and written.  A person's own saving writes
;; all in any case.

;;; Code:

(require 'cl-lib)
(require 'org-agent-draft)
(require 'org-agent-undo)

(defvar org-agent-disk-copy-large 1000000
  "Of a text of more characters only the beginning is inserted at first.")

(defvar org-agent-disk-copy-whole 10000
  "Where a text differs from its file before this position, all is written.
Emacs makes a string of what it writes; with 260 kB in a conversation
three of them, one for each save of a turn, were a garbage collection.")

(defvar-local org-agent-disk-copy--copy nil
  "The buffer with what the file had when it was last read or written.")

(defvar-local org-agent-disk-copy--same 1
  "The position up to which this buffer has what the copy has.")

(defvar-local org-agent-disk-copy--tick nil
  "The buffer's count of changes after the last one that was noted.")

(defvar-local org-agent-disk-copy--status nil
  "What tells the file from one that was changed since; nil if unknown.")

;; Org restarts the mode when C-c C-c is pressed on a keyword.
(dolist (variable '(org-agent-disk-copy--copy org-agent-disk-copy--same
                                              org-agent-disk-copy--tick org-agent-disk-copy--status))
  (put variable 'permanent-local t))

;;;; Changes of the buffer

(defun org-agent-disk-copy-watch ()
  "Notice from now on where this buffer is changed."
  (add-hook 'before-change-functions #'org-agent-disk-copy--before nil t)
  (add-hook 'after-change-functions #'org-agent-disk-copy--after nil t)
  (add-hook 'kill-buffer-hook #'org-agent-disk-copy--forget nil t))

(defun org-agent-disk-copy--before (beg _end)
  "Notice that what stands behind BEG is about to be changed."
  (org-agent-disk-copy--check)
  (setq org-agent-disk-copy--same (min org-agent-disk-copy--same beg)))

(defun org-agent-disk-copy--after (beg _end _length)
  "Notice that what stands behind BEG was changed."
  (setq org-agent-disk-copy--same (min org-agent-disk-copy--same beg)
        org-agent-disk-copy--tick (buffer-chars-modified-tick)))

(defun org-agent-disk-copy--check ()
  "Take nothing for the same if the buffer changed and no change was noted."
  (unless (eql org-agent-disk-copy--tick (buffer-chars-modified-tick))
    (setq org-agent-disk-copy--same 1
          org-agent-disk-copy--tick (buffer-chars-modified-tick))))

(defun org-agent-disk-copy--forget ()
  "Forget what the file has; the buffer is killed."
  (unless (buffer-base-buffer)
    (when (buffer-live-p org-agent-disk-copy--copy)
      (kill-buffer org-agent-disk-copy--copy))
    (setq org-agent-disk-copy--copy nil)))

;;;; The copy

(defun org-agent-disk-copy--the-copy ()
  "Return the copy, an empty one if there was none."
  (unless (buffer-live-p org-agent-disk-copy--copy)
    (let ((copy (generate-new-buffer " *org-agent-saved*" t)))
      (with-current-buffer copy (setq buffer-undo-list t))
      (setq org-agent-disk-copy--copy copy
            org-agent-disk-copy--same 1
            org-agent-disk-copy--status nil)))
  org-agent-disk-copy--copy)

(defun org-agent-disk-copy-status (file)
  "Return what changes when FILE is changed, nil when there is no such file."
  (when-let* ((attributes (file-attributes (file-truename file))))
    (list (file-attribute-modification-time attributes)
          (file-attribute-size attributes)
          (file-attribute-inode-number attributes)
          (file-attribute-device-number attributes))))

(defun org-agent-disk-copy-insert-file (file)
  "Insert the text of FILE, if it exists, before point; do not visit it.
Nothing in it is evaluated, and no string is made of it."
  (when (file-exists-p file)
    (let ((coding-system-for-read 'utf-8-unix)
          (format-alist nil)
          (after-insert-file-functions nil))
      (insert-file-contents file))))

(defun org-agent-disk-copy-read (file)
  "Make what FILE has, nothing if there is none, what is saved."
  ;; First the status, then the text: what is written between counts.
  (let ((status (org-agent-disk-copy-status file)))
    (with-current-buffer (org-agent-disk-copy--the-copy)
      (erase-buffer)
      (org-agent-disk-copy-insert-file file))
    (setq org-agent-disk-copy--same 1
          org-agent-disk-copy--status status)))

(defun org-agent-disk-copy-begin ()
  "Insert what is saved into this buffer, which is empty.
Of a large text that is only what stands before the first heading: the
mode reads its settings there, and `org-agent-disk-copy-go-on' inserts the
rest, which it would only take time to look through."
  (let ((copy (org-agent-disk-copy--the-copy)))
    (org-agent-undo-off
      (insert-buffer-substring
       copy 1 (with-current-buffer copy
                (goto-char (point-min))
                (if (and (> (buffer-size) org-agent-disk-copy-large)
                         (re-search-forward "^\\*+ " nil t))
                    (match-beginning 0)
                  (point-max)))))))

(defun org-agent-disk-copy-go-on ()
  "Insert what `org-agent-disk-copy-begin' left out.
Return non-nil when that was something."
  (when-let* ((copy org-agent-disk-copy--copy))
    (let ((rest (1+ (buffer-size)))
          (end (1+ (buffer-size copy))))
      (when (< rest end)
        (save-excursion
          (goto-char (point-max))
          (org-agent-undo-off
            (let ((inhibit-modification-hooks t))
              (insert-buffer-substring copy rest end)))))
      (setq org-agent-disk-copy--same end
            org-agent-disk-copy--tick (buffer-chars-modified-tick))
      (< rest end))))

(defun org-agent-disk-copy-note (regions status)
  "Note that the file has what the buffer has but for REGIONS.
These are pairs (BEG . END) in order.  STATUS is that of the file with
this text; nil if it may have changed since."
  (org-agent-disk-copy--check)
  (save-restriction
    (widen)
    (let* ((source (current-buffer))
           (copy (org-agent-disk-copy--the-copy))
           (from (min org-agent-disk-copy--same (1+ (buffer-size copy))
                      (or (caar regions) (point-max))))
           (pieces (org-agent-disk-copy-pieces from regions)))
      (with-current-buffer copy
        (delete-region from (point-max))
        (goto-char (point-max))
        (pcase-dolist (`(,beg . ,end) pieces)
          (insert-buffer-substring-no-properties source beg end)))
      (setq org-agent-disk-copy--same (or (caar regions) (point-max))
            org-agent-disk-copy--status status))))

(defun org-agent-disk-copy-note-text (text)
  "Note that the file has TEXT, whatever the buffer has."
  (with-current-buffer (org-agent-disk-copy--the-copy)
    (erase-buffer)
    (insert text))
  (setq org-agent-disk-copy--same 1
        org-agent-disk-copy--status nil))

(defun org-agent-disk-copy-pieces (from regions)
  "Return what the buffer has behind FROM but for REGIONS, pairs (BEG . END)."
  (let (pieces)
    (pcase-dolist (`(,beg . ,end) regions)
      (push (cons from beg) pieces)
      (setq from end))
    (nreverse (cons (cons from (point-max)) pieces))))

;;;; Comparing

(defun org-agent-disk-copy-current-p (file)
  "Return non-nil when FILE was not changed since, and the buffer has its text."
  (and org-agent-disk-copy--status
       (equal org-agent-disk-copy--status (org-agent-disk-copy-status file))
       (= (buffer-size) (buffer-size (org-agent-disk-copy--the-copy)))
       (org-agent-disk-copy--same-p (1+ (buffer-size)))))

(defun org-agent-disk-copy--same-p (end)
  "Return non-nil when buffer and copy have the same text before END."
  (org-agent-disk-copy--check)
  (or (>= org-agent-disk-copy--same end)
      (org-agent-disk-copy--equal-p org-agent-disk-copy--copy
                                    org-agent-disk-copy--same end)))

(defun org-agent-disk-copy--equal-p (other beg end)
  "Return non-nil when the buffer OTHER has the same from BEG to END."
  (save-restriction
    (widen)
    (let ((case-fold-search nil))
      (zerop (compare-buffer-substrings (current-buffer) beg end
                                        other beg end)))))

(defun org-agent-disk-copy--body-end (buffer)
  "Return where in BUFFER the turns end and the draft begins."
  (with-current-buffer buffer
    (save-restriction
      (widen)
      (or (org-agent-draft-start) (point-max)))))

(defun org-agent-disk-copy-body-changed-p ()
  "Return non-nil when the turns in the buffer are not those that are saved."
  (let* ((copy (org-agent-disk-copy--the-copy))
         (end (org-agent-disk-copy--body-end (current-buffer))))
    (not (and (= end (org-agent-disk-copy--body-end copy))
              (org-agent-disk-copy--same-p end)))))

(defun org-agent-disk-copy-other-body-p (text)
  "Return non-nil when the turns of TEXT are not those that are saved."
  (let ((copy (org-agent-disk-copy--the-copy)))
    (with-temp-buffer
      (insert text)
      (let ((end (org-agent-disk-copy--body-end (current-buffer))))
        (not (and (= end (org-agent-disk-copy--body-end copy))
                  (org-agent-disk-copy--equal-p copy 1 end)))))))

;;;; Writing what was added

(defun org-agent-disk-copy-write-added (regions file temporary)
  "Write the buffer but for REGIONS to TEMPORARY, which is to become FILE.
What FILE has already is copied by the system.  Return nil when that
cannot be, or is not worth it; TEMPORARY may then have anything."
  (save-restriction
    (widen)
    (when-let* ((from (org-agent-disk-copy--added-from regions file)))
      (let* ((offset (1- (position-bytes from)))
             (pieces (org-agent-disk-copy-pieces from regions))
             (size (+ offset (org-agent-disk-copy--bytes pieces))))
        ;; Nothing can be cut off here: a text that became shorter is
        ;; written whole.
        (when (>= size (nth 1 org-agent-disk-copy--status))
          (copy-file file temporary t)
          (pcase-dolist (`(,beg . ,end) pieces)
            (write-region beg end temporary offset 'silent)
            (cl-incf offset (org-agent-disk-copy--bytes `((,beg . ,end)))))
          (and (equal org-agent-disk-copy--status (org-agent-disk-copy-status file))
               (equal size (file-attribute-size (file-attributes temporary)))))))))

(defun org-agent-disk-copy--added-from (regions file)
  "Return where the buffer begins to differ from FILE, or nil.
That is nil when it has to be written whole.  REGIONS do not count."
  (org-agent-disk-copy--check)
  (let ((from (min org-agent-disk-copy--same (or (caar regions) (point-max))))
        (copy org-agent-disk-copy--copy))
    (and (buffer-live-p copy)
         (> from org-agent-disk-copy-whole)
         (<= from (1+ (buffer-size copy)))
         org-agent-disk-copy--status
         (equal org-agent-disk-copy--status (org-agent-disk-copy-status file))
         ;; A byte of the file is one of the buffer.
         (eql (nth 1 org-agent-disk-copy--status)
              (with-current-buffer copy (1- (position-bytes (point-max)))))
         from)))

(defun org-agent-disk-copy--bytes (pieces)
  "Return how many bytes the buffer has in PIECES, pairs (BEG . END)."
  (cl-loop for (beg . end) in pieces
           sum (- (position-bytes end) (position-bytes beg))))

(provide 'org-agent-disk-copy)
;;; org-agent-disk-copy.el ends here
