/**
 * Imported (or preloaded with `node --import`) by a process that may be given a channel by the one that starts it: when
 * that is gone, however it ended, this process stops as on SIGTERM instead of holding port and folder for nobody.
 */
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// Listening alone must not keep a finished process alive.
process.channel?.unref()
