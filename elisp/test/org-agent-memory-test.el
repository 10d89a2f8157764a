;;; org-agent-memory-test.el --- Tests of the memory  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With the real kernel: saved entries are listed, found, opened and undone;
;; proposals are accepted, edited or dropped.

;;; Code:

(require 'ert)
(require 'org-agent-kernel-test)
(require 'org-agent-memory)

(defun org-agent-memory-test--list ()
  "Return the list of what is kept as text, made anew."
  (with-current-buffer org-agent-memory--buffer
    (revert-buffer)
    (org-agent-fake-settle)
    (buffer-substring-no-properties (point-min) (point-max))))

(defun org-agent-memory-test--home (name)
  "Return what the file NAME of the home holds.
Nil if the agent kept nothing there."
  (let ((file (expand-file-name name org-agent-home)))
    (when (file-exists-p file)
      (with-temp-buffer
        (insert-file-contents file)
        (and (search-forward ":AGENT:" nil t)
             (buffer-string))))))

(defmacro org-agent-memory-test--with (exchanges &rest body)
  "Run BODY with EXCHANGES, in a home where proposals come at once."
  (declare (indent 1) (debug t))
  `(let ((org-agent-kernel-test-configure
          (lambda (_)
            (write-region "* Settings\n:PROPERTIES:\n:PROPOSE_AFTER: 40ms\n:END:\n" nil
                          (expand-file-name "config.org" org-agent-home)
                          nil 'silent))))
     (org-agent-kernel-test--with ,exchanges ,@body)))

(ert-deftest org-agent-memory-is-listed-and-taken-back ()
  "A saved entry is reported, listed, opened and undone."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange
             "(:type :request :target :tool :action :call :tool \"memory_save\" :args (:title \"The samovar\" :text \"It is in the attic.\" :tags (\"home\") :lasting t))"
             '(times . 1))
            (org-agent-kernel-test--exchange
             "(:type :response :text \"Noted.\")" '(times . -1)))
    (let ((kills kill-ring))
      (org-agent-kernel-test--say "keep where the samovar is")
      (org-agent-fake-wait (org-agent-memory-test--home "MEMORY.org"))
      (org-agent-fake-wait (with-current-buffer (messages-buffer)
                             (save-excursion
                               (goto-char (point-max))
                               (search-backward "org-agent remembers: The samovar" nil t))))
      (should (eq kills kill-ring)))
    (save-window-excursion
      (org-agent-memory)
      (org-agent-fake-wait (string-match-p "The samovar :home:" (org-agent-memory-test--list)))
      (with-current-buffer org-agent-memory--buffer
        (should (equal (plist-get (org-agent-section-data-at-point 'memory) :title)
                       "The samovar"))
        (let ((org-startup-folded t)) (org-agent-memory-visit))
        (should (equal (file-name-nondirectory buffer-file-name) "MEMORY.org"))
        (should (looking-at "\\* The samovar"))
        ;; What one came to see is seen, however one's files are folded.
        (save-excursion
          (search-forward "attic")
          (should-not (invisible-p (1- (point)))))
        (kill-buffer))
      (org-agent-memory-search "attic tag:home")
      (org-agent-fake-settle)
      (with-current-buffer org-agent-memory--buffer
        (should (string-match-p "It is in the attic" (buffer-string))))
      (org-agent-memory-search "since:2999-01-01")
      (org-agent-fake-settle)
      (with-current-buffer org-agent-memory--buffer
        (should-not (org-agent-section-all 'memory)))
      (org-agent-memory-undo)
      (org-agent-fake-wait (not (org-agent-memory-test--home "MEMORY.org")))
      (org-agent-memory-changes)
      (org-agent-fake-settle)
      (with-current-buffer "*org-agent-memory-changes*"
        (should (string-match-p "undo .*The samovar" (buffer-string)))
        (should (string-match-p "(undone).*The samovar" (buffer-string)))))))

(ert-deftest org-agent-memory-proposals-are-decided ()
  "Proposals are accepted, edited or dropped."
  (org-agent-memory-test--with
      (list (org-agent-kernel-test--exchange
             "(:type :memory :changes ((:action :add :title \"Tea\" :text \"Likes it black.\" :lasting t) (:action :add :title \"Kettle\" :tags (\"home\") :lasting t) (:action :add :title \"Nothing\")))"
             '(match . "the conversation ---") '(times . 1))
            (org-agent-kernel-test--exchange
             "(:type :response :text \"I see.\")" '(times . -1)))
    (org-agent-kernel-test--say "I like my tea black")
    (save-window-excursion
      (org-agent-memory)
      (org-agent-fake-wait (string-match-p "remember\\?.*Kettle" (org-agent-memory-test--list)))
      (with-current-buffer org-agent-memory--buffer
        (should-not (org-agent-memory-test--home "MEMORY.org"))
        (goto-char (point-min))
        (search-forward "Tea")
        (org-agent-memory-accept)
        (org-agent-fake-wait (org-agent-memory-test--home "MEMORY.org"))
        (org-agent-fake-wait (not (string-match-p "remember\\?.*Tea" (org-agent-memory-test--list))))
        (goto-char (point-min))
        (search-forward "Kettle")
        (org-agent-memory-edit))
      (with-current-buffer "*org-agent-keep*"
        (should (looking-at "Kettle"))
        (insert "A ")
        (goto-char (point-max))
        (insert "of copper\n")
        (org-agent-memory-edit-accept))
      (org-agent-fake-wait (string-match-p "^\\* A Kettle :home:$" (org-agent-memory-test--home "MEMORY.org")))
      (should (string-match-p "^of copper$" (org-agent-memory-test--home "MEMORY.org")))
      (with-current-buffer org-agent-memory--buffer
        (org-agent-fake-wait (not (string-match-p "remember\\?.*Kettle" (org-agent-memory-test--list))))
        (goto-char (point-min))
        (search-forward "Nothing")
        (org-agent-memory-drop)
        (org-agent-fake-wait (not (string-match-p "Nothing" (org-agent-memory-test--list))))
        (goto-char (point-min))
        (search-forward "Tea")
        (should-error (org-agent-memory-accept) :type 'user-error)
        (should-error (org-agent-memory-accept-all) :type 'user-error)))))

(ert-deftest org-agent-memory-notes-are-offered-once ()
  "The person is asked once about notes, and the answer is in config.org."
  (org-agent-memory-test--with
      (list (org-agent-kernel-test--exchange
             "(:type :response :text \"Hello.\")" '(times . -1)))
    (let* ((org-directory (file-name-as-directory
                           (expand-file-name "my notes" org-agent-home)))
           (config (expand-file-name "config.org" org-agent-home))
           (said (with-current-buffer (messages-buffer) (point-max-marker))))
      (should-not (org-agent-memory-notes-offer))
      ;; Where there is no such directory, another one is asked for.
      (cl-letf (((symbol-function 'read-directory-name)
                 (lambda (prompt &rest _)
                   (and (string-match-p "There is no .*my notes" prompt) "/elsewhere/"))))
        (should (equal (org-agent-memory-notes--read) "/elsewhere/")))
      (make-directory org-directory)
      (org-agent-kernel-test--say "hello")
      (save-window-excursion (org-agent-memory))
      (org-agent-fake-wait
       (with-current-buffer (marker-buffer said)
         (save-excursion
           (goto-char said)
           (search-forward "does not search your notes" nil t))))
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) t)))
        (call-interactively #'org-agent-memory-notes))
      (with-temp-buffer
        (insert-file-contents config)
        (should (search-forward ":PROPOSE_AFTER: 40ms" nil t))
        (goto-char (point-min))
        (should (search-forward ":NOTES:" nil t))
        (should (search-forward "/my notes\"\n" nil t)))
      (should (equal (org-agent-memory-notes--value "none" nil) "none"))
      (should (equal (org-agent-memory-notes--value "/a" nil) "/a"))
      (should (equal (org-agent-memory-notes--value "/a" "/b/") "/a /b"))
      (should (equal (org-agent-memory-notes--value "/a \"/b c\"" "/b c") "/a \"/b c\""))
      (kill-buffer (find-buffer-visiting config)))))

(provide 'org-agent-memory-test)
;;; org-agent-memory-test.el ends here
