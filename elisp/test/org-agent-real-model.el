;;; org-agent-real-model.el --- A conversation with a real model  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; "make test-model" runs this.  It is none of the tests of "make test": it
;; needs llama.cpp's server and a model in ORG_AGENT_MODELS, and the kernel
;; and the test server in ORG_AGENT_PROGRAM and ORG_AGENT_LLMTEST.

;;; Code:

(require 'org-agent-kernel-test)

(defconst org-agent-real-model-port 18437
  "The port of the model's server.")

(defun org-agent-real-model--start ()
  "Start llama.cpp's server with a small model and return its process."
  (let ((directory (getenv "ORG_AGENT_MODELS")))
    (make-process
     :name "llama" :noquery t :connection-type 'pipe
     :buffer (generate-new-buffer " *llama*")
     :command (list (expand-file-name "llama-server" directory)
                    "--model" (expand-file-name "smollm2.gguf" directory)
                    "--alias" "smollm2" "--host" "127.0.0.1"
                    "--port" (number-to-string org-agent-real-model-port)
                    "--threads" "2" "--parallel" "1" "--ctx-size" "8192"))))

(defun org-agent-real-model--configure (_url)
  "Write the settings of the real model, which set no dialect and no window."
  (with-temp-file (expand-file-name "config.org" org-agent-home)
    (insert (format "* Models
** smollm2
:PROPERTIES:
:BASE_URL: http://127.0.0.1:%d/v1
:MODEL: smollm2
:TEMPERATURE: 0
:MAX_TOKENS: 60
:END:
" org-agent-real-model-port))))

(ert-deftest org-agent-real-model-talks ()
  "A real model's answer is streamed into the buffer, and one can be stopped."
  (let ((org-agent-fake-timeout 240)
        (org-agent-kernel-test-configure #'org-agent-real-model--configure)
        (server (org-agent-real-model--start)))
    (unwind-protect
        (org-agent-kernel-test--with nil
          (org-agent-kernel-test--say "What is the capital of France?")
          (org-agent-fake-wait org-agent-answer-previews)
          (org-agent-kernel-test--settle 1)
          (should (string-match-p "Paris" (buffer-string)))
          (should (string-match-p "smollm2" (org-agent-header-line)))
          (org-agent-kernel-test--say "Write a very long story about a garden.")
          (org-agent-fake-wait org-agent-answer-previews)
          (org-agent-stop-turn)
          (org-agent-kernel-test--settle 2)
          (should (process-live-p server)))
      (delete-process server)
      (kill-buffer (process-buffer server)))))

(provide 'org-agent-real-model)
;;; org-agent-real-model.el ends here
