;;; org-agent-doctor-test.el --- Tests of the doctor  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-doctor)

(defmacro org-agent-doctor-test--with (&rest body)
  "Run BODY in what the doctor found of a real kernel's instance."
  (declare (indent 0) (debug t))
  `(org-agent-kernel-test--with (list '((echo . t) (times . -1)))
     (save-window-excursion
       (cl-letf (((symbol-function 'yes-or-no-p) (lambda (&rest _) t)))
         (org-agent-doctor)
         (org-agent-doctor-test--wait "^ *[ ▾▸] *[A-Z]+ +sandbox")
         (unwind-protect (progn ,@body)
           (when (get-buffer "*org-agent-doctor*")
             (kill-buffer "*org-agent-doctor*")))))))

(defun org-agent-doctor-test--wait (regexp)
  "Wait until the doctor shows REGEXP and go past it."
  (set-buffer "*org-agent-doctor*")
  (org-agent-fake-wait (progn (goto-char (point-min))
                              (re-search-forward regexp nil t))
                       (list regexp (buffer-string))))

(defun org-agent-doctor-test--again (regexp)
  "Look again and wait for REGEXP."
  (with-current-buffer "*org-agent-doctor*" (revert-buffer))
  (org-agent-doctor-test--wait "^ *[ ▾▸] *[A-Z]+ +sandbox")
  (org-agent-doctor-test--wait regexp))

(ert-deftest org-agent-doctor-finds-and-mends-the-kernels-side ()
  "A directory that others can read is found and mended."
  (org-agent-doctor-test--with
    (goto-char (point-min))
    (should-not (re-search-forward "^ *[ ▾▸] *FAIL" nil t))
    (should (re-search-forward "^ *[ ▾▸] *OK +kernel +process" nil t))
    (should-error (org-agent-doctor-mend) :type 'user-error)
    (let ((state (directory-file-name
                  (file-name-directory (org-agent-state-file "token")))))
      (set-file-modes state #o755)
      (org-agent-doctor-test--again "^ *[ ▾▸] *FAIL +state")
      (org-agent-doctor-mend)
      (org-agent-fake-wait (= #o700 (file-modes state)))
      (org-agent-doctor-test--wait "^ *[ ▾▸] *OK +state"))))

(ert-deftest org-agent-doctor-finds-and-mends-emacs ()
  "Problems in Emacs are found, and mended if possible."
  (org-agent-doctor-test--with
    (let ((org-confirm-babel-evaluate nil)
          (read-process-output-max 4096)
          (left (expand-file-name "sessions/#main.org#" (org-agent-home-directory)))
          (chat (get-buffer "*org-agent-chat*")))
      (with-temp-file left (insert "x"))
      (with-current-buffer chat
        (goto-char (point-min))
        (insert "* A\n:PROPERTIES:\n:ID:       same\n:END:\n"
                "* B\n:PROPERTIES:\n:ID:       same\n:END:\n"
                "text\n:ID:       same\n"))
      (org-agent-doctor-test--again "^ *[ ▾▸] *WARN +babel")
      (org-agent-doctor-test--wait "^ *[ ▾▸] *WARN +ids .* 1 heading has")
      (org-agent-doctor-mend-all)
      (should (eq org-confirm-babel-evaluate t))
      (should (= read-process-output-max (* 256 1024)))
      (should-not (file-exists-p left))
      (with-current-buffer chat
        (should (= 2 (how-many "^:ID: +same$" (point-min) (point-max))))
        (goto-char (point-min))
        (should (re-search-forward "^\\* B\n:PROPERTIES:\n:END:" nil t)))
      (org-agent-doctor-test--wait "^ *[ ▾▸] *OK +babel")
      (goto-char (point-min))
      (should-not (re-search-forward "^ *[ ▾▸] *WARN +\\(ids\\|left\\)" nil t)))))

(ert-deftest org-agent-doctor-old-code-is-noticed ()
  "Old compiled files are deleted; loaded old code is reported."
  (org-agent-fake-with-home
    (let* ((org-agent-directory (file-name-as-directory org-agent-fake-directory))
           (source (expand-file-name "org-agent-x.el" org-agent-fake-directory))
           (compiled (concat source "c"))
           (old (time-subtract org-agent-loaded 60)))
      (dolist (file (list source compiled))
        (write-region "" nil file nil 'silent)
        (set-file-times file old))
      (should-not (org-agent-doctor--loaded))
      (should (equal "ok" (plist-get (car (org-agent-doctor--compiled)) :state)))
      (set-file-times source (time-add org-agent-loaded 60))
      (should (string-match-p "\\`org-agent-x.el changed after"
                              (plist-get (car (org-agent-doctor--loaded)) :text)))
      (let ((stale (car (org-agent-doctor--compiled))))
        (should (equal "warn" (plist-get stale :state)))
        (funcall (plist-get stale :repair))
        (should-not (file-exists-p compiled))))))

(ert-deftest org-agent-doctor-without-a-program ()
  "Without the program the doctor still checks Emacs."
  (org-agent-fake-with-home
    (let ((org-agent-program nil)
          (exec-path nil)
          ;; A program beside it would be in a directory of this test, too.
          (org-agent-directory
           (file-name-as-directory (expand-file-name "elisp" org-agent-fake-directory))))
      (make-directory org-agent-directory)
      (save-window-excursion
        (org-agent-doctor)
        (org-agent-doctor-test--wait "^ *[ ▾▸] *FAIL +program +the program org-agent was not found")
        (org-agent-doctor-test--wait "^ *[ ▾▸] *OK +emacs")
        (kill-buffer))
      (with-temp-file (expand-file-name "org-agent-x.elc" org-agent-directory))
      (set-file-times (expand-file-name "org-agent-x.elc" org-agent-directory) 0)
      (with-temp-file (expand-file-name "org-agent-x.el" org-agent-directory))
      (let ((found (car (org-agent-doctor--compiled))))
        (should (equal "warn" (plist-get found :state)))
        (funcall (plist-get found :repair))
        (should (equal "ok" (plist-get (car (org-agent-doctor--compiled)) :state)))))))

(ert-deftest org-agent-doctor-reads-anything ()
  "Invalid output of the program is skipped."
  (should (equal (mapcar (lambda (f) (plist-get f :text))
                         (org-agent-doctor--read
                          "{\"check\":\"a\",\"state\":\"ok\",\"text\":\"t\"}\nnoise\n[1]\n{\"text\":3}\n"))
                 '("t"))))

(provide 'org-agent-doctor-test)
;;; org-agent-doctor-test.el ends here
