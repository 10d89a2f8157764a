//go:build goolm

package matrix

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"
	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"org-agent/kernel/channel"
	"org-agent/kernel/lru"
)

// olm is the cipher of a device: its keys are in a database of their own.
type olm struct {
	driver   *Driver
	database *sql.DB
	machine  *crypto.OlmMachine
	asked    *lru.Cache[id.SessionID, bool] // sessions whose keys were asked for

	mutex sync.Mutex
	begun map[id.RoomID]bool // rooms for which there is a new key since this was opened
}

// pickleKey seals the keys in the database once more. It is no secret: who can read the database can read the token of the
// account as well, and both are in files that only their owner reads.
const pickleKey = "org-agent"

// errNoKeys is the error for a homeserver that knows nothing of keys.
var errNoKeys = errors.New("the homeserver keeps no keys")

// openCipher opens the keys of the device whose token it is, and tells the homeserver of them when they are new.
func openCipher(ctx context.Context, d *Driver) (cipher, error) {
	device := d.client.DeviceID
	if d.config.Keys == "" || device == "" {
		return nil, nil
	}
	if err := os.MkdirAll(d.config.Keys, 0o700); err != nil {
		return nil, fmt.Errorf("open the keys of the channel: %w", err)
	}
	sum := sha256.Sum256([]byte(string(d.client.UserID) + "\n" + string(device)))
	path := filepath.Join(d.config.Keys, "keys-"+hex.EncodeToString(sum[:8])+".db")
	database, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=journal_mode(wal)&_pragma=foreign_keys(1)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open the keys of the channel: %w", err)
	}
	keys := &olm{driver: d, database: database, asked: lru.New[id.SessionID, bool](1 << 16), begun: map[id.RoomID]bool{}}
	switch err := keys.load(ctx, device); {
	case errors.Is(err, errNoKeys):
		d.log.Warn("encrypted rooms are not read: the homeserver keeps no keys")
		return nil, database.Close()
	case err != nil:
		return nil, errors.Join(err, database.Close())
	}
	return keys, nil
}

func (o *olm) load(ctx context.Context, device id.DeviceID) error {
	wrapped, err := dbutil.NewWithDB(o.database, "sqlite")
	if err != nil {
		return fmt.Errorf("open the keys of the channel: %w", err)
	}
	store := crypto.NewSQLCryptoStore(wrapped, dbutil.NoopLogger, string(o.driver.client.UserID), device, []byte(pickleKey))
	if err := store.DB.Upgrade(ctx); err != nil {
		return fmt.Errorf("open the keys of the channel: %w", err)
	}
	quiet := zerolog.Nop()
	o.machine = crypto.NewOlmMachine(o.driver.client, &quiet, store, o)
	o.machine.IgnorePostDecryptionParseErrors = true // other people's mistakes are read by parseContent
	if err := o.machine.Load(ctx); err != nil {
		return fmt.Errorf("read the keys of the channel: %w", err)
	}
	return o.announce(ctx, device)
}

// announce has the homeserver know the device's keys. Where it has others for the device, nobody could read what is sent.
func (o *olm) announce(ctx context.Context, device id.DeviceID) error {
	me := o.driver.client.UserID
	answer, err := o.driver.client.QueryKeys(ctx, &mautrix.ReqQueryKeys{DeviceKeys: map[id.UserID]mautrix.DeviceIDList{me: {device}}})
	switch {
	case errors.Is(err, mautrix.MUnrecognized):
		return errNoKeys
	case err != nil:
		return unsent(o.driver.failure(ctx, err))
	}
	known, found := answer.DeviceKeys[me][device]
	found = found && len(known.Keys) > 0
	shared := o.machine.GetAccount().Shared
	switch {
	case !found && !shared:
		if err := o.machine.ShareKeys(ctx, -1); err != nil {
			return unsent(o.driver.failure(ctx, err))
		}
		return nil
	case found && known.Keys.GetEd25519(device) == o.machine.OwnIdentity().SigningKey:
		return nil
	}
	return &channel.Failure{Class: channel.Unauthorized, Err: fmt.Errorf("matrix: the keys in %s are not those that the homeserver has for the device %s", o.driver.config.Keys, device)}
}

func (o *olm) close() error {
	o.machine.Destroy()
	return o.database.Close()
}

