;;; org-agent-sessions-test.el --- Tests of listing, search, forks, names  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Against the project's kernel, in a home of its own.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-chat)
(require 'org-agent-draft)
(require 'org-agent-file-owner)
(require 'org-agent-heading)
(require 'org-agent-kernel)
(require 'org-agent-sessions)

(defun org-agent-sessions-test--list ()
  "Return the list of conversations as it is shown, when it has come."
  (save-window-excursion (org-agent-sessions))
  (with-current-buffer org-agent-sessions--buffer
    (setq tabulated-list-entries nil)
    (org-agent-fake-wait tabulated-list-entries)
    (mapcar (lambda (entry)
              (mapcar #'substring-no-properties (append (cadr entry) nil)))
            tabulated-list-entries)))

(defun org-agent-sessions-test--search (query &optional session)
  "Return what is shown of QUERY, in SESSION if given."
  (save-window-excursion (org-agent-search query session))
  (with-current-buffer org-agent-sessions--search-buffer
    (org-agent-list-show-rows nil "Nothing.")
    (org-agent-fake-wait (org-agent-section-all 'hit))
    (mapcar (lambda (section)
              (org-agent-sessions-search-snippet (org-agent-section-data section)))
            (org-agent-section-all 'hit))))

(ert-deftest org-agent-sessions-are-listed-and-opened ()
  "The list has all conversations, and RET opens one."
  (org-agent-kernel-test--with (list '((echo . t) (times . -1)))
    (org-agent-kernel-test--say "Tell me of Samarkand")
    (org-agent-kernel-test--settle 1)
    (let ((line (car (org-agent-sessions-test--list))))
      (should (equal (list (nth 0 line) (nth 1 line) (nth 3 line) (nth 4 line))
                     '("main" "1" "idle" "Tell me of Samarkand"))))
    (save-window-excursion
      (switch-to-buffer org-agent-sessions--buffer)
      ;; The first line names the columns; point is on what is listed.
      (should (= 2 (line-number-at-pos)))
      (org-agent-sessions-open)
      (should (equal (buffer-name) "*org-agent-chat*"))
      (switch-to-buffer org-agent-sessions--buffer)
      (goto-char (point-max))
      (should-error (org-agent-sessions-open) :type 'user-error))))

(ert-deftest org-agent-search-goes-to-what-was-said ()
  "A result is shown with its match and leads to its turn, folded or closed."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "Two of them\n\nBoth on the road to *Bukhara*.")
            '((echo . t) (times . -1)))
    (org-agent-kernel-test--say "Which notes mention Samarkand?")
    (org-agent-kernel-test--settle 1)
    (org-agent-kernel-test--say "And others?")
    (org-agent-kernel-test--settle 2)
    (let ((snippet (car (org-agent-sessions-test--search "\"road to\" BUKH*"))))
      (should (string-match-p "on the road to" snippet))
      (should (eq (get-text-property (string-match "road to" snippet)
                                     'face snippet)
                  'org-agent-search-match)))
    (save-window-excursion
      ;; Folded.
      (switch-to-buffer "*org-agent-chat*")
      (org-overview)
      (let ((text (org-agent-fake-text)))
        (switch-to-buffer org-agent-sessions--search-buffer)
        (org-agent-search-visit)
        (should (equal (buffer-name) "*org-agent-chat*"))
        (should (looking-back "road to" (line-beginning-position)))
        (should-not (invisible-p (point)))
        ;; Closed, and its file gone: it comes from the kernel.
        (kill-buffer)
        (delete-file (org-agent-fake-file "main"))
        (org-agent-fake-settle)
        (switch-to-buffer org-agent-sessions--search-buffer)
        (org-agent-search-visit)
        (org-agent-fake-wait (looking-back "road to" (line-beginning-position)))
        (org-agent-kernel-test--settle 2)
        (should (equal (org-agent-fake-text) text)))
      ;; Taken out by a person.
      (goto-char (point-min))
      (delete-region (point-min) (org-agent-heading-subtree-end (point-min)))
      (org-agent-file-owner-save)
      (switch-to-buffer org-agent-sessions--search-buffer)
      (org-agent-search-visit)
      (should (string-match-p "And others" (org-agent-fake-text)))
      (should-not (string-match-p "Samarkand" (org-agent-fake-text))))))

(ert-deftest org-agent-search-takes-any-text ()
  "No query is an error of the kernel."
  (org-agent-kernel-test--with (list '((echo . t) (times . -1)))
    (org-agent-kernel-test--say "naive caf\u00e9 \u5bff\u53f8\u3092\u98df\u3079\u308b")
    (org-agent-kernel-test--settle 1)
    (dolist (query '("\u5bff\u53f8" "CAFE" "na*" "\"cafe \u5bff" "cafe NEAR( ^ : -"))
      (if (string-match-p "NEAR" query)
          (progn (save-window-excursion (org-agent-search query))
                 (org-agent-fake-settle)
                 (with-current-buffer org-agent-sessions--search-buffer
                   (should-not (org-agent-section-all 'hit))))
        (should (org-agent-sessions-test--search query))))
    (save-window-excursion (org-agent-search "\"*?"))
    (org-agent-fake-settle)
    (should (org-agent-kernel-ready-p))))

(ert-deftest org-agent-session-is-renamed ()
  "Buffer, file and kernel are renamed; text, draft, point and undo stay."
  (org-agent-kernel-test--with (list '((echo . t) (times . -1)))
    (org-agent-kernel-test--say "First")
    (org-agent-kernel-test--settle 1)
    (org-agent-fake-type "half a draft")
    (let ((text (org-agent-fake-text)) (undo buffer-undo-list) (here 7)
          (former buffer-file-name) (buffer (current-buffer)))
      (goto-char here)
      (should-error (org-agent-session-rename "main" "../x") :type 'user-error)
      (org-agent-session-rename "main" "The silk road")
      (org-agent-fake-wait (equal org-agent-chat-session "The silk road"))
      (org-agent-fake-settle)
      (should (equal (buffer-name) "*org-agent-chat: The silk road*"))
      (should (equal buffer-file-name (org-agent-fake-file "The silk road")))
      (should-not (file-exists-p former))
      (should (= (point) here))
      (should (equal buffer-undo-list undo))
      (should (equal (buffer-string) text))
      (should (verify-visited-file-modtime))
      ;; It goes on, and the old name is free.
      (goto-char (point-max))
      (insert " that is sent now")
      (org-agent-send)
      (org-agent-fake-wait (not (or org-agent-chat-outbox
                                    (org-agent-chat-get :phase)
                                    (buffer-modified-p))))
      (org-agent-fake-settle)
      (should (= 4 (length (org-agent-heading-turn-ids))))
      (should (equal (org-agent-fake-file-text "The silk road")
                     (buffer-string)))
      (org-agent-chat)
      (should-not (eq (get-buffer "*org-agent-chat*") buffer))
      (with-current-buffer "*org-agent-chat*"
        (org-agent-kernel-test--wait-attached)
        (should-not (org-agent-heading-turn-ids))))))

(ert-deftest org-agent-session-is-renamed-while-away ()
  "An Emacs that was not connected finds the renamed conversation."
  (org-agent-kernel-test--with (list '((echo . t) (times . -1)))
    (org-agent-kernel-test--say "First")
    (org-agent-kernel-test--settle 1)
    (let ((text (org-agent-fake-text)) (buffer (current-buffer)))
      (org-agent-kernel-stop)
      (org-agent-fake-wait (not (org-agent-kernel-test--pid)))
      (should (zerop (call-process org-agent-program nil nil nil
                                   "--home" org-agent-home
                                   "session" "rename" "main" "other")))
      (org-agent-kernel-ensure)
      (org-agent-fake-wait (with-current-buffer buffer
                             (and (equal org-agent-chat-session "other")
                                  (eq org-agent-chat-attached t))))
      (with-current-buffer buffer
        (org-agent-fake-settle)
        (should (equal buffer-file-name (org-agent-fake-file "other")))
        (should (equal (buffer-string) text))
        (should-not (file-exists-p (org-agent-fake-file "main")))
        (should-not (string-match-p ":unsent:" text))))))

(ert-deftest org-agent-fork-goes-on-by-itself ()
  "A fork at an answer, a question and the draft has the right turns."
  (org-agent-kernel-test--with (list '((echo . t) (times . -1)))
    (dolist (text '("one" "two\nwith *more* of it" "three"))
      (org-agent-kernel-test--say text))
    (org-agent-kernel-test--settle 3)
    (let ((main (org-agent-fake-text)))
      (save-window-excursion
        (goto-char (point-min))
        (search-forward ":agent:" nil t 2)
        (org-agent-fork)
        (org-agent-fake-wait (get-buffer "*org-agent-chat: main fork*"))
        (with-current-buffer "*org-agent-chat: main fork*"
          (org-agent-fake-wait (eq org-agent-chat-attached t))
          (org-agent-fake-settle)
          (should (= 4 (length (org-agent-heading-turn-ids))))
          (should-not (string-match-p "three" (buffer-string)))
          (dolist (id (org-agent-heading-turn-ids))
            (should-not (string-match-p (regexp-quote id) main)))
          (goto-char (point-max))
          (insert "four")
          (org-agent-send)
          (org-agent-fake-wait (= 6 (length (org-agent-heading-turn-ids)))))
        (with-current-buffer "*org-agent-chat*"
          (goto-char (point-min))
          (search-forward "with *more*")
          (org-agent-fork "edited"))
        (org-agent-fake-wait (get-buffer "*org-agent-chat: edited*"))
        (with-current-buffer "*org-agent-chat: edited*"
          (org-agent-fake-wait (eq org-agent-chat-attached t))
          (org-agent-fake-settle)
          (should (= 2 (length (org-agent-heading-turn-ids))))
          (should (equal (car (org-agent-context-draft)) "two\nwith *more* of it"))
          (should (org-agent-draft-p (point)))))
      (should (equal main (org-agent-fake-text)))
      (should (equal main (org-agent-fake-file-text))))))

(ert-deftest org-agent-fork-refuses ()
  "Unsent messages are in no fork, which is reported."
  (org-agent-fake-with-chat
    (push (cons "event" (lambda (_) 'silence)) org-agent-fake-answers)
    (org-agent-fake-say "Hello")
    (goto-char (point-min))
    (should-error (org-agent-fork) :type 'user-error)
    (with-temp-buffer
      (should-error (org-agent-fork) :type 'user-error))))

(provide 'org-agent-sessions-test)
;;; org-agent-sessions-test.el ends here
