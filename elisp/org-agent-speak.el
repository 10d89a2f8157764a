;;; org-agent-speak.el --- Read answers aloud  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-speak' reads the answer at point or the region aloud.
;; `org-agent-speak-mode' reads each answer when it has ended.  A program
;; reads the words from its standard input; no shell is involved.  If
;; `config.org' names a server with a voice, the server makes the sound and a
;; program plays it.
;;
;; A long text is spoken in pieces, one after the other, while the person
;; continues to work.  `org-agent-speak-stop' stops.  An error is reported
;; once in the echo area.
;;
;; Headings and list items are spoken as sentences.  A link is spoken as its
;; description.  Markup and drawers are left out, and blocks of code are only
;; mentioned.  `org-agent-speak-words' converts Org to words, and
;; `org-agent-speak-words-pieces' cuts them into pieces.  The cost of both is
;; linear in the length of the text, and neither calls Org's parser.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-chat)

;;;; Org as words

(defconst org-agent-speak-words-piece 400
  "The maximal number of characters of a piece.")

(defvar org-agent-speak--words-without-end nil
  "A marker before which no drawer has an end, or nil.")

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
  "Convert the line, block or drawer at point to words, and go to its end."
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
  "End the line at point with a full stop, and go to the next line."
  (end-of-line)
  (skip-chars-backward " \t")
  (unless (or (bolp) (memq (char-before) '(?. ?! ?? ?: ?\; ?… ?。)))
    (insert "."))
  (forward-line))

(defun org-agent-speak--words-without-tags ()
  "Delete the tags of the heading whose text is at point."
  (save-excursion
    (when (re-search-forward "[ \t]+:[[:alnum:]_@#%:]+:[ \t]*$"
                             (line-end-position) t)
      (replace-match ""))))

(defun org-agent-speak--words-block (type language)
  "Replace the block of TYPE and LANGUAGE at point by a mention of it.
If it has no end, delete only its first line."
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
  "Delete the drawer at point; if it has no end, go to the next line."
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
  "Convert the row of a table at point to a sentence."
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
  "An alist of regexps that match emphasis and their replacements.")

(defconst org-agent-speak--words-objects
  `(("\\[\\[\\([^][\n]\\{1,1000\\}\\)]\\(?:\\[\\(\\(?:[^]\n]\\|][^]\n]\\)\\{1,400\\}\\)]\\)?]"
     . org-agent-speak--words-link)
    ("\\<\\(https?\\)://\\([^][ \t\n<>()/?#\"]+\\)[^][ \t\n<>()\"]*[^][ \t\n<>()\".,;:!?]"
     . "a link to \\2")
    ("<\\(?:https?\\|mailto\\|file\\):\\([^>\n]\\{0,1000\\}\\)>" . "\\1")
    ("[<[]\\([0-9]\\{4\\}-[0-9]+-[0-9]+[^]>\n]\\{0,60\\}\\)[]>]" . "\\1")
    ("\\[fn:[^]\n]\\{0,300\\}\\]\\|\\[[0-9]*\\(?:%\\|/[0-9]*\\)\\]" . "")
    ;; Twice, since emphasis may be nested.
    ,@org-agent-speak--words-emphasis ,@org-agent-speak--words-emphasis
    ("\u200b" . "")
    ("\\\\\\\\[ \t]*$" . ""))
  "An alist of regexps that match objects and their replacements.
A replacement is a string or a function.  The length of each match is
bounded, since a line may be very long.")

