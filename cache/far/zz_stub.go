package far
import ("context";"log/slog";"time";"github.com/prometheus/client_golang/prometheus")
type Config struct{ URL string }
type Tier struct{}
func Open(Config, prometheus.Registerer, *slog.Logger) (*Tier, error) { return nil, nil }
func (t *Tier) Get(ctx context.Context, key string) ([]byte, bool) { return nil, false }
func (t *Tier) Set(key string, value []byte, ttl time.Duration) {}
func (t *Tier) Lease(ctx context.Context, key string, ttl time.Duration) (bool, func()) { return true, func(){} }
func (t *Tier) Close(ctx context.Context) error { return nil }
