(multiple-value-list (decode-universal-time 3900000000 0))
(encode-universal-time 0 0 0 1 1 2000 0)
(multiple-value-list (decode-universal-time (encode-universal-time 30 15 10 25 12 2024 0) 0))
