"""One small server on 127.0.0.1: its guard, its editor, its styles. Products bring pages and what they do."""
