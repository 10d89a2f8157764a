;;; skill.el --- Write a skill and export the frame  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: emacs -Q -L elisp -l testdata/screenshot/skill.el IMAGE
;;
;; Does what "Write your first skill" in README.org says, with the keys that it
;; names, a step whenever nothing else goes on, and writes the frame to the
;; file IMAGE, and beside it tour/test-fails.png, with a test that fails, and
;; tour/test-passes.png, in which it passes.

;;; Code:

(load (expand-file-name "shot" (file-name-directory load-file-name)) nil t)
(require 'flymake)

(defvar shot-file (expand-file-name (pop command-line-args-left))
  "The image.")

(defvar shot-chat "*org-agent-chat*"
  "The buffer of the conversation.")

(defun shot-note (from to &optional keys)
  "Put TO in the place of FROM in the note and run what KEYS are bound to."
  (select-window (get-buffer-window "shout.org"))
  (goto-char (point-min))
  (search-forward from)
  (replace-match to t t)
  (when keys
    (call-interactively (key-binding (kbd keys)))))

(defun shot-say (text)
  "Send TEXT in the conversation."
  (select-window (get-buffer-window shot-chat))
  (goto-char (point-max))
  (insert text)
  (call-interactively (key-binding (kbd "C-c C-c"))))

(defun shot-proven-p ()
  "Return non-nil when all three criteria of the note are proven."
  (with-current-buffer "shout.org"
    (save-excursion
      (goto-char (point-min))
      (search-forward "** DONE" nil t 3))))

(defun shot-fault ()
  "Return what is wrong with the note, or nil."
  (with-current-buffer "shout.org"
    (when-let* ((fault (car (flymake-diagnostics))))
      (flymake-diagnostic-text fault))))

(defun shot-ask ()
  "Have something shouted."
  (shot-say "shout: is anybody out there?"))

(defvar shot-skill-steps
  (list
   (cons #'shot-quiet-p
         (lambda ()
           (org-agent-skill-new "shout")
           (delete-other-windows)
           (set-window-buffer (split-window-below -13) shot-chat)))
   ;; It is live a moment after it was saved.
   (cons (lambda () (> (float-time) (+ shot-since 2)))
         #'shot-ask)
   (cons (lambda () (and (shot-shown-p shot-chat "** is anybody") (shot-quiet-p)))
         (lambda ()
           (shot-note "(string-trim \" \" text)"
                      "(string-upcase (string-trim \" \" text))"
                      "C-x C-s")))
   (cons (lambda () (string-match-p "last good version" (or (current-message) "")))
         (lambda ()
           (shot-note "* Success Criteria" "* Success Criteria" "C-c C-c")))
   (cons #'shot-fault
         (lambda ()
           (message "%s" (shot-fault))
           (shot-test "test-fails" "* Tests")
           ;; The other window has the failures.
           (set-window-buffer (next-window) shot-chat)
           (shot-note ":text \"hello\")))" ":text \"HELLO\")))" "C-x C-s")
           (shot-note "* Success Criteria" "* Success Criteria" "C-c C-c")))
   (cons #'shot-proven-p #'shot-ask)
   (cons (lambda () (and (shot-shown-p shot-chat "** IS ANYBODY") (shot-quiet-p)))
         (lambda ()
           (shot-test "test-passes" "* Success Criteria")
           (shot-note "(string-upcase" "(string-upcas")
           (flymake-start)))
   (cons #'shot-fault #'shot-export))
  "What is to be done: pairs of when it can be done and the doing.")

(defun shot-note-from (text)
  "Show the note from TEXT on, and the end of the conversation."
  (when-let* ((window (get-buffer-window shot-chat)))
    (select-window window)
    (goto-char (point-max))
    (recenter -1))
  (select-window (get-buffer-window "shout.org"))
  (goto-char (point-min))
  (search-forward text)
  (forward-line 0)
  (set-window-start nil (point)))

(defun shot-test (name text)
  "Write the picture NAME of the note from TEXT on."
  (shot-note-from text)
  (shot-write (expand-file-name (concat "tour/" name ".png")
                                (file-name-directory shot-file))))

(defun shot-export ()
  "Write the image, with the fault in the note shown in the echo area."
  (shot-note-from "** Which events")
  (search-forward "(string-upcas")
  (recenter 12)
  (message "%s" (shot-fault))
  (shot-write shot-file))

(shot-begin 110 36 110)
(shot-play shot-skill-steps 0.3)

(provide 'skill)
;;; skill.el ends here
