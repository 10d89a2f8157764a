;;; typical.el --- What many people have in their init file  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(setq org-startup-indented t
      org-startup-folded t
      desktop-save t)
(global-visual-line-mode 1)
(save-place-mode 1)
(global-auto-revert-mode 1)
(desktop-save-mode 1)
(fido-vertical-mode 1)
(add-hook 'org-mode-hook #'org-indent-mode)

(provide 'typical)
;;; typical.el ends here