// take hears of devices, of keys for this one, and of who comes into an encrypted room or leaves it: what is said then has a
// new key.
func (o *olm) take(ctx context.Context, answer *syncAnswer) {
	told := mautrix.RespSync{DeviceLists: answer.DeviceLists, DeviceOTKCount: answer.DeviceOTKCount, FallbackKeys: answer.FallbackKeys}
	for _, raw := range answer.ToDevice.Events {
		var evt event.Event
		if json.Unmarshal(raw, &evt) != nil || evt.Type.Type == event.ToDeviceRoomKeyRequest.Type { // keys are given to nobody who asks
			continue
		}
		told.ToDevice.Events = append(told.ToDevice.Events, &evt)
	}
	o.machine.ProcessSyncResponse(ctx, &told, answer.since)
	for name, room := range answer.Rooms.Join {
		if room == nil {
			continue
		}
		for _, raw := range slices.Concat(room.State.Events, room.Timeline.Events) {
			if evt, ok := parse(raw, name); ok && evt.Type == event.StateMember && evt.StateKey != nil {
				o.machine.HandleMemberEvent(ctx, evt)
			}
		}
	}
}

func (o *olm) decrypt(ctx context.Context, evt *event.Event) (*event.Event, error) {
	clear, err := o.machine.DecryptMegolmEvent(ctx, evt)
	if errors.Is(err, crypto.ErrNoSessionFound) {
		o.askForKey(ctx, evt)
		return nil, errNoKey
	}
	if err != nil {
		return nil, errors.New(o.driver.config.Token.Hide(err.Error()))
	}
	if !parseContent(clear) || clear.StateKey != nil {
		return nil, errors.New("what was encrypted is no message")
	}
	return clear, nil
}

// askForKey asks the sender's devices for the key of a message, once.
func (o *olm) askForKey(ctx context.Context, evt *event.Event) {
	content, is := evt.Content.Parsed.(*event.EncryptedEventContent)
	if !is {
		return
	}
	if _, asked := o.asked.Get(content.SessionID); asked {
		return
	}
	o.asked.Put(content.SessionID, true, len(content.SessionID))
	err := o.machine.SendRoomKeyRequest(ctx, evt.RoomID, content.SenderKey, content.SessionID, "", map[id.UserID][]id.DeviceID{evt.Sender: {"*"}})
	if err != nil {
		o.driver.log.Warn("ask for the key of a message", "room", evt.RoomID, "event", evt.ID, "error", o.driver.failure(ctx, err))
	}
}

// begin has a room get a new key when something is sent there first: devices may have come meanwhile.
func (o *olm) begin(ctx context.Context, name id.RoomID) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.begun[name] {
		return nil
	}
	if err := o.machine.CryptoStore.RemoveOutboundGroupSession(ctx, name); err != nil {
		return fmt.Errorf("matrix: end the key of the room %s: %w", name, err)
	}
	o.begun[name] = true
	return nil
}

func (o *olm) encrypt(ctx context.Context, r *room, kind event.Type, content any) (any, error) {
	if err := o.begin(ctx, r.id); err != nil {
		return nil, err
	}
	sealed, err := o.machine.EncryptMegolmEvent(ctx, r.id, kind, content)
	if err != nil && crypto.IsShareError(err) {
		users := make([]id.UserID, 0, len(r.members))
		for who := range r.members {
			users = append(users, who)
		}
		if err := o.machine.ShareGroupSession(ctx, r.id, users); err != nil && !strings.Contains(err.Error(), "already shared") {
			return nil, o.driver.failure(ctx, err)
		}
		sealed, err = o.machine.EncryptMegolmEvent(ctx, r.id, kind, content)
	}
	if err != nil {
		return nil, &channel.Failure{Class: channel.Temporary, Err: errors.New("matrix: encrypt: " + o.driver.config.Token.Hide(err.Error()))}
	}
	return sealed, nil
}

// IsEncrypted implements [crypto.StateStore].
func (o *olm) IsEncrypted(ctx context.Context, name id.RoomID) (bool, error) {
	r, err := o.driver.room(ctx, name)
	return err == nil && r.encryption != nil, err
}

// GetEncryptionEvent implements [crypto.StateStore].
func (o *olm) GetEncryptionEvent(ctx context.Context, name id.RoomID) (*event.EncryptionEventContent, error) {
	r, err := o.driver.room(ctx, name)
	if err != nil {
		return nil, err
	}
	return r.encryption, nil
}

// GetHistoryVisibility implements [crypto.StateStore].
func (o *olm) GetHistoryVisibility(ctx context.Context, name id.RoomID) (*event.HistoryVisibilityEventContent, error) {
	r, err := o.driver.room(ctx, name)
	if err != nil {
		return nil, err
	}
	return &event.HistoryVisibilityEventContent{HistoryVisibility: r.visibility}, nil
}

// FindSharedRooms implements [crypto.StateStore]. A room that is not known yet has no key yet either, or gets a new one.
func (o *olm) FindSharedRooms(_ context.Context, who id.UserID) (shared []id.RoomID, err error) {
	o.driver.rooms.mutex.Lock()
	defer o.driver.rooms.mutex.Unlock()
	for name, r := range o.driver.rooms.known {
		if _, in := r.members[who]; in && r.encryption != nil {
			shared = append(shared, name)
		}
	}
	return shared, nil
}
