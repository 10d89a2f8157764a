;;; org-agent-models-test.el --- Tests of the list of models  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With the real kernel: the list names each model with its dialect and
;; the reason.

;;; Code:

(require 'org-agent-kernel-test)
(require 'org-agent-models)

(ert-deftest org-agent-models-list ()
  "The list has the model that answers, its dialect, and why it has that."
  (org-agent-kernel-test--with (list (org-agent-kernel-test--exchange "* Yes"))
    (org-agent-model-list)
    (let ((buffer (get-buffer "*org-agent-models*")))
      (org-agent-fake-wait
       (with-current-buffer buffer
         (string-match-p "^ *test-model \\* +plist +the server is on this machine"
                         (buffer-string)))
       (with-current-buffer buffer (buffer-string)))
      (kill-buffer buffer))))

(ert-deftest org-agent-models-rows ()
  "What is not known of a model is an empty cell."
  (should (equal (cadr (org-agent-models--row
                        '(:name "far" :dialect "native" :window 400000 :price "1.25 10" :why "it is")))
                 ["far" "native" "400k" "1.25 10" "it is"]))
  (should (equal (cadr (org-agent-models--row '(:name "builtin" :default t)))
                 ["builtin *" "" "" "" ""])))

(provide 'org-agent-models-test)
;;; org-agent-models-test.el ends here
