;;; org-agent-goto-test.el --- Tests of links, bookmarks and the index  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Links, bookmarks and imenu, with the real kernel where it is needed.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'ox-html)
(require 'ox-latex)
(require 'ox-ascii)
(require 'ox-md)
(require 'org-agent-kernel-test)
(require 'org-agent-chat)
(require 'org-agent-goto)
(require 'org-agent-heading)
(require 'org-agent-kernel)

(defun org-agent-goto-test--talk ()
  "Say something twice and have it answered."
  (org-agent-kernel-test--say "Which & what?")
  (org-agent-kernel-test--settle 1)
  (org-agent-kernel-test--say "And _then_?")
  (org-agent-kernel-test--settle 2))

(defun org-agent-goto-test--exchanges ()
  "Return what the model says in `org-agent-goto-test--talk'."
  (list (org-agent-kernel-test--exchange
         (org-agent-kernel-test--envelope "* Two of them\nBody\n** Detail\nMore"))
        (org-agent-kernel-test--exchange
         (org-agent-kernel-test--envelope "* Nothing\nmore"))))

(defun org-agent-goto-test--link ()
  "Store a link at point; return it and its description, or nil."
  (let (org-stored-links (org-store-link-plist nil))
    (when (org-agent-goto-link-store)
      (list (plist-get org-store-link-plist :link)
            (plist-get org-store-link-plist :description)))))

(ert-deftest org-agent-link-stores-and-follows ()
  "A link made anywhere in a turn leads to its heading, from anywhere."
  (org-agent-kernel-test--with (org-agent-goto-test--exchanges)
    (org-agent-goto-test--talk)
    ;; In the draft it leads to the conversation.
    (should (equal (org-agent-goto-test--link)
                   '("org-agent:main" "the conversation main")))
    (save-window-excursion
      (org-agent-goto-link-follow "main")
      (should (equal (buffer-name) "*org-agent-chat*")))
    (goto-char (point-min))
    (search-forward "More")
    (pcase-let ((`(,link ,description) (org-agent-goto-test--link)))
      (should (string-match-p "\\`org-agent:main::[0-9a-zA-Z-]+\\'" link))
      (should (equal description "Two of them"))
      (goto-char (point-max))
      (org-overview)
      (with-temp-buffer
        (org-mode)
        (insert "[[" link "][there]]")
        (goto-char 3)
        (save-window-excursion
          (org-open-at-point)
          (should (equal (buffer-name) "*org-agent-chat*"))
          (should (looking-at "\\*\\* Two of them"))
          (should-not (org-invisible-p (point))))))
    ;; Org's own command finds it, and does not ask.
    (goto-char (point-min))
    (let ((org-stored-links nil))
      (call-interactively #'org-store-link)
      (should (string-prefix-p "org-agent:main::" (caar org-stored-links))))))

(ert-deftest org-agent-link-to-what-is-gone ()
  "A link to a missing target says so, and makes no conversation."
  (org-agent-kernel-test--with (org-agent-goto-test--exchanges)
    (save-window-excursion
      (should-error (org-agent-goto-link-follow "x/y::z") :type 'user-error)
      (should-error (org-agent-goto-link-follow "nobody") :type 'user-error)
      (ert-with-message-capture messages
        (org-agent-goto-link-follow "nobody::1234")
        (org-agent-fake-wait (string-match-p "leads nowhere.*\"1234\"" messages)))
      (ert-with-message-capture messages
        (org-agent-goto-link-follow "main::1234")
        (org-agent-fake-wait (string-match-p "leads nowhere" messages))))
    (should-not (org-agent-chat-buffer "nobody"))
    (should-not (file-exists-p (org-agent-chat-file "nobody")))))

(ert-deftest org-agent-link-to-what-was-taken-out ()
  "A turn that a person deleted stays deleted, and is shown in a buffer."
  (org-agent-kernel-test--with (org-agent-goto-test--exchanges)
    (org-agent-goto-test--talk)
    (goto-char (point-min))
    (let ((link (car (org-agent-goto-test--link))))
      (delete-region (point-min) (org-agent-heading-subtree-end (point-min)))
      (save-buffer)
      (save-window-excursion
        (org-agent-goto-link-follow (string-remove-prefix "org-agent:" link))
        (org-agent-fake-wait (get-buffer org-agent-goto--buffer))
        (with-current-buffer org-agent-goto--buffer
          (should (string-match-p "was deleted from its file" (buffer-string)))
          (should (string-match-p "^ +\\* Which & what\\?" (buffer-string)))
          (should (string-match-p "^ +\\*\\* Two of them" (buffer-string)))
          ;; Shown once more, what was folded is so, and point stays.
          (goto-char (point-min))
          (search-forward "Answer")
          (org-agent-section-toggle)
          (let ((text (buffer-string)) (point (point)) (asked 0))
            (should-not (string-match-p "Two of them" text))
            (cl-letf* ((show (symbol-function 'org-agent-section-show))
                       ((symbol-function 'org-agent-section-show)
                        (lambda (sections)
                          (cl-incf asked)
                          (funcall show sections))))
              (revert-buffer)
              (org-agent-fake-wait (= asked 1)))
            (should (equal text (buffer-string)))
            (should (= point (point)))))
        (kill-buffer org-agent-goto--buffer))
      (should-not (string-match-p "Which" (org-agent-fake-text))))))

(ert-deftest org-agent-link-rebuilds-the-conversation ()
  "A link restores a conversation that has neither a buffer nor a file."
  (org-agent-kernel-test--with (org-agent-goto-test--exchanges)
    (org-agent-goto-test--talk)
    (goto-char (point-min))
    (let ((link (string-remove-prefix "org-agent:" (car (org-agent-goto-test--link))))
          (text (org-agent-fake-text)))
      (let (kill-buffer-query-functions)
        (set-buffer-modified-p nil)
        (kill-buffer))
      (delete-file (org-agent-chat-file "main"))
      (save-window-excursion
        (org-agent-goto-link-follow link)
        (org-agent-fake-wait
         (when-let* ((buffer (get-buffer "*org-agent-chat*")))
           (with-current-buffer buffer
             (looking-at "\\* Which & what"))))
        (org-agent-kernel-test--wait-attached)
        (org-agent-fake-settle)
        (should (equal text (org-agent-fake-text)))))))

(ert-deftest org-agent-link-to-a-renamed-conversation ()
  "A link from before a rename leads to the renamed conversation."
  (org-agent-kernel-test--with (org-agent-goto-test--exchanges)
    (org-agent-goto-test--talk)
    (goto-char (point-min))
    (let ((link (string-remove-prefix "org-agent:" (car (org-agent-goto-test--link))))
          (renamed nil))
      (goto-char (point-max))
      (org-agent-kernel-request "session/rename" '(:session "main" :to "garden")
                                :success (lambda (_) (setq renamed t))
                                :failure (lambda (refusal) (error "%S" refusal)))
      (org-agent-fake-wait renamed)
      (org-agent-fake-wait (org-agent-chat-buffer "garden"))
      (should-not (org-agent-chat-buffer "main"))
      (save-window-excursion
        (org-agent-goto-link-follow link)
        (org-agent-fake-wait
         (with-current-buffer (org-agent-chat-buffer "garden")
           (looking-at "\\* Which & what"))))
      (should-not (org-agent-chat-buffer "main")))))

(ert-deftest org-agent-link-exports-as-words ()
  "A link is exported as its description or the words of the turn, escaped."
  (org-agent-kernel-test--with (org-agent-goto-test--exchanges)
    (org-agent-goto-test--talk)
    (goto-char (point-min))
    (let ((link (car (org-agent-goto-test--link)))
          (org-export-with-toc nil) (org-export-with-broken-links nil))
      (dolist (case '((html "Which &amp; what?") (latex "Which \\& what?")
                      (ascii "Which & what?") (md "Which &amp; what?")))
        (should (string-match-p (regexp-quote (nth 1 case))
                                (org-export-string-as (format "[[%s]]" link)
                                                      (car case) t)))
        (should (string-match-p "d & d\\|d &amp; d\\|d \\\\& d"
                                (org-export-string-as (format "[[%s][d & d]]" link)
                                                      (car case) t)))
        (should (string-match-p "A conversation with the agent"
                                (org-export-string-as "[[org-agent:main::gone]]"
                                                      (car case) t)))
        (org-export-string-as "[[org-agent:///]]" (car case) t)))))

(ert-deftest org-agent-link-completes ()
  "Completion of a link offers the index of the conversation."
  (org-agent-kernel-test--with (org-agent-goto-test--exchanges)
    (org-agent-goto-test--talk)
    (cl-letf* ((answers '("main" "And _then_? / Nothing"))
               ((symbol-function 'completing-read) (lambda (&rest _) (pop answers))))
      (let ((link (org-agent-goto-link-complete)))
        (should (string-match "\\`org-agent:main::\\(.+\\)" link))
        (goto-char (org-agent-heading-find (match-string 1 link)))
        (should (looking-at "\\*\\* Nothing"))))))

(ert-deftest org-agent-bookmark-leads-back ()
  "Bookmarks of a turn and of the draft work after the file was rewritten."
  (org-agent-kernel-test--with (org-agent-goto-test--exchanges)
    (org-agent-goto-test--talk)
    (let ((bookmark-alist nil) (bookmark-save-flag nil)
          (bookmark-default-file (expand-file-name "marks" org-agent-fake-directory)))
      (goto-char (point-min))
      (search-forward "Body")
      (bookmark-set "turn")
      (goto-char (point-max))
      (bookmark-set "draft")
      (goto-char (point-min))
      (insert "#+TITLE: Mine\n\n")
      (save-buffer)
      (let (kill-buffer-query-functions)
        (kill-buffer))
      (save-window-excursion
        (with-temp-buffer
          (bookmark-jump "turn")
          (should (equal (buffer-name) "*org-agent-chat*"))
          (should (looking-at "\\*\\* Two of them")))
        (bookmark-jump "draft")
        (should (eobp))
        (should (string-match-p "org-agent:main::" (bookmark-location "turn")))
        (bookmark-store "gone" '((session . "nobody") (handler . org-agent-bookmark-jump)) nil)
        (should-error (bookmark-jump "gone") :type 'user-error)
        (bookmark-store "odd" '((session . 5) (handler . org-agent-bookmark-jump)) nil)
        (should-error (bookmark-jump "odd") :type 'user-error)))))

(ert-deftest org-agent-imenu-of-a-thousand-turns ()
  "The index has every turn once, is fast, and works after edits."
  (org-agent-fake-with-chat
    (let ((inhibit-modification-hooks t))
      (goto-char (point-min))
      (dotimes (n 1000)
        (insert (org-agent-heading-question 1 (format "q%d" n) (format "Question %d" (/ n 2)) nil)
                (org-agent-fake-answer-text (format "a%d" n) "Answer" "* not a turn")
                "*** Detail\n")))
    (garbage-collect)
    (let* ((start (float-time))
           (index (org-agent-goto-imenu-index))
           (seconds (- (float-time) start)))
      (message "index of 1000 questions and answers: %.3f s" seconds)
      (should (= 2000 (length index) (length (delete-dups (mapcar #'car index)))))
      (should (equal (mapcar #'car (seq-subseq index 0 4))
                     '("Question 0" "Question 0 / Answer"
                       "Question 0 <2>" "Question 0 / Answer <2>"))))
    (let ((entry (assoc "Question 7" (cdr (imenu--make-index-alist)))))
      (goto-char (point-min))
      (insert "#+TITLE: Mine\n")
      (imenu entry)
      (should (looking-at "\\* Question 7 "))
      (should (equal (org-agent-heading-property (point) "ID") "q14"))
      (delete-region (point) (org-agent-heading-subtree-end (point)))
      (should-error (imenu entry) :type 'user-error))))

(provide 'org-agent-goto-test)
;;; org-agent-goto-test.el ends here
