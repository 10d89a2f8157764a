;;; org-agent-disk-copy-test.el --- Tests of saving the end of a file  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A large conversation is saved by writing its end.  After any history of
;; buffer and file, the file equals the buffer, byte for byte.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-answer)
(require 'org-agent-disk-copy)
(require 'org-agent-draft)
(require 'org-agent-file-owner)

(defvar org-agent-disk-copy-test--whole 0
  "How often a conversation was written whole.")

(defmacro org-agent-disk-copy-test--counting (&rest body)
  "Run BODY where every text is large; count what is written whole."
  (declare (indent 0) (debug t))
  `(let ((org-agent-disk-copy-large 20)
         (org-agent-disk-copy-whole 20)
         (org-agent-disk-copy-test--whole 0)
         (count (lambda (&rest _) (cl-incf org-agent-disk-copy-test--whole))))
     (unwind-protect
         (progn (advice-add 'org-agent-file-owner--write-without :before count)
                ,@body)
       (advice-remove 'org-agent-file-owner--write-without count))))

(defun org-agent-disk-copy-test--bytes (file)
  "Return the bytes of FILE."
  (with-temp-buffer
    (set-buffer-multibyte nil)
    (insert-file-contents-literally file)
    (buffer-string)))

(defun org-agent-disk-copy-test--check ()
  "Check that the file has what the buffer has but for what is being written."
  (let ((text (org-agent-fake-text)))
    (pcase-dolist (`(,beg . ,end) (reverse (org-agent-answer-regions)))
      (setq text (concat (substring text 0 (1- beg)) (substring text (1- end)))))
    (should (equal (org-agent-disk-copy-test--bytes buffer-file-name)
                   (encode-coding-string text 'utf-8-unix)))))

(ert-deftest org-agent-disk-copy-a-turn-is-added ()
  "A turn of a large conversation is written without writing the rest."
  (org-agent-disk-copy-test--counting
    (org-agent-fake-with-chat
      (org-agent-fake-say "First, caf\u00e9 \U0001f600")
      (let ((before org-agent-disk-copy-test--whole))
        (dotimes (i 5)
          (let ((question (org-agent-fake-say (format "Question %d \u4e16" i)))
                (id (format "a%d" i)))
            (org-agent-fake-delta question id 0 "** Half\nan ans")
            (org-agent-fake-settle)
            (org-agent-fake-type "dr\u00e4ft")
            (org-agent-file-owner-save)
            (org-agent-disk-copy-test--check)
            (org-agent-fake-act id question
                                (org-agent-fake-answer-text id "\u00c4nswer"))
            (org-agent-disk-copy-test--check)
            (delete-region (- (point-max) 5) (point-max))))
        (should (= org-agent-disk-copy-test--whole before)))
      ;; A person's own saving writes all.
      (let ((before org-agent-disk-copy-test--whole))
        (set-buffer-modified-p t)
        (save-buffer)
        (should (= org-agent-disk-copy-test--whole (1+ before)))
        (org-agent-disk-copy-test--check)))))

(ert-deftest org-agent-disk-copy-sees-what-nobody-told ()
  "Changes without hooks, in a clone, or of the file are noticed."
  (org-agent-disk-copy-test--counting
    (org-agent-fake-with-chat
      (org-agent-fake-say "A first question of some length")
      (org-agent-fake-say "A second question of some length")
      (dolist (change
               (list (lambda ()
                       (let ((inhibit-modification-hooks t))
                         (goto-char (point-min))
                         (search-forward "first")
                         (replace-match "FIRST")))
                     (lambda ()
                       (let ((inhibit-modification-hooks t))
                         (goto-char (point-min))
                         (search-forward "second")
                         (replace-match "SECOND"))
                       (org-agent-fake-type "told of"))
                     (lambda ()
                       (with-current-buffer
                           (make-indirect-buffer (current-buffer) "clone" t)
                         (goto-char (point-min))
                         (search-forward "FIRST")
                         (replace-match "in the clone")
                         (kill-buffer)))
                     (lambda ()
                       (org-agent-fake-type "raw \x3fff80 bytes"))
                     (lambda ()
                       (delete-region (- (point-max) 3) (point-max)))
                     (lambda ()
                       (goto-char (point-min))
                       (search-forward ":user:")
                       (insert "edited:"))))
        (funcall change)
        (org-agent-file-owner-save)
        (org-agent-disk-copy-test--check)
        (goto-char (point-max))
        (insert "more")
        (org-agent-file-owner-save)
        (org-agent-disk-copy-test--check)))))

(ert-deftest org-agent-disk-copy-any-history ()
  "Random edits, saves and changes of the file by others give the same file."
  (dolist (seed '("one" "two" "three"))
    (random seed)
    (org-agent-disk-copy-test--counting
      (org-agent-fake-with-chat
        (org-agent-fake-say "The first question, long enough to be large")
        (let ((file buffer-file-name))
          (dotimes (_ 200)
            (pcase (random 8)
              ((or 0 1) (goto-char (1+ (random (point-max))))
               (insert (nth (random 4) '("x" "\u00e9\u00e9" "\U0001f600" "\n"))))
              (2 (let ((beg (1+ (random (point-max)))))
                   (delete-region beg (min (point-max) (+ beg (random 5))))))
              (3 (goto-char (point-max)) (insert "at the end"))
              (4 (let ((inhibit-modification-hooks (zerop (random 2))))
                   (goto-char (1+ (random (point-max))))
                   (insert "quiet")))
              (5 (set-file-times file (time-add nil (random 100)))
                 (org-agent-file-owner-save)
                 (unless org-agent-file-owner-trouble (org-agent-disk-copy-test--check)))
              (_ (org-agent-file-owner-save)
                 (unless org-agent-file-owner-trouble
                   (org-agent-disk-copy-test--check))))))))))

(ert-deftest org-agent-disk-copy-large-opens-whole ()
  "A large conversation opens with its settings, its text and its draft."
  (let ((org-agent-disk-copy-large 20))
    (org-agent-fake-with-chat
      (org-agent-fake-say "A question that is long enough")
      (goto-char (point-min))
      (insert "#+TODO: ASKED | KNOWN\n\n")
      (org-agent-file-owner-save)
      (let ((text (org-agent-fake-text))
            (copy org-agent-disk-copy--copy))
        (should (buffer-live-p copy))
        (kill-buffer)
        (should-not (buffer-live-p copy))
        (org-agent-chat)
        (should (equal (org-agent-fake-text) text))
        (should (member "KNOWN" org-done-keywords))
        (should (org-agent-draft-p (point)))
        (should-not (buffer-modified-p))
        (should (memq buffer-undo-list '(nil t)))))))

(provide 'org-agent-disk-copy-test)
;;; org-agent-disk-copy-test.el ends here
