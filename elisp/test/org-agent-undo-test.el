;;; org-agent-undo-test.el --- Tests of undo beside streamed text  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A user edits around a text that streams in.  In any interleaving, undo
;; restores every state that the user saw, step by step, with the whole
;; streamed text in its place, and then removes that text in one step.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-undo)

(defvar org-agent-undo-test-runs 2000
  "Interleavings that are tried.")

(defvar org-agent-undo-test--stream nil
  "The streamed text: a list (RECORD BEG END), the last two are markers.")

(defun org-agent-undo-test--word (letter)
  "Return a random word of letters from LETTER on."
  (apply #'string (cl-loop repeat (1+ (random 6))
                           collect (+ letter (random 26)))))

(defun org-agent-undo-test--between (low high)
  "Return a random place from LOW to HIGH, both included."
  (+ low (random (1+ (- high low)))))

(defun org-agent-undo-test--state ()
  "Return the text before and the text after the streamed text."
  (pcase-let ((`(,_ ,beg ,end) org-agent-undo-test--stream))
    (cons (buffer-substring-no-properties (point-min) beg)
          (buffer-substring-no-properties end (point-max)))))

(defun org-agent-undo-test--streamed ()
  "Return the streamed text."
  (pcase-let ((`(,_ ,beg ,end) org-agent-undo-test--stream))
    (buffer-substring-no-properties beg end)))

(defun org-agent-undo-test--undo (first)
  "Undo one step; FIRST when the last command was not an undo."
  (let ((last-command (if first 'self-insert-command 'undo))
        (inhibit-message t))
    (undo-boundary)                     ; as the command loop makes one
    (undo)
    (undo-boundary)))

(defun org-agent-undo-test--edit ()
  "Make a random edit outside the streamed text, as one command."
  (pcase-let* ((`(,_ ,beg ,end) org-agent-undo-test--stream)
               (`(,low . ,high) (if (zerop (random 2))
                                    (cons (point-min) beg)
                                  (cons end (point-max)))))
    (goto-char (org-agent-undo-test--between low high))
    (pcase (random 6)
      (0 (delete-region (point) (min high (+ (point) (random 5)))))
      (1 (let ((from (max low (- (point) (random 5)))))
           (delete-region from (point))))
      (2 (put-text-property (max low (- (point) 3)) (point) 'mark (random 9)))
      (3 (let ((from (max low (- (point) 4))) (to (copy-marker (point))))
           (combine-change-calls from to
             (goto-char from)
             (insert (org-agent-undo-test--word ?A))
             (when (< (point) to) (delete-region (point) (1+ (point)))))))
      (_ (insert (org-agent-undo-test--word ?A))))
    (undo-boundary)))

(defun org-agent-undo-test--grow ()
  "Make a random change of the streamed text; it never becomes empty."
  (pcase-let* ((`(,record ,beg ,end) org-agent-undo-test--stream)
               (from (org-agent-undo-test--between beg (1- end)))
               (to (org-agent-undo-test--between (1+ from) end)))
    (pcase (random 6)
      (0 (org-agent-undo-test--replace record from to))
      (1 (org-agent-undo-test--replace record beg end))
      (2 (unless (and (= from beg) (= to end))
           (org-agent-undo-delete record from to)))
      (_ (let ((word (org-agent-undo-test--word ?a)))
           (org-agent-undo-insert record (marker-position end) word)
           (set-marker end (+ end (length word))))))))

(defun org-agent-undo-test--replace (record from to)
  "Replace FROM to TO, in the text of RECORD, by a random word."
  (let* ((word (org-agent-undo-test--word ?a))
         (end (nth 2 org-agent-undo-test--stream))
         (new-end (+ end (- (length word) (- to from)))))
    (org-agent-undo-replace record from to word)
    (set-marker end new-end)))

(defun org-agent-undo-test--begin ()
  "Begin to stream at a random place."
  (let ((place (org-agent-undo-test--between (point-min) (point-max))))
    (setq org-agent-undo-test--stream
          (list (org-agent-undo-insert-new place "<>")
                (copy-marker place t)
                (copy-marker (+ place 2))))))

(defun org-agent-undo-test--meanwhile ()
  "Stream and edit at random; return the states before each edit.
The last is that before the streaming began."
  (let (states)
    (dotimes (_ (random 3))
      (goto-char (org-agent-undo-test--between (point-min) (point-max)))
      (push (list (buffer-string)) states)
      (insert (org-agent-undo-test--word ?A))
      (undo-boundary))
    (push (list (buffer-string)) states)
    (org-agent-undo-test--begin)
    (let ((edits 0))
      (dotimes (_ (1+ (random 25)))
        (let ((state (org-agent-undo-test--state))
              (head buffer-undo-list))
          (pcase (random 9)
            ((or 0 1 2 3) (org-agent-undo-test--grow))
            ((and 4 (guard (> edits 0))) (org-agent-undo-test--undo t))
            (_ (org-agent-undo-test--edit)))
          (pcase-let ((`(,record ,beg ,end) org-agent-undo-test--stream))
            (should (org-agent-undo-ends-at-p record (marker-position end)))
            (should-not (org-agent-undo-ends-at-p record (marker-position beg))))
          (unless (eq head buffer-undo-list)
            (cl-incf edits)
            (push state states)))))
    states))

