;;; org-agent-complete.el --- Text that is proposed where one writes  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; In a buffer with `org-agent-complete-mode' Emacs asks a model what might
;; come next, a moment after the person has typed something.  The reply is
;; shown as a ghost; the person accepts it or types on.
;;
;; A *ghost* is text that is shown after point and is not in the buffer:
;; the string of one overlay, in the selected window.  An Emacs has one at a
;; time.  It is never in the undo list, in a saved file or in a copy, and it
;; moves nothing.  It disappears at the next command, unless that command
;; has the property `org-agent-ghost-keeps', and when the text beside it
;; changes.
;;
;; - `org-agent-completion-context' chooses the text that is sent, and the
;;   part of the reply that may be inserted.
;; - An Emacs has one request at a time.  The next command cancels it, and
;;   the kernel then cancels its request to the model.
;; - Nothing here waits, asks or moves point.  Buffers without the mode
;;   have no hook and no timer; the one timer belongs to the buffer in which
;;   the person types, and runs once.
;; - The kernel counts tokens and cost, and stores nothing else.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-completion-context)

(declare-function org-agent-send-ask-consent "org-agent-send")

(defvar company-candidates)
(defvar completion-in-region-mode)
(defvar evil-local-mode)
(defvar evil-state)
(defvar org-agent-send-agreed)

;;;; The ghost

(defface org-agent-ghost '((t :inherit shadow))
  "Face of a proposed text that is not in the buffer."
  :group 'org-agent-complete)

(defvar org-agent-complete--ghost-overlay nil
  "The overlay that shows the ghost, or nil when none was shown yet.")

(defvar org-agent-complete--ghost-text nil
  "The text of the ghost, nil when there is none.")

(defvar-local org-agent-complete-ghost-shown nil
  "Non-nil while a ghost is shown in this buffer.")

(defun org-agent-complete-ghost-show (text)
  "Show TEXT, which is not empty, after point, in the selected window."
  (org-agent-complete-ghost-hide)
  (unless org-agent-complete--ghost-overlay
    (setq org-agent-complete--ghost-overlay (make-overlay (point) (point))))
  (let ((overlay org-agent-complete--ghost-overlay))
    (move-overlay overlay (point) (point) (current-buffer))
    (overlay-put overlay 'window (selected-window))
    (overlay-put overlay 'priority 100)
    (overlay-put overlay 'after-string (org-agent-complete--ghost-string text)))
  (setq org-agent-complete--ghost-text text
        org-agent-complete-ghost-shown t)
  (add-hook 'pre-command-hook #'org-agent-complete--ghost-before-command nil t)
  (add-hook 'post-command-hook #'org-agent-complete--ghost-after-command nil t)
  (add-hook 'after-change-functions #'org-agent-complete--ghost-after-change nil t)
  (add-hook 'change-major-mode-hook #'org-agent-complete-ghost-hide nil t)
  (add-hook 'kill-buffer-hook #'org-agent-complete-ghost-hide nil t))

(defun org-agent-complete--ghost-string (text)
  "Return TEXT as it is shown after point.
The cursor is before it, and lines are indented as the current one.
The cursor cannot be before a line break, so a blank precedes that."
  (let ((string (propertize (if (string-prefix-p "\n" text)
                                (concat " " text)
                              text)
                            'face 'org-agent-ghost)))
    (dolist (property '(line-prefix wrap-prefix))
      (when-let* ((value (get-char-property (line-beginning-position) property)))
        (put-text-property 0 (length string) property value string)))
    (put-text-property 0 1 'cursor t string)
    string))

(defun org-agent-complete-ghost-hide ()
  "Hide the ghost in any buffer."
  (setq org-agent-complete--ghost-text nil)
  (when-let* ((overlay org-agent-complete--ghost-overlay)
              (buffer (overlay-buffer overlay)))
    (overlay-put overlay 'after-string nil)
    (delete-overlay overlay)
    (with-current-buffer buffer
      (setq org-agent-complete-ghost-shown nil)
      (remove-hook 'pre-command-hook #'org-agent-complete--ghost-before-command t)
      (remove-hook 'post-command-hook #'org-agent-complete--ghost-after-command t)
      (remove-hook 'after-change-functions #'org-agent-complete--ghost-after-change t)
      (remove-hook 'change-major-mode-hook #'org-agent-complete-ghost-hide t)
      (remove-hook 'kill-buffer-hook #'org-agent-complete-ghost-hide t))))

(defun org-agent-complete-ghost-at-point ()
  "Return the text of the ghost that is shown at point, or nil."
  (and org-agent-complete-ghost-shown
       ;; A clone of the buffer has its variables but no ghost.
       (eq (overlay-buffer org-agent-complete--ghost-overlay) (current-buffer))
       (eql (overlay-start org-agent-complete--ghost-overlay) (point))
       org-agent-complete--ghost-text))

(defun org-agent-complete--ghost-before-command ()
  "Hide the ghost before a command without `org-agent-ghost-keeps'."
  (unless (and (symbolp this-command)
               (get this-command 'org-agent-ghost-keeps))
    (org-agent-complete-ghost-hide)))

(defun org-agent-complete--ghost-after-command ()
  "Hide the ghost when a command that keeps it has moved point."
  (unless (org-agent-complete-ghost-at-point)
    (org-agent-complete-ghost-hide)))

(defun org-agent-complete--ghost-after-change (beg end _length)
  "Hide the ghost when the changed text from BEG to END touches it."
  (let ((position (overlay-start org-agent-complete--ghost-overlay)))
    (when (or (null position) (<= beg position end))
      (org-agent-complete-ghost-hide))))

(defcustom org-agent-complete-delay 0.6
  "Seconds without typing after which Emacs requests a completion."
  :type 'number
  :group 'org-agent-complete
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-complete-model nil
  "The model that completes, by the name that `org-agent-model' lists.
A small model that does not think first is best.  Nil means the model
that answers where none is chosen."
  :type '(choice (const :tag "The configured one" nil) string)
  :group 'org-agent-complete
  :package-version '(org-agent . "0.1.0"))

(cl-defstruct (org-agent-complete-request (:copier nil))
  "A request for a completion."
  buffer point before after
  (id nil :documentation "The id of the request.")
  (manual nil :documentation "Non-nil when the person asked for it."))

(defvar org-agent-complete--pending nil
  "The pending request for a completion, or nil.")

(defvar org-agent-complete--offered nil
  "The latest completed request and its text, (COMPLETION . TEXT), or nil.")

(defvar org-agent-complete--timer nil
  "The timer that will request a completion, or nil.")

(defvar org-agent-complete--trouble nil
  "Why the last request failed, nil when it did not.")

(defvar org-agent-complete--failures 0
  "How many requests failed in a row.")

(defvar org-agent-complete--rest 0
  "The time, in seconds since 1970, before which no request is automatic.")

(defvar-local org-agent-complete--tick nil
  "The buffer's tick after the last command.")

;;;; The mode

(defvar org-agent-complete-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "TAB") '("accept" . org-agent-complete-accept))
    (define-key map (kbd "M-i") '("accept a word" . org-agent-complete-accept-word))
    (define-key map (kbd "M-n") '("accept a line" . org-agent-complete-accept-line))
    map)
  "Keymap while a ghost is shown.")

(unless (assq 'org-agent-complete-ghost-shown minor-mode-map-alist)
  (push (cons 'org-agent-complete-ghost-shown org-agent-complete-map)
        minor-mode-map-alist))

;;;###autoload
(define-minor-mode org-agent-complete-mode
  "Have a model propose what comes next, as you type in this buffer.
When you have typed something and then nothing for
`org-agent-complete-delay' seconds, the text around point is sent to the
model, and what it would write is shown after point, in the face
`org-agent-ghost'.  \\<org-agent-complete-map>\\[org-agent-complete-accept] \
accepts it, \\[org-agent-complete-accept-word] a word and \
\\[org-agent-complete-accept-line] a line of it.
Typing the proposed text moves on in it, any other command removes it.
These keys are in `org-agent-complete-map' and work only while a text is
proposed.

A request contains up to `org-agent-complete-before' characters before
point and `org-agent-complete-after' after it, the buffer's name without
directory and its mode.  It goes to `org-agent-complete-model'.  The
kernel, which is started if none runs, stores no text of it and counts
tokens and cost (\\[org-agent-usage]).

Nothing is sent from a minibuffer, from read-only text, from another
machine's files, from buffers of secrets
\(`org-agent-command-private-names', `org-agent-command-private-modes',
`org-agent-context-secret-names'), with a private key in sight, or larger
than `org-agent-complete-buffer-limit'.  In Org no text is sent that is
below a heading, or in a file, with one of
`org-agent-complete-private-tags'; in a conversation text is sent only
while you write the draft."
  :init-value nil
  :lighter (:eval (org-agent-complete--lighter))
  :group 'org-agent-complete
  (remove-hook 'post-command-hook #'org-agent-complete--after-command t)
  (org-agent-complete--forget (current-buffer))
  (when org-agent-complete-mode
    (when (called-interactively-p 'any)
      (org-agent-complete--begin))
    (setq org-agent-complete--tick (buffer-chars-modified-tick))
    (add-hook 'post-command-hook #'org-agent-complete--after-command nil t)))

(defun org-agent-complete--begin ()
  "Prepare the mode that a person has just turned on: kernel and consent.
Turn it off again when the person does not agree to send text."
  (setq org-agent-complete--failures 0
        org-agent-complete--rest 0)
  (org-agent-kernel-ensure)
  (condition-case err
      (org-agent-send-ask-consent)
    ((user-error quit)
     (setq org-agent-complete-mode nil)
     (signal (car err) (cdr err))))
  (when-let* ((reason (org-agent-completion-context-refusal)))
    (message "Here nothing is sent: %s" reason)))

(defun org-agent-complete--lighter ()
  "Return the text for the mode line."
  (cond
   ((and org-agent-complete--pending
         (eq (org-agent-complete-request-buffer org-agent-complete--pending)
             (current-buffer)))
    " Ghost…")
   (org-agent-complete--trouble
    (propertize " Ghost!" 'help-echo org-agent-complete--trouble))
   (t " Ghost")))

(defun org-agent-complete--after-command ()
  "Schedule a request if the last command changed the text."
  (let ((tick (buffer-chars-modified-tick)))
    (unless (eql tick org-agent-complete--tick)
      (setq org-agent-complete--tick tick)
      (unless (org-agent-complete--go-on)
        (org-agent-complete--schedule)))))

(defun org-agent-complete--schedule ()
  "Request a completion after `org-agent-complete-delay' idle seconds."
  (when org-agent-complete--timer
    (cancel-timer org-agent-complete--timer))
  (setq org-agent-complete--timer
        (run-with-idle-timer org-agent-complete-delay nil
                             #'org-agent-complete--when-idle
                             (current-buffer) (point))))

(defun org-agent-complete--when-idle (buffer point)
  "Request a completion in BUFFER, if point is still at POINT in it."
  (setq org-agent-complete--timer nil)
  (when (and (buffer-live-p buffer)
             (eq buffer (window-buffer (selected-window)))
             (buffer-local-value 'org-agent-complete-mode buffer))
    (with-current-buffer buffer
      (when (and (= point (point))
                 (> (float-time) org-agent-complete--rest)
                 (org-agent-complete--fit-p)
                 (not (looking-at-p "\\sw"))
                 (not (org-agent-complete--refusal)))
        (cond
         ((org-agent-kernel-ready-p) (org-agent-complete--ask nil))
         ((eq org-agent-kernel-state 'none) (org-agent-kernel-ensure)))))))

(defun org-agent-complete--refusal ()
  "Return why nothing is completed at point, or nil."
  (or (org-agent-completion-context-refusal)
      (org-agent-completion-context-inert-refusal)))

(defun org-agent-complete--fit-p ()
  "Return non-nil when a ghost at point would not disturb another mode."
  (not (or (use-region-p)
           completion-in-region-mode
           (bound-and-true-p company-candidates)
           (bound-and-true-p isearch-mode)
           executing-kbd-macro
           (input-pending-p)
           (invisible-p (point))
           (and (bound-and-true-p evil-local-mode)
                (not (memq (bound-and-true-p evil-state)
                           '(insert replace emacs)))))))

;;;; Asking

(defun org-agent-complete--ask (manual)
  "Request a completion at point; MANUAL non-nil if the person asked for it."
  (org-agent-complete--give-up)
  (when-let* ((around (org-agent-completion-context)))
    (let ((completion (make-org-agent-complete-request
                       :buffer (current-buffer) :manual manual
                       :point (copy-marker (point))
                       :before (car around) :after (cdr around))))
      (setq org-agent-complete--pending completion)
      (add-hook 'pre-command-hook #'org-agent-complete--give-up nil t)
      (setf (org-agent-complete-request-id completion)
            (org-agent-kernel-request
             "complete" (org-agent-complete--parameters completion)
             :success (lambda (result)
                        (when (org-agent-complete--done completion)
                          (org-agent-complete--show-reply completion result)))
             :failure (lambda (refusal)
                        (when (org-agent-complete--done completion)
                          (org-agent-complete--failed completion refusal)))))
      (force-mode-line-update)
      t)))

(defun org-agent-complete--parameters (completion)
  "Return the parameters of the request for COMPLETION, one of this buffer."
  (append
   (list :before (org-agent-complete-request-before completion)
         :after (org-agent-complete-request-after completion)
         :name (org-agent-one-line (if buffer-file-name
                                       (file-name-nondirectory buffer-file-name)
                                     (buffer-name))
                                   100)
         :mode (symbol-name major-mode))
   (and org-agent-complete-model (list :model org-agent-complete-model))
   (and (bound-and-true-p org-agent-send-agreed)
        (list :consent org-agent-send-agreed))))

(defun org-agent-complete--done (completion)
  "Note that the request COMPLETION has ended.
Return nil if it was cancelled before, or its buffer is gone."
  (when (eq completion org-agent-complete--pending)
    (setq org-agent-complete--pending nil)
    (force-mode-line-update)
    (when (buffer-live-p (org-agent-complete-request-buffer completion))
      (with-current-buffer (org-agent-complete-request-buffer completion)
        (remove-hook 'pre-command-hook #'org-agent-complete--give-up t)
        t))))

(defun org-agent-complete--give-up ()
  "Cancel the pending request and the timer."
  (when org-agent-complete--timer
    (cancel-timer org-agent-complete--timer)
    (setq org-agent-complete--timer nil))
  (when-let* ((completion org-agent-complete--pending))
    (org-agent-complete--done completion)
    (when-let* ((id (org-agent-complete-request-id completion)))
      (org-agent-kernel-cancel id))))

(defun org-agent-complete--forget (buffer)
  "Cancel the request and the timer of BUFFER, and hide its ghost."
  (when (and org-agent-complete--timer
             (eq buffer (car (timer--args org-agent-complete--timer))))
    (cancel-timer org-agent-complete--timer)
    (setq org-agent-complete--timer nil))
  (when (and org-agent-complete--pending
             (eq buffer (org-agent-complete-request-buffer org-agent-complete--pending)))
    (org-agent-complete--give-up))
  (when (buffer-local-value 'org-agent-complete-ghost-shown buffer)
    (org-agent-complete-ghost-hide)))

;;;; Replies

(defun org-agent-complete--show-reply (completion result)
  "Show the text of RESULT, the reply to COMPLETION, if point is still there."
  (setq org-agent-complete--trouble nil
        org-agent-complete--failures 0)
  (let ((buffer (org-agent-complete-request-buffer completion))
        (manual (org-agent-complete-request-manual completion)))
    (when (eq buffer (window-buffer (selected-window)))
      (with-current-buffer buffer
        (when (and (or manual org-agent-complete-mode)
                   (org-agent-complete--still-p completion)
                   (org-agent-complete--fit-p)
                   (not (org-agent-complete--refusal)))
          (let ((text (org-agent-completion-context-inert (or (plist-get result :text) ""))))
            (cond
             (text (setq org-agent-complete--offered (cons completion text))
                   (org-agent-complete-ghost-show text))
             (manual (message "Nothing comes next here")))))))))

(defconst org-agent-complete--near 200
  "How many characters around point must be unchanged when a reply comes.
Text farther away may change, as when an answer comes above the draft.")

(defun org-agent-complete--still-p (completion &optional from)
  "Return non-nil when point and the text around it are those of COMPLETION.
FROM, if non-nil, is the position that the request was made at."
  (let* ((from (or from (point)))
         (before (org-agent-complete-request-before completion))
         (after (org-agent-complete-request-after completion))
         (before (substring before (max 0 (- (length before)
                                             org-agent-complete--near))))
         (after (substring after 0 (min (length after)
                                        org-agent-complete--near))))
    (cl-flet ((there-p (text beg end)
                       (and (<= (point-min) beg) (<= end (point-max))
                            (equal text (org-agent-rpc-text beg end)))))
      (and (= from (org-agent-complete-request-point completion))
           (there-p before (- from (length before)) from)
           (there-p after (point) (+ (point) (length after)))))))

(defun org-agent-complete--failed (completion refusal)
  "Report that COMPLETION failed with REFUSAL, an error of the kernel.
The failure of an automatic request is reported once.  After it no
automatic request is made for a time that grows with each failure."
  (let ((reason (or (plist-get refusal :message) "")))
    (unless (or (org-agent-rpc-refused-p refusal 'cancelled)
                (and (not (org-agent-complete-request-manual completion))
                     (org-agent-rpc-refused-p refusal 'lost))) ; reported elsewhere
      (cond
       ((org-agent-complete-request-manual completion)
        (message "org-agent: %s" reason))
       (t
        (unless (equal reason org-agent-complete--trouble)
          (message "org-agent: nothing is completed for a while: %s" reason))
        (setq org-agent-complete--rest
              (+ (float-time)
                 (min 300 (* 10 (expt 2 (min 5 org-agent-complete--failures))))))
        (cl-incf org-agent-complete--failures)))
      (setq org-agent-complete--trouble reason)
      (force-mode-line-update))))

(defun org-agent-complete--go-on ()
  "Show the rest of the proposed text if the person types just that text.
Return non-nil if so."
  (pcase-let ((`(,completion . ,text) org-agent-complete--offered))
    (when (and completion
               (eq (org-agent-complete-request-buffer completion) (current-buffer)))
      (let* ((from (marker-position (org-agent-complete-request-point completion)))
             (typed (and (<= (point-min) from) (< from (point))
                         (< (- (point) from) (length text))
                         (buffer-substring-no-properties from (point)))))
        (if (and typed (string-prefix-p typed text)
                 (org-agent-complete--still-p completion from)
                 (org-agent-complete--fit-p))
            (progn (org-agent-complete-ghost-show (substring text (length typed)))
                   t)
          (setq org-agent-complete--offered nil))))))

;;;; Commands

;;;###autoload
(defun org-agent-complete ()
  "Have a model propose what comes next at point, now.
`org-agent-complete-mode' does it as you type; its description lists the
text that is sent and the text that is not."
  (interactive "*")
  (when-let* ((reason (org-agent-complete--refusal)))
    (user-error "Nothing was sent: %s" reason))
  (unless (org-agent-kernel-ready-p)
    (org-agent-kernel-ensure)
    (user-error "The kernel is being started; try again in a moment"))
  (org-agent-send-ask-consent)
  (org-agent-complete-ghost-hide)
  (unless (org-agent-complete--ask t)
    (user-error "Nothing was sent: there is a private key in sight"))
  (message "Asking what comes next"))

(defun org-agent-complete--accept (size)
  "Insert the first SIZE characters of the proposed text."
  (let* ((text (or (org-agent-complete-ghost-at-point)
                   (user-error "Nothing is proposed here")))
         (piece (org-agent-completion-context-inert (substring text 0 size)))
         (rest (substring text size)))
    (barf-if-buffer-read-only)
    (unless piece
      (user-error "That alone would do something in Org; accept more of it"))
    (org-agent-complete-ghost-hide)
    (undo-boundary)
    (insert piece)
    (unless (string-blank-p rest)
      (org-agent-complete-ghost-show rest))))

(defun org-agent-complete-accept ()
  "Accept all of the proposed text as one undo step."
  (interactive)
  (org-agent-complete--accept (length (org-agent-complete-ghost-at-point))))

(defun org-agent-complete-accept-word ()
  "Accept the first word of the proposed text."
  (interactive)
  (org-agent-complete--accept-matching
   "\\`[ \t\n]*\\(?:[[:alnum:]]+\\|[^[:alnum:] \t\n]+\\)"))

(defun org-agent-complete-accept-line ()
  "Accept the first line of the proposed text."
  (interactive)
  (org-agent-complete--accept-matching "\\`\n*[^\n]+"))

(defun org-agent-complete--accept-matching (regexp)
  "Accept the part of the proposed text that REGEXP matches."
  (let ((text (org-agent-complete-ghost-at-point)))
    (org-agent-complete--accept (if (and text (string-match regexp text))
                                    (match-end 0)
                                  (length text)))))

(defun org-agent-complete-dismiss ()
  "Hide the proposed text and cancel a pending request."
  (interactive)
  (org-agent-complete--give-up)
  (setq org-agent-complete--offered nil)
  (org-agent-complete-ghost-hide))

(dolist (command '(org-agent-complete-accept org-agent-complete-accept-word
                                             org-agent-complete-accept-line
                                             ;; It may call one of these.
                                             execute-extended-command))
  (put command 'org-agent-ghost-keeps t))

(provide 'org-agent-complete)
;;; org-agent-complete.el ends here
