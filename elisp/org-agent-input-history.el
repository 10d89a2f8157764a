;;; org-agent-input-history.el --- Ask again what was asked before  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Earlier questions come back into the draft, as a shell's input does:
;; those of the conversation first, which stand in its buffer, then those
;; of others, which the kernel remembers.  Nothing that was written is
;; lost on the way: it is the last of what one comes to, and each step is
;; one of undo.
;;
;; The questions of others are fetched when a kernel is met and whenever
;; one begins to look for some; what has come is what there is, and
;; nobody waits.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-draft)
(require 'org-agent-chat)

(defconst org-agent-input-history-limit 300
  "How many questions of a conversation come back, of the latest.")

(defvar org-agent-input-history--elsewhere nil
  "Questions as the kernel told them, the latest first.
Each is a plist (:session :id :time :text).")

(defvar org-agent-input-history--history nil
  "What was chosen with `org-agent-insert-question'.")

(cl-defstruct (org-agent-input-history-cycle (:copier nil))
  "What one goes through."
  (entries nil :documentation "A vector of (TEXT . OFFSET), oldest first.
OFFSET is where point was in what the person wrote, nil in a question.")
  (place 0 :documentation "The index of the entry that is shown.")
  (shown nil :documentation "The draft as it was left.")
  (point nil :documentation "Where point was left.")
  (prefix nil :documentation "What questions had to begin with."))

(defvar-local org-agent-input-history--cycle nil
  "What one goes through in this conversation, nil before one does.")
(put 'org-agent-input-history--cycle 'permanent-local t)

;;;; What was asked

(defun org-agent-input-history--as-written (text)
  "Return TEXT, a question, as a person would write it again.
What a command was given on stands below it, and is left out."
  (if (string-match-p "\\`/[[:alnum:]]" text)
      (replace-regexp-in-string
       "\\(?:\nOn \\(?:lines [0-9]\\|the buffer \\|the agenda, \\|\\[\\[file:\\).*\\)+\\'"
       "" text)
    text))

(defun org-agent-input-history--here ()
  "Return the questions of this conversation, the latest first.
The buffer has them, with or without a kernel."
  (org-agent-heading-widely
    (goto-char (point-max))
    (let (questions (count 0))
      (while (and (< count org-agent-input-history-limit)
                  (re-search-backward org-agent-heading-turn-regexp nil t))
        (when (eq (org-agent-heading-turn-p (point)) 'user)
          (cl-incf count)
          (push (org-agent-input-history--as-written (org-agent-heading-question-text (point)))
                questions)))
      (delete-dups (delete "" (nreverse questions))))))

(defun org-agent-input-history--others (session)
  "Return what was asked in other conversations than SESSION, as plists."
  (cl-remove session org-agent-input-history--elsewhere
             :key (lambda (asked) (plist-get asked :session)) :test #'equal))

;;;###autoload
(defun org-agent-input-history-refresh ()
  "Have the kernel tell what was asked, for the next time one looks."
  (org-agent-kernel-request
   "session/asked" '(:limit 200)
   :success (lambda (result)
              (setq org-agent-input-history--elsewhere (plist-get result :questions)))
   :failure #'ignore))

;;;###autoload
(defun org-agent-input-history-fill-history (history)
  "Put what was asked anywhere behind what is in HISTORY, a variable's name.
So one finds it in the minibuffer, too."
  (org-agent-input-history-refresh)
  (let ((known (symbol-value history)))
    (set history
         (append known
                 (cl-loop for asked in org-agent-input-history--elsewhere
                          for text = (plist-get asked :text)
                          unless (or (member text known) (member text new))
                          collect text into new
                          finally return new)))))

;;;; The draft

(defun org-agent-input-history--beginning ()
  "Return where the text of the draft begins."
  (org-agent-chat-check)
  (org-agent-draft-mend (point-max))
  (org-agent-chat-restore-draft)
  (let ((start (org-agent-draft-start)))
    (unless (and (<= (point-min) start) (> (point-max) (buffer-size)))
      (user-error "The draft is not in what this buffer is narrowed to"))
    (min (point-max) (+ start (org-agent-heading-level start) 1))))

(defun org-agent-input-history--written (beginning)
  "Return what stands in the draft from BEGINNING on, (TEXT . OFFSET)."
  (cons (buffer-substring beginning (point-max))
        (max 0 (- (point) beginning))))

(defun org-agent-input-history--put (beginning entry &optional offset)
  "Make ENTRY the draft, whose text is from BEGINNING on, as one undo step.
Point goes to its end, or to OFFSET in it, or to where it was."
  (pcase-let ((`(,text . ,was) entry))
    (unless was
      (let ((level (org-agent-heading-level (save-excursion
                                              (goto-char beginning)
                                              (line-beginning-position)))))
        (pcase-let ((`(,first . ,rest) (org-agent-heading-cut text)))
          (unless (string-empty-p rest)
            (setq text (concat first "\n"
                               (org-agent-heading-demote rest level)))))))
    (undo-boundary)
    (goto-char beginning)
    (delete-region beginning (point-max))
    (insert text)
    (when-let* ((place (or was offset)))
      (goto-char (min (point-max) (+ beginning place))))
    text))

;;;; Going through them

(defun org-agent-input-history--entries (own)
  "Return all there is to come to, oldest first: questions, then OWN.
OWN is what the person wrote, the latest first."
  (org-agent-input-history-refresh)
  (let* ((here (org-agent-input-history--here))
         (others (cl-set-difference
                  (mapcar (lambda (asked) (plist-get asked :text))
                          (org-agent-input-history--others org-agent-chat-session))
                  here :test #'equal)))
    (vconcat (nreverse (mapcar #'list others))
             (nreverse (mapcar #'list here))
             own)))

(defun org-agent-input-history--own (cycle)
  "Return what the person wrote of the entries of CYCLE, or nil."
  (and cycle
       (cl-remove-if-not #'cdr (append (org-agent-input-history-cycle-entries cycle)
                                       nil))))

(defun org-agent-input-history--current (beginning)
  "Return the cycle that one is in; the draft's text is from BEGINNING on.
What was changed since belongs to what the person wrote."
  (let* ((cycle org-agent-input-history--cycle)
         (written (org-agent-input-history--written beginning))
         (former (and cycle (aref (org-agent-input-history-cycle-entries cycle)
                                  (org-agent-input-history-cycle-place cycle)))))
    (if (and former (null (cdr former))
             (string= (org-agent-input-history-cycle-shown cycle) (car written)))
        cycle
      (let* ((own (org-agent-input-history--own-with written cycle))
             (entries (org-agent-input-history--entries own)))
        (setq org-agent-input-history--cycle
              (make-org-agent-input-history-cycle
               :entries entries
               ;; A question that was changed is where one goes on from.
               :place (or (and former (null (cdr former))
                               (not (string-blank-p (car written)))
                               (cl-position former entries :test #'equal))
                          (cl-position written entries :test #'eq))))))))

(defun org-agent-input-history--own-with (written cycle)
  "Return what the person wrote in CYCLE and has not sent, with WRITTEN.
WRITTEN is in its place, or else the first."
  (let* ((asked (org-agent-input-history--here))
         (own (cl-remove-if
               (lambda (entry)
                 (member (string-trim (substring-no-properties (car entry)))
                         (cons "" asked)))
               (org-agent-input-history--own cycle)))
         (place (cl-position (car written) own :key #'car :test #'string=)))
    (if place
        (append (cl-subseq own 0 place) (list written)
                (nthcdr (1+ place) own))
      (cons written own))))

(defun org-agent-input-history--step (by prefix)
  "Come to the next entry BY steps of 1 or -1; it begins with PREFIX, if any."
  (let* ((beginning (org-agent-input-history--beginning))
         (cycle (org-agent-input-history--current beginning))
         (entries (org-agent-input-history-cycle-entries cycle))
         (prefix (and prefix (org-agent-input-history--prefix cycle beginning)))
         (now (substring-no-properties (car (org-agent-input-history--written beginning))))
         (place (+ (org-agent-input-history-cycle-place cycle) by)))
    (while (and (< -1 place (length entries))
                (let ((text (car (aref entries place))))
                  (or (string= text now)
                      (and prefix (not (string-prefix-p prefix text t))))))
      (cl-incf place by))
    (unless (< -1 place (length entries))
      (user-error "%s"
                  (concat (if (> by 0) "There is no later question"
                            "There is no earlier question")
                          (and prefix (not (string-empty-p prefix))
                               (format " that begins with \"%s\"" prefix)))))
    (org-agent-input-history--show cycle place beginning prefix)))

(defun org-agent-input-history--show (cycle place beginning prefix)
  "Show the entry at PLACE of CYCLE in the draft from BEGINNING on.
PREFIX, or nil, is what it was to begin with."
  (org-agent-input-history--put beginning
                                (aref (org-agent-input-history-cycle-entries cycle) place)
                                (and prefix (length prefix)))
  (setf (org-agent-input-history-cycle-place cycle) place
        (org-agent-input-history-cycle-prefix cycle) prefix
        (org-agent-input-history-cycle-shown cycle)
        (buffer-substring-no-properties beginning (point-max))
        (org-agent-input-history-cycle-point cycle) (point)))

(defun org-agent-input-history--prefix (cycle beginning)
  "Return what stands in the draft from BEGINNING to point.
While nothing was done but to go through CYCLE it is what it was."
  (or (and (eql (point) (org-agent-input-history-cycle-point cycle))
           (equal (org-agent-input-history-cycle-shown cycle)
                  (buffer-substring-no-properties beginning (point-max)))
           (org-agent-input-history-cycle-prefix cycle))
      (buffer-substring-no-properties beginning (max beginning (point)))))

;;;###autoload
(defun org-agent-previous-question (&optional count)
  "Put the question before into the draft, or that COUNT before.
After the first of this conversation come those of others.  What you
were writing comes back with \\[org-agent-next-question], and each step
can be undone."
  (interactive "p" org-agent-chat-mode)
  (dotimes (_ (abs (or count 1)))
    (org-agent-input-history--step (if (< (or count 1) 0) 1 -1) nil)))

;;;###autoload
(defun org-agent-next-question (&optional count)
  "Put the question behind into the draft, or that COUNT behind.
Behind the last is what you were writing."
  (interactive "p" org-agent-chat-mode)
  (org-agent-previous-question (- (or count 1))))

;;;###autoload
(defun org-agent-previous-matching-question ()
  "Put the question before that begins as the draft up to point does into it.
Point stays there, so that one can go on."
  (interactive nil org-agent-chat-mode)
  (org-agent-input-history--step -1 t))

;;;###autoload
(defun org-agent-next-matching-question ()
  "Put the question behind that begins as the draft up to point does into it."
  (interactive nil org-agent-chat-mode)
  (org-agent-input-history--step 1 t))

(defvar org-agent-input-history-repeat-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "M-p") #'org-agent-previous-question)
    (define-key map (kbd "M-n") #'org-agent-next-question)
    (define-key map (kbd "M-r") #'org-agent-previous-matching-question)
    (define-key map (kbd "M-s") #'org-agent-next-matching-question)
    map)
  "Keys that go on from one question to the next, in `repeat-mode'.
A letter would be written into the draft.")

(dolist (command '(org-agent-previous-question org-agent-next-question
                                               org-agent-previous-matching-question
                                               org-agent-next-matching-question))
  (put command 'repeat-map 'org-agent-input-history-repeat-map)
  ;; The command that begins may have been called by any key, or by its
  ;; name, and a terminal sends two events for M-p.  `repeat-mode' would
  ;; look for the last of them in the map.
  (put command 'repeat-check-key 'no))

;;;; Choosing one

(defun org-agent-input-history--line (text)
  "Return TEXT, a question, on one line."
  (truncate-string-to-width
   (replace-regexp-in-string "[ \t]*\n[ \t\n]*"
                             (if (char-displayable-p ?↵) " ↵ " " / ")
                             (string-trim text))
   300 nil nil t))

(defun org-agent-input-history--add (known text note)
  "Add TEXT with its NOTE to KNOWN, unless it is there; return KNOWN.
KNOWN is a list of (LINE TEXT NOTE), no line twice, behind a head."
  (unless (cl-find text (cdr known) :key #'cadr :test #'equal)
    (let* ((line (org-agent-input-history--line text)) (unique line) (count 1))
      (while (assoc unique (cdr known))
        (setq unique (format "%s (%d)" line (cl-incf count))))
      (nconc known (list (list unique text note)))))
  known)

(defun org-agent-input-history--add-asked (known asked session)
  "Add ASKED, plists of the kernel's, to KNOWN, but those of SESSION."
  (dolist (one asked known)
    (unless (equal (plist-get one :session) session)
      (org-agent-input-history--add
       known (plist-get one :text)
       (format "  %s, %s" (plist-get one :session)
               (substring (plist-get one :time) 0
                          (min 10 (length (plist-get one :time)))))))))

(defun org-agent-input-history--table (known session)
  "Return a completion table of KNOWN, which grows as the kernel finds more.
SESSION is that of the conversation, whose questions are known."
  (let (asked)
    (lambda (string predicate action)
      (if (eq action 'metadata)
          `(metadata (category . org-agent-question)
                     (display-sort-function . identity)
                     (cycle-sort-function . identity)
                     (annotation-function
                      . ,(lambda (line) (nth 2 (assoc line (cdr known))))))
        (let ((query (org-agent-input-history--query string)))
          (unless (or (null query) (member query asked))
            (push query asked)
            (org-agent-kernel-request
             "session/asked" (list :query query :limit 100)
             :success (lambda (result)
                        (org-agent-input-history--add-asked
                         known (plist-get result :questions) session))
             :failure #'ignore)))
        (complete-with-action action (mapcar #'car (cdr known))
                              string predicate)))))

(defun org-agent-input-history--query (string)
  "Return the words of STRING as the kernel's search wants them, or nil."
  (let ((words (cl-remove-if (lambda (word) (< (length word) 3))
                             (split-string string "[^[:alnum:]]+" t))))
    (and words (mapconcat (lambda (word) (concat word "*")) words " "))))

;;;###autoload
(defun org-agent-insert-question (text)
  "Put TEXT, a question that was asked before, into the draft.
Those of this conversation come first, then those of others.  What you
were writing comes back with \\[org-agent-next-question]."
  (interactive
   (progn
     (org-agent-input-history--beginning)
     (let ((known (list 'known)) (session org-agent-chat-session)
           (completion-styles (cl-adjoin 'substring completion-styles)))
       (dolist (text (org-agent-input-history--here))
         (org-agent-input-history--add known text ""))
       (org-agent-input-history--add-asked known org-agent-input-history--elsewhere session)
       (let ((line (completing-read "Question: "
                                    (org-agent-input-history--table known session)
                                    nil t nil 'org-agent-input-history--history)))
         (list (or (cadr (assoc line (cdr known)))
                   (user-error "No question was chosen"))))))
   org-agent-chat-mode)
  (let* ((beginning (org-agent-input-history--beginning))
         (cycle (org-agent-input-history--current beginning))
         (entries (org-agent-input-history-cycle-entries cycle))
         (place (cl-position-if (lambda (entry)
                                  (and (null (cdr entry))
                                       (equal (car entry) text)))
                                entries)))
    (unless place
      (setf (org-agent-input-history-cycle-entries cycle)
            (vconcat (list (list text)) entries)
            place 0))
    (org-agent-input-history--show cycle place beginning nil)))

(provide 'org-agent-input-history)
;;; org-agent-input-history.el ends here
