;;; org-agent-input-history.el --- Earlier questions in the draft  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Commands put earlier questions into the draft, as in a shell: first the
;; questions of this conversation, which are in its buffer, then those of
;; other conversations, which the kernel has.  The text of the draft is the
;; newest entry of the history, so that it is not lost.  Each step can be
;; undone.
;;
;; The questions of other conversations are requested when a kernel becomes
;; ready and when the person begins to go through the history.  The commands
;; never wait for them: they use the questions that have arrived.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-draft)
(require 'org-agent-chat)

(defconst org-agent-input-history-limit 300
  "How many of the latest questions of a conversation are in its history.")

(defvar org-agent-input-history--elsewhere nil
  "Questions of all conversations from the kernel, the latest first.
Each is a plist (:session :id :time :text).")

(defvar org-agent-input-history--history nil
  "The minibuffer history of `org-agent-insert-question'.")

(cl-defstruct (org-agent-input-history-cycle (:copier nil))
  "The history of a conversation and the current position in it."
  (entries nil :documentation "A vector of (TEXT . OFFSET), oldest first.
OFFSET is the offset of point in a text that the person wrote; it is nil
for a question.")
  (place 0 :documentation "The index of the entry that is shown.")
  (shown nil :documentation "The text of the draft after the last step.")
  (point nil :documentation "The position of point after the last step.")
  (prefix nil :documentation "The prefix of the last matching step, or nil."))

(defvar-local org-agent-input-history--cycle nil
  "The history of this conversation, or nil before its first use.")
(put 'org-agent-input-history--cycle 'permanent-local t)

;;;; The questions

(defun org-agent-input-history--as-written (text)
  "Return TEXT, a question, without what was added when it was sent.
Below the name of a command, the question has the input of the command."
  (if (string-match-p "\\`/[[:alnum:]]" text)
      (replace-regexp-in-string
       "\\(?:\nOn \\(?:lines [0-9]\\|the buffer \\|the agenda, \\|\\[\\[file:\\).*\\)+\\'"
       "" text)
    text))

(defun org-agent-input-history--here ()
  "Return the questions in the buffer of this conversation, latest first."
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
  "Return the questions of other conversations than SESSION, as plists."
  (cl-remove session org-agent-input-history--elsewhere
             :key (lambda (asked) (plist-get asked :session)) :test #'equal))

;;;###autoload
(defun org-agent-input-history-refresh ()
  "Request the questions of all conversations from the kernel."
  (org-agent-kernel-request
   "session/asked" '(:limit 200)
   :success (lambda (result)
              (setq org-agent-input-history--elsewhere (plist-get result :questions)))
   :failure #'ignore))

;;;###autoload
(defun org-agent-input-history-fill-history (history)
  "Append the questions of all conversations to HISTORY.
HISTORY is the symbol of a history variable of the minibuffer."
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
      (user-error "The buffer is narrowed to a part without the draft"))
    (min (point-max) (+ start (org-agent-heading-level start) 1))))

(defun org-agent-input-history--written (beginning)
  "Return the text of the draft from BEGINNING on as (TEXT . OFFSET)."
  (cons (buffer-substring beginning (point-max))
        (max 0 (- (point) beginning))))

(defun org-agent-input-history--put (beginning entry &optional offset)
  "Replace the text of the draft, from BEGINNING on, by ENTRY.
This is one step of undo.  Move point to where it was in ENTRY, or to
OFFSET, or to the end."
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

;;;; Previous and next

(defun org-agent-input-history--entries (own)
  "Return the entries of the history, oldest first: questions, then OWN.
OWN is a list of unsent texts of the person, the oldest first."
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
  "Return those entries of CYCLE that are unsent texts of the person."
  (and cycle
       (cl-remove-if-not #'cdr (append (org-agent-input-history-cycle-entries cycle)
                                       nil))))

(defun org-agent-input-history--current (beginning)
  "Return the cycle of this conversation; the draft's text is at BEGINNING.
If the person changed the draft since the last step, it is an entry."
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
               ;; After a change of a question go on from that question.
               :place (or (and former (null (cdr former))
                               (not (string-blank-p (car written)))
                               (cl-position former entries :test #'equal))
                          (cl-position written entries :test #'eq))))))))

(defun org-agent-input-history--own-with (written cycle)
  "Return the unsent texts of CYCLE with WRITTEN, the current one.
WRITTEN replaces an equal text, or else is the first."
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
  "Show the next entry; BY is 1 or -1.
With PREFIX non-nil, show the next one that begins as the draft does
before point."
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
PREFIX is the text that it had to begin with, or nil."
  (org-agent-input-history--put beginning
                                (aref (org-agent-input-history-cycle-entries cycle) place)
                                (and prefix (length prefix)))
  (setf (org-agent-input-history-cycle-place cycle) place
        (org-agent-input-history-cycle-prefix cycle) prefix
        (org-agent-input-history-cycle-shown cycle)
        (buffer-substring-no-properties beginning (point-max))
        (org-agent-input-history-cycle-point cycle) (point)))

(defun org-agent-input-history--prefix (cycle beginning)
  "Return the text of the draft from BEGINNING to point.
If nothing has changed since the last step of CYCLE, return the prefix of
that step."
  (or (and (eql (point) (org-agent-input-history-cycle-point cycle))
           (equal (org-agent-input-history-cycle-shown cycle)
                  (buffer-substring-no-properties beginning (point-max)))
           (org-agent-input-history-cycle-prefix cycle))
      (buffer-substring-no-properties beginning (max beginning (point)))))

;;;###autoload
(defun org-agent-previous-question (&optional count)
  "Put the previous question into the draft, or the COUNTth previous one.
The questions of this conversation are followed by those of others.  Your
own text comes back with \\[org-agent-next-question].  Each step can be
undone."
  (interactive "p" org-agent-chat-mode)
  (dotimes (_ (abs (or count 1)))
    (org-agent-input-history--step (if (< (or count 1) 0) 1 -1) nil)))

;;;###autoload
(defun org-agent-next-question (&optional count)
  "Put the next question into the draft, or the COUNTth next one.
The last question is followed by the text that you were writing."
  (interactive "p" org-agent-chat-mode)
  (org-agent-previous-question (- (or count 1))))

;;;###autoload
(defun org-agent-previous-matching-question ()
  "Put the previous question that matches into the draft.
It matches if it begins with the text of the draft before point.  Point
stays, so that you can repeat the command."
  (interactive nil org-agent-chat-mode)
  (org-agent-input-history--step -1 t))

;;;###autoload
(defun org-agent-next-matching-question ()
  "Put the next question that matches into the draft.
It matches if it begins with the text of the draft before point."
  (interactive nil org-agent-chat-mode)
  (org-agent-input-history--step 1 t))

(defvar org-agent-input-history-repeat-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "M-p") #'org-agent-previous-question)
    (define-key map (kbd "M-n") #'org-agent-next-question)
    (define-key map (kbd "M-r") #'org-agent-previous-matching-question)
    (define-key map (kbd "M-s") #'org-agent-next-matching-question)
    map)
  "Keys that continue in `repeat-mode'.
They have modifiers, since a plain letter is input for the draft.")

(dolist (command '(org-agent-previous-question org-agent-next-question
                                               org-agent-previous-matching-question
                                               org-agent-next-matching-question))
  (put command 'repeat-map 'org-agent-input-history-repeat-map)
  ;; `repeat-mode' would require that the last event of the key that called
  ;; the command is in the map.  A menu or a name has no such event, and a
  ;; terminal sends two events for M-p.
  (put command 'repeat-check-key 'no))

;;;; Completion

(defun org-agent-input-history--line (text)
  "Return TEXT, a question, on one line."
  (truncate-string-to-width
   (replace-regexp-in-string "[ \t]*\n[ \t\n]*"
                             (if (char-displayable-p ?↵) " ↵ " " / ")
                             (string-trim text))
   300 nil nil t))

(defun org-agent-input-history--add (known text note)
  "Add TEXT with its NOTE to KNOWN, unless KNOWN has it; return KNOWN.
KNOWN is a head and elements (LINE TEXT NOTE) with unique lines."
  (unless (cl-find text (cdr known) :key #'cadr :test #'equal)
    (let* ((line (org-agent-input-history--line text)) (unique line) (count 1))
      (while (assoc unique (cdr known))
        (setq unique (format "%s (%d)" line (cl-incf count))))
      (nconc known (list (list unique text note)))))
  known)

(defun org-agent-input-history--add-asked (known asked session)
  "Add ASKED, plists from the kernel, to KNOWN, except those of SESSION."
  (dolist (one asked known)
    (unless (equal (plist-get one :session) session)
      (org-agent-input-history--add
       known (plist-get one :text)
       (format "  %s, %s" (plist-get one :session)
               (substring (plist-get one :time) 0
                          (min 10 (length (plist-get one :time)))))))))

(defun org-agent-input-history--table (known session)
  "Return a completion table of KNOWN, which grows while the kernel searches.
SESSION is the current one, all of whose questions are in KNOWN."
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
  "Return the words of STRING as a query of the kernel's search, or nil."
  (let ((words (cl-remove-if (lambda (word) (< (length word) 3))
                             (split-string string "[^[:alnum:]]+" t))))
    (and words (mapconcat (lambda (word) (concat word "*")) words " "))))

;;;###autoload
(defun org-agent-insert-question (text)
  "Put TEXT, an earlier question, into the draft.
Completion offers the questions of this conversation, then those of
others.  Your own text comes back with \\[org-agent-next-question]."
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
