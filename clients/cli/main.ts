import { runCommandLine } from './run-command-line.ts'
import { endWithParent } from './terminal/session.ts'

// `sluice | head`: a reader that goes away ends the command, it is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

endWithParent()
process.exitCode = await runCommandLine(process.argv)
