package files

// SystemError is what the system said, told.
var SystemError = systemError
