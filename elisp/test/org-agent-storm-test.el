;;; org-agent-storm-test.el --- Tests of random edits beside random answers  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The real kernel streams random Markdown, cut at random, into a
;; conversation in which a person does random things.  The answer is
;; complete, nothing of the person's moves or changes, and the file equals
;; the buffer.  Undo restores every state that the person saw, and then
;; removes the answer in one step.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-element)
(require 'org-agent-kernel-test)
(require 'org-agent-answer)
(require 'org-agent-chat)
(require 'org-agent-draft)
(require 'org-agent-heading)

(defvar org-agent-storm-test-answers 6
  "Answers that are tried, each cut at random and then whole.")

(defconst org-agent-storm-test--pieces
  '("Plain words with *emphasis*, `code` and a [link](https://example.org/a_b).\n\n"
    "# A heading\n\nbody\n\n" "## Another\n\nwords\n\n" "- one\n- two\n  - inner\n\n"
    "1. first\n2. second\n\n" "```python\n* not a heading\n#+end_src\n```\n\n"
    "````\n```\ninner\n```\n````\n\n" "| a | b |\n|---|---|\n| 1 | \u4e16\u754c |\n\n"
    "> quoted\n> more\n\n" "Note[^1].\n\n[^1]: The note.\n\n" "**bold** and ~~gone~~ \U0001f600\n\n"
    "#+TBLFM: $1=1\n\n" ":PROPERTIES:\n:ID: x\n:END:\n\n" "* item\n* item\n\n" "---\n\n"
    "Gr\u00fc\u00dfe, \\*no\\* emphasis, snake_case_word\n\n")
  "What answers are made of.")

(defun org-agent-storm-test--one-of (list)
  "Return a random element of LIST."
  (nth (random (length list)) list))

(defun org-agent-storm-test--answer (n)
  "Return a random text, the answer N."
  (concat (format "Answer %d\n\n" n)
          (apply #'concat
                 (cl-loop repeat (+ 3 (random 8))
                          collect (org-agent-storm-test--one-of
                                   org-agent-storm-test--pieces)))))

(defun org-agent-storm-test--exchanges ()
  "Return the exchanges: each answer cut at random, and then whole."
  (cl-loop
   for n below org-agent-storm-test-answers
   for text = (org-agent-kernel-test--envelope (org-agent-storm-test--answer n))
   for more = (and (zerop (random 2))
                   (list (cons 'reasoning (format "Hm.\n* Thought %d\n:END:" n))))
   for size = (1+ (random 20))
   collect (apply #'org-agent-kernel-test--exchange text
                  (cons (org-agent-storm-test--one-of '(chunk chunk_bytes)) size)
                  (cons 'wire_chunk (org-agent-storm-test--one-of '(0 1 7 100)))
                  (cons 'delay (format "%dms" (max 1 (/ (* size 1000) (length text)))))
                  more)
   collect (apply #'org-agent-kernel-test--exchange text more)))

;;;; What is the person's

(defun org-agent-storm-test--regions (known)
  "Return the regions of what is no person's: what is written, or was.
KNOWN are the ids that stood in the buffer before the turn began."
  (or (org-agent-answer-regions)
      (cl-loop for id in (org-agent-heading-turn-ids)
               for heading = (and (not (member id known))
                                  (org-agent-heading-find id))
               when heading
               collect (cons heading (org-agent-heading-subtree-end heading)))))

(defun org-agent-storm-test--outside (regions &optional position)
  "Return the text outside of REGIONS, up to POSITION."
  (let ((at (point-min)) (end (or position (point-max))) (parts nil))
    (pcase-dolist (`(,beg . ,till) regions)
      (when (< at (min beg end))
        (push (buffer-substring-no-properties at (min beg end)) parts))
      (setq at (max at till)))
    (when (< at end)
      (push (buffer-substring-no-properties at end) parts))
    (apply #'concat (nreverse parts))))

(defun org-agent-storm-test--person (known)
  "Return all that is the person's; KNOWN is as for the regions."
  (let ((regions (org-agent-storm-test--regions known)))
    (list :text (org-agent-storm-test--outside regions)
          :point (length (org-agent-storm-test--outside regions (point)))
          :behind (buffer-substring-no-properties
                   (point) (min (point-max) (+ 2 (point))))
          :mark (and (mark t)
                     (length (org-agent-storm-test--outside regions (mark t))))
          :active mark-active
          :kills kill-ring)))

;;;; What the person does

(defun org-agent-storm-test--place (regions)
  "Return a random place between letters and outside of REGIONS."
  (let (place (tries 0))
    (while (and (not place) (< (cl-incf tries) 200))
      (let ((at (+ (point-min) 2 (random (max 1 (- (point-max) 3))))))
        (when (and (cl-notany (lambda (region)
                                (and (>= at (1- (car region)))
                                     (<= at (cdr region))))
                              regions)
                   (string-match-p "[a-z][a-z]"
                                   (buffer-substring-no-properties (1- at) (1+ at)))
                   (not (save-excursion
                          (goto-char at)
                          (forward-line 0)
                          (looking-at-p ":\\|\\*+ .*:\\(?:user\\|agent\\):$\\|#"))))
          (setq place at))))
    place))

(defun org-agent-storm-test--act (known)
  "Do something at random; return non-nil when that was a change.
KNOWN is as for the regions."
  ;; A command loop notes before each command where point is.  What was noted
  ;; before more of the answer came is where `undo' would put it: in the answer.
  (undo-boundary)
  (let* ((regions (org-agent-storm-test--regions known))
         (place (org-agent-storm-test--place regions))
         (head buffer-undo-list))
    (pcase (random 9)
      ((and 0 (guard place)) (goto-char place))
      (8 (goto-char (org-agent-draft-start)))
      ((and 1 (guard place)) (push-mark place t (zerop (random 2))))
      (2 (when place (goto-char place) (copy-region-as-kill place (1+ place))))
      ((and (or 3 4) (guard place))
       (goto-char place)
       (insert (org-agent-storm-test--one-of '("x" "words " "\nline\n"))))
      ((and 5 (guard place)) (goto-char place) (delete-char 1))
      (_ (goto-char (point-max))
         (insert (org-agent-storm-test--one-of '("d" "draft " "\n** sub ")))))
    (undo-boundary)
    (not (eq head buffer-undo-list))))

(defun org-agent-storm-test--undo (first)
  "Undo one step; FIRST when the last command was not an undo.
An active region does not matter: `undo' would keep to it."
  (let ((last-command (if first 'self-insert-command 'undo))
        (transient-mark-mode nil)
        (inhibit-message t))
    (undo-boundary)
    (undo)
    (undo-boundary)))

;;;; The test

(defun org-agent-storm-test--body (id)
  "Return the answer ID without its drawer of properties and its place.
Labels of footnotes, which are unique in a file, are as they were written."
  (let ((heading (org-agent-heading-find id)))
    (replace-regexp-in-string
     "\\[fn:\\([^]\n]+?\\)-[0-9]+\\]" "[fn:\\1]"
     (concat (org-agent-heading-title heading) "\n"
             (buffer-substring-no-properties
              (cdr (assq t (org-agent-heading-properties heading)))
              (org-agent-heading-subtree-end heading))))))

(defun org-agent-storm-test--headings (id)
  "Return the levels and titles that Org's parser finds in the answer ID."
  (let ((heading (org-agent-heading-find id)))
    (save-restriction
      (narrow-to-region heading (org-agent-heading-subtree-end heading))
      (org-element-map (org-element-parse-buffer 'headline) 'headline
        (lambda (headline)
          (list (org-element-property :level headline)
                (org-element-property :raw-value headline)))))))

(defun org-agent-storm-test--new-answer (known)
  "Return the id of the answer that is not of KNOWN."
  (cl-find-if (lambda (id)
                (and (not (member id known))
                     (eq (org-agent-heading-turn-p (org-agent-heading-find id)) 'agent)))
              (org-agent-heading-turn-ids)))

(defun org-agent-storm-test--one (n)
  "Have question N answered twice: meanwhile somebody is at work, or nobody is.
Return how often the conversation grew meanwhile."
  (goto-char (point-max))
  (org-agent-kernel-test--say (format "question %d" n))
  (let ((early (org-agent-storm-test--early)))
    (org-agent-storm-test--meanwhile n early)))

(defun org-agent-storm-test--early ()
  "Write something before the first word of the answer comes.
Return the texts that there were before each step since the turn began."
  (org-agent-fake-wait (org-agent-chat-get :turn))
  ;; The kernel may say that the turn began before it says that it has the question.
  (org-agent-fake-wait (not (string-search ":unsent:" (org-agent-fake-text))))
  (let ((text (org-agent-fake-text)) (typed (random 3)))
    (dotimes (_ typed)
      (org-agent-fake-type "early "))
    (when (zerop (random 2)) (goto-char (org-agent-draft-start)))
    (let ((behind (buffer-substring-no-properties (point) (point-max))))
      (org-agent-fake-wait org-agent-answer-previews)
      (should (equal behind (buffer-substring-no-properties (point) (point-max)))))
    (cl-loop for n from (1- typed) downto 0
             collect (concat text (apply #'concat (make-list n "early "))))))

(defun org-agent-storm-test--meanwhile (n states)
  "Do random things while answer N comes; return how often it grew.
STATES are the texts that there were before what was done already."
  (let ((known (cl-set-difference
                (org-agent-heading-turn-ids)
                (mapcar (lambda (entry) (org-agent-answer-partial-id (cdr entry)))
                        org-agent-answer-previews)
                :test #'equal))
        (batches 0))
    (undo-boundary)
    (while (not (org-agent-kernel-test--idle-p))
      (when (and (< (length states) 20) org-agent-answer-previews)
        (let ((before (plist-get (org-agent-storm-test--person known) :text)))
          (when (if (and states (zerop (random 6)))
                    (progn (org-agent-storm-test--undo t) t)
                  (org-agent-storm-test--act known))
            (push before states))))
      (let ((person (org-agent-storm-test--person known))
            (size (buffer-size)))
        (accept-process-output nil 0.01)
        (unless (= size (buffer-size)) (cl-incf batches))
        (should (equal (org-agent-storm-test--person known) person))))
    (org-agent-fake-settle)
    (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))
    (org-agent-storm-test--undo-all known states n)
    (org-agent-storm-test--whole n known)
    batches))

(defun org-agent-storm-test--undo-all (known states n)
  "Undo to each of STATES and on, and redo it all; N numbers the answer.
KNOWN is as for the regions."
  (let ((end (buffer-string)) (first t) (steps 0))
    (dolist (state states)
      (org-agent-storm-test--undo first)
      (setq first nil)
      (cl-incf steps)
      (should (equal (plist-get (org-agent-storm-test--person known) :text) state))
      (should (string-match-p (format "Answer %d" n) (buffer-string))))
    (org-agent-storm-test--undo first)
    (cl-incf steps)
    (should-not (org-agent-storm-test--new-answer known))
    (should-not (string-match-p (format "Answer %d" n) (buffer-string)))
    (dotimes (i steps)
      (org-agent-storm-test--undo (zerop i)))
    (should (equal (buffer-string) end))))

(defun org-agent-storm-test--whole (n known)
  "Have question N asked again, answered whole, and compare.
KNOWN are the ids that stood there before it was answered first."
  (let* ((cut (org-agent-storm-test--new-answer known))
         (known (org-agent-heading-turn-ids)))
    (goto-char (point-max))
    (org-agent-kernel-test--say (format "again %d" n))
    (org-agent-fake-wait (org-agent-storm-test--new-answer known))
    (org-agent-kernel-test--settle 1)
    (let ((whole (org-agent-storm-test--new-answer known)))
      (should (equal (org-agent-storm-test--body cut)
                     (org-agent-storm-test--body whole)))
      (should (equal (org-agent-storm-test--headings cut)
                     (org-agent-storm-test--headings whole))))))

(ert-deftest org-agent-storm ()
  "Random answers, cut at random, arrive while a person edits at random."
  (let ((seed (or (getenv "STORM_SEED") "storm")))
    (random seed)
    (ert-info ((format "STORM_SEED=%s" seed))
      (org-agent-kernel-test--with (org-agent-storm-test--exchanges)
        ;; A machine with much to do may send some answers in one piece.
        (should (> (cl-loop for n below org-agent-storm-test-answers
                            sum (org-agent-storm-test--one n))
                   (* 2 org-agent-storm-test-answers)))))))

(provide 'org-agent-storm-test)
;;; org-agent-storm-test.el ends here
