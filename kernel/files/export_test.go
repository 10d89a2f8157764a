package files

// SystemError exports systemError to the tests.
var SystemError = systemError
