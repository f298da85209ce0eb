/**
 * A process started with a channel (by sluice.mjs on an older Node, by scripts/install-if-needed.mjs) stops as on
 * SIGTERM when the one that started it is gone, however that ended. Without a channel nothing changes.
 */
export function endWithParent(): void {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  // Listening alone must not keep a finished process alive.
  process.channel?.unref()
}
