;;; org-agent-image-test.el --- Tests of images that are no files  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The program that takes images is a real one, a script that prints an
;; image.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-context-test)
(require 'org-agent-speech-test)
(require 'org-agent-add)
(require 'org-agent-context)
(require 'org-agent-draft)

(defun org-agent-image-test--wait (messages-function regexp)
  "Wait until what MESSAGES-FUNCTION returns matches REGEXP."
  (org-agent-fake-wait (string-match-p regexp (funcall messages-function))
                       (funcall messages-function)))

(ert-deftest org-agent-image-from-the-system ()
  "The clipboard's image and a screenshot are attached, shown, sent and removed."
  (org-agent-fake-with-chat
    (let* ((image (org-agent-context-test--image "i.png"))
           (temporary-file-directory
            (file-name-as-directory (expand-file-name "temporary" org-agent-fake-directory)))
           (org-agent-image-clipboard-program
            (list '("org-agent-no-such-program")
                  (list (org-agent-speech-test--script "paste" (format "cat '%s'" image)))))
           (org-agent-image-screenshot-program
            (list (list (org-agent-speech-test--script
                         "shoot" "cat > \"$1\" <<'END'" "GIF89a of the screen" "END")
                        "%f"))))
      (make-directory temporary-file-directory)
      (with-temp-buffer                 ; from anywhere
        (let ((point (point)))
          (org-agent-add-clipboard)
          (org-agent-fake-wait (string-match-p "Context" (org-agent-context-test--draft)))
          (org-agent-add-screenshot)
          (org-agent-fake-wait (string-match-p "\\.gif" (org-agent-context-test--draft)))
          (should (= point (point)))))
      (should-not (directory-files temporary-file-directory nil "image"))
      (should (= 2 (length (directory-files (expand-file-name "sessions/images" org-agent-home)
                                            nil "\\`[0-9a-f]\\{16\\}\\.\\(?:png\\|gif\\)\\'"))))
      (org-agent-add-clipboard)         ; once is enough
      (org-agent-fake-settle)
      (org-agent-context-show)
      (should (= 2 (cl-count-if (lambda (overlay)
                                  (string-match-p "bytes" (or (overlay-get overlay 'after-string) "")))
                                (overlays-in (point-min) (point-max)))))
      (goto-char (org-agent-draft-start))
      (search-forward ".gif")
      (delete-region (line-beginning-position) (line-beginning-position 2))
      (let ((items (plist-get (org-agent-context-test--say "What is it?") :context)))
        (should (equal (mapcar (lambda (item) (plist-get item :media)) items) '("image/png")))
        (should (equal (plist-get (car items) :data) org-agent-context-test--pixel))))))

(ert-deftest org-agent-image-failures ()
  "Without an image, a program or a screen, a message says what to do."
  (org-agent-fake-with-chat
    (pcase-dolist (`(,says . ,lines)
                   '(("Nothing was taken from the clipboard: There is no image in it (target image/png not available)"
                      "echo 'target image/png not available' >&2" "exit 1")
                     ("no PNG, JPEG, GIF or WebP image" "echo '<svg>'")
                     ("The image has .*; 4\\.2 MB can be sent" "trap '' PIPE" "exec cat /dev/zero")
                     ("Nothing was taken" "kill -9 $$")))
      (let ((org-agent-image-clipboard-program
             (list (list (apply #'org-agent-speech-test--script "paste" lines)))))
        (ert-with-message-capture messages
          (org-agent-add-clipboard)
          (org-agent-image-test--wait (lambda () messages) says))))
    (should-not (car (org-agent-context-draft)))
    (should-not (file-directory-p (expand-file-name "sessions/images" org-agent-home)))
    (let ((org-agent-image-clipboard-program '(("org-agent-no-such-program")))
          (process-environment (cons "DISPLAY=:77" process-environment)))
      (should (string-match-p "install wl-clipboard" (cadr (should-error (org-agent-add-clipboard) :type 'user-error)))))
    (let ((process-environment (append '("DISPLAY" "WAYLAND_DISPLAY") process-environment)))
      (should (string-match-p "There is no screen" (cadr (should-error (org-agent-add-screenshot) :type 'user-error)))))))

(defun org-agent-image-test--drop (action uri)
  "Drop URI here, with ACTION, as a window system has it done."
  (with-suppressed-warnings ((obsolete dnd-handle-one-url))
    (dnd-handle-one-url (selected-window) action uri)))

(ert-deftest org-agent-image-dropped-data ()
  "Dropped image data is attached, other data is refused, none is fetched."
  (org-agent-fake-with-chat
    (dolist (uri (list (concat "data:image/png;base64," org-agent-context-test--pixel)
                       (concat "data:image/png;base64," (url-hexify-string org-agent-context-test--pixel))))
      (org-agent-image-test--drop 'copy uri)
      (should (string-match-p "^- Context: \\[\\[file:.*\\.png\\]" (org-agent-context-test--draft))))
    (should (= 1 (how-many "Context:" (point-min) (point-max))))
    (dolist (uri '("data:text/html;base64,PGI+" "data:image/png;base64,!!" "data:image/svg+xml;base64,PHN2Zz4="))
      (should-error (org-agent-image-test--drop 'copy uri) :type 'user-error))
    (org-agent-image-test--drop 'copy "https://example.org/cat.png")
    (should (string-suffix-p "[[https://example.org/cat.png]] " (org-agent-context-test--draft)))))

(provide 'org-agent-image-test)
;;; org-agent-image-test.el ends here
