;;; org-agent-approval.el --- Decide what the agent may do  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Some actions wait for a person's approval.  Each is in its
;; conversation, below the question, and `org-agent-approvals' lists all; in
;; both places the same keys decide.  A decision applies to exactly the
;; action that the kernel asks about and shows.  Text that somebody wrote
;; decides nothing.  The decision "always" becomes a rule of policy.org, and
;; `org-agent-policy' lists the rules.
;;
;; `org-agent-approval-edit' edits an action.  The edited action is sent as a
;; new proposal that is allowed once, and the kernel checks it again.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-undo)
(require 'org-agent-file-owner)
(require 'org-agent-asks)
(require 'org-agent-chat)
(require 'org-agent-section)
(require 'org-agent-list)
(require 'org-agent-diff)

(declare-function org-agent-approval-view "org-agent-review")
(declare-function org-agent-notify-asked "org-agent-notify")
(declare-function org-agent-question-section "org-agent-question")
(declare-function org-agent-review-show-stale "org-agent-review")

(defconst org-agent-approval--buffer "*org-agent-approvals*"
  "The name of the buffer that lists approvals and questions.")

(defvar org-agent-approval--sent nil
  "The ids of approvals whose decision is on its way to the kernel.")

(defvar-local org-agent-approval--moved 0
  "The time at which another action came under point in the list.")

(defconst org-agent-approval--guard 1
  "Seconds for which no key allows an action that came under point by itself.")

(defun org-agent-approval--bind (map)
  "Bind in MAP the keys that decide, and return it."
  (pcase-dolist (`(,key . ,command)
                 '(("o" . org-agent-allow-once)
                   ("t" . org-agent-allow-turn)
                   ("s" . org-agent-allow-session)
                   ("A" . org-agent-allow-always)
                   ("r" . org-agent-allow-reading)
                   ("d" . org-agent-deny)
                   ("e" . org-agent-approval-edit)
                   ("v" . org-agent-approval-view)
                   ("m" . org-agent-approval-more)
                   ("C-c C-c" . org-agent-allow-once)
                   ("C-c C-k" . org-agent-deny)))
    (define-key map (kbd key) command))
  map)

(defvar org-agent-approval-mode-map
  (let ((map (org-agent-approval--bind (make-sparse-keymap))))
    (set-keymap-parent map org-agent-section-mode-map)
    map)
  "Keymap of the list of approvals and questions.")

(defvar org-agent-approval-subtree-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") '("allow once" . org-agent-allow-once))
    (define-key map (kbd "C-c C-k") '("refuse" . org-agent-deny))
    map)
  "Keymap on an approval in a conversation, where it is read-only.")

