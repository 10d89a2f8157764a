;;; gptel.el --- What the same streamed answers cost gptel  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: emacs -nw -Q -L GPTEL -L COMPAT -l testdata/bench/gptel.el
;;
;; Asks the model server at BENCH_URL in an Org buffer of BENCH_FILL bytes as
;; often as BENCH_TURNS says and writes the processor time of each turn,
;; in seconds and a line each, to the file BENCH_RESULT.  The window follows
;; the text, with the hook that gptel's manual names for it.

;;; Code:

(setq native-comp-deferred-compilation nil)

(require 'org)
(require 'url-parse)
(require 'gptel)
(require 'gptel-openai)

(defvar bench-used nil
  "The processor times of the turns, newest first.")

(defvar bench-began nil
  "The processor time when the turn began.")

(defun bench-processor-time ()
  "Return the processor time of this Emacs, in seconds."
  (float-time (get-internal-run-time)))

(defun bench-ask ()
  "Ask something."
  (goto-char (point-max))
  (insert "\n* What came by?\n")
  (garbage-collect)
  (setq bench-began (bench-processor-time))
  (gptel-send))

(defun bench-answered (&rest _)
  "Note what the turn took and ask again, or end."
  (push (- (bench-processor-time) bench-began) bench-used)
  (if (< (length bench-used) (string-to-number (getenv "BENCH_TURNS")))
      (run-with-timer 0.5 nil #'bench-ask)
    (let ((file (getenv "BENCH_RESULT")))
      (with-temp-file (concat file ".part")
        (dolist (used (reverse bench-used))
          (insert (format "%f\n" used))))
      (rename-file (concat file ".part") file))
    (kill-emacs)))

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
(add-hook 'gptel-post-stream-hook #'gptel-auto-scroll)
(add-hook 'gptel-post-response-functions #'bench-answered)
(run-with-timer 0.5 nil #'bench-ask)

(provide 'gptel)
;;; gptel.el ends here
