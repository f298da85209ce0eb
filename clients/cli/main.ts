import { endWithParent } from './end-with-parent.ts'
import { runCommandLine } from './run-command-line.ts'

// `sluice | head`: a reader that goes away ends the command, it is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

endWithParent()
process.exitCode = await runCommandLine(process.argv)
