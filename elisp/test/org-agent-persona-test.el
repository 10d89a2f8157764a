;;; org-agent-persona-test.el --- Tests of the files of the persona  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'org-agent-memory)

(ert-deftest org-agent-persona-opens-what-is-there ()
  "A file in Org is preferred to Markdown, and none is written."
  (let* ((org-agent-home (file-name-as-directory (make-temp-file "persona" t)))
         (markdown (expand-file-name "SOUL.md" org-agent-home))
         (starter (expand-file-name "USER.org" org-agent-home))
         (find-file-hook nil))
    (unwind-protect
        (progn
          (write-region "# Kind\n" nil markdown nil 'silent)
          (write-region "#+TITLE: User\n# - Name :: Ida\n" nil starter nil 'silent)
          (should (equal (org-agent-memory--persona-state "USER") "empty"))
          (should (equal (org-agent-memory--persona-state "IDENTITY") "does not exist"))
          (save-window-excursion
            (org-agent-persona "SOUL")
            (should (equal buffer-file-name markdown))
            (should (equal (buffer-string) "# Kind\n"))
            (kill-buffer)
            (write-region "* Kind\n" nil (expand-file-name "SOUL.org" org-agent-home)
                          nil 'silent)
            (should (equal (org-agent-memory--persona-state "SOUL") ""))
            (org-agent-persona "SOUL")
            (should (string-suffix-p "SOUL.org" buffer-file-name))
            (kill-buffer)
            (org-agent-persona "IDENTITY")
            (should (equal (buffer-string) "#+TITLE: Identity\n"))
            (should-not (buffer-modified-p))
            (kill-buffer)
            ;; Below the hints of a file that says nothing yet, one writes.
            (org-agent-persona "USER")
            (should (eobp))
            (kill-buffer)
            (org-agent-persona "SOUL")
            (should (bobp))
            (kill-buffer))
          (should-not (file-exists-p (expand-file-name "IDENTITY.org" org-agent-home)))
          (should-error (org-agent-persona "../x") :type 'user-error))
      (delete-directory org-agent-home t))))

(provide 'org-agent-persona-test)
;;; org-agent-persona-test.el ends here
