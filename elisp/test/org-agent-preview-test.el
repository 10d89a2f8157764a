;;; org-agent-preview-test.el --- Tests of answers as they come in  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; An answer streams in while a person reads, folds, writes and undoes.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-answer)
(require 'org-agent-chat)
(require 'org-agent-draft)
(require 'org-agent-heading)
(require 'org-agent-inert)

(defun org-agent-preview-test--undo (&optional again)
  "Undo one step; AGAIN when the last command was an undo."
  (let ((last-command (if again 'undo 'ignore)))
    (undo-boundary)
    (undo)
    (undo-boundary)))

(defun org-agent-preview-test--draft ()
  "Return the draft of the conversation."
  (with-current-buffer "*org-agent-chat*"
    (buffer-substring-no-properties (org-agent-draft-start) (point-max))))

(defun org-agent-preview-test--property-anywhere-p (property)
  "Return non-nil when PROPERTY is somewhere in the buffer."
  (text-property-not-all (point-min) (point-max) property nil))

;;;; Previews

(ert-deftest org-agent-preview-in-all-pieces ()
  "However it is cut, the preview is the text so far, and the act keeps it."
  (random "pieces")
  (dotimes (_ 30)
    (org-agent-fake-with-chat
      (let* ((question (org-agent-fake-say "Hello"))
             (text (org-agent-fake-answer-text
                    "a1" "T\u00eftle \U0001f600" "| a | b |" "#+begin_src sh"
                    ",* x src_sh{ls}" "#+end_src" "" "*b* \u4e16\u754c" "[[id:x][y]]"))
             (offset 0))
        (while (< offset (length text))
          (let ((n (min (1+ (random 40)) (- (length text) offset))))
            (org-agent-fake-delta question "a1" offset
                                  (substring text offset (+ offset n)))
            (setq offset (+ offset n))
            (when (zerop (random 3))
              (org-agent-fake-settle)
              (let ((shown (substring text 0 offset)))
                (should (equal (string-replace org-agent-inert-mark ""
                                               (org-agent-fake-text))
                               (concat (org-agent-heading-question
                                        1 question "Hello" nil)
                                       shown
                                       (unless (string-suffix-p "\n" shown) "\n")
                                       "* ")))))))
        (org-agent-fake-settle)
        (let ((tick (buffer-chars-modified-tick)))
          (org-agent-fake-act "a1" question text)
          (should (= tick (buffer-chars-modified-tick))))
        (should-not org-agent-answer-previews)
        (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))))))

(ert-deftest org-agent-preview-that-differs ()
  "An act that differs from its preview replaces it."
  (dolist (final '(("Other" "Text") ("Title" "Bodies, more of them") ("Title")))
    (org-agent-fake-with-chat
      (let ((question (org-agent-fake-say "Hello"))
            (text (apply #'org-agent-fake-answer-text "a1" final)))
        (org-agent-fake-delta question "a1" 0
                              (org-agent-fake-answer-text "a1" "Title" "Body of"))
        (org-agent-fake-act "a1" question text)
        (should (equal (org-agent-fake-text)
                       (concat (org-agent-heading-question 1 question "Hello" nil)
                               text "* ")))))))

(ert-deftest org-agent-preview-begins-anew ()
  "A delta at 0 replaces the preview; an empty one removes it."
  (org-agent-fake-with-chat
    (let* ((question (org-agent-fake-say "Hello"))
           (alone (org-agent-fake-text)))
      (org-agent-fake-delta question "a1" 0 "** First try\nmore\nand more\n")
      (org-agent-fake-delta question "a1" 0 "** Second")
      (org-agent-fake-delta question "a1" 9 " try\n")
      (org-agent-fake-settle)
      (should (string-match-p "^\\*\\* Second try\n\\* \\'" (buffer-string)))
      (should-not (string-match-p "First\\|more" (buffer-string)))
      (org-agent-fake-delta question "a1" 0 "")
      (org-agent-fake-settle)
      (should (equal (org-agent-fake-text) alone))
      (org-agent-fake-delta question "a1" 0 "** Third")
      (org-agent-fake-settle)
      (should (string-match-p "^\\*\\* Third\n" (buffer-string)))
      ;; Another act of the same turn takes its place.
      (org-agent-fake-delta question "a2" 0 "** Fourth")
      (org-agent-fake-settle)
      (should-not (string-match-p "Third" (buffer-string)))
      (org-agent-fake-notify "turn/finished" :session "main" :turn "turn-1"
                             :event question :state :failed :notice "no model")
      (org-agent-fake-settle)
      (should (equal (org-agent-fake-text) alone)))))

(ert-deftest org-agent-preview-gap-is-asked-for ()
  "Missing text is requested once; repeated text is skipped."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (push (cons "turn/get"
                  (lambda (params)
                    (let ((from (or (plist-get params :from) 0)))
                      (list :id "a1" :offset from :state :running
                            :text (substring "** 0123456789 \u4e16\u754c" from)))))
            org-agent-fake-answers)
      (org-agent-fake-delta question "a1" 0 "** 01")
      (org-agent-fake-delta question "a1" 9 "6789")
      (org-agent-fake-delta question "a1" 13 " \u4e16\u754c")
      (org-agent-fake-delta question "a1" 5 "23456")
      (org-agent-fake-settle)
      (should (string-match-p "^\\*\\* 0123456789 \u4e16\u754c\n\\* " (buffer-string)))
      (should (equal (org-agent-fake-requests "turn/get")
                     '((:turn "turn-1" :from 5)))))
    (let ((question (org-agent-fake-say "Again")))
      (org-agent-fake-delta question "a1" 9 "6789" "turn-2")
      (org-agent-fake-settle)
      (should (equal (car (last (org-agent-fake-requests "turn/get")))
                     '(:turn "turn-2" :from 0)))
      (should (= 2 (how-many "0123456789" (point-min) (point-max)))))))

(ert-deftest org-agent-preview-that-comes-after-the-end ()
  "A requested piece that arrives after the end of the turn is not shown."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello"))
          (alone (org-agent-fake-text)))
      (push (cons "turn/get"
                  (lambda (_)
                    (org-agent-fake-notify "turn/finished" :session "main"
                                           :turn "turn-1" :event question
                                           :state :cancelled)
                    (list :id "a1" :offset 0 :state :running :text "** 0123456789")))
            org-agent-fake-answers)
      (org-agent-fake-delta question "a1" 0 "** 01")
      (org-agent-fake-delta question "a1" 9 "6789")
      (org-agent-fake-wait (org-agent-fake-requests "turn/get"))
      (org-agent-fake-settle)
      (should-not (string-match-p "streaming" (org-agent-header-line)))
      (should (equal (org-agent-fake-text) alone)))))

(ert-deftest org-agent-preview-is-read-only-while-written ()
  "The preview is read-only, also for undo; the text around it is not."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (org-agent-fake-delta question "a1" 0 "** Title\nsome text")
      (org-agent-fake-settle)
      (goto-char (point-min))
      (search-forward "some")
      (should-error (insert "x") :type 'text-read-only)
      (should-error (delete-region (- (point) 2) (point)) :type 'text-read-only)
      (search-backward "** Title")
      (insert "Before\n")
      (goto-char (point-max))
      (search-backward "* ")
      (insert "Behind\n")
      (undo-boundary)
      (let ((text (buffer-string)))
        (condition-case nil
            (progn (org-agent-preview-test--undo)
                   (dotimes (_ 6) (org-agent-preview-test--undo t)))
          (error nil))
        (should (string-match-p "\\*\\* Title\nsome text\n" (buffer-string)))
        (ignore text))
      (org-agent-fake-act "a1" question "** Title\nsome text and more\n")
      (dolist (property '(read-only modification-hooks))
        (should-not (org-agent-preview-test--property-anywhere-p property)))
      (goto-char (point-min))
      (search-forward "some")
      (insert "x"))))

(ert-deftest org-agent-preview-is-read-only-between-any-two-characters ()
  "Text can be inserted before and after the preview, not within it."
  (random "between")
  (org-agent-fake-with-chat
    (let* ((question (org-agent-fake-say "Hello"))
           (text "** Title\na [[id:x][link]]\n\n#+INCLUDE: x\n- *item*\nlast")
           (offset 0))
      (dotimes (round 2)
        (when (= round 1)               ; it begins anew
          (setq offset 0))
        (while (< offset (length text))
          (let ((n (min (1+ (random 20)) (- (length text) offset))))
            (org-agent-fake-delta question "a1" offset
                                  (substring text offset (+ offset n)))
            (setq offset (+ offset n))
            (org-agent-fake-settle)
            (pcase-let ((`((,beg . ,end)) (org-agent-answer-regions)))
              (cl-loop for position from (1+ beg) below end
                       do (goto-char position)
                       (should-error (insert "x") :type 'text-read-only))
              (dolist (position (list end beg))
                (goto-char position)
                (insert "x")
                (delete-char -1)))))))))

(ert-deftest org-agent-preview-streaming-disturbs-nobody ()
  "Point, mark, region, kill ring, draft and match data do not change."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (org-agent-fake-type "my draft")
      (dolist (place (list (point-min) (org-agent-draft-start) (point-max)))
        (goto-char place)
        (let* ((behind (buffer-substring-no-properties
                        (point) (min (point-max) (+ (point) 3))))
               (kill-ring '("k"))
               (transient-mark-mode t))
          (push-mark (org-agent-draft-start) t t)
          (string-match "b" "abc")
          (let ((data (match-data)))
            (dotimes (i 20)
              (org-agent-fake-delta question "a1" (* i 10) "word word\n"))
            (org-agent-fake-settle)
            (org-agent-fake-delta question "a1" 0 "")
            (org-agent-fake-delta question "a1" 0 "** anew\n")
            (org-agent-fake-settle)
            (should (equal (match-data) data)))
          (should (equal (buffer-substring-no-properties
                          (point) (min (point-max) (+ (point) 3)))
                         behind))
          (should (= (mark t) (org-agent-draft-start)))
          (should mark-active)
          (should (equal kill-ring '("k")))
          (should (equal (org-agent-preview-test--draft) "* my draft"))
          (org-agent-fake-delta question "a1" 0 "")
          (org-agent-fake-settle))))))

(ert-deftest org-agent-preview-windows-stay ()
  "Windows at the end follow, and others do not move."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (save-window-excursion
        (delete-other-windows)
        (switch-to-buffer "*org-agent-chat*")
        (let ((reading (selected-window))
              (writing (split-window)))
          (set-window-point writing (point-max))
          (set-window-point reading (+ 3 (point-min)))
          (set-window-start reading (point-min))
          (dotimes (i 50)
            (org-agent-fake-delta question "a1" (* i 10) "word word\n"))
          (org-agent-fake-settle)
          (should (= (window-point reading) (+ 3 (point-min))))
          (should (= (window-start reading) (point-min)))
          (should (= (window-point writing) (point-max))))))))

(ert-deftest org-agent-preview-narrowed-buffer ()
  "A narrowed conversation gets its answers and stays narrowed."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (narrow-to-region (point-min) (+ 5 (point-min)))
      (org-agent-fake-delta question "a1" 0 "** Ti")
      (org-agent-fake-act "a1" question "** Title\n")
      (should (= (buffer-size) (length (org-agent-fake-text))))
      (should (= (- (point-max) (point-min)) 5))
      (widen)
      (should (string-match-p "^\\*\\* Title\n\\* " (buffer-string)))
      (should (equal (org-agent-fake-text) (org-agent-fake-file-text))))))

;;;; Folding

(defun org-agent-preview-test--hidden-p (text)
  "Return non-nil when TEXT is there but cannot be seen."
  (save-excursion
    (goto-char (point-min))
    (search-forward text)
    (invisible-p (match-beginning 0))))

(ert-deftest org-agent-preview-folded-stays-folded ()
  "Text under a folded question is folded, under an open one it is not."
  (org-agent-fake-with-chat
    (let ((first (org-agent-fake-say "First\nwith a body"))
          (second (org-agent-fake-say "Second")))
      (org-agent-fake-act "a1" first "** One\nbody one\n")
      (goto-char (org-agent-heading-find first))
      (outline-hide-subtree)
      (org-agent-fake-delta first "a2" 0 "** Two\nbody")
      (org-agent-fake-delta first "a2" 11 " two\n")
      (org-agent-fake-act "a2" first "** Two\nbody two\nand\n")
      (org-agent-fake-act "a3" second "** Three\nbody three\n")
      (should (org-agent-preview-test--hidden-p "body two"))
      (should (org-agent-preview-test--hidden-p "** Two"))
      (should (org-agent-preview-test--hidden-p "and\n"))
      (should-not (org-agent-preview-test--hidden-p "* Second"))
      (should-not (org-agent-preview-test--hidden-p "body three"))
      ;; The draft stays in sight, and what is unfolded is all there.
      (should-not (invisible-p (org-agent-draft-start)))
      (goto-char (org-agent-heading-find first))
      (outline-show-subtree)
      (should-not (org-agent-preview-test--hidden-p "** Two"))
      ;; A folded sibling hides itself only.
      (goto-char (point-min))
      (search-forward "** Three")
      (outline-hide-subtree)
      (org-agent-fake-act "a4" second "** Four\nbody four\n")
      (should (org-agent-preview-test--hidden-p "body three"))
      (should-not (org-agent-preview-test--hidden-p "** Four"))
      (should-not (org-agent-preview-test--hidden-p "body four")))))

(ert-deftest org-agent-preview-hidden-brackets-are-no-fold ()
  "A line that ends in a link with hidden brackets stays visible."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (org-agent-fake-delta question "a1" 0 "** T\nsee [[https://x.y][this]]")
      (org-agent-fake-settle)
      (font-lock-ensure)
      (goto-char (point-min))
      (search-forward "this]]")
      (should (invisible-p (1- (point))))
      (org-agent-fake-delta question "a1" 30 " and that")
      (org-agent-fake-settle)
      (should-not (org-agent-preview-test--hidden-p "see "))
      (should-not (org-agent-preview-test--hidden-p "and that")))))

;;;; Undo

(ert-deftest org-agent-preview-undo-takes-the-answer-at-once ()
  "Undo undoes the user's edits one by one, then the whole answer."
  (org-agent-fake-with-chat
    (let* ((question (org-agent-fake-say "Hello"))
           (alone (org-agent-fake-text))
           (text (org-agent-fake-answer-text "a1" "Title" "Body" "More")))
      (org-agent-fake-delta question "a1" 0 (substring text 0 30))
      (org-agent-fake-settle)
      (org-agent-fake-type "one ")
      (org-agent-fake-delta question "a1" 30 (substring text 30))
      (org-agent-fake-settle)
      (org-agent-fake-type "two")
      (org-agent-fake-act "a1" question text)
      (org-agent-fake-notify "turn/finished" :session "main" :turn "turn-1"
                             :event question :state :answered)
      (org-agent-fake-settle)
      (should (equal (org-agent-fake-text)
                     (concat (substring alone 0 -2) text "* one two")))
      (org-agent-preview-test--undo)
      (should (equal (org-agent-fake-text)
                     (concat (substring alone 0 -2) text "* one ")))
      (org-agent-preview-test--undo t)
      (should (equal (org-agent-fake-text)
                     (concat (substring alone 0 -2) text "* ")))
      (org-agent-preview-test--undo t)
      (should (equal (org-agent-fake-text) alone))
      ;; On to the sending, and the typing of the question.
      (org-agent-preview-test--undo t)
      (should (equal (org-agent-fake-text) "* Hello"))
      (org-agent-preview-test--undo t)
      (should (equal (org-agent-fake-text) "* ")))))

(ert-deftest org-agent-preview-undo-of-history-is-none ()
  "Loaded turns are not part of the undo history."
  (org-agent-fake-with-home
    (push (cons "session/load"
                (lambda (_)
                  (org-agent-fake-notify
                   "turn/kept" :session "main" :turn "t1" :event "q1"
                   :question (org-agent-heading-question 1 "q1" "Hello" nil)
                   :id "a1" :answer (org-agent-fake-answer-text "a1" "Hi" "Body")
                   :state :answered)
                  (list :session "main" :file (org-agent-fake-file "main")
                        :keeper t)))
          org-agent-fake-answers)
    (org-agent-fake-start)
    (org-agent-chat)
    (with-current-buffer "*org-agent-chat*"
      (org-agent-fake-type "typed early")
      (org-agent-fake-wait (eq org-agent-chat-attached t))
      (let ((history (concat (org-agent-heading-question 1 "q1" "Hello" nil)
                             (org-agent-fake-answer-text "a1" "Hi" "Body"))))
        (should (equal (org-agent-fake-text) (concat history "* typed early")))
        (org-agent-preview-test--undo)
        (should (equal (org-agent-fake-text) (concat history "* ")))
        (should-error (org-agent-preview-test--undo t))))))

(ert-deftest org-agent-preview-undo-of-a-preview-that-went ()
  "A turn is one undo step where it began, even if its preview was removed.
This is also so if the act arrives after the end of its turn."
  (dolist (how '(retracted finished other))
    (org-agent-fake-with-chat
      (let* ((question (org-agent-fake-say "Hello"))
             (alone (org-agent-fake-text))
             (text (org-agent-fake-answer-text "a1" "Title" "Body")))
        (org-agent-fake-delta question (if (eq how 'other) "a0" "a1") 0 "** Ti")
        (org-agent-fake-settle)
        (org-agent-fake-type "one ")
        (pcase how
          ('retracted (org-agent-fake-delta question "a1" 0 ""))
          ('other (org-agent-fake-delta question "a1" 0 "** Tit"))
          ('finished (org-agent-fake-notify
                      "turn/finished" :session "main" :turn "turn-1"
                      :event question :state :answered)))
        (org-agent-fake-settle)
        (org-agent-fake-type "two")
        (org-agent-fake-act "a1" question text)
        (should (equal (org-agent-fake-text)
                       (concat (substring alone 0 -2) text "* one two")))
        (org-agent-preview-test--undo)
        (org-agent-preview-test--undo t)
        (should (equal (org-agent-fake-text)
                       (concat (substring alone 0 -2) text "* ")))
        (org-agent-preview-test--undo t)
        (should (equal (org-agent-fake-text) alone))))))

(provide 'org-agent-preview-test)
;;; org-agent-preview-test.el ends here
