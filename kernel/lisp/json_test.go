package lisp

import "testing"

// TestJSON compares with what cl-json is documented to do.
func TestJSON(t *testing.T) {
	for _, test := range []struct{ form, want string }{
		{`(json:decode-json-from-string "{\"a\":1,\"fooBar\":[1,2.5,\"x\",true,false,null]}")`, `((:A . 1) (:FOO-BAR 1 2.5 "x" T NIL NIL))`},
		{`(json:decode-json-from-string "{\"chat_id\":7,\"TreeNode\":{},\"widgetURL\":[]}")`, `((:CHAT--ID . 7) (:*TREE-NODE) (:WIDGET-+URL+))`},
		{`(cl-json:decode-json-from-string " [ 1 , -2 , 1e3 , 12345678901234567890 ] ")`, `(1 -2 1000.0 12345678901234567890)`},
		{`(cl-json:decode-json-from-string "\"a\\u00e9\\n\\\"\\\\\\/\\ud83d\\ude00\"")`, "\"aé\n\\\"\\\\/😀\""},
		{`(cdr (assoc :name (cl-json:decode-json-from-string "{\"name\":\"n\"}")))`, `"n"`},
		{`(handler-case (cl-json:decode-json-from-string "{\"a\" 1}") (cl-json:json-syntax-error () :syntax))`, ":SYNTAX"},
		{`(handler-case (cl-json:decode-json-from-string "[1 2]") (error (e) (type-of e)))`, "JSON:JSON-SYNTAX-ERROR"},
		{`(handler-case (cl-json:decode-json-from-string "[1,") (end-of-file () :eof))`, ":EOF"},
		{`(handler-case (cl-json:decode-json-from-string "") (end-of-file () :eof))`, ":EOF"},
		{`(handler-case (cl-json:decode-json-from-string "nope") (error () :bad))`, ":BAD"},
		{`(with-input-from-string (s "{\"a\":1} [2]") (list (json:decode-json s) (json:decode-json s)))`, `(((:A . 1)) (2))`},
		{`(json:encode-json-to-string '((:a . 1) (:foo-bar . "x") ("Key" . nil) (:chat--id . t)))`, `"{\"a\":1,\"fooBar\":\"x\",\"Key\":null,\"chat_id\":true}"`},
		{`(json:encode-json-to-string '(1 2.5 1/2 "a/b" :some-key #\c nil t))`, `"[1,2.5,0.5,\"a\\/b\",\"someKey\",\"c\",null,true]"`},
		{`(json:encode-json-to-string '((:a . ((:b . 1))) (:c . (1 2))))`, `"{\"a\":{\"b\":1},\"c\":[1,2]}"`},
		{`(json:encode-json-to-string '((:a 1) (:b 2)))`, `"[[\"a\",1],[\"b\",2]]"`},
		{`(json:encode-json-to-string #(1 #(2)))`, `"[1,[2]]"`},
		{`(let ((h (make-hash-table :test 'equal))) (setf (gethash "k" h) 1 (gethash :two-words h) '(2)) (json:encode-json-to-string h))`, `"{\"k\":1,\"twoWords\":[2]}"`},
		{`(json:encode-json-plist-to-string '(:a 1 :b-c "d"))`, `"{\"a\":1,\"bC\":\"d\"}"`},
		{`(json:encode-json-alist-to-string '((:a 1) (:b 2)))`, `"{\"a\":[1],\"b\":[2]}"`},
		{`(with-output-to-string (s) (json:encode-json '(1 2) s))`, `"[1,2]"`},
		{`(json:encode-json-to-string (format nil "é~%\"\\"))`, `"\"\\u00E9\\n\\\"\\\\\""`},
		{`(handler-case (json:encode-json-to-string #'car) (error () :no))`, ":NO"},
		{`(handler-case (json:encode-json-to-string '(1 . 2)) (error () :no))`, ":NO"},
		{`(mapcar #'json:camel-case-to-lisp '("camelCase" "CamelCase" "ABC" "a_b" "a1b2" "x"))`, `("CAMEL-CASE" "*CAMEL-CASE" "+ABC+" "A--B" "A-1-B-2" "X")`},
		{`(mapcar #'json:lisp-to-camel-case '("CAMEL-CASE" "*CAMEL-CASE" "+ABC+" "A--B" "X"))`, `("camelCase" "CamelCase" "ABC" "a_b" "x")`},
	} {
		if got, err := evaluated(t, newEnvironment(t, Config{}), test.form); err != nil || got != test.want {
			t.Errorf("%s\n got %s (%v)\nwant %s", test.form, got, err, test.want)
		}
	}
}
