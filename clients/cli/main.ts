import { CommanderError } from 'commander'
import { commandTree } from './command-tree.ts'
import { endWithParent } from './end-with-parent.ts'
import { reasonLines } from './reason-lines.ts'
import { Refused } from './refused.ts'
import { openSession } from './session.ts'

// `sluice | head`: a reader that goes away ends the command, it is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

/** Runs one command line and answers the exit code of the process. */
async function main(argv: readonly string[]): Promise<number> {
  let command = 'sluice'
  try {
    const session = openSession()
    command = session.settings.command
    const { stands_in } = session.settings
    // Every path of every command is meant from there, also those of the place it starts.
    if (stands_in !== undefined) process.chdir(stands_in)
    await commandTree(session).parseAsync([...argv])
    return Number(process.exitCode ?? 0)
  } catch (error) {
    return exitCodeOf(error, command)
  }
}

function exitCodeOf(error: unknown, command: string): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof Refused) {
    for (const line of reasonLines(error.reason, command)) process.stderr.write(`${line}\n`)
    return error.exitCode
  }
  process.stderr.write(
    `error: the CLI itself failed, which is a bug: ${error instanceof Error ? error.stack : error}\n`,
  )
  return 1
}

endWithParent()
process.exitCode = await main(process.argv)
