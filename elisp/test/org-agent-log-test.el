;;; org-agent-log-test.el --- Tests of the log  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-kernel)
(require 'org-agent-log)
(require 'org-agent-rpc)

(defun org-agent-log-test--wait (regexp)
  "Wait until the log shows REGEXP."
  (with-current-buffer "*org-agent-log*"
    (org-agent-fake-wait (save-excursion
                           (goto-char (point-min))
                           (re-search-forward regexp nil t))
                         (list regexp (buffer-string)))))

(defun org-agent-log-test--lines (regexp)
  "Return how many lines of the log have REGEXP."
  (with-current-buffer "*org-agent-log*"
    (how-many regexp (point-min) (point-max))))

(defmacro org-agent-log-test--with (&rest body)
  "Run BODY with the log of a real kernel in the selected window."
  (declare (indent 0) (debug t))
  `(progn
     (when (get-buffer "*org-agent-log*")
       (kill-buffer "*org-agent-log*"))
     (org-agent-kernel-test--with (list '((echo . t) (times . -1)))
       (save-window-excursion
         (org-agent-log)
         (org-agent-log-test--wait "kernel ready")
         (unwind-protect (progn ,@body)
           (when (get-buffer "*org-agent-log*")
             (kill-buffer "*org-agent-log*")))))))

(ert-deftest org-agent-log-line-is-one-line ()
  "Any record is one readable line."
  (pcase-dolist
      (`(,record ,line)
       '(((:time "2026-11-21T10:00:00.5Z" :level :info :message "turn" :turn "t1" :fields "  n=3  turn=t1")
          ".500 INFO  turn  n=3  turn=t1")
         ((:message "not json") "not json")
         ((:time "x" :level :warn :message "m") "--:--:--.--- WARN  m")
         (nil "")))
    (should (string-suffix-p line (org-agent-log-line record)))))

(ert-deftest org-agent-log-follows-the-kernel ()
  "Records of the kernel arrive once, also after it was killed."
  (org-agent-log-test--with
    (with-current-buffer "*org-agent-log*"
      (should (eobp))
      (should (string-match-p "following" (org-agent-log--header)))
      (org-agent-rpc-log "from %s" "emacs")
      (should (string-match-p "emacs  from emacs" (buffer-string))))
    (with-current-buffer "*org-agent-chat*"
      (org-agent-kernel-test--say "/nosuchcommand-at-all-xyz")
      (org-agent-kernel-test--settle 1))
    (let ((pid (org-agent-kernel-test--pid)))
      (write-region "{\"msg\":\"half a li" nil (org-agent-state-file "log.jsonl") t 'silent)
      (signal-process pid 'SIGKILL)
      (org-agent-fake-wait (not (eql pid (or (org-agent-kernel-test--pid) pid))))
      (org-agent-log-test--wait (format "kernel ready\\(.\\|\n\\)*kernel ready")))
    (should (= 2 (org-agent-log-test--lines "kernel ready")))
    (should (= 1 (org-agent-log-test--lines "half a li")))
    (should (= 1 (org-agent-log-test--lines "from emacs")))
    (with-current-buffer "*org-agent-log*"
      (should (eobp)))))

(ert-deftest org-agent-log-shows-what-is-asked-for ()
  "Level, session, turn and text filter, and the header line shows them."
  (org-agent-log-test--with
    (with-current-buffer "*org-agent-log*"
      (org-agent-log-set-text "KERNEL ready")
      (org-agent-fake-wait (= 1 (org-agent-log-test--lines "^[0-9:.]+ INFO")))
      (should (string-match-p "with \"KERNEL ready\"" (org-agent-log--header)))
      (org-agent-log-show-all)
      (org-agent-log-test--wait "client connected")
      (org-agent-log-set-level "error")
      (org-agent-fake-wait (= 0 (org-agent-log-test--lines "INFO")))
      (org-agent-log-set-session "100%s")
      (should (string-match-p "session 100%%s" (org-agent-log--header)))
      (org-agent-log-show-all)
      (org-agent-log-test--wait "kernel ready")
      (org-agent-log-toggle-follow)
      (org-agent-fake-settle)
      (should (string-match-p "not followed" (org-agent-log--header))))))

(ert-deftest org-agent-log-without-a-kernel ()
  "Without a kernel the file of the last one is shown."
  (org-agent-log-test--with
    (setq org-agent-kernel--wanted nil)
    (org-agent-kernel-test--end-kernel)
    (org-agent-fake-wait (not (org-agent-kernel-ready-p)))
    (kill-buffer "*org-agent-log*")
    (org-agent-log)
    (org-agent-log-test--wait "kernel stopped")
    (with-current-buffer "*org-agent-log*"
      (should (string-match-p "no kernel runs" (org-agent-log--header))))))

(ert-deftest org-agent-log-is-bounded ()
  "After a flood the latest lines are kept, and point and window stay."
  (org-agent-fake-with-chat
    (when (get-buffer "*org-agent-log*") (kill-buffer "*org-agent-log*"))
    (save-window-excursion
      (org-agent-log)
      (org-agent-fake-settle)
      (let ((mark org-agent-log--mark) (n 0))
        (dotimes (_ 8)
          (org-agent-fake-notify
           "log" :mark mark :dropped 2 :records
           (cl-loop repeat 1000 collect
                    (list :time "2026-11-21T10:00:00Z" :level :info
                          :message (format "line %d" (cl-incf n))))))
        (org-agent-fake-notify "log" :mark (1- mark) :records '((:message "old")))
        (org-agent-log-test--wait "line 8000$")
        (should (<= (count-lines (point-min) (point-max)) 5001))
        (should-not (string-match-p "^old" (buffer-string)))
        (should (string-match-p "2 lines more" (buffer-string)))
        (goto-char (point-max))
        (forward-line -10)
        (let ((line (thing-at-point 'line)))
          (org-agent-fake-notify "log" :mark mark :records '((:message "last")))
          (org-agent-log-test--wait "^last$")
          (should (equal line (thing-at-point 'line)))))
      (kill-buffer))))

(provide 'org-agent-log-test)
;;; org-agent-log-test.el ends here
