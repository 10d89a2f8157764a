;;; org-agent-branch.el --- Branches, several answers, edited questions, steering  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-branch' makes a draft below the question or answer at point:
;; a heading with the tag `:draft:', which C-c C-c in it sends.  With the
;; property HISTORY set to branch, the model gets only the turns that the
;; question is below.
;;
;; A question may have several answers, one after the other.  Later turns
;; get the last complete one, or the preferred one, which is marked by the
;; property PREFERRED in its drawer.  Ediff compares two answers.
;;
;; `org-agent-edit-question' asks a question again in other words, and
;; `org-agent-steer' sends a message to the turn that runs.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-id)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-draft)
(require 'org-agent-answer)
(require 'org-agent-file-owner)
(require 'org-agent-undo)
(require 'org-agent-fontify)
(require 'org-agent-chat)
(require 'org-agent-send)

(declare-function org-agent-page-unfolded "org-agent-page")
(declare-function ediff-buffers "ediff")

(defcustom org-agent-branch-alone t
  "Whether a draft below an old heading gets the property HISTORY: branch.
It applies to all questions below the draft.  If nil, the model gets the
earlier turns of the whole conversation, as always."
  :type 'boolean
  :group 'org-agent-chat
  :package-version '(org-agent . "0.1.0"))

;;;###autoload
(defun org-agent-branch ()
  "Begin a draft below the question or answer at point, and go there.
From the draft at the end it is the last answer that is meant.
\\[org-agent-send] sends it while point is in it.  The option
`org-agent-branch-alone' says which earlier turns the model gets."
  (interactive)
  (org-agent-chat-check)
  (let ((heading (org-agent-draft-turn-meant)))
    (unless heading
      (user-error "Point is on no question and no answer"))
    (when (member "unsent" (org-agent-heading-tags heading))
      (user-error "This question was not sent yet; C-c C-c sends it"))
    (widen)
    (let ((level (1+ (org-agent-heading-level heading)))
          start)
      (goto-char (org-agent-heading-subtree-end heading))
      (unless (bolp) (insert "\n"))
      (setq start (point))
      (insert (org-agent-heading-line level "" '("draft"))
              (if org-agent-branch-alone
                  ":PROPERTIES:\n:HISTORY:  branch\n:END:\n"
                ""))
      (goto-char (+ start level 1))
      (org-agent-heading-call-org 'org-fold-show-set-visibility 'org-show-set-visibility 'canonical)
      (org-agent-page-unfolded 'all)))) ; Org folded drawers, which a page hides

;;;; Several answers

(defun org-agent-branch--answers (question)
  "Return the headings of the answers to the QUESTION's heading, in order."
  (let ((level (1+ (org-agent-heading-level question)))
        (end (org-agent-heading-subtree-end question))
        found)
    (org-agent-heading-map-turns
     (lambda (heading)
       (when (and (> heading question) (< heading end)
                  (= (org-agent-heading-level heading) level)
                  (eq (org-agent-heading-turn-p heading) 'agent)
                  (org-agent-heading-property heading "MODEL"))
         (push heading found))))
    (nreverse found)))

(defun org-agent-branch--at-point ()
  "Return the heading of the answer that point is in, or nil.
From the draft at the end that is the last answer."
  (when-let* ((question (org-agent-draft-turn-meant 'user)))
    (let ((answers (org-agent-branch--answers question)))
      (if (org-agent-heading-turn-at (point) 'user)
          (cl-find-if (lambda (answer)
                        (and (>= (point) answer)
                             (< (point) (org-agent-heading-subtree-end answer))))
                      answers)
        (car (last answers))))))

;;;###autoload
(defun org-agent-prefer-answer ()
  "Prefer the answer at point: later turns get it instead of the last one.
If it is preferred already, prefer none.  The answers stay as they are;
the mark is the property PREFERRED."
  (interactive)
  (let ((answer (org-agent-branch--at-point)))
    (unless answer
      (user-error "Point is in no answer"))
    (org-agent-chat-check-attached)
    (let ((preferred (org-agent-heading-property answer "PREFERRED")))
      (org-agent-kernel-request
       "turn/prefer"
       (append (list :id (org-agent-heading-property answer "ID"))
               (and preferred (list :not t)))
       :success (lambda (_)
                  (message (if preferred "Later turns get the last answer again"
                             "Later turns get this answer")))
       :failure (lambda (refusal)
                  (org-agent-chat-complain "Not preferred" refusal))))))

;;;###autoload
(defun org-agent-branch-preferred (params)
  "Mark the answer that PARAMS name as preferred, and no other."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-file-owner-look)
    (when-let* ((question (org-agent-heading-find (plist-get params :event))))
      (dolist (answer (nreverse (org-agent-branch--answers question)))
        (org-agent-branch--mark
         answer (equal (org-agent-heading-property answer "ID")
                       (plist-get params :id))))
      (org-agent-file-owner-save))))

(defun org-agent-branch--mark (heading preferred)
  "Mark the answer at HEADING if it is PREFERRED, or else remove the mark."
  (unless (eq preferred
              (and (org-agent-heading-property heading "PREFERRED") t))
    (let ((end (cdr (assq t (org-agent-heading-properties heading)))))
      (org-agent-answer-undisturbed
        (goto-char end)
        (forward-line -1)
        (if preferred
            (org-agent-undo-insert nil (point) ":PREFERRED: t\n")
          (when (re-search-backward "^[ \t]*:PREFERRED:.*\n" heading t)
            (org-agent-undo-delete nil (match-beginning 0)
                                   (match-end 0))))))))

;;;; Comparing

;;;###autoload
(defun org-agent-compare-answers ()
  "Compare two answers to the question at point with Ediff.
With more than two, compare the one at point, or the last, with the one
before it.  The buffers are killed when Ediff ends."
  (interactive)
  (let* ((question (org-agent-send-question-here))
         (answers (org-agent-branch--answers question))
         (at (cl-position (org-agent-branch--at-point) answers))
         (second (or (and at (> at 0) at)
                     (if at 1 (1- (length answers))))))
    (when (< (length answers) 2)
      (user-error "There are no two answers; M-x org-agent-retry makes another one"))
    (let* ((buffers (mapcar #'org-agent-branch--buffer
                            (list (nth (1- second) answers)
                                  (nth second answers))))
           (windows (current-window-configuration)))
      (ediff-buffers
       (car buffers) (cadr buffers)
       (list
        (lambda ()
          (add-hook 'ediff-quit-hook
                    (lambda ()
                      (run-at-time 0 nil #'org-agent-branch--clean
                                   buffers windows))
                    t t)))))))

(defun org-agent-branch--clean (buffers windows)
  "Kill the BUFFERS of a comparison and show WINDOWS again."
  (dolist (buffer buffers)
    (when (buffer-live-p buffer) (kill-buffer buffer)))
  (when (eq (window-configuration-frame windows) (selected-frame))
    (set-window-configuration windows)))

(defun org-agent-branch--buffer (heading)
  "Return a temporary buffer with the answer at HEADING, without its drawer."
  (let* ((model (or (org-agent-heading-property heading "MODEL") "answer"))
         (title (org-agent-heading-title heading))
         (text (org-agent-heading-widely
                 (buffer-substring-no-properties
                  (cdr (assq t (org-agent-heading-properties heading)))
                  (org-agent-heading-subtree-end heading))))
         (buffer (generate-new-buffer (format "*org-agent answer: %s*" model))))
    (with-current-buffer buffer
      (insert "* " title "\n" text)
      (goto-char (point-min))
      (setq-local enable-local-variables nil)
      (delay-mode-hooks (org-mode))
      (org-agent-heading-call-org 'org-fold-show-all 'org-show-all)
      (set-buffer-modified-p nil)
      (setq buffer-read-only t))
    buffer))

;;;; Steering

;;;###autoload
(defun org-agent-steer (text)
  "Send TEXT to the turn that runs in this conversation.
The model gets it with its next request of that turn, and the answer
shows it as a line of yours.  If the turn makes no further request, TEXT
becomes the next message."
  (interactive
   (progn (org-agent-branch--steer-check)
          (list (read-string "Say to the turn that runs: "))))
  (org-agent-branch--steer-check)
  (when (string-empty-p (string-trim text))
    (user-error "Nothing to say"))
  (org-agent-kernel-request
   "turn/steer" (list :session org-agent-chat-session :id (org-id-uuid)
                      :text (substring-no-properties text))
   :success (lambda (_) (message "The agent gets the remark with its next step"))
   :failure (lambda (refusal)
              (org-agent-chat-complain "Not said" refusal))))

(defun org-agent-branch--steer-check ()
  "Signal an error unless a turn runs in this conversation."
  (org-agent-chat-check)
  (unless (and (eq org-agent-chat-attached t) (org-agent-chat-get :turn))
    (user-error "Nothing is being answered; write a message and send it")))

;;;; Asking anew

(defvar-local org-agent-branch--origin nil
  "The conversation, the id and the level of the question edited here.")
(put 'org-agent-branch--origin 'permanent-local t)

(defvar org-agent-edit-question-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") '("ask anew" . org-agent-edit-question-send))
    (define-key map (kbd "C-c C-k") '("cancel" . org-agent-edit-question-cancel))
    map)
  "Keymap of a question that is edited.")

(define-derived-mode org-agent-edit-question-mode org-mode "Org-Agent-Question"
  "Major mode of a question that is edited.
\\<org-agent-edit-question-mode-map>\\[org-agent-edit-question-send] asks it anew, \\[org-agent-edit-question-cancel] cancels the edit."
  :interactive nil
  (setq-local org-confirm-babel-evaluate t
              enable-local-variables nil)
  (org-agent-fontify-listed-languages)
  (setq header-line-format
        (substitute-command-keys
         " \\<org-agent-edit-question-mode-map>\\[org-agent-edit-question-send] ask anew  \\[org-agent-edit-question-cancel] cancel")))

;;;###autoload
(defun org-agent-edit-question ()
  "Edit the question at point in a buffer of its own and ask it anew.
The old question and its answers stay as they are.  The new question
is at the end of the conversation, with the property INSTEAD.  Its
turn gets the turns before the old question.  Later turns get neither the
old question nor the turns after it.  A question that still waits for
its turn is taken back, and the new one is a message like any other.  The
draft stays as it is."
  (interactive)
  (org-agent-chat-check-whole)
  (let ((heading (org-agent-send-question-here))
        (chat (current-buffer)))
    (let ((text (org-agent-heading-question-text heading))
          (origin (list chat (org-agent-heading-property heading "ID")
                        (org-agent-heading-level heading)))
          (buffer (generate-new-buffer "*org-agent question*")))
      (with-current-buffer buffer
        (insert text)
        (org-agent-edit-question-mode)
        (set-buffer-modified-p nil)
        (setq org-agent-branch--origin origin))
      (pop-to-buffer buffer))))

(defun org-agent-edit-question-send ()
  "Ask the question that is edited here."
  (interactive)
  (unless org-agent-branch--origin
    (user-error "No question is edited here; M-x org-agent-edit-question begins it"))
  (pcase-let ((`(,chat ,id ,level) org-agent-branch--origin)
              (text (org-agent-draft-normalize
                     (buffer-substring-no-properties (point-min) (point-max))
                     (nth 2 org-agent-branch--origin))))
    (unless text (user-error "Nothing to send"))
    (unless (buffer-live-p chat)
      (user-error "The conversation was closed; open it and copy this there"))
    (with-current-buffer chat
      (org-agent-branch--ask-anew id level text))
    (quit-window t)))

(defun org-agent-branch--ask-anew (id level text)
  "Ask TEXT at LEVEL in the place of the question ID."
  (org-agent-send-ask-consent)
  (let* ((heading (org-agent-heading-find id))
         (waits (org-agent-heading-waits-p heading))
         (new (org-id-uuid))
         (parent (and heading (org-agent-heading-parent heading)))
         (properties
          (and heading
               (cl-remove-if (lambda (property)
                               (member (car property) '(t "ID" "INSTEAD")))
                             (org-agent-heading-properties heading))))
         (instead (and (not waits)
                       (not (org-agent-send-unsent-p heading))
                       id)))
    (when waits
      (org-agent-kernel-request "turn/cancel" (list :event id)))
    (org-agent-file-owner-look)
    (org-agent-answer-insert-question
     new (org-agent-heading-question level new text t instead properties)
     (and parent (org-agent-heading-property parent "ID")))
    (org-agent-file-owner-save)
    (org-agent-send-post
     (append (list :id new :level level :text text)
             (and instead (list :instead instead))))))

(defun org-agent-edit-question-cancel ()
  "Stop editing, and leave the question as it is."
  (interactive)
  (set-buffer-modified-p nil)
  (quit-window t))

(provide 'org-agent-branch)
;;; org-agent-branch.el ends here
