//go:build !goolm

package matrix

import "context"

// openCipher returns no cipher: encryption needs the build tag goolm, without which its library would need C.
func openCipher(_ context.Context, d *Driver) (cipher, error) {
	if d.config.Keys != "" {
		d.log.Warn("encrypted rooms are not read: this program was built without the tag goolm")
	}
	return nil, nil
}
