;;; gptel.el --- What the same streamed answers cost gptel  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: emacs -nw -Q -L GPTEL -L COMPAT -l testdata/bench/gptel.el
;;
;; Asks the model server at BENCH_URL in an Org buffer of BENCH_FILL bytes as
;; often as turns.el says.  The window follows the text: point moves to its
;; end.  `gptel-auto-scroll', the hook that gptel's manual names for that,
;; scrolls by pages whenever point is out of sight, which takes gptel two to
;; three times as long; see the README.

;;; Code:

(load (expand-file-name "turns" (file-name-directory load-file-name)) nil t)
(require 'org)
(require 'url-parse)
(require 'gptel)
(require 'gptel-openai)

(defun bench-ask ()
  "Ask something."
  (goto-char (point-max))
  (insert "\n* What came by?\n")
  (bench-begin)
  (gptel-send))

(defun bench-answered (&rest _)
  "Note what the turn took and ask again, or end."
  (bench-end)
  (run-with-timer 0.5 nil #'bench-ask))

(defun bench-follow ()
  "Move point to the end of the text that came."
  (goto-char (point-max)))

(defun bench-fill (bytes)
  "Fill the buffer with turns of about BYTES together."
  (let ((turn 0))
    (while (< (buffer-size) bytes)
      (insert (format "* fill %d\n" (cl-incf turn)) "** A short answer\n\n")
      (dotimes (_ 19)
        (insert "The road went by /Samarkand/, and who went by it wrote of it.\n")))))

(let ((url (url-generic-parse-url (getenv "BENCH_URL"))))
  (setq gptel-model 'test-model
        gptel-backend (gptel-make-openai "bench"
                        :protocol "http" :stream t :models '(test-model) :key "bench"
                        :host (format "%s:%d" (url-host url) (url-port url))
                        :endpoint (concat (url-filename url) "/chat/completions"))))

(switch-to-buffer "*bench*")
(delete-other-windows)
(org-mode)
(gptel-mode)
(setq gptel--num-messages-to-send 1)
(bench-fill (string-to-number (getenv "BENCH_FILL")))
(add-hook 'gptel-post-stream-hook #'bench-follow)
(add-hook 'gptel-post-stream-hook #'bench-piece)
(add-hook 'gptel-post-response-functions #'bench-answered)
(run-with-timer 0.5 nil #'bench-ask)

(provide 'gptel)
;;; gptel.el ends here
