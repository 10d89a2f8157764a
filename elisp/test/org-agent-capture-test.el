;;; org-agent-capture-test.el --- Tests of capture and drag and drop  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Org capture with the real kernel; drops as Emacs reports them.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'org-capture)
(require 'org-agent-ask-capture)
(require 'org-agent-kernel-test)
(require 'org-agent-heading)

(defmacro org-agent-capture-test--with (exchanges &rest body)
  "Run BODY in a file with text, the template set up, a kernel that says EXCHANGES."
  (declare (indent 1) (debug t))
  `(org-agent-kernel-test--with ,exchanges
     (let* ((org-capture-templates '(("x" "Mine" plain (file "x.org") "")))
            (org-capture-after-finalize-hook nil)
            (org-bookmark-names-plist nil)
            (file (expand-file-name "garden.txt" org-agent-fake-directory)))
       (write-region "roses\nand tulips\n" nil file nil 'silent)
       (save-window-excursion
         (with-current-buffer (find-file-noselect file)
           (switch-to-buffer (current-buffer))
           (unwind-protect
               (progn (org-agent-capture-setup) ,@body)
             (set-buffer-modified-p nil)
             (kill-buffer (get-file-buffer file))))))))

(defun org-agent-capture-test--questions ()
  "Return the buffers in which a question is written."
  (cl-remove-if-not (lambda (buffer)
                      (string-match-p "org-agent-question" (buffer-name buffer)))
                    (buffer-list)))

(ert-deftest org-agent-capture-asks ()
  "A captured question is sent when the capture ends, with a link."
  (org-agent-capture-test--with
      (list (org-agent-kernel-test--exchange "Red ones"))
    (org-capture nil "a")
    (insert "Which roses?")
    (org-capture-finalize)
    (should-not (org-agent-capture-test--questions))
    (with-current-buffer "*org-agent-chat*"
      (org-agent-kernel-test--settle 1)
      (should (equal (org-agent-kernel-test--shape)
                     '((1 "Which roses?") (2 "Red ones") (1 ""))))
      (should (string-match-p "garden.txt" (buffer-string))))))

(ert-deftest org-agent-capture-takes-the-region-along ()
  "The region is attached; its text is not expanded."
  (org-agent-capture-test--with
      (list '((match . "roses\nand tulips") (reply . "Red ones")))
    (let ((transient-mark-mode t))
      (goto-char (point-min))
      (push-mark 6 t t)
      (insert "%(error \"ran\") ")
      (push-mark (point-max) t t)
      (goto-char (point-min))
      (org-capture nil "a"))
    (insert "Which?")
    (org-capture-finalize)
    (with-current-buffer "*org-agent-chat*"
      (org-agent-kernel-test--settle 1)
      (should (string-match-p "^- Context: lines 1-2 of .*garden.txt"
                              (buffer-string))))))

(ert-deftest org-agent-capture-given-up ()
  "A cancelled or empty capture sends nothing and leaves nothing."
  (org-agent-capture-test--with nil
    (org-capture nil "a")
    (insert "Which roses?")
    (org-capture-kill)
    (should-not (org-agent-capture-test--questions))
    (let ((org-agent-ask-capture-template org-agent-ask-capture-template))
      (org-capture nil "a")
      (erase-buffer)
      (org-capture-finalize))
    (should-not (org-agent-capture-test--questions))
    (with-current-buffer "*org-agent-chat*"
      (should (zerop (org-agent-kernel-test--answers)))
      (should-not (org-agent-heading-turn-ids)))))

(ert-deftest org-agent-capture-setup-respects-what-is-there ()
  "Loading adds no template, setting up twice adds one, and none is replaced."
  (should-not (assoc "a" (default-value 'org-capture-templates)))
  (let ((org-capture-templates '(("a" "Mine" plain (file "x.org") "")))
        (org-capture-after-finalize-hook nil))
    (should-error (org-agent-capture-setup) :type 'user-error)
    (org-agent-capture-setup "q")
    (org-agent-capture-setup "q")
    (should (equal (mapcar #'car org-capture-templates) '("a" "q")))))

(defun org-agent-capture-test--drop (url)
  "Drop URL on the selected window, and return what Emacs says became of it."
  ;; Emacs 30 has another function, which Emacs 28 lacks.
  (with-suppressed-warnings ((obsolete dnd-handle-one-url))
    (dnd-handle-one-url (selected-window) 'copy url)))

(ert-deftest org-agent-drop-goes-along ()
  "Dropped files and images are listed in the draft once."
  (org-agent-fake-with-chat
    (let ((file (expand-file-name "a b.txt" org-agent-fake-directory)))
      (write-region "text" nil file nil 'silent)
      (org-agent-fake-type "Look")
      (goto-char (point-min))
      (dotimes (_ 2)
        (should (eq 'private
                    (org-agent-capture-test--drop
                     (concat "file://" (replace-regexp-in-string " " "%20" file))))))
      (org-agent-capture-test--drop "https://example.org/x?a=b")
      (should (= (point) (point-min)))
      (org-agent-add-drop-image 'image/png (unibyte-string 137 80 78 71 13 10 26 10 1 2))
      (should (string-match-p
               "\\`\\* Look\n- Context: \\[\\[file:.*a b.txt\\]\\[a b.txt\\]\\]\n\\[\\[https://example.org/x\\?a=b\\]\\] \n- Context: \\[\\[file:.*png\\]\\[.*png\\]\\]\n\\'"
               (org-agent-fake-text)))
      (should-error (org-agent-capture-test--drop "file:///nonexistent/x")
                    :type 'user-error)
      (should-error (org-agent-add-drop-image 'image/../../x "") :type 'user-error)
      (should-error (org-agent-add-drop-image 'image/png "<svg>") :type 'user-error)))
  ;; Elsewhere drops are what they were.
  (should-not (assoc "\\`file:" (default-value 'dnd-protocol-alist))))

(provide 'org-agent-capture-test)
;;; org-agent-capture-test.el ends here
