;;; org-agent-remote-test.el --- Tests of files on other machines  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The other machine is a shell that TRAMP connects to, without a network.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'tramp)
(require 'tramp-sh)                     ; what is replaced below is not loaded later
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-context-test)
(require 'org-agent-add)
(require 'org-agent-chat)
(require 'org-agent-context)
(require 'org-agent-context-read)
(require 'org-agent-draft)
(require 'org-agent-kernel)
(require 'org-agent-rpc)

(defmacro org-agent-remote-test--with-machine (&rest body)
  "Run BODY with a method \"mock\" of TRAMP that leads to this machine."
  (declare (indent 0) (debug t))
  `(let ((tramp-methods
          (cons '("mock" (tramp-login-program "sh") (tramp-login-args (("-i")))
                  (tramp-remote-shell "/bin/sh") (tramp-remote-shell-args ("-c"))
                  (tramp-connection-timeout 10))
                tramp-methods))
         (tramp-default-host-alist
          (cons '("\\`mock\\'" nil "localhost") tramp-default-host-alist))
         (tramp-persistency-file-name nil)
         (tramp-verbose 0)
         (remote-file-name-inhibit-cache nil)
         (enable-remote-dir-locals nil))
     (unwind-protect (progn ,@body)
       (org-agent-remote-test--leave))))

(defun org-agent-remote-test--leave ()
  "End all connections to the other machine."
  (dolist (buffer (buffer-list))
    (when (string-prefix-p "/mock:" (or (buffer-file-name buffer) ""))
      (with-current-buffer buffer (set-buffer-modified-p nil))
      (kill-buffer buffer)))
  (org-agent-remote-test--disconnect))

(defun org-agent-remote-test--disconnect ()
  "End all connections to the other machine, and keep the buffers."
  (let ((inhibit-message t) (noninteractive nil))
    (cl-letf (((symbol-function 'yes-or-no-p) #'ignore)
              ((symbol-function 'y-or-n-p) #'ignore))
      (tramp-cleanup-all-connections))))

(defun org-agent-remote-test--file (name text)
  "Make the file NAME with TEXT and return its name from another machine."
  (concat "/mock:localhost:" (org-agent-context-test--file name text)))

(defmacro org-agent-remote-test--never-connecting (&rest body)
  "Run BODY; fail if it opens a connection."
  (declare (indent 0) (debug t))
  `(cl-letf (((symbol-function 'tramp-maybe-open-connection)
              (lambda (&rest _) (ert-fail "a connection was opened"))))
     ,@body))

(ert-deftest org-agent-remote-goes-along ()
  "Files, lines, headings and directories of a connected machine are attached."
  (org-agent-remote-test--with-machine
    (org-agent-fake-with-chat
      (let* ((file (org-agent-remote-test--file "a.org" "* One\none\n* Two\ntwo\n"))
             (image (concat "/mock:localhost:" (org-agent-context-test--image "i.png")))
             (directory (file-name-directory file)))
        (should (file-exists-p file))   ; connects
        (let* ((event (org-agent-context-test--say
                       (format "[[file:%s]] lines 1-2 of [[file:%s]] [[file:%s::*Two]] [[file:%s]] [[file:%s]] @%s"
                               file file file image directory file)))
               (items (plist-get event :context)))
          (should (equal (mapcar (lambda (item) (list (plist-get item :kind) (plist-get item :name)
                                                      (plist-get item :text) (plist-get item :media)))
                                 items)
                         `(("file" "a.org" "* One\none\n* Two\ntwo\n" nil)
                           ("region" "a.org" "* One\none\n" nil)
                           ("subtree" "Two" "* Two\ntwo\n" nil)
                           ("image" "i.png" nil "image/png")
                           ("directory" "files/" ,(format "a.org  20\ni.png  %d\n" (file-attribute-size (file-attributes image))) nil))))
          (should (equal (plist-get (car items) :place) file))
          (should (string-prefix-p (concat "lines 3-4 of " file) (plist-get (nth 2 items) :place))))
        (dolist (refused (list (org-agent-remote-test--file "big" (make-string 1100000 ?x))
                               (org-agent-remote-test--file "zero" "a\0b")
                               (concat directory "none")))
          (should-error (org-agent-context-read (list :type 'file :path refused))
                        :type 'org-agent-context-read-refused))))))

(ert-deftest org-agent-remote-is-not-asked ()
  "Showing, sending and completing never opens a connection."
  (org-agent-remote-test--with-machine
    (org-agent-fake-with-chat
      (let ((file (org-agent-remote-test--file "a.org" "text\n")))
        (org-agent-remote-test--leave)
        (org-agent-remote-test--never-connecting
          (goto-char (point-max))
          (insert (format "See [[file:%s]] and @%s and @%s" file file file))
          (org-agent-context-show)
          (should (cl-some (lambda (overlay)
                             (string-match-p "on localhost, not connected: open it first"
                                             (or (overlay-get overlay 'after-string) "")))
                           (overlays-in (point-min) (point-max))))
          ;; Since Emacs 30 a text mode completes from a list of words, too,
          ;; which not every machine has.
          (remove-hook 'completion-at-point-functions
                       'ispell-completion-at-point t)
          (completion-at-point)
          (let (asked)
            (cl-letf (((symbol-function 'y-or-n-p)
                       (lambda (prompt) (setq asked prompt) nil)))
              (should-error (org-agent-send) :type 'user-error)
              (should (string-match-p "a\\.org is on localhost, to which there is no connection" asked)))
            (cl-letf (((symbol-function 'y-or-n-p)
                       (lambda (prompt) (setq asked prompt) nil)))
              (goto-char (org-agent-draft-start))
              (search-forward "[[")
              (should-error (org-agent-context-test--add) :type 'user-error)
              (should (string-match-p "no connection to localhost\\.  Connect" asked))))
          (should (string-match-p "See \\[\\[" (car (org-agent-context-draft)))))
        (cl-letf (((symbol-function 'y-or-n-p) #'always))
          (org-agent-context-test--add))
        (should (org-agent-context-connected-p file))
        (should (equal (mapcar (lambda (item) (plist-get item :text))
                               (plist-get (org-agent-context-test--say "") :context))
                       '("text\n")))))))

(ert-deftest org-agent-remote-buffers ()
  "A buffer of a remote file is attached, connected or not."
  (org-agent-remote-test--with-machine
    (org-agent-fake-with-chat
      (let ((file (org-agent-remote-test--file "a.txt" "one\ntwo\n")))
        (save-window-excursion
          (switch-to-buffer (find-file-noselect file))
          (setq-local transient-mark-mode t)
          (goto-char (point-max)) (insert "three\n")
          (goto-char (point-min)) (push-mark 5 t t)
          (org-agent-remote-test--disconnect)
          (org-agent-remote-test--never-connecting
            (org-agent-context-test--add)
            (deactivate-mark)
            (org-agent-context-test--add)
            (org-agent-add--mention-buffers)
            (with-current-buffer "*org-agent-chat*"
              (org-agent-context-show)
              (let ((event (org-agent-context-test--say "What?")))
                (should (equal (org-agent-context-test--texts event)
                               '(("region" "a.txt" "one\n") ("file" "a.txt" "one\ntwo\nthree\n"))))
                (should (equal (mapcar (lambda (item) (plist-get item :place)) (plist-get event :context))
                               (list (concat "line 1 of " file) (concat file ", not saved"))))))))))))

(ert-deftest org-agent-remote-edits-are-refused ()
  "The kernel refuses edits of remote files with a reason."
  (org-agent-remote-test--with-machine
    (let (file)
      (org-agent-fake-with-home
        (setq file (org-agent-remote-test--file "a.txt" "one\n")))
      (org-agent-kernel-test--with
          (list (org-agent-kernel-test--exchange
                 (org-agent-rpc-print (list :type :request :target :emacs :action :edit
                                            :file file :old "one" :new "two")))
                (org-agent-kernel-test--exchange "I cannot" '(match . "is not a file of this machine")))
        (org-agent-kernel-test--say "Change it")
        (org-agent-kernel-test--settle 1)
        (should (string-match-p "I cannot" (org-agent-fake-text)))))
    (org-agent-fake-with-chat
      (let ((file (org-agent-remote-test--file "b.org" "* One\n:PROPERTIES:\n:ID: b1\n:END:\none\n")))
        (with-current-buffer (find-file-noselect file)
          (dolist (place (list (list :file file) (list :id "b1")))
            (should (string-match-p
                     "is not a file of this machine\\|no entry\\|there is no"
                     (plist-get (plist-get (apply #'org-agent-fake-request
                                                  "act" :id "m1" :session "main" :turn "t" :event "e"
                                                  :type :request :target :emacs
                                                  (list :payload (append '(:action :edit :old "one" :new "two") place)))
                                           :error)
                                :message))))
          (should (string-suffix-p "one\n" (buffer-string))))))))

(ert-deftest org-agent-remote-home-of-a-buffer ()
  "In a remote buffer, the local kernel is started and used."
  (org-agent-remote-test--with-machine
    (org-agent-kernel-test--with (list (org-agent-kernel-test--exchange "Here."))
      (let ((pid (org-agent-kernel-test--pid)))
        (with-temp-buffer
          (setq default-directory (concat "/mock:localhost:" org-agent-fake-directory "/"))
          (org-agent-remote-test--disconnect)
          (org-agent-kernel-stop)
          (org-agent-fake-wait (org-agent-fake-ended-p pid))
          (org-agent-remote-test--never-connecting
            (org-agent-chat)
            (org-agent-kernel-test--wait-attached)
            (with-current-buffer "*org-agent-chat*"
              (should-not (file-remote-p default-directory))
              (org-agent-kernel-test--say "Where?")
              (org-agent-kernel-test--settle 1))))
        (should-not (equal pid (org-agent-kernel-test--pid)))))
    ;; A conversation's file that is there is a file; the home has to be here.
    (org-agent-fake-with-home
      (let ((org-agent-home "/mock:localhost:/tmp/home"))
        (org-agent-remote-test--never-connecting
          (should (string-match-p "on another machine"
                                  (cadr (should-error (org-agent-chat) :type 'user-error)))))))
    (org-agent-fake-with-chat
      (let ((file (org-agent-remote-test--file
                   "main.org" "* Asked :user:\n:PROPERTIES:\n:ID: q\n:END:\n* more\n")))
        (with-current-buffer (find-file-noselect file)
          (should-not org-agent-chat-session)
          (should-error (org-agent-send) :type 'user-error)
          (org-agent-context-test--add)
          (should (string-match-p "file:/mock:localhost:" (org-agent-context-test--draft))))))))

(provide 'org-agent-remote-test)
;;; org-agent-remote-test.el ends here
