;;; ob-org-agent.el --- Lisp and prompts in blocks of any Org file  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A block #+begin_src org-agent is evaluated by the kernel's Lisp.  With
;; :note FILE that is in the environment of that note, in a skill note in
;; the environment of the note itself, and elsewhere in an empty one.  Babel
;; waits for the result; C-g ends the waiting.
;;
;; A block #+begin_src org-agent-chat is a prompt.  Its answer appears in the
;; drawer below #+RESULTS: while it comes, and is one step of undo.  With
;; :session NAME the prompt belongs to that conversation, and the model knows
;; what was said in it.  Without it the model knows nothing but the block.
;; :model, :preset and :skill are settings, as properties of a question are.
;; A variable of :var stands before the prompt.  An export waits for the
;; answer, as does a block with :async no.

;;; Code:

(require 'cl-lib)
(require 'ob)
(require 'org-id)
(require 'org-agent)
(require 'org-agent-kernel)
(require 'org-agent-skill)
(require 'org-agent-inert)
(require 'org-agent-undo)
(require 'org-agent-pending)
(require 'org-agent-turn)
(require 'org-agent-send)

(declare-function org-babel--get-vars "ob-core" (params))

(defvar org-babel-default-header-args:org-agent '((:results . "verbatim"))
  "Header arguments of blocks of the language `org-agent'.")

(defun org-agent-babel--params (body params)
  "Return the parameters of the request that evaluates BODY, a block with PARAMS."
  (let ((note (cdr (assq :note params))))
    (append (cond
             (note (list :file (expand-file-name note)))
             ((org-agent-skill-note-p) (org-agent-skill-params))
             (t (list :file (or buffer-file-name (buffer-name)) :text "")))
            (list :code body))))

(defun org-babel-execute:org-agent (body params)
  "Evaluate BODY, a block with PARAMS, and return the value of its last form."
  (let ((result (org-agent-kernel-call "skill/evaluate"
                                       (org-agent-babel--params body params))))
    (when-let* ((fault (car (plist-get result :diagnostics))))
      (user-error "%s:%s: %s" (plist-get fault :line) (plist-get fault :column)
                  (plist-get fault :message)))
    (concat (plist-get result :output)
            (car (last (plist-get result :values))))))

;;;; Prompts

;; Babel looks for them before it calls, and so loads, anything of here.
;;;###autoload
(defvar org-babel-default-header-args:org-agent-chat
  '((:results . "drawer") (:exports . "both"))
  "Header arguments of blocks of the language `org-agent-chat'.")

(defconst org-babel-header-args:org-agent-chat
  '((model . :any) (preset . :any) (skill . :any) (async . ((yes no))))
  "The header arguments that only such blocks have.")

;; Org would take `org-agent-chat-mode', which is that of conversations, for
;; the mode of the language, and call it to highlight a block.
;;;###autoload
(with-eval-after-load 'org-src
  (add-to-list 'org-src-lang-modes '("org-agent-chat" . text)))

(defconst org-agent-babel-session "blocks"
  "The conversation of blocks without a session.")

(cl-defstruct (org-agent-babel-answer (:copier nil))
  "An answer that comes into the results of a block."
  id
  (block nil :documentation "A marker at the beginning of the block.")
  (text "" :documentation "The piece of a conversation that has come so far.")
  (beg nil :documentation "A marker where the answer begins, or nil.")
  (shown "" :documentation "What is shown of it there.")
  record                                ; of undo
  overlay
  timer)

(defvar org-agent-babel--answers nil
  "The answers that are still to come.")

(defun org-agent-babel--prompt (body params)
  "Return the prompt of BODY with the variables of PARAMS before it."
  (concat
   (mapconcat (pcase-lambda (`(,name . ,value))
                (format "%s:\n%s\n\n" name
                        (cond ((stringp value) value)
                              ((consp value)
                               (orgtbl-to-orgtbl
                                (if (consp (car value)) value (list value)) nil))
                              (t (format "%s" value)))))
              (org-babel--get-vars params) "")
   body))

(defun org-agent-babel--message (id body params)
  "Return the message ID that asks BODY, a block with PARAMS."
  (list :id id :level 1
        :text (string-trim (org-agent-babel--prompt body params))
        :properties
        (append (unless (org-agent-babel--session params) '(("HISTORY" . "none")))
                (cl-loop for (name . property) in '((:model . "MODEL") (:preset . "PRESET")
                                                    (:skill . "SKILL"))
                         for value = (cdr (assq name params))
                         when value collect (cons property (format "%s" value))))))

(defun org-agent-babel--session (params)
  "Return the conversation that PARAMS name, or nil."
  (let ((session (cdr (assq :session params))))
    (unless (member session '(nil "" "none"))
      (format "%s" session))))

;;;###autoload
(defun org-babel-execute:org-agent-chat (body params)
  "Ask BODY, a block with PARAMS; the answer comes into its results.
Return it where an export needs it, and else nothing yet."
  (when (string-blank-p body)
    (user-error "The block is empty; write into it what you want to ask"))
  (org-agent-kernel-ensure)
  (org-agent-send-ask-consent)
  (let ((answer (make-org-agent-babel-answer
                 :id (org-id-uuid)
                 :block (copy-marker (or (org-babel-where-is-src-block-head) (point)))))
        (session (or (org-agent-babel--session params) org-agent-babel-session)))
    (org-agent-babel--stop-earlier answer)
    (org-agent-send-in session (org-agent-babel--message
                                (org-agent-babel-answer-id answer) body params))
    (if (or (bound-and-true-p org-export-current-backend)
            (equal (cdr (assq :async params)) "no"))
        (org-agent-babel--wait answer)
      (org-agent-babel--follow answer)
      "")))

(defun org-agent-babel--stop-earlier (answer)
  "Stop an answer that is still to come for the block of ANSWER."
  (dolist (earlier (copy-sequence org-agent-babel--answers))
    (when (equal (org-agent-babel-answer-block earlier)
                 (org-agent-babel-answer-block answer))
      (org-agent-babel--stop earlier))))

(defun org-agent-babel--wait (answer)
  "Return the text of ANSWER when it has come.  \\[keyboard-quit] stops it."
  (let* (result (id (org-agent-babel-answer-id answer)) done)
    (unwind-protect
        (progn
          (org-agent-turn-when-ended id :plain (lambda (ended) (setq result ended)))
          (while (not result) (accept-process-output nil 0.1))
          (setq done t))
      (unless done
        (org-agent-turn-forget id)
        (org-agent-turn-cancel id)))
    (org-agent-babel--final result)))

(defun org-agent-babel--final (result)
  "Return the text for RESULT, the end of a turn."
  (org-agent-babel--body
   (or (and (eq (plist-get result :state) :answered) (plist-get result :answer))
       (format "No answer: %s"
               (org-agent-one-line (or (plist-get result :notice)
                                       (plist-get result :answer) "it was stopped"))))))

(defun org-agent-babel--body (text)
  "Return TEXT, an answer or its beginning, as it can stand in a drawer.
A heading would end the drawer, and so would its last line."
  (let ((case-fold-search t))
    (thread-last
      (string-trim (org-agent-inert text) "\n+" "[ \t\n]+")
      (replace-regexp-in-string "^\\*+ +\\(.*?\\)[ \t]*$" "*\\1*")
      (replace-regexp-in-string "^[ \t]*:end:[ \t]*$" "\u200b\\&"))))

(defun org-agent-babel--preview (text)
  "Return what TEXT, the beginning of a turn in a conversation, says.
Its heading has the first line of what was said, or an excerpt of it."
  (if (string-match "\\`\\*+ \\(.*?\\)[ \t]+:[[:alnum:]_:]+:[ \t]*\n\\(?::PROPERTIES:\n\\(?:.*\n\\)*?:END:\n?\\)?"
                    text)
      (let ((title (match-string 1 text))
            (rest (string-trim-left (substring text (match-end 0)) "\n+")))
        (if (or (string-suffix-p "…" title) (string-empty-p title))
            rest
          (concat title "\n\n" rest)))
    ""))

;;;; The answer comes

(defun org-agent-babel--follow (answer)
  "Have ANSWER come into the results of its block, which Babel inserts now."
  (push answer org-agent-babel--answers)
  (add-hook 'org-agent-kernel-notified-functions #'org-agent-babel--notified)
  (run-at-time 0 nil #'org-agent-babel--begin answer)
  (org-agent-turn-when-ended
   (org-agent-babel-answer-id answer) :plain
   (lambda (result)
     (when (memq answer org-agent-babel--answers)
       (org-agent-babel--begin answer)
       (unless (org-agent-babel--show answer (org-agent-babel--final result))
         (message "The block has no place for its answer; it is in the conversation %s"
                  (plist-get result :session)))
       (org-agent-babel--forget answer)))))

(defun org-agent-babel--forget (answer)
  "Wait for ANSWER no more."
  (setq org-agent-babel--answers (delq answer org-agent-babel--answers))
  (unless org-agent-babel--answers
    (remove-hook 'org-agent-kernel-notified-functions #'org-agent-babel--notified))
  (when (org-agent-babel-answer-timer answer)
    (cancel-timer (org-agent-babel-answer-timer answer)))
  (org-agent-pending-hide (org-agent-babel-answer-overlay answer))
  (dolist (marker (list (org-agent-babel-answer-block answer)
                        (org-agent-babel-answer-beg answer)))
    (when marker (set-marker marker nil))))

(defun org-agent-babel--stop (answer)
  "Stop ANSWER; what has come of it stays."
  (let ((id (org-agent-babel-answer-id answer)))
    (org-agent-turn-forget id)
    (org-agent-turn-cancel id)
    (org-agent-babel--forget answer)))

(defun org-agent-babel--place (block &optional make)
  "Return where an answer begins in the results of BLOCK, a marker, or nil.
Results that are in no drawer or block have no end.  With MAKE they get a
drawer."
  (when (buffer-live-p (marker-buffer block))
    (with-current-buffer (marker-buffer block)
      (org-with-wide-buffer
       (goto-char block)
       (when-let* ((results (and (looking-at-p "[ \t]*#\\+begin_src")
                                 (org-babel-where-is-src-block-result))))
         (goto-char results)
         (forward-line 1)
         (let* ((case-fold-search t)
                (wrapped (looking-at-p "[ \t]*\\(?::results:\\|#\\+begin_\\)")))
           (when (and make (not wrapped))
             (unless (bolp) (insert "\n"))
             (save-excursion (insert ":results:\n:end:\n")))
           (when (or make wrapped)
             (forward-line 1)
             (point))))))))

(defun org-agent-babel--begin (answer)
  "Find the place of ANSWER, and show there that it is to come."
  (when (and (memq answer org-agent-babel--answers)
             (not (org-agent-babel-answer-beg answer)))
    (when-let* ((block (org-agent-babel-answer-block answer))
                (place (org-agent-babel--place block t)))
      (with-current-buffer (marker-buffer block)
        (setf (org-agent-babel-answer-beg answer) (copy-marker place t)
              (org-agent-babel-answer-overlay answer)
              (org-agent-pending-show
               (1- place) (1- place) "the answer comes in here"
               (lambda () (org-agent-babel--stop answer))))))))

(defun org-agent-babel--notified (method params)
  "Take the piece of an answer in PARAMS, if METHOD says that it is one.
This is for `org-agent-kernel-notified-functions'."
  (when-let* (((eq method 'turn/delta))
              (answer (cl-find (plist-get params :event) org-agent-babel--answers
                               :key #'org-agent-babel-answer-id :test #'equal)))
    (let ((text (org-agent-babel-answer-text answer)))
      (setf (org-agent-babel-answer-text answer)
            (concat (substring text 0 (min (length text) (plist-get params :offset)))
                    (plist-get params :text))))
    (unless (org-agent-babel-answer-timer answer)
      (setf (org-agent-babel-answer-timer answer)
            (run-at-time 0.1 nil #'org-agent-babel--draw answer)))))

(defun org-agent-babel--draw (answer)
  "Show what has come of ANSWER."
  (setf (org-agent-babel-answer-timer answer) nil)
  (when (memq answer org-agent-babel--answers)
    (org-agent-babel--begin answer)
    (org-agent-babel--show answer (org-agent-babel--body
                                   (org-agent-babel--preview
                                    (org-agent-babel-answer-text answer))))))

(defun org-agent-babel--show (answer text)
  "Show TEXT as all of ANSWER, in one step of undo.
Return nil if its place is gone, or if a person has changed what was shown
there.  The conversation has the answer in any case."
  (let* ((beg (org-agent-babel-answer-beg answer))
         (shown (org-agent-babel-answer-shown answer))
         (text (if (string-empty-p text) text (concat text "\n"))))
    (when (and beg (buffer-live-p (marker-buffer beg)))
      (with-current-buffer (marker-buffer beg)
        (org-with-wide-buffer
         (let* ((from (marker-position beg)) (to (+ from (length shown))))
           (when (and (equal from (org-agent-babel--place
                                   (org-agent-babel-answer-block answer)))
                      (<= to (point-max))
                      (equal shown (buffer-substring-no-properties from to)))
             (if (string-empty-p shown)
                 (setf (org-agent-babel-answer-record answer)
                       (org-agent-undo-insert-new from text))
               (org-agent-undo-replace (org-agent-babel-answer-record answer)
                                       from to text))
             (set-marker beg from)
             (setf (org-agent-babel-answer-shown answer) text)
             t)))))))

(provide 'ob-org-agent)
;;; ob-org-agent.el ends here
