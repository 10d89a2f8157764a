;;; org-agent-speak.el --- Hearing answers  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-speak' reads the answer at point aloud, or the region;
;; `org-agent-speak-mode' reads each answer when it has ended.  A program
;; of the system speaks; it gets the words on its standard input, never
;; through a shell.  Where `config.org' names a server with a voice, that
;; makes the sound and a program plays it.
;;
;; Long texts are spoken in pieces, one after the other, while the person
;; goes on; `org-agent-speak-stop' ends it.  What fails says once, in the
;; echo area, what to do.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-chat)
(require 'org-agent-draft)
(require 'org-agent-send)
(require 'org-agent-spoken)

(defcustom org-agent-speak-program
  '(("espeak-ng" "--stdin") ("espeak" "--stdin") ("say" "-f" "-")
    ("festival" "--tts") ("spd-say" "--wait" "--pipe-mode"))
  "Programs that speak: lists of a program and its arguments.
The first that is installed is used.  It speaks what comes on its
standard input and ends when that is spoken.  Piper only makes sounds:
name a script of yours here that has them played."
  :type '(repeat (cons (string :tag "Program")
                       (repeat :tag "Arguments" string)))
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-speak-player
  '(("aplay" "-q" "%f") ("paplay" "%f") ("pw-play" "%f") ("afplay" "%f")
    ("play" "-q" "%f")
    ("ffplay" "-nodisp" "-autoexit" "-loglevel" "error" "%f"))
  "Programs that play a WAV file: lists of a program and its arguments.
The first that is installed is used; %f among the arguments is the file.
They play the voice of the server that `config.org' names, if any."
  :type '(repeat (cons (string :tag "Program")
                       (repeat :tag "Arguments" string)))
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-speak-with-server t
  "Whether the server that `config.org' names below \"Voice\" speaks.
If nil, or without one, a program of this machine does."
  :type 'boolean
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-speak--limit 20000
  "Characters of an answer that are read unasked, about twenty minutes.")

(defvar org-agent-speak--queue nil
  "Pieces that are still to be spoken.")

(defvar org-agent-speak--now nil
  "What speaks: a process, (asked . ID) for a request of that ID, or nil.")

;;;; Who speaks

(defun org-agent-speak--installed (commands)
  "Return the first of COMMANDS whose program is installed."
  (cl-find-if (lambda (command) (executable-find (car command))) commands))

(defun org-agent-speak--server-p ()
  "Return non-nil when a server is to speak, and can be heard."
  (and org-agent-speak-with-server
       (org-agent-kernel-ready-p)
       (plist-get org-agent-kernel-server :speaks)
       (org-agent-speak--installed org-agent-speak-player)))

