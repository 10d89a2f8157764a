;;; org-agent-speak.el --- Org as it is read aloud  -*- lexical-binding: t; -*-

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
;;
;; Org is spoken as a person would read it to somebody: headings and list
;; items as sentences, the words of a link and not its address, no markup,
;; no drawers, and of code only that it is there.  `org-agent-speak-words'
;; makes the words, and `org-agent-speak-words-pieces' cuts them where one
;; would breathe.  Both are linear in the text, and neither asks Org's
;; parser.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-chat)

;;;; Org as it is read aloud

(defconst org-agent-speak-words-piece 400
  "Characters that are spoken at once, about.")

(defvar org-agent-speak--words-without-end nil
  "Before which place drawers that begin have no end: a marker, or nil.")

(defun org-agent-speak-words (text)
  "Return the Org text TEXT as words to be spoken."
  (let ((case-fold-search t) (org-agent-speak--words-without-end nil))
    (with-temp-buffer
      (insert text)
      (goto-char (point-min))
      (while (not (eobp))
        (org-agent-speak--words-line))
      (org-agent-speak--words-objects)
      (string-trim (replace-regexp-in-string
                    "\n\n\n+" "\n\n"
                    (replace-regexp-in-string "[ \t]+" " " (buffer-string)))))))

;;;; Lines

(defun org-agent-speak--words-line ()
  "Make the line at point, or what begins there, words; go behind it."
  (cond
   ((looking-at "[ \t]*#\\+begin_\\(src\\|example\\|export\\|comment\\)\\(?:[ \t]+\\(\\S-+\\)\\)?.*$")
    (org-agent-speak--words-block (match-string 1) (match-string 2)))
   ((looking-at "[ \t]*:\\([-_[:alnum:]]+\\):[ \t]*$")
    (org-agent-speak--words-drawer))
   ((looking-at "[ \t]*#\\(?:\\+\\| \\|$\\)\\|[ \t]*-----+[ \t]*$\\|[ \t]*|[-+|]+[ \t]*$\\|[ \t]*\\(?:CLOSED\\|SCHEDULED\\|DEADLINE\\|CLOCK\\):")
    (delete-region (point) (line-beginning-position 2)))
   ((looking-at "\\*+ +")
    (replace-match "")
    (org-agent-speak--words-without-tags)
    (org-agent-speak--words-sentence))
   ((looking-at "[ \t]*|")
    (org-agent-speak--words-row))
   ((looking-at "[ \t]*\\(?:[-+]\\|\\([0-9]+\\)[.)]\\|[ \t]\\*\\)[ \t]+\\(?:\\[@[0-9]+\\][ \t]*\\)?\\(?:\\[[ X-]\\][ \t]*\\)?")
    (replace-match (if (match-string 1) (concat (match-string 1) ". ") "") t t)
    (when (looking-at "\\(.*?\\) ::\\(?: \\|$\\)")
      (replace-match "\\1: " t))
    (org-agent-speak--words-sentence))
   ((looking-at "\\[fn:[^]\n]*\\][ \t]*")
    (replace-match "Footnote: " t t)
    (org-agent-speak--words-sentence))
   ((looking-at "[ \t]*: ")
    (replace-match "")
    (forward-line))
   (t (forward-line))))

