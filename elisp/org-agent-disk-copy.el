;;; org-agent-disk-copy.el --- A copy of the text in a conversation's file  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A conversation is saved with every turn, and it may have tens of
;; megabytes.  So that the cost of a turn depends on the added text only,
;; the buffer keeps a copy of the text of its file in a hidden buffer, and
;; the position up to which its own text is equal to the copy.
;;
;; Both are verified before they are used.  A change without change hooks
;; (some programs bind `inhibit-modification-hooks') is noticed by the
;; buffer's tick, and a change of the file by its status.  Then the whole
;; text is compared and written.  A save by the person always writes the
;; whole text.

;;; Code:

(require 'cl-lib)
(require 'org-agent-draft)
(require 'org-agent-undo)

(defvar org-agent-disk-copy-large 1000000
  "The number of characters of a text that is inserted in two steps.")

(defvar org-agent-disk-copy-whole 10000
  "The whole text is written if it differs from its file before this position.
Emacs makes a string of the text that it writes.  In a conversation of
260 kB three such strings, one for each save of a turn, caused a garbage
collection.")

(defvar-local org-agent-disk-copy--copy nil
  "The buffer with the text of the file when it was last read or written.")

(defvar-local org-agent-disk-copy--same 1
  "The position up to which this buffer has the same text as the copy.")

(defvar-local org-agent-disk-copy--tick nil
  "The buffer's tick after the last change that was noted.")

(defvar-local org-agent-disk-copy--status nil
  "The status of the file with the text of the copy, nil if unknown.
See `org-agent-disk-copy-status'.")

;; Org restarts the mode when C-c C-c is pressed on a keyword.
(dolist (variable '(org-agent-disk-copy--copy org-agent-disk-copy--same
                                              org-agent-disk-copy--tick org-agent-disk-copy--status))
  (put variable 'permanent-local t))

;;;; Changes of the buffer

(defun org-agent-disk-copy-watch ()
  "Note from now on where this buffer is changed."
  (add-hook 'before-change-functions #'org-agent-disk-copy--before nil t)
  (add-hook 'after-change-functions #'org-agent-disk-copy--after nil t)
  (add-hook 'kill-buffer-hook #'org-agent-disk-copy--forget nil t))

(defun org-agent-disk-copy--before (beg _end)
  "Note that text after BEG is about to be changed."
  (org-agent-disk-copy--check)
  (setq org-agent-disk-copy--same (min org-agent-disk-copy--same beg)))

(defun org-agent-disk-copy--after (beg _end _length)
  "Note that text after BEG was changed."
  (setq org-agent-disk-copy--same (min org-agent-disk-copy--same beg)
        org-agent-disk-copy--tick (buffer-chars-modified-tick)))

(defun org-agent-disk-copy--check ()
  "If the buffer was changed without a note, regard no text as equal."
  (unless (eql org-agent-disk-copy--tick (buffer-chars-modified-tick))
    (setq org-agent-disk-copy--same 1
          org-agent-disk-copy--tick (buffer-chars-modified-tick))))

(defun org-agent-disk-copy--forget ()
  "Kill the copy, since the buffer is killed."
  (unless (buffer-base-buffer)
    (when (buffer-live-p org-agent-disk-copy--copy)
      (kill-buffer org-agent-disk-copy--copy))
    (setq org-agent-disk-copy--copy nil)))

;;;; The copy

(defun org-agent-disk-copy--the-copy ()
  "Return the copy, a new and empty one if there is none."
  (unless (buffer-live-p org-agent-disk-copy--copy)
    (let ((copy (generate-new-buffer " *org-agent-saved*" t)))
      (with-current-buffer copy (setq buffer-undo-list t))
      (setq org-agent-disk-copy--copy copy
            org-agent-disk-copy--same 1
            org-agent-disk-copy--status nil)))
  org-agent-disk-copy--copy)

(defun org-agent-disk-copy-status (file)
  "Return a status of FILE that changes with it, nil if FILE does not exist."
  (when-let* ((attributes (file-attributes (file-truename file))))
    (list (file-attribute-modification-time attributes)
          (file-attribute-size attributes)
          (file-attribute-inode-number attributes)
          (file-attribute-device-number attributes))))

(defun org-agent-disk-copy-insert-file (file)
  "Insert the text of FILE, if it exists, before point without visiting it.
Nothing in it is evaluated."
  (when (file-exists-p file)
    (let ((coding-system-for-read 'utf-8-unix)
          (format-alist nil)
          (after-insert-file-functions nil))
      (insert-file-contents file))))

(defun org-agent-disk-copy-read (file)
  "Read FILE into the copy, which is empty if FILE does not exist."
  ;; The status comes before the text, so that a write between the two is
  ;; noticed later.
  (let ((status (org-agent-disk-copy-status file)))
    (with-current-buffer (org-agent-disk-copy--the-copy)
      (erase-buffer)
      (org-agent-disk-copy-insert-file file))
    (setq org-agent-disk-copy--same 1
          org-agent-disk-copy--status status)))

(defun org-agent-disk-copy-begin ()
  "Insert the copy into this buffer, which is empty.
Of a large text insert only the part before the first heading, with the
settings that the mode reads.  `org-agent-disk-copy-go-on' inserts the rest,
which the mode would take long to search."
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
  "Insert the text that `org-agent-disk-copy-begin' left out.
Return non-nil if there was any."
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
  "Note that the file has the text of the buffer without REGIONS.
REGIONS are pairs (BEG . END) in order.  STATUS is the status of the file
with this text, nil if the file may have changed since."
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
  "Note that the file has TEXT, which the buffer may not have."
  (with-current-buffer (org-agent-disk-copy--the-copy)
    (erase-buffer)
    (insert text))
  (setq org-agent-disk-copy--same 1
        org-agent-disk-copy--status nil))

(defun org-agent-disk-copy-pieces (from regions)
  "Return the parts of the buffer after FROM without REGIONS.
Parts and regions are pairs (BEG . END)."
  (let (pieces)
    (pcase-dolist (`(,beg . ,end) regions)
      (push (cons from beg) pieces)
      (setq from end))
    (nreverse (cons (cons from (point-max)) pieces))))

;;;; Comparing

(defun org-agent-disk-copy-unchanged-p (file)
  "Return non-nil when FILE has the text of the copy for certain."
  (and org-agent-disk-copy--status
       (equal org-agent-disk-copy--status (org-agent-disk-copy-status file))))

(defun org-agent-disk-copy-current-p (file)
  "Return non-nil when FILE is unchanged and the buffer has its text."
  (and (org-agent-disk-copy-unchanged-p file)
       (= (buffer-size) (buffer-size (org-agent-disk-copy--the-copy)))
       (org-agent-disk-copy--same-p (1+ (buffer-size)))))

(defun org-agent-disk-copy--same-p (end)
  "Return non-nil when the buffer and the copy have the same text before END."
  (org-agent-disk-copy--check)
  (or (>= org-agent-disk-copy--same end)
      (org-agent-disk-copy--equal-p org-agent-disk-copy--copy
                                    org-agent-disk-copy--same end)))

(defun org-agent-disk-copy--equal-p (other beg end)
  "Return non-nil when the buffer OTHER has the same text from BEG to END."
  (save-restriction
    (widen)
    (let ((case-fold-search nil))
      (zerop (compare-buffer-substrings (current-buffer) beg end
                                        other beg end)))))

(defun org-agent-disk-copy--body-end (buffer)
  "Return the position in BUFFER where the turns end and the draft begins."
  (with-current-buffer buffer
    (save-restriction
      (widen)
      (or (org-agent-draft-start) (point-max)))))

(defun org-agent-disk-copy-draft ()
  "Return the draft in the copy, with its heading."
  (let ((copy (org-agent-disk-copy--the-copy)))
    (with-current-buffer copy
      (buffer-substring-no-properties (org-agent-disk-copy--body-end copy)
                                      (point-max)))))

(defun org-agent-disk-copy-body-changed-p ()
  "Return non-nil when the turns in the buffer differ from those in the copy."
  (let* ((copy (org-agent-disk-copy--the-copy))
         (end (org-agent-disk-copy--body-end (current-buffer))))
    (not (and (= end (org-agent-disk-copy--body-end copy))
              (org-agent-disk-copy--same-p end)))))

(defun org-agent-disk-copy-other-body-p (text)
  "Return non-nil when the turns of TEXT differ from those in the copy."
  (let ((copy (org-agent-disk-copy--the-copy)))
    (with-temp-buffer
      (insert text)
      (let ((end (org-agent-disk-copy--body-end (current-buffer))))
        (not (and (= end (org-agent-disk-copy--body-end copy))
                  (org-agent-disk-copy--equal-p copy 1 end)))))))

;;;; Writing the added text

(defun org-agent-disk-copy-write-added (regions file temporary)
  "Write the buffer without REGIONS to TEMPORARY, which is to become FILE.
The text that FILE has already is copied by the system.  Return nil when
that is not possible or not faster; the content of TEMPORARY is then
undefined."
  (save-restriction
    (widen)
    (when-let* ((from (org-agent-disk-copy--added-from regions file)))
      (let* ((offset (1- (position-bytes from)))
             (pieces (org-agent-disk-copy-pieces from regions))
             (size (+ offset (org-agent-disk-copy--bytes pieces))))
        ;; The copied file cannot be shortened here, so a text that became
        ;; shorter is written as a whole.
        (when (>= size (nth 1 org-agent-disk-copy--status))
          (copy-file file temporary t)
          (pcase-dolist (`(,beg . ,end) pieces)
            (write-region beg end temporary offset 'silent)
            (cl-incf offset (org-agent-disk-copy--bytes `((,beg . ,end)))))
          (and (equal org-agent-disk-copy--status (org-agent-disk-copy-status file))
               (equal size (file-attribute-size (file-attributes temporary)))))))))

(defun org-agent-disk-copy--added-from (regions file)
  "Return the position where the buffer begins to differ from FILE.
REGIONS do not count.  Return nil when the whole text has to be written."
  (org-agent-disk-copy--check)
  (let ((from (min org-agent-disk-copy--same (or (caar regions) (point-max))))
        (copy org-agent-disk-copy--copy))
    (and (buffer-live-p copy)
         (> from org-agent-disk-copy-whole)
         (<= from (1+ (buffer-size copy)))
         org-agent-disk-copy--status
         (equal org-agent-disk-copy--status (org-agent-disk-copy-status file))
         ;; Then positions in bytes are the same in the file and the buffer.
         (eql (nth 1 org-agent-disk-copy--status)
              (with-current-buffer copy (1- (position-bytes (point-max)))))
         from)))

(defun org-agent-disk-copy--bytes (pieces)
  "Return the number of bytes in PIECES of the buffer, pairs (BEG . END)."
  (cl-loop for (beg . end) in pieces
           sum (- (position-bytes end) (position-bytes beg))))

(provide 'org-agent-disk-copy)
;;; org-agent-disk-copy.el ends here
