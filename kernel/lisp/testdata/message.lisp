(:type :request :target :emacs :payload (:action :insert-at-end :buffer "*chat*" :text "hello, world" :n 42))