(defun org-agent-speak--words-objects ()
  "Convert links, emphasis and other objects of this buffer to words."
  (pcase-dolist (`(,regexp . ,words) org-agent-speak--words-objects)
    (goto-char (point-min))
    (while (re-search-forward regexp nil t)
      (let ((from (match-beginning 0)))
        (replace-match (if (stringp words) words (funcall words))
                       t (functionp words))
        ;; The end of one match may be the beginning of the next.
        (when (equal words "\\1\\2\\3")
          (goto-char (max from (1- (point)))))))))

(defun org-agent-speak--words-link ()
  "Return the words for the link that was matched."
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
  "Return WORDS as a list of pieces of a few sentences."
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
  "Return the end of the piece that begins at BEG.
It is the end of the last paragraph, sentence, clause or word that fits
into the maximal length, in this order, or else that length."
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
The first installed one is used.  It has to speak the text of its
standard input, and exit when it is done.  For Piper, which only writes
sound, use a script that plays it."
  :type '(repeat (cons (string :tag "Program")
                       (repeat :tag "Arguments" string)))
  :group 'org-agent-speech
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-speak-player
  '(("aplay" "-q" "%f") ("paplay" "%f") ("pw-play" "%f") ("afplay" "%f")
    ("play" "-q" "%f")
    ("ffplay" "-nodisp" "-autoexit" "-loglevel" "error" "%f"))
  "Programs that play a WAV file: lists of a program and its arguments.
The first installed one is used; %f in the arguments stands for the file.
They play the sound of the server that `config.org' names, if any."
  :type '(repeat (cons (string :tag "Program")
                       (repeat :tag "Arguments" string)))
  :group 'org-agent-speech
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-speak-with-server t
  "Whether the server that `config.org' names below \"Voice\" is used.
If nil, or if there is no such server, use a program of this machine."
  :type 'boolean
  :group 'org-agent-speech
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-speak--limit 20000
  "The maximal number of characters that `org-agent-speak-mode' reads.
They take about twenty minutes.")

(defvar org-agent-speak--queue nil
  "The pieces that are still to be spoken.")

(defvar org-agent-speak--now nil
  "The process that speaks, (asked . ID) for a request of that ID, or nil.")

;;;; Programs and servers

(defun org-agent-speak--installed (commands)
  "Return the first of COMMANDS whose program is installed."
  (cl-find-if (lambda (command) (executable-find (car command))) commands))

(defun org-agent-speak--server-p ()
  "Return non-nil if a server with a voice and a player can be used."
  (and org-agent-speak-with-server
       (org-agent-kernel-ready-p)
       (plist-get org-agent-kernel-server :speaks)
       (org-agent-speak--installed org-agent-speak-player)))

;;;###autoload
(defun org-agent-speak-lacks ()
  "Return what to install or set to speak, or nil if nothing is missing."
  (unless (or (org-agent-speak--server-p)
              (org-agent-speak--installed org-agent-speak-program))
    (format "No program that speaks is installed: install espeak-ng, or set `org-agent-speak-program' (looked for %s)"
            (mapconcat #'car org-agent-speak-program ", "))))

;;;; Commands

;;;###autoload
(defun org-agent-speak ()
  "Read the region or the answer at point aloud.
If there is no answer at point in a conversation, read the last one.
Stop speaking anything else."
  (interactive)
  (let ((text (org-agent-speak--text))
        (lacks (org-agent-speak-lacks)))
    (when lacks
      (user-error "%s" lacks))
    (let ((pieces (org-agent-speak-words-pieces text)))
      (unless pieces
        (user-error "There is nothing to be spoken in it"))
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
  "Read the answers of the agent aloud when they have ended.
\\[org-agent-speak-stop] stops reading."
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
  "Read the answer aloud if METHOD with PARAMS reports the end of a turn.
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
  "Return the pieces of TEXT that `org-agent-speak-mode' reads.
A very long text is cut, since it would delay Emacs and the person."
  (if (<= (length text) org-agent-speak--limit)
      (org-agent-speak-words-pieces (org-agent-speak-words text))
    (append (org-agent-speak-words-pieces
             (org-agent-speak-words (substring text 0 org-agent-speak--limit)))
            '("There is more."))))

;;;; The text

(defun org-agent-speak--text ()
  "Return the words of the region or the answer at point."
  (cond
   ((use-region-p)
    (let ((text (buffer-substring-no-properties (region-beginning) (region-end))))
      (if (derived-mode-p 'org-mode) (org-agent-speak-words text) text)))
   (org-agent-chat-session
    (org-agent-speak-words (or (org-agent-speak--answer-at-point)
                               (user-error "There is no answer here yet"))))
   (t (user-error "Mark a region to be spoken, or go to an answer"))))

(defun org-agent-speak--subtree (heading)
  "Return the text of the subtree of HEADING."
  (org-agent-heading-widely
    (buffer-substring-no-properties heading (org-agent-heading-subtree-end heading))))

(defun org-agent-speak--answer-at-point ()
  "Return the text of the answer at point, or nil.
If there is none, return that of the question at point, or else the last."
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
  "Add PIECES to the queue, and start speaking if nothing is spoken."
  (add-hook 'kill-emacs-hook #'org-agent-speak--quiet)
  (setq org-agent-speak--queue (append org-agent-speak--queue pieces))
  (unless org-agent-speak--now
    (org-agent-speak--next)))

(defun org-agent-speak--next ()
  "Speak the next piece of the queue, if there is one."
  (setq org-agent-speak--now nil)
  (when-let* ((piece (pop org-agent-speak--queue)))
    (if (org-agent-speak--server-p)
        (org-agent-speak--ask piece)
      (if-let* ((command (org-agent-speak--installed org-agent-speak-program)))
          (org-agent-speak--run command piece)
        (org-agent-speak--fail (org-agent-speak-lacks))))))

(defun org-agent-speak--quiet ()
  "Stop speaking, and empty the queue."
  (let ((now org-agent-speak--now))
    (setq org-agent-speak--queue nil
          org-agent-speak--now nil)
    (cond
     ((consp now) (when (cdr now) (org-agent-kernel-cancel (cdr now))))
     ((process-live-p now)
      (let ((command (process-command now)))
        (kill-process now)
        (org-agent-speak--remove-sound now)
        ;; The program only hands the words to a server, which would go on.
        (when (equal (file-name-nondirectory (car command)) "spd-say")
          (org-agent-speak--process (list (car command) "--cancel") #'ignore)))))))

(defun org-agent-speak--fail (reason)
  "Stop speaking, and report the REASON."
  (org-agent-speak--quiet)
  (message "org-agent: %s" reason))

(defun org-agent-speak--process (command ended)
  "Start COMMAND, and return its process.
When it has ended, call ENDED with the process and the last line of its
output."
  (org-agent-kernel-start-program
   command
   (lambda (process output complaint)
     (funcall ended process
              (or complaint
                  (car (last (split-string output "\n" t "[ \t\r]+"))))))))

(defun org-agent-speak--ended (process complaint)
  "Speak the next piece if PROCESS has succeeded, or report its COMPLAINT.
Ignore a process that we have stopped."
  (org-agent-speak--remove-sound process)
  (when (eq process org-agent-speak--now)
    (if (and (eq (process-status process) 'exit)
             (zerop (process-exit-status process)))
        (org-agent-speak--next)
      (setq org-agent-speak--now nil)
      (org-agent-speak--fail
       (format "%s failed: %s; see `org-agent-speak-program'"
               (car (process-command process))
               (or complaint (format "it ended with %s"
                                     (process-exit-status process))))))))

(defun org-agent-speak--run (command piece)
  "Run COMMAND to speak PIECE."
  (condition-case err
      (let ((process (org-agent-speak--process command #'org-agent-speak--ended)))
        (setq org-agent-speak--now process)
        (process-send-string process (concat piece "\n"))
        (process-send-eof process))
    (error
     ;; The failure of a program that has started is reported at its end.
     (unless (processp org-agent-speak--now)
       (org-agent-speak--fail (error-message-string err))))))

;;;; The voice of the server

(defun org-agent-speak--ask (piece)
  "Request PIECE as sound from the server, and play it."
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
                           (format "Not spoken: %s (if `org-agent-speak-with-server' is nil, a program of this machine speaks)"
                                   (plist-get refusal :message)))))))))

(defun org-agent-speak--play (data)
  "Play DATA, a WAV file in base64."
  (let* ((command (org-agent-speak--installed org-agent-speak-player))
         ;; Other users cannot read the file in a directory of our own.
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
  "Delete the sound file that PROCESS has played, if there is one."
  (when-let* ((directory (process-get process 'org-agent-speak-directory)))
    (process-put process 'org-agent-speak-directory nil)
    (ignore-errors (delete-directory directory t))))

(provide 'org-agent-speak)
;;; org-agent-speak.el ends here
