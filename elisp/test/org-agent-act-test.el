;;; org-agent-act-test.el --- Tests of acts that change no text  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'org-agent-fake-kernel)

(defun org-agent-act-test--perform (&rest payload)
  "Have Emacs perform the act with PAYLOAD and return the whole answer."
  (org-agent-fake-request "act" :id "m1" :session "main" :turn "t" :event "e"
                          :type :request :target :emacs :payload payload))

(ert-deftest org-agent-act-message-is-one-line ()
  "A message is text, on one line and short."
  (org-agent-fake-with-chat
    (ert-with-message-capture messages
      (should (equal (plist-get (org-agent-act-test--perform
                                 :action :message :text "100%s of\nit")
                                :result)
                     '(:done t)))
      (org-agent-act-test--perform :action :message
                                   :text (make-string 1000 ?x))
      (should (string-match-p "^100%s of it$" messages))
      (should (string-match "^x+" messages))
      (should (<= (length (match-string 0 messages)) 200)))))

(ert-deftest org-agent-act-open-shows ()
  "A regular file of one's own is shown, and its local variables are not set."
  (org-agent-fake-with-chat
    (let* ((process-environment
            (cons (concat "HOME=" org-agent-fake-directory) process-environment))
           (file (expand-file-name "notes.el" org-agent-fake-directory))
           (selected (selected-window)))
      (write-region "one\ntwo\n;; Local\sVariables:\n;; fill-column: 13\n;; eval: (error \"ran\")\n;; End:\n"
                    nil file nil 'silent)
      (let ((enable-local-variables :all) (enable-local-eval t))
        (should (equal (plist-get (org-agent-act-test--perform
                                   :action :open :file file :line 2)
                                  :result)
                       '(:done t))))
      (should (eq (selected-window) selected))
      (with-current-buffer (find-buffer-visiting file)
        (should (equal (line-number-at-pos
                        (window-point (get-buffer-window nil t)))
                       2))
        (should-not (equal fill-column 13))
        (kill-buffer)))))

(ert-deftest org-agent-act-open-refuses ()
  "Directories, devices, remote files and those of others are refused."
  (org-agent-fake-with-chat
    (let ((process-environment
           (cons (concat "HOME=" org-agent-fake-directory) process-environment))
          (link (expand-file-name "link" org-agent-fake-directory)))
      (make-symbolic-link "/etc/passwd" link)
      (dolist (file (list "/etc/passwd" link org-agent-fake-directory
                          "/dev/null" "/ssh:host:/x" "/sudo::/etc/passwd"
                          "relative" nil
                          (expand-file-name "missing" org-agent-fake-directory)))
        (ert-info ((format "%s" file))
          (let ((answer (org-agent-act-test--perform :action :open :file file)))
            (should (= (plist-get (plist-get answer :error) :code) -32002)))))
      (should-not (find-buffer-visiting "/etc/passwd")))))

(provide 'org-agent-act-test)
;;; org-agent-act-test.el ends here
