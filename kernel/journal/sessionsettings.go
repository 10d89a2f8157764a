package journal

import (
	"context"
	"database/sql"
	"errors"

	"org-agent/kernel/protocol"
)

// SetSessionModel sets the model that answers in the session from now on. "" is the configured
// model. The session need not exist yet.
func (s *SessionStore) SetSessionModel(ctx context.Context, session, model string) error {
	if !protocol.ValidSession(session) {
		return protocol.Errorf(protocol.CodeInvalidParams, "%q is not a valid session name", session)
	}
	return s.transact(ctx, "set the model of a session", func(ctx context.Context, tx *writer) error {
		row, err := record(ctx, tx, Entry{Kind: KindSessionModel, Session: session}, sessionModelData{model})
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx,
			"INSERT INTO session (name, turns, updated, first, model) VALUES (?, 0, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET model = excluded.model",
			session, micros(row.Time), row.Seq, model)
		return err
	})
}

type sessionModelData struct {
	Model string `json:"model,omitempty"`
}

// SessionModel returns the model that answers in the session, "" for the configured one.
func (s *SessionStore) SessionModel(ctx context.Context, session string) (model string, err error) {
	err = s.readers.QueryRowContext(ctx, "SELECT model FROM session WHERE name = ?", session).Scan(&model)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return model, s.failure(ctx, "read the model of a session", err)
}

// SetSessionPreset sets the preset of the session from now on. "" is none. The session need not
// exist yet.
func (s *SessionStore) SetSessionPreset(ctx context.Context, session, preset string) error {
	if !protocol.ValidSession(session) {
		return protocol.Errorf(protocol.CodeInvalidParams, "%q is not a valid session name", session)
	}
	return s.transact(ctx, "set the preset of a session", func(ctx context.Context, tx *writer) error {
		row, err := record(ctx, tx, Entry{Kind: KindPreset, Session: session}, sessionPresetData{preset})
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx,
			"INSERT INTO session (name, turns, updated, first, preset) VALUES (?, 0, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET preset = excluded.preset",
			session, micros(row.Time), row.Seq, preset)
		return err
	})
}

type sessionPresetData struct {
	Preset string `json:"preset"`
}

// SessionPreset returns the preset of the session, "" for none.
func (s *SessionStore) SessionPreset(ctx context.Context, session string) (preset string, err error) {
	err = s.readers.QueryRowContext(ctx, "SELECT preset FROM session WHERE name = ?", session).Scan(&preset)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return preset, s.failure(ctx, "read the preset of a session", err)
}
