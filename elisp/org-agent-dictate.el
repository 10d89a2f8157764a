;;; org-agent-dictate.el --- Speaking instead of typing  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-dictate' starts a recording, and ends it when it is called
;; again.  The kernel sends the recording to the server that the person
;; named for it in `config.org'.  The transcript is inserted where point
;; was, as if it had been typed; in a conversation it goes into the draft.
;;
;; A program of the system records and prints the sound.  The sound is never
;; in a file, so nothing is left over when a process is killed, and the
;; recorder ends with Emacs.  A recording that could not be transcribed
;; stays in memory until the next; `org-agent-dictate-again' sends it again.
;;
;; The transcript is text from outside and is made plain text on one line:
;; nothing in it is active Org, and nothing in it sends a file along.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-draft)
(require 'org-agent-inert)
(require 'org-agent-chat)

(declare-function org-agent-notify-in-mode-lines "org-agent-notify")

(defcustom org-agent-dictate-program
  `(("arecord" "-q" "-t" "raw" "-f" "S16_LE" "-r" "16000" "-c" "1" "-")
    ("parec" "--raw" "--format=s16le" "--rate=16000" "--channels=1")
    ("rec" "-q" "-t" "raw" "-r" "16000" "-c" "1" "-b" "16" "-e" "signed" "-")
    ("ffmpeg" "-nostdin" "-loglevel" "error"
     ,@(if (eq system-type 'darwin) '("-f" "avfoundation" "-i" ":0")
         '("-f" "pulse" "-i" "default"))
     "-f" "s16le" "-ar" "16000" "-ac" "1" "-"))
  "Programs that record: lists of a program and its arguments.
The first that is installed is used.  It prints the sound, one channel
of 16,000 samples a second with 16 bits each, or a WAV file, until it is
interrupted."
  :type '(repeat (cons (string :tag "Program")
                       (repeat :tag "Arguments" string)))
  :group 'org-agent-speech
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-dictate-seconds 120
  "Seconds after which a recording ends by itself."
  :type 'number
  :group 'org-agent-speech
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-dictate-language nil
  "The language that is dictated, as \"en\".
When nil it is what `config.org' says, else found out."
  :type '(choice (const :tag "As config.org says" nil) string)
  :safe #'stringp
  :group 'org-agent-speech
  :package-version '(org-agent . "0.1.0"))

(defface org-agent-dictate-listening '((t :inherit error))
  "Face of the mode line while a recording runs."
  :group 'org-agent-speech)

(defconst org-agent-dictate--limit (* 5 1024 1024)
  "The longest recording, in bytes.")

(defconst org-agent-dictate--text-limit 20000
  "The longest transcript, in characters; a longer one is an error.")

(defconst org-agent-dictate--timeout 2
  "Seconds that a recorder has to end after an interrupt.")

(defconst org-agent-dictate--no-text
  "[[:cntrl:][:blank:]\u2028\u2029\u202a-\u202e\u2066-\u2069\x3fff80-\x3fffff]+"
  "Matches blanks, line ends and characters that are no text.")

(cl-defstruct (org-agent-dictate-recording
               (:constructor org-agent-dictate--make)
               (:copier nil))
  "A recording and its transcription."
  (place nil :documentation "A marker where the transcript goes.")
  (process nil :documentation "The recorder.")
  (began nil :documentation "When it began.")
  (chunks nil :documentation "The sound, latest first.")
  (bytes 0 :documentation "The size of the sound.")
  (phase 'listening :documentation "`listening', `stopping' or `transcribing'.")
  (sound nil :documentation "The whole recording, a WAV file.")
  (request nil :documentation "The kernel's request."))

(defvar org-agent-dictate--now nil
  "The recording that runs or is being transcribed, or nil.")

(defvar org-agent-dictate--failed nil
  "The latest recording that was not transcribed, a WAV file.")

(defvar org-agent-dictate--not-inserted nil
  "The latest transcript that could not be inserted.")

(defvar org-agent-dictate--timer nil
  "The timer that counts the seconds.")

;;;; Requirements

(defun org-agent-dictate--recorder ()
  "Return the first of `org-agent-dictate-program' that is installed."
  (cl-find-if (lambda (command) (executable-find (car command)))
              org-agent-dictate-program))

;;;###autoload
(defun org-agent-dictate-lacks ()
  "Return what is missing for dictating and what to do, nil when nothing is.
Whether a server is named only a running kernel knows."
  (cond
   ((not (org-agent-dictate--recorder))
    (format "No recorder is installed: install alsa-utils, pulseaudio-utils, sox or ffmpeg, or set `org-agent-dictate-program' (looked for %s)"
            (string-join (delete-dups (mapcar #'car org-agent-dictate-program))
                         ", ")))
   ((and (org-agent-kernel-ready-p)
         (not (plist-get org-agent-kernel-server :hears)))
    "No server is named that transcribes: write a heading \"Transcription\" below \"Speech\" in config.org and save it")))

(defun org-agent-dictate--check ()
  "Signal an error when dictating cannot be begun here."
  (barf-if-buffer-read-only)
  (when-let* ((lacks (org-agent-dictate-lacks)))
    (user-error "%s" lacks))
  (unless (org-agent-kernel-ready-p)
    (org-agent-kernel-ensure)
    (user-error "The kernel is being started; dictate when it runs")))

;;;; Commands

;;;###autoload
(defun org-agent-dictate (&optional cancel)
  "Listen; when that is going on, stop and insert what was said.
It is inserted where point is now; in a conversation, when that is not in
the draft, at the draft's end.  With a prefix argument CANCEL forget what
is being dictated.

The recording goes to the server that `config.org' names for it."
  (interactive "P")
  (pcase (and org-agent-dictate--now
              (org-agent-dictate-recording-phase org-agent-dictate--now))
    ((guard cancel) (org-agent-dictate-cancel))
    ('listening (org-agent-dictate--stop org-agent-dictate--now))
    ((or 'stopping 'transcribing)
     (user-error "What you said is being transcribed; with a prefix argument it is forgotten"))
    (_ (org-agent-dictate--check)
       (org-agent-dictate--listen (org-agent-dictate--marker)))))

;;;###autoload
(defun org-agent-dictate-cancel ()
  "Forget what is being dictated."
  (interactive)
  (if-let* ((now org-agent-dictate--now))
      (progn
        (org-agent-dictate--finish now)
        (when-let* ((request (org-agent-dictate-recording-request now)))
          (org-agent-kernel-cancel request))
        (message "Forgotten"))
    (user-error "Nothing is being dictated")))

;;;###autoload
(defun org-agent-dictate-again ()
  "Have the latest recording transcribed that could not be.
If it was and the place for the words was gone, insert them here."
  (interactive)
  (barf-if-buffer-read-only)
  (cond
   (org-agent-dictate--now
    (user-error "Something is being dictated"))
   (org-agent-dictate--not-inserted
    (org-agent-dictate--insert (org-agent-dictate--marker)
                               org-agent-dictate--not-inserted)
    (setq org-agent-dictate--not-inserted nil))
   (org-agent-dictate--failed
    (org-agent-dictate--check)
    (setq org-agent-dictate--now
          (org-agent-dictate--make :place (org-agent-dictate--marker)
                                   :sound org-agent-dictate--failed))
    (org-agent-dictate--transcribe org-agent-dictate--now))
   (t (user-error "Nothing is left of what you dictated"))))

(defun org-agent-dictate--marker ()
  "Return a marker where the transcript is to go."
  (copy-marker
   (if (and org-agent-chat-session (not (org-agent-draft-p (point))))
       (progn
         (org-agent-chat-restore-draft)
         (save-restriction (widen) (point-max)))
     (point))))

;;;; Listening

(defun org-agent-dictate--listen (place)
  "Start a recording whose transcript goes to the marker PLACE."
  (let ((now (org-agent-dictate--make :place place :began (float-time))))
    (setf (org-agent-dictate-recording-process now)
          (org-agent-kernel-start-program
           (org-agent-dictate--recorder)
           (lambda (_process _output complaint)
             (org-agent-dictate--ended now complaint))
           :coding 'no-conversion
           :filter (lambda (_process bytes)
                     (org-agent-dictate--heard now bytes))))
    (setq org-agent-dictate--now now
          org-agent-dictate--timer (run-at-time 1 1 #'org-agent-dictate--tick))
    (org-agent-dictate--show)
    (message "Listening; %s"
             (substitute-command-keys
              "\\[org-agent-dictate] stops, with a prefix argument it forgets"))))

(defun org-agent-dictate--heard (now bytes)
  "Add BYTES, a piece of sound, to the recording NOW."
  (push bytes (org-agent-dictate-recording-chunks now))
  (when (> (cl-incf (org-agent-dictate-recording-bytes now) (length bytes))
           (- org-agent-dictate--limit 100))
    (pop (org-agent-dictate-recording-chunks now))
    (org-agent-dictate--stop now)))

(defun org-agent-dictate--tick ()
  "Count a second; end a recording that is long enough."
  (let ((now org-agent-dictate--now))
    (cond
     ((not (and now (eq (org-agent-dictate-recording-phase now) 'listening)))
      (org-agent-dictate--count-no-more))
     ((>= (- (float-time) (org-agent-dictate-recording-began now))
          org-agent-dictate-seconds)
      (message "%s seconds were recorded, which is as long as one may be"
               org-agent-dictate-seconds)
      (org-agent-dictate--stop now))
     (t (org-agent-dictate--show)))))

(defun org-agent-dictate--stop (now)
  "Interrupt the recorder of NOW; kill it if it does not end."
  (when (eq (org-agent-dictate-recording-phase now) 'listening)
    (setf (org-agent-dictate-recording-phase now) 'stopping)
    (org-agent-dictate--show)
    (let ((process (org-agent-dictate-recording-process now)))
      (interrupt-process process)
      (run-at-time org-agent-dictate--timeout nil
                   (lambda ()
                     (when (process-live-p process)
                       (kill-process process)))))))

(defun org-agent-dictate--ended (now complaint)
  "Transcribe the recording NOW, or report why that is not possible.
The recorder has ended; COMPLAINT is its last line of error output, or nil."
  (let ((stopped (eq (org-agent-dictate-recording-phase now) 'stopping))
        (process (org-agent-dictate-recording-process now)))
    (when (eq now org-agent-dictate--now) ; else it was cancelled
      (setf (org-agent-dictate-recording-sound now)
            (org-agent-dictate--wav
             (apply #'concat (nreverse (org-agent-dictate-recording-chunks now))))
            (org-agent-dictate-recording-chunks now) nil)
      (cond
       ((and (not stopped) (not (eql 0 (process-exit-status process))))
        (org-agent-dictate--finish now)
        (message "Nothing was recorded: %s: %s; see `org-agent-dictate-program'"
                 (car (process-command process))
                 (or complaint "it ended at once")))
       ((not (org-agent-dictate-recording-sound now))
        (org-agent-dictate--finish now)
        (message "Nothing was recorded%s"
                 (if complaint (concat ": " complaint)
                   "; is there a microphone, and is it on?")))
       (t (org-agent-dictate--transcribe now))))))

(defun org-agent-dictate--finish (now)
  "End the recording NOW in any phase."
  (when (process-live-p (org-agent-dictate-recording-process now))
    (interrupt-process (org-agent-dictate-recording-process now))
    (let ((process (org-agent-dictate-recording-process now)))
      (run-at-time org-agent-dictate--timeout nil
                   (lambda () (when (process-live-p process)
                                (kill-process process))))))
  (set-marker (org-agent-dictate-recording-place now) nil)
  (when (eq now org-agent-dictate--now)
    (setq org-agent-dictate--now nil))
  (org-agent-dictate--show))

;;;; The sound

(defun org-agent-dictate--wav (bytes)
  "Return BYTES as a WAV file, nil when there is no sound in them.
A program that prints a WAV file cannot know its length at first, so the
length is corrected."
  (let ((data (and (string-prefix-p "RIFF" bytes)
                   (string-search "data" bytes))))
    (cond
     ((and data (> (length bytes) (+ data 8)))
      (concat (substring bytes 0 4)
              (org-agent-dictate--number (- (length bytes) 8))
              (substring bytes 8 (+ data 4))
              (org-agent-dictate--number (- (length bytes) data 8))
              (substring bytes (+ data 8))))
     ((and (not data) (> (length bytes) 1))
      (let ((bytes (substring bytes 0 (* 2 (/ (length bytes) 2)))))
        (concat "RIFF" (org-agent-dictate--number (+ 36 (length bytes)))
                "WAVEfmt " (org-agent-dictate--number 16)
                "\1\0\1\0" (org-agent-dictate--number 16000)
                (org-agent-dictate--number 32000) "\2\0\20\0"
                "data" (org-agent-dictate--number (length bytes))
                bytes))))))

(defun org-agent-dictate--number (number)
  "Return NUMBER as four bytes, the least first."
  (apply #'unibyte-string
         (cl-loop repeat 4 collect (logand number 255)
                  do (setq number (ash number -8)))))

;;;; The transcript

(defun org-agent-dictate--transcribe (now)
  "Ask the kernel to transcribe the recording NOW."
  (setf (org-agent-dictate-recording-phase now) 'transcribing)
  (org-agent-dictate--show)
  (message "Transcribing, at %s" (plist-get org-agent-kernel-server :hears))
  (setf (org-agent-dictate-recording-request now)
        (org-agent-kernel-request
         "speech/transcribe"
         (append (list :data (base64-encode-string (org-agent-dictate-recording-sound now) t))
                 (and org-agent-dictate-language
                      (list :language org-agent-dictate-language)))
         :success (lambda (result)
                    (org-agent-dictate--transcribed now (plist-get result :text)))
         :failure (lambda (refusal)
                    (org-agent-dictate--not-transcribed
                     now (plist-get refusal :message))))))

(defun org-agent-dictate--not-transcribed (now reason)
  "Report that NOW was not transcribed for REASON; store its sound."
  (when (eq now org-agent-dictate--now)
    (setq org-agent-dictate--failed (org-agent-dictate-recording-sound now))
    (org-agent-dictate--finish now)
    (message "Not transcribed: %s.  M-x org-agent-dictate-again tries it again"
             reason)))

(defun org-agent-dictate--transcribed (now text)
  "Insert TEXT, the transcript of NOW, at its marker."
  (cond
   ((not (eq now org-agent-dictate--now))) ; it was cancelled
   ((> (length text) org-agent-dictate--text-limit)
    (org-agent-dictate--not-transcribed now "the server answers with more than anybody says"))
   (t
    (setq org-agent-dictate--failed nil)
    (let ((place (copy-marker (org-agent-dictate-recording-place now))))
      (org-agent-dictate--finish now)
      (cond
       ((string-empty-p (or text ""))
        (message "Nothing was said"))
       ((and (org-agent-dictate--insertable-p place)
             (org-agent-rpc-guard "dictating"
               (org-agent-dictate--insert place text)
               t))
        (message nil))
       (t (setq org-agent-dictate--not-inserted text)
          (message "The place is gone; M-x org-agent-dictate-again inserts what you said where you are")))))))

(defun org-agent-dictate--insertable-p (place)
  "Return non-nil when text can be inserted at the marker PLACE."
  (let ((buffer (marker-buffer place)))
    (and buffer (buffer-live-p buffer)
         (or (not (minibufferp buffer)) (minibufferp buffer t))
         (with-current-buffer buffer
           (not (or buffer-read-only
                    (get-text-property place 'read-only)))))))

(defun org-agent-dictate--insert (place text)
  "Insert TEXT at the marker PLACE as one undo step.
If point is still there it moves after TEXT, as if TEXT had been typed."
  (with-current-buffer (marker-buffer place)
    (save-restriction
      (widen)
      (let* ((start (marker-position place))
             (before (char-before start))
             (after (char-after start))
             (text (concat
                    (and before (not (memq (char-syntax before) '(?\s ?\( ?>)))
                         (/= before ?\n) " ")
                    (org-agent-dictate--plain
                     text (save-excursion (goto-char start) (bolp)))
                    (and after (memq (char-syntax after) '(?w ?_ ?\()) " ")))
             (there (= (point) start))
             (windows (cl-remove-if-not
                       (lambda (window) (= (window-point window) start))
                       (get-buffer-window-list nil t t))))
        (undo-boundary)
        (save-excursion
          (goto-char start)
          (insert text))
        (undo-boundary)
        (when there (goto-char (+ start (length text))))
        (dolist (window windows)
          (set-window-point window (+ start (length text))))))
    (set-marker place nil)))

(defun org-agent-dictate--plain (text line-start)
  "Return TEXT as plain text on one line.
LINE-START is non-nil if TEXT begins a line.  In Org nothing in the result
is active: no command, and no link or mention that would send a file
along."
  (let ((text (string-trim (replace-regexp-in-string
                            org-agent-dictate--no-text " " text)))
        (mark org-agent-inert-mark))
    (when (derived-mode-p 'org-mode)
      ;; A word before it makes sure that it is no line of its own.
      (setq text (substring (org-agent-inert (concat "x " text)) 2))
      (pcase-dolist (`(,regexp . ,to)
                     `(("\\[\\[" . ,(concat "[" mark "["))
                       ("<\\([0-9]\\)" . ,(concat "<" mark "\\1"))
                       ("\\(\\`\\|[ \t(]\\)@" . ,(concat "\\1@" mark))
                       ("\\_<\\(file\\|id\\|org-agent-buffer\\):"
                        . ,(concat "\\1" mark ":"))
                       ;; At the end of a heading these would be tags.
                       ("\\(:[[:alnum:]_@#%:]+\\):\\'" . ,(concat "\\1" mark ":"))
                       (,(if line-start "\\`\\([^[:alnum:]\u200b]\\)"
                           "\\`\\(/\\)")
                        . ,(concat mark "\\1"))))
        (setq text (replace-regexp-in-string regexp to text t))))
    text))

;;;; The mode line

(defvar org-agent-dictate--map
  (let ((map (make-sparse-keymap)))
    (define-key map [mode-line mouse-1] #'org-agent-dictate)
    map)
  "Keymap of the text in the mode line.")

(defvar org-agent-dictate--shown nil
  "The text in the mode lines, or nil.")
(put 'org-agent-dictate--shown 'risky-local-variable t)

(defconst org-agent-dictate--construct '("" org-agent-dictate--shown)
  "Element of `global-mode-string' while a recording runs.")

(defun org-agent-dictate--text (now)
  "Return the text in the mode line for the recording NOW."
  (propertize
   (if (eq (org-agent-dictate-recording-phase now) 'listening)
       (let ((seconds (floor (- (float-time) (org-agent-dictate-recording-began now)))))
         (format " Listening %d:%02d " (/ seconds 60) (% seconds 60)))
     " Transcribing ")
   'face (if (eq (org-agent-dictate-recording-phase now) 'listening)
             'org-agent-dictate-listening
           'mode-line-emphasis)
   'mouse-face 'mode-line-highlight 'local-map org-agent-dictate--map
   'help-echo "mouse-1: stop listening"))

(defun org-agent-dictate--show ()
  "Show the state of the recording in the mode lines."
  (setq org-agent-dictate--shown
        (and org-agent-dictate--now
             (org-agent-dictate--text org-agent-dictate--now)))
  (org-agent-notify-in-mode-lines org-agent-dictate--construct
                                  org-agent-dictate--shown)
  (unless (and org-agent-dictate--now
               (eq (org-agent-dictate-recording-phase org-agent-dictate--now) 'listening))
    (org-agent-dictate--count-no-more))
  (force-mode-line-update t))

(defun org-agent-dictate--count-no-more ()
  "Cancel the timer."
  (when org-agent-dictate--timer
    (cancel-timer org-agent-dictate--timer)
    (setq org-agent-dictate--timer nil)))

(provide 'org-agent-dictate)
;;; org-agent-dictate.el ends here