(defun org-agent-speak-lacks ()
  "Return what is missing for speaking and what to do; nil when nothing is."
  (unless (or (org-agent-speak--server-p)
              (org-agent-speak--installed org-agent-speak-program))
    (format "Nothing that speaks is installed: install espeak-ng, or set `org-agent-speak-program' (looked for %s)"
            (mapconcat #'car org-agent-speak-program ", "))))

;;;; Commands

(defun org-agent-speak ()
  "Read the region aloud, or the answer at point.
In a conversation where point is in no answer that is the last one.
What is being spoken is stopped first."
  (interactive)
  (let ((text (org-agent-speak--text))
        (lacks (org-agent-speak-lacks)))
    (when lacks
      (user-error "%s" lacks))
    (let ((pieces (org-agent-spoken-pieces text)))
      (unless pieces
        (user-error "There is nothing in it that can be spoken"))
      (org-agent-speak--quiet)
      (org-agent-speak--add pieces)
      (message "Speaking; M-x org-agent-speak-stop ends it"))))

(defun org-agent-speak-stop ()
  "Stop speaking."
  (interactive)
  (if (or org-agent-speak--now org-agent-speak--queue)
      (org-agent-speak--quiet)
    (user-error "Nothing is being spoken")))

(define-minor-mode org-agent-speak-mode
  "Read the agent's answers aloud as they end.
\\[org-agent-speak-stop] stops one that is being read."
  :global t
  :group 'org-agent
  (if org-agent-speak-mode
      (when-let ((lacks (org-agent-speak-lacks)))
        (setq org-agent-speak-mode nil)
        (user-error "%s" lacks))
    (org-agent-speak--quiet)))

(cl-defmethod org-agent-handle-notification :extra "speak" :after
  ((_method (eql 'turn/finished)) params)
  "Read the answer of the turn of PARAMS aloud if that is wanted."
  (when (and org-agent-speak-mode (eq (plist-get params :state) :answered))
    (when-let* ((buffer (org-agent-chat-buffer (or (plist-get params :session)
                                                   org-agent-chat-main)))
                (text (with-current-buffer buffer
                        (org-agent-speak--answer-to (plist-get params :event)))))
      (if-let ((lacks (org-agent-speak-lacks)))
          (org-agent-speak--fail lacks)
        (org-agent-speak--add
         (org-agent-speak--unasked text))))))

(defun org-agent-speak--unasked (text)
  "Return the pieces of TEXT that are spoken though nobody asked for them.
A very long one is cut: it would hold up Emacs, and the person."
  (if (<= (length text) org-agent-speak--limit)
      (org-agent-spoken-pieces (org-agent-spoken text))
    (append (org-agent-spoken-pieces
             (org-agent-spoken (substring text 0 org-agent-speak--limit)))
            '("There is more."))))

;;;; What is spoken

(defun org-agent-speak--text ()
  "Return the words that the person wants to hear."
  (cond
   ((use-region-p)
    (let ((text (buffer-substring-no-properties (region-beginning) (region-end))))
      (if (derived-mode-p 'org-mode) (org-agent-spoken text) text)))
   (org-agent-chat-session
    (org-agent-spoken (or (org-agent-speak--answer-at-point)
                          (user-error "There is no answer here yet"))))
   (t (user-error "Mark what is to be spoken, or go to an answer"))))

(defun org-agent-speak--subtree (heading)
  "Return the text of the subtree of HEADING."
  (org-agent-draft--widely
    (buffer-substring-no-properties heading (org-agent-subtree-end heading))))

(defun org-agent-speak--last-answer (beg end)
  "Return the heading of the last answer from BEG to END, or nil."
  (org-agent-draft--widely
    (goto-char end)
    (let (found)
      (while (and (not found)
                  (re-search-backward org-agent-draft--turn-regexp beg t))
        (when (eq (org-agent-turn-p (point)) 'agent)
          (setq found (point))))
      found)))

(defun org-agent-speak--answer-at-point ()
  "Return the text of the answer at point, else the question's, else the last."
  (let* ((question (org-agent-send-question-at-point))
         (heading
          (or (and question
                   (or (org-agent-speak--last-answer
                        question (min (point-max) (line-end-position)))
                       (org-agent-speak--last-answer
                        question (org-agent-subtree-end question))))
              (org-agent-speak--last-answer (point-min) (point-max)))))
    (and heading (org-agent-speak--subtree heading))))

(defun org-agent-speak--answer-to (event)
  "Return the text of the latest answer to the question EVENT, or nil."
  (when-let* ((question (and event (org-agent-find-heading event)))
              (heading (org-agent-speak--last-answer
                        question (org-agent-subtree-end question))))
    (org-agent-speak--subtree heading)))

;;;; Speaking

(defun org-agent-speak--add (pieces)
  "Have PIECES spoken behind what is."
  (setq org-agent-speak--queue (append org-agent-speak--queue pieces))
  (unless org-agent-speak--now
    (org-agent-speak--next)))

(defun org-agent-speak--next ()
  "Have the next piece spoken, if there is one."
  (setq org-agent-speak--now nil)
  (when-let ((piece (pop org-agent-speak--queue)))
    (if (org-agent-speak--server-p)
        (org-agent-speak--ask piece)
      (if-let ((command (org-agent-speak--installed org-agent-speak-program)))
          (org-agent-speak--run command piece)
        (org-agent-speak--fail (org-agent-speak-lacks))))))

(defun org-agent-speak--quiet ()
  "Stop what speaks and forget what was to be spoken."
  (let ((now org-agent-speak--now))
    (setq org-agent-speak--queue nil
          org-agent-speak--now nil)
    (cond
     ((consp now) (when (cdr now) (org-agent-kernel-cancel (cdr now))))
     ((process-live-p now)
      (let ((command (process-command now)))
        (kill-process now)
        (org-agent-speak--remove-sound now)
        ;; It only hands the words to a server that speaks on.
        (when (equal (file-name-nondirectory (car command)) "spd-say")
          (org-agent-speak--process (list (car command) "--cancel") #'ignore)))))))

(defun org-agent-speak--fail (reason)
  "Give up, and say the REASON."
  (org-agent-speak--quiet)
  (message "org-agent: %s" reason))

(defun org-agent-speak--process (command ended)
  "Run COMMAND; when it has ended call ENDED with it and its last complaint."
  (let ((default-directory (file-name-as-directory (expand-file-name "~")))
        (buffer (generate-new-buffer " *org-agent-speak*" t)))
    (condition-case err
        (make-process
         :name "org-agent-speak" :buffer buffer :noquery t
         :connection-type 'pipe :coding 'utf-8-unix :command command
         :sentinel
         (lambda (process _event)
           (unless (process-live-p process)
             (let ((complaint (org-agent-speak--complaint buffer)))
               (org-agent-rpc--guard "speaking"
                 (funcall ended process complaint))))))
      (error (kill-buffer buffer)
             (signal (car err) (cdr err))))))

(defun org-agent-speak--complaint (buffer)
  "Return the last line of BUFFER, a process's, and kill it."
  (when (buffer-live-p buffer)
    (prog1 (with-current-buffer buffer
             (car (last (split-string (buffer-string) "\n" t "[ \t\r]+"))))
      (kill-buffer buffer))))

(defun org-agent-speak--ended (process complaint)
  "Go on when PROCESS has spoken, or say its COMPLAINT.
One that was stopped is nobody's business any more."
  (org-agent-speak--remove-sound process)
  (when (eq process org-agent-speak--now)
    (if (and (eq (process-status process) 'exit)
             (zerop (process-exit-status process)))
        (org-agent-speak--next)
      (setq org-agent-speak--now nil)
      (org-agent-speak--fail
       (format "%s does not speak: %s; see `org-agent-speak-program'"
               (car (process-command process))
               (or complaint (format "it ended with %s"
                                     (process-exit-status process))))))))

(defun org-agent-speak--run (command piece)
  "Have COMMAND speak PIECE."
  (condition-case err
      (let ((process (org-agent-speak--process command #'org-agent-speak--ended)))
        (setq org-agent-speak--now process)
        (process-send-string process (concat piece "\n"))
        (process-send-eof process))
    (error
     ;; One that ended before it read is told of by its end.
     (unless (processp org-agent-speak--now)
       (org-agent-speak--fail (format "%s could not be run: %s" (car command)
                                      (error-message-string err)))))))

;;;; The server's voice

(defun org-agent-speak--ask (piece)
  "Have the server speak PIECE."
  (let ((asked (list 'asked)))
    (setq org-agent-speak--now asked)
    (setcdr asked
            (org-agent-kernel-request
             "speech/speak" (list :text piece)
             :success (lambda (result)
                        (when (eq asked org-agent-speak--now)
                          (org-agent-speak--play (plist-get result :data))))
             :failure (lambda (refusal)
                        (when (eq asked org-agent-speak--now)
                          (setq org-agent-speak--now nil)
                          (org-agent-speak--fail
                           (format "Nothing is spoken: %s (a program of this machine speaks when `org-agent-speak-with-server' is nil)"
                                   (plist-get refusal :message)))))))))

(defun org-agent-speak--play (data)
  "Play DATA, a WAV file in base64."
  (let* ((command (org-agent-speak--installed org-agent-speak-player))
         ;; In a directory that is only ours, whatever the player may do.
         (directory (make-temp-file "org-agent-speak" t))
         (file (expand-file-name "speech.wav" directory)))
    (condition-case err
        (let ((coding-system-for-write 'no-conversion))
          (write-region (base64-decode-string data) nil file nil 'silent)
          (setq org-agent-speak--now
                (org-agent-speak--process
                 (mapcar (lambda (argument) (string-replace "%f" file argument))
                         command)
                 #'org-agent-speak--ended))
          (process-put org-agent-speak--now 'org-agent-speak-directory directory))
      (error (delete-directory directory t)
             (setq org-agent-speak--now nil)
             (org-agent-speak--fail (format "%s could not be run: %s"
                                            (or (car command) "A player")
                                            (error-message-string err)))))))

(defun org-agent-speak--remove-sound (process)
  "Delete what PROCESS has played, if it was made for it."
  (when-let ((directory (process-get process 'org-agent-speak-directory)))
    (process-put process 'org-agent-speak-directory nil)
    (ignore-errors (delete-directory directory t))))

(add-hook 'kill-emacs-hook #'org-agent-speak--quiet)

(provide 'org-agent-speak)
;;; org-agent-speak.el ends here
