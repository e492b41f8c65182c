// ClipboardStore