(defun org-agent-speak--words-sentence ()
  "End the line at point as a sentence and go behind it."
  (end-of-line)
  (skip-chars-backward " \t")
  (unless (or (bolp) (memq (char-before) '(?. ?! ?? ?: ?\; ?… ?。)))
    (insert "."))
  (forward-line))

(defun org-agent-speak--words-without-tags ()
  "Take the tags from the heading whose text is at point."
  (save-excursion
    (when (re-search-forward "[ \t]+:[[:alnum:]_@#%:]+:[ \t]*$"
                             (line-end-position) t)
      (replace-match ""))))

(defun org-agent-speak--words-block (type language)
  "Tell of the block of TYPE and LANGUAGE at point instead of reading it.
One without an end is text."
  (let ((beg (point)) (first (line-beginning-position 2)))
    (if (not (re-search-forward (format "^[ \t]*#\\+end_%s[ \t]*$"
                                        (regexp-quote type))
                                nil t))
        (delete-region beg (min first (point-max)))
      (let ((lines (count-lines first (match-beginning 0)))
            (type (downcase type)))
        (delete-region beg (min (1+ (match-end 0)) (point-max)))
        (when (member type '("src" "example"))
          (insert (format "%s of %s.\n"
                          (cond ((equal type "example") "An example")
                                (language (concat "Code in " language))
                                (t "Code"))
                          (if (= lines 1) "one line"
                            (format "%d lines" lines)))))))))

(defun org-agent-speak--words-drawer ()
  "Leave out the drawer at point; a line that only looks like one is text."
  (let ((beg (point)) end)
    (unless (and org-agent-speak--words-without-end
                 (< beg org-agent-speak--words-without-end))
      (save-excursion
        (forward-line)
        (if (and (re-search-forward "^\\(?:\\*+ \\|[ \t]*\\(:END:\\)[ \t]*$\\)"
                                    nil 'to-the-end)
                 (match-beginning 1))
            (setq end (line-beginning-position 2))
          (setq org-agent-speak--words-without-end (point-marker)))))
    (if end (delete-region beg end) (forward-line))))

(defun org-agent-speak--words-row ()
  "Make the row of a table at point a sentence."
  (let ((cells (split-string (buffer-substring (point) (line-end-position))
                             "|" t "[ \t]+")))
    (delete-region (point) (line-end-position))
    (insert (string-join (remove "" cells) ", "))
    (org-agent-speak--words-sentence)))

;;;; Within lines

(defconst org-agent-speak--words-emphasis
  (mapcar (lambda (sign)
            (cons (format "\\(^\\|[ \t('\"{-]\\)%s\\([^ \t\n%s]\\(?:[^\n%s]\\{0,300\\}[^ \t\n%s]\\)?\\)%s\\($\\|[] \t.,:;!?'\")}-]\\)"
                          (regexp-quote sign) sign sign sign (regexp-quote sign))
                  "\\1\\2\\3"))
          '("*" "/" "_" "+" "=" "~"))
  "What is said of emphasis: regexps and words.")

(defconst org-agent-speak--words-objects
  `(("\\[\\[\\([^][\n]\\{1,1000\\}\\)]\\(?:\\[\\(\\(?:[^]\n]\\|][^]\n]\\)\\{1,400\\}\\)]\\)?]"
     . org-agent-speak--words-link)
    ("\\<\\(https?\\)://\\([^][ \t\n<>()/?#\"]+\\)[^][ \t\n<>()\"]*[^][ \t\n<>()\".,;:!?]"
     . "a link to \\2")
    ("<\\(?:https?\\|mailto\\|file\\):\\([^>\n]\\{0,1000\\}\\)>" . "\\1")
    ("[<[]\\([0-9]\\{4\\}-[0-9]+-[0-9]+[^]>\n]\\{0,60\\}\\)[]>]" . "\\1")
    ("\\[fn:[^]\n]\\{0,300\\}\\]\\|\\[[0-9]*\\(?:%\\|/[0-9]*\\)\\]" . "")
    ;; Twice: one may stand in another.
    ,@org-agent-speak--words-emphasis ,@org-agent-speak--words-emphasis
    ("\u200b" . "")
    ("\\\\\\\\[ \t]*$" . ""))
  "What is said of things within a line: regexps, and words or a function.
Each looks only so far, for a line may be very long.")

(defun org-agent-speak--words-objects ()
  "Make words of links, emphasis and other things in this buffer."
  (pcase-dolist (`(,regexp . ,words) org-agent-speak--words-objects)
    (goto-char (point-min))
    (while (re-search-forward regexp nil t)
      (let ((from (match-beginning 0)))
        (replace-match (if (stringp words) words (funcall words))
                       t (functionp words))
        ;; What ends one may be what has to stand before the next.
        (when (equal words "\\1\\2\\3")
          (goto-char (max from (1- (point)))))))))

(defun org-agent-speak--words-link ()
  "Return the words that are spoken for the link that was matched."
  (let ((address (match-string 1)) (words (match-string 2)))
    (save-match-data
      (cond
       ((not (or (null words) (string-match-p "\\`[a-z]+:" words))) words)
       ((string-match "\\`https?://\\([^/?#]+\\)" address)
        (concat "a link to " (match-string 1 address)))
       ((string-match "\\`mailto:\\(.*\\)" address) (match-string 1 address))
       ((string-match "\\`\\(?:file:\\|\\([./~]\\)\\)\\(?:.*/\\)?\\([^/]+\\)/?\\'" address)
        (concat "the file " (match-string 2 address)))
       (t "a link")))))

;;;; Pieces

(defun org-agent-speak-words-pieces (words)
  "Return WORDS as a list of pieces, each a few sentences at most."
  (let (pieces)
    (with-temp-buffer
      (insert words)
      (goto-char (point-min))
      (skip-chars-forward " \t\n")
      (while (not (eobp))
        (let ((beg (point)))
          (goto-char (org-agent-speak--words-end beg))
          (let ((piece (string-trim (buffer-substring beg (point)))))
            (when (string-match-p "[[:alnum:]]" piece)
              (push piece pieces)))
          (skip-chars-forward " \t\n"))))
    (nreverse pieces)))

(defun org-agent-speak--words-end (beg)
  "Return where the piece that begins at BEG ends.
That is behind the last sentence that fits, else the last word, else
wherever it is full."
  (let ((limit (min (point-max) (+ beg org-agent-speak-words-piece))))
    (if (= limit (point-max))
        limit
      (save-excursion
        (cl-some (lambda (regexp)
                   (goto-char limit)
                   (and (re-search-backward regexp beg t)
                        (> (match-end 0) (1+ beg))
                        (match-end 0)))
                 '("\n[ \t]*\n" "[.!?…][])\"']*[ \t\n]\\|[。！？\n]"
                   "[,;:][ \t]" "[ \t]" "\\(?:.\\|\n\\)"))))))

(defcustom org-agent-speak-program
  '(("espeak-ng" "--stdin") ("espeak" "--stdin") ("say" "-f" "-")
    ("festival" "--tts") ("spd-say" "--wait" "--pipe-mode"))
  "Programs that speak: lists of a program and its arguments.
The first that is installed is used.  It speaks what comes on its
standard input and ends when that is spoken.  Piper only makes sounds:
name a script of yours here that has them played."
  :type '(repeat (cons (string :tag "Program")
                       (repeat :tag "Arguments" string)))
  :group 'org-agent-speech
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
  :group 'org-agent-speech
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-speak-with-server t
  "Whether the server that `config.org' names below \"Voice\" speaks.
