;;; org-agent-speech-test.el --- Tests of speaking and dictating  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The programs that record and speak are real ones: shell scripts that
;; print a sound until they are interrupted, or store their input.  The
;; server that transcribes is a real one, used by the real kernel.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-context)
(require 'org-agent-dictate)
(require 'org-agent-draft)
(require 'org-agent-heading)
(require 'org-agent-kernel)
(require 'org-agent-speak)

(defmacro org-agent-speech-test--with (script &rest body)
  "Run BODY with a kernel whose servers hear and speak as SCRIPT says."
  (declare (indent 1) (debug t))
  `(let ((org-agent-kernel-test-script ,script)
         (org-agent-kernel-test-configure #'org-agent-speech-test--configure)
         (org-agent-dictate--now nil)
         (org-agent-dictate--failed nil)
         (org-agent-dictate--not-inserted nil)
         (global-mode-string '("")))
     (org-agent-kernel-test--with
         (list (org-agent-kernel-test--exchange "Two of /them/\n\n- both from [[https://example.org][April]]"
                                                '(times . -1)))
       ,@body)))

(defun org-agent-speech-test--configure (url)
  "Have config.org name the server at URL for speech."
  (write-region (format "* Speech\n** Transcription\n:PROPERTIES:\n:BASE_URL: %s\n:MODEL: hears\n:END:\n** Voice\n:PROPERTIES:\n:BASE_URL: %s\n:MODEL: speaks\n:VOICE: alloy\n:END:\n"
                        url url)
                nil (expand-file-name "config.org" org-agent-home) nil 'silent))

(defun org-agent-speech-test--script (name &rest lines)
  "Make the program NAME, a shell script of LINES, and return its file."
  (let ((file (expand-file-name name org-agent-fake-directory)))
    (write-region (concat "#!/bin/sh\n" (string-join lines "\n") "\n")
                  nil file nil 'silent)
    (set-file-modes file #o700)
    file))

(defun org-agent-speech-test--recorder ()
  "Make a program that records half a second, until it is interrupted."
  (org-agent-speech-test--script
   "recorder" "trap 'exit 1' INT" "head -c 16000 /dev/zero"
   "while :; do sleep 0.02; done"))

(defun org-agent-speech-test--dictate (&optional then)
  "Dictate at point; call THEN while it is being listened; wait for the end."
  (org-agent-dictate)
  (org-agent-fake-wait (= (org-agent-dictate-recording-bytes org-agent-dictate--now) 16000))
  (when then (funcall then))
  (when org-agent-dictate--now
    (org-agent-dictate))
  (org-agent-fake-wait (not org-agent-dictate--now)))

(defun org-agent-speech-test--trace ()
  "Return the requests that the servers got."
  (with-temp-buffer
    (insert-file-contents (expand-file-name "trace" org-agent-fake-directory))
    (cl-loop until (eobp)
             collect (json-read-from-string
                      (buffer-substring (point) (line-end-position)))
             do (forward-line))))

;;;; Dictating

(ert-deftest org-agent-dictate-into-the-draft ()
  "Dictated text is inserted into the draft as one undo step."
  (org-agent-speech-test--with
      '((transcriptions . [((reply . " Which notes\nmention Samarkand? "))
                           ((reply . "All of them."))]))
    (let* ((org-agent-dictate-program
            (list '("org-agent-no-such-program") (list (org-agent-speech-test--recorder))))
           (killed (copy-sequence kill-ring))
           shown)
      (goto-char (point-max))
      (buffer-enable-undo)
      (org-agent-speech-test--dictate
       (lambda ()
         (should (member org-agent-dictate--construct global-mode-string))
         (setq shown org-agent-dictate--shown)))
      (should (string-match-p "Listening 0:0" shown))
      (should (equal global-mode-string '("")))
      (should (equal (car (org-agent-context-draft)) "Which notes mention Samarkand?"))
      (should (eobp))
      (org-agent-speech-test--dictate)
      (should (equal (car (org-agent-context-draft))
                     "Which notes mention Samarkand? All of them."))
      (should (equal killed kill-ring))
      (setq last-command nil)
      (undo)
      (should (equal (car (org-agent-context-draft)) "Which notes mention Samarkand?"))
      (undo-more 1)
      (should-not (car (org-agent-context-draft)))
      (let ((request (car (org-agent-speech-test--trace))))
        (should (equal (alist-get 'model request) "hears"))
        (should (equal (alist-get 'Seconds (alist-get 'file request)) 0.5)))
      (should-not (directory-files org-agent-fake-directory nil "wav")))))

(ert-deftest org-agent-dictate-anywhere ()
  "In any buffer the text is inserted at the old point."
  (org-agent-speech-test--with '((transcriptions . [((reply . "two three") (times . -1))]))
    (let ((org-agent-dictate-program (list (list (org-agent-speech-test--recorder)))))
      (with-temp-buffer
        (insert "one four")
        (goto-char 4)
        (org-agent-speech-test--dictate
         (lambda () (goto-char (point-max)) (insert " five") (goto-char 2)))
        (should (equal (buffer-string) "one two three four five"))
        (should (= (point) 2))
        (setq buffer-read-only t)
        (should-error (org-agent-dictate) :type 'buffer-read-only))
      ;; From an answer the words go to the draft, which is then made.
      (with-current-buffer "*org-agent-chat*"
        (goto-char (point-min))
        (insert (org-agent-heading-question 1 "q" "Asked" nil))
        (goto-char (point-min))
        (org-agent-speech-test--dictate)
        (should (= (point) 1))
        (should (equal (car (org-agent-context-draft)) "two three")))
      ;; The place is gone: the words are not.
      (with-current-buffer (generate-new-buffer "gone")
        (org-agent-speech-test--dictate (lambda () (kill-buffer "gone"))))
      (with-temp-buffer
        (org-agent-dictate-again)
        (should (equal (buffer-string) "two three"))
        (should-error (org-agent-dictate-again) :type 'user-error)))))

(ert-deftest org-agent-dictate-is-inert ()
  "Transcribed text has no Org, no link, no mention and no command."
  (let ((file (make-temp-file "org-agent-test" nil "secret")))
    (unwind-protect
        (dolist (text (list (format "/undo [[file:%s][x]] @%s file:%s" file file file)
                            "- Context: [[id:1][x]]" "* TODO x :user:" "#+begin_src sh"
                            "| =1 |" "src_sh{id} <2026-11-22 Sun>" "\u202eab\0c"
                            "Milk :agenttask:" ":agent:mine:" "Milk:x:crypt:"))
          (dolist (start '("* " ""))
            (with-temp-buffer
              (delay-mode-hooks (org-mode))
              (insert start)
              (org-agent-dictate--insert (point-marker) text)
              (ert-info ((format "%s%S" start (buffer-string)))
                (should-not (org-agent-context-references (buffer-string)))
                (should-not (string-match-p "[\0\u202e]" (buffer-string)))
                (should-not (string-prefix-p "* /" (buffer-string)))
                (should (= 1 (count-lines (point-min) (point-max))))
                (goto-char (point-min))
                (when (org-at-heading-p)
                  (should-not (org-get-tags nil t))
                  (should-not (org-element-property :tags (org-element-at-point))))
                (should (eq (org-element-type (org-element-at-point))
                            (if (equal start "") 'paragraph 'headline)))
                (should-not (org-element-map (org-element-parse-buffer)
                                '(link inline-src-block timestamp table src-block)
                              (lambda (found)
                                (not (equal (org-element-property :type found)
                                            'inactive)))))))))
      (delete-file file)))
  (with-temp-buffer                     ; elsewhere it is as it is said
    (insert "x")
    (org-agent-dictate--insert (point-marker) "[[a]]\tb\n")
    (should (equal (buffer-string) "x [[a]] b"))))

(ert-deftest org-agent-dictate-failures ()
  "Each failure is reported with a remedy, and no recording is lost."
  (org-agent-speech-test--with
      '((transcriptions . [((status . 401) (body . "{\"error\":{\"message\":\"no such key\"}}"))
                           ((reply . "Kept."))]))
    (let ((org-agent-dictate-program (list (list (org-agent-speech-test--recorder)))))
      (ert-with-message-capture messages
        (org-agent-speech-test--dictate)
        (should (string-match-p "Not transcribed: .*no such key.*org-agent-dictate-again" messages)))
      (should-not (car (org-agent-context-draft)))
      (goto-char (point-max))
      (org-agent-dictate-again)
      (org-agent-fake-wait (not org-agent-dictate--now))
      (should (equal (car (org-agent-context-draft)) "Kept.")))
    (pcase-dolist (`(,says . ,lines)
                   '(("no microphone" "echo ALSA: no microphone >&2" "exit 1")
                     ("Nothing was recorded; is there" "exit 0")
                     ("Nothing was recorded" "printf RIFF0000WAVEdata0000")))
      (let ((org-agent-dictate-program
             (list (list (apply #'org-agent-speech-test--script "broken" lines)))))
        (ert-with-message-capture messages
          (org-agent-dictate)
          (org-agent-fake-wait (not org-agent-dictate--now))
          (should (string-match-p says messages)))))
    (should-not org-agent-dictate--timer)
    (let ((org-agent-dictate-program '(("org-agent-no-such-program"))))
      (should (string-match-p "install" (cadr (should-error (org-agent-dictate) :type 'user-error)))))
    (let ((org-agent-kernel-server (list :hears nil)))
      (let ((org-agent-dictate-program '(("sh"))))
        (should (string-match-p "config\\.org" (cadr (should-error (org-agent-dictate) :type 'user-error))))))))

(ert-deftest org-agent-dictate-ends ()
  "A recording ends by time, by size, by the person, or by force."
  (org-agent-speech-test--with
      '((transcriptions . [((reply . "One.")) ((reply . "Two.")) ((first_delay . "1h"))]))
    (let ((org-agent-dictate-program (list (list (org-agent-speech-test--recorder)))))
      (goto-char (point-max))
      (let ((org-agent-dictate-seconds 0))
        (org-agent-dictate)
        (org-agent-fake-wait (not org-agent-dictate--now)))
      (should (equal (car (org-agent-context-draft)) "One."))
      ;; One that does not listen to anybody, and does not stop.
      (let ((org-agent-dictate--limit 100000)
            (org-agent-dictate--timeout 0.2)
            (org-agent-dictate-program
             (list (list (org-agent-speech-test--script
                          "deaf" "trap '' INT" "exec cat /dev/zero")))))
        (org-agent-dictate)
        (let ((process (org-agent-dictate-recording-process org-agent-dictate--now)))
          (org-agent-fake-wait (not org-agent-dictate--now))
          (should-not (process-live-p process))))
      (should (equal (car (org-agent-context-draft)) "One. Two."))
      (org-agent-dictate)
      (org-agent-fake-wait (> (org-agent-dictate-recording-bytes org-agent-dictate--now) 0))
      (org-agent-dictate)
      (org-agent-fake-wait (org-agent-dictate-recording-request org-agent-dictate--now))
      (should-error (org-agent-dictate) :type 'user-error)
      (org-agent-dictate t)
      (should-not org-agent-dictate--now)
      (org-agent-fake-settle)
      (should (equal (car (org-agent-context-draft)) "One. Two."))
      (should-error (org-agent-dictate-cancel) :type 'user-error)
      (org-agent-dictate)
      (let ((process (org-agent-dictate-recording-process org-agent-dictate--now)))
        (org-agent-dictate-cancel)
        (org-agent-fake-wait (not (process-live-p process))))
      (should-not (org-agent-dictate-recording-p org-agent-dictate--now)))))

(ert-deftest org-agent-dictate-wav ()
  "The header of a recorder's file is corrected; raw sound becomes a file."
  (let ((raw (org-agent-dictate--wav (make-string 5 0))))
    (should (= (length raw) 48))
    (should (equal (substring raw 40 44) "\4\0\0\0"))
    (should (equal raw (org-agent-dictate--wav
                        (concat (substring raw 0 4) "\377\377\377\377"
                                (substring raw 8 40) "\377\377\377\377"
                                (substring raw 44)))))
    (should-not (org-agent-dictate--wav ""))
    (should-not (org-agent-dictate--wav (substring raw 0 44)))))

;;;; Speaking

(defun org-agent-speech-test--speaker (&rest lines)
  "Make a program that keeps what it speaks; LINES are done then."
  (apply #'org-agent-speech-test--script "speaker"
         (format "cat >> '%s'" (expand-file-name "spoken" org-agent-fake-directory))
         lines))

(defun org-agent-speech-test--spoken ()
  "Return what was spoken."
  (let ((file (expand-file-name "spoken" org-agent-fake-directory)))
    (if (file-exists-p file)
        (with-temp-buffer (insert-file-contents file) (buffer-string))
      "")))

(ert-deftest org-agent-speak-answers ()
  "The answer at point is spoken; the mode speaks each; so is a region."
  (org-agent-speech-test--with nil
    (let ((org-agent-speak-program (list (list (org-agent-speech-test--speaker) "--stdin")))
          (org-agent-speak-with-server nil))
      (should-error (org-agent-speak) :type 'user-error)
      (unwind-protect
          (progn
            (org-agent-speak-mode 1)
            (org-agent-kernel-test--say "Which notes?")
            (org-agent-kernel-test--settle 1)
            (org-agent-fake-wait (not org-agent-speak--now))
            (should (equal (org-agent-speech-test--spoken)
                           "Two of them.\nboth from April.\n")))
        (org-agent-speak-mode -1))
      (goto-char (point-min))
      (let ((point (point)) (killed (copy-sequence kill-ring)) (text (buffer-string)))
        (org-agent-speak)
        (org-agent-fake-wait (not org-agent-speak--now))
        (should (= point (point)))
        (should (equal killed kill-ring))
        (should (equal text (buffer-string))))
      (should (= 2 (cl-count ?T (org-agent-speech-test--spoken))))
      (with-temp-buffer
        (insert "$(touch x); `y` -z")
        (should-error (org-agent-speak) :type 'user-error)
        (setq-local transient-mark-mode t)
        (push-mark (point-min) t t)
        (org-agent-speak)
        (org-agent-fake-wait (not org-agent-speak--now))
        (should (string-suffix-p "$(touch x); `y` -z\n" (org-agent-speech-test--spoken)))
        (erase-buffer)
        (insert " --- ")
        (push-mark (point-min) t t)
        (should-error (org-agent-speak) :type 'user-error)))))

(ert-deftest org-agent-speak-stops ()
  "Speaking stops on demand, and if the program fails or is missing."
  (org-agent-fake-with-home
    (with-temp-buffer
      (setq-local transient-mark-mode t)
      (dotimes (n 200) (insert (format "This is sentence %d. " n)))
      (push-mark (point-min) t t)
      (let ((org-agent-speak-program (list (list (org-agent-speech-test--speaker "exec sleep 100")))))
        (org-agent-speak)
        (let ((process org-agent-speak--now))
          (should (> (length org-agent-speak--queue) 5))
          (org-agent-fake-wait (string-match-p "sentence 5" (org-agent-speech-test--spoken)))
          (org-agent-speak)             ; anew
          (org-agent-fake-wait (not (process-live-p process)))
          (setq process org-agent-speak--now)
          (org-agent-speak-stop)
          (org-agent-fake-wait (not (process-live-p process)))
          (should-not org-agent-speak--queue)
          (should-error (org-agent-speak-stop) :type 'user-error)))
      (let ((org-agent-speak-program
             (list (list (org-agent-speech-test--script "mute" "echo no sound card >&2" "exit 3")))))
        (ert-with-message-capture messages
          (org-agent-speak)
          (org-agent-fake-wait (not org-agent-speak--now))
          (should (string-match-p "mute failed: no sound card; see .org-agent-speak-program" messages)))
        (should-not org-agent-speak--queue))
      (let ((org-agent-speak-program '(("org-agent-no-such-program"))))
        (should (string-match-p "install espeak-ng" (cadr (should-error (org-agent-speak) :type 'user-error))))
        (should-error (org-agent-speak-mode 1) :type 'user-error)
        (should-not org-agent-speak-mode)))))

(ert-deftest org-agent-speak-with-the-server ()
  "The server's voice is played in pieces; errors are reported."
  (org-agent-speech-test--with
      '((voices . [((match . "^Two of them.") (reply . "RIFF0000WAVEsound"))
                   ((status . 400) (body . "{\"error\":{\"message\":\"unknown voice\"}}"))
                   ((first_delay . "1h"))]))
    (let* ((temporary-file-directory
            (file-name-as-directory (expand-file-name "temporary" org-agent-fake-directory)))
           (org-agent-speak-player
            (list (list (org-agent-speech-test--script
                         "player" (format "cat \"$2\" >> '%s'"
                                          (expand-file-name "spoken" org-agent-fake-directory)))
                        "-q" "%f"))))
      (make-directory temporary-file-directory)
      (org-agent-kernel-test--say "Which notes?")
      (org-agent-kernel-test--settle 1)
      (org-agent-speak)
      (org-agent-fake-wait (not org-agent-speak--now))
      (should (equal (org-agent-speech-test--spoken) "RIFF0000WAVEsound"))
      (ert-with-message-capture messages
        (org-agent-speak)
        (org-agent-fake-wait (not org-agent-speak--now))
        (should (string-match-p "Not spoken: .*unknown voice" messages)))
      (org-agent-speak)
      (org-agent-speak-stop)
      (should-not org-agent-speak--now)
      (org-agent-fake-settle)
      (should-not (directory-files temporary-file-directory nil "speak")))))

(ert-deftest org-agent-spoken-words ()
  "Markup is not spoken, code is mentioned, and links are their words."
  (pcase-dolist
      (`(,org ,said)
       '(("** Two of *them* :agent:\n:PROPERTIES:\n:ID: x\n:END:\n:THOUGHTS:\n: hm\n:END:\nText"
          "Two of them.\nText")
         ("See [[https://a.org/b][the *page*]], [[https://a.org/b?c=d]] or https://b.org/x/y."
          "See the page, a link to a.org or a link to b.org.")
         ("[[id:1-2][Silk road]] [[file:~/n/a.org]] [[id:1]]" "Silk road the file a.org a link")
         ("*/both/* =a b= ~c~ +d+ _e_ snake_case 2*3*4 a/b/c" "both a b c d e snake_case 2*3*4 a/b/c")
         ("- [ ] one\n- [X] two :: three?\n2. four\n1) five" "one.\ntwo: three?\n2. four.\n1. five.")
         ("#+begin_src emacs-lisp\n(a)\n(b)\n#+end_src\nx\n#+BEGIN_EXAMPLE\ny\n#+END_EXAMPLE"
          "Code in emacs-lisp of 2 lines.\nx\nAn example of one line.")
         ("#+begin_src sh\nnever ended" "never ended")
         (":LIKE: this\n:NOTE:\nno end" ":LIKE: this\n:NOTE:\nno end")
         ("| a | b |\n|---+---|\n| 1 |   |\n#+TBLFM: $1=2" "a, b.\n1.")
         ("#+begin_quote\nIt *is*[fn:1].\n#+end_quote\n\n\n\n[fn:1] So." "It is.\n\nFootnote: So.")
         ("# comment\n-----\n[2026-11-22 Sun] [2/3] x" "2026-11-22 Sun x")
         ("" "") ("* " "") ("*" "*")))
    (should (equal (list org (org-agent-speak-words org)) (list org said)))))

(ert-deftest org-agent-spoken-pieces-are-all ()
  "The pieces have every word of any text, and none is too long."
  (dolist (text (list "One. Two! Three?" "" " \n " (make-string 5000 ?x)
                      (apply #'concat (make-list 3000 "Ein Satz, der so geht. "))
                      (apply #'concat (make-list 3000 "word "))
                      (apply #'concat (make-list 1000 "一句话。"))
                      (apply #'concat (make-list 2000 "para\n\n"))))
    (let ((pieces (org-agent-speak-words-pieces text))
          (bare (lambda (s) (replace-regexp-in-string "[ \n]+" "" s))))
      (should (equal (funcall bare text) (funcall bare (apply #'concat pieces))))
      (dolist (piece pieces)
        (should (<= (length piece) org-agent-speak-words-piece)))))
  (should (equal (org-agent-speak-words-pieces "... \n\n ---") nil)))

(provide 'org-agent-speech-test)
;;; org-agent-speech-test.el ends here
