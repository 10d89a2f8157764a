;;; org-agent-kernel-test.el --- Tests with the project's kernel  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The real program, on a home of its own, with a real model server that
;; answers as the test wants.  ORG_AGENT_PROGRAM is the program,
;; ORG_AGENT_LLMTEST the model server (`llmtest-server'); by default
;; they are in `bin' beside the directory of this package.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'json)
(require 'org-agent-fake-kernel)
(require 'org-agent-inert-test)
(require 'org-agent-answer)
(require 'org-agent-chat)
(require 'org-agent-file-owner)
(require 'org-agent-heading)
(require 'org-agent-kernel)
(require 'org-agent-rewrite)
(require 'org-agent-rpc)
(require 'org-agent-turn)

(defun org-agent-kernel-test--program (variable name)
  "Return the program that VARIABLE names, or NAME in `bin'."
  (let ((file (expand-file-name
               (or (getenv variable)
                   (expand-file-name (concat "../bin/" name)
                                     org-agent-directory)))))
    (unless (file-executable-p file)
      (error "%s is missing: build it, or set %s" file variable))
    file))

(defvar org-agent-kernel-test-script nil
  "What the model server's script has beside its exchanges: an alist.")

(defvar org-agent-kernel-test-configure #'ignore
  "Called with the model server's address before the kernel starts.")

(defun org-agent-kernel-test--exchange (reply &rest options)
  "Return an exchange of the model server that answers REPLY; see OPTIONS."
  (append (list (cons 'reply reply)) options))

(defun org-agent-kernel-test--held (reply &optional deltas)
  "Return an exchange that answers REPLY, of which DELTAS come at first.
The rest comes after `org-agent-kernel-test--let-go'.  DELTAS, of 16
characters, are 20 by default; -1 are none."
  (org-agent-kernel-test--exchange reply (cons 'hang_after (or deltas 20))
                                   '(until . "go")))

(defun org-agent-kernel-test--let-go ()
  "Have the model say the rest of what is held."
  (write-region "" nil (expand-file-name "go" org-agent-fake-directory)
                nil 'silent))

(defun org-agent-kernel-test--start-model (exchanges)
  "Start a model server with EXCHANGES and return (PROCESS . URL)."
  (let* ((script (expand-file-name "script.json" org-agent-fake-directory))
         (json (json-encode (cons (cons 'exchanges (vconcat exchanges))
                                  org-agent-kernel-test-script)))
         (coding-system-for-write 'utf-8-unix)
         (process (progn
                    (write-region json nil script nil 'silent)
                    (make-process
                     :name "model" :noquery t :connection-type 'pipe
                     :buffer (generate-new-buffer " *model*")
                     :command (list (org-agent-kernel-test--program
                                     "ORG_AGENT_LLMTEST" "llmtest-server")
                                    "--script" script
                                    "--trace" (expand-file-name
                                               "trace" org-agent-fake-directory)))))
         (url (org-agent-fake-wait
               (with-current-buffer (process-buffer process)
                 (goto-char (point-min))
                 (and (looking-at "\\(http.*\\)\n") (match-string 1))))))
    (cons process url)))

(defmacro org-agent-kernel-test--with (exchanges &rest body)
  "Run BODY in a conversation with a kernel whose model says EXCHANGES."
  (declare (indent 1) (debug t))
  `(org-agent-fake-with-home
     (let* ((model (org-agent-kernel-test--start-model ,exchanges))
            (org-agent-program (org-agent-kernel-test--program
                                "ORG_AGENT_PROGRAM" "org-agent"))
            (process-environment
             (append (list (concat "HOME=" org-agent-fake-directory)
                           "ORG_AGENT_LLM"
                           "ORG_AGENT_LLM_API_KEY=test"
                           "ORG_AGENT_LLM_MODEL=test-model"
                           (concat "ORG_AGENT_LLM_BASE_URL=" (cdr model)))
                     process-environment)))
       (make-directory (expand-file-name "run" org-agent-fake-directory))
       (set-file-modes (expand-file-name "run" org-agent-fake-directory) #o700)
       (unwind-protect
           (progn
             (funcall org-agent-kernel-test-configure (cdr model))
             (org-agent-chat)
             (with-current-buffer "*org-agent-chat*"
               (org-agent-kernel-test--wait-attached)
               ,@body))
         (org-agent-kernel-test--end-kernel)
         (delete-process (car model))
         (kill-buffer (process-buffer (car model)))))))

(defmacro org-agent-kernel-test--beside (exchanges text &rest body)
  "Run BODY in a buffer with TEXT, a kernel whose model says EXCHANGES beside it.
The buffers that were opened for what was asked from there go with it."
  (declare (indent 2) (debug t))
  `(org-agent-kernel-test--with ,exchanges
     (with-temp-buffer
       (rename-buffer "notes.txt" t)
       (insert ,text)
       (buffer-enable-undo)
       (setq buffer-undo-list nil)
       (unwind-protect (progn ,@body)
         (setq org-agent-turn--awaited nil)
         (dolist (buffer (buffer-list))
           (when (or (string-match-p "\\`\\*org-agent[-:]+ \\|\\*org-agent-ask"
                                     (buffer-name buffer))
                     (buffer-local-value 'org-agent-rewrite--this buffer))
             (let (kill-buffer-query-functions)
               (kill-buffer buffer))))))))

(defun org-agent-kernel-test--wait-attached ()
  "Wait until the conversation is attached."
  (with-current-buffer "*org-agent-chat*"
    (org-agent-fake-wait (eq org-agent-chat-attached t)
                         (list org-agent-kernel-state org-agent-kernel-trouble))))

(defun org-agent-kernel-test--pid ()
  "Return the kernel's process id."
  (alist-get 'pid (org-agent-kernel--description)))

(defun org-agent-kernel-test--end-kernel ()
  "End the kernel and wait until it is gone."
  (setq org-agent-kernel--wanted nil)
  (when-let* ((pid (org-agent-kernel-test--pid)))
    (signal-process pid 'SIGTERM)
    (org-agent-fake-wait (org-agent-fake-ended-p pid))))

(defun org-agent-kernel-test--say (text)
  "Send TEXT in the conversation."
  (org-agent-fake-type text)
  (org-agent-send))

(defun org-agent-kernel-test--answers ()
  "Return the number of answers in the conversation that are not being written."
  (with-current-buffer "*org-agent-chat*"
    (save-excursion
      (goto-char (point-min))
      (- (how-many "^\\*+ .*:agent:$")
         (length org-agent-answer-previews)))))

(defun org-agent-kernel-test--idle-p ()
  "Return non-nil when nothing is being written or waits."
  (and (eq org-agent-chat-attached t)
       (not (org-agent-chat-get :phase))
       (not org-agent-chat-outbox)
       (not org-agent-answer-previews)
       (not (buffer-modified-p))))

(defun org-agent-kernel-test--settle (answers)
  "Wait until there are ANSWERS and nothing goes on."
  (let ((deadline (+ (float-time) org-agent-fake-timeout)))
    (while (not (and (>= (org-agent-kernel-test--answers) answers)
                     (org-agent-kernel-test--idle-p)))
      (when (> (float-time) deadline)
        (ert-fail (list "not settled" (substring-no-properties (org-agent-header-line))
                        (list :attached org-agent-chat-attached
                              :status org-agent-chat-status
                              :outbox org-agent-chat-outbox
                              :previews org-agent-answer-previews
                              :modified (buffer-modified-p)
                              :keeper org-agent-file-owner-p)
                        (with-current-buffer "*Messages*" (buffer-string))
                        (buffer-string))))
      (accept-process-output nil 0.02)))
  (org-agent-fake-settle)
  (should (equal (org-agent-fake-text) (org-agent-fake-file-text))))

(defun org-agent-kernel-test--shape ()
  "Return the conversation's headings: levels and titles."
  (let (headings)
    (save-excursion
      (goto-char (point-min))
      (while (re-search-forward "^\\(\\*+\\) " nil t)
        (push (list (length (match-string 1))
                    (org-agent-heading-title (match-beginning 0)))
              headings)))
    (nreverse headings)))

(defun org-agent-kernel-test--long (words)
  "Return an answer of WORDS words."
  (concat "Long answer\n\n"
          (mapconcat (lambda (n) (format "word%d" n))
                     (number-sequence 1 words) " ")))

(defun org-agent-kernel-test--envelope (text)
  "Return the proposal that inserts TEXT, as a model writes it."
  (org-agent-rpc-print (list :type :request :target :emacs
                             :action :insert-at-end
                             :buffer "*org-agent-chat*" :text text)))

(defun org-agent-kernel-test--emacs (&rest forms)
  "Start another Emacs on the same home that evaluates FORMS.
Return its process, whose buffer has what it prints.  It ignores SIGPIPE,
as every Emacs with a display or a terminal does: else it would die where
it talks to a kernel that was killed."
  (make-process
   :name "other-emacs" :noquery t :connection-type 'pipe
   :buffer (generate-new-buffer " *other-emacs*")
   :command (append
             (list "sh" "-c" "trap '' PIPE; exec \"$@\"" "sh"
                   (expand-file-name invocation-name invocation-directory)
                   "--batch" "-Q"
                   "-L" org-agent-directory
                   "-L" (expand-file-name "test" org-agent-directory)
                   "-l" "org-agent-kernel-test")
             (cl-loop for form in
                      (append `((setq org-agent-fake-timeout
                                      ,org-agent-fake-timeout
                                      org-agent-home ,org-agent-home
                                      org-agent-program ,org-agent-program
                                      org-agent-fake-directory
                                      ,org-agent-fake-directory)
                                (org-agent-chat)
                                (org-agent-kernel-test--wait-attached))
                              forms)
                      append (list "--eval" (prin1-to-string form))))))

(defun org-agent-kernel-test--wait-print (process regexp)
  "Wait until PROCESS, another Emacs, has printed REGEXP."
  (org-agent-fake-wait
   (with-current-buffer (process-buffer process)
     (or (string-match-p regexp (buffer-string))
         (and (not (process-live-p process))
              ;; What it printed last may not have been read yet.
              (not (accept-process-output process 0.5))
              (not (string-match-p regexp (buffer-string)))
              (ert-fail (list "the other Emacs ended" (buffer-string))))))
   (list regexp (with-current-buffer (process-buffer process)
                  (buffer-string)))))

(ert-deftest org-agent-kernel-talks ()
  "A message is answered below its question; file and buffer are equal."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "Two of them\n\nBoth from *April*.")
            (org-agent-kernel-test--exchange
             (org-agent-kernel-test--envelope "* Gr\u00fc\u00dfe \u4e16\u754c\n** Detail\nBody")
             '(chunk_bytes . 1)))
    (org-agent-kernel-test--say "Which notes?")
    (org-agent-kernel-test--settle 1)
    (org-agent-kernel-test--say "* Again\nand more")
    (org-agent-kernel-test--settle 2)
    (should (equal (org-agent-kernel-test--shape)
                   '((1 "Which notes?") (2 "Two of them")
                     (1 "* Again") (2 "Gr\u00fc\u00dfe \u4e16\u754c") (3 "Detail")
                     (1 ""))))
    (should (string-match-p "test-model" (org-agent-header-line)))
    (should (string-match-p "[0-9]k? in, [0-9]+ out" (org-agent-header-line)))))

(ert-deftest org-agent-kernel-streams-while-one-types ()
  "An answer streams in while the draft is typed, and can be undone."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange
             (org-agent-kernel-test--envelope (org-agent-kernel-test--long 200))
             '(chunk . 20) '(delay . "20ms")))
    (org-agent-kernel-test--say "Tell me")
    (let (seen (typed 0) before)
      (org-agent-fake-wait org-agent-answer-previews)
      (setq before (org-agent-heading-turn-ids))
      (while org-agent-answer-previews
        (when (< typed 10)
          (org-agent-fake-type (format "t%d " typed))
          (cl-incf typed))
        (cl-pushnew (buffer-size) seen)
        (accept-process-output nil 0.02))
      (should (> (length seen) 3))
      (should (= 2 (length before)))
      (org-agent-kernel-test--settle 1)
      (should (string-match-p "^\\* t0 t1 " (buffer-string)))
      (should (string-match-p "word200$" (buffer-string)))
      (let ((last-command 'ignore) (steps 0))
        (while (and (string-match-p "^\\* t0" (buffer-string)) (< steps 30))
          (undo-boundary)
          (undo)
          (setq last-command 'undo)
          (cl-incf steps))
        (should (= steps typed))
        (should (string-match-p "word200$" (buffer-string)))
        (undo-boundary)
        (undo)
        (should-not (string-match-p "word\\|:agent:" (buffer-string)))
        (should (equal (org-agent-kernel-test--shape)
                       '((1 "Tell me") (1 ""))))))))

(ert-deftest org-agent-kernel-stops-and-repeats ()
  "An answer can be stopped, and `org-agent-retry' gets another one."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange
             (org-agent-kernel-test--envelope (org-agent-kernel-test--long 2000))
             '(delay . "20ms"))
            (org-agent-kernel-test--exchange "Second try"))
    (org-agent-kernel-test--say "Tell me")
    (org-agent-fake-wait org-agent-answer-previews)
    (org-agent-stop-turn)
    (org-agent-kernel-test--settle 1)
    (should-not (string-match-p "word2000" (buffer-string)))
    (goto-char (point-min))
    (search-forward ":agent:")
    (org-agent-retry)
    (org-agent-kernel-test--settle 2)
    (should (equal (last (org-agent-kernel-test--shape) 2)
                   '((2 "Second try") (1 ""))))))

(ert-deftest org-agent-kernel-repeats-where-one-looks ()
  "When an earlier question is answered again, point goes where the answer comes.
The mark goes back."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "First" (cons 'times -1)))
    (dotimes (n 2)
      (org-agent-kernel-test--say (format "Question %d" n))
      (org-agent-kernel-test--settle (1+ n)))
    (goto-char (point-min))
    (search-forward "Question")
    (let ((before (point)) at)
      (org-agent-retry)
      (setq at (point))
      (should (looking-at-p "\n\\* Question 1"))
      (should (= (mark t) before))
      (org-agent-kernel-test--settle 3)
      (should (= (point) at))
      (forward-line)
      (should (looking-at-p "\\*\\* First")))))

(ert-deftest org-agent-kernel-takes-200-messages-in-order ()
  "200 messages that are sent at once are answered once and in order."
  (org-agent-kernel-test--with
      (list '((echo . t) (times . -1)))
    (dotimes (n 200)
      (org-agent-kernel-test--say (format "message %d" n))
      ;; The kernel leaves an Emacs that reads nothing for five seconds.
      (while (accept-process-output nil 0)))
    (org-agent-kernel-test--settle 200)
    (should (= 200 (org-agent-kernel-test--answers)))
    (let ((questions (cl-remove-if-not (lambda (heading) (= 1 (car heading)))
                                       (org-agent-kernel-test--shape))))
      (should (equal (mapcar #'cadr questions)
                     (append (cl-loop for n below 200
                                      collect (format "message %d" n))
                             '("")))))))

(ert-deftest org-agent-kernel-error-is-an-answer ()
  "If the model fails, the error is below the question."
  (org-agent-kernel-test--with
      (list '((status . 401) (body . "{\"error\":{\"message\":\"bad key\"}}") (times . -1)))
    (org-agent-kernel-test--say "Hello")
    (org-agent-kernel-test--settle 1)
    (goto-char (point-min))
    (should (re-search-forward "^:STATE: +failed$" nil t))))

(ert-deftest org-agent-kernel-and-client-agree-what-is-inert ()
  "The client changes nothing in the kernel's inert text."
  (let ((hostile (mapconcat #'identity org-agent-inert-test--hostile "\n\n")))
    (org-agent-kernel-test--with
        (list (org-agent-kernel-test--exchange hostile)
              (org-agent-kernel-test--exchange
               (org-agent-kernel-test--envelope
                (concat "* Org\n" hostile))))
      (with-current-buffer (get-buffer-create "*org-agent-log*")
        (let ((inhibit-read-only t)) (erase-buffer)))
      (org-agent-kernel-test--say "Markdown")
      (org-agent-kernel-test--settle 1)
      (org-agent-kernel-test--say "Org")
      (org-agent-kernel-test--settle 2)
      (should (string-match-p "TBLFM" (buffer-string)))
      (should-not (string-match-p "made inert"
                                  (with-current-buffer "*org-agent-log*"
                                    (buffer-string)))))))

(provide 'org-agent-kernel-test)
;;; org-agent-kernel-test.el ends here