(defun org-agent-undo-test--once ()
  "Try one random interleaving: edit, stream, then undo it all."
  (with-temp-buffer
    (insert "one two three four five six seven")
    (buffer-enable-undo)
    (setq buffer-undo-list nil)
    (let ((states (org-agent-undo-test--meanwhile))
          (whole (org-agent-undo-test--streamed))
          (first t))
      (when (zerop (random 5))
        (pcase-let ((`(,record ,beg ,end) org-agent-undo-test--stream))
          (org-agent-undo-delete record (marker-position beg)
                                 (marker-position end)))
        (setq whole ""))
      (dolist (state states)
        (org-agent-undo-test--undo first)
        (setq first nil)
        (should (equal (buffer-string)
                       (if (cdr state)
                           (concat (car state) whole (cdr state))
                         (car state))))))))

(ert-deftest org-agent-undo-random-interleavings ()
  "Undo undoes the user's edits one by one and the stream at once."
  (random "org-agent")
  (dotimes (run org-agent-undo-test-runs)
    (ert-info ((format "run %d" run))
      (org-agent-undo-test--once))))

(ert-deftest org-agent-undo-text-that-was-undone-does-not-end ()
  "What was undone, is not undone by itself any more or is no record ends nowhere."
  (with-temp-buffer
    (buffer-enable-undo)
    (insert "draft")
    (setq buffer-undo-list nil)
    (let ((record (org-agent-undo-insert-new (point-min) "answer ")))
      (should (org-agent-undo-ends-at-p record 8))
      (org-agent-undo-test--undo t)
      (should (equal (buffer-string) "draft"))
      (should-not (org-agent-undo-ends-at-p record 1))
      (should-not (org-agent-undo-ends-at-p nil 1))
      (should-not (org-agent-undo-ends-at-p (cons 1 8) 8))
      (org-agent-undo-test--undo t)
      (should (equal (buffer-string) "answer draft")))))

(ert-deftest org-agent-undo-typing-is-not-joined ()
  "Text that is typed right after a turn began is a separate undo step."
  (with-temp-buffer
    (buffer-enable-undo)
    (insert "draft")
    (setq buffer-undo-list nil)
    (switch-to-buffer (current-buffer))
    (execute-kbd-macro "ab")
    (let ((record (org-agent-undo-insert-new (point-min) "answer ")))
      (execute-kbd-macro "cd")
      (org-agent-undo-insert record (+ (point-min) 7) "goes on ")
      (should (equal (buffer-string) "answer goes on draftabcd"))
      (org-agent-undo-test--undo t)
      (should (equal (buffer-string) "answer goes on draftab"))
      (org-agent-undo-test--undo nil)
      (should (equal (buffer-string) "draftab")))))

(ert-deftest org-agent-undo-removed-text ()
  "After a text was removed again, the user's edits can be undone."
  (with-temp-buffer
    (buffer-enable-undo)
    (insert "before after")
    (setq buffer-undo-list nil)
    (let ((record (org-agent-undo-insert-new 8 "preview ")))
      (goto-char (point-max))
      (insert "!")
      (undo-boundary)
      (goto-char (point-min))
      (delete-char 3)
      (undo-boundary)
      (org-agent-undo-delete record 5 13)
      (should (equal (buffer-string) "ore after!"))
      (org-agent-undo-test--undo t)
      (should (equal (buffer-string) "before after!"))
      (org-agent-undo-test--undo nil)
      (should (equal (buffer-string) "before after")))))

(ert-deftest org-agent-undo-of-what-began-before ()
  "A text with a noted place is undone after later edits."
  (dolist (nothing '(nil t))
    (with-temp-buffer
      (buffer-enable-undo)
      (setq buffer-undo-list nil)
      (unless nothing
        (insert "old ")
        (undo-boundary))
      (let ((before (buffer-string)) (place (org-agent-undo-place)))
        (should-not (org-agent-undo-vacant place))
        (insert "draft")
        (undo-boundary)
        (let ((record (org-agent-undo-vacant place)))
          (should (org-agent-undo-vacant-p record))
          (org-agent-undo-insert record 1 "<streamed>"))
        (insert "!")
        (dolist (text (list (concat "<streamed>" before "draft")
                            (concat "<streamed>" before) before))
          (org-agent-undo-test--undo (string-suffix-p "!" (buffer-string)))
          (should (equal text (buffer-string)))))
      (setq buffer-undo-list nil)       ; as after a garbage collection
      (insert "more")
      (should-not (org-agent-undo-vacant (list nil)))
      (setq buffer-undo-list t)
      (should-not (org-agent-undo-vacant (org-agent-undo-place))))))

(ert-deftest org-agent-undo-disabled ()
  "Without undo recording nothing is recorded."
  (with-temp-buffer
    (insert "x")
    (should (eq buffer-undo-list t))
    (let ((record (org-agent-undo-insert-new 1 "abc")))
      (org-agent-undo-insert record 4 "d")
      (org-agent-undo-replace record 1 5 "abxd")
      (should (equal (buffer-string) "abxdx"))
      (should (eq buffer-undo-list t)))))

(provide 'org-agent-undo-test)
;;; org-agent-undo-test.el ends here