(defvar org-agent-approval-line-map
  (org-agent-approval--bind (make-sparse-keymap))
  "Keymap on an approval in the list, and on its last line in a conversation.
Elsewhere in a conversation letters decide nothing, since people type
there.")

;; Categories, since Org's fontification takes the property `keymap' away.
(put 'org-agent-approval-subtree 'keymap org-agent-approval-subtree-map)
(put 'org-agent-approval-title 'keymap org-agent-approval-subtree-map)
(put 'org-agent-approval-subtree 'title 'org-agent-approval-title)
(put 'org-agent-approval-line 'keymap org-agent-approval-line-map)
(dolist (category '(org-agent-approval-subtree org-agent-approval-line))
  (put category 'read-only
       "It waits for your decision: C-c C-c allows it, C-c C-k refuses it"))

(define-derived-mode org-agent-approval-mode org-agent-section-mode
  "Org-Agent-Approvals"
  "Major mode of the list of approvals and questions.
\\<org-agent-approval-mode-map>\\[org-agent-allow-once] allows the action at point once, \
\\[org-agent-allow-turn] an equal one in this turn,
\\[org-agent-allow-session] in this session, \
\\[org-agent-allow-always] always; \\[org-agent-deny] refuses it with a reason.
\\[org-agent-allow-reading] allows it with reading in the project, if that is offered.
\\[org-agent-section-return] shows an action in full, or answers a question.

\\{org-agent-approval-mode-map}"
  :interactive nil
  (setq-local revert-buffer-function
              (lambda (&rest _) (org-agent-approval--refresh)))
  (setq bidi-display-reordering nil))

;;;; Commands

;;;###autoload
(defun org-agent-approvals ()
  "List the approvals and questions that wait for you."
  (interactive)
  (with-current-buffer (get-buffer-create org-agent-approval--buffer)
    (unless (derived-mode-p 'org-agent-approval-mode)
      (org-agent-approval-mode))
    (org-agent-approval-draw)
    (org-agent-approval--refresh))
  (let ((seen (get-buffer-window org-agent-approval--buffer)))
    (pop-to-buffer org-agent-approval--buffer)
    ;; Who looked at it before left it where nothing may be any more.
    (unless seen
      (org-agent-section-go-to-first))))

(defun org-agent-approval--refresh ()
  "Ask the kernel for the open asks and show them."
  (org-agent-kernel-request
   "ask/list" nil
   :success (lambda (result)
              (org-agent-asks-replace (plist-get result :asks))
              (org-agent-approval-draw)
              (mapc #'org-agent-approval--check (org-agent-asks-of :approval)))
   :failure (lambda (refusal)
              (org-agent-chat-complain "What waits cannot be listed" refusal))))

(defun org-agent-approval--here ()
  "Return the approval at point if its subtree is as the kernel wrote it."
  (let ((approval (org-agent-asks-known (org-agent-asks-at-point))))
    (when (and approval (eq (org-agent-asks-sort approval) :approval))
      (unless (org-agent-asks-intact-p (plist-get approval :id)
                                       (or (plist-get approval :subtree) ""))
        (user-error "This text was changed and decides nothing; M-x org-agent-approvals shows what waits"))
      approval)))

;;;###autoload
(defun org-agent-approval-at-point ()
  "Return the approval at point, or signal an error."
  (or (org-agent-section-data-at-point 'approval)
      (org-agent-approval--here)
      (user-error (if (derived-mode-p 'org-agent-approval-mode)
                      "Nothing waits here; `n' goes to the next that does"
                    "Nothing waits here; M-x org-agent-approvals shows what does"))))

(defun org-agent-approval-decide (approval decision &rest more)
  "Decide APPROVAL: DECISION, a keyword, with MORE, :reason or :edited.
The first decision counts, also while it is on its way."
  (let ((id (plist-get approval :id)))
    (when (member id org-agent-approval--sent)
      (user-error "It is being decided already"))
    (push id org-agent-approval--sent)
    (org-agent-kernel-request
     "ask/decide"
     (append (list :id id :decision decision) more)
     :success (lambda (result)
                (org-agent-approval-remove id)
                (org-agent-chat-in (plist-get approval :session)
                  (org-agent-asks-leave id))
                (setq org-agent-approval--sent
                      (delete id org-agent-approval--sent))
                (message "%s: %s%s"
                         (if (eq decision :deny) "Refused" "Allowed")
                         (or (plist-get approval :summary) "decided")
                         (cond ((plist-get result :note)
                                (concat "; " (plist-get result :note)))
                               ((eq decision :allow-always)
                                "; M-x org-agent-policy lists and revokes it")
                               ((eq decision :allow-reading)
                                "; M-x org-agent-policy lists and revokes the rules")
                               (t ""))))
     :failure (lambda (refusal)
                (setq org-agent-approval--sent
                      (delete id org-agent-approval--sent))
                (if (org-agent-rpc-refused-p refusal 'stale)
                    (org-agent-review-show-stale approval refusal)
                  (org-agent-chat-complain "Not decided" refusal))))))

(defun org-agent-approval--allow (decision)
  "Allow the action at point: DECISION, a keyword, says how long."
  (let ((approval (org-agent-approval-at-point)))
    (when (< (- (float-time) org-agent-approval--moved)
             org-agent-approval--guard)
      (user-error "The approval here was closed just now; check the one that is here now"))
    (when (and (plist-get approval :once)
               (not (eq decision :allow-once)))
      (user-error "This can be allowed once only"))
    (when (and (eq decision :allow-reading)
               (not (plist-get approval :reading)))
      (user-error "No rules for reading are offered with this"))
    (when (and (eq decision :allow-always)
               (not (plist-get approval :always)))
      (user-error "An equal action does not come again; allow it once, in this turn or session"))
    (org-agent-approval-decide approval decision)))

(defun org-agent-allow-once ()
  "Allow the action at point, this once."
  (interactive nil org-agent-approval-mode org-agent-chat-mode)
  (org-agent-approval--allow :allow-once))

(defun org-agent-allow-turn ()
  "Allow the action at point, and an equal one in the same turn."
  (interactive nil org-agent-approval-mode org-agent-chat-mode)
  (org-agent-approval--allow :allow-turn))

(defun org-agent-allow-session ()
  "Allow the action at point, and an equal one in the same session."
  (interactive nil org-agent-approval-mode org-agent-chat-mode)
  (org-agent-approval--allow :allow-session))

(defun org-agent-allow-always ()
  "Allow the action at point, and an equal one from now on.
This adds a rule to policy.org, which `org-agent-policy' lists and revokes."
  (interactive nil org-agent-approval-mode org-agent-chat-mode)
  (org-agent-approval--allow :allow-always))

(defun org-agent-allow-reading ()
  "Allow the action at point once, and from now on reading in its project.
This adds the rules to policy.org that are listed with the action."
  (interactive nil org-agent-approval-mode org-agent-chat-mode)
  (org-agent-approval--allow :allow-reading))

(defun org-agent-deny (reason)
  "Refuse the action at point; the agent gets the REASON."
  (interactive (list (progn (org-agent-approval-at-point)
                            (read-string "Why not (RET for no reason): ")))
               org-agent-approval-mode org-agent-chat-mode)
  (org-agent-approval-decide
   (org-agent-approval-at-point) :deny
   :reason (unless (string-empty-p reason) reason)))

(defconst org-agent-approval--more
  '((?t "this turn" "allow an equal action until the turn ends" org-agent-allow-turn)
    (?s "this session" "allow an equal action in this conversation" org-agent-allow-session)
    (?A "Always" "add a rule that allows an equal action" org-agent-allow-always)
    (?r "reading here" "add the listed rules for reading, and allow it" org-agent-allow-reading)
    (?e "edit" "change the action, then allow it once" org-agent-approval-edit))
  "Choices that few need: a key, a name, what it does, and its command.")

(defun org-agent-approval-more ()
  "Offer the choices about the action at point besides yes, no and a look."
  (interactive nil org-agent-approval-mode org-agent-chat-mode)
  (let* ((approval (org-agent-approval-at-point))
         (choice (read-multiple-choice
                  "What else? "
                  (if (plist-get approval :once)
                      (last org-agent-approval--more)
                    (cl-remove-if-not
                     (lambda (choice)
                       (pcase (car choice)
                         (?A (plist-get approval :always))
                         (?r (plist-get approval :reading))
                         (_ t)))
                     org-agent-approval--more)))))
    (call-interactively (nth 3 choice))))

;;;; The whole text

(defun org-agent-approval-whole (approval action function)
  "Call FUNCTION with the whole text of APPROVAL.
If ACTION is non-nil, call it with the text of its action instead."
  (if (not (plist-get approval :cut))
      (funcall function (or (plist-get approval (if action :action :text)) ""))
    (org-agent-approval--fetch approval action 0 nil function)))

(defun org-agent-approval--fetch (approval action from parts function)
  "Request the text of APPROVAL from the byte FROM on.
Then call FUNCTION with the whole text.  PARTS are the parts before FROM,
latest first.  ACTION is as for `org-agent-approval-whole'."
  (org-agent-kernel-request
   "ask/get"
   (append (list :id (plist-get approval :id) :from from)
           (and action (list :action t)))
   :success (lambda (result)
              (push (or (plist-get result :text) "") parts)
              (if (plist-get result :next)
                  (org-agent-approval--fetch approval action
                                           (plist-get result :next) parts
                                           function)
                (funcall function (apply #'concat (nreverse parts)))))
   :failure (lambda (refusal)
              (org-agent-chat-complain "The action cannot be shown" refusal))))

(defun org-agent-approval-read (text)
  "Return the action that TEXT is the printed form of, or nil."
  (let ((action (car (read-from-string text))))
    (and (proper-list-p action) action)))

;;;; Editing the action

(defvar-local org-agent-approval--this nil
  "The approval whose action is edited in this buffer.")
(put 'org-agent-approval--this 'permanent-local t)

(defun org-agent-approval-still (approval)
  "Return APPROVAL if it still waits for a decision, or signal an error."
  (or (org-agent-asks-known (plist-get approval :id))
      (user-error "This does not wait for a decision any more")))

(defvar org-agent-approval-action-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'org-agent-approval-send)
    (define-key map (kbd "C-c C-k") #'org-agent-approval-cancel)
    map)
  "Keymap of `org-agent-approval-action-mode'.")

(define-derived-mode org-agent-approval-action-mode lisp-data-mode "Org-Agent-Edit"
  "Major mode for editing an action that waits for approval.
\\<org-agent-approval-action-mode-map>\\[org-agent-approval-send] allows the edited action once, \\[org-agent-approval-cancel] cancels the edit."
  :interactive nil
  (setq header-line-format
        (substitute-command-keys
         " \\<org-agent-approval-action-mode-map>\\[org-agent-approval-send] allow once  \\[org-agent-approval-cancel] cancel")))

;;;###autoload
(defun org-agent-approval-edit ()
  "Edit the action at point, which waits for approval."
  (interactive nil org-agent-approval-mode org-agent-chat-mode)
  (org-agent-approval-edit-action (org-agent-approval-at-point)))

(defun org-agent-approval-edit-action (approval)
  "Pop to a new buffer with the action of APPROVAL."
  (org-agent-approval-whole
   approval t
   (lambda (text)
     (with-current-buffer (generate-new-buffer "*org-agent-edit-action*")
       (org-agent-approval-action-mode)
       (setq org-agent-approval--this approval)
       (insert (org-agent-approval--pretty (org-agent-approval-read text)) "\n")
       (set-buffer-modified-p nil)
       (goto-char (point-min))
       (pop-to-buffer (current-buffer))))))

(defun org-agent-approval--pretty (action &optional indentation)
  "Return ACTION, a plist, printed with one key on a line.
Indent by INDENTATION, and print newlines of strings as they are."
  (let ((blanks (concat "\n" (make-string (1+ (or indentation 0)) ?\s))))
    (concat
     "("
     (mapconcat
      (lambda (pair)
        (concat (symbol-name (car pair)) " "
                (if (and (eq (car pair) :payload) (consp (cdr pair)))
                    (org-agent-approval--pretty (cdr pair)
                                              (+ 10 (or indentation 0)))
                  (prin1-to-string (cdr pair)))))
      (cl-loop for (key value) on action by #'cddr collect (cons key value))
      blanks)
     ")")))

(defun org-agent-approval-send ()
  "Allow the edited action of this buffer once."
  (interactive nil org-agent-approval-action-mode)
  (let ((approval (org-agent-approval-still org-agent-approval--this))
        (buffer (current-buffer)))
    (org-agent-kernel-request
     "ask/decide"
     (list :id (plist-get approval :id) :decision :allow-once
           :edited (string-trim (buffer-substring-no-properties
                                 (point-min) (point-max))))
     :success (lambda (_)
                (org-agent-approval-remove (plist-get approval :id))
                (message "Allowed with your changes")
                (when (buffer-live-p buffer)
                  (with-current-buffer buffer
                    (set-buffer-modified-p nil)
                    (org-agent-diff-close (current-buffer))))
                (org-agent-chat-in (plist-get approval :session)
                  (org-agent-asks-leave (plist-get approval :id))))
     :failure (lambda (refusal)
                (org-agent-chat-complain "Not allowed" refusal)))))

(defun org-agent-approval-cancel ()
  "Cancel the edit; the action still waits for a decision."
  (interactive nil org-agent-approval-action-mode)
  (set-buffer-modified-p nil)
  (org-agent-diff-close (current-buffer)))

;;;; The list

;;;###autoload
(defun org-agent-approval-draw ()
  "Draw the list of approvals and questions, if its buffer exists.
If the approval at point was closed by another client, the next one comes
under point; for a moment keys do not allow it."
  (when-let* ((buffer (get-buffer org-agent-approval--buffer)))
    (with-current-buffer buffer
      (let ((former (plist-get (org-agent-section-data-at-point 'approval) :id)))
        (org-agent-section-show
         (or (append (mapcar #'org-agent-approval-section
                             (org-agent-asks-of :approval))
                     (mapcar #'org-agent-question-section
                             (org-agent-asks-of :question)))
             (list (org-agent-section
                    nil 'nothing
                    :body (org-agent-list-empty
                           "Nothing waits for you.  \\[org-agent-policy] lists what the agent may do without asking.")))))
        (unless (or (null former)
                    (org-agent-asks-known former)
                    (member former org-agent-approval--sent))
          (setq org-agent-approval--moved (float-time)))))))

;;;###autoload
(defun org-agent-approval-section (approval)
  "Return the section of APPROVAL: what, why, what changes, and the choices."
  (org-agent-section
   'approval (plist-get approval :id) :data approval
   :heading (org-agent-approval-heading
             "Approve" (or (plist-get approval :summary) "an action") approval)
   :body (lambda () (org-agent-approval--body approval))))

(defun org-agent-approval-heading (verb what ask)
  "Return the heading of ASK: VERB and WHAT, then who asks and since when."
  (concat (propertize (concat verb ": " what) 'face 'org-agent-section-heading)
          (propertize (format "  (%s, %s)" (org-agent-approval--who ask)
                              (org-agent-list-time (or (plist-get ask :asked) "")))
                      'face 'shadow)))

(defun org-agent-approval--who (approval)
  "Return the name of the conversation or the subagent that asks for APPROVAL."
  (if-let* ((label (plist-get approval :subagent)))
      (format "%s, subagent of %s" label (plist-get approval :parent))
    (plist-get approval :session)))

(defun org-agent-approval--body (approval)
  "Return all that the kernel sent of APPROVAL, and the choices."
  (let ((text (string-trim-right (or (plist-get approval :text) "") "\n+")))
    (concat
     (when-let* ((stale (plist-get approval :stale)))
       (propertize (format "cannot be done now: %s\n" stale) 'face 'warning))
     (org-agent-asks-letter approval) "\n"
     (cond ((string-empty-p text) (or (plist-get approval :action) ""))
           ((eq (plist-get approval :language) :diff)
            (org-agent-diff-page text))
           (t text))
     "\n"
     (when-let* ((cut (plist-get approval :cut)))
       (propertize (format "… %s more; v shows all\n"
                           (org-agent-counted cut "byte"))
                   'face 'warning))
     (org-agent-approval--reading (plist-get approval :reading))
     (org-agent-list-choices 'org-agent-approval-line-map
                             '("Allow once" . org-agent-allow-once)
                             '("Refuse" . org-agent-deny)
                             '("Look closely" . org-agent-approval-view))
     (apply #'org-agent-list-choices 'org-agent-approval-line-map
            (append
             (unless (plist-get approval :once)
               '(("This turn" . org-agent-allow-turn)
                 ("This session" . org-agent-allow-session)))
             (when (plist-get approval :always)
               '(("Always" . org-agent-allow-always)))
             (when (plist-get approval :reading)
               '(("Reading here" . org-agent-allow-reading)))
             '(("Edit" . org-agent-approval-edit))))
     "\n")))

(defun org-agent-approval--reading (offer)
  "Return the lines of OFFER, rules for reading in a project, or \"\"."
  (if (null offer)
      ""
    (concat
     (propertize "reading in this project can be allowed with it, by these rules:\n"
                 'face 'shadow)
     (mapconcat (lambda (row)
                  (format "  %s | %s\n" (plist-get row :rule)
                          (plist-get row :matches)))
                (plist-get offer :rows) ""))))

(cl-defmethod org-agent-section-keymap ((_type (eql 'approval)))
  "Return the keys that decide."
  org-agent-approval-line-map)

(cl-defmethod org-agent-section-hint ((_type (eql 'approval)))
  "Return the keys that decide."
  "\\<org-agent-approval-line-map>\\[org-agent-allow-once] once  \\[org-agent-allow-turn] turn  \\[org-agent-allow-session] session  \\[org-agent-allow-always] always  \\[org-agent-deny] refuse  \\[org-agent-approval-view] look")

(cl-defmethod org-agent-section-visit ((_type (eql 'approval)) _section)
  "Show the whole action at point."
  (org-agent-approval-view))

(defun org-agent-approval--check (approval)
  "Show why APPROVAL cannot be carried out any more, if the kernel says so.
Its file may have changed.  The kernel finds that out for the client that
asks, and for no other, so it is not in the text of an approval."
  (let ((id (plist-get approval :id)))
    (org-agent-kernel-request
     "ask/check" (list :id id)
     :success (lambda (result)
                (org-agent-approval--show-stale id (plist-get result :stale)))
     ;; Then the decision says it.
     :failure #'ignore)))

(defun org-agent-approval--show-stale (id stale)
  "Show in the list and in the conversation that the ask ID is STALE.
That is why it cannot be done now, or nil."
  (when-let* ((ask (org-agent-asks-known id)))
    (unless (equal stale (plist-get ask :stale))
      (nconc ask (list :stale nil))
      (plist-put ask :stale stale)
      (org-agent-approval-draw))
    (org-agent-chat-in (plist-get ask :session)
      (org-agent-asks-note id (plist-get ask :subtree)
                           (and stale (concat "This cannot be done now: " stale))))))

(defun org-agent-approval-remove (id)
  "Remove the ask ID from the list."
  (org-agent-asks-remove id)
  (org-agent-approval-draw))

;;;; What the kernel reports

(defun org-agent-approval-go-on (session)
  "Show that the turn of SESSION, of this buffer, goes on.
Do so only when no approval or question of the turn is open any more."
  (when (and (eq (org-agent-chat-get :phase) 'waiting)
             (cl-notany (lambda (ask)
                          (equal (plist-get ask :session) session))
                        org-agent-asks-open))
    (org-agent-chat-put :phase 'thinking)))

;;;###autoload
(defun org-agent-approval-renamed (former name)
  "Move the open asks of the conversation FORMER to NAME."
  (dolist (ask org-agent-asks-open)
    (when (equal (plist-get ask :session) former)
      (plist-put ask :session name)))
  (org-agent-approval-draw))

(defun org-agent-approval--decorate (id subtree)
  "Give SUBTREE, which the kernel wrote for the approval ID, its keys.
On its last line, which names them, letters are keys, too."
  (when (org-agent-asks-decorate id subtree 'org-agent-approval-subtree)
    (let ((heading (org-agent-heading-find id)))
      (org-agent-heading-widely
        (goto-char (+ heading (length (string-trim-right subtree "\n+"))))
        (with-silent-modifications
          (org-agent-undo-off
            (put-text-property (line-beginning-position) (1+ (point))
                               'category 'org-agent-approval-line)))))))

;;;###autoload
(defun org-agent-approval-opened (params)
  "Add and report the approval of PARAMS."
  (let ((known (org-agent-asks-add params)))
    (org-agent-approval-draw)
    (org-agent-chat-in (plist-get params :session)
      (when (plist-get params :subtree)
        (org-agent-approval--decorate (plist-get params :id)
                                      (plist-get params :subtree)))
      (unless known
        (org-agent-asks-show-whole (plist-get params :id)))
      (org-agent-chat-put :turn (plist-get params :turn) :phase 'waiting))
    (unless known
      (org-agent-say "%s waits for your decision: %s (M-x org-agent-approvals)"
                     (if-let* ((label (plist-get params :subagent)))
                              (concat "The subagent " label)
                              "The agent")
                     (or (plist-get params :summary) "")))
    (org-agent-approval--check params)
    (org-agent-notify-asked params)))

;;;###autoload
(defun org-agent-approval-closed (params)
  "Close the approval of PARAMS."
  (org-agent-approval-remove (plist-get params :id))
  (let ((session (plist-get params :session)))
    (org-agent-chat-in session
      (when (plist-get params :subtree)
        (org-agent-asks-close (plist-get params :id)
                              (plist-get params :waiting)
                              (plist-get params :subtree))
        (org-agent-chat-restore-draft)
        (org-agent-file-owner-save))
      (org-agent-approval-go-on session))))

(provide 'org-agent-approval)
;;; org-agent-approval.el ends here
