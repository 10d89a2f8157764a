;;; org-agent-explain-test.el --- Tests of why  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-chat)
(require 'org-agent-explain)
(require 'org-agent-kernel)
(require 'org-agent-section)
(require 'org-agent-undo-turn)

(defun org-agent-explain-test--told (regexp)
  "Wait until the story has REGEXP."
  (org-agent-fake-wait
   (and (get-buffer "*org-agent-why*")
        (with-current-buffer "*org-agent-why*"
          (save-excursion (goto-char (point-min))
                          (re-search-forward regexp nil t))))
   (list regexp (current-message)
         (and (get-buffer "*org-agent-why*")
              (with-current-buffer "*org-agent-why*" (buffer-string))))))

(defmacro org-agent-explain-test--with (&rest body)
  "Run BODY in a conversation with one answer, without an old story."
  (declare (indent 0) (debug t))
  `(progn
     (when (get-buffer "*org-agent-why*") (kill-buffer "*org-agent-why*"))
     (org-agent-kernel-test--with
         (list (org-agent-kernel-test--exchange
                (org-agent-kernel-test--envelope "* Two of them\nBoth from *April*.\n** Detail\nx")))
       (org-agent-kernel-test--say "Which notes? [[elisp:(ding)]]")
       (org-agent-kernel-test--settle 1)
       (unwind-protect (save-window-excursion ,@body)
         (when (get-buffer "*org-agent-why*") (kill-buffer "*org-agent-why*"))))))

(defun org-agent-explain-test--ids ()
  "Return the ids of the conversation's headings."
  (let (ids)
    (save-excursion
      (goto-char (point-min))
      (while (re-search-forward "^:ID: +\\(.*\\)$" nil t)
        (push (match-string-no-properties 1) ids)))
    (nreverse ids)))

(ert-deftest org-agent-explain-tells-the-story ()
  "The turn of the text at point is explained, folded, inert and read-only."
  (org-agent-explain-test--with
    (pcase-let ((`(,question ,answer) (org-agent-explain-test--ids))
                (tick (buffer-chars-modified-tick))
                (undo (length buffer-undo-list)))
      (goto-char (point-min))
      (should (equal (org-agent-explain-id) question))
      (search-forward "April")
      (should (equal (org-agent-explain-id) answer))
      (goto-char (point-max))
      (should (equal (org-agent-explain-id) question)) ; in the draft, of the last question
      (search-backward "Detail")
      (call-interactively #'org-agent-why)
      (org-agent-explain-test--told "^\\* Answered: Which notes")
      (should (= tick (buffer-chars-modified-tick)))
      (should (= undo (length buffer-undo-list)))
      (with-current-buffer "*org-agent-why*"
        (should (derived-mode-p 'org-agent-why-mode))
        (should buffer-read-only)
        (goto-char (point-min))
        (should (looking-at-p "\\* Answered"))
        (should (search-forward (concat "the answer " answer) nil t))
        (should-not (save-excursion (search-forward "[[elisp:" nil t)))
        (should (search-forward "Model asked, request 1" nil t))
        (should (search-forward "System prompt" nil t))
        (should (invisible-p (point)))
        (forward-line 2)
        ;; It is read as a page: Org's marks are there and not seen.
        (save-excursion
          (font-lock-ensure)
          (search-backward "#+begin_example")
          (should (eq 'org-agent-page (get-text-property (point) 'invisible)))
          (search-forward "\n")
          (should (get-text-property (point) 'line-prefix))
          (search-backward "** System prompt")
          (should (eq 'org-agent-page (get-text-property (point) 'invisible)))
          (should (equal "  " (get-text-property (point) 'line-prefix))))
        (should (search-forward "Verdict of the policy: allow" nil t))
        (org-agent-why-visit)
        (should (equal org-agent-chat-session "main"))
        (should (looking-at-p "\\* Which notes"))))))

(ert-deftest org-agent-explain-goes-with-the-text ()
  "Copied text still has its turn; text that is typed beside it does not."
  (org-agent-explain-test--with
    (let ((answer (cadr (org-agent-explain-test--ids)))
          copied)
      (goto-char (point-min))
      (search-forward "Both ")
      (should (equal answer (get-text-property (point) 'org-agent-id)))
      (setq copied (buffer-substring (point) (+ 5 (point))))
      (with-temp-buffer
        (insert copied)
        (should (equal answer (org-agent-explain-id))))
      ;; Read again, only the heading knows.
      (let ((session org-agent-chat-session))
        (kill-buffer)
        (org-agent-chat session)
        (org-agent-kernel-test--wait-attached)
        (with-current-buffer "*org-agent-chat*"
          (goto-char (point-min))
          (search-forward "Both ")
          (should-not (get-text-property (point) 'org-agent-id))
          (should (equal answer (org-agent-explain-id))))))))

(ert-deftest org-agent-explain-asks-for-no-id-in-the-draft ()
  "In the draft it is about the last question."
  (org-agent-fake-with-chat
    (should-not (org-agent-explain-id))
    (let ((question (org-agent-fake-say "Hello")))
      (org-agent-fake-settle)
      (goto-char (point-max))
      (should (equal (org-agent-explain-id) question)))))

(ert-deftest org-agent-explain-without-a-kernel ()
  "Without a kernel the journal is read, and errors are reported."
  (org-agent-explain-test--with
    (let ((question (car (org-agent-explain-test--ids))))
      (ert-with-message-capture messages
        (org-agent-why "nothing-at-all")
        (org-agent-fake-wait (string-match-p "nothing has the id" messages)))
      (setq org-agent-kernel--wanted nil)
      (org-agent-kernel-test--end-kernel)
      (org-agent-fake-wait (not (org-agent-kernel-ready-p)))
      (org-agent-why (substring question 0 12))
      (org-agent-explain-test--told "^\\* Answered: Which notes")
      (ert-with-message-capture messages
        (org-agent-why "--help")
        (org-agent-fake-wait (string-match-p "--help" messages)))
      (should-error (org-agent-why " ") :type 'user-error))))

(ert-deftest org-agent-explain-marks-edits ()
  "Text that an edit wrote into a note is marked as the agent's."
  (org-agent-fake-with-chat
    (let ((file (expand-file-name "home/note.org" org-agent-fake-directory)))
      (with-temp-file file (insert "* A note\nold text\nend\n"))
      (let ((answer (org-agent-fake-request
                     "act" :id "marked-1" :session "main" :turn "t" :event "e"
                     :type :request :target :emacs
                     :payload (list :action :edit :file file :old "old text"
                                    :new "new text"))))
        (should (plist-get (plist-get answer :result) :done)))
      (with-current-buffer (find-buffer-visiting file)
        (goto-char (point-min))
        (search-forward "new t")
        (should (equal "marked-1" (org-agent-explain-id)))
        (should-not (buffer-modified-p))
        (search-forward "ext")
        (insert "mine")
        (should-not (get-text-property (1- (point)) 'org-agent-id))
        (set-buffer-modified-p nil)
        (kill-buffer)))))

(ert-deftest org-agent-explain-folds-without-bars ()
  "The end of the last line of a folded block is shown without a colour."
  (org-agent-explain-test--with
    (goto-char (point-min))
    (call-interactively #'org-agent-why)
    (org-agent-explain-test--told "^\\* Answered: Which notes")
    (with-current-buffer "*org-agent-why*"
      (font-lock-ensure)
      (goto-char (point-min))
      (should (re-search-forward "#\\+end_[a-z]+\n\\* " nil t))
      (goto-char (point-min))
      (while (re-search-forward "\n\\*+ " nil t)
        (should-not (get-text-property (match-beginning 0) 'face))))))

(ert-deftest org-agent-explain-knows-what-waits ()
  "On an approval or a question in a list, the turn is the one that asks."
  (with-temp-buffer
    (org-agent-section-mode)
    (org-agent-section-show
     (list (org-agent-section 'approval "a" :heading "Approve: a"
                              :data '(:id "a" :turn "turn-1"))
           (org-agent-section 'question "q" :heading "Answer: q"
                              :data '(:id "q" :turn "turn-2"))))
    (dolist (turn '("turn-1" "turn-2"))
      (should (equal (org-agent-explain-id) turn))
      (should (equal (org-agent-undo-turn--id) turn))
      (ignore-errors (org-agent-section-next)))))

(ert-deftest org-agent-explain-usage-fits-a-terminal ()
  "No column of the usage is cut in a terminal of 80 columns.
The blank behind the last column needs one, and so does what marks a cut."
  (with-temp-buffer
    (org-agent-usage-mode)
    (should (< (apply #'+ tabulated-list-padding
                      (mapcar (lambda (column) (1+ (nth 1 column)))
                              tabulated-list-format))
               80))))

(provide 'org-agent-explain-test)
;;; org-agent-explain-test.el ends here
