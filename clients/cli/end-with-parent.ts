/**
 * Loaded before the program of a child process that was given a channel (`node --import`): when its parent is gone,
 * however that ended, the child stops cleanly instead of holding port and folder for nobody.
 */
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// Listening alone must not keep a finished child alive.
process.channel?.unref()