If nil, or without one, a program of this machine does."
  :type 'boolean
  :group 'org-agent-speech
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

;;;###autoload
(defun org-agent-speak-lacks ()
  "Return what is missing for speaking and what to do; nil when nothing is."
  (unless (or (org-agent-speak--server-p)
              (org-agent-speak--installed org-agent-speak-program))
    (format "Nothing that speaks is installed: install espeak-ng, or set `org-agent-speak-program' (looked for %s)"
            (mapconcat #'car org-agent-speak-program ", "))))

;;;; Commands

;;;###autoload
(defun org-agent-speak ()
  "Read the region aloud, or the answer at point.
In a conversation where point is in no answer that is the last one.
What is being spoken is stopped first."
  (interactive)
  (let ((text (org-agent-speak--text))
        (lacks (org-agent-speak-lacks)))
    (when lacks
      (user-error "%s" lacks))
    (let ((pieces (org-agent-speak-words-pieces text)))
      (unless pieces
        (user-error "There is nothing in it that can be spoken"))
      (org-agent-speak--quiet)
      (org-agent-speak--add pieces)
      (message "Speaking; M-x org-agent-speak-stop ends it"))))

;;;###autoload
(defun org-agent-speak-stop ()
  "Stop speaking."
  (interactive)
  (if (or org-agent-speak--now org-agent-speak--queue)
      (org-agent-speak--quiet)
    (user-error "Nothing is being spoken")))

;;;###autoload
(define-minor-mode org-agent-speak-mode
  "Read the agent's answers aloud as they end.
\\[org-agent-speak-stop] stops one that is being read."
  :global t
  :group 'org-agent-speech
  (remove-hook 'org-agent-kernel-notified-functions #'org-agent-speak--notified)
  (if (not org-agent-speak-mode)
      (org-agent-speak--quiet)
    (when-let* ((lacks (org-agent-speak-lacks)))
      (setq org-agent-speak-mode nil)
      (user-error "%s" lacks))
    (add-hook 'org-agent-kernel-notified-functions
              #'org-agent-speak--notified)))

(defun org-agent-speak--notified (method params)
  "Read the answer aloud when METHOD with PARAMS says that a turn has ended.
This is for `org-agent-kernel-notified-functions'."
  (when (and (eq method 'turn/finished) (eq (plist-get params :state) :answered))
    (when-let* ((buffer (org-agent-chat-buffer (or (plist-get params :session)
                                                   org-agent-chat-main)))
                (text (with-current-buffer buffer
                        (org-agent-speak--answer-to (plist-get params :event)))))
      (if-let* ((lacks (org-agent-speak-lacks)))
          (org-agent-speak--fail lacks)
        (org-agent-speak--add
         (org-agent-speak--unasked text))))))

(defun org-agent-speak--unasked (text)
  "Return the pieces of TEXT that are spoken though nobody asked for them.
A very long one is cut: it would hold up Emacs, and the person."
  (if (<= (length text) org-agent-speak--limit)
      (org-agent-speak-words-pieces (org-agent-speak-words text))
    (append (org-agent-speak-words-pieces
             (org-agent-speak-words (substring text 0 org-agent-speak--limit)))
            '("There is more."))))

;;;; What is spoken

(defun org-agent-speak--text ()
  "Return the words that the person wants to hear."
  (cond
   ((use-region-p)
    (let ((text (buffer-substring-no-properties (region-beginning) (region-end))))
      (if (derived-mode-p 'org-mode) (org-agent-speak-words text) text)))
   (org-agent-chat-session
    (org-agent-speak-words (or (org-agent-speak--answer-at-point)
                               (user-error "There is no answer here yet"))))
   (t (user-error "Mark what is to be spoken, or go to an answer"))))

(defun org-agent-speak--subtree (heading)
  "Return the text of the subtree of HEADING."
  (org-agent-heading-widely
    (buffer-substring-no-properties heading (org-agent-heading-subtree-end heading))))

(defun org-agent-speak--answer-at-point ()
  "Return the text of the answer at point, else the question's, else the last."
  (let* ((question (org-agent-heading-turn-at (point) 'user))
         (heading
          (or (and question
                   (or (org-agent-heading-last-turn
                        'agent question (min (point-max) (line-end-position)))
                       (org-agent-heading-last-turn
                        'agent question (org-agent-heading-subtree-end question))))
              (org-agent-heading-last-turn 'agent))))
    (and heading (org-agent-speak--subtree heading))))

(defun org-agent-speak--answer-to (event)
  "Return the text of the latest answer to the question EVENT, or nil."
  (when-let* ((question (and event (org-agent-heading-find event)))
              (heading (org-agent-heading-last-turn
                        'agent question (org-agent-heading-subtree-end question))))
    (org-agent-speak--subtree heading)))

;;;; Speaking

(defun org-agent-speak--add (pieces)
  "Have PIECES spoken behind what is."
  (add-hook 'kill-emacs-hook #'org-agent-speak--quiet)
  (setq org-agent-speak--queue (append org-agent-speak--queue pieces))
  (unless org-agent-speak--now
    (org-agent-speak--next)))

(defun org-agent-speak--next ()
  "Have the next piece spoken, if there is one."
  (setq org-agent-speak--now nil)
  (when-let* ((piece (pop org-agent-speak--queue)))
    (if (org-agent-speak--server-p)
        (org-agent-speak--ask piece)
      (if-let* ((command (org-agent-speak--installed org-agent-speak-program)))
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
  "Start COMMAND, and return its process.
When it has ended call ENDED with it and the last line that it printed."
  (org-agent-kernel-start-program
   command
   (lambda (process output complaint)
     (funcall ended process
              (or complaint
                  (car (last (split-string output "\n" t "[ \t\r]+"))))))))

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
     ;; A program that ended before it read is reported when it has ended.
     (unless (processp org-agent-speak--now)
       (org-agent-speak--fail (error-message-string err))))))

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
             (org-agent-speak--fail (error-message-string err))))))

(defun org-agent-speak--remove-sound (process)
  "Delete what PROCESS has played, if it was made for it."
  (when-let* ((directory (process-get process 'org-agent-speak-directory)))
    (process-put process 'org-agent-speak-directory nil)
    (ignore-errors (delete-directory directory t))))

(provide 'org-agent-speak)
;;; org-agent-speak.el ends here
