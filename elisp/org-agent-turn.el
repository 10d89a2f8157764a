;;; org-agent-turn.el --- Handle the kernel's notifications of turns  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The kernel notifies of the beginning of a turn, of each piece of its
;; answer, and of its end.  Each notification has a function here.  A
;; notification for a session without a buffer in this Emacs has no effect.
;;
;; Some commands show an answer elsewhere than in its conversation: at point,
;; in a window, as a diff.  `org-agent-turn-when-ended' calls a function when
;; such a turn has ended in any way.  It asks the kernel again whenever a
;; kernel becomes ready, and needs no buffer of the conversation.
;;
;; The header line shows how much a model has thought.  `org-agent-thoughts'
;; shows the thoughts as they stream in, in a buffer of their own.  The
;; answer has them in a folded drawer THOUGHTS, beside CALLS for the calls of
;; tools.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-answer)
(require 'org-agent-fontify)
(require 'org-agent-inert)
(require 'org-agent-file-owner)
(require 'org-agent-chat)

(declare-function org-agent-notify-ended "org-agent-notify")

;;;; Answers

;;;###autoload
(defun org-agent-turn-insert-answer (params)
  "Insert the answer of PARAMS into its conversation once, and save it.
Return the receipt for the kernel: the region, the length and the hash of
the inserted text, and whether the file is saved."
  (let* ((session (or (plist-get params :session) org-agent-chat-main))
         (name (org-agent-chat-buffer-name session))
         (wanted (plist-get (plist-get params :payload) :buffer))
         (text (org-agent-kernel-text params)))
    (unless (member wanted (list nil name))
      (org-agent-kernel-refuse "the buffer %s is not that of the conversation"
                               wanted))
    (unless (org-agent-chat-buffer session)
      (org-agent-kernel-refuse "this Emacs does not show the conversation %s"
                               session))
    (org-agent-chat-in session
      (org-agent-file-owner-settle)
      (org-agent-turn--keep-what-was-shown (plist-get params :turn) text)
      (pcase-let* ((`(,beg . ,end)
                    (org-agent-answer-perform
                     (plist-get params :id) (plist-get params :turn)
                     (plist-get params :event) text
                     (plist-get params :words)))
                   (inserted (org-agent-turn--text beg end)))
        (org-agent-turn--bring-back-late)
        (org-agent-chat-restore-draft)
        (list :buffer name :start beg :end end :chars (length inserted)
              :sha256 (secure-hash 'sha256 (encode-coding-string
                                            inserted 'utf-8-unix))
              :saved (and (org-agent-file-owner-save) t))))))

(defun org-agent-turn--text (beg end)
  "Return the text from BEG to END, even if the buffer is narrowed."
  (save-restriction
    (widen)
    (buffer-substring-no-properties beg end)))

;;;; Turns

(defvar-local org-agent-turn--aside nil
  "What was shown of answers that are not in the buffer for a moment.
An alist of the ids of questions and lists (TEXT . PLACES); see
`org-agent-turn--places'.")
(put 'org-agent-turn--aside 'permanent-local t)

(defvar-local org-agent-turn--running nil
  "The question whose turn runs and has shown nothing, (EVENT . COUNT), or nil.
COUNT is how many of its answers had broken off before.")
(put 'org-agent-turn--running 'permanent-local t)

;;;###autoload
(defun org-agent-turn-started (params)
  "Note that the turn of PARAMS runs, and insert its question if missing."
  (org-agent-chat-in (plist-get params :session)
    (let ((event (plist-get params :event))
          (turn (plist-get params :turn))
          (question (plist-get params :question)))
      (when question
        (org-agent-file-owner-settle)
        (org-agent-answer-insert-question event question
                                          (plist-get params :parent))
        (org-agent-chat-restore-draft))
      (org-agent-heading-mark-waiting event nil)
      (org-agent-answer-begin turn)
      (org-agent-turn--note-running event)
      (org-agent-chat-put
       :turn turn :phase 'thinking :thought nil :progress nil
       :model (or (plist-get params :model) (org-agent-chat-get :model))
       :queued (max 0 (1- (or (org-agent-chat-get :queued) 0))))))
  ;; The question may have been in the outbox until now.
  (org-agent-turn--look (plist-get params :event)))

;;;###autoload
(defun org-agent-turn-delta (params)
  "Show the piece of an answer in PARAMS, those of `turn/delta'."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-turn--pace-show params)))

;;;###autoload
(defun org-agent-turn-finished (params)
  "Note that the turn of PARAMS has ended, and save the file."
  (org-agent-chat-in (plist-get params :session)
    (let ((turn (plist-get params :turn)))
      (if (eq (plist-get params :state) :interrupted)
          (org-agent-turn-set-aside turn)
        (org-agent-answer-remove turn))
      (org-agent-answer-end turn)
      (org-agent-turn--commentary-remove)
      (org-agent-turn--bring-back-late)
      ;; What says that an answer broke off may still be on its way, in a file.
      (unless (eq (plist-get params :state) :interrupted)
        (org-agent-turn--forget-aside (plist-get params :event))
        (setq org-agent-turn--running nil))
      (when (member (org-agent-chat-get :turn) (list nil turn))
        (org-agent-chat-put :turn nil :phase nil :progress nil))
      (org-agent-turn--count params)
      (org-agent-heading-mark-waiting (plist-get params :event) nil)
      (when (org-agent-file-owner-awaited-p)
        (org-agent-chat-own-file org-agent-file-owner-file)
        (org-agent-turn--bring-back-late))
      (org-agent-chat-restore-draft)
      (org-agent-file-owner-save)
      (org-agent-turn--announce params)))
  (org-agent-turn--look (plist-get params :event))
  (org-agent-notify-ended params))

(defun org-agent-turn--count (params)
  "Show the usage of the session after the turn of PARAMS in the header line."
  (when-let* ((total (plist-get params :total)))
    (org-agent-chat-put :usage total))
  (when-let* ((window (plist-get params :window)))
    (org-agent-chat-put :shown (plist-get params :shown) :window window))
  (when-let* ((model (plist-get params :model)))
    (org-agent-chat-put :model model)))

(defun org-agent-turn--announce (params)
  "Report how the turn of PARAMS ended, unless the buffer shows that."
  (let ((notice (plist-get params :notice))
        (state (plist-get params :state)))
    (cond
     (notice (org-agent-say "org-agent: %s" notice))
     ((eq state :failed)
      (message "The agent could not answer; C-c C-c on its answer tries again")))))

;;;###autoload
(defun org-agent-turn-kept (params)
  "Add the turn of PARAMS, which the buffer lacked, to the conversation."
  (org-agent-chat-in (plist-get params :session)
    (let ((event (plist-get params :event))
          (turn (plist-get params :turn))
          (question (plist-get params :question))
          (answer (plist-get params :answer))
          (org-agent-answer-undoable nil))
      (org-agent-file-owner-settle)
      (when question
        (org-agent-answer-insert-question event question
                                          (plist-get params :parent)))
      (when answer
        (org-agent-turn--keep-what-was-shown turn answer)
        (org-agent-answer-perform (plist-get params :id) turn event answer
                                  (plist-get params :words))
        (org-agent-turn--bring-back-late)))))

;;;; What was shown when the kernel was killed

(defun org-agent-turn--note-running (event)
  "Note that the turn of the question EVENT runs."
  (unless (equal event (car org-agent-turn--running))
    (setq org-agent-turn--running
          (cons event (org-agent-turn--count-interrupted event)))))

(defconst org-agent-turn--broken-off-regexp
  "^:ID:.*\n:STATE:[ \t]+interrupted[ \t]*$"
  "Matches in the answer that says that the kernel ended.
One that a server cut off has the name of its skill between the two, and
all that came of it.")

(defun org-agent-turn--count-interrupted (event)
  "Return how many answers to the question EVENT broke off."
  (if-let* ((question (org-agent-heading-find event)))
      (org-agent-heading-widely
        (how-many org-agent-turn--broken-off-regexp
                  question (org-agent-heading-subtree-end question)))
    0))

(defun org-agent-turn--say-that-none-came ()
  "Say it if the kernel ended before anything of an answer was shown.
The page says so too, but perhaps out of sight."
  (pcase org-agent-turn--running
    ((and `(,event . ,before)
          (guard (not (assoc event org-agent-turn--aside)))
          (guard (> (org-agent-turn--count-interrupted event) before)))
     (setq org-agent-turn--running nil)
     (message "The kernel ended before an answer came; %s asks again"
              (substitute-command-keys "\\[org-agent-retry]")))))

;;;###autoload
(defun org-agent-turn-set-aside (turn)
  "Remove the preview of TURN and remember what it shows.
`org-agent-turn-bring-back' shows it again."
  (when-let* ((preview (org-agent-answer-preview turn)))
    (let ((event (org-agent-answer-partial-event preview))
          (beg (marker-position (org-agent-answer-partial-text preview)))
          (end (marker-position (org-agent-answer-partial-end preview))))
      (setq org-agent-turn--aside
            (cons (cons event (cons (org-agent-turn--shown preview beg end)
                                    (org-agent-turn--places beg end)))
                  (assoc-delete-all event org-agent-turn--aside))))
    (org-agent-answer-remove turn)))

;;;###autoload
(defun org-agent-turn-set-all-aside ()
  "Set all previews aside."
  (dolist (entry (copy-sequence org-agent-answer-previews))
    (org-agent-turn-set-aside (car entry))))

(defun org-agent-turn--keep-what-was-shown (turn answer)
  "Set the preview of TURN aside if ANSWER says that the kernel ended.
ANSWER would take the place of what was shown."
  (when (string-match-p org-agent-turn--broken-off-regexp answer)
    (org-agent-turn-set-aside turn)))

(defun org-agent-turn--shown (preview beg end)
  "Return the text of PREVIEW from BEG to END, its heading as a line of text.
A heading that is cut is not needed: what it begins stands below it.  A
block that has no end yet gets one."
  (let* ((state (org-agent-answer-partial-state preview))
         (block (org-agent-inert-state-block state)))
    (save-excursion
      (goto-char beg)
      (let ((title (org-get-heading t t t t)))
        (forward-line)
        (when (looking-at org-property-drawer-re)
          (goto-char (match-end 0))
          (forward-line))
        (concat (unless (string-suffix-p "…" title)
                  (org-agent-inert (concat (substring-no-properties title) "\n")))
                (buffer-substring-no-properties (min (point) end) end)
                (when block
                  (format "#+end_%s\n"
                          (or (org-agent-inert-state-stays state) block))))))))

(defun org-agent-turn--places (beg end)
  "Return the places of windows that show the text from BEG to END.
Each is a list (WINDOW START POINT) of distances from END, nil for a
place elsewhere.  WINDOW is nil for the point of the buffer."
  (let ((distance (lambda (position)
                    (and (<= beg position) (< position end) (- end position)))))
    (cons (list nil nil (funcall distance (point)))
          (mapcar (lambda (window)
                    (list window (funcall distance (window-start window))
                          (funcall distance (window-point window))))
                  (get-buffer-window-list nil nil t)))))

(defun org-agent-turn--interrupted-answer (event)
  "Return the position of the last answer to EVENT if it was interrupted."
  (when-let* ((question (org-agent-heading-find event)))
    (save-excursion
      (goto-char (org-agent-heading-subtree-end question))
      (when (re-search-backward org-agent-turn--broken-off-regexp question t)
        (org-back-to-heading t)
        (point)))))

;;;###autoload
(defun org-agent-turn-bring-back ()
  "Show again what was set aside of turns that were interrupted.
Windows that showed it do so again.  What is set aside of other turns
stays aside until they have ended: the kernel may not have said yet what
became of them."
  (pcase-dolist (`(,event ,text . ,places)
                 (copy-sequence org-agent-turn--aside))
    (when-let* ((heading (org-agent-turn--interrupted-answer event)))
      (org-agent-turn--forget-aside event)
      (setq org-agent-turn--running nil)
      (let ((end (+ (org-agent-heading-subtree-end heading) 1 (length text))))
        (org-agent-answer-undisturbed
          (org-agent-answer-insert (- end 1 (length text))
                                   (concat "\n" text) heading))
        (pcase-dolist (`(,window ,start ,point) places)
          (cond ((and (null window) point) (goto-char (- end point)))
                ((window-live-p window)
                 (when start (set-window-start window (- end start) t))
                 (when point (set-window-point window (- end point)))))))
      ;; Its heading, which says so, may be out of sight.
      (org-agent-say "The answer broke off, because the kernel ended; %s"
                     (substitute-command-keys
                      "\\<org-agent-chat-mode-map>\\[org-agent-chat-ctrl-c-ctrl-c] on it or \\[org-agent-retry] asks again"))))
  (org-agent-turn--say-that-none-came))

(defun org-agent-turn--bring-back-late ()
  "Show again what was set aside of turns of which the kernel spoke later.
It may tell how a turn ended after it has told that it is attached."
  (when (or org-agent-turn--aside org-agent-turn--running)
    (org-agent-turn-bring-back)))

(defun org-agent-turn--forget-aside (event)
  "Forget what was set aside of the turn of EVENT."
  (setq org-agent-turn--aside
        (assoc-delete-all event org-agent-turn--aside)))

;;;; The pace of an answer

;; A piece of an answer costs a change of the buffer and a redisplay.  What
;; that is depends on the machine and the windows, so it is measured, and the
;; kernel is asked for larger pieces where it is much.

(defconst org-agent-turn--pace-share 0.04
  "The part of a processor that showing an answer may take.
Reading it and collections of garbage take half as much again.")

(defconst org-agent-turn--pauses '(40 . 200)
  "The shortest and the longest pause between pieces, in milliseconds.
The shortest is what the kernel has without a wish.")

(defconst org-agent-turn--pace-sample 8
  "Of how many pieces one is measured.")

(defvar-local org-agent-turn--pace nil
  "How an answer is shown in this buffer: a list (COUNT MEAN TOLD KERNEL).
COUNT is the number of pieces, MEAN what one costs, and TOLD the pause
that KERNEL was asked for, both in milliseconds.")
(put 'org-agent-turn--pace 'permanent-local t)

(defun org-agent-turn-mean-cost (mean cost)
  "Return the mean cost of a piece that was MEAN, now that one took COST.
One that took very long, for a garbage collection, counts only in part."
  (max 0.5 (+ mean (/ (- (min cost (* 4 mean)) mean) 4.0))))

(defun org-agent-turn-pause (cost)
  "Return the pause between pieces each of which takes COST.
Both are in milliseconds, COST of processor time."
  (max (car org-agent-turn--pauses)
       (min (cdr org-agent-turn--pauses)
            (round (/ cost org-agent-turn--pace-share)))))

(defun org-agent-turn-pace-changed-p (told pause)
  "Return non-nil when PAUSE differs so much from TOLD that it matters."
  (> (abs (- pause told)) (/ told 4)))

(defun org-agent-turn--pace-show (params)
  "Show the piece of an answer in PARAMS; measure that from time to time."
  (pcase-let ((`(,count ,mean ,told ,kernel)
               (or org-agent-turn--pace
                   (list 0 1.0 (car org-agent-turn--pauses) nil))))
    (unless (eq kernel org-agent-kernel-server)
      (setq told (car org-agent-turn--pauses)))
    (if (< (cl-incf count) org-agent-turn--pace-sample)
        (org-agent-turn-show-delta params)
      (setq count 0
            mean (org-agent-turn-mean-cost
                  mean (org-agent-turn--pace-measure params)))
      (let ((pause (org-agent-turn-pause mean)))
        (when (org-agent-turn-pace-changed-p told pause)
          (setq told pause)
          (org-agent-kernel-request
           "session/pace" (list :session org-agent-chat-session
                                :milliseconds pause)
           :failure #'ignore))))
    (setq org-agent-turn--pace (list count mean told org-agent-kernel-server))))

(defun org-agent-turn--pace-measure (params)
  "Show the piece in PARAMS, and return the processor time of that.
The redisplay, which is most of it, would follow anyway."
  (let ((before (float-time (get-internal-run-time))))
    (org-agent-turn-show-delta params)
    (redisplay)
    (* 1000 (- (float-time (get-internal-run-time)) before))))

;;;; Sessions

;;;###autoload
(defun org-agent-turn-file-owner (params)
  "Become the owner of the file of the session in PARAMS, or release it."
  (org-agent-chat-in (plist-get params :session)
    (if (plist-get params :keeper)
        (org-agent-chat-own-file (plist-get params :file))
      (org-agent-file-owner-release))
    (org-agent-turn--bring-back-late)
    (org-agent-chat-restore-draft)))

;;;###autoload
(defun org-agent-turn-notice (params)
  "Show the text in PARAMS in the echo area and in the log."
  (let ((text (plist-get params :text)))
    (org-agent-rpc-log "%s" text)
    (org-agent-say "org-agent: %s" text)))

;;;; The end of a turn

(defvar org-agent-turn--awaited nil
  "An alist of ids of questions and (FORM . FUNCTION) for their ends.")

(defun org-agent-turn-when-ended (event form function)
  "Call FUNCTION when the turn of the question EVENT has ended.
Call it with the result of the method `turn/find'.  In that, `:state' is
final and `:answer' is the text in FORM: `:plain', `:raw' or `:subtree'.
`:notice' says why there is no answer.  Call this after the question was
sent."
  (add-hook 'org-agent-kernel-ready-hook #'org-agent-turn--look-all)
  (setf (alist-get event org-agent-turn--awaited nil nil #'equal)
        (cons form function))
  (when (org-agent-kernel-ready-p)
    (org-agent-turn--look event)))

(defun org-agent-turn-forget (event)
  "Do not wait for the end of the turn of EVENT any more."
  (setf (alist-get event org-agent-turn--awaited nil t #'equal) nil))

(defun org-agent-turn-cancel (event)
  "Have the kernel cancel the turn of the question EVENT."
  (org-agent-kernel-request
   "turn/cancel" (list :event event)
   :failure (lambda (refusal)
              (org-agent-chat-complain "Not stopped" refusal))))

(defun org-agent-turn--look (event)
  "If the end of EVENT is waited for, ask the kernel whether it has ended.
If the kernel does not know the question, it is still in the outbox, and
we continue to wait."
  (when-let* ((waiting (alist-get event org-agent-turn--awaited
                                  nil nil #'equal)))
    (org-agent-kernel-request
     "turn/find" (list :id event :form (car waiting))
     :success (lambda (result)
                (when (memq (plist-get result :state)
                            '(:answered :failed :cancelled :interrupted))
                  (org-agent-turn--tell-end event result)))
     :failure #'ignore)))

(defun org-agent-turn--tell-end (event result)
  "Call the function that waits for the end of EVENT with RESULT, once."
  (when-let* ((waiting (alist-get event org-agent-turn--awaited
                                  nil nil #'equal)))
    (org-agent-turn-forget event)
    (funcall (cdr waiting) result)))

(defun org-agent-turn--look-all ()
  "Ask the kernel, which has become ready, for all ends that we wait for."
  (dolist (waiting (copy-sequence org-agent-turn--awaited))
    (org-agent-turn--look (car waiting))))

;;;; Commentary

(defvar-local org-agent-turn--commentary nil
  "The overlay with what the model said last beside its calls, or nil.
It is there while the turn runs.  The answer then has a drawer.")
(put 'org-agent-turn--commentary 'permanent-local t)

;;;###autoload
(defun org-agent-turn-commentary (params)
  "Show what PARAMS has of commentary as one quiet line below its question."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-turn--commentary-remove)
    (when-let* ((heading (org-agent-heading-find (plist-get params :event))))
      (org-agent-heading-widely
        (let ((end (org-agent-heading-subtree-end heading)))
          (when (eq (char-before end) ?\n) (cl-decf end))
          (setq org-agent-turn--commentary (make-overlay end end))))
      (overlay-put org-agent-turn--commentary 'after-string
                   (propertize (concat "\n" (org-agent-fontify-commentary
                                             (plist-get params :text)))
                               'face 'shadow)))))

(defun org-agent-turn--commentary-remove ()
  "Remove the line of commentary, if there is one."
  (when org-agent-turn--commentary
    (delete-overlay org-agent-turn--commentary)
    (setq org-agent-turn--commentary nil)))

;;;; Thoughts

(defvar-local org-agent-turn--thought-text nil
  "The latest turn with thoughts and their pieces, latest first.
A list (TURN PIECE...), or nil.")
(put 'org-agent-turn--thought-text 'permanent-local t)

(defconst org-agent-turn--thought-limit 200000
  "The maximal number of characters of thoughts that are kept.")

(defun org-agent-turn--thought-buffer-name ()
  "Return the name of the buffer for the thoughts of this conversation."
  (format "*org-agent thoughts: %s*" org-agent-chat-session))

;;;###autoload
(defun org-agent-turn-thought (params)
  "Note and show the piece of thoughts in PARAMS."
  (org-agent-chat-in (plist-get params :session)
    (let ((turn (plist-get params :turn))
          (text (or (plist-get params :text) "")))
      (unless (equal turn (car org-agent-turn--thought-text))
        (setq org-agent-turn--thought-text (list turn))
        (org-agent-turn--thought-show t ""))
      (when (<= (or (plist-get params :chars) 0) org-agent-turn--thought-limit)
        (push text (cdr org-agent-turn--thought-text)))
      (org-agent-chat-put :thought (plist-get params :chars))
      (org-agent-turn--thought-show nil text))))

(defun org-agent-turn--thought-show (anew text)
  "Add TEXT to the buffer of thoughts, if there is one.
If ANEW is non-nil, empty it first."
  (when-let* ((buffer (get-buffer (org-agent-turn--thought-buffer-name))))
    (with-current-buffer buffer
      (let ((inhibit-read-only t))
        (when anew (erase-buffer))
        (save-excursion
          (goto-char (point-max))
          (when (< (buffer-size) org-agent-turn--thought-limit)
            (insert text)))))))

;;;###autoload
(defun org-agent-thoughts ()
  "Show the thoughts of the model of this conversation as they stream in."
  (interactive)
  (org-agent-chat-check)
  (let ((text (apply #'concat (reverse (cdr org-agent-turn--thought-text))))
        (name (org-agent-turn--thought-buffer-name)))
    ;; An existing buffer is up to date.
    (unless (get-buffer name)
      (with-current-buffer (get-buffer-create name)
        (let ((inhibit-read-only t))
          (insert text)
          (special-mode)
          (visual-line-mode 1))))
    (pop-to-buffer name)))

;;;###autoload
(defun org-agent-turn-ask-preview (turn event from)
  "Request the text of TURN, the answer to EVENT, FROM a code point on.
Do nothing if such a request for the turn is in progress."
  (org-agent-turn--note-running event)
  (unless (member turn org-agent-chat-previews-requested)
    (push turn org-agent-chat-previews-requested)
    (org-agent-kernel-request-here
     "turn/get" (list :turn turn :from from)
     :success
     (lambda (result)
       (setq org-agent-chat-previews-requested
             (delete turn org-agent-chat-previews-requested))
       (cond
        ;; The turn ended before this result arrived.
        ((not (equal turn (org-agent-chat-get :turn))))
        ((plist-get result :id)
         (org-agent-turn-show-delta
          (append (list :turn turn :event event) result)))
        ;; The turn ended after `session/load' reported it as running.
        ((memq (plist-get result :state)
               '(:answered :failed :cancelled :interrupted))
         (org-agent-answer-remove turn)
         (org-agent-chat-put :turn nil :phase nil)
         (org-agent-chat-restore-draft)
         (org-agent-file-owner-save))))
     :failure #'ignore)))

(defun org-agent-turn-show-delta (params)
  "Show the piece of an answer in PARAMS, in the format of `turn/delta'."
  (let ((turn (plist-get params :turn))
        (event (plist-get params :event)))
    (unless (and (eq (org-agent-chat-get :phase) 'streaming)
                 (equal turn (org-agent-chat-get :turn)))
      (org-agent-chat-put :turn turn :phase 'streaming))
    (org-agent-answer-delta
     params
     (lambda (from) (org-agent-turn-ask-preview turn event from)))))

(provide 'org-agent-turn)
;;; org-agent-turn.el ends here
