;;; org-agent-undisturbed-test.el --- Tests that notifications disturb nobody  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The kernel sends everything that it may send to a conversation.  Point,
;; mark, windows, kill ring and draft do not change.  The person's changes
;; are undone one by one, and the kernel's text stays.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-draft)
(require 'org-agent-heading)

(defun org-agent-undisturbed-test--asks (id)
  "Return the heading of what waits under the ID."
  (concat (org-agent-heading-line 2 "TODO May I change note.org?" '("agent"))
          ":PROPERTIES:\n" (format "%-10s %s\n" ":ID:" id)
          ":ASKS:     approval\n:END:\nIt asks.\n#+begin_src diff\n-a\n+b\n#+end_src\n"))

(defun org-agent-undisturbed-test--closed (id)
  "Return what the heading of the ID becomes."
  (concat (org-agent-heading-line 2 "DONE Approved once: Change note.org" '("agent"))
          ":PROPERTIES:\n" (format "%-10s %s\n" ":ID:" id)
          ":ASKS:     approval\n:END:\n"))

(defun org-agent-undisturbed-test--ask (question)
  "Have something wait below QUESTION."
  (org-agent-fake-request
   "act" :id "ask1" :session "main" :turn "turn-9" :event question
   :type :request :target :emacs :asks t
   :payload (list :action :insert-at-end
                  :text (org-agent-undisturbed-test--asks "ask1"))))

(defconst org-agent-undisturbed-test--news
  `((answer . ,(lambda (question)
                 (org-agent-fake-notify "turn/started" :session "main"
                                        :turn "turn-9" :event question)
                 (org-agent-fake-act
                  "a9" question
                  (concat (org-agent-fake-answer-text "a9" "Nine" "body")
                          ":THOUGHTS:\n: Hm.\n:END:\n")
                  "turn-9")
                 (org-agent-fake-notify "turn/finished" :session "main" :turn "turn-9"
                                        :event question :state :answered)))
    (ask . org-agent-undisturbed-test--ask)
    (closed . ,(lambda (question)
                 (org-agent-undisturbed-test--ask question)
                 (org-agent-fake-notify
                  "ask/closed" :sort :approval :id "ask1" :session "main" :turn "turn-9"
                  :decision :allow-once :client "cli"
                  :waiting (org-agent-undisturbed-test--asks "ask1")
                  :subtree (org-agent-undisturbed-test--closed "ask1"))))
    (preferred . ,(lambda (question)
                    (org-agent-fake-notify "turn/preferred" :session "main"
                                           :turn "turn-1" :event question :id "a1")))
    (others-question . ,(lambda (_)
                          (org-agent-fake-notify
                           "turn/started" :session "main" :turn "turn-9" :event "q9"
                           :question (org-agent-heading-question 1 "q9" "By others" nil))))
    (kept . ,(lambda (_)
               (org-agent-fake-notify
                "turn/kept" :session "main" :turn "turn-9" :event "q9"
                :question (org-agent-heading-question 1 "q9" "Kept" nil)
                :id "a9" :answer (org-agent-fake-answer-text "a9" "Nine" "body")
                :state :answered)))
    (thought . ,(lambda (question)
                  (org-agent-fake-notify "turn/thought" :session "main" :turn "turn-9"
                                         :event question :chars 5 :text "Hm...")))
    (commentary . ,(lambda (question)
                     (org-agent-fake-notify "turn/commentary" :session "main" :turn "turn-9"
                                            :event question :text "I look.")))
    (cancelled . ,(lambda (question)
                    (org-agent-fake-delta question "a9" 0 "** Nine\nbody" "turn-9")
                    (org-agent-fake-delta question "a9" 0 "" "turn-9")
                    (org-agent-fake-notify "turn/finished" :session "main" :turn "turn-9"
                                           :event question :state :cancelled)))
    (keeper . ,(lambda (_)
                 (org-agent-fake-notify "session/keeper" :session "main"
                                        :file (org-agent-fake-file "main") :keeper t)))
    (renamed . ,(lambda (_)
                  (org-agent-fake-notify "model/changed" :session "main" :model "other")
                  (org-agent-fake-notify "notice" :level :warn :text "Look out")
                  (org-agent-fake-notify "log" :records nil :mark 1))))
  "What the kernel tells, as functions of a question's id.")

(defun org-agent-undisturbed-test--behind (position)
  "Return a few characters after POSITION, by which a place is known."
  (buffer-substring-no-properties position (min (point-max) (+ position 6))))

(defun org-agent-undisturbed-test--state (window)
  "Return what is the person's; another WINDOW shows the conversation too."
  (list :point (org-agent-undisturbed-test--behind (point))
        :mark (org-agent-undisturbed-test--behind (mark t))
        :active mark-active
        :kills kill-ring
        :window (org-agent-undisturbed-test--behind (window-point window))
        :start (org-agent-undisturbed-test--behind (window-start window))
        :draft (buffer-substring-no-properties (org-agent-draft-start) (point-max))))

(defun org-agent-undisturbed-test--undo (first)
  "Undo one step, the FIRST of several or not; return the draft that is left."
  (let ((last-command (if first 'self-insert-command 'undo)) (inhibit-message t))
    (deactivate-mark)                   ; that of a region is another undo
    (undo-boundary)
    (undo)
    (buffer-substring-no-properties (org-agent-draft-start) (point-max))))

(defun org-agent-undisturbed-test--try (name news place)
  "Tell NEWS, called NAME, while point is at PLACE, a function that goes there."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "First\nwith a body")))
      (org-agent-fake-act "a1" question
                          (org-agent-fake-answer-text "a1" "One" "words of one"))
      (org-agent-fake-notify "turn/finished" :session "main" :turn "turn-1"
                             :event question :state :answered)
      (org-agent-fake-settle)
      (org-agent-fake-type "my ")
      (org-agent-fake-type "draft")
      (save-window-excursion
        (delete-other-windows)
        (switch-to-buffer (current-buffer))
        (let ((window (split-window)) (kill-ring '("kept")) (transient-mark-mode t))
          (goto-char (point-min))
          (search-forward "with a")
          (set-window-point window (point))
          (set-window-start window (line-beginning-position))
          (push-mark (point) t t)
          (funcall place)
          (let ((before (org-agent-undisturbed-test--state window)) text)
            (funcall news question)
            (org-agent-fake-settle)
            (ert-info ((format "%s" name))
              (should (equal (org-agent-undisturbed-test--state window) before))
              (setq text (substring (org-agent-fake-text) 0 (- (length "my draft"))))
              (if (memq name '(answer ask closed others-question)) ; began after the draft
                  (progn
                    (should (equal (org-agent-undisturbed-test--undo t) "* my draft"))
                    (should-not (string-match-p "Nine\\|By others" (buffer-string))))
                (should (equal (org-agent-undisturbed-test--undo t) "* my "))
                (should (equal (org-agent-undisturbed-test--undo nil) "* "))
                (should (equal (org-agent-fake-text) text))))))))))

(ert-deftest org-agent-undisturbed ()
  "No notification changes the person's state, wherever point is."
  (pcase-dolist (`(,name . ,news) org-agent-undisturbed-test--news)
    (dolist (place (list (lambda () (goto-char (point-min)) (search-forward "words "))
                         (lambda () (goto-char (org-agent-draft-start)))
                         (lambda () (goto-char (point-max)))))
      (org-agent-undisturbed-test--try name news place))))

(provide 'org-agent-undisturbed-test)
;;; org-agent-undisturbed-test.el ends here
