;;; org-agent-private-test.el --- Tests of what no model sees  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The cases are those of the kernel's package "withheld", since both must
;; decide alike.

;;; Code:

(require 'ert)
(require 'org)
(require 'org-agent-private)

(defun org-agent-private-test--shown (name text &optional files)
  "Return what is shown of TEXT in a file called NAME, each kept part as \"~\".
FILES are conses of the name and the text of others."
  (let* ((directory (file-name-as-directory (make-temp-file "org-agent" t)))
         (file (expand-file-name name directory)))
    (unwind-protect
        (progn
          (dolist (other files)
            (let ((path (expand-file-name (car other) directory)))
              (make-directory (file-name-directory path) t)
              (write-region (cdr other) nil path nil 'silent)))
          (write-region text nil file nil 'silent)
          (with-temp-buffer
            (insert text)
            (setq buffer-file-name file)
            (set-buffer-modified-p nil)
            (unwind-protect
                (let ((shown text))
                  (dolist (part (reverse (org-agent-private-parts)))
                    (setq shown (concat (substring shown 0 (1- (car part))) "~"
                                        (substring shown (1- (cdr part))))))
                  shown)
              (setq buffer-file-name nil))))
      (delete-directory directory t))))

(ert-deftest org-agent-private-parts-of-texts ()
  "Tags hide text in any case and in any Org file."
  (pcase-dolist
      (`(,name ,text ,want)
       '(("a.org" "* A\nx\n* B :noagent:\ny\n** C\nz\n* D\n" "* A\nx\n~* D\n")
         ("a.org" "* A :NOAGENT:\nx\n* B\n" "~* B\n")
         ("a.org" "* A :Crypt:\nx\n* B :@Private:\n* C\n" "~* C\n")
         ("a.org" "* A\t:x:NoAgent: \t\nx\n" "~")
         ("a.org" "* A\n** B :NoAgent:\ny\n*** C\n** D\n** E :noagent:\nend" "* A\n~** D\n~")
         ("a.org" "* A :noagent:\n** B :noagent:\n* C\n" "~* C\n")
         ("a.org" "* about :noagent: things\n" "* about :noagent: things\n")
         ("a.org" "* A :noagents:\n" "* A :noagents:\n")
         ("a.org" "#+TITLE: t\n#+FILETAGS: :home:\n* A\n#+FileTags: b NoAgent\n" "~")
         ("a.org" "* A\n:PROPERTIES:\n:Archive_ITags: home NoAgent\n:END:\nx\n** B\n* C\n" "~* C\n")
         ("a.org" "* A\n:PROPERTIES:\n:ARCHIVE_ITAGS: home\n:END:\n" "* A\n:PROPERTIES:\n:ARCHIVE_ITAGS: home\n:END:\n")
         ("a.org" ":PROPERTIES:\n:ARCHIVE_ITAGS: crypt\n:END:\n* A\n" "~")
         ("A.ORG" "* A :noagent:\n" "~")
         ("a.org.rej" "* A :noagent:\n" "~")
         ("a.org.orig" "* A :noagent:\n" "~")
         ("a.Org_Archive~" "* A :noagent:\n" "~")
         ("#a.org#" "* A :noagent:\n" "~")
         ("theme.setup" "#+FILETAGS: noagent\n" "~")
         ("notes" "# -*- mode: Org; fill-column: 70 -*-\n* A :noagent:\n" "# -*- mode: Org; fill-column: 70 -*-\n~")
         ("notes" "* A :noagent:\nx\n* B\n# Local Variables:\n# mode: org\n# End:\n" "~* B\n# Local Variables:\n# mode: org\n# End:\n")
         ("notes" "* A :noagent:\n# Local Variables:\n# mode: markdown\n# End:\n" "* A :noagent:\n# Local Variables:\n# mode: markdown\n# End:\n")
         ("a.go" "/*\n* A :noagent:\n*/\n" "/*\n* A :noagent:\n*/\n")))
    (should (equal (list name text (org-agent-private-test--shown name text))
                   (list name text want)))))

(ert-deftest org-agent-private-parts-beside ()
  "Tags in other files are respected."
  (pcase-dolist
      (`(,kept ,text . ,files)
       '((t "#+SETUPFILE: s.setup\n* A\n" ("s.setup" . "#+FileTags: :NoAgent:\n"))
         (t "* A\n#+SetupFile: \"deep/s.org\"\n" ("deep/s.org" . "#+FILETAGS: crypt\n"))
         (t "#+SETUPFILE: deep/a.org\n" ("deep/a.org" . "#+SETUPFILE: ../b.org\n")
            ("b.org" . "#+SETUPFILE: deep/a.org\n#+FILETAGS: :@private:\n"))
         (nil "#+SETUPFILE: s.setup\n" ("s.setup" . "#+TITLE: x\n* A :noagent:\n"))
         (nil "#+SETUPFILE: b.org\n" ("b.org" . "#+SETUPFILE: c.org\n") ("c.org" . "#+SETUPFILE: b.org\n"))
         (nil "#+SETUPFILE: none.org\n#+SETUPFILE: .\n")
         (nil "#+SETUPFILE: https://example.org/x.setup\n#+SETUPFILE: /ssh:host:/x\n")
         (t "#+SETUPFILE: s.org.gpg\n")
         (t "* A\n:PROPERTIES:\n:ARCHIVE_FILE: o.org\n:END:\n" ("o.org" . "x\n#+filetags: :Crypt:\n"))
         (t "* A\n:PROPERTIES:\n:ARCHIVE_FILE: o.org\n:END:\n" ("o.org" . "#+SETUPFILE: s.org\n")
            ("s.org" . "#+FILETAGS: noagent\n"))
         (nil "* A\n:PROPERTIES:\n:ARCHIVE_FILE: o.org\n:END:\n" ("o.org" . "* B :noagent:\n"))))
    (should (equal (list text (org-agent-private-test--shown "a.org" text files))
                   (list text (if kept "~" text))))))

(ert-deftest org-agent-private-parts-of-a-link ()
  "Another name of an Org file hides the same text."
  (let* ((directory (file-name-as-directory (make-temp-file "org-agent" t)))
         (file (expand-file-name "a.org" directory))
         (other (expand-file-name "a.txt" directory)))
    (unwind-protect
        (progn
          (write-region "* A :noagent:\n" nil file nil 'silent)
          (with-temp-buffer
            (insert "* A :noagent:\n")
            (setq buffer-file-name other)
            (unwind-protect
                (progn
                  (copy-file file other)
                  (should-not (org-agent-private-parts))
                  (delete-file other)
                  (add-name-to-file file other)
                  (should (org-agent-private-parts)))
              (set-buffer-modified-p nil)
              (setq buffer-file-name nil))))
      (delete-directory directory t))))


;; What a case has of local variables is on the page before.

(provide 'org-agent-private-test)
;;; org-agent-private-test.el ends here
