;;; org-agent-search-test.el --- Tests of a search in pages  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The kernel searches the latest turns first and reports its position.  The
;; hits of a real kernel are tested in `org-agent-sessions-test.el'.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-sessions)

(defun org-agent-search-test--hits (from count)
  "Return COUNT hits, numbered from FROM on."
  (cl-loop for i from from below (+ from count)
           collect (list :session "main" :turn "t" :event (format "q%d" i)
                         :id (format "q%d" i) :role :user
                         :time "2026-11-22T10:00:00Z" :snippet (format "hit %d" i)
                         :matches '((:start 0 :end 3)))))

(defun org-agent-search-test--answer (params)
  "Answer `session/search' with PARAMS: forty hits a page, five pages."
  (let* ((before (or (plist-get params :before) 6))
         (now (1- before)))
    (append (list :hits (org-agent-search-test--hits (* 1000 now) 40))
            (and (> now 1)
                 (list :before now :reached (format "2026-0%d-01T10:00:00Z" now))))))

(ert-deftest org-agent-search-goes-on ()
  "Pages are requested until there are enough hits, and more on demand."
  (org-agent-fake-with-chat
    (push (cons "session/search" #'org-agent-search-test--answer)
          org-agent-fake-answers)
    (save-window-excursion (org-agent-search "road"))
    (with-current-buffer org-agent-sessions--search-buffer
      (org-agent-fake-wait (= (length (org-agent-section-all 'hit)) 120))
      (org-agent-fake-settle)
      (should (= (length (org-agent-section-all 'hit)) 120))
      (should (string-match-p "back to 2026-03-01.*\\+ for older" mode-line-process))
      (should (equal (plist-get (org-agent-section-data-at-point 'hit) :id) "q5000"))
      (forward-line 50)
      (let ((line (buffer-substring (point) (line-end-position))))
        (org-agent-search-older)
        (org-agent-fake-wait (= (length (org-agent-section-all 'hit)) 200))
        (should (equal (buffer-substring (point) (line-end-position)) line)))
      (org-agent-fake-settle)
      (should-not mode-line-process)
      (should-error (org-agent-search-older) :type 'user-error)
      (should (equal (mapcar (lambda (params) (plist-get params :before))
                             (org-agent-fake-requests "session/search"))
                     '(nil 5 4 3 2))))))

(ert-deftest org-agent-search-shows-the-latest-question-only ()
  "Results of an earlier query are neither shown nor continued."
  (org-agent-fake-with-chat
    (push (cons "session/search"
                (lambda (params)
                  (if (equal (plist-get params :query) "first")
                      'silence
                    (list :hits (org-agent-search-test--hits 7 1)))))
          org-agent-fake-answers)
    (save-window-excursion (org-agent-search "first"))
    (save-window-excursion (org-agent-search "second"))
    (with-current-buffer org-agent-sessions--search-buffer
      (org-agent-fake-wait (= (length (org-agent-section-all 'hit)) 1))
      (org-agent-fake-settle)
      (should (= (length (org-agent-section-all 'hit)) 1))
      (should-not mode-line-process))))

(provide 'org-agent-search-test)
;;; org-agent-search-test.el ends here
